//! Hand-offs of earlier compactions, and summaries of an agent, which a new hand-off brings up to date.

use epitome_strategy::session::Heading;
use epitome_strategy::{Message, UnitKind, View};

/// What the records of a transcript begin with: lines that were kept as they were said, which are not a written summary.
/// Source: the form of `transcript`.
const RECORDS: [&str; 4] = ["» ", "« ", "◦ ", "▸ "];

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

/// Whether a message is a transcript: its first line is a record, or its second one below a line that explains the
/// form.
fn is_transcript(message: &Message) -> bool {
    let text = message.plain_text();
    let first = Heading::body_of(&text).lines().take(2);
    first.into_iter().any(|line| RECORDS.iter().any(|mark| line.starts_with(mark)))
}
