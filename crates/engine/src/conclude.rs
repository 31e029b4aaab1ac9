//! The result of a compaction: the epoch, and the report with a receipt for every message.

use std::collections::HashSet;
use std::sync::Arc;

use epitome_session::{Entry, EntryKey, Epoch, EpochOrigin};

use crate::by_hand::{BY_HAND, HandSelection, with_outcome};
use crate::context::Context;
use crate::draft::Draft;
use crate::minimum::{floor_of, not_worthwhile_reason, staying_tokens, stop_reason};
use crate::quality::Attempt;
use crate::receipts;
use crate::report::{Mode, Repairs, Report, Step, Timings};
use crate::request::{Pins, Request};
use crate::select::SelectedKind;
use crate::stages::{EMPTY, MISSING, ORPHAN, REPAIR};
use crate::status::Status;
use crate::working::WorkingView;

/// Turns the chosen attempt into a draft: the epoch, and the report with a receipt for every message.
pub(crate) fn conclude(
    context: &Context<'_>,
    start: &WorkingView,
    request: &Request,
    mode: Mode,
    selected: SelectedKind,
    attempt: Attempt,
    chosen: &HandSelection,
) -> Draft {
    let (session, pins) = (context.session, context.pins);
    let Attempt { chain, run, status, quality, .. } = attempt;
    let working = &run.working;
    let compacted = status.is_compaction();
    let layout = start.layout_as(pins, working);
    let first_changed = working.first_change().filter(|_| compacted);
    let sent = start.entries().len().saturating_sub(context.unsent_messages as usize);
    let lost = first_changed
        .map_or(0, |first| start.tokens().get(first..sent).unwrap_or_default().iter().map(|entry| entry.total).sum());
    let requested: Vec<u32> =
        run.summaries.iter().filter(|written| written.by_strategy.is_none()).map(|written| written.number).collect();
    let epoch = compacted.then(|| Epoch {
        id: context.epoch,
        origin: EpochOrigin::Engine,
        trigger: request.trigger,
        log_length: session.log().len() as u32,
        tokens_before: Some(start.total),
        tokens_after: Some(working.total),
        edits: working.edits.clone(),
        synthetics: working.synthetics.clone(),
        kept: chosen.kept.clone(),
        released: Vec::new(),
        choice: Some(selected.choice),
        summarizer: run.summarizer.record(requested).map(Arc::new),
        undone: false,
    });
    // What is kept by hand is recorded also where nothing else is to be done.
    let is_kept_alone = status == Status::NoChange && !chosen.kept.is_empty();
    let keeping = || Epoch {
        id: context.epoch,
        log_length: session.log().len() as u32,
        ..Epoch::keeping(chosen.kept.clone(), Vec::new())
    };
    let epoch = epoch.or_else(|| is_kept_alone.then(keeping));
    let summary = epoch.as_ref().and_then(|epoch| epoch.summary(|_| true));
    let summary = summary.and_then(|number| run.summaries.iter().rev().find(|written| written.number == number));
    let stays = staying_tokens(start, &layout, request.target);
    let tokens_after = if compacted { working.total } else { start.total };
    let repaired = if compacted { repairs(working, &run.steps) } else { None };
    let mut report = Report {
        status,
        budget: request.limit.max(request.target),
        target: request.target,
        tokens_before: start.total,
        tokens_after,
        saved_ratio: 0.0,
        repaired,
        floor: (status == Status::Infeasible).then(|| floor_of(working, pins).with_sizes_in(start, &layout)),
        stays,
        stopped: match status {
            Status::NoChange if run.steps.is_empty() && saves_too_little(start, pins, request) => {
                Some(not_worthwhile_reason(start, pins, stays, request.min_saving))
            }
            Status::Compacted | Status::NearEmpty => stop_reason(working, pins, request.target),
            Status::NoChange => stop_reason(start, pins, request.target),
            Status::RolledBack => run.declined.map(|why| format!("every strategy of the chain declined: {why}")),
            Status::Infeasible => None,
        },
        messages_before: start.entries().len() as u32,
        messages_after: if compacted { working.entries().len() } else { start.entries().len() } as u32,
        task: selected.verdict,
        mode,
        chain,
        cycle: session.cycle() + u32::from(compacted),
        trigger: request.trigger,
        first_changed_message: first_changed.map(|first| first as u32),
        cache_loss_tokens: lost,
        edits: if compacted { receipts::edits(start, working, context.epoch) } else { Vec::new() },
        messages: receipts::messages(start, &layout, if compacted { &working.edits } else { &[] }, context.epoch),
        steps: run.steps,
        quality,
        recent: working.recent(start, pins),
        by_hand: chosen.report.clone().map(|told| match compacted {
            true => with_outcome(told, start, session, &chosen.drops, &removed_by_hand(working)),
            false => told,
        }),
        flushed_memories: 0,
        summary: summary.map(|written| written.text.clone()),
        summary_by: summary.and_then(|written| written.by_strategy.clone()),
        summarizer: run.summarizer,
        counter: context.counter.name().to_owned(),
        timings: Timings::default(),
    };
    report.set_tokens_after(tokens_after);
    let is_changed = |entry: &Entry| entry.is_edited() || matches!(entry.key, EntryKey::Synthetic { .. });
    let counts = if compacted { working } else { start }.counts_where(is_changed);
    Draft { report, epoch, counts, made_from: session.state_hash() }
}

/// Returns the entries that left by hand.
fn removed_by_hand(working: &WorkingView) -> HashSet<EntryKey> {
    let edits = working.edits.iter().filter(|edit| &*edit.strategy == BY_HAND);
    edits.flat_map(|edit| &edit.changes).map(|change| change.entry()).collect()
}

/// Returns what the repair did; `None` where it did nothing. Linear in the edits.
fn repairs(working: &WorkingView, steps: &[Step]) -> Option<Repairs> {
    let edits = |code: &'static str| {
        working.edits.iter().filter(move |edit| &*edit.strategy == REPAIR && &*edit.reason.code == code)
    };
    let messages = |code| edits(code).map(|edit| edit.changes.len() as u32).sum();
    let left = |step: &&Step| &*step.strategy == REPAIR;
    let tokens = steps.iter().find(left).map_or(0, |step| step.tokens_before.saturating_sub(step.tokens_after));
    let repairs =
        Repairs { removed: messages(ORPHAN), answered: edits(MISSING).count() as u32, empty: messages(EMPTY), tokens };
    (repairs.removed + repairs.answered + repairs.empty > 0).then_some(repairs)
}

/// Whether less may leave than a compaction is worth. The case that what must stay alone is over the limit is another
/// one and has to be reported in any case. Linear in the units.
pub(crate) fn saves_too_little(start: &WorkingView, pins: &Pins, request: &Request) -> bool {
    if request.min_saving == 0 {
        return false;
    }
    let stays = staying_tokens(start, &start.layout(pins), request.target);
    start.total.saturating_sub(stays) < request.min_saving && stays <= request.limit.max(request.target)
}
