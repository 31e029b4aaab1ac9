//! Hand-offs of earlier compactions, and summaries of an agent, which a new hand-off brings up to date.

use epitome_strategy::session::Heading;
use epitome_strategy::transcript::{legend_start, opens_record};
use epitome_strategy::{Language, Message, UnitKind, View};

/// Returns the units that are hand-offs or summaries of an agent or a model, the oldest first, and may leave. Linear in
/// the summaries.
pub(crate) fn earlier_handoffs(view: &View<'_>) -> Vec<u32> {
    let is_handoff = |(index, unit): &(usize, &epitome_strategy::Unit)| {
        unit.kind == UnitKind::Summary
            && view.protection(*index).may_leave()
            && !is_transcript(view.message(unit.entries.start))
    };
    view.units().iter().enumerate().filter(is_handoff).map(|(index, _)| index as u32).collect()
}

/// Whether a message is a transcript, whose lines were kept as they were said, and so no written summary: its first line
/// opens a record, or explains the form. A block of lines under headings is a summary.
fn is_transcript(message: &Message) -> bool {
    let text = message.plain_text();
    let first = Heading::body_of(&text).lines().next().unwrap_or_default();
    let explains = |language: &Language| first.starts_with(legend_start(*language));
    opens_record(first) || [Language::English, Language::Chinese].iter().any(explains)
}
