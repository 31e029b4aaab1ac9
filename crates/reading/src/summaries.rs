//! What is known of the messages behind a summary: themselves, or what its text says of them.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_strategy::session::heading::without_notes;
use epitome_strategy::session::{Content, Heading};
use epitome_strategy::transcript::{self, Record};
use epitome_strategy::{Message, UnitKind, View};

/// Bytes of the messages behind earlier transcripts that are read again, newest first; for older ones the transcript's
/// own text is read. It bounds the cost of a compaction however long the session is: about a million tokens.
const MOST_BYTES: usize = 4_000_000;

/// What a summary is read as.
#[derive(Debug, Default)]
pub struct SummaryForm {
    /// What its text says.
    pub records: Vec<Record>,
    /// Whether the text was made of lines of its messages, so that these say all that it says.
    pub is_of_lines: bool,
}

/// What is known of the messages behind a summary.
pub(crate) enum SummaryContent {
    /// The messages themselves.
    Messages(Vec<Arc<Message>>),
    /// What its own text says of them.
    Records(Vec<Record>),
}

/// Returns the units that are summaries, with what is known behind each.
pub(crate) fn behind_summaries(view: &View<'_>, other: impl Fn(&str) -> SummaryForm) -> HashMap<usize, SummaryContent> {
    let mut behind = HashMap::new();
    let mut left = MOST_BYTES;
    for (index, unit) in view.units().iter().enumerate().rev().filter(|(_, unit)| unit.kind == UnitKind::Summary) {
        let message = view.message(unit.entries.start);
        let form = match transcript(message) {
            Some(text) => SummaryForm { records: transcript::read(&text), is_of_lines: true },
            None => other(without_notes(Heading::body_of(&message.plain_text()))),
        };
        let messages = if form.is_of_lines && left > 0 { view.originals(unit.entries.start) } else { Vec::new() };
        let bytes: usize = messages.iter().map(|message| bytes_of(message)).sum();
        let is_known = !messages.is_empty() && bytes <= left;
        left = left.saturating_sub(bytes);
        let content = match is_known {
            true => SummaryContent::Messages(messages),
            false => SummaryContent::Records(form.records),
        };
        behind.insert(index, content);
    }
    behind
}

/// Returns the text of a message that is a transcript, without the engine's heading.
pub fn transcript(message: &Message) -> Option<String> {
    let text = message.plain_text();
    let body = Heading::body_of(&text);
    transcript::is_transcript(body).then(|| body.to_owned())
}

fn bytes_of(message: &Message) -> usize {
    let texts = message.blocks.iter().map(|block| match &block.content {
        Content::ToolCall(call) => call.arguments.text().len(),
        _ => block.excerptable().map_or(0, |text| text.len()),
    });
    texts.sum()
}
