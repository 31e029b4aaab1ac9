//! Stores: opening the one that is named without making any.

use epitome::store::{Store, Tenant};

use crate::args::StoreArgs;
use crate::failure::Failure;

/// The tenant of a service without tokens.
const ONLY_TENANT: &str = "default";

impl StoreArgs {
    /// The store, and whose sessions of it are meant; `None` where no store is named. One that is not there is an error,
    /// and is not made.
    pub(crate) async fn open(&self) -> Result<Option<(Store, Tenant)>, Failure> {
        let address = match (&self.store, &self.store_variable) {
            (Some(address), _) => address.clone(),
            (None, Some(name)) => variable(name)?,
            (None, None) => return Ok(None),
        };
        let tenant = Tenant::new(self.tenant.as_deref().unwrap_or(ONLY_TENANT)).map_err(Failure::usage)?;
        let store = Store::open_existing(&address).await.map_err(Failure::usage)?;
        Ok(Some((store, tenant)))
    }
}

/// The value of an environment variable.
pub(crate) fn variable(name: &str) -> Result<String, Failure> {
    let value = std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    value.ok_or_else(|| Failure::usage_text(format!("the environment variable {name} is not set")))
}
