//! The journal: epochs and what they changed.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::excerpt::Excerpt;
use crate::fold::{EntryKey, Position};
use crate::message::{Message, Origin};
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
    /// Its evidence: message ids, matched words, paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

impl Reason {
    /// Returns a reason with a code and a detail.
    pub fn new(code: &str, detail: impl Into<String>) -> Self {
        Self { code: Arc::from(code), detail: detail.into(), score: None, evidence: Vec::new() }
    }

    /// Returns the reason with a score.
    #[must_use]
    pub fn with_score(mut self, score: f32) -> Self {
        self.score = Some(score);
        self
    }

    /// Returns the reason with one more piece of evidence.
    #[must_use]
    pub fn with_evidence(mut self, evidence: impl Into<String>) -> Self {
        self.evidence.push(evidence.into());
        self
    }
}

/// What started a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// A request.
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
    /// Something huge arrived and was cut before it was sent. Does not count as a compaction.
    Arrival,
    /// Old results were cleared below the thresholds. Does not count as a compaction.
    Clearing,
    /// Found in a recording that names no trigger.
    Recorded,
    /// A person went back in the agent: what was said on the way that was left is in the log alone. Does not count as a
    /// compaction.
    TakenBack,
    /// Messages were kept by hand, or are no longer. Does not count as a compaction.
    Kept,
}

impl Trigger {
    /// Whether its epochs count as compactions of the session: cuts on arrival, clearings, what was taken back and what is
    /// kept by hand do not.
    pub fn is_compaction(self) -> bool {
        !matches!(self, Self::Arrival | Self::Clearing | Self::TakenBack | Self::Kept)
    }
}

/// The four kinds of edit, as reports name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
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
        /// The entry.
        entry: EntryKey,
    },
    /// A block of the entry shows an excerpt of its original text.
    Excerpt {
        /// The entry.
        entry: EntryKey,
        /// The position of the block in the entry.
        block: u32,
        /// The excerpt that is shown.
        excerpt: Excerpt,
    },
    /// A call shows shortened arguments.
    Trim {
        /// The entry.
        entry: EntryKey,
        /// The position of the block in the entry.
        block: u32,
        /// The arguments shown.
        arguments: Arc<str>,
    },
    /// A block leaves the view whole.
    Strip {
        /// The entry.
        entry: EntryKey,
        /// The position of the block in the entry.
        block: u32,
        /// The text in its place; thinking has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark: Option<Arc<str>>,
    },
}

impl Change {
    /// Returns the entry that it changes.
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
    /// The kind of edit.
    pub kind: EditKind,
    /// The strategy that planned it, or the engine's own stage.
    pub strategy: Arc<str>,
    /// The reason for it.
    pub reason: Reason,
    /// The archive's handle of the removed content.
    pub recall: Option<Arc<str>>,
    /// Tokens that it saved, its own additions already subtracted.
    pub tokens_saved: u32,
    /// The changes that it made.
    pub changes: Vec<Change>,
    /// The message that replaces the removed ones, by its number among the epoch's additions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<u32>,
}

/// A message that was not said by anyone: a summary, a notice, the answer to a call whose result was never recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SyntheticMessage {
    /// Its place among the log's messages.
    pub position: Position,
    /// The message.
    pub message: Arc<Message>,
}

/// The author of an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum EpochOrigin {
    /// This engine.
    Engine,
    /// The agent that recorded the session.
    Recorded,
}

/// The kind of task for which a compaction was made. The names are those of the engine that made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The detector's verdict.
    pub detected: Arc<str>,
    /// Its confidence, from 0 to 1.
    pub confidence: f64,
    /// The kind that decided the chain.
    pub chosen: Arc<str>,
}

