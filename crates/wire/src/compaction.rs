//! A client's or a provider's own compaction, as requests ask for it and answers bring it.

use serde_json::{Value, json};

use crate::events::Event;
use crate::json::Object;
use crate::request::Route;

/// The code of items that are whole and too large: neither provider has one for it.
pub const COMPACTION_TOO_LARGE: &str = "compaction_too_large";

/// The form in which an interface asks for compactions and brings them. Interfaces that have none keep what is here.
pub trait Compactions {
    /// Returns what a request to a route asks for. `messages` are its messages or items, each as JSON.
    fn asked(&self, _route: Route, _fields: &Object<'_>, _messages: &[&str]) -> RequestedCompaction {
        RequestedCompaction::Nothing
    }

    /// Whether a message or an item does nothing but ask for a compaction.
    fn is_trigger(&self, _message: &str) -> bool {
        false
    }

    /// Whether clients keep their users' messages in front of an item that covers them.
    fn keeps_messages_in_front(&self) -> bool {
        false
    }

    /// Whether the provider compacts conversations by itself into a text that others can read.
    fn compacts_in_text(&self) -> bool {
        false
    }

    /// Returns the conversation as a text for people, and for services that cannot read the rest of a compaction; `None` where
    /// compactions show none. Linear.
    fn shown(&self, _messages: &[&str]) -> Option<String> {
        None
    }

    /// Returns the item, or the block, with what was sealed, and with what is shown for it.
    fn compaction_item(&self, _id: &str, _sealed: &str, _shown: Option<&str>) -> Value {
        Value::Null
    }

    /// Returns the events of an item at the beginning of an answer; `number` is the number of the first.
    fn item_events(&self, _item: &Value, _number: u64) -> Vec<u8> {
        Vec::new()
    }

    /// Returns where the events of an item belong, as far as an event says that.
    fn item_place(&self, _event: &Event) -> ItemPlace {
        ItemPlace::Later
    }

    /// Changes the data of an event behind an item to what it is with the item in front of it.
    fn count_from_behind(&self, _item: &Value, _json: &mut Value) {}

    /// Returns the answer that is a compaction and nothing else.
    fn compaction_answer(&self, _demand: CompactionRequest, _made: &MadeCompaction<'_>) -> AnswerBody {
        AnswerBody::Json(Value::Null)
    }

    /// Returns the refusal of a request that cannot be answered by anybody; `place` is the place in it.
    fn invalid_request(&self, code: &str, place: &str, message: &str) -> Value {
        let is_own = code == COMPACTION_TOO_LARGE || !code.starts_with("compaction_");
        let code = if is_own { code } else { "invalid_encrypted_content" };
        json!({ "error": { "type": "invalid_request_error", "code": code, "param": place, "message": message } })
    }
}

/// Where the events of an item belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemPlace {
    /// Behind a later event.
    Later,
    /// In front of the event.
    InFront,
    /// Behind the event.
    Behind,
}

/// A compaction that was made, with what an answer says of it.
#[derive(Debug)]
pub struct MadeCompaction<'a> {
    /// The request.
    pub fields: &'a Object<'a>,
    /// The messages of users, as they came.
    pub users: &'a [String],
    /// The item, or the block.
    pub item: &'a Value,
    /// Tokens before it.
    pub before: u32,
    /// Tokens after it.
    pub after: u32,
    /// The time, in seconds since 1970.
    pub seconds: u64,
    /// Makes an id with this beginning out of a text.
    pub id: fn(&str, &str) -> String,
}

impl MadeCompaction<'_> {
    /// An id of the answer.
    pub(crate) fn answer_id(&self, prefix: &str) -> String {
        (self.id)(prefix, self.item["encrypted_content"].as_str().unwrap_or_default())
    }

    /// Whether the client wants a stream.
    pub(crate) fn is_streamed(&self) -> bool {
        self.fields.get("stream") == Some("true")
    }
}

/// The body of an answer.
#[derive(Debug, PartialEq)]
pub enum AnswerBody {
    /// In one piece.
    Json(Value),
    /// As a stream of events.
    Events(Vec<u8>),
}

