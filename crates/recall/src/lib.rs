//! Search in everything that was said in a session: messages that left the context are still in the log, and this finds
//! them.
//!
//! ```
//! use epitome_recall::{Index, Query};
//! use epitome_session::{Message, Origin, Role, Session};
//!
//! let mut session = Session::new();
//! session.push(Message::text("1", Role::User, Origin::Typed, "The nightly job must not touch partner HLV-2209."));
//! session.push(Message::text("2", Role::Assistant, Origin::Model, "Understood: HLV-2209 stays as it is."));
//!
//! let mut page = Index::build(&session).search(&Query::new("which partner is left alone?"))?;
//! page.locate(&session);
//! assert!(page.passages[0].text.contains("HLV-2209"));
//! assert_eq!(page.passages[0].in_context, Some(true));
//! # Ok::<(), epitome_recall::QueryProblem>(())
//! ```
//!
//! An [`Index`] is built from a session's log and grows with it; it does no IO and knows no file format.
//! `docs/recall.md` has how passages are found and ranked, with the figures behind it.

mod handle;
mod index;
mod locate;
pub mod lookups;
mod page;
mod pieces;
mod pool;
mod query;
mod score;
mod select;
mod terms;
mod units;

pub use handle::{StretchSearch, edit_handle, find_by_handle, find_stretch_by_handle, message_number};
pub use index::Index;
pub use page::{Page, Passage, PassagePart};
pub use pool::{Pool, SessionMatches};
pub use query::{Query, QueryProblem, Source};
