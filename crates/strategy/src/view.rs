//! The view: the input of a strategy.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use epitome_session::{
    Block, Content, Entry, EntryKey, Language, Message, Origin, Position, Session, Unit, UnitKind, units,
};
use serde::{Deserialize, Serialize};

use crate::block::{BlockRef, EntryTokens};
use crate::cancellation::Cancellation;
use crate::facts::Facts;
use crate::lexicon::Lexicon;
use crate::services::{Embeddings, TokenCounter, Tokens};

/// What the engine refuses to do to a unit, and the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// Nothing is refused.
    Free,
    /// The newest step: it may not leave whole, but parts of its texts may leave.
    NewestStep,
    /// The system prompt.
    System,
    /// The first genuine user message.
    OriginalTask,
    /// The newest genuine user message.
    NewestUser,
    /// Pinned by the host, or marked `<Pin>`.
    Pinned,
    /// Contains the result of a protected tool.
    ProtectedTool,
    /// What the host loaded as instructions: rules files, memories, skills.
    Instructions,
    /// One of the newest rounds that the configuration keeps.
    RecentRound,
    /// One of the newest messages that the configuration keeps.
    RecentMessage,
    /// Contains a call that is not answered yet.
    Open,
    /// The host keeps every message: it may not leave, but parts of its texts may.
    TextsOnly,
    /// The host cannot edit messages: it may leave whole.
    WholeOnly,
    /// The host can neither edit it nor let it leave.
    Fixed,
}

impl Protection {
    /// Whether the unit may leave the context whole.
    pub fn may_leave(self) -> bool {
        matches!(self, Self::Free | Self::WholeOnly)
    }

    /// Whether parts of the unit's texts may leave.
    pub fn may_edit(self) -> bool {
        matches!(self, Self::Free | Self::NewestStep | Self::TextsOnly)
    }
}

/// The vectors of a view's units, and of the current question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vectors {
    /// One vector for each unit, of the text that [`Facts::unit_text`] gives.
    pub units: Embeddings,
    /// The vector of [`Goal::focus`](crate::Goal::focus), where there is one.
    pub focus: Option<Vec<f32>>,
}

/// What the model would see now, with everything that planning needs: messages, units, token counts, protections,
/// shared facts. Positions of messages and units are valid for this view only.
pub struct View<'a> {
    entries: &'a [Entry],
    units: &'a [Unit],
    tokens: &'a [EntryTokens],
    protections: &'a [Protection],
    counter: &'a dyn TokenCounter,
    language: Language,
    summary_levels: &'a [u32],
    session: Option<&'a Session>,
    lexicon: &'a Lexicon,
    handles: bool,
    cancellation: Option<&'a Cancellation>,
    vectors: Result<Arc<Vectors>, Arc<str>>,
    facts: OnceLock<Facts<'a>>,
    /// For each unit the result of [`View::thinking_behind`].
    thinking: OnceLock<Vec<Tokens>>,
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("View").field("messages", &self.entries.len()).field("units", &self.units.len()).finish()
    }
}

impl<'a> View<'a> {
    /// Returns a view of `entries`; `tokens` has one element per entry, `units` cover them all, `protections` has one
    /// per unit.
    pub fn new(
        entries: &'a [Entry],
        units: &'a [Unit],
        tokens: &'a [EntryTokens],
        protections: &'a [Protection],
        counter: &'a dyn TokenCounter,
        language: Language,
    ) -> Self {
        debug_assert_eq!(entries.len(), tokens.len());
        debug_assert_eq!(units.len(), protections.len());
        Self {
            entries,
            units,
            tokens,
            protections,
            counter,
            language,
            summary_levels: &[],
            session: None,
            lexicon: Lexicon::shipped(),
            handles: false,
            cancellation: None,
            vectors: Err(Arc::from("no embedder is configured")),
            facts: OnceLock::new(),
            thinking: OnceLock::new(),
        }
    }

    /// Calls `read` with a view of messages by themselves: nothing of it is counted or protected. Linear in the messages.
    pub fn read_messages<'m, T>(
        messages: impl IntoIterator<Item = &'m Arc<Message>>,
        counter: &dyn TokenCounter,
        language: Language,
        read: impl FnOnce(&View<'_>) -> T,
    ) -> T {
        Self::read_messages_of(None, messages, counter, language, read)
    }

    /// The same for messages of a session's view, so that the messages behind its earlier summaries are known.
    pub fn read_messages_of<'m, T>(
        session: Option<&Session>,
        messages: impl IntoIterator<Item = &'m Arc<Message>>,
        counter: &dyn TokenCounter,
        language: Language,
        read: impl FnOnce(&View<'_>) -> T,
    ) -> T {
        let of_session = session.iter().flat_map(|session| session.view());
        let summaries = of_session.filter(|entry| entry.message.origin == Origin::Summary);
        let keys: HashMap<&str, EntryKey> = summaries.map(|entry| (entry.message.id.as_str(), entry.key)).collect();
        let entry = |(number, message): (u32, &Arc<Message>)| {
            let key = keys.get(message.id.as_str()).copied().unwrap_or(EntryKey::Log(number));
            Entry::new(key, Position::log(number), Arc::clone(message))
        };
        let entries: Vec<Entry> = (0..).zip(messages).map(entry).collect();
        let units = units(&entries);
        let uncounted = |entry: &Entry| EntryTokens { total: 0, blocks: vec![0; entry.message.blocks.len()] };
        let tokens: Vec<EntryTokens> = entries.iter().map(uncounted).collect();
        let protections = vec![Protection::Free; units.len()];
        let view = View::new(&entries, &units, &tokens, &protections, counter, language);
        read(&View { session, ..view })
    }

