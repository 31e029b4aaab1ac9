//! Agents and channels.

use std::path::{Path, PathBuf};

use super::statement::{Reader, Statement, json};
use super::{Store, now};
use crate::error::StoreError;
use crate::settings::{Agent, Channel, KeyReference};
use crate::tenant::Tenant;

impl Store {
    /// Stores an agent, in place of the one of that name where there is one.
    pub async fn put_agent(&self, tenant: &Tenant, agent: &Agent) -> Result<(), StoreError> {
        agent.check()?;
        let put = Statement::new(
            "INSERT INTO agents (tenant, name, settings, updated_at) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (tenant, name) DO UPDATE SET settings = excluded.settings, updated_at = excluded.updated_at",
        );
        let put = put.with(tenant.as_str()).with(agent.name.as_str());
        self.write_one(put.with(json("an agent", &agent.settings)?).with(now())).await.map(drop)
    }

    /// The tenant's agents, by name.
    pub async fn agents(&self, tenant: &Tenant) -> Result<Vec<Agent>, StoreError> {
        let select = Statement::new("SELECT name, settings FROM agents WHERE tenant = ?1 ORDER BY name");
        self.read_all(select.with(tenant.as_str()), agent).await
    }

    /// The tenant's agent of that name, where there is one. One row, whatever else there is.
    pub async fn agent(&self, tenant: &Tenant, name: &str) -> Result<Option<Agent>, StoreError> {
        let select =
            Statement::for_row("SELECT name, settings FROM agents WHERE tenant = ?1 AND name = ?2", tenant, name);
        Ok(self.read_all(select, agent).await?.pop())
    }

    /// Deletes an agent; its sessions stay. Whether there was one.
    pub async fn delete_agent(&self, tenant: &Tenant, name: &str) -> Result<bool, StoreError> {
        let delete = Statement::for_row("DELETE FROM agents WHERE tenant = ?1 AND name = ?2", tenant, name);
        Ok(self.write_one(delete).await? > 0)
    }

    /// Stores a channel, in place of the one of that name where there is one. A secret in it is refused
    /// ([`StoreError::Secret`]): a key is named by where it is ([`KeyReference`](crate::KeyReference)).
    pub async fn put_channel(&self, tenant: &Tenant, channel: &Channel) -> Result<(), StoreError> {
        channel.check()?;
        let put = Statement::new(
            "INSERT INTO channels (tenant, name, settings, key_environment, key_file, updated_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (tenant, name) DO UPDATE SET settings = excluded.settings, \
             key_environment = excluded.key_environment, key_file = excluded.key_file, \
             updated_at = excluded.updated_at",
        );
        let (environment, file) = match &channel.key {
            None => (None, None),
            Some(KeyReference::Environment(name)) => (Some(name.as_str()), None),
            Some(KeyReference::File(path)) => (None, path.as_path().to_str()),
        };
        let put = put.with(tenant.as_str()).with(channel.name.as_str());
        let put = put.with(json("a channel", &channel.settings)?).with(environment).with(file);
        self.write_one(put.with(now())).await.map(drop)
    }

    /// The tenant's channels, by name.
    pub async fn channels(&self, tenant: &Tenant) -> Result<Vec<Channel>, StoreError> {
        let select = Statement::new(
            "SELECT name, settings, key_environment, key_file FROM channels WHERE tenant = ?1 ORDER BY name",
        );
        self.read_all(select.with(tenant.as_str()), channel).await
    }

    /// The tenant's channel of that name, where there is one. One row, whatever else there is.
    pub async fn channel(&self, tenant: &Tenant, name: &str) -> Result<Option<Channel>, StoreError> {
        let sql = "SELECT name, settings, key_environment, key_file FROM channels WHERE tenant = ?1 AND name = ?2";
        Ok(self.read_all(Statement::for_row(sql, tenant, name), channel).await?.pop())
    }

    /// The id of a session of the tenant whose own settings
    /// ([`SessionMetadata::settings`](crate::SessionMetadata::settings)) have a `channel` of that name; `None` where no session
    /// has. Linear in the tenant's sessions.
    pub async fn session_with_channel(&self, tenant: &Tenant, name: &str) -> Result<Option<String>, StoreError> {
        // Settings are stored as JSON without blanks, in which a quote within a text has a backslash in front: these bytes are
        // a key and its value and nothing else. `replace` minds capitals in both databases, which LIKE does not.
        let pair = format!("\"channel\":{}", json("a name", &name)?);
        let select = Statement::new(
            "SELECT id FROM sessions WHERE tenant = ?1 AND replace(settings, ?2, '') <> settings ORDER BY id LIMIT 1",
        );
        let read = |row: &mut Reader<'_>| row.text().map(str::to_owned);
        Ok(self.read_all(select.with(tenant.as_str()).with(pair), read).await?.pop())
    }

    /// Deletes a channel. Whether there was one.
    pub async fn delete_channel(&self, tenant: &Tenant, name: &str) -> Result<bool, StoreError> {
        let delete = Statement::for_row("DELETE FROM channels WHERE tenant = ?1 AND name = ?2", tenant, name);
        Ok(self.write_one(delete).await? > 0)
    }
}

fn agent(row: &mut Reader<'_>) -> Result<Agent, StoreError> {
    Ok(Agent { name: row.text()?.to_owned(), settings: row.json("the settings of an agent")? })
}

fn channel(row: &mut Reader<'_>) -> Result<Channel, StoreError> {
    let (name, settings) = (row.text()?.to_owned(), row.json("the settings of a channel")?);
    let environment = row.optional_text()?.map(|name| KeyReference::Environment(name.to_owned()));
    let file = row.optional_text()?.map(|path| KeyReference::File(PathBuf::from(Path::new(path))));
    Ok(Channel { name, settings, key: environment.or(file) })
}
