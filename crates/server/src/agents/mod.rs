//! `/v1/agents`: what agents do differently, those of the configuration and those that a tenant stores.

mod kept;
mod meant;
mod runtimes;
pub(crate) mod settings;

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::http::StatusCode;
use axum::routing::{delete as delete_route, get as get_route, put as put_route};
use axum::{Json, Router};
use epitome::store::{Agent, Channel, Paging, SessionFilter, Tenant};
use epitome::{Config, strategy::SettingType};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::auth::Caller;
use crate::http::{ApiError, ErrorBody, PathParameters, json_of};
use crate::state::Core;
pub(crate) use kept::Runtimes;
use meant::ResolvedChannels;
pub(crate) use runtimes::runtime_for;
use runtimes::{config_of, settings_of};
use settings::{AgentSettings, Fields, MOST_OF_A_KIND, Source, Writer, check_size, read_only, too_many};

/// The routes.
pub(crate) fn router(core: Arc<Core>) -> Router {
    let one = get_route(get).merge(put_route(put)).merge(delete_route(delete));
    Router::new().route("/v1/agents", get_route(list)).route("/v1/agents/{name}", one).with_state(core)
}

/// An agent as it is given.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentBody {
    /// What it does differently.
    #[serde(default)]
    #[schema(value_type = AgentSettings)]
    settings: Fields,
}

/// An agent.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AgentItem {
    /// Its name.
    name: String,
    /// What it does differently: the keys that are set.
    #[schema(value_type = AgentSettings)]
    settings: Map<String, Value>,
    /// Who says so.
    source: Source,
    /// What that comes to; missing where it comes to nothing as the service runs now.
    #[serde(skip_serializing_if = "Option::is_none")]
    effective: Option<Effective>,
    /// Why a stored agent cannot be used as the service runs now.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// What an agent's settings come to.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Effective {
    /// From which share of the usable window on a compaction is suggested; 0 for never.
    #[schema(maximum = 100)]
    threshold_percent: u32,
    /// The newest messages that stay whole.
    keep_recent: u32,
    /// Who writes its summaries.
    #[schema(value_type = Writer)]
    summarizer: Value,
    /// The channel to the model that writes them; null where no model does.
    channel: Option<String>,
    /// The model that writes them.
    model: Option<String>,
    /// The model that the agent talks to, where one is named.
    runs_on: Option<String>,
    /// The context window, in tokens.
    window: u32,
    /// The chain that is always used; null where the kind of task decides.
    chain: Option<String>,
}

/// Agents.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AgentList {
    /// The agents by name, those of the configuration first.
    items: Vec<AgentItem>,
}

/// Lists the agents.
#[utoipa::path(
    get, path = "/v1/agents", tag = "settings", security(("token" = [])),
    responses(
        (status = 200, description = "The configuration's agents and the tenant's own", body = AgentList),
        (status = 404, description = "The service keeps nothing", body = ErrorBody),
    )
)]
pub(crate) async fn list(
    State(core): State<Arc<Core>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<AgentList>, ApiError> {
    let storage = core.storage()?;
    let (tenant, failed) = (storage.tenant(&caller)?, |error| storage.api_error(error));
    let agents = storage.store.agents(&tenant).await.map_err(failed)?;
    let channels = storage.store.channels(&tenant).await.map_err(failed)?;
    let shared = Arc::clone(&core);
    let items = core.turns.run(&caller.tenant, move |_| {
        let config = &shared.settings.config;
        let configured = config.agents().map(|name| configured(config, name));
        let stored = agents.iter().filter(|agent| !is_configured(&shared, &agent.name)).map(|agent| {
            let settings = settings_of(&agent.settings);
            let channels = ResolvedChannels::of(config, &settings, &Map::new()).resolve_among(&channels);
            stored_item(&shared, &tenant, agent, channels)
        });
        configured.chain(stored).collect()
    });
    Ok(Json(AgentList { items: items.await? }))
}

/// Shows an agent.
#[utoipa::path(
    get, path = "/v1/agents/{name}", tag = "settings", security(("token" = [])),
    params(("name" = String, Path, description = "The agent's name", min_length = 1, max_length = 200)),
    responses(
        (status = 200, description = "The agent", body = AgentItem),
        (status = 400, description = "The name cannot be one", body = ErrorBody),
        (status = 404, description = "There is none of that name", body = ErrorBody),
    )
)]
pub(crate) async fn get(
    State(core): State<Arc<Core>>,
    Extension(caller): Extension<Caller>,
    PathParameters(name): PathParameters<String>,
) -> Result<Json<AgentItem>, ApiError> {
    let storage = core.storage()?;
    let tenant = storage.tenant(&caller)?;
    check_name(&core, &name)?;
    let shared = Arc::clone(&core);
    if is_configured(&core, &name) {
        let item = core.turns.run(&caller.tenant, move |_| configured(&shared.settings.config, &name));
        return Ok(Json(item.await?));
    }
    let agent = storage.store.agent(&tenant, &name).await.map_err(|error| storage.api_error(error))?;
    let agent = agent.ok_or_else(|| unknown(&name))?;
    let channels = channels_of(&core, &tenant, &agent).await;
    Ok(Json(core.turns.run(&caller.tenant, move |_| stored_item(&shared, &tenant, &agent, channels)).await?))
}

