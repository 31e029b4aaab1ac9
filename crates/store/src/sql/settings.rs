//! Agents and channels.

use std::path::{Path, PathBuf};

use super::statement::{Reader, Statement, json};
use super::{SqlStore, now};
use crate::error::StoreError;
use crate::settings::{Agent, Channel, KeyReference};
use crate::store::Tenant;

impl SqlStore {
    pub(super) async fn put_agent_now(&self, tenant: &Tenant, agent: &Agent) -> Result<(), StoreError> {
        agent.check()?;
        let put = Statement::new(
            "INSERT INTO agents (tenant, name, settings, updated_at) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (tenant, name) DO UPDATE SET settings = excluded.settings, updated_at = excluded.updated_at",
        );
        let put = put.with(tenant.as_str()).with(agent.name.as_str());
        self.write_one(put.with(json("an agent", &agent.settings)?).with(now())).await.map(drop)
    }

    pub(super) async fn agents_now(&self, tenant: &Tenant) -> Result<Vec<Agent>, StoreError> {
        let select = Statement::new("SELECT name, settings FROM agents WHERE tenant = ?1 ORDER BY name");
        let outcome = self.read_one(select.with(tenant.as_str())).await?;
        outcome.rows.iter().map(|row| agent(&mut row.read())).collect()
    }

    pub(super) async fn agent_now(&self, tenant: &Tenant, name: &str) -> Result<Option<Agent>, StoreError> {
        let select = Statement::new("SELECT name, settings FROM agents WHERE tenant = ?1 AND name = ?2");
        let outcome = self.read_one(select.with(tenant.as_str()).with(name)).await?;
        outcome.rows.first().map(|row| agent(&mut row.read())).transpose()
    }

    pub(super) async fn delete_agent_now(&self, tenant: &Tenant, name: &str) -> Result<bool, StoreError> {
        let delete = Statement::new("DELETE FROM agents WHERE tenant = ?1 AND name = ?2");
        Ok(self.write_one(delete.with(tenant.as_str()).with(name)).await? > 0)
    }

    pub(super) async fn put_channel_now(&self, tenant: &Tenant, channel: &Channel) -> Result<(), StoreError> {
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

    pub(super) async fn channels_now(&self, tenant: &Tenant) -> Result<Vec<Channel>, StoreError> {
        let select = Statement::new(
            "SELECT name, settings, key_environment, key_file FROM channels WHERE tenant = ?1 ORDER BY name",
        );
        let outcome = self.read_one(select.with(tenant.as_str())).await?;
        outcome.rows.iter().map(|row| channel(&mut row.read())).collect()
    }

    pub(super) async fn channel_now(&self, tenant: &Tenant, name: &str) -> Result<Option<Channel>, StoreError> {
        let select = Statement::new(
            "SELECT name, settings, key_environment, key_file FROM channels WHERE tenant = ?1 AND name = ?2",
        );
        let outcome = self.read_one(select.with(tenant.as_str()).with(name)).await?;
        outcome.rows.first().map(|row| channel(&mut row.read())).transpose()
    }

    pub(super) async fn session_with_channel_now(
        &self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<String>, StoreError> {
        // Settings are stored as JSON without blanks, in which a quote within a text has a backslash in front: these bytes are
        // a key and its value and nothing else. `replace` minds capitals in both databases, which LIKE does not.
        let pair = format!("\"channel\":{}", json("a name", &name)?);
        let select = Statement::new(
            "SELECT id FROM sessions WHERE tenant = ?1 AND replace(settings, ?2, '') <> settings ORDER BY id LIMIT 1",
        );
        let outcome = self.read_one(select.with(tenant.as_str()).with(pair)).await?;
        outcome.rows.first().map(|row| row.read().text().map(str::to_owned)).transpose()
    }

    pub(super) async fn delete_channel_now(&self, tenant: &Tenant, name: &str) -> Result<bool, StoreError> {
        let delete = Statement::new("DELETE FROM channels WHERE tenant = ?1 AND name = ?2");
        Ok(self.write_one(delete.with(tenant.as_str()).with(name)).await? > 0)
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
