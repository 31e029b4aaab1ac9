//! How each provider speaks: its requests and what they are made of, its answers, its streams and its errors.
//!
//! Nothing here knows a session, counts tokens or does IO. Each provider's interface has a folder, which answers the
//! questions of [`Requests`], [`Answers`], [`Streams`] and [`Compactions`]; what every interface has in common is beside
//! them. The crates above ask a [`Wire`], and have no arms of their own on the provider:
//!
//! ```
//! use epitome_wire::{Output, Wire};
//!
//! let answer = serde_json::json!({"content": [{"type": "tool_use", "id": "1", "name": "bash", "input": {}}]});
//! let said = Output::in_answer(Wire::Anthropic, &answer).unwrap();
//! assert_eq!(said.calls_of(&["bash"])[0].arguments, "{}");
//! ```

mod answer;
pub mod anthropic;
mod body;
mod class;
mod compaction;
mod events;
mod gemini;
pub mod json;
mod merge;
pub mod openai_chat;
pub mod openai_responses;
mod output;
mod path;
mod request;
mod stream;
mod thoughts;
pub mod tool;
mod usage;
mod wire;
mod within;

pub use answer::{AnswerError, Answers, Call, ChatAnswer, HiddenCalls, RejoinedMessages, Stop};
pub use body::{Outline, RequestBody, place_in};
pub use class::PartClass;
pub use compaction::{
    AnswerBody, COMPACTION_TOO_LARGE, CompactionRequest, Compactions, InvalidCompactionRequest, ItemPlace,
    MadeCompaction, RequestedCompaction,
};
pub use events::{Event, Events, MOST_OF_EVENT, event_text, is_stream, typed_event};
pub use json::Object;
pub use merge::{EventKind, MergedAnswer, PartialAnswer};
pub use output::Output;
pub use path::{Address, is_version};
pub use request::{CACHE_MARK, FunctionTool, GivenTools, Limits, Requests, Route};
pub use stream::{Stage, StreamedAnswer, Streams, Taken};
pub use thoughts::without_thoughts;
pub use usage::{ReportedUsage, add_known, add_output};
pub use wire::{Interface, Wire};
pub use within::{AskWithinError, ask_within, question, refusal_text, status_of_error};
