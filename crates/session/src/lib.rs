//! The session: an append-only log of messages, a journal of epochs, and the view that folds one through the other.
//!
//! Nothing here does IO, counts tokens or knows a file format. The log is never rewritten: a compaction is an [`Epoch`]
//! in the journal, and the model sees a fold of both ([`Session::view`]). Undoing an epoch means folding without it.

mod block;
mod excerpt;
mod fold;
mod hash;
pub mod heading;
mod journal;
mod media;
mod media_in_json;
mod message;
mod message_range;
mod pairing;
mod request_limits;
mod session;
pub mod speaker;
mod summarizer;
mod text_range;
mod unit;

pub use block::{Arguments, Block, CallId, Content, Dialect, OpaqueBlock, RawBlock, Thinking, ToolCall, ToolResult};
pub use excerpt::{Excerpt, ExcerptError, KeptRanges};
pub use fold::{Entry, EntryKey, Position};
pub use heading::{Heading, HeadingKind};
pub use journal::{AppliedEdit, Change, Choice, EditKind, Epoch, EpochOrigin, Reason, SyntheticMessage, Trigger};
pub use media::{Media, MediaSource};
pub use media_in_json::{is_media, split_media, string_end};
pub use message::{Language, Message, MessageId, Origin, Role, TextCall, Usage};
pub use message_range::{MessageRange, MessageRangeError};
pub use pairing::{OpenCalls, pair};
pub use request_limits::{RequestLimits, RequestSize, message_bytes};
pub use session::{Session, UndoError};
pub use speaker::Level;
pub use summarizer::{ModelUsage, SummarizerRecord, SummaryCheck, SummaryUsage};
pub use text_range::TextRange;
pub use unit::{Unit, UnitKind, units};
