//! `/v1/agents`: what agents do differently, those of the configuration and those that a tenant stores.

mod channel_resolution;
mod runtime_cache;
mod runtimes;
pub(crate) mod settings;

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use epitome::Config;
use epitome::store::{Agent, Channel, Paging, SessionFilter, Tenant};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::{ApiError, PathParameters, Problem, json_of};
use crate::openapi::with_problems;
use crate::requester::Requester;
use crate::state::Core;
use channel_resolution::ResolvedChannels;
pub(crate) use runtime_cache::RuntimeCache;
pub(crate) use runtimes::runtime_for;
use runtimes::{config_of, settings_of};
use settings::{AgentSettings, Fields, MOST_OF_A_KIND, Source, check_size, read_only, too_many};

/// The routes.
pub(crate) fn router(core: Arc<Core>) -> OpenApiRouter {
    use Problem as P;
    let one: &[P] = &[P::BadName, P::NoStore];
    let changing: &[P] = &[P::Secret, P::ReadOnly, P::TooMany, P::BadSettings, P::ChannelNotAllowed];
    OpenApiRouter::new()
        .routes(with_problems(routes!(list), &[&[P::NoStore]]))
        .routes(with_problems(routes!(get), &[one, &[P::UnknownAgent]]))
        .routes(with_problems(routes!(put), &[one, changing]))
        .routes(with_problems(routes!(delete), &[one, &[P::UnknownAgent, P::ReadOnly, P::InUse]]))
        .with_state(core)
}

/// An agent as it is given.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentBody {
    /// The keys that differ from the configuration.
    #[serde(default)]
    #[schema(value_type = AgentSettings)]
    settings: Fields,
}

/// An agent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Agent)]
pub(crate) struct AgentItem {
    /// The agent's name.
    name: String,
    /// The keys that differ from the configuration.
    #[schema(value_type = AgentSettings)]
    settings: Map<String, Value>,
    /// The source of the agent: the configuration or the store.
    source: Source,
    /// The settings in force; missing where they cannot be worked out as the service runs now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentSettings>, nullable = false)]
    effective: Option<Map<String, Value>>,
    /// Why a stored agent cannot be used as the service runs now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<String>,
}

/// Agents.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AgentList {
    /// The agents by name, those of the configuration first.
    items: Vec<AgentItem>,
}

/// Lists the agents.
#[utoipa::path(
    get, path = "/v1/agents", tag = "settings",
    responses((status = 200, description = "The configuration's agents and the tenant's own", body = AgentList))
)]
pub(crate) async fn list(Requester { core, caller }: Requester) -> Result<Json<AgentList>, ApiError> {
    let storage = core.storage()?;
    let (tenant, failed) = (storage.tenant(&caller)?, |error| storage.api_error(error));
    let agents = storage.store.agents(&tenant).await.map_err(failed)?;
    let channels = storage.store.channels(&tenant).await.map_err(failed)?;
    let shared = Arc::clone(&core);
    let items = core.workers.run(&caller.tenant, move |_| {
        let config = &shared.settings.config;
        let configured = config.agents().map(|name| configured(config, name));
        let stored = agents.iter().filter(|agent| !is_configured(&shared, &agent.name)).map(|agent| {
            let settings = settings_of(&agent.settings);
            let channels = ResolvedChannels::resolve(config, &settings, &Map::new()).resolve_among(&channels);
            stored_item(&shared, &tenant, agent, channels)
        });
        configured.chain(stored).collect()
    });
    Ok(Json(AgentList { items: items.await? }))
}

/// Shows an agent.
#[utoipa::path(
    get, path = "/v1/agents/{name}", tag = "settings",
    params(("name" = String, Path, description = "The agent's name", min_length = 1, max_length = 200)),
    responses((status = 200, description = "The agent", body = AgentItem))
)]
pub(crate) async fn get(
    Requester { core, caller }: Requester,
    PathParameters(name): PathParameters<String>,
) -> Result<Json<AgentItem>, ApiError> {
    let storage = core.storage()?;
    let tenant = storage.tenant(&caller)?;
    check_name(&core, &name)?;
    let shared = Arc::clone(&core);
    if is_configured(&core, &name) {
        let item = core.workers.run(&caller.tenant, move |_| configured(&shared.settings.config, &name));
        return Ok(Json(item.await?));
    }
    let agent = storage.store.agent(&tenant, &name).await.map_err(|error| storage.api_error(error))?;
    let agent = agent.ok_or_else(|| unknown(&name))?;
    let channels = channels_of(&core, &tenant, &agent).await;
    Ok(Json(core.workers.run(&caller.tenant, move |_| stored_item(&shared, &tenant, &agent, channels)).await?))
}

