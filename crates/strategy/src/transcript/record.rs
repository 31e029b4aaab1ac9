//! The records of a transcript.

use super::marks::{Ending, LEFT_OUT, NAMES, Sign, Speaker};
use crate::levels;

/// Lines of one speaker or tool, with the places of omissions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    pub(super) rows: Vec<Row>,
    /// Whether lines behind the last one were left out.
    pub(super) gap_behind: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) text: String,
    /// Whether lines in front of it were left out.
    pub(super) gap_before: bool,
}

impl Rows {
    /// Adds a line, or each line of a text whose lines end otherwise than in line feeds; `gap_before` says whether lines in
    /// front were left out. The form's own marks of omission at the ends of a line are read as such, and one of marks only,
    /// or an empty one, is not added.
    pub fn push(&mut self, text: &str, gap_before: bool) {
        if levels::line_end(text).is_none() {
            return self.push_line(text, gap_before);
        }
        for (number, line) in levels::lines(text).enumerate() {
            self.push_line(line, gap_before && number == 0);
        }
    }

    fn push_line(&mut self, text: &str, gap_before: bool) {
        let gap_before = gap_before || std::mem::take(&mut self.gap_behind);
        let behind = text.strip_suffix(LEFT_OUT).and_then(|text| text.strip_suffix(' '));
        let marked = behind.unwrap_or(text);
        let mut inner = marked;
        while let Some(rest) = inner.strip_prefix(LEFT_OUT).and_then(|text| text.strip_prefix(' ')) {
            inner = rest;
        }
        let is_marked = inner.len() < marked.len();
        if inner == LEFT_OUT || inner.is_empty() {
            self.gap_behind = gap_before || is_marked || marked.len() < text.len() || inner == LEFT_OUT;
            return;
        }
        self.rows.push(Row { text: inner.to_owned(), gap_before: gap_before || is_marked });
        self.gap_behind = behind.is_some();
    }

    /// Records that lines behind the last one were left out.
    pub fn leave_out(&mut self) {
        self.gap_behind = true;
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the lines, each with whether others in front of it were left out.
    pub fn iter(&self) -> impl Iterator<Item = (&str, bool)> {
        self.rows.iter().map(|row| (row.text.as_str(), row.gap_before))
    }

    /// Whether lines behind the last one were left out.
    pub fn has_gap_behind(&self) -> bool {
        self.gap_behind
    }
}

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
    /// What they changed, ran and read, each once, in the order of the first: at most
    /// [`LeftOutCalls::MOST_NAMES`].
    pub names: Vec<String>,
}

impl LeftOutCalls {
    /// The most names that are shown: they say where the work was; more would cost as much as the lines of a call.
    pub const MOST_NAMES: usize = 4;
    /// Characters of a name: a longer one is no path that anybody would read in passing.
    const MOST_CHARS: usize = 80;

    /// Returns one call that ended so, and read or ran what has this name.
    pub fn new(ending: Option<Ending>, name: Option<&str>) -> Self {
        let can_be_read_back =
            |name: &&str| !name.is_empty() && !name.contains(NAMES) && !name.contains(char::is_control);
        let name = name.filter(can_be_read_back).filter(|name| name.chars().count() <= Self::MOST_CHARS);
        let failures = u32::from(ending == Some(Ending::Failed));
        Self { calls: 1, failures, names: name.map(str::to_owned).into_iter().collect() }
    }
}

impl std::ops::AddAssign for LeftOutCalls {
    fn add_assign(&mut self, other: Self) {
        (self.calls, self.failures) = (self.calls + other.calls, self.failures + other.failures);
        for name in other.names {
            if self.names.len() < Self::MOST_NAMES && !self.names.contains(&name) {
                self.names.push(name);
            }
        }
    }
}
