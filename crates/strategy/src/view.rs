//! The view: what a strategy reads.

use std::fmt;
use std::sync::{Arc, OnceLock};

use epitome_session::{Block, Content, Entry, EntryKey, Language, Message, Origin, Session, Unit, UnitKind};
use serde::{Deserialize, Serialize};

use crate::cancellation::Cancellation;
use crate::facts::Facts;
use crate::lexicon::Lexicon;
use crate::services::{Embeddings, TokenCounter, Tokens};

/// The tokens of one entry of a view.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EntryTokens {
    /// Of the whole message: its blocks and the constant per message.
    pub total: Tokens,
    /// Of each block.
    pub blocks: Vec<Tokens>,
}

/// What the engine will refuse to do to a unit, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// Everything is allowed.
    Free,
    /// The newest step: parts of its texts may leave, it may not leave whole.
    NewestStep,
    /// The system prompt.
    System,
    /// The first genuine user message.
    OriginalTask,
    /// The newest genuine user message.
    NewestUser,
    /// Pinned by the host, or marked `<Pin>`.
    Pinned,
    /// Holds the result of a protected tool.
    ProtectedTool,
    /// One of the newest rounds that the configuration keeps.
    RecentRound,
    /// One of the newest messages that the configuration keeps.
    RecentMessage,
    /// A call in it is not answered yet.
    Open,
}

impl Protection {
    /// Whether the unit may leave the context whole.
    pub fn may_leave(self) -> bool {
        self == Self::Free
    }

    /// Whether parts of the unit's texts may leave.
    pub fn may_edit(self) -> bool {
        matches!(self, Self::Free | Self::NewestStep)
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

/// A block of a view, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockRef {
    /// Position of the message in the view.
    pub message: u32,
    /// Which of its blocks.
    pub block: u32,
}

/// What the model would see now, with everything that planning needs: messages, units, token counts, what is protected,
/// shared facts. Positions of messages and units hold for this view only.
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
    /// By unit: what [`View::thinking_behind`] says of it.
    thinking: OnceLock<Vec<Tokens>>,
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("View").field("messages", &self.entries.len()).field("units", &self.units.len()).finish()
    }
}

impl<'a> View<'a> {
    /// A view of `entries`; `tokens` has one element per entry, `units` cover them all, `protections` has one per unit.
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

    /// The same view with other cue words than those that ship.
    #[must_use]
    pub fn with_lexicon(mut self, lexicon: &'a Lexicon) -> Self {
        self.lexicon = lexicon;
        self.facts = OnceLock::new();
        self
    }

    /// The same view for marks that name the handle of what they stand for, or for marks that do not; without it they do
    /// not.
    #[must_use]
    pub fn with_handles(mut self, handles: bool) -> Self {
        self.handles = handles;
        self
    }

    /// The same view with the vectors of its units, or with why there are none.
    #[must_use]
    pub fn with_vectors(mut self, vectors: Result<Arc<Vectors>, Arc<str>>) -> Self {
        self.vectors = vectors;
        self
    }

    /// The same view with how many times over each message is a summary; without it, summaries are of the first level.
    #[must_use]
    pub fn with_summary_levels(mut self, levels: &'a [u32]) -> Self {
        self.summary_levels = levels;
        self
    }

    /// The same view with the session that it is of; without it, nothing is known of what stands behind a summary.
    #[must_use]
    pub fn with_session(mut self, session: &'a Session) -> Self {
        self.session = Some(session);
        self
    }

