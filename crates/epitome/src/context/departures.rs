//! What would leave a context with its next compaction, and why.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use epitome_engine::{Draft, Floor, Outcome, ReasonReport, Report, Status};
use epitome_session::{EditKind, Session, Trigger};
use epitome_strategy::{EntryTokens, TokenCounter, Tokens};
use serde::Serialize;

use super::first_words::first_words;
use super::parts::{PartKind, with_shares};

/// What a compaction would do that were made now.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NextCompaction {
    /// What calls for it; `manual` where nothing does.
    pub trigger: Trigger,
    /// How it would end; `null` where it could not be worked out.
    #[cfg_attr(feature = "schema", schema(required))]
    pub status: Option<Status>,
    /// Why it could not be worked out, or where it would stop above its target.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub problem: Option<String>,
    /// What must stay, where that is more than the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub floor: Option<Floor>,
    /// Tokens of the messages before.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens_before: Tokens,
    /// Tokens of the messages after.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens_after: Tokens,
    /// The strategies, in the order in which they are asked.
    pub chain: Vec<String>,
    /// Messages that would stay as they are.
    pub stay: u32,
    /// What would leave or be shortened, the largest saving first.
    pub departures: Vec<Departure>,
}

/// Messages that would leave a context, or be shortened, by one edit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Departure {
    /// The kind of edit.
    pub edit: EditKind,
    /// The strategy that planned it, or the engine's stage.
    pub strategy: Arc<str>,
    /// The number of messages.
    pub messages: u32,
    /// The number of the first of them in the log, from 0; `null` where an earlier compaction wrote them all.
    #[cfg_attr(feature = "schema", schema(required))]
    pub first: Option<u32>,
    /// The number of the last of them.
    #[cfg_attr(feature = "schema", schema(required))]
    pub last: Option<u32>,
    /// The tokens that these messages have now.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens: Tokens,
    /// Tokens that the edit saves, its own additions already subtracted.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens_saved: Tokens,
    /// What most of these tokens are.
    #[cfg_attr(feature = "schema", schema(required))]
    pub mostly: Option<PartKind>,
    /// The first words of the first message.
    pub words: String,
    /// Why.
    pub reason: ReasonReport,
}

/// A message's tokens in each part.
type MessageParts = Vec<(PartKind, Tokens)>;

impl NextCompaction {
    /// What `draft` would do to `session`, whose view it was made from and whose messages have `tokens`. Linear in the view.
    pub(crate) fn read(draft: &Draft, session: &Session, tokens: &[EntryTokens], counter: &dyn TokenCounter) -> Self {
        let Report { status, stopped, floor, tokens_before, tokens_after, chain, trigger, .. } = &draft.report;
        let entries = session.view();
        let positions: HashMap<&str, usize> =
            entries.iter().enumerate().map(|(position, entry)| (entry.message.id.as_str(), position)).collect();
        let mut parts: Vec<MessageParts> = Vec::with_capacity(entries.len());
        with_shares(session, tokens, counter, |_, shares| {
            parts.push(shares.iter().map(|share| (share.part, share.tokens)).collect());
        });
        let departure = |edit: &epitome_engine::EditReport| {
            let mut at: Vec<usize> =
                edit.messages.iter().filter_map(|id| positions.get(id.as_str()).copied()).collect();
            at.sort_unstable();
            let mut by_part: BTreeMap<PartKind, Tokens> = BTreeMap::new();
            for (part, tokens) in at.iter().filter_map(|position| parts.get(*position)).flatten() {
                *by_part.entry(*part).or_default() += tokens;
            }
            let first = at.first().copied();
            let numbers = || at.iter().filter_map(|position| entries[*position].key.number());
            Departure {
                edit: edit.edit,
                strategy: Arc::clone(&edit.strategy),
                messages: at.len() as u32,
                first: numbers().next(),
                last: numbers().next_back(),
                tokens: at.iter().filter_map(|position| tokens.get(*position)).map(|tokens| tokens.total).sum(),
                tokens_saved: edit.tokens_saved,
                mostly: by_part.into_iter().max_by_key(|(_, tokens)| *tokens).map(|(part, _)| part),
                words: first.and_then(|at| entries.get(at)).map_or_else(String::new, |it| first_words(&it.message)),
                reason: edit.reason.clone(),
            }
        };
        // Answers to calls without a result, and messages that open the conversation, are edits that remove nothing.
        let mut departures: Vec<Departure> =
            draft.report.edits.iter().filter(|edit| !edit.messages.is_empty()).map(departure).collect();
        departures.sort_by_key(|departure| (std::cmp::Reverse(departure.tokens_saved), departure.first));
        let stays = |outcome: Outcome| matches!(outcome, Outcome::Kept | Outcome::Pinned);
        Self {
            trigger: *trigger,
            status: Some(*status),
            problem: stopped.clone(),
            floor: floor.clone(),
            tokens_before: *tokens_before,
            tokens_after: *tokens_after,
            chain: chain.clone(),
            stay: draft.report.messages.iter().filter(|receipt| stays(receipt.outcome)).count() as u32,
            departures,
        }
    }

    /// The same where the compaction could not be worked out.
    pub(crate) fn without_draft(trigger: Trigger, problem: String, session: &Session, tokens: Tokens) -> Self {
        Self {
            trigger,
            status: None,
            problem: Some(problem),
            floor: None,
            tokens_before: tokens,
            tokens_after: tokens,
            chain: Vec::new(),
            stay: session.view().len() as u32,
            departures: Vec::new(),
        }
    }
}
