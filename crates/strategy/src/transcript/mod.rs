//! The form of a transcript: the records of a run of steps, each under its speaker or tool.
//!
//! One module writes the form and one reads it back, so that a summary of which only the text is left, in a file that was
//! converted or piped, still says what was called and who said what, and can be shortened again.

mod read;
mod rows;
mod write;

use std::borrow::Cow;

use epitome_session::Language;

use crate::levels::{FURTHER, unescaped};

pub use read::{is_transcript, read};
pub use rows::Rows;
pub use write::write;

/// The speaker of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The model.
    Assistant,
    /// A person.
    User,
    /// The harness.
    Harness,
    /// A tool, of whose call nothing is known.
    Tool,
}

impl Speaker {
    /// Every speaker.
    pub const ALL: [Self; 4] = [Self::Assistant, Self::User, Self::Harness, Self::Tool];

    /// Returns the mark in front of its text.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Assistant => "» ",
            Self::User => "« ",
            Self::Harness => "◦ ",
            Self::Tool => OUTPUT,
        }
    }

    /// Returns what stands in front of each further line of its text.
    pub const fn further(self) -> &'static str {
        match self {
            Self::User => "",
            Self::Assistant | Self::Harness | Self::Tool => FURTHER,
        }
    }

    /// Returns a further line of its text as it was said.
    pub fn read_further(self, line: &str) -> Cow<'_, str> {
        unescaped(line.strip_prefix(self.further()).unwrap_or(line))
    }
}

/// Returns what the line that explains the form begins with: the signs behind it differ between versions.
fn legend_start(language: Language) -> &'static str {
    language.pick("Earlier steps, shortened. ", "此前的步骤，已缩短。")
}

/// Returns the line that explains the form; only the first transcript of a view has it.
pub fn legend(language: Language) -> String {
    let signs = language.pick(
        "» assistant, « user, ◦ harness, ▸ call (✓ succeeded, ✗ failed, ∅ nothing found), → its result, … left out; indented: continued.",
        "» 助手，« 用户，◦ 框架，▸ 调用（✓ 成功，✗ 失败，∅ 未找到），→ 结果，… 省略；缩进：续上行。",
    );
    format!("{}{signs}", legend_start(language))
}

/// The mark in front of a call.
pub const CALL: &str = "▸ ";
/// The mark for what was left out: behind the line before it, in front of the first line that is left, or for a call.
const LEFT_OUT: &str = "…";
/// The mark behind that, in front of the number of calls, where it is more than one.
const TIMES: &str = " ×";
/// The mark in front of the output of a call.
const OUTPUT: &str = "→ ";
/// The mark in front of a line of a call's arguments that a change neither adds nor removes.
const ARGUMENT: &str = "| ";

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Something says that it succeeded: a flag, an exit code, a line of its result.
    Fine,
    /// Its result tells of a failure.
    Failed,
    /// It searched, and nothing was found.
    Empty,
}

impl Ending {
    /// Every ending.
    pub const ALL: [Self; 3] = [Self::Fine, Self::Failed, Self::Empty];

    /// Returns the mark behind the line of the call.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Fine => " ✓",
            Self::Failed => " ✗",
            Self::Empty => " ∅",
        }
    }
}

/// Returns the tool's name in the line of a call, its mark taken off, with what was asked, and how it ended where the line
/// says so.
fn read_call(line: &str) -> (&str, &str, Option<Ending>) {
    let ended = Ending::ALL.into_iter().find_map(|it| Some((line.strip_suffix(it.mark())?, it)));
    let (call, ending) = ended.map_or((line, None), |(call, ending)| (call, Some(ending)));
    let (name, head) = call.split_once(": ").unwrap_or((call, ""));
    (name, head, ending)
}

/// Whether a line is the first of a record.
pub fn opens_record(line: &str) -> bool {
    line.starts_with(CALL) || Speaker::ALL.iter().any(|speaker| line.starts_with(speaker.mark()))
}

/// The marks around the number of failures among calls that were left out.
const FAILURES: (&str, &str) = (" (✗", ")");

/// What stands in front of the names of what calls that were left out read, and between two of them.
const READ: &str = ": ";
const NAMES: &str = ", ";

/// The kind of a line of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sign {
    /// Text that a change removes, or must match.
    Old,
    /// Text that a change puts in.
    New,
    /// Any other longer argument.
    Plain,
}

/// The mark of a line of arguments.
fn sign_mark(sign: Sign) -> &'static str {
    match sign {
        Sign::Old => "- ",
        Sign::New => "+ ",
        Sign::Plain => ARGUMENT,
    }
}

const SIGNS: [Sign; 3] = [Sign::Old, Sign::New, Sign::Plain];

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// Speech.
    Speech {
        /// Who speaks.
        speaker: Speaker,
        /// What is said.
        rows: Rows,
    },
    /// A call of the model.
    Call {
        /// The tool.
        name: String,
        /// What it was asked for, in one line.
        head: String,
        /// How it ended.
        ending: Option<Ending>,
        /// Longer arguments.
        arguments: Vec<(Sign, Rows)>,
        /// What it printed.
        output: Rows,
    },
    /// Calls of which nothing is shown.
    LeftOut(LeftOutCalls),
    /// What the model said, of which nothing is shown, between two messages of a person.
    Unsaid,
}

/// Calls of which nothing is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftOutCalls {
    /// How many there are.
    pub calls: u32,
    /// How many of them failed.
    pub failures: u32,
    /// What they read, each once, in the order of the first reads: at most [`LeftOutCalls::MOST_NAMES`].
    pub read: Vec<String>,
}

impl LeftOutCalls {
    /// So many names say where the work was; more would cost what the lines of a call do.
    pub const MOST_NAMES: usize = 4;
    /// Characters of a name: a longer one is no path that anybody would read in passing.
    const MOST_CHARS: usize = 80;

    /// Returns one call that ended so, and read what has this name.
    pub fn new(ending: Option<Ending>, read: Option<&str>) -> Self {
        let can_be_read_back =
            |name: &&str| !name.is_empty() && !name.contains(NAMES) && !name.contains(char::is_control);
        let read = read.filter(can_be_read_back).filter(|name| name.chars().count() <= Self::MOST_CHARS);
        let failures = u32::from(ending == Some(Ending::Failed));
        Self { calls: 1, failures, read: read.map(str::to_owned).into_iter().collect() }
    }
}

impl std::ops::AddAssign for LeftOutCalls {
    fn add_assign(&mut self, other: Self) {
        (self.calls, self.failures) = (self.calls + other.calls, self.failures + other.failures);
        for name in other.read {
            if self.read.len() < Self::MOST_NAMES && !self.read.contains(&name) {
                self.read.push(name);
            }
        }
    }
}

#[cfg(test)]
mod tests;
