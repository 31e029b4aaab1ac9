//! Hand-offs of earlier compactions, and summaries of an agent, which a new hand-off brings up to date.

use epitome_strategy::session::Heading;
use epitome_strategy::transcript::is_transcript;
use epitome_strategy::{UnitKind, View};

/// Returns the units that are hand-offs or summaries of an agent or a model, the oldest first, and may leave. Linear in
/// the summaries.
pub(crate) fn earlier_handoffs(view: &View<'_>) -> Vec<u32> {
    let is_handoff = |(index, unit): &(usize, &epitome_strategy::Unit)| {
        unit.kind == UnitKind::Summary
            && view.protection(*index).may_leave()
            // A transcript's lines were kept as they were said: it is no written summary, and a block of lines under headings is one.
            && !is_transcript(Heading::body_of(&view.message(unit.entries.start).plain_text()))
    };
    view.units().iter().enumerate().filter(is_handoff).map(|(index, _)| index as u32).collect()
}
