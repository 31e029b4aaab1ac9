//! `/v1/channels`: the ways to models that write summaries.

pub(crate) mod hosts;
pub(crate) mod keys;

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use epitome::Config;
use epitome::store::{Channel, KeyReference};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::agents::settings::{Fields, MOST_OF_A_KIND, Source, bad_settings, check_size, read_only, too_many};
use crate::auth::Caller;
use crate::http::{ApiError, PathParameters, Problem, QueryParameters, json_of};
use crate::openapi::with_problems;
use crate::requester::Requester;
use crate::state::Core;
use hosts::HostError;

/// The routes.
pub(crate) fn router(core: Arc<Core>) -> OpenApiRouter {
    use Problem as P;
    let one: &[P] = &[P::BadName, P::NoStore, P::ReadOnly];
    let changing: &[P] = &[P::Secret, P::TooMany, P::BadSettings, P::ChannelNotAllowed];
    OpenApiRouter::new()
        .routes(with_problems(routes!(list), &[&[P::NoStore]]))
        .routes(with_problems(routes!(put), &[one, changing]))
        .routes(with_problems(routes!(delete), &[one, &[P::UnknownChannel, P::InUse]]))
        .with_state(core)
}

/// The keys that a channel takes over HTTP. All others are the configuration's: files and headers are nothing that a caller
/// decides about.
const KEYS: [&str; 7] = ["name", "kind", "base_url", "models", "compaction", "default", "window"];

/// The most models that a channel lists.
const MOST_MODELS: usize = 100;

/// A channel as it is given.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "it documents what is read key by key, so that each problem can be told")]
pub(crate) struct ChannelBody {
    /// The channel's name; the name in the path counts.
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// The API that the service speaks.
    kind: Option<Kind>,
    /// The base of the service's addresses; its host must be one of those that the service allows.
    #[schema(max_length = 2000, example = "https://api.openai.com/v1")]
    base_url: String,
    /// The models that may be asked for, the usual one first; empty for any.
    #[schema(max_items = 100)]
    models: Option<Vec<String>>,
    /// Whether the channel may be used for compaction; true where this is missing.
    compaction: Option<bool>,
    /// Whether this channel is used where several channels for compaction fit and none is named.
    default: Option<bool>,
    /// Tokens that request and answer may take together; 0 for the known window of the model.
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    window: Option<u32>,
    /// Where its key is; nothing where it needs none.
    key: Option<KeyName>,
}

/// The API that a service speaks.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// OpenAI's chat completions.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// Where a key is.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyName {
    /// An environment variable of the service. Its name begins with `EPITOME_KEY_`, the tenant's name in capitals, and `_`.
    #[schema(example = "EPITOME_KEY_DEFAULT_OPENAI", pattern = "^EPITOME_KEY_[A-Z0-9_]+$", max_length = 128)]
    environment: String,
}

/// A channel.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Channel)]
pub(crate) struct ChannelItem {
    /// The channel's name.
    name: String,
    /// The API that the service speaks.
    #[schema(value_type = Kind)]
    kind: Value,
    /// The base of the service's addresses. With several tenants, only of a stored channel: the addresses of the
    /// configuration are known to the operator alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    base_url: Option<String>,
    /// The models that may be asked for, the usual one first; empty for any.
    models: Vec<String>,
    /// Whether the channel may be used for compaction.
    compaction: bool,
    /// Whether this channel is used where several channels for compaction fit and none is named.
    default: bool,
    /// Tokens that request and answer may take together; 0 for the known window of the model.
    window: u32,
    /// The source of the channel: the configuration or the store.
    source: Source,
    /// Whether the channel names a key, and the key exists.
    has_key: bool,
    /// Where the key is, of a channel that was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    key: Option<KeyName>,
    /// Why a stored channel cannot be used as the service runs now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<String>,
}

/// Channels.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChannelList {
    /// The channels by name, those of the configuration first.
    items: Vec<ChannelItem>,
}

/// Which channels.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChannelQuery {
    /// Only those that may, or may not, be used for compaction.
    compaction: Option<bool>,
}

/// Lists the channels.
#[utoipa::path(
    get, path = "/v1/channels", tag = "settings", params(ChannelQuery),
    responses((status = 200, description = "The configuration's channels and the tenant's own", body = ChannelList))
)]
pub(crate) async fn list(
    Requester { core, caller }: Requester,
    QueryParameters(query): QueryParameters<ChannelQuery>,
) -> Result<Json<ChannelList>, ApiError> {
    let config = &core.settings.config;
    let storage = core.storage()?;
    let stored = storage.store.channels(&storage.tenant(&caller)?).await.map_err(|error| storage.api_error(error))?;
    let configured = config.channels().filter_map(|name| item(&core, config, name, None));
    let stored = stored.iter().filter(|channel| config.channel(&channel.name).is_none());
    let stored = stored.filter_map(|channel| stored_item(&core, &caller, channel));
    let items = configured.chain(stored).filter(|item| query.compaction.is_none_or(|wanted| item.compaction == wanted));
    Ok(Json(ChannelList { items: items.collect() }))
}

