//! Drafts: compactions that are worked out and not yet made.

use std::sync::Arc;

use epitome_session::{Block, EditKind, EntryKey, Epoch, Origin};
use epitome_strategy::{EntryTokens, TokenCounter, Tokens};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::guard::{self, EditRefusal};
use crate::ledger::count_message;
use crate::report::{Report, Timings};
use crate::status::Status;

/// A compaction that is worked out and not yet made; committing makes exactly this one. A host may show it, store it,
/// and let a person edit its summaries before the commit.
///
/// A stored draft is sealed by a hash, and a draft that was changed meanwhile is refused on reading. The hash keeps
/// accidents out, not attackers: send a client the result of [`summaries`](Self::summaries), and take back a number and
/// a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredDraft", into = "StoredDraft")]
pub struct Draft {
    /// The report of the compaction, as it will be when the draft is committed.
    pub report: Report,
    pub(crate) epoch: Option<Epoch>,
    pub(crate) counts: Vec<(EntryKey, EntryTokens)>,
    pub(crate) made_from: [u8; 32],
}

/// A draft as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredDraft {
    report: Report,
    epoch: Option<Epoch>,
    counts: Vec<(EntryKey, EntryTokens)>,
    made_from: [u8; 32],
    seal: String,
}

/// Returns the hash of everything that a commit depends on.
fn seal(draft: &Draft) -> Result<String, serde_json::Error> {
    let tokens = (draft.report.status, draft.report.budget, draft.report.tokens_after);
    let parts = serde_json::to_vec(&(&draft.epoch, &draft.counts, draft.made_from, tokens))?;
    Ok(blake3::hash(&parts).to_hex().to_string())
}

impl From<Draft> for StoredDraft {
    fn from(draft: Draft) -> Self {
        // A draft that cannot be written as JSON has no seal and is refused on reading.
        let seal = seal(&draft).unwrap_or_default();
        let Draft { report, epoch, counts, made_from } = draft;
        Self { report, epoch, counts, made_from, seal }
    }
}

impl TryFrom<StoredDraft> for Draft {
    type Error = String;

    fn try_from(stored: StoredDraft) -> Result<Self, String> {
        let StoredDraft { report, epoch, counts, made_from, seal: sealed } = stored;
        let draft = Self { report, epoch, counts, made_from };
        match seal(&draft) {
            Ok(seal) if seal == sealed => Ok(draft),
            Ok(_) | Err(_) => Err("the draft was changed after it was made: make a new one".to_owned()),
        }
    }
}

/// A summary of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DraftSummary {
    /// Its number, the argument of [`Draft::edit_summary`].
    pub number: u32,
    /// Its first line, which the engine writes and which stays: how many messages it replaces, and how to recall them.
    pub heading: String,
    /// Its text.
    pub text: String,
    /// Tokens of the heading, the text and the message's frame.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens: Tokens,
    /// The most tokens that these may take: less than what the summary replaces, and no more than the budget leaves.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub most_tokens: Tokens,
}

/// Why a draft's summary cannot be replaced by another text. The draft is as it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditSummaryError {
    /// The draft has no such summary.
    #[error("the draft has no summary {number}: there are {count}")]
    Unknown {
        /// The number asked for.
        number: u32,
        /// How many summaries the draft has.
        count: usize,
    },
    /// The text is empty.
    #[error("the text is empty: a summary has to say something")]
    Empty,
    /// The text is longer than what it replaces, or than the budget allows.
    #[error("the text makes {tokens} tokens and may be at most {most}: shorten it")]
    TooLong {
        /// Tokens of the message with this text.
        tokens: Tokens,
        /// The most tokens that it may take.
        most: Tokens,
    },
}

impl Draft {
    /// Returns the draft with the microseconds that it took in all: whatever `timings` does not name counts as planning.
    pub(crate) fn with_timings(mut self, took_us: u64, timings: Timings) -> Self {
        let others = timings.detect_us + timings.quality_us;
        self.report.timings = Timings { plan_us: took_us.saturating_sub(others), ..timings };
        self
    }

    /// Returns the epoch that a commit would append; `None` where nothing would change.
    pub fn epoch(&self) -> Option<&Epoch> {
        self.epoch.as_ref()
    }

