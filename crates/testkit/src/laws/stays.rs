//! Did what must stay stay?

use epitome_engine::{Outcome, Status};
use epitome_session::{Content, Entry, Message, Role, Unit, UnitKind, units};

use super::{Laws, is_blank};
use epitome_engine::Pins;

impl Laws<'_> {
    /// What is protected stays byte-identical, and so do open calls and the newest genuine user message; the receipts of
    /// exactly these messages say so.
    pub(super) fn pins(&mut self) {
        let must_stay = must_stay(self.before.view(), &self.engine.pins);
        for (law, entry) in &must_stay {
            let same = self.shown.get(&entry.key).is_some_and(|shown| shown.message == entry.message);
            let empty = entry.message.role != Role::System && is_blank(&entry.message);
            self.law(law, same || empty, || format!("{} changed or left", entry.message.id));
        }
        for (entry, receipt) in self.before.view().iter().zip(&self.report.messages) {
            let pinned = must_stay.iter().any(|(_, stays)| stays.key == entry.key);
            let open = may_be_marked(&entry.message, &self.engine.pins);
            let fits = match receipt.outcome {
                Outcome::Pinned => pinned || open || self.report.status != Status::Compacted,
                Outcome::Kept => !pinned || open,
                _ => true,
            };
            self.law("receipts", fits || is_blank(&entry.message), || {
                format!("{} is {:?}, protected: {pinned}", receipt.id, receipt.outcome)
            });
        }
    }
}

/// The messages of a view that no compaction may change, with the law that says so.
pub(super) fn must_stay<'e>(entries: &'e [Entry], pins: &Pins) -> Vec<(&'static str, &'e Entry)> {
    let units = units(entries);
    let rounds = units.last().map_or(0, |unit| unit.round);
    let first = units.iter().position(|unit| unit.kind == UnitKind::User);
    let newest = units.iter().rposition(|unit| unit.kind == UnitKind::User);
    let last = units.iter().rposition(|unit| unit.kind != UnitKind::System);
    let law = |(index, unit): (usize, &Unit)| {
        let messages = || entries[unit.entries.clone()].iter().map(|entry| &*entry.message);
        let protected_call = |message: &Message| {
            message.calls().any(|(_, call)| pins.protected_tools.iter().any(|tool| **tool == *call.name))
        };
        let recent = pins.last_rounds > 0 && unit.round > 0 && rounds - unit.round < pins.last_rounds;
        match unit.kind {
            UnitKind::System => Some("pins"),
            _ if !unit.closed && Some(index) == last => Some("open-calls"),
            _ if Some(index) == newest => Some("open-calls"),
            _ if pins.original_task && Some(index) == first => Some("pins"),
            UnitKind::Orphan => None, // repair decides
            _ if messages().any(|message| message.pinned || is_marked(message, pins)) => Some("pins"),
            _ if messages().any(protected_call) || recent => Some("pins"),
            _ => None,
        }
    };
    let stays = units.iter().enumerate().filter_map(|(index, unit)| Some((law((index, unit))?, unit)));
    stays.flat_map(|(law, unit)| entries[unit.entries.clone()].iter().map(move |entry| (law, entry))).collect()
}

/// Whether a person's message holds a marker.
fn is_marked(message: &Message, pins: &Pins) -> bool {
    message.is_typed() && may_be_marked(message, pins)
}

/// Whether a message holds a marker, whoever wrote it: only a person's counts, a quoted one may.
pub(super) fn may_be_marked(message: &Message, pins: &Pins) -> bool {
    let holds = |text: &str| pins.markers.iter().any(|marker| text.contains(marker.as_str()));
    message.blocks.iter().any(|block| matches!(&block.content, Content::Text { text } if holds(text)))
}
