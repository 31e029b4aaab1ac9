//! Protection: the pins, and what always stays.

use epitome_session::speaker::typed_ranges;
use epitome_session::{Block, Content, Entry, EntryKey, Level, Position, Unit, UnitKind};
use epitome_strategy::{HostChanges, Protection};

use crate::loaded::Loaded;
use crate::request::Pins;

/// Returns the protection of each unit; `marked` has which entries are pinned ([`is_pinned`]), `loaded` what the host loaded as
/// instructions, `recent_from` where the newest messages that stay whole begin. Linear in the view.
pub(crate) fn protections(
    entries: &[Entry],
    marked: &[bool],
    loaded: &Loaded,
    units: &[Unit],
    pins: &Pins,
    recent_from: Option<Position>,
) -> Vec<Protection> {
    let first_user = units.iter().position(|unit| unit.kind == UnitKind::User);
    let newest_user = units.iter().rposition(|unit| unit.kind == UnitKind::User);
    let newest_step = units.iter().rposition(|unit| unit.kind == UnitKind::Step);
    let last = units.iter().rposition(|unit| unit.kind != UnitKind::System);
    let rounds = units.last().map_or(0, |unit| unit.round);
    let protection = |(index, unit): (usize, &Unit)| {
        let messages = &entries[unit.entries.clone()];
        let recent = pins.last_rounds > 0 && unit.round > 0 && unit.round + pins.last_rounds > rounds;
        match unit.kind {
            UnitKind::System => Protection::System,
            // An unanswered call that others have followed is dead: repair answers it.
            _ if !unit.closed && Some(index) == last => Protection::Open,
            _ if Some(index) == newest_user => Protection::NewestUser,
            _ if pins.original_task && Some(index) == first_user => Protection::OriginalTask,
            _ if marked[unit.entries.clone()].contains(&true) => Protection::Pinned,
            _ if messages.iter().any(|entry| calls_protected_tool(entry, pins)) => Protection::ProtectedTool,
            _ if (!recent || Some(index) == newest_step && newest_user.is_none_or(|user| user < index))
                && recent_from.is_some_and(|from| messages.first().is_some_and(|entry| entry.position >= from)) =>
            {
                Protection::RecentMessage
            }
            // Only the end of the conversation is special: a step that a later user message follows is like any other.
            UnitKind::Step if Some(index) == newest_step && newest_user.is_none_or(|user| user < index) => {
                Protection::NewestStep
            }
            _ if recent => Protection::RecentRound,
            _ if messages.iter().any(|entry| loaded.holds(entry.key)) => Protection::Instructions,
            // The end of the conversation is what the model answers, whatever its kind.
            _ if Some(index) == last => Protection::NewestStep,
            UnitKind::User | UnitKind::Injected | UnitKind::Step | UnitKind::Summary | UnitKind::Orphan => {
                Protection::Free
            }
        }
    };
    units.iter().enumerate().map(protection).collect()
}

/// Narrows the protections of units to the changes that a host can make. Linear in the units.
///
/// A cut begins behind the task where that stays, with what stands before it, and else with the first unit; it ends before
/// the next unit that must stay. What is behind that is out of the host's reach; so instructions behind the first unit that may
/// leave do not end it. Units that are parts of one message of the host's list can only leave together.
pub(crate) fn protect_for(host: HostChanges, entries: &[Entry], units: &[Unit], protections: &mut [Protection]) {
    if host == HostChanges::Any {
        return;
    }
    if host == HostChanges::Cut {
        let first = protections.iter().position(|it| *it == Protection::Free).unwrap_or(units.len());
        let behind = protections[first..].iter_mut().filter(|it| **it == Protection::Instructions);
        behind.for_each(|protection| *protection = Protection::Free);
    }
    let mut free: Vec<bool> = protections.iter().map(|it| *it == Protection::Free).collect();
    if host.takes_one_text() {
        let linked: Vec<bool> = units.windows(2).map(|pair| are_one_row(entries, &pair[0], &pair[1])).collect();
        for at in 1..units.len() {
            free[at] &= free[at - 1] || !linked[at - 1];
        }
        for at in (1..units.len()).rev() {
            free[at - 1] &= free[at] || !linked[at - 1];
        }
    }
    let cut = match host {
        HostChanges::Any | HostChanges::Texts | HostChanges::Removals => 0..units.len(),
        HostChanges::Cut => {
            let is_free = |at: &usize| free[*at];
            let task = units.iter().position(|unit| unit.kind == UnitKind::User).filter(|task| !is_free(task));
            let start = (task.map_or(0, |task| task + 1)..units.len()).find(is_free).unwrap_or(units.len());
            start..(start..units.len()).find(|at| !is_free(at)).unwrap_or(units.len())
        }
    };
    for (at, protection) in protections.iter_mut().enumerate() {
        *protection = match (*protection, host) {
            (Protection::Free, HostChanges::Texts) => Protection::TextsOnly,
            (Protection::Free, _) if cut.contains(&at) && free[at] => Protection::WholeOnly,
            (Protection::NewestStep, HostChanges::Texts) => Protection::NewestStep,
            (Protection::Free | Protection::NewestStep, _) => Protection::Fixed,
            (other, _) => other,
        };
    }
}

/// Whether the end of a unit and the beginning of the next are parts of one message of the host's list, as a result and the
/// text behind it are in some formats.
pub(crate) fn are_one_row(entries: &[Entry], unit: &Unit, next: &Unit) -> bool {
    let last = entries[unit.entries.clone()].last();
    let first = entries[next.entries.clone()].first();
    last.zip(first).is_some_and(|(last, first)| share_row(last, first))
}

/// Whether two messages of the log were read from one record.
pub(crate) fn share_row(one: &Entry, other: &Entry) -> bool {
    let is_recorded = |entry: &Entry| matches!(entry.key, EntryKey::Log(_));
    let records = &one.original.records;
    is_recorded(one) && is_recorded(other) && records.iter().any(|record| other.original.records.contains(record))
}

/// Whether a person keeps a message, the host pinned it, or a person or the host marked it in its text. A tool's output and the model's
/// own text cannot pin themselves, nor can what a harness adds. Linear in the text.
pub(crate) fn is_pinned(entry: &Entry, pins: &Pins) -> bool {
    let message = &entry.message;
    let marked = |text: &str| pins.markers.iter().any(|marker| text.contains(marker.as_str()));
    let in_text = |(index, block): (usize, &Block)| match &block.content {
        Content::Text { text } if message.origin.level() >= Level::Developer => marked(text),
        Content::Text { text } => typed_ranges(message, index).into_iter().any(|range| marked(&text[range])),
        _ => false,
    };
    entry.is_kept || message.pinned || message.blocks.iter().enumerate().any(in_text)
}

fn calls_protected_tool(entry: &Entry, pins: &Pins) -> bool {
    entry.message.calls().any(|(_, call)| pins.protected_tools.iter().any(|tool| tool.eq_ignore_ascii_case(&call.name)))
}
