//! Parts that several rooms need, that know nothing of sessions, and for which no library was found that is small enough.
//!
//! [`PendingFile`] is a file that is whole or not there, [`Generations`] a bounded map that keeps the values in use,
//! [`read_plain`] reads a file and refuses what only looks like one. With the feature
//! `lru` there is `WeighedLru` too, a map that knows which values were used least recently and how many bytes it holds.

mod generations;
mod pending_file;
mod plain;
#[cfg(feature = "lru")]
mod weighed_lru;

pub use generations::Generations;
pub use pending_file::{PendingFile, Privacy, identity, identity_at};
pub use plain::{check_plain, read_plain, read_plain_text};
#[cfg(feature = "lru")]
pub use weighed_lru::WeighedLru;
