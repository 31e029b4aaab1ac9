//! What is read of a session: passages of lines, and the calls.

use std::ops::Range;
use std::sync::Arc;

use epitome_strategy::commands::LastingResults;
use epitome_strategy::transcript::{Ending, LeftOutCalls, Sign};
use epitome_strategy::{BlockRef, tools};

/// The kind of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PassageKind {
    /// Typed by a person.
    Typed,
    /// What a person said through a tool.
    SpokenThroughTool,
    /// Put on the user's side by the harness.
    Injected,
    /// Text of the model while it worked.
    Commentary,
    /// Text of the model without a call: its answer.
    Answer,
    /// The line of a call.
    Call,
    /// Longer arguments of a call.
    Argument,
    /// What a tool printed.
    Output,
}

/// A line that may be kept.
#[derive(Debug, Clone)]
pub struct Line {
    pub(crate) source: Arc<str>,
    /// Its bytes in the text of its block.
    pub range: Range<usize>,
    pub(crate) number: Option<Range<usize>>,
    /// Whether its number follows that of the line before, also where that was an empty one.
    pub(crate) continues: bool,
    pub(crate) sign: Sign,
    /// Whether it begins a line; otherwise it continues the line before.
    pub starts_line: bool,
    /// Whether lines in front of it were left out by an earlier compaction.
    pub(crate) gap_before: bool,
    /// The probability that it is a person's demand, or a fact to be kept in mind; 0 where that is unlikely.
    pub demand: f32,
    /// Its passage, by position.
    pub passage: u32,
}

impl Line {
    /// Returns its text, without a number that a tool put in front of it.
    pub fn text(&self) -> &str {
        &self.source[self.range.clone()]
    }

    /// The number that a tool put in front of it.
    pub(crate) fn number(&self) -> Option<&str> {
        self.number.clone().map(|number| &self.source[number])
    }
}

/// Lines of one block with one speaker or tool.
#[derive(Debug)]
pub struct Passage {
    /// Its kind.
    pub kind: PassageKind,
    /// The speaker's name, where it is known.
    pub(crate) speaker: Option<Arc<str>>,
    /// The unit of the view that contains it, or that contains the summary which covers it.
    pub unit: u32,
    /// Its message, by number among all that are read.
    pub message: u32,
    /// Its block, where the view itself contains it.
    pub at: Option<BlockRef>,
    /// Its lines.
    pub lines: Range<u32>,
    /// Its call, by position among the actions.
    pub action: Option<u32>,
    /// Whether lines behind the last one were left out by an earlier compaction.
    pub(crate) gap_behind: bool,
    /// The calls in front of it that an earlier compaction left out.
    pub(crate) calls_before: LeftOutCalls,
    /// Whether it left out what the model said in front of it.
    pub(crate) is_behind_unsaid: bool,
}

/// A call.
#[derive(Debug)]
pub struct Action {
    pub(crate) name: Arc<str>,
    pub(crate) kind: tools::ToolKind,
    /// Its line.
    pub head: u32,
    pub(crate) message: u32,
    /// Whether it lists tasks, each with its status.
    pub lists_tasks: bool,
    /// Whether it writes or changes one task of a plan.
    pub(crate) writes_task: bool,
    /// Whether its script, where it has one, only shows content.
    pub(crate) looks: bool,
    /// Whether its script reports a state: of a repository, a build, a test.
    pub(crate) reports_state: bool,
    /// What its script may have brought about.
    pub(crate) lasting: LastingResults,
    /// How it ended, where that is known.
    pub(crate) ending: Option<Ending>,
    /// The line of its output that says how it ended, where there is a short one.
    pub(crate) outcome: Option<u32>,
}
