//! Cues, and sets and counts of them.

use std::ops::Range;

use thiserror::Error;

crate::named! {
    /// What a word or a phrase indicates about its text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Cue {
        /// Something is called important.
        Important = "important",
        /// Something is to be remembered.
        Remember = "remember",
        /// A standing instruction: must, never, always.
        Instruction = "instruction",
        /// A person's preference or wish.
        Preference = "preference",
        /// Something was decided or concluded.
        Decision = "decision",
        /// A task starts.
        TaskStart = "task-start",
        /// A task, or a part of it, is done.
        Completion = "completion",
        /// Something failed.
        Error = "error",
        /// Something was repaired.
        Fix = "fix",
        /// A question that needs an answer.
        Question = "question",
        /// The subject changes.
        TopicShift = "topic-shift",
        /// People who write code talk.
        Code = "code",
        /// People who investigate something talk.
        Analysis = "analysis",
        /// Small talk and courtesy.
        Conversation = "conversation",
    }
}

/// How often each cue occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CueCounts(pub(super) [u32; Cue::ALL.len()]);

impl CueCounts {
    /// Returns how often a cue occurs.
    pub fn count(&self, cue: Cue) -> u32 {
        self.0[cue as usize]
    }

    /// Whether a cue occurs at all.
    pub fn has(&self, cue: Cue) -> bool {
        self.count(cue) > 0
    }

    /// Adds the counts of another text.
    pub fn add(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(more);
        }
    }
}

/// A cue in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CueMatch {
    /// The cue.
    pub cue: Cue,
    /// The bytes of the word or phrase.
    pub range: Range<usize>,
}

/// Why words could not be added.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{word}`: {problem}")]
pub struct LexiconError {
    /// The word or the pattern, as it was given.
    pub word: String,
    /// What is wrong with it.
    pub problem: String,
}

/// The first bit of the cues that a word has only at the start of a sentence.
const OPENING: u32 = 16;

/// A set of cues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cues(pub(super) u32);

impl Cues {
    /// Returns every cue.
    pub const ALL: Self = Self((1 << Cue::ALL.len()) - 1);

    /// Returns the given cues.
    pub const fn new<const COUNT: usize>(cues: [Cue; COUNT]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < COUNT {
            bits |= 1 << cues[at] as u32;
            at += 1;
        }
        Self(bits)
    }

    /// Whether a cue is in the set.
    pub const fn has(self, cue: Cue) -> bool {
        self.0 & (1 << cue as u32) != 0
    }

    /// Returns the bits of cues that a word has only at the start of a sentence: the same bits, further up.
    pub(super) const fn opening(cue: Cue) -> Self {
        Self(1 << (cue as u32 + OPENING))
    }

    /// Returns those of a word's cues that are among `wanted`.
    pub(super) const fn and(self, wanted: Self) -> Self {
        Self(self.0 & (wanted.0 | wanted.0 << OPENING))
    }

    /// Returns a word's cues in its place; `opens` says whether a sentence starts with it.
    pub(super) fn in_place(self, opens: impl FnOnce() -> bool) -> Self {
        let (anywhere, opening) = (self.0 & Self::ALL.0, self.0 >> OPENING);
        Self(if opening & !anywhere != 0 && opens() { anywhere | opening } else { anywhere })
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
