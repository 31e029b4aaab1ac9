//! Whose data it is, and which names can be stored.

use std::fmt;
use std::sync::Arc;

use crate::error::StoreError;

/// The most characters of the name of a tenant, a session, an agent or a channel.
pub const LONGEST_NAME: usize = 200;

/// Whose data it is. Nothing of one tenant is ever visible to another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tenant(Arc<str>);

impl Tenant {
    /// The tenant of that name: 1 to [`LONGEST_NAME`] characters, no control characters.
    pub fn new(name: impl Into<Arc<str>>) -> Result<Self, StoreError> {
        let name = name.into();
        check_name("tenant", &name)?;
        Ok(Self(name))
    }

    /// The tenant's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The tenant's name, as a shared value.
    pub fn name(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl Default for Tenant {
    /// The tenant of a service that has only one.
    fn default() -> Self {
        Self(Arc::from("default"))
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// An error where a name cannot be stored everywhere.
pub(crate) fn check_name(of: &'static str, name: &str) -> Result<(), StoreError> {
    let problem = if name.is_empty() {
        "it is empty"
    } else if name.chars().count() > LONGEST_NAME {
        "it is longer than 200 characters"
    } else if name.chars().any(char::is_control) {
        "it holds a control character"
    } else {
        return Ok(());
    };
    Err(StoreError::Name { of, name: name.chars().take(LONGEST_NAME).collect(), problem })
}