    /// Returns the state of the session that the draft was made from
    /// ([`Session::state_hash`](epitome_session::Session::state_hash)): it commits to that state and to no other.
    pub fn made_from(&self) -> [u8; 32] {
        self.made_from
    }

    /// Returns the summaries that would be shown, in the order in which they were written. Linear in the epoch.
    pub fn summaries(&self) -> Vec<DraftSummary> {
        let Some(epoch) = &self.epoch else { return Vec::new() };
        let shown = epoch.synthetics.iter().zip(0..).filter(|(it, _)| it.message.origin == Origin::Summary);
        shown
            .filter_map(|(synthetic, number)| {
                let tokens = self.tokens(number)?;
                let text = synthetic.message.plain_text();
                let (heading, text) = text.split_once('\n').unwrap_or((&text, ""));
                let most_tokens = self.most_tokens(number, tokens)?;
                Some(DraftSummary { number, heading: heading.to_owned(), text: text.to_owned(), tokens, most_tokens })
            })
            .collect()
    }

    /// Replaces the text of a summary by a person's. The result has to fit the budget and be smaller than what it
    /// replaces; otherwise the draft is unchanged. `counter` is the engine's.
    pub fn edit_summary(
        &mut self,
        number: u32,
        text: &str,
        counter: &dyn TokenCounter,
    ) -> Result<(), EditSummaryError> {
        let summaries = self.summaries();
        let unknown = EditSummaryError::Unknown { number, count: summaries.len() };
        let Some(summary) = summaries.into_iter().find(|summary| summary.number == number) else { return Err(unknown) };
        if text.trim().is_empty() {
            return Err(EditSummaryError::Empty);
        }
        let key = self.key(number);
        let Some(epoch) = &mut self.epoch else { return Err(unknown) };
        let message = &mut epoch.synthetics[number as usize].message;
        let mut edited = (**message).clone();
        edited.blocks = vec![Block::text(format!("{}\n{text}", summary.heading))];
        let tokens = count_message(counter, &edited);
        if tokens.total > summary.most_tokens {
            return Err(EditSummaryError::TooLong { tokens: tokens.total, most: summary.most_tokens });
        }
        *message = Arc::new(edited);
        let (old, new) = (summary.tokens, tokens.total);
        let adjust = |figure: Tokens| figure.saturating_add(new).saturating_sub(old);
        for (_, counted) in self.counts.iter_mut().filter(|(counted, _)| Some(*counted) == key) {
            *counted = tokens.clone();
        }
        for (edit, told) in epoch.edits.iter_mut().zip(&mut self.report.edits) {
            if edit.into == Some(number) && edit.kind == EditKind::Summarize {
                edit.tokens_saved = edit.tokens_saved.saturating_add(old).saturating_sub(new);
                told.tokens_saved = edit.tokens_saved;
            }
        }
        epoch.tokens_after = epoch.tokens_after.map(adjust);
        self.report.set_tokens_after(adjust(self.report.tokens_after));
        if self.report.summary.as_deref() == Some(summary.text.as_str()) {
            self.report.summary = Some(text.to_owned());
        }
        Ok(())
    }

    fn key(&self, index: u32) -> Option<EntryKey> {
        Some(EntryKey::Synthetic { epoch: self.epoch.as_ref()?.id, index })
    }

    /// Returns the tokens of the message that the draft adds under that number, where it is still shown at the end.
    fn tokens(&self, number: u32) -> Option<Tokens> {
        let key = self.key(number)?;
        self.counts.iter().find(|(counted, _)| *counted == key).map(|(_, tokens)| tokens.total)
    }

    /// Returns the most tokens that a summary of `tokens` tokens may take, by the guards of progress and budget.
    fn most_tokens(&self, number: u32, tokens: Tokens) -> Option<Tokens> {
        let edit = self.epoch.as_ref()?.edits.iter().find(|edit| edit.into == Some(number))?;
        let replaced = tokens.saturating_add(edit.tokens_saved);
        let others = self.report.tokens_after.saturating_sub(tokens);
        let fits = |most: &Tokens| {
            guard::budget(others.saturating_add(*most), self.report.budget) == Status::Compacted
                && guard::progress(replaced, *most) != Err(EditRefusal::NoGain)
        };
        let most = self.report.budget.saturating_sub(others).min(replaced.saturating_sub(1));
        Some(most).filter(fits)
    }
}
