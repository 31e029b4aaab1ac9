//! The guarantees, each one function. `docs/architecture.md` states them as invariants.
//!
//! Tests switch single guards off to show that the property tests notice (feature `mutants`); other builds cannot.

use epitome_session::{Entry, MessageId, Position, Role, Unit, UnitKind};
use epitome_strategy::{
    Embedder, Embeddings, EntryTokens, Goal, HostChanges, Plan, PlanError, Protection, Strategy, SummarizeError,
    Tokens, View,
};

use crate::block_on::{panic_message, without_panic};
use crate::mutants::plan_without_guard;
pub use crate::mutants::{Guard, Guards};
use crate::status::Status;

/// Why an edit was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EditRefusal {
    /// It names a unit, message or block that the view does not have.
    NotThere,
    /// The unit is protected.
    Protected(Protection),
    /// A call in the unit is not answered yet.
    Open,
    /// An earlier edit of the same plan changed the same unit, message or block.
    Overlaps,
    /// It would not save tokens.
    NoGain,
    /// The ranges are not ranges of the text.
    BadRanges(String),
    /// The block holds no text that may be cut.
    NotText,
    /// The archive refused the content that would leave.
    Archive(String),
    /// A message that stays is between the messages that it replaces: the id of that message.
    Order(MessageId),
    /// The summary could not be written.
    Summary(String),
    /// The summary could not be written, and the configuration forbids a compaction without one.
    Stopped(SummarizeError),
    /// The host cannot make the change.
    Host(HostChanges),
    /// The compaction is cancelled.
    Cancelled,
}

impl std::fmt::Display for EditRefusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotThere => formatter.write_str("names something that the view does not have"),
            Self::Protected(protection) => write!(formatter, "touches something protected ({protection:?})"),
            Self::Open => formatter.write_str("touches a call that is not answered yet"),
            Self::Overlaps => formatter.write_str("overlaps an earlier edit of the same plan"),
            Self::NoGain => formatter.write_str("would not save tokens"),
            Self::BadRanges(problem) => write!(formatter, "has ranges that do not fit: {problem}"),
            Self::NotText => formatter.write_str("cuts a block that holds no text to cut"),
            Self::Archive(problem) => write!(formatter, "could not be archived: {problem}"),
            Self::Order(id) => write!(formatter, "would put what came later in front of `{id}`"),
            Self::Summary(problem) => write!(formatter, "has no summary: {problem}"),
            Self::Stopped(error) => write!(formatter, "has no summary: {error}"),
            Self::Host(host) => write!(formatter, "is not one for this host, which {}", host.describe()),
            Self::Cancelled => formatter.write_str("is not wanted any more"),
        }
    }
}

/// Invariant (pairing): every tool call has its results directly after it, and every result its call; a call that is
/// still open is the exception, and only at the end.
///
/// Returns the position of the first entry that breaks it. Linear.
pub fn pairing(entries: &[Entry], units: &[Unit]) -> Option<usize> {
    let dead = |(index, unit): (usize, &Unit)| {
        let orphan = unit.kind == UnitKind::Orphan;
        let overtaken =
            !unit.closed && entries[unit.entries.end..].iter().any(|entry| !entry.message.is_system_prompt());
        (orphan || overtaken).then_some(units[index].entries.start)
    };
    units.iter().enumerate().find_map(dead)
}

/// Invariant (pins): what is protected stays byte-identical; the newest step may lose parts but stays.
pub(crate) fn pins(protection: Protection, leaves: bool) -> Result<(), EditRefusal> {
    let allowed = if leaves { protection.may_leave() } else { protection.may_edit() };
    if allowed || protection == Protection::Open { Ok(()) } else { Err(EditRefusal::Protected(protection)) }
}

/// Invariant (by hand): what a person keeps stays byte for byte, and what a person drops leaves into the archive, with its
/// call and results; what must stay does not leave by hand either.
pub(crate) fn by_hand(protection: Protection) -> Result<(), EditRefusal> {
    if protection.may_leave() { Ok(()) } else { Err(EditRefusal::Protected(protection)) }
}

/// Invariant (open calls): a unit with an unanswered call is not edited.
pub(crate) fn open_calls(protection: Protection) -> Result<(), EditRefusal> {
    if protection == Protection::Open { Err(EditRefusal::Open) } else { Ok(()) }
}

/// Invariant (conservation): in one plan nothing is removed, excerpted or trimmed twice.
pub(crate) fn conservation(touched: bool) -> Result<(), EditRefusal> {
    if touched { Err(EditRefusal::Overlaps) } else { Ok(()) }
}