/// The type of Anthropic's edit.
pub(crate) const COMPACT_EDIT: &str = "compact_20260112";

/// A way to ask for a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionRequest {
    /// OpenAI: the last item is a `compaction_trigger`; the answer is the item.
    Trigger,
    /// OpenAI: `POST …/responses/compact`; the answer is a list with the item at its end.
    Endpoint,
    /// OpenAI: `context_management` with a threshold; the item comes in front of the answer.
    Threshold {
        /// Tokens from which on the client wants one.
        from_tokens: u32,
    },
    /// Anthropic: the field `compaction`; the answer is the block.
    Summarize,
    /// Anthropic: an edit of `context_management` with a trigger; the block comes in front of the answer.
    Edit {
        /// Tokens from which on the client wants one.
        from_tokens: u32,
        /// Whether the answer ends behind the block.
        pauses: bool,
    },
}

/// What a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum RequestedCompaction {
    /// No compaction.
    Nothing,
    /// A compaction that can be made here.
    Here(CompactionRequest),
    /// A compaction that only the provider can make rightly, with the reason as a code.
    Provider(&'static str),
    /// Something that no provider would do.
    Wrong(InvalidCompactionRequest),
}

/// Why a request cannot be answered by anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidCompactionRequest {
    /// `compaction` beside `context_management`.
    Both,
    /// The newest message is the model's, and its calls have no results.
    IncompleteTurn,
    /// There are no messages.
    NothingToSummarize,
}

impl CompactionRequest {
    /// The demand's name in metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trigger => "compaction_trigger",
            Self::Endpoint => "responses/compact",
            Self::Threshold { .. } => "compact_threshold",
            Self::Summarize => "compaction",
            Self::Edit { .. } => "compact_20260112",
        }
    }

    /// Tokens from which on the client wants a compaction; 0 where it wants one in any case.
    pub fn threshold(self) -> u32 {
        match self {
            Self::Threshold { from_tokens } | Self::Edit { from_tokens, .. } => from_tokens,
            Self::Trigger | Self::Endpoint | Self::Summarize => 0,
        }
    }

    /// Whether the compaction is all of the answer.
    pub fn is_whole_answer(self) -> bool {
        match self {
            Self::Trigger | Self::Endpoint | Self::Summarize => true,
            Self::Edit { pauses, .. } => pauses,
            Self::Threshold { .. } => false,
        }
    }

    /// The field that asks, with what remains of it where the demand was met: `None` where nothing does.
    pub fn field(self, fields: &Object<'_>) -> Option<(&'static str, Option<String>)> {
        match self {
            Self::Trigger | Self::Endpoint => None,
            Self::Summarize => Some(("compaction", None)),
            Self::Threshold { .. } => Some(("context_management", None)),
            Self::Edit { .. } => {
                let mut config = fields.value("context_management");
                let mut is_empty = true;
                if let Some(edits) = config["edits"].as_array_mut() {
                    edits.retain(|edit| edit["type"] != COMPACT_EDIT);
                    is_empty = edits.is_empty();
                }
                Some(("context_management", (!is_empty).then(|| config.to_string())))
            }
        }
    }
}

/// Where a part of the conversation, or of the work, is at the provider: why only it can do what is asked for.
pub(crate) fn history_elsewhere(fields: &Object<'_>) -> Option<&'static str> {
    if ["previous_response_id", "conversation", "thread"].iter().any(|name| fields.is_given(name)) {
        Some("history-at-the-provider")
    } else if fields.is_given("prompt") {
        Some("prompt-at-the-provider")
    } else {
        (fields.get("background") == Some("true")).then_some("background")
    }
}

/// Whether an object has a field beside those that are known, or is none.
pub(crate) fn has_other_field(object: &Value, known: &[&str]) -> bool {
    object.as_object().is_none_or(|fields| fields.keys().any(|name| !known.contains(&name.as_str())))
}

/// A number of tokens that is more than none.
pub(crate) fn tokens(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).filter(|tokens| *tokens > 0)
}

#[cfg(test)]
#[path = "compaction_tests.rs"]
mod tests;
