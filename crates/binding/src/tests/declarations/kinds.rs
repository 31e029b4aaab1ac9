//! Schemas of the values of options.

use epitome::engine::Mode;
use epitome::formats::Wire;
use epitome::recall::Source;
use epitome::session::MessageRange;
use epitome::strategy::{HostChanges, TaskKind};
use serde_json::{Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

use crate::dispatcher::values::{
    BudgetValue, ByName, Bytes, ChainName, Characters, Conversations, OneOrMore, PageNumber, Passages,
    RequestPartValue, SearchText, Secret, Tokens, TokensOrNone,
};

macro_rules! schemas {
    ($($type:ty: $schema:expr;)+) => {$(
        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                read($schema)
            }
        }

        impl ToSchema for $type {}
    )+};
}

schemas! {
    Tokens: json!({ "type": "integer" });
    TokensOrNone: json!({ "type": "integer" });
    Conversations: json!({ "type": "integer" });
    Bytes: json!({ "type": "integer" });
    Passages: json!({ "type": "integer" });
    Characters: json!({ "type": "integer" });
    PageNumber: json!({ "type": "integer" });
    BudgetValue: json!({ "type": "number" });
    Secret: json!({ "type": "string", "format": "binary" });
    Configuration: json!({
        "oneOf": [{ "type": "string" }, { "type": "object" }],
        "description": "The text of a TOML file, or its sections and keys as an object.",
    });
    Provider: json!({
        "type": "string", "description": "The form of a provider's messages.", "enum": Wire::ALL.map(Wire::as_str),
    });
    Chain: json!({
        "oneOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }],
        "description": "Strategies in their order, or the name of a chain.",
    });
    Tools: json!({ "oneOf": [{ "type": "array", "items": {} }, { "type": "integer" }, { "type": "null" }] });
    TextOrTexts: json!({ "oneOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] });
    SourceOrSources: json!({
        "oneOf": [{ "$ref": "#/Source" }, { "type": "array", "items": { "$ref": "#/Source" } }]
    });
}

/// The text of a configuration, or its sections.
pub(crate) struct Configuration;
/// The names of the forms of messages.
pub(crate) struct Provider;
/// A chain by its name or its strategies.
pub(crate) struct Chain;
/// Definitions of tools, or their tokens.
pub(crate) struct Tools;
/// One text, or several.
pub(crate) struct TextOrTexts;
/// One speaker, or several.
pub(crate) struct SourceOrSources;

/// An option without a value is not there: no declaration names a default.
macro_rules! without_defaults {
    ($($type:ty),+) => {$(
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_none()
            }
        }
    )+};
}

without_defaults!(
    Tokens,
    TokensOrNone,
    Conversations,
    Bytes,
    Passages,
    Characters,
    PageNumber,
    BudgetValue,
    Secret,
    RequestPartValue,
    ByName<HostChanges>,
    ByName<Mode>,
    ByName<TaskKind>,
    OneOrMore<ChainName>,
    OneOrMore<MessageRange>,
    OneOrMore<SearchText>,
    OneOrMore<Source>
);

fn read(schema: Value) -> RefOr<Schema> {
    serde_json::from_value(schema).unwrap()
}