/// Invariant (order): what replaces messages replaces a run of neighbours. No message that stays is between the first
/// and the last of `positions` (ascending). Messages that left before do not stay, and a part of the system prompt is
/// not part of the conversation. `incoming` are the places of messages that came in since the view was settled.
///
/// Linear in the span and in the incoming messages.
pub(crate) fn order<'e>(
    entries: &[Entry],
    positions: &[usize],
    is_gone: impl Fn(usize) -> bool,
    incoming: impl IntoIterator<Item = (Position, &'e MessageId)>,
) -> Result<(), EditRefusal> {
    let (Some(first), Some(last)) = (positions.first().copied(), positions.last().copied()) else { return Ok(()) };
    let mut replaced = positions.iter().copied().peekable();
    for (position, entry) in entries.iter().enumerate().take(last + 1).skip(first) {
        let message = &entry.message;
        if replaced.next_if_eq(&position).is_none() && !is_gone(position) && !message.is_system_prompt() {
            return Err(EditRefusal::Order(message.id.clone()));
        }
    }
    let span = entries[first].position..entries[last].position;
    let between = incoming.into_iter().find(|(position, _)| span.contains(position));
    between.map_or(Ok(()), |(_, id)| Err(EditRefusal::Order(id.clone())))
}

/// Invariant (progress): an edit lowers the token count; a summary is smaller than what it replaces.
pub(crate) fn progress(before: Tokens, after: Tokens) -> Result<Tokens, EditRefusal> {
    if after < before { Ok(before - after) } else { Err(EditRefusal::NoGain) }
}

/// Invariant (counting): the running total is the sum of the counts of what is shown. Linear in the view.
pub(crate) fn counting(tokens: &[EntryTokens]) -> Tokens {
    tokens.iter().map(|entry| entry.total).fold(0, Tokens::saturating_add)
}

/// Invariant (budget): a result is a success only at or under the limit.
pub(crate) fn budget(total: Tokens, limit: Tokens) -> Status {
    if total <= limit { Status::Compacted } else { Status::Infeasible }
}

/// Invariant (idempotence): what fits is left alone.
pub(crate) fn idempotence(total: Tokens, target: Tokens) -> Option<Status> {
    (total <= target).then_some(Status::NoChange)
}

/// Invariant (provider): the first message after the system prompt is a user's. Returns where a message has to be put
/// in front; `None` where none has to. Linear in the leading system messages.
pub(crate) fn provider(entries: &[Entry]) -> Option<usize> {
    let first = entries.iter().position(|entry| entry.message.role != Role::System)?;
    (entries[first].message.role != Role::User).then_some(first)
}

/// A change of the view as the host would have to make it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostChange {
    /// A text or the arguments of a message that stays become shorter.
    Text,
    /// Messages leave, and nothing takes their place.
    Removal {
        /// Whether the model would be the first to speak, and was not before.
        opens_with_model: bool,
        /// Whether a message of the host's list would lose a part.
        splits_row: bool,
    },
    /// One message takes the place of others.
    Replacement {
        /// Whether it takes the place of the first message that may leave.
        is_at_front: bool,
        /// Whether no other message stands in place of others.
        is_only_text: bool,
        /// Whether a message of the host's list would lose a part.
        splits_row: bool,
    },
    /// A message is added that replaces none: an answer, an opening.
    Addition,
}

/// Invariant (host): the result has no change that the host cannot make. What validity asks for and the host cannot
/// make is left undone.
pub(crate) fn host(host: HostChanges, change: HostChange) -> Result<(), EditRefusal> {
    let takes = match (host, change) {
        (HostChanges::Any, _) | (HostChanges::Texts, HostChange::Text) => true,
        (HostChanges::Cut, HostChange::Replacement { is_at_front, is_only_text, splits_row }) => {
            is_at_front && is_only_text && !splits_row
        }
        (HostChanges::Removals, HostChange::Replacement { is_only_text, splits_row, .. }) => {
            is_only_text && !splits_row
        }
        (HostChanges::Removals, HostChange::Removal { opens_with_model, splits_row }) => {
            !opens_with_model && !splits_row
        }
        (HostChanges::Texts | HostChanges::Cut | HostChanges::Removals, _) => false,
    };
    if takes { Ok(()) } else { Err(EditRefusal::Host(host)) }
}

/// Invariant (failure): a strategy that fails or panics is recorded, and the chain continues.
pub(crate) fn failure(
    guards: Guards,
    strategy: &dyn Strategy,
    view: &View<'_>,
    goal: &Goal,
) -> Result<Plan, PlanError> {
    if !guards.on(Guard::Failure) {
        return Ok(plan_without_guard(strategy, view, goal));
    }
    let planned = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| strategy.plan(view, goal)));
    planned.unwrap_or_else(|panic| Err(PlanError(format!("panicked: {}", panic_message(&*panic)))))
}

/// Invariant (failure), for an embedder: returns one vector of finite numbers for each text, or why there are none.
pub(crate) async fn embedding(embedder: &dyn Embedder, texts: &[&str]) -> Result<Embeddings, String> {
    let embedded = match without_panic(|| embedder.embed(texts)).await {
        Ok(answer) => answer.map_err(|error| format!("the embedder failed: {error}"))?,
        Err(panic) => return Err(format!("the embedder panicked: {panic}")),
    };
    if embedded.len() != texts.len() {
        return Err(format!("the embedder gave {} vectors for {} texts", embedded.len(), texts.len()));
    }
    if embedded.values().iter().any(|number| !number.is_finite()) {
        return Err("the embedder gave a number that is none".to_owned());
    }
    Ok(embedded)
}
