//! The key of a service.

use std::fmt;
use std::sync::Arc;

use super::HttpError;

/// A key that a service asks for. It never shows: not in `Debug`, not in an error.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Arc<str>);

impl ApiKey {
    /// The key `key`; blanks around it are left out.
    pub fn new(key: &str) -> Self {
        Self(Arc::from(key.trim()))
    }

    /// The key in the environment variable `variable`.
    ///
    /// # Errors
    ///
    /// The variable is not set, is empty, or holds something that cannot stand in a header.
    pub fn from_environment(variable: &str) -> Result<Self, HttpError> {
        let key = std::env::var(variable).map(|key| Self::new(&key)).unwrap_or_else(|_| Self::new(""));
        match key.reveal() {
            "" => Err(HttpError::NoKey { variable: variable.to_owned() }),
            text if !text.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Err(HttpError::BadKey { variable: variable.to_owned() })
            }
            _ => Ok(key),
        }
    }

    /// The key itself, for the header that carries it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` with the key blotted out, for services that repeat it in their messages.
    pub(crate) fn redact(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&*self.0, "[key]") }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey([key])")
    }
}
