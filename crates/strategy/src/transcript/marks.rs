//! The marks of a transcript: of its speakers, its calls and how they ended, and of what was left out.

use std::borrow::Cow;

use epitome_session::Language;

use crate::levels::{CONTINUATION, unescaped};

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
    pub const fn continuation_mark(self) -> &'static str {
        match self {
            Self::User => "",
            Self::Assistant | Self::Harness | Self::Tool => CONTINUATION,
        }
    }

    /// Returns a further line of its text as it was said.
    pub fn read_continuation(self, line: &str) -> Cow<'_, str> {
        unescaped(line.strip_prefix(self.continuation_mark()).unwrap_or(line))
    }
}

/// Returns what the line that explains the form begins with: the signs behind it differ between versions.
pub(super) fn legend_start(language: Language) -> &'static str {
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
pub(super) const LEFT_OUT: &str = "…";
/// The mark behind that, in front of the number of calls, where it is more than one.
pub(super) const TIMES: &str = " ×";
/// The mark in front of the output of a call.
pub(super) const OUTPUT: &str = "→ ";
/// The mark in front of a line of a call's arguments that a change neither adds nor removes.
pub(super) const ARGUMENT: &str = "| ";

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Something says that it succeeded: a flag, an exit code, a line of its result.
    Fine,
    /// Its result reports a failure.
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
pub(super) fn read_call(line: &str) -> (&str, &str, Option<Ending>) {
    let ended = Ending::ALL.into_iter().find_map(|it| Some((line.strip_suffix(it.mark())?, it)));
    let unescaped = || line.strip_suffix(ESCAPE).filter(|call| !escape_of(call).is_empty()).unwrap_or(line);
    let (call, ending) = ended.map_or_else(|| (unescaped(), None), |(call, ending)| (call, Some(ending)));
    let (name, head) = call.split_once(": ").unwrap_or((call, ""));
    (name, head, ending)
}

/// What stands behind the line of a call that ends like a mark of its ending and has none, as `grep -c ✓` does.
const ESCAPE: &str = "\\";

/// Returns what has to stand behind the line of a call without an ending: nothing, or the escape where it ends like one, escaped
/// or not.
pub(super) fn escape_of(head: &str) -> &'static str {
    let head = head.trim_end_matches(ESCAPE);
    let is_like_ending = Ending::ALL.iter().any(|ending| head.ends_with(ending.mark().trim_start()));
    if is_like_ending { ESCAPE } else { "" }
}

/// Whether a line is the first of a record.
pub fn opens_record(line: &str) -> bool {
    line.starts_with(CALL) || Speaker::ALL.iter().any(|speaker| line.starts_with(speaker.mark()))
}

/// The marks around the number of failures among calls that were left out.
pub(super) const FAILURES: (&str, &str) = (" (✗", ")");

/// What stands in front of the names of what calls that were left out changed, ran and read, and between two of them.
pub(super) const NAMED: &str = ": ";
pub(super) const NAMES: &str = ", ";

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
pub(super) fn sign_mark(sign: Sign) -> &'static str {
    match sign {
        Sign::Old => "- ",
        Sign::New => "+ ",
        Sign::Plain => ARGUMENT,
    }
}

pub(super) const SIGNS: [Sign; 3] = [Sign::Old, Sign::New, Sign::Plain];
