//! Which labels the kept lines of a result are under.

use std::collections::HashMap;

use epitome::session::{Content, Entry, Message, Origin, Role};
use epitome_eval::{KeptCount, append_arguments};

use super::label::{Label, Speakers};
use super::line::{LEAST_LINE, plain};
use super::origin::{LineOrigin, Origins};

/// The separators of a label and its text within a line.
const PARTS: [&str; 6] = ["] ", ": ", "：", "→ ", "=> ", "— "];

/// Kept lines by where they stand.
#[derive(Debug, Default)]
struct Tally {
    speakers: KeptCount,
    sources: KeptCount,
}

impl Origins {
    /// Returns how many kept lines are under their speakers, and under what printed them. Linear in the result.
    pub(super) fn places(&self, result: &[Entry]) -> (KeptCount, KeptCount) {
        let mut tally = Tally::default();
        let mut calls: HashMap<&str, String> = HashMap::new();
        let mut last = String::new();
        for message in result.iter().map(|entry| &*entry.message).filter(|message| !message.is_system_prompt()) {
            for (_, call) in message.calls() {
                let mut named = String::new();
                append_arguments(&call.arguments, &mut named);
                calls.insert(&call.id, named);
            }
            for block in &message.blocks {
                match &block.content {
                    Content::Text { text } if message.origin == Origin::ToolOutput => {
                        self.tally_output(text, &last, &mut tally);
                    }
                    Content::Text { text } => self.tally_text(text, message, &mut tally),
                    Content::ToolResult(result) => {
                        let named = calls.get(&*result.call_id).map_or("", String::as_str);
                        self.tally_output(&result.text, named, &mut tally);
                    }
                    _ => {}
                }
            }
            if message.role == Role::Assistant {
                last = message.plain_text();
            }
        }
        (tally.speakers, tally.sources)
    }

    /// What a tool printed, in its own place: under the call that is still in front of it.
    fn tally_output(&self, text: &str, named: &str, tally: &mut Tally) {
        let calls = self.vocabulary.read(&plain(named)).calls;
        let label = Label { speakers: Speakers::TOOL, calls };
        for line in text.lines().map(plain) {
            self.count(&line, &label, tally);
        }
    }

    /// A text of a side. Where lines of it are labels, they tell who speaks; where none is, the side itself does.
    fn tally_text(&self, text: &str, message: &Message, tally: &mut Tally) {
        let lines: Vec<String> = text.lines().map(plain).filter(|line| !line.is_empty()).collect();
        let own = match message.role {
            Role::Assistant => Speakers::MODEL,
            _ if message.origin == Origin::Summary => Speakers::NONE,
            _ => Speakers::USER,
        };
        let tells = lines.iter().any(|line| self.origin_of(line).is_none() && is_label(self, line));
        let own = Label { speakers: if tells { Speakers::NONE } else { own }, ..Label::default() };
        let (mut heading, mut label) = (own, Label::default());
        for line in &lines {
            if self.origin_of(line).is_some() {
                self.count(line, if label.is_empty() { &heading } else { &label }, tally);
                continue;
            }
            if let Some((front, said)) = self.split_label(line) {
                let named = self.vocabulary.read(front);
                if !named.is_empty() {
                    label = named;
                }
                self.count(said, if label.is_empty() { &heading } else { &label }, tally);
                continue;
            }
            let named = self.vocabulary.read(line);
            if line.starts_with('#') {
                (heading, label) = (named, Label::default());
            } else if !named.is_empty() {
                label = named;
            }
        }
    }

    /// Where a line comes from, also behind the mark of a list, a quote or a change.
    fn origin_of(&self, line: &str) -> Option<&LineOrigin> {
        self.source(line).or_else(|| self.source(bare(line)))
    }

    /// A line of a label and what was said, parted; only where what was said is a line that is counted.
    fn split_label<'a>(&self, line: &'a str) -> Option<(&'a str, &'a str)> {
        let splits = PARTS.iter().filter_map(|part| line.split_once(part));
        splits.into_iter().find(|(_, said)| said.chars().count() >= LEAST_LINE && self.origin_of(said).is_some())
    }

    fn count(&self, line: &str, label: &Label, tally: &mut Tally) {
        if bare(line).chars().count() < LEAST_LINE {
            return;
        }
        let Some(source) = self.origin_of(line).filter(|source| source.said != Speakers::ANY) else { return };
        tally.speakers.of += 1;
        tally.speakers.kept += u32::from(source.fits(label.speakers));
        if source.is_printed() && source.calls.iter().any(|call| self.vocabulary.can_name(*call)) {
            tally.sources.of += 1;
            tally.sources.kept += u32::from(source.calls.iter().any(|call| label.calls.contains(call)));
        }
    }
}

/// A line without the mark of a list, a quote or a change in front of it.
fn bare(line: &str) -> &str {
    line.trim_start_matches(['-', '+', '>', '*', '|', '•', '·']).trim_start()
}

fn is_label(origins: &Origins, line: &str) -> bool {
    origins.split_label(line).map_or_else(
        || line.starts_with('#') || !origins.vocabulary.read(line).is_empty(),
        |(front, _)| !origins.vocabulary.read(front).is_empty(),
    )
}