    /// Sets the cue words in place of those that ship.
    #[must_use]
    pub fn with_lexicon(mut self, lexicon: &'a Lexicon) -> Self {
        self.lexicon = lexicon;
        self.facts = OnceLock::new();
        self
    }

    /// Sets whether marks name the handle of what they replace; without this call they do not.
    #[must_use]
    pub fn with_handles(mut self, handles: bool) -> Self {
        self.handles = handles;
        self
    }

    /// Sets the vectors of its units, or why there are none.
    #[must_use]
    pub fn with_vectors(mut self, vectors: Result<Arc<Vectors>, Arc<str>>) -> Self {
        self.vectors = vectors;
        self
    }

    /// Sets the level of summary of each message; without this call, summaries are of the first level.
    #[must_use]
    pub fn with_summary_levels(mut self, levels: &'a [u32]) -> Self {
        self.summary_levels = levels;
        self
    }

    /// Sets the session of the view; without this call, nothing is known of the messages behind a summary.
    #[must_use]
    pub fn with_session(mut self, session: &'a Session) -> Self {
        self.session = Some(session);
        self
    }

    /// Sets the signal that cancels the work; without this call, work is never cancelled.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: &'a Cancellation) -> Self {
        self.cancellation = Some(cancellation);
        self
    }

    /// Whether the work is cancelled. The plan is not used then, so a long loop should check now and then and end
    /// early. Constant time.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_some_and(Cancellation::is_requested)
    }

    /// Whether the texts that the engine writes name recall handles.
    pub fn names_handles(&self) -> bool {
        self.handles
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the messages as the model sees them, in order.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = &'a Message> + DoubleEndedIterator {
        self.entries.iter().map(|entry| entry.message.as_ref())
    }

    /// Returns the message at a position. Panics when there is none.
    pub fn message(&self, position: usize) -> &'a Message {
        &self.entries[position].message
    }

    /// Returns the entries behind the messages: identity, original, excerpts in force.
    pub fn entries(&self) -> &'a [Entry] {
        self.entries
    }

    /// Returns a block, or `None`.
    pub fn block(&self, at: BlockRef) -> Option<&'a Block> {
        self.entries.get(at.message as usize)?.message.blocks.get(at.block as usize)
    }

    /// Returns the level of summary of the message at a position: 0 for a message of the log, 1 for a summary of such
    /// messages, 2 for a summary of summaries, and so on. Panics when there is no such message.
    pub fn summary_level(&self, message: usize) -> u32 {
        let is_summary = matches!(self.entries[message].message.origin, Origin::Summary | Origin::Notice);
        self.summary_levels.get(message).copied().unwrap_or(u32::from(is_summary))
    }

    /// Returns the messages of the log that the summary at a position covers, in order, those behind earlier summaries
    /// included. Empty for a message that is not a summary, for a summary that this compaction wrote, and where only
    /// the summary's text is left (a file that was converted or piped). Linear in them. Panics when there is no such
    /// message.
    pub fn originals(&self, message: usize) -> Vec<Arc<Message>> {
        let entry = &self.entries[message];
        match (self.session, entry.key) {
            (Some(session), EntryKey::Synthetic { .. }) if entry.message.origin == Origin::Summary => {
                session.originals(entry.key)
            }
            _ => Vec::new(),
        }
    }

    /// Returns the tokens of the signed thinking that leaves by itself when the unit `first_changed_unit` is the first
    /// that changes: that of the loop which precedes or contains the unit, and all thinking behind. A provider refuses
    /// signed thinking behind an edited prefix, so the engine removes it; the thinking of the newest step, and of units
    /// that may not leave, stays.
    ///
    /// Thinking in units that leave by an edit is included: dropping unit 3 saves its own tokens and
    /// `thinking_behind(3)` less the signed thinking of unit 3. A position behind the last unit counts as the end.
    /// Linear in the view on first use, constant afterwards.
    pub fn thinking_behind(&self, first_changed_unit: usize) -> Tokens {
        let behind = self.thinking.get_or_init(|| self.thinking_by_unit());
        behind[first_changed_unit.min(self.units.len())]
    }

    /// Returns the tokens of a unit's signed thinking; of a message without other content all its tokens, because it
    /// leaves with its thinking. Linear in the unit's blocks.
    pub fn signed_thinking(&self, unit: usize) -> Tokens {
        let messages = self.units[unit].entries.clone();
        let is_nothing = |content: &Content| match content {
            Content::Text { text } => text.trim().is_empty(),
            content => *content == Content::Gone,
        };
        let mut sum = 0;
        for message in messages.clone() {
            let (blocks, tokens) = (&self.entries[message].message.blocks, &self.tokens[message]);
            let signed = blocks.iter().zip(&tokens.blocks).filter(|(block, _)| block.is_signed_thinking());
            let thinks = self.entries[message].message.has_signed_thinking();
            let is_empty = |block: &Block| block.is_signed_thinking() || is_nothing(&block.content);
            sum += match thinks && messages.len() == 1 && blocks.iter().all(is_empty) {
                true => tokens.total,
                false => signed.map(|(_, tokens)| *tokens).sum(),
            };
        }
        sum
    }

    /// Returns the values of [`Self::thinking_behind`] for each unit and for the end of the view. Linear.
    fn thinking_by_unit(&self) -> Vec<Tokens> {
        let mut behind = vec![0; self.units.len() + 1];
        for unit in (0..self.units.len()).rev() {
            // Where a host limits the changes, no thinking leaves by itself.
            let leaves = self.protections[unit] == Protection::Free;
            behind[unit] = behind[unit + 1] + if leaves { self.signed_thinking(unit) } else { 0 };
        }
        // The loop in front of a unit, or around it, begins behind the newest unit before it that is not a step.
        let mut loop_start = 0;
        (0..=self.units.len())
            .map(|unit| {
                if unit > 0 && self.units[unit - 1].kind != UnitKind::Step {
                    loop_start = unit;
                }
                behind[loop_start]
            })
            .collect()
    }

    /// Returns the units, in order.
    pub fn units(&self) -> &'a [Unit] {
        self.units
    }

    /// Returns the unit of the message at a position. Logarithmic.
    pub fn unit_of(&self, message: usize) -> usize {
        self.units.partition_point(|unit| unit.entries.end <= message)
    }

    /// Returns what the engine refuses to do to a unit. Panics when there is no such unit.
    pub fn protection(&self, unit: usize) -> Protection {
        self.protections[unit]
    }

    /// Returns the tokens of a message, the constant per message included.
    pub fn message_tokens(&self, message: usize) -> Tokens {
        self.tokens[message].total
    }

    /// Returns the tokens of a block; 0 where there is none.
    pub fn block_tokens(&self, at: BlockRef) -> Tokens {
        self.tokens.get(at.message as usize).and_then(|entry| entry.blocks.get(at.block as usize)).copied().unwrap_or(0)
    }

    /// Returns the tokens of a unit. Linear in its messages.
    pub fn unit_tokens(&self, unit: usize) -> Tokens {
        self.tokens[self.units[unit].entries.clone()].iter().map(|entry| entry.total).sum()
    }

    /// Returns the tokens of the whole view. Linear in the view.
    pub fn total_tokens(&self) -> Tokens {
        self.tokens.iter().map(|entry| entry.total).sum()
    }

    /// Returns the number of rounds so far: genuine user turns.
    pub fn rounds(&self) -> u32 {
        self.units.last().map_or(0, |unit| unit.round)
    }

    /// Counts a text with the session's counter and returns its tokens. Linear in the text. Use the block counts where
    /// possible: they cost nothing.
    pub fn count(&self, text: &str) -> Tokens {
        self.counter.count(text)
    }

    /// Returns the tokens of an excerpt's first elision mark, which names the recall handle where a reader can use it;
    /// rather too many than too few.
    pub fn mark_tokens(&self) -> Tokens {
        self.counter.count(match (self.language, self.handles) {
            (Language::English, true) => "[… 10,000 lines, 100,000 tokens elided · recall 0a1b2c3d4e5f]",
            (Language::English, false) => "[… 10,000 lines, 100,000 tokens elided]",
            (Language::Chinese, true) => "[… 省略 10,000 行、100,000 token · 可取回 0a1b2c3d4e5f]",
            (Language::Chinese, false) => "[… 省略 10,000 行、100,000 token]",
        })
    }

    /// Returns the tokens of each further mark of the same excerpt.
    pub fn further_mark_tokens(&self) -> Tokens {
        self.counter
            .count(self.language.pick("[… 1,000 lines, 10,000 tokens elided]\n", "[… 省略 1,000 行、10,000 token]\n"))
    }

    /// Returns the language of the texts that the engine writes for this session.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the cue words.
    pub fn lexicon(&self) -> &'a Lexicon {
        self.lexicon
    }

    /// Returns the vectors of the units and of the current question, for strategies whose
    /// [`RequiredServices`](crate::RequiredServices) ask for them; otherwise, and where the embedder failed, why there
    /// are none.
    pub fn vectors(&self) -> Result<&Vectors, &str> {
        match &self.vectors {
            Ok(vectors) => Ok(vectors),
            Err(reason) => Err(reason),
        }
    }

    /// Returns properties of the view that several strategies need, each computed on first use.
    pub fn facts(&self) -> &Facts<'a> {
        self.facts.get_or_init(|| Facts::build(self.entries, self.units, self.tokens, self.lexicon))
    }
}
