//! The interface for the author of a strategy: the view, the goal, the plan of edits, shared facts, settings, the
//! registry, and the traits of the injected services.
//!
//! A strategy never touches messages. It reads a [`View`] and returns a [`Plan`]: typed edits, each with a reason. The
//! engine validates, resolves, archives, applies, counts, journals and reports them, so that no strategy can break a
//! session. A crate that implements [`Strategy`] depends on this crate alone.

pub mod adapter;
pub mod archive;
mod block;
mod cancellation;
mod clock;
pub mod code;
pub mod commands;
pub mod cut;
mod facts;
mod goal;
mod host;
pub mod keys;
pub mod levels;
mod lexicon;
mod lists;
mod lock;
mod media;
mod model_backoff;
mod named;
pub mod parts;
mod plan;
mod registry;
pub mod secrets;
mod services;
mod settings;
pub mod speech;
pub mod state;
mod strategy;
mod summaries;
mod task;
pub mod text;
pub mod tools;
pub mod transcript;
mod view;

/// Makes traits with asynchronous methods usable as `dyn Trait`; their implementations carry it too.
pub use async_trait::async_trait;
pub use epitome_session as session;
pub use epitome_session::{
    Arguments, Block, Content, Entry, EntryKey, Language, Message, MessageId, ModelUsage, Origin, Reason, Role,
    SummaryCheck, SummaryUsage, ToolCall, ToolResult, Unit, UnitKind,
};
#[doc(hidden)]
pub use serde_json::Value;

pub use block::{BlockRef, EntryTokens};
pub use cancellation::Cancellation;
pub use clock::Clock;
pub use facts::{
    Call, ExactString, ExactStrings, Facts, FileAccess, FileEvent, Occurrence, References, StringKind, StringPlace,
    ToolOutput, exact_strings, files_of, rules_read,
};
pub use goal::Goal;
pub use host::HostChanges;
pub use lexicon::{Cue, CueCounts, CueMatch, CueSearch, Cues, Lexicon, LexiconError};
pub use lists::WordLists;
pub use lock::lock;
pub use media::{MEDIA_TOKENS, MediaRates, Picture};
pub use model_backoff::ModelBackoff;
pub use named::{Named, UnknownName, nearest};
pub use plan::{Edit, Plan, PlanError, SummaryRequest, SummaryText};
pub use registry::{Configurable, Registration, Registry, RegistryError};
pub use services::{
    Archive, ArchiveError, ArchivedContent, BoxFuture, EmbedError, Embedder, Embeddings, SummarizeError, Summarizer,
    Summary, SummaryTask, TokenCounter, Tokens, ZeroCounter,
};
pub use settings::{Bounds, Field, FieldKind, SettingError, SettingType, SettingsTable};
#[doc(hidden)]
pub use settings::{read as read_setting, unknown as unknown_setting};
pub use strategy::{Lossiness, Meta, RequiredServices, Strategy};
pub use summaries::{
    RemovalOrder, SUMMARY_OVERHEAD, Summaries, SummaryRoom, neighbours, summarize, summarize_runs, tail_start,
    window_start,
};
pub use task::{TaskDetector, TaskKind, Verdict};
pub use view::{Protection, Vectors, View};
