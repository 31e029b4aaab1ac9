//! Cases: a recorded session cut in two, with everything that is known before any method runs.

use std::collections::HashSet;
use std::sync::Arc;

use epitome::engine::{Engine, SignalDetector};
use epitome::session::{Entry, Message, Session};
use epitome::strategy::TaskKind;
use serde::{Deserialize, Serialize};

use crate::EvalError;
use crate::cases::cut::{COUNTER, admitted_message, floor, part_of, position, tokens_of};
use crate::cases::edits::{quoted_lines, short_name, unique, written_files};
use crate::cases::instructions::demands;
use crate::cases::needed::{NeededAtom, NeededAtoms, calls};
use crate::cases::patterns::Patterns;
use crate::cases::text::{conversation, shown_messages, system};

/// The identity of a case: a session among all that are read, and the cut.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CaseId {
    /// The file, relative to the given folder.
    pub file: String,
    /// The session's name in its file.
    pub session: String,
    /// The cut in thousandths of the session's tokens; 0 where the session itself defines it.
    pub cut_permille: u32,
    /// Which of several cases at that cut: a recorded compaction, a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// The settings of cases.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseOptions {
    /// The share of a session's tokens before the cut.
    pub cut: f64,
    /// Whether recorded reasoning is part of the sessions. Most formats have no place for it, so the default leaves it
    /// out.
    pub with_reasoning: bool,
}

impl Default for CaseOptions {
    fn default() -> Self {
        Self { cut: 0.5, with_reasoning: false }
    }
}

/// A recorded session cut in two.
#[derive(Debug)]
pub struct Case {
    /// Its identity.
    pub id: CaseId,
    /// The recording's format.
    pub format: String,
    /// The kind of task that the detector sees in the prefix.
    pub task: TaskKind,
    /// The repository that the session worked in, where it is known.
    pub repository: Option<String>,
    /// Tokens of the whole session, left-out parts not counted.
    pub session_tokens: u32,
    /// The conversation before the cut, which is compacted.
    pub prefix: Session,
    /// Tokens of the prefix by the exact counter.
    pub prefix_tokens: u32,
    /// Tokens of the system prompt.
    pub system_tokens: u32,
    /// The least budget that is fair: system prompt, newest typed message, last step and 500 tokens.
    pub floor_tokens: u32,
    /// How many tool calls are behind the cut.
    pub future_calls: u32,
    pub(crate) tokens: Vec<u32>,
    pub(crate) system: String,
    pub(crate) continuation: Continuation,
}

/// What the future shows to be worth keeping.
#[derive(Debug)]
pub(crate) struct Continuation {
    pub(crate) needed: NeededAtoms,
    pub(crate) quoted_lines: Vec<String>,
    pub(crate) quotes: Patterns,
    pub(crate) files: Patterns,
    pub(crate) instructions: Patterns,
}

impl Case {
    /// Returns the case of a cut `session`; `None` where no cut leaves messages on both sides. Linear in the session.
    pub fn new(id: CaseId, format: &str, session: &Session, options: &CaseOptions) -> Result<Option<Self>, EvalError> {
        let bare = session.without_journal();
        let admitted = bare.view().iter().filter_map(|entry| admitted_message(entry, options.with_reasoning));
        let all = part_of(session, admitted);
        let entries = all.view();
        let tokens: Vec<u32> = entries.iter().map(|entry| tokens_of(&entry.message)).collect();
        let Some(at) = position(entries, &tokens, options.cut) else { return Ok(None) };
        let future: Vec<&Message> = entries[at..].iter().map(|entry| &*entry.message).collect();
        let prefix = part_of(session, entries[..at].iter().map(|entry| Arc::clone(&entry.message)));
        Self::from_prefix(id, format, prefix, &future).map(Some)
    }

    /// Returns the case of a prefix and the messages behind it. Linear in both.
    pub fn from_prefix(id: CaseId, format: &str, prefix: Session, future: &[&Message]) -> Result<Self, EvalError> {
        let before = prefix.view();
        let tokens: Vec<u32> = before.iter().map(|entry| tokens_of(&entry.message)).collect();
        let system = system(shown_messages(before));
        let continuation = Continuation::find(before, &system, future)?;
        let of_system = before.iter().zip(&tokens).filter(|(entry, _)| is_system(entry)).map(|(_, tokens)| tokens);
        let prefix_tokens = tokens.iter().sum();
        let detector = Engine::new(Arc::new(COUNTER), Arc::new(SignalDetector));
        Ok(Self {
            id,
            format: format.to_owned(),
            task: detector.detect(&prefix, &detector.ledger(&prefix)).kind,
            repository: None,
            session_tokens: future.iter().map(|message| tokens_of(message)).sum::<u32>() + prefix_tokens,
            prefix_tokens,
            system_tokens: of_system.sum(),
            floor_tokens: floor(before, &tokens),
            future_calls: future.iter().map(|message| calls(message) as u32).sum(),
            tokens,
            system,
            continuation,
            prefix,
        })
    }

    /// Returns the strings that later calls needed.
    pub fn needed(&self) -> &[NeededAtom] {
        &self.continuation.needed.atoms
    }

    /// Returns the lines of the prefix that later edits had to match.
    pub fn quoted_lines(&self) -> &[String] {
        &self.continuation.quoted_lines
    }

    /// Returns the tokens of a budget: a share of the prefix, or absolute, never less than the floor.
    pub fn budget_tokens(&self, budget: crate::BudgetSpec) -> u32 {
        budget.tokens(self.prefix_tokens).max(self.floor_tokens)
    }
}

pub(crate) fn is_system(entry: &Entry) -> bool {
    entry.message.is_system_prompt()
}

impl Continuation {
    fn find(before: &[Entry], system: &str, future: &[&Message]) -> Result<Self, EvalError> {
        let prefix = conversation(shown_messages(before));
        let mut lines = Vec::new();
        future.iter().for_each(|message| quoted_lines(message, &mut lines));
        let lines = present_in(unique(lines), &prefix)?;
        let (mut files, mut instructions) = (Vec::new(), Vec::new());
        for message in shown_messages(before) {
            written_files(message, &mut files);
            if message.is_typed() {
                instructions.extend(demands(&message.plain_text()));
            }
        }
        let files = unique(files.iter().map(|file| short_name(file)).collect());
        let instructions = unique(instructions);
        Ok(Self {
            needed: NeededAtoms::find(&prefix, system, future)?,
            quotes: Patterns::new(&lines, false)?,
            quoted_lines: lines,
            files: Patterns::new(&files, true)?,
            instructions: Patterns::new(&instructions, false)?,
        })
    }
}

/// Returns the lines that occur verbatim in `text`.
fn present_in(lines: Vec<String>, text: &str) -> Result<Vec<String>, EvalError> {
    let present = Patterns::new(&lines, false)?.present(text);
    let found: HashSet<usize> = present.iter().enumerate().filter(|(_, present)| **present).map(|(at, _)| at).collect();
    Ok(lines.into_iter().enumerate().filter(|(at, _)| found.contains(at)).map(|(_, line)| line).collect())
}
