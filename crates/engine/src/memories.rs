//! Memories: facts from elsewhere that the texts of a compaction name, whoever wrote these texts.

use epitome_session::heading::memory_heading;
use epitome_session::{Content, EntryKey, Language, Message, Origin, Position, Reason, Role};
use epitome_strategy::Tokens;
use epitome_strategy::text::clip;

use crate::editor::Editor;
use crate::guard::{EditRefusal, HostChange};
use crate::ledger::count_message;
use crate::request::MemoryNote;

pub(crate) const MEMORIES: &str = "memories";

/// The largest share of the target, as a divisor, that is reserved for memories: they are worth less than the session.
const PART: Tokens = 10;

/// The longest memory, in columns.
const LONGEST: usize = 400;

impl Editor<'_> {
    /// Returns the tokens that are kept free for memories under a target.
    pub(crate) fn memory_tokens(&self, target: Tokens) -> Tokens {
        let lines: Vec<String> = self.context.memories.iter().filter_map(line).collect();
        let section = section(self.context.language);
        let of = |count: usize| self.context.counter.count(&section(&lines[..count]));
        (1..=lines.len()).rev().map(of).find(|tokens| *tokens <= target / PART).unwrap_or(0)
    }

    /// Puts the memories that the view does not show yet behind one text of this compaction: its first summary, or else its
    /// first notice; where it has none, in front of the first message that changed. As many as fit, the most important
    /// first, while the view takes no more than `most` tokens and the text saves some. Texts of earlier compactions stay as
    /// they are. Linear in the view for each memory.
    pub(crate) fn append_memories(&mut self, most: Tokens) -> Result<(), EditRefusal> {
        self.working.end_pass();
        let lines: Vec<String> =
            self.context.memories.iter().filter(|note| !self.shows(note)).filter_map(line).collect();
        if lines.is_empty() || self.working.is_untouched() {
            return Ok(());
        }
        let texts = self.own_texts();
        let of = |wanted: Origin| texts.iter().filter(move |(_, origin)| *origin == wanted).map(|(index, _)| *index);
        let texts: Vec<u32> = of(Origin::Summary).chain(of(Origin::Notice)).collect();
        for index in texts {
            if self.append(index, &lines, section(self.context.language), most).is_some() {
                return Ok(());
            }
        }
        self.write_memories(&lines, most)
    }

    /// Returns the numbers of the summaries and notices of this compaction that are shown, in their order.
    pub(crate) fn own_texts(&self) -> Vec<(u32, Origin)> {
        let own = self.working.entries().iter().filter_map(|entry| match entry.key {
            EntryKey::Synthetic { epoch, index } if epoch == self.context.epoch => Some((index, entry.message.origin)),
            EntryKey::Synthetic { .. } | EntryKey::Log(_) => None,
        });
        own.filter(|(_, origin)| matches!(origin, Origin::Summary | Origin::Notice)).collect()
    }

    /// Puts the section of as many lines as there is room for behind a text of this compaction; `None` where there is room for
    /// none, or where the text was cut.
    pub(crate) fn append(
        &mut self,
        index: u32,
        lines: &[String],
        section: impl Fn(&[String]) -> String,
        most: Tokens,
    ) -> Option<()> {
        let own = self.working.synthetics.get(index as usize)?;
        let before = self.working.unchanged_tokens(EntryKey::Synthetic { epoch: self.context.epoch, index })?;
        let makers = (0..self.working.edits.len()).filter(|edit| self.working.edits[*edit].into == Some(index));
        let maker = makers.max_by_key(|edit| self.working.edits[*edit].tokens_saved)?;
        let (text, spare) = (own.message.plain_text(), self.working.edits[maker].tokens_saved.saturating_sub(1));
        let longer = (1..=lines.len()).rev().map(|count| {
            let text = format!("{text}\n\n{}", self.context.redacted(&section(&lines[..count])));
            let message = Message::text(own.message.id.as_str(), own.message.role, own.message.origin, text);
            let tokens = count_message(self.context.counter, &message);
            (message, tokens)
        });
        let room = spare.min(most.saturating_sub(self.working.total));
        let (message, tokens) = { longer }.find(|(_, tokens)| tokens.total.saturating_sub(before) <= room)?;
        self.working.edits[maker].tokens_saved -= tokens.total.saturating_sub(before);
        self.working.rewrite(index, message, tokens, 0, self.working.covers(index));
        Some(())
    }

    /// Writes a message of memories in front of the first unit that changed, where the host can add one.
    fn write_memories(&mut self, lines: &[String], most: Tokens) -> Result<(), EditRefusal> {
        let Some(first) = self.working.first_change() else { return Ok(()) };
        let layout = self.layout();
        let unit = layout.units.partition_point(|unit| unit.entries.end <= first);
        let Some(unit) = layout.units.get(unit) else { return Ok(()) };
        let place = self.working.entries()[unit.entries.start].position;
        let room = most.saturating_sub(self.working.total);
        let section = section(self.context.language);
        let message = |count: usize| {
            let text = self.context.redacted(&section(&lines[..count])).into_owned();
            Message::text("", Role::User, Origin::Notice, text)
        };
        let fits = |message: &Message| count_message(self.context.counter, message).total <= room;
        let Some(message) = (1..=lines.len()).rev().map(message).find(fits) else { return Ok(()) };
        if self.check_host(HostChange::Addition).is_err() {
            return Ok(());
        }
        let sequence = self.working.synthetics.len() as u32;
        let position = Position::before(place, self.context.epoch, sequence);
        self.write(MEMORIES, position, message, Reason::new("memories", "no other text could name them"));
        self.restore_validity_unless_cancelled()
    }

    /// Whether a text of the view says what a memory says.
    fn shows(&self, note: &MemoryNote) -> bool {
        let quoted = quoted(&note.text);
        let mut blocks = self.working.entries().iter().flat_map(|entry| &entry.message.blocks);
        blocks.any(|block| matches!(&block.content, Content::Text { text } if text.contains(&*note.text) || text.contains(&quoted)))
    }
}

/// Returns the text of lines of memories under their heading.
fn section(language: Language) -> impl Fn(&[String]) -> String {
    move |lines| format!("{}\n{}", memory_heading(language), lines.join("\n"))
}

/// Returns the line of a memory; `None` where it says nothing.
fn line(note: &MemoryNote) -> Option<String> {
    let text = clip(&quoted(&note.text), LONGEST)?;
    Some(if note.is_typed { format!("- “{text}”") } else { format!("- {text}") })
}

/// Returns a text in which nothing ends the quotation marks around it, or opens others, and nothing is hidden or turned.
fn quoted(text: &str) -> String {
    let is_hidden = |char: char| {
        char.is_control() && char != '\n'
            || matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.replace(['“', '”'], "\"").replace(is_hidden, "")
}