/// Stores an agent, in place of the one of that name.
#[utoipa::path(
    put, path = "/v1/agents/{name}", tag = "settings", request_body = AgentBody,
    params(("name" = String, Path, description = "The agent's name", min_length = 1, max_length = 200)),
    responses((status = 200, description = "The agent as it is stored", body = AgentItem))
)]
pub(crate) async fn put(
    Requester { core, caller }: Requester,
    PathParameters(name): PathParameters<String>,
    request: Request,
) -> Result<Json<AgentItem>, ApiError> {
    let storage = core.storage()?;
    let (tenant, failed) = (storage.tenant(&caller)?, |error| storage.api_error(error));
    let body: AgentBody = json_of(request, &core.settings.limits).await?;
    if is_configured(&core, &name) {
        return Err(read_only("agent", &name));
    }
    check_size(&body.settings.0)?;
    let agent = Agent { name, settings: Value::Object(body.settings.0) };
    agent.check().map_err(failed)?;
    let known = storage.store.agents(&tenant).await.map_err(failed)?;
    if known.len() >= MOST_OF_A_KIND && known.iter().all(|known| known.name != agent.name) {
        return Err(too_many("agents"));
    }
    let channels = channels_of(&core, &tenant, &agent).await?;
    let (shared, given, its) = (Arc::clone(&core), agent.clone(), tenant.clone());
    let item = core.workers.run(&caller.tenant, move |_| {
        let config = config_of(&shared, &its, &given, &channels)?;
        // Problems that only building shows, such as a key that is missing.
        runtimes::build(&shared, &config)?;
        Ok::<_, ApiError>(agent_item(&given.name, settings_of(&given.settings), Source::Stored, Ok(config)))
    });
    let item = item.await??;
    storage.store.put_agent(&tenant, &agent).await.map_err(failed)?;
    Ok(Json(item))
}

/// Deletes an agent that was stored.
#[utoipa::path(
    delete, path = "/v1/agents/{name}", tag = "settings",
    params(("name" = String, Path, description = "The agent's name", min_length = 1, max_length = 200)),
    responses((status = 204, description = "It is gone"))
)]
pub(crate) async fn delete(
    Requester { core, caller }: Requester,
    PathParameters(name): PathParameters<String>,
) -> Result<StatusCode, ApiError> {
    let storage = core.storage()?;
    let (tenant, failed) = (storage.tenant(&caller)?, |error| storage.api_error(error));
    check_name(&core, &name)?;
    if is_configured(&core, &name) {
        return Err(read_only("agent", &name));
    }
    let its = SessionFilter { agent: Some(name.clone()), ..SessionFilter::default() };
    let one = Paging { most: 1, after: None };
    if !storage.store.sessions(&tenant, &its, &one).await.map_err(failed)?.items.is_empty() {
        return Err(Problem::InUse
            .with(format!("sessions belong to the agent `{name}`"))
            .with_help("PATCH them to another agent, or delete them, first"));
    }
    match storage.store.delete_agent(&tenant, &name).await.map_err(failed)? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(unknown(&name)),
    }
}

/// 400 for a name that an agent cannot have.
fn check_name(core: &Core, name: &str) -> Result<(), ApiError> {
    let storage = core.storage()?;
    let agent = Agent { name: name.to_owned(), settings: Value::Null };
    agent.check().map_err(|error| storage.api_error(error))
}

fn is_configured(core: &Core, name: &str) -> bool {
    core.settings.config.agents().any(|known| known == name)
}

fn configured(config: &Config, name: &str) -> AgentItem {
    let own = config.for_agent(name).map_err(|problem| problem.to_string());
    agent_item(name, config.agent_settings(name), Source::Configuration, own)
}

/// The stored channels that a stored agent means.
async fn channels_of(core: &Core, tenant: &Tenant, agent: &Agent) -> Result<Vec<Channel>, ApiError> {
    let settings = settings_of(&agent.settings);
    ResolvedChannels::resolve(&core.settings.config, &settings, &Map::new()).load(core, tenant).await
}

fn stored_item(core: &Core, tenant: &Tenant, agent: &Agent, channels: Result<Vec<Channel>, ApiError>) -> AgentItem {
    let own = channels.and_then(|channels| config_of(core, tenant, agent, &channels));
    agent_item(&agent.name, settings_of(&agent.settings), Source::Stored, own.map_err(|error| error.message))
}

/// An agent with the configuration that its settings make, or why they make none.
fn agent_item(name: &str, settings: Map<String, Value>, source: Source, own: Result<Config, String>) -> AgentItem {
    let (effective, problem) = match own {
        Ok(config) => (Some(config.agent_in_force()), None),
        Err(problem) => (None, Some(problem)),
    };
    AgentItem { name: name.to_owned(), settings, source, effective, problem }
}

fn unknown(name: &str) -> ApiError {
    Problem::UnknownAgent.with(format!("there is no agent `{name}`"))
}
