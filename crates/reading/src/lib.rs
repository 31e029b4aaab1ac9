//! What a session says, read once: its lines, what each is worth, the choice among them, and the texts made of them.
//!
//! 1. [`Source::read`] takes a view apart into [`Passage`]s, what one speaker said, called or printed in one piece, and their
//!    [`Line`]s, with each call's [`Action`]: what it did, to which file, and how it ended.
//! 2. [`Worth::new`] values each line: by its words and names, who said it, how old it is, whether the model spoke of it, and how
//!    likely the next edit is to need it to the letter.
//! 3. [`Choice`] takes the lines worth most for their tokens until the room is used; a line that repeats what is kept is worth less.
//! 4. [`records`] and [`write`](epitome_strategy::transcript::write()) put the kept lines in their order, as a transcript; [`Blocks`] puts them under headings.
//!
//! Texts of both forms are read back ([`read`](epitome_strategy::transcript::read()), [`read_block`]), so that what an earlier compaction kept competes with what is new.

mod actions;
mod arguments;
mod block;
mod changes;
mod choose;
mod command_line;
mod counts;
mod demands;
mod fences;
mod fields;
mod file_work;
mod heads;
mod languages;
mod lists;
mod matching;
mod outcome;
mod passage;
mod pieces;
mod records;
mod repeats;
mod replies;
mod source;
mod summaries;
mod terms;
mod worth;

pub use crate::block::{Blocks, read as read_block};
pub use crate::choose::{Bounds, Choice};
pub use crate::command_line::command_of;
pub use crate::file_work::{FileWork, file_work};
pub use crate::languages::languages;
pub use crate::matching::{Features as MatchFeatures, features as match_features};
pub use crate::passage::{Action, Line, Passage, PassageKind};
pub use crate::records::records;
pub use crate::replies::{SHORT_REPLY, answered_lines};
pub use crate::source::Source;
pub use crate::summaries::{SummaryForm, transcript};
pub use crate::worth::Worth;
