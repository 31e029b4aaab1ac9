//! Settings as callers give them.

use epitome::config::AgentTable;
use epitome::strategy::{Bounds, Field, FieldKind, SettingsTable as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    AdditionalProperties, ArrayBuilder, ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type,
};
use utoipa::{PartialSchema, ToSchema};

use crate::http::{ApiError, Problem};

/// The most agents, and the most channels, that one tenant stores.
pub(crate) const MOST_OF_A_KIND: usize = 50;

/// The most bytes of one agent's, one channel's or one session's settings, as JSON.
const MOST_BYTES: usize = 16 << 10;

/// The source of an agent or a channel.
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

/// The settings of one agent, as given or as in force: the keys of `[agents.NAME]`. They are read and written key by
/// key, so that each problem can be reported; the document describes them as the table of settings declares them.
#[derive(Debug)]
pub(crate) struct AgentSettings;

impl ToSchema for AgentSettings {}

impl PartialSchema for AgentSettings {
    fn schema() -> RefOr<Schema> {
        let closed = ObjectBuilder::new()
            .description(Some("The keys of an agent. One that is missing or null is as for all, or not in force."))
            .additional_properties(Some(AdditionalProperties::FreeForm(false)));
        let fields = AgentTable::FIELDS.iter();
        fields.fold(closed, |object, field| object.property(field.name, schema_of(field))).into()
    }
}

/// The schema of a setting as its table declares it, or null; a list may also be given as its only item.
fn schema_of(field: &Field) -> Schema {
    let kind = match field.kind {
        FieldKind::Integer => Type::Integer,
        FieldKind::Number => Type::Number,
        FieldKind::Flag => Type::Boolean,
        FieldKind::Text | FieldKind::List => Type::String,
    };
    let value = |or_null: Option<Type>| {
        let null = or_null.as_ref().map(|_| Value::Null);
        let kinds = SchemaType::Array([kind.clone()].into_iter().chain(or_null).collect());
        let mut value = ObjectBuilder::new().schema_type(kinds).description(Some(field.doc.trim()));
        let choices = (field.choices)();
        if !choices.is_empty() {
            value = value.enum_values(Some(choices.into_iter().map(Value::from).chain(null)));
        }
        if let Some(Bounds { least, most }) = field.bounds {
            value = value.minimum(Some(least as u64)).maximum(Some(most as u64));
        }
        value.build()
    };
    match field.kind {
        FieldKind::List => OneOfBuilder::new()
            .item(value(Some(Type::Null)))
            .item(ArrayBuilder::new().items(value(None)))
            .build()
            .into(),
        FieldKind::Integer | FieldKind::Number | FieldKind::Flag | FieldKind::Text => value(Some(Type::Null)).into(),
    }
}

/// 422: a setting cannot be what it is said to be.
pub(crate) fn bad_settings(message: impl Into<String>, help: impl Into<String>) -> ApiError {
    Problem::BadSettings.with(message).with_help(help)
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
    Problem::ReadOnly.with(format!("the {of} `{name}` is the configuration's"))
}

/// 409 where a tenant has as many as it may.
pub(crate) fn too_many(of: &str) -> ApiError {
    Problem::TooMany.with(format!("there are {MOST_OF_A_KIND} {of} already"))
}
