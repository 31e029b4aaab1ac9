//! The journal: epochs and what they changed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::excerpt::Excerpt;
use crate::fold::{EntryKey, Position};
use crate::message::Message;
use crate::summarizer::SummarizerRecord;

/// Why an edit was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// A documented kebab-case code, such as `old-tool-result`.
    pub code: Arc<str>,
    /// One line for a person.
    #[serde(default)]
    pub detail: String,
    /// The strategy's own score, where it has one.
    #[serde(default)]
    pub score: Option<f32>,
    /// What it rests on: message ids, matched words, paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

impl Reason {
    /// A reason with a code and a detail.
    pub fn new(code: &str, detail: impl Into<String>) -> Self {
        Self { code: Arc::from(code), detail: detail.into(), score: None, evidence: Vec::new() }
    }

    /// The same reason with a score.
    #[must_use]
    pub fn with_score(mut self, score: f32) -> Self {
        self.score = Some(score);
        self
    }

    /// The same reason with one more piece of evidence.
    #[must_use]
    pub fn with_evidence(mut self, evidence: impl Into<String>) -> Self {
        self.evidence.push(evidence.into());
        self
    }
}

/// What started a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// Asked for.
    Manual,
    /// The soft threshold.
    Soft,
    /// The hard threshold.
    Hard,
    /// Less than the configured share of the window was left.
    RemainingShare,
    /// The configured number of rounds.
    Rounds,
    /// The marker in the model's own output.
    Marker,
    /// The provider refused the request as too long.
    Overflow,
    /// Something huge arrived and was cut before it was sent. Not a compaction of the session.
    Arrival,
    /// Old results were cleared below the thresholds. Not a compaction of the session.
    Clearing,
    /// Found in a recording, without a recorded trigger.
    Recorded,
}

impl Trigger {
    /// Whether what it starts is a compaction of the session: cuts on arrival and clearings are none.
    pub fn is_compaction(self) -> bool {
        !matches!(self, Self::Arrival | Self::Clearing)
    }
}

/// The four kinds of edit, as reports name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditKind {
    /// Units left the context whole.
    Drop,
    /// Units were replaced by one message.
    Summarize,
    /// Parts of a text left.
    Excerpt,
    /// Long strings in a call's arguments were shortened.
    Trim,
}

/// One change to one entry of the view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum Change {
    /// The entry leaves the view.
    Remove {
        /// Which entry.
        entry: EntryKey,
    },
    /// A block of the entry shows an excerpt of its original text.
    Excerpt {
        /// Which entry.
        entry: EntryKey,
        /// Which of its blocks.
        block: u32,
        /// What is shown.
        excerpt: Excerpt,
    },
    /// A call shows shortened arguments.
    Trim {
        /// Which entry.
        entry: EntryKey,
        /// Which of its blocks.
        block: u32,
        /// The arguments shown.
        arguments: Arc<str>,
    },
    /// A block leaves the view whole and without a mark.
    Strip {
        /// Which entry.
        entry: EntryKey,
        /// Which of its blocks.
        block: u32,
    },
}

impl Change {
    /// The entry that it touches.
    pub fn entry(&self) -> EntryKey {
        match self {
            Self::Remove { entry }
            | Self::Excerpt { entry, .. }
            | Self::Trim { entry, .. }
            | Self::Strip { entry, .. } => *entry,
        }
    }
}

/// An edit as the engine applied it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AppliedEdit {
    /// What kind.
    pub kind: EditKind,
    /// The strategy that planned it, or the engine's own stage.
    pub strategy: Arc<str>,
    /// Why.
    pub reason: Reason,
    /// The archive's handle of what it removed.
    pub recall: Option<Arc<str>>,
    /// Tokens it saved, what it added already taken off.
    pub tokens_saved: u32,
    /// What it changed.
    pub changes: Vec<Change>,
    /// The message that stands in place of what it removed, by its number among the epoch's additions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<u32>,
}

/// A message that no one said: a summary, a notice, the answer to a call whose result was never recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SyntheticMessage {
    /// Where it stands among the log's messages.
    pub position: Position,
    /// The message.
    pub message: Arc<Message>,
}

/// Who made an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EpochOrigin {
    /// This engine.
    Engine,
    /// The agent that recorded the session.
    Recorded,
}

/// What kind of task a compaction took the session for. The kinds are those of the engine that made it, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The detector's verdict.
    pub detected: Arc<str>,
    /// Its confidence, from 0 to 1.
    pub confidence: f64,
    /// The kind that the chain was chosen by.
    pub chosen: Arc<str>,
}

/// One committed compaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Its number in the journal, from 0.
    pub id: u32,
    /// Who made it.
    pub origin: EpochOrigin,
    /// What started it.
    pub trigger: Trigger,
    /// How many messages the log held.
    pub log_length: u32,
    /// Tokens of the view before; `None` where a recording does not say.
    pub tokens_before: Option<u32>,
    /// Tokens of the view after.
    pub tokens_after: Option<u32>,
    /// What was done, in order.
    pub edits: Vec<AppliedEdit>,
    /// The messages that it added.
    pub synthetics: Vec<SyntheticMessage>,
    /// What kind of task was detected and chosen; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// What became of summaries that a model was asked for; `None` where none was, or where nothing is to be told of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summarizer: Option<Arc<SummarizerRecord>>,
    /// Whether it was undone: the fold leaves it out.
    #[serde(default)]
    pub undone: bool,
}

impl Epoch {
    /// An epoch of a recording that removes `removed` and adds `synthetics`.
    pub fn recorded(
        trigger: Trigger,
        removed: impl IntoIterator<Item = EntryKey>,
        synthetics: Vec<SyntheticMessage>,
    ) -> Self {
        let changes: Vec<Change> = removed.into_iter().map(|entry| Change::Remove { entry }).collect();
        let kind = if synthetics.is_empty() { EditKind::Drop } else { EditKind::Summarize };
        Self::recorded_edits(trigger, kind, changes, synthetics)
    }

    /// An epoch of a recording with the given changes.
    pub fn recorded_edits(
        trigger: Trigger,
        kind: EditKind,
        changes: Vec<Change>,
        synthetics: Vec<SyntheticMessage>,
    ) -> Self {
        let edit = AppliedEdit {
            kind,
            strategy: Arc::from("recorded"),
            reason: Reason::new("recorded-compaction", "compacted by the agent that recorded the session"),
            recall: None,
            tokens_saved: 0,
            into: (!synthetics.is_empty()).then_some(0),
            changes,
        };
        Self {
            id: 0,
            origin: EpochOrigin::Recorded,
            trigger,
            log_length: 0,
            tokens_before: None,
            tokens_after: None,
            edits: vec![edit],
            synthetics,
            choice: None,
            summarizer: None,
            undone: false,
        }
    }

    /// Whether it is in force and a compaction of the session.
    pub fn is_compaction(&self) -> bool {
        !self.undone && self.trigger.is_compaction()
    }

    /// Every change, in order.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.edits.iter().flat_map(|edit| &edit.changes)
    }
}