/// Stores a channel, in place of the one of that name.
#[utoipa::path(
    put, path = "/v1/channels/{name}", tag = "settings", request_body = ChannelBody,
    params(("name" = String, Path, description = "The channel's name", min_length = 1, max_length = 200)),
    responses((status = 200, description = "The channel as it is stored", body = ChannelItem))
)]
pub(crate) async fn put(
    Requester { core, caller }: Requester,
    PathParameters(name): PathParameters<String>,
    request: Request,
) -> Result<Json<ChannelItem>, ApiError> {
    let storage = core.storage()?;
    let (tenant, failed) = (storage.tenant(&caller)?, |error| storage.api_error(error));
    let body: Fields = json_of(request, &core.settings.limits).await?;
    if core.settings.config.channel(&name).is_some() {
        return Err(read_only("channel", &name));
    }
    let channel = channel_of(name, body.0)?;
    channel.check().map_err(failed)?;
    let config = configured(&core, &caller.tenant, &Config::default(), std::slice::from_ref(&channel))?;
    let known = storage.store.channels(&tenant).await.map_err(failed)?;
    if known.len() >= MOST_OF_A_KIND && known.iter().all(|known| known.name != channel.name) {
        return Err(too_many("channels"));
    }
    storage.store.put_channel(&tenant, &channel).await.map_err(failed)?;
    item(&core, &config, &channel.name, channel.key.as_ref()).map(Json).ok_or_else(|| Problem::Internal.into())
}

/// Deletes a channel that was stored.
#[utoipa::path(
    delete, path = "/v1/channels/{name}", tag = "settings",
    params(("name" = String, Path, description = "The channel's name", min_length = 1, max_length = 200)),
    responses((status = 204, description = "It is gone"))
)]
pub(crate) async fn delete(
    Requester { core, caller }: Requester,
    PathParameters(name): PathParameters<String>,
) -> Result<StatusCode, ApiError> {
    let storage = core.storage()?;
    let (tenant, failed) = (storage.tenant(&caller)?, |error| storage.api_error(error));
    let named = Channel { name: name.clone(), settings: Value::Null, key: None };
    named.check().map_err(failed)?;
    if core.settings.config.channel(&name).is_some() {
        return Err(read_only("channel", &name));
    }
    let agents = storage.store.agents(&tenant).await.map_err(failed)?;
    if let Some(agent) =
        agents.iter().find(|agent| agent.settings.get("channel").is_some_and(|channel| *channel == *name))
    {
        return Err(Problem::InUse
            .with(format!("the agent `{}` names the channel `{name}`", agent.name))
            .with_help("give the agent another channel first"));
    }
    if let Some(session) = storage.store.session_with_channel(&tenant, &name).await.map_err(failed)? {
        return Err(Problem::InUse
            .with(format!("the settings of the session `{session}` name the channel `{name}`"))
            .with_help("PATCH it to other settings, or delete it, first"));
    }
    match storage.store.delete_channel(&tenant, &name).await.map_err(failed)? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::UnknownChannel.with(format!("there is no channel `{name}`"))),
    }
}

/// The channel that a body describes.
fn channel_of(name: String, mut body: Map<String, Value>) -> Result<Channel, ApiError> {
    check_size(&body)?;
    if let Some(other) = body.remove("name").filter(|other| *other != *name) {
        let help = "leave the key out, or give it the name of the path";
        return Err(bad_settings(format!("`name` is not `{name}`, which the path says{}", short(&other)), help));
    }
    let key = body.remove("key").map(serde_json::from_value::<KeyReference>).transpose();
    let key = key.map_err(|error| bad_settings(format!("`key`: {error}"), "no key is ever stored"))?;
    if let Some(unknown) = body.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let help = format!("there are {}, key", KEYS.join(", "));
        return Err(bad_settings(format!("`{unknown}` is not a key of a channel over HTTP"), help));
    }
    if body.get("models").and_then(Value::as_array).is_some_and(|models| models.len() > MOST_MODELS) {
        let help = "list those that are asked, or none for any";
        return Err(bad_settings(format!("`models`: more than {MOST_MODELS} are not taken"), help));
    }
    Ok(Channel { name, settings: Value::Object(body), key })
}

