//! Keys that a service makes for itself.

use super::statement::{Reader, Statement};
use super::{Store, now};
use crate::error::StoreError;

impl Store {
    /// The service's key of that name. Where there is none yet, `fresh` becomes it: of several services that ask at once, all
    /// get the same.
    pub async fn service_key(&self, name: &str, fresh: &str) -> Result<String, StoreError> {
        if let Some(key) = self.kept_key(name).await? {
            return Ok(key);
        }
        let put = Statement::new(
            "INSERT INTO service_keys (name, secret, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING",
        );
        self.write_one(put.with(name).with(fresh).with(now())).await?;
        // Another service may have been first.
        self.kept_key(name).await?.ok_or(StoreError::NotFound { of: "service key", name: name.into() })
    }

    async fn kept_key(&self, name: &str) -> Result<Option<String>, StoreError> {
        let select = Statement::new("SELECT secret FROM service_keys WHERE name = ?1").with(name);
        Ok(self.read_all(select, |row: &mut Reader<'_>| row.text().map(str::to_owned)).await?.pop())
    }
}
