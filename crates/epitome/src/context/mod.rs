//! What fills a session's context, how full it is, what would leave it next and why, and what has left it.
//!
//! [`LiveSession::report_context`](crate::live::LiveSession::report_context) puts it all together; a program that needs
//! one of the figures takes it alone.
//!
//! ```
//! use epitome::live::LiveSession;
//! use epitome::session::{Message, Origin, Role, Session};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut session = Session::new();
//! session.push(Message::text("1", Role::User, Origin::Typed, "Fix the build"));
//! let runtime = epitome::Config::default().build(&epitome::registry())?;
//! let report = epitome::engine::block_on(LiveSession::with_session(&runtime, session).report_context());
//! assert_eq!(report.contents.parts[0].part.as_str(), "task");
//! assert_eq!(report.contents.parts[0].tokens, report.contents.tokens);
//! assert!(report.next.departures.is_empty() && report.removed.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! | what | type | cost |
//! |---|---|---|
//! | what it is made of | [`Contents`], [`parts`], [`UnitSize`], [`RoundSize`], [`MessageSize`] | the number of blocks; the task type: the texts |
//! | what a status line says | [`ContextStatus`] | the log |
//! | how full it is | [`Fullness`] | the messages since the newest compaction |
//! | what would leave next | [`NextCompaction`] | that of a preview |
//! | what has left | [`Removed`] | the log |
//! | what deserves a look | [`ContextWarning`] | the number of blocks |
//! | a session that is read again and again | [`ViewCounts`] | what is new |

mod contents;
mod departures;
mod first_words;
mod fullness;
mod parts;
mod removed;
mod report;
mod status;
#[cfg(test)]
mod tests;
mod units;
mod view_counts;
mod warning;

pub use contents::{Contents, MessageSize, RoleShare, ToolShare, counts, tool_definition_tokens};
pub use departures::{Departure, NextCompaction};
pub use first_words::first_words;
pub use fullness::Fullness;
pub use parts::{Part, PartItem, PartKind, parts};
pub use removed::{Removed, RemovedItem};
pub use report::{ContextReport, ReportedUsage};
pub use status::ContextStatus;
pub use units::{RoundSize, UnitSize};
pub use view_counts::ViewCounts;
pub use warning::ContextWarning;

pub(crate) use fullness::newest_compaction;
