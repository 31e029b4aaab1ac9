//! The form of a transcript: the records of a run of steps, each under its speaker or tool.
//!
//! One module writes the form and one reads it back, so that a summary of which only the text is left, in a file that was
//! converted or piped, still says what was called and who said what, and can be shortened again.

mod marks;
mod read;
mod record;
mod write;

pub use marks::{CALL, Ending, Sign, Speaker, legend, opens_record};
pub use read::{is_transcript, read};
pub use record::{LeftOutCalls, Record, Rows};
pub use write::write;

#[cfg(test)]
mod tests;
