//! The model summarizer over a scripted model: what it asks, what it makes of answers, what it does when they are no good.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[path = "model/scripted.rs"]
mod scripted;

#[cfg(feature = "http")]
#[path = "model/compaction.rs"]
mod compaction;
#[path = "model/evidence.rs"]
mod evidence;
#[path = "model/failures.rs"]
mod failures;
#[path = "model/hostile.rs"]
mod hostile;
#[cfg(feature = "http")]
#[path = "model/http.rs"]
mod http;
#[path = "model/parts.rs"]
mod parts;
#[path = "model/prompts.rs"]
mod prompts;
#[path = "model/recorded.rs"]
mod recorded;
#[path = "model/rules.rs"]
mod rules;