/// Stores an agent, in place of the one of that name.
#[utoipa::path(
    put, path = "/v1/agents/{name}", tag = "settings", request_body = AgentBody, security(("token" = [])),
    params(("name" = String, Path, description = "The agent's name", min_length = 1, max_length = 200)),
    responses(
        (status = 200, description = "The agent as it is stored", body = AgentItem),
        (status = 400, description = "The name, or the body, cannot be taken", body = ErrorBody),
        (status = 403, description = "It names a channel that the service does not allow", body = ErrorBody),
        (status = 404, description = "The service keeps nothing", body = ErrorBody),
        (status = 409, description = "The configuration has one of that name, or there are too many", body = ErrorBody),
        (status = 422, description = "A setting has a wrong value, or is not known", body = ErrorBody),
    )
)]
pub(crate) async fn put(
    State(core): State<Arc<Core>>,
    Extension(caller): Extension<Caller>,
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
    let item = core.turns.run(&caller.tenant, move |_| {
        let config = config_of(&shared, &its, &given, &channels)?;
        // What only shows when it is built, such as a key that is not there.
        runtimes::build(&shared, &config)?;
        Ok::<_, ApiError>(agent_item(
            &given.name,
            settings_of(&given.settings),
            Source::Stored,
            &config.agent_in_force(),
        ))
    });
    let item = item.await??;
    storage.store.put_agent(&tenant, &agent).await.map_err(failed)?;
    Ok(Json(item))
}

/// Deletes an agent that was stored.
#[utoipa::path(
    delete, path = "/v1/agents/{name}", tag = "settings", security(("token" = [])),
    params(("name" = String, Path, description = "The agent's name", min_length = 1, max_length = 200)),
    responses(
        (status = 204, description = "It is gone"),
        (status = 400, description = "The name cannot be one", body = ErrorBody),
        (status = 404, description = "There is none of that name", body = ErrorBody),
        (status = 409, description = "The configuration has it, or sessions belong to it", body = ErrorBody),
    )
)]
pub(crate) async fn delete(
    State(core): State<Arc<Core>>,
    Extension(caller): Extension<Caller>,
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
        let message = format!("sessions belong to the agent `{name}`");
        let help = "PATCH them to another agent, or delete them, first";
        return Err(ApiError::new(StatusCode::CONFLICT, "in-use", message, help));
    }
    match storage.store.delete_agent(&tenant, &name).await.map_err(failed)? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(unknown(&name)),
    }
}

/// 400 for what no agent can be called.
fn check_name(core: &Core, name: &str) -> Result<(), ApiError> {
    let storage = core.storage()?;
    let agent = Agent { name: name.to_owned(), settings: Value::Null };
    agent.check().map_err(|error| storage.api_error(error))
}

fn is_configured(core: &Core, name: &str) -> bool {
    core.settings.config.agents().any(|known| known == name)
}

fn configured(config: &Config, name: &str) -> AgentItem {
    let effective = match config.for_agent(name) {
        Ok(config) => config.agent_in_force(),
        Err(problem) => return without(name, config.agent_settings(name), Source::Configuration, problem.to_string()),
    };
    agent_item(name, config.agent_settings(name), Source::Configuration, &effective)
}

/// The stored channels that a stored agent means.
async fn channels_of(core: &Core, tenant: &Tenant, agent: &Agent) -> Result<Vec<Channel>, ApiError> {
    let settings = settings_of(&agent.settings);
    ResolvedChannels::of(&core.settings.config, &settings, &Map::new()).load(core, tenant).await
}

fn stored_item(core: &Core, tenant: &Tenant, agent: &Agent, channels: Result<Vec<Channel>, ApiError>) -> AgentItem {
    let settings = settings_of(&agent.settings);
    match channels.and_then(|channels| config_of(core, tenant, agent, &channels)) {
        Ok(config) => agent_item(&agent.name, settings, Source::Stored, &config.agent_in_force()),
        Err(error) => without(&agent.name, settings, Source::Stored, error.body.error.message),
    }
}

fn without(name: &str, settings: Map<String, Value>, source: Source, problem: String) -> AgentItem {
    AgentItem { name: name.to_owned(), settings, source, effective: None, problem: Some(problem) }
}

fn agent_item(
    name: &str,
    settings: Map<String, Value>,
    source: Source,
    effective: &epitome::config::EffectiveAgent,
) -> AgentItem {
    let in_force = effective.clone();
    let effective = Effective {
        threshold_percent: in_force.threshold_percent,
        keep_recent: in_force.keep_recent,
        summarizer: in_force.summarizer.to_value(),
        channel: in_force.channel,
        model: in_force.model,
        runs_on: in_force.runs_on,
        window: in_force.window,
        chain: in_force.chain,
    };
    AgentItem { name: name.to_owned(), settings, source, effective: Some(effective), problem: None }
}

fn unknown(name: &str) -> ApiError {
    let help = "GET /v1/agents lists those that there are";
    ApiError::new(StatusCode::NOT_FOUND, "unknown-agent", format!("there is no agent `{name}`"), help)
}