    /// The same view for work that may be given up; without it, nobody gives it up.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: &'a Cancellation) -> Self {
        self.cancellation = Some(cancellation);
        self
    }

    /// Whether nobody waits for the plan any more: whatever is returned then is thrown away, so a loop that takes long
    /// asks now and then and ends early. Constant time.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_some_and(Cancellation::is_requested)
    }

    /// Whether the texts that the engine writes name recall handles.
    pub fn names_handles(&self) -> bool {
        self.handles
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The messages as the model sees them, in order.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = &'a Message> + DoubleEndedIterator {
        self.entries.iter().map(|entry| entry.message.as_ref())
    }

    /// The message at a position. Panics when there is none.
    pub fn message(&self, position: usize) -> &'a Message {
        &self.entries[position].message
    }

    /// The entries behind the messages: identity, original, excerpts in force.
    pub fn entries(&self) -> &'a [Entry] {
        self.entries
    }

    /// A block, or `None`.
    pub fn block(&self, at: BlockRef) -> Option<&'a Block> {
        self.entries.get(at.message as usize)?.message.blocks.get(at.block as usize)
    }

    /// How many times over the message at a position is a summary: 0 for what was said, 1 for a summary of that, 2 for a
    /// summary of summaries, and so on. Panics when there is no such message.
    pub fn summary_level(&self, message: usize) -> u32 {
        let is_summary = matches!(self.entries[message].message.origin, Origin::Summary | Origin::Notice);
        self.summary_levels.get(message).copied().unwrap_or(u32::from(is_summary))
    }

    /// What was said, of which the message at a position is a summary: the messages of the log, in order, those behind
    /// earlier summaries included. Empty for a message that is not a summary, for a summary that this compaction wrote, and
    /// where only the summary's text is left (a file that was converted or piped). Linear in them. Panics when there is no
    /// such message.
    pub fn originals(&self, message: usize) -> Vec<Arc<Message>> {
        let entry = &self.entries[message];
        match (self.session, entry.key) {
            (Some(session), EntryKey::Synthetic { .. }) if entry.message.origin == Origin::Summary => {
                session.originals(entry.key)
            }
            _ => Vec::new(),
        }
    }

    /// Tokens of the signed thinking that leaves by itself when a change of the unit `first_changed_unit` is the first
    /// change of the view: of the loop that stands in front of the unit or holds it, and of everything behind. A provider
    /// takes no signed thinking behind an edited prefix, so the engine takes it out; the newest step's, and that of units
    /// that may not leave, stays.
    ///
    /// Thinking in units that leave by an edit is counted here too: who drops unit 3 saves its own tokens and
    /// `thinking_behind(3)` less the signed thinking of unit 3. A position behind the last unit is as good as the end.
    /// Linear in the view on first use, constant afterwards.
    pub fn thinking_behind(&self, first_changed_unit: usize) -> Tokens {
        let behind = self.thinking.get_or_init(|| self.thinking_by_unit());
        behind[first_changed_unit.min(self.units.len())]
    }

    /// Tokens of a unit's signed thinking; of a message that holds nothing else all its tokens, for it leaves with its
    /// thinking. Linear in the unit's blocks.
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

    /// What [`Self::thinking_behind`] says, for each unit and for the end of the view. Linear.
    fn thinking_by_unit(&self) -> Vec<Tokens> {
        let mut behind = vec![0; self.units.len() + 1];
        for unit in (0..self.units.len()).rev() {
            let leaves = self.protections[unit].may_leave();
            behind[unit] = behind[unit + 1] + if leaves { self.signed_thinking(unit) } else { 0 };
        }
        // The loop in front of a unit, or around it, begins behind the newest unit before it that is no step.
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

    /// The units, in order.
    pub fn units(&self) -> &'a [Unit] {
        self.units
    }

    /// The unit that holds the message at a position. Logarithmic.
    pub fn unit_of(&self, message: usize) -> usize {
        self.units.partition_point(|unit| unit.entries.end <= message)
    }

    /// What the engine will refuse to do to a unit. Panics when there is no such unit.
    pub fn protection(&self, unit: usize) -> Protection {
        self.protections[unit]
    }

    /// Tokens of a message, the constant per message included.
    pub fn message_tokens(&self, message: usize) -> Tokens {
        self.tokens[message].total
    }

    /// Tokens of a block; 0 where there is none.
    pub fn block_tokens(&self, at: BlockRef) -> Tokens {
        self.tokens.get(at.message as usize).and_then(|entry| entry.blocks.get(at.block as usize)).copied().unwrap_or(0)
    }

    /// Tokens of a unit. Linear in its messages.
    pub fn unit_tokens(&self, unit: usize) -> Tokens {
        self.tokens[self.units[unit].entries.clone()].iter().map(|entry| entry.total).sum()
    }

    /// Tokens of the whole view. Linear in the view.
    pub fn total_tokens(&self) -> Tokens {
        self.tokens.iter().map(|entry| entry.total).sum()
    }

    /// The rounds so far: genuine user turns.
    pub fn rounds(&self) -> u32 {
        self.units.last().map_or(0, |unit| unit.round)
    }

    /// Counts a text with the session's counter. Linear in the text; block counts are free, use those.
    pub fn count(&self, text: &str) -> Tokens {
        self.counter.count(text)
    }

    /// Tokens of an excerpt's first elision mark, which names the recall handle where somebody can use it; rather too many
    /// than too few.
    pub fn mark_tokens(&self) -> Tokens {
        self.counter.count(match (self.language, self.handles) {
            (Language::English, true) => "[… 10,000 lines, 100,000 tokens elided · recall 0a1b2c3d]",
            (Language::English, false) => "[… 10,000 lines, 100,000 tokens elided]",
            (Language::Chinese, true) => "[… 省略 10,000 行、100,000 token · 可取回 0a1b2c3d]",
            (Language::Chinese, false) => "[… 省略 10,000 行、100,000 token]",
        })
    }

    /// Tokens of each further mark of the same excerpt.
    pub fn further_mark_tokens(&self) -> Tokens {
        self.counter.count(match self.language {
            Language::English => "[… 1,000 lines, 10,000 tokens elided]\n",
            Language::Chinese => "[… 省略 1,000 行、10,000 token]\n",
        })
    }

    /// The language of the texts that the engine writes for this session.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The cue words.
    pub fn lexicon(&self) -> &'a Lexicon {
        self.lexicon
    }

    /// The vectors of the units and of the current question, for strategies whose [`RequiredServices`](crate::RequiredServices) say that they
    /// work with them; otherwise, and where the embedder failed, why there are none.
    pub fn vectors(&self) -> Result<&Vectors, &str> {
        match &self.vectors {
            Ok(vectors) => Ok(vectors),
            Err(reason) => Err(reason),
        }
    }

    /// What several strategies need to know, computed once per view, on first use.
    pub fn facts(&self) -> &Facts<'a> {
        self.facts.get_or_init(|| Facts::build(self.entries, self.units, self.tokens, self.lexicon))
    }
}
