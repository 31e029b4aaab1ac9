//! From settings to what works on a session.

use std::sync::Arc;
use std::time::Instant;

use epitome::store::{Agent, Channel, SessionMetadata, Tenant};
use epitome::{Config, Runtime};
use serde_json::{Map, Value};

use super::channel_resolution::ResolvedChannels;
use super::runtime_cache::{RuntimeCache, RuntimeKey};
use super::settings::{bad_settings, check_size};
use crate::channels;
use crate::http::{ApiError, Problem};
use crate::state::Core;

/// The help for settings that do not work.
const HELP: &str = "GET /openapi.json describes the settings of an agent";

/// The runtime of a session: the configuration, the settings of its agent over it, and its own over these. The same
/// value for the same settings, as long as it is in use.
///
/// # Errors
///
/// 422 where the agent does not exist, or settings do not work; 403 where they lead to a channel that the service does
/// not allow.
pub(crate) async fn runtime_for(
    core: &Arc<Core>,
    runtimes: &RuntimeCache,
    tenant: &Tenant,
    about: &SessionMetadata,
) -> Result<Arc<Runtime>, ApiError> {
    let own = own_settings(about)?;
    if about.agent.is_none() && own.is_empty() {
        return Ok(Arc::clone(&core.runtime));
    }
    let storage = core.storage()?;
    let failed = |error| storage.api_error(error);
    // Before anything is said of the settings: what looks like a secret is not repeated.
    let held = Agent { name: "session".to_owned(), settings: Value::Object(own.clone()) };
    held.check().map_err(failed)?;
    let configured = about.agent.as_deref().filter(|name| core.settings.config.agents().any(|known| known == *name));
    let agent = match (&about.agent, configured) {
        (Some(name), None) => {
            let stored = storage.store.agent(tenant, name).await.map_err(failed)?;
            Some(stored.ok_or_else(|| unknown(name))?)
        }
        _ => None,
    };
    let settings = agent.as_ref().map(|agent| settings_of(&agent.settings)).unwrap_or_default();
    let configured = configured.map(str::to_owned);
    let channels = ResolvedChannels::resolve(&core.settings.config, &settings, &own).load(core, tenant).await?;
    let parts = RuntimeKey {
        agent: about.agent.clone().map(|name| (name, agent.as_ref().map(|agent| agent.settings.to_string()))),
        session: held.settings.to_string(),
        channels: serde_json::to_string(&channels).map_err(|_| Problem::Internal)?,
    };
    if let Some(known) = runtimes.find(tenant, &parts, Instant::now()) {
        return known;
    }
    let (shared, its, owner) = (Arc::clone(core), tenant.clone(), tenant.name());
    let built = core.workers.run(&owner, move |_| {
        let mut config = with_channels(&shared, &its, &channels)?;
        if let Some(name) = configured {
            config = config.for_agent(&name).map_err(|problem| bad_settings(problem.to_string(), HELP))?;
        } else if let Some(agent) = &agent {
            config = with_agent(&shared, &config, agent)?;
        }
        if !own.is_empty() {
            let adjusted = config.adjusted(&own, &shared.registry);
            config = adjusted.map_err(|errors| bad_settings(errors.to_string(), HELP))?;
        }
        build(&shared, &config)
    });
    match built.await? {
        Ok(runtime) => Ok(runtimes.keep(tenant, parts, runtime)),
        Err(error) => {
            runtimes.failed(tenant, parts, error.clone(), Instant::now());
            Err(error)
        }
    }
}

/// The configuration for a stored agent, with the channels that it means.
pub(super) fn config_of(core: &Core, tenant: &Tenant, agent: &Agent, channels: &[Channel]) -> Result<Config, ApiError> {
    with_agent(core, &with_channels(core, tenant, channels)?, agent)
}

/// Builds a runtime. Reads keys from the environment; asks no service.
pub(super) fn build(core: &Core, config: &Config) -> Result<Runtime, ApiError> {
    let mut config = config.clone();
    config.hide_addresses(); // what goes wrong is told to the tenant
    config.build(&core.registry).map_err(|errors| bad_settings(errors.to_string(), HELP))
}

fn with_agent(core: &Core, config: &Config, agent: &Agent) -> Result<Config, ApiError> {
    let settings = settings_of(&agent.settings);
    let config = config.with_agent(&agent.name, &settings, &core.registry);
    let config = config.map_err(|errors| bad_settings(errors.to_string(), HELP))?;
    config.for_agent(&agent.name).map_err(|problem| bad_settings(problem.to_string(), HELP))
}

fn with_channels(core: &Core, tenant: &Tenant, channels: &[Channel]) -> Result<Config, ApiError> {
    channels::configured(core, tenant.as_str(), &core.settings.config, channels)
}

/// A session's own settings. Null clears a key.
fn own_settings(about: &SessionMetadata) -> Result<Map<String, Value>, ApiError> {
    if !about.settings.is_object() && !about.settings.is_null() {
        return Err(bad_settings("`settings` is an object, such as {\"keep_recent\": 20}", HELP));
    }
    let settings = settings_of(&about.settings);
    check_size(&settings)?;
    Ok(settings)
}

/// The keys of settings, without those that are null.
pub(super) fn settings_of(settings: &Value) -> Map<String, Value> {
    let mut settings = settings.as_object().cloned().unwrap_or_default();
    settings.retain(|_, value| !value.is_null());
    settings
}

fn unknown(name: &str) -> ApiError {
    Problem::NoSuchAgent.with(format!("there is no agent `{name}`"))
}
