//! What is protected: the pins, and what always stays.

use epitome_session::{Content, Entry, Unit, UnitKind};
use epitome_strategy::Protection;

use crate::request::Pins;

/// The protection of each unit. Linear in the view.
pub(crate) fn protections(entries: &[Entry], units: &[Unit], pins: &Pins) -> Vec<Protection> {
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
            _ if !unit.closed => Protection::Open,
            _ if Some(index) == newest_user => Protection::NewestUser,
            _ if pins.original_task && Some(index) == first_user => Protection::OriginalTask,
            _ if messages.iter().any(|entry| is_pinned(entry, pins)) => Protection::Pinned,
            _ if messages.iter().any(|entry| calls_protected_tool(entry, pins)) => Protection::ProtectedTool,
            _ if recent => Protection::RecentRound,
            // Only the end of the conversation: a step that a later user message follows is like any other.
            UnitKind::Step if Some(index) == newest_step && newest_user.is_none_or(|user| user < index) => {
                Protection::NewestStep
            }
            // The end of the conversation is what the model is to answer, whatever it is.
            _ if Some(index) == last => Protection::NewestStep,
            UnitKind::User | UnitKind::Injected | UnitKind::Step | UnitKind::Summary | UnitKind::Orphan => {
                Protection::Free
            }
        }
    };
    units.iter().enumerate().map(protection).collect()
}

fn is_pinned(entry: &Entry, pins: &Pins) -> bool {
    let marked = |text: &str| pins.markers.iter().any(|marker| text.contains(marker.as_str()));
    entry.message.pinned
        || entry.message.blocks.iter().any(|block| matches!(&block.content, Content::Text { text } if marked(text)))
}

fn calls_protected_tool(entry: &Entry, pins: &Pins) -> bool {
    entry.message.calls().any(|(_, call)| pins.protected_tools.iter().any(|tool| *tool == *call.name))
}
