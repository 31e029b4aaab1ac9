//! Settings as callers give them.

use axum::http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::http::ApiError;

/// The most agents, and the most channels, that one tenant stores.
pub(crate) const MOST_OF_A_KIND: usize = 50;

/// The most bytes of one agent's, one channel's or one session's settings, as JSON.
const MOST_BYTES: usize = 16 << 10;

/// Who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Source {
    /// The service's configuration: it is read-only here.
    Configuration,
    /// The tenant, over HTTP.
    Stored,
}

/// A JSON object whose keys are read one by one; those that are null count as missing.
#[derive(Debug, Default)]
pub(crate) struct Fields(pub(crate) Map<String, Value>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        fields.retain(|_, value| !value.is_null());
        Ok(Self(fields))
    }
}

/// What one agent does differently. What it does not set is as for all.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "it documents what is read key by key, so that each problem can be told")]
pub(crate) struct AgentSettings {
    /// One of the configuration's presets, or several, over the values for all.
    #[schema(value_type = Option<PresetNames>)]
    preset: Option<Value>,
    /// A compaction is suggested from this share of the usable window on; at 0 never, and at 70 where nothing else says it.
    #[schema(minimum = 0, maximum = 100)]
    threshold_percent: Option<u32>,
    /// The newest messages that stay whole; 0 leaves it to the strategies.
    #[schema(minimum = 0, maximum = 1000)]
    keep_recent: Option<u32>,
    /// Who writes its summaries.
    summarizer: Option<Writer>,
    /// The channel to the model that writes them.
    channel: Option<String>,
    /// The model that writes them.
    model: Option<String>,
    /// The model that the agent talks to: sets the window from what is known of it.
    runs_on: Option<String>,
    /// The context window, in tokens; stands over what is known of the model.
    #[schema(minimum = 100, maximum = 1_000_000_000)]
    window: Option<u32>,
    /// The chain that is always used, by its name in the configuration; empty to go by the kind of task.
    chain: Option<String>,
    /// Whether its contexts name handles and the tool that searches: for an agent that has the tools of `/mcp`.
    handles: Option<bool>,
}

/// One name, or a list of which later ones stand over earlier ones.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it documents a value")]
#[schema(as = PresetNames)]
pub(crate) enum PresetNames {
    /// One.
    #[schema(title = "name")]
    One(String),
    /// Several.
    #[schema(title = "names")]
    Several(Vec<String>),
}

/// Who writes summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Writer {
    /// Rules, without a model.
    Rules,
    /// A model.
    Llm,
    /// The compaction that the model's provider has of its own, and the model where it offers none.
    Provider,
    /// No one.
    Off,
}

/// 422: a setting cannot be what it is said to be.
pub(crate) fn bad_settings(message: impl Into<String>, help: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "bad-settings", message, help)
}

/// An error for settings that are larger than any real ones.
pub(crate) fn check_size(settings: &Map<String, Value>) -> Result<(), ApiError> {
    let bytes = serde_json::to_vec(settings).map_or(usize::MAX, |json| json.len());
    match bytes > MOST_BYTES {
        true => Err(bad_settings(format!("settings of more than {MOST_BYTES} bytes are not taken"), "say less")),
        false => Ok(()),
    }
}

/// 409 for what the configuration has.
pub(crate) fn read_only(of: &str, name: &str) -> ApiError {
    let message = format!("the {of} `{name}` is the configuration's");
    ApiError::new(StatusCode::CONFLICT, "read-only", message, "choose another name, or change the configuration")
}

/// 409 where a tenant has as many as it may.
pub(crate) fn too_many(of: &str) -> ApiError {
    let message = format!("there are {MOST_OF_A_KIND} {of} already");
    ApiError::new(StatusCode::CONFLICT, "too-many", message, "delete one first")
}