/// A short value in words; nothing for what may be anything.
fn short(value: &Value) -> String {
    value.as_str().filter(|text| text.len() <= 40).map(|text| format!(", but `{text}`")).unwrap_or_default()
}

/// A configuration with stored channels in it, as far as the service allows them now. Copies the configuration once.
pub(crate) fn configured(core: &Core, tenant: &str, config: &Config, channels: &[Channel]) -> Result<Config, ApiError> {
    let tables: Vec<_> = channels.iter().map(|channel| table(core, tenant, channel)).collect::<Result<_, _>>()?;
    let named = channels.iter().map(|channel| channel.name.as_str()).zip(&tables);
    config.with_channels(named).map_err(|errors| bad_settings(errors.to_string(), HELP))
}

/// The keys of `[channels.NAME]` that a stored channel comes to.
fn table(core: &Core, tenant: &str, channel: &Channel) -> Result<Map<String, Value>, ApiError> {
    let forbidden = |message: String, help: String| Err(Problem::ChannelNotAllowed.with(message).with_help(help));
    let mut settings = channel.settings.as_object().cloned().unwrap_or_default();
    let address = match settings.get("base_url") {
        None => "",
        Some(Value::String(address)) => address,
        Some(_) => return Err(bad_settings("`base_url` takes a string", HELP)),
    };
    match core.settings.channel_hosts.check(address) {
        Ok(()) => {}
        Err(HostError::Address(problem)) => return Err(bad_settings(format!("`base_url`: {problem}"), HELP)),
        Err(HostError::NoHosts) => {
            let help = "run it with --channel-host HOST, or write [channels.NAME] in its configuration".to_owned();
            return forbidden("this service takes no channels over HTTP".to_owned(), help);
        }
        Err(HostError::Host(host)) => {
            let help = "--channel-host HOST[:PORT] allows one".to_owned();
            return forbidden(format!("`base_url`: channels over HTTP may not lead to {host}"), help);
        }
        Err(HostError::Clear(host)) => {
            let help = format!("write https://{host}, or run the service with --channel-host http://{host}");
            return forbidden(format!("`base_url`: {host} may not be spoken to without encryption"), help);
        }
    }
    match &channel.key {
        None => {}
        Some(KeyReference::Environment(variable)) => {
            if !keys::is_of(variable, tenant, &core.settings.tokens.tenants()) {
                let help = format!("the name of a variable of yours begins with {}", keys::prefix(tenant));
                return forbidden("`key`: this environment variable is not one of yours".to_owned(), help);
            }
            settings.insert("key_variable".to_owned(), variable.as_str().into());
        }
        Some(KeyReference::File(_)) => {
            let help = format!("name an environment variable that begins with {}", keys::prefix(tenant));
            return forbidden("`key`: files are not read for channels over HTTP".to_owned(), help);
        }
    }
    Ok(settings)
}

const HELP: &str = "GET /openapi.json describes what a channel is";

fn stored_item(core: &Core, caller: &Caller, channel: &Channel) -> Option<ChannelItem> {
    let settings = channel.settings.as_object().cloned().unwrap_or_default();
    match configured(core, &caller.tenant, &Config::default(), std::slice::from_ref(channel)) {
        Ok(config) => item(core, &config, &channel.name, channel.key.as_ref()),
        Err(error) => {
            // A stored channel is shown in any case, so that it can be put right.
            let config = Config::default().with_channel(&channel.name, &settings).ok()?;
            let item = item(core, &config, &channel.name, channel.key.as_ref())?;
            Some(ChannelItem { problem: Some(error.message), has_key: false, ..item })
        }
    }
}

/// A channel of a configuration.
fn item(core: &Core, config: &Config, name: &str, key: Option<&KeyReference>) -> Option<ChannelItem> {
    let table = config.channel(name)?;
    let is_configured = core.settings.config.channel(name).is_some();
    let is_told = !is_configured || core.settings.tokens.is_empty();
    let key = key.and_then(|key| match key {
        KeyReference::Environment(variable) => Some(variable),
        KeyReference::File(_) => None,
    });
    Some(ChannelItem {
        name: name.to_owned(),
        kind: epitome::strategy::SettingType::to_value(&table.kind),
        base_url: is_told.then(|| hosts::redact_address(table.address())),
        models: table.models.clone(),
        compaction: table.compaction,
        default: table.default,
        window: table.window,
        source: if is_configured { Source::Configuration } else { Source::Stored },
        has_key: table.has_key() == Some(true),
        key: key.map(|variable| KeyName { environment: variable.clone() }),
        problem: None,
    })
}
