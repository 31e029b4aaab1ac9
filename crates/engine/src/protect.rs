//! What is protected: the pins, and what always stays.

use epitome_session::{Content, Entry, Origin, Position, Unit, UnitKind};
use epitome_strategy::Protection;

use crate::request::Pins;

/// The protection of each unit; `marked` says which entries are pinned ([`is_pinned`]), `recent_from` where the newest
/// messages begin that stay whole. Linear in the view.
pub(crate) fn protections(
    entries: &[Entry],
    marked: &[bool],
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
            // Only the end of the conversation: a step that a later user message follows is like any other.
            UnitKind::Step if Some(index) == newest_step && newest_user.is_none_or(|user| user < index) => {
                Protection::NewestStep
            }
            _ if recent => Protection::RecentRound,
            // The end of the conversation is what the model is to answer, whatever it is.
            _ if Some(index) == last => Protection::NewestStep,
            UnitKind::User | UnitKind::Injected | UnitKind::Step | UnitKind::Summary | UnitKind::Orphan => {
                Protection::Free
            }
        }
    };
    units.iter().enumerate().map(protection).collect()
}

/// Whether the host pinned a message, or a person or the host marked it in its text. A tool's output, and what the model
/// says, cannot pin itself. Linear in the text.
pub(crate) fn is_pinned(entry: &Entry, pins: &Pins) -> bool {
    let message = &entry.message;
    let marked = |text: &str| pins.markers.iter().any(|marker| text.contains(marker.as_str()));
    let may_mark = matches!(message.origin, Origin::Typed | Origin::Instructions);
    let in_text = |block: &epitome_session::Block| matches!(&block.content, Content::Text { text } if marked(text));
    message.pinned || may_mark && message.blocks.iter().any(in_text)
}

fn calls_protected_tool(entry: &Entry, pins: &Pins) -> bool {
    entry.message.calls().any(|(_, call)| pins.protected_tools.iter().any(|tool| *tool == *call.name))
}
