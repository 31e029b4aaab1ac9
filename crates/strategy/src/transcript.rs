//! The form of a transcript, as far as others than its strategy read it: the marks of its records, and their borders.
//!
//! A summary of which only the text is left, in a file that was converted or piped, still says what was called and who
//! said what.

use std::borrow::Cow;

use epitome_session::Language;

use crate::levels::{FURTHER, unescaped};

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
pub fn legend_start(language: Language) -> &'static str {
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
pub const LEFT_OUT: &str = "…";
/// The mark behind that, in front of the number of calls, where it is more than one.
pub const TIMES: &str = " ×";
/// The mark in front of the output of a call.
pub const OUTPUT: &str = "→ ";
/// The mark in front of a line of a call's arguments that a change neither adds nor removes.
pub const ARGUMENT: &str = "| ";

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
pub fn read_call(line: &str) -> (&str, &str, Option<Ending>) {
    let ended = Ending::ALL.into_iter().find_map(|it| Some((line.strip_suffix(it.mark())?, it)));
    let (call, ending) = ended.map_or((line, None), |(call, ending)| (call, Some(ending)));
    let (name, head) = call.split_once(": ").unwrap_or((call, ""));
    (name, head, ending)
}

/// A record of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record<'t> {
    /// Speech, without the mark in front of it.
    Speech {
        /// Who speaks.
        speaker: Speaker,
        /// The lines, as they were said.
        text: Cow<'t, str>,
    },
    /// A call.
    Call {
        /// The tool's name.
        name: &'t str,
        /// What was asked, as far as it is in the line of the call.
        head: &'t str,
        /// The lines below: further arguments and the output, with their marks.
        below: &'t str,
    },
}

/// What the first line of a record opens.
enum Opening<'t> {
    Speech(Speaker, &'t str),
    Call(&'t str),
}

/// Returns the words of a speaker's record as they were said. Linear.
fn said(speaker: Speaker, text: &str) -> Cow<'_, str> {
    let Some((first, further)) = text.split_once('\n') else { return Cow::Borrowed(text) };
    let mut said = first.to_owned();
    for line in further.split('\n') {
        said.push('\n');
        said.push_str(&speaker.read_further(line));
    }
    Cow::Owned(said)
}

fn opening(line: &str) -> Option<Opening<'_>> {
    if let Some(call) = line.strip_prefix(CALL) {
        return Some(Opening::Call(call));
    }
    Speaker::ALL.into_iter().find_map(|speaker| Some(Opening::Speech(speaker, line.strip_prefix(speaker.mark())?)))
}

/// Whether a line is the first of a record.
pub fn opens_record(line: &str) -> bool {
    opening(line).is_some()
}

/// Returns the records of a transcript, in order; text in front of the first is left out, and so are the marks of
/// calls and words that are not shown. Linear.
pub fn records(text: &str) -> Vec<Record<'_>> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    // Whether the next output is that of the call above.
    let mut is_of_call = false;
    for line in text.split_inclusive('\n') {
        match opening(line) {
            Some(Opening::Speech(Speaker::Tool, _)) if is_of_call => is_of_call = false,
            Some(opening) => {
                is_of_call = matches!(opening, Opening::Call(_));
                starts.push(at);
            }
            None => {}
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let record = |range: std::ops::Range<usize>| {
        let text = text[range].trim_end_matches('\n');
        Some(match opening(text)? {
            Opening::Speech(_, LEFT_OUT) => return None,
            Opening::Speech(speaker, text) => Record::Speech { speaker, text: said(speaker, text) },
            Opening::Call(text) if text.starts_with(LEFT_OUT) => return None,
            Opening::Call(text) => {
                let (call, below) = text.split_once('\n').unwrap_or((text, ""));
                let (name, head, _) = read_call(call);
                Record::Call { name, head, below }
            }
        })
    };
    starts.iter().copied().zip(ends).filter_map(|(start, end)| record(start..end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_a_transcript() {
        let check = |text: &str, expect: &[Record<'_>]| assert_eq!(records(text), expect, "{text}");
        check("## Goal\n- no transcript", &[]);
        check(
            "What the signs mean.\n» I look.\n And think.\n \\▸ No call.\n▸ … ×3 (✗)\n» …\n▸ Bash: cat a.rs ✗\n| | head\n→ fn a() …\n▸ Stop ✓\n« No: wait.",
            &[
                Record::Speech { speaker: Speaker::Assistant, text: "I look.\nAnd think.\n▸ No call.".into() },
                Record::Call { name: "Bash", head: "cat a.rs", below: "| | head\n→ fn a() …" },
                Record::Call { name: "Stop", head: "", below: "" },
                Record::Speech { speaker: Speaker::User, text: "No: wait.".into() },
            ],
        );
    }
}