/// One committed compaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Its number in the journal, from 0.
    pub id: u32,
    /// Its author.
    pub origin: EpochOrigin,
    /// The trigger that started it.
    pub trigger: Trigger,
    /// How many messages the log had when it was committed.
    pub log_length: u32,
    /// Tokens of the view before; `None` where a recording does not say.
    pub tokens_before: Option<u32>,
    /// Tokens of the view after.
    pub tokens_after: Option<u32>,
    /// The edits, in order.
    pub edits: Vec<AppliedEdit>,
    /// The messages that it added.
    pub synthetics: Vec<SyntheticMessage>,
    /// The entries that are kept by hand from here on: no later compaction changes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<EntryKey>,
    /// The entries that are kept by hand no longer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<EntryKey>,
    /// The kind of task that was detected and chosen; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// The outcome of summaries that a model was asked for; `None` where none was, or where there is nothing to record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summarizer: Option<Arc<SummarizerRecord>>,
    /// Whether it was undone: the fold leaves it out.
    #[serde(default)]
    pub undone: bool,
}

impl Epoch {
    /// Returns an epoch of a recording that removes `removed` and adds `synthetics`.
    pub fn recorded(
        trigger: Trigger,
        removed: impl IntoIterator<Item = EntryKey>,
        synthetics: Vec<SyntheticMessage>,
    ) -> Self {
        let changes: Vec<Change> = removed.into_iter().map(|entry| Change::Remove { entry }).collect();
        let kind = if synthetics.is_empty() { EditKind::Drop } else { EditKind::Summarize };
        Self::recorded_edits(trigger, kind, changes, synthetics)
    }

    /// Returns an epoch of a recording with the given changes.
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
            kept: Vec::new(),
            released: Vec::new(),
            choice: None,
            summarizer: None,
            undone: false,
        }
    }

    /// Returns an epoch of a recording that removes what a person took back.
    pub fn taken_back(removed: impl IntoIterator<Item = EntryKey>) -> Self {
        let mut epoch = Self::recorded(Trigger::TakenBack, removed, Vec::new());
        for edit in &mut epoch.edits {
            edit.reason = Reason::new("taken-back", "taken back by the person, in the agent that recorded the session");
        }
        epoch
    }

    /// Returns an epoch of this engine's that changes what is kept by hand, and nothing else.
    pub fn keeping(kept: Vec<EntryKey>, released: Vec<EntryKey>) -> Self {
        let plain = Self::recorded_edits(Trigger::Kept, EditKind::Drop, Vec::new(), Vec::new());
        Self { origin: EpochOrigin::Engine, edits: Vec::new(), kept, released, ..plain }
    }

    /// Returns the number, among the additions, of the text that is the summary of this compaction: of the summaries in force
    /// the last that a model or its provider wrote, or rules in their place, else the longest. `None` where none is in force. Linear in the changes.
    pub fn summary(&self, is_in_force: impl Fn(u32) -> bool) -> Option<u32> {
        let own = |change: &Change| match change {
            Change::Remove { entry: EntryKey::Synthetic { epoch, index } } if *epoch == self.id => Some(*index),
            _ => None,
        };
        let removed: HashSet<u32> = self.changes().filter_map(own).collect();
        let counts = |number: u32, message: &Message| {
            message.origin == Origin::Summary && !removed.contains(&number) && is_in_force(number)
        };
        let summaries = || (0..).zip(&self.synthetics).filter(|(number, added)| counts(*number, &added.message));
        let requested = self.summarizer.as_ref().map_or(&[][..], |record| &record.written);
        let written = summaries().map(|(number, _)| number).filter(|number| requested.contains(number)).last();
        let longest =
            || summaries().max_by_key(|(_, added)| added.message.plain_text().len()).map(|(number, _)| number);
        written.or_else(longest)
    }

    /// Whether it is in force and counts as a compaction of the session.
    pub fn is_compaction(&self) -> bool {
        !self.undone && self.trigger.is_compaction()
    }

    /// Returns every change, in order.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.edits.iter().flat_map(|edit| &edit.changes)
    }
}
