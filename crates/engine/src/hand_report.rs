//! The outcome for the messages that a request keeps and drops by hand.

use epitome_session::MessageRange;
use serde::{Deserialize, Serialize};

/// Messages that a person wanted to drop and that stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StayingMessages {
    /// The messages, such as `#40` or `#40-#52`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub messages: MessageRange,
    /// Why they stay, in words for a person.
    pub why: String,
}

/// The outcome for the messages that a request keeps and drops by hand. The numbers are those of the log, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ByHandReport {
    /// The messages that are kept, each call with its results.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub kept: Vec<MessageRange>,
    /// The messages that left, each call with its results.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub dropped: Vec<MessageRange>,
    /// The messages that were to leave and stay.
    pub stayed: Vec<StayingMessages>,
    /// The messages that were named and had left the context before.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub gone: Vec<MessageRange>,
}
