//! The occurrences of terms, and the topics of the model's messages.

use crate::passage::{Passage, PassageKind};
use crate::source::Source;
use crate::terms::Terms;
use crate::worth::Worth;

/// The worth of a name that a person, the model or a call used; of one that tools printed in several messages; in one
/// only.
const NAMED: f32 = 4.0;
const PRINTED: f32 = 1.0;
const PRINTED_ONCE: f32 = 0.5;
/// The worth of a word, its gain where a person used it, and how fast it falls with the number of its messages.
const WORD: f32 = 1.2;
const WORD_SAID: f32 = 1.5;
const COMMON: f32 = 0.2;
/// How near an output is to the words of the message that asked for it, and of the messages of the model behind it: the
/// model's words after reading show which lines mattered.
const ASKED: f32 = 1.0;
const NEXT: f32 = 1.5;
const NEXT_MESSAGES: usize = 3;
/// The most lines of one passage, and terms of one message, that define its topic: a long text, or a message with
/// hundreds of calls, has many topics. The bound keeps the cost of nearness linear.
const LONGEST_SPEECH: usize = 40;
const MOST_TERMS: usize = 1_000;

/// The occurrences of terms.
#[derive(Debug)]
pub(crate) struct Counts {
    /// How many messages have each term.
    messages: Vec<u32>,
    /// How many lines have each term.
    lines: Vec<u32>,
    /// Whether a person, the model or a call used it.
    is_said: Vec<bool>,
    is_typed: Vec<bool>,
    all_lines: f32,
}

impl Counts {
    /// Counts the terms. Linear in the terms of all lines.
    pub(crate) fn new(source: &Source, worth: &Worth, known: &Terms) -> Self {
        let mut counts = Self {
            messages: vec![0; known.len()],
            lines: vec![0; known.len()],
            is_said: vec![false; known.len()],
            is_typed: vec![false; known.len()],
            all_lines: source.lines.len() as f32 + 2.0,
        };
        let mut last = vec![u32::MAX; known.len()];
        for passage in &source.passages {
            let typed = matches!(passage.kind, PassageKind::Typed | PassageKind::SpokenThroughTool);
            let said =
                typed || matches!(passage.kind, PassageKind::Commentary | PassageKind::Answer | PassageKind::Call);
            for term in passage.lines.clone().flat_map(|line| worth.terms_of(line)) {
                let term = *term as usize;
                counts.lines[term] += 1;
                if last[term] != passage.message {
                    (last[term], counts.messages[term]) = (passage.message, counts.messages[term] + 1);
                }
                counts.is_said[term] |= said;
                counts.is_typed[term] |= typed;
            }
        }
        counts
    }

    pub(crate) fn is_typed(&self, term: usize) -> bool {
        self.is_typed[term]
    }

    pub(crate) fn worth_of(&self, term: usize, known: &Terms) -> f32 {
        let (messages, is_said) = (self.messages[term], self.is_said[term]);
        match (known.is_name(term as u32), is_said) {
            (true, true) => NAMED,
            (true, false) if messages > 1 => PRINTED,
            (true, false) => PRINTED_ONCE,
            (false, _) => {
                let said = if is_said { WORD_SAID } else { 1.0 };
                WORD * said / (1.0 + COMMON * (messages.max(1) as f32).ln())
            }
        }
    }

    /// Returns how rare a term is among the lines, from 0 to 1.
    pub(crate) fn rarity(&self, term: usize) -> f32 {
        (self.all_lines / self.lines[term].max(1) as f32).ln() / self.all_lines.ln()
    }
}

/// The terms of the model's text and calls, message by message.
#[derive(Debug, Default)]
pub(crate) struct ModelTerms {
    messages: Vec<u32>,
    terms: Vec<Vec<u32>>,
}

impl ModelTerms {
    /// Collects the terms. Linear in the model's text.
    pub(crate) fn new(source: &Source, worth: &Worth) -> Self {
        let mut spoken = Self::default();
        let of_model = |passage: &&Passage| {
            matches!(passage.kind, PassageKind::Commentary | PassageKind::Answer | PassageKind::Call)
        };
        for passage in source.passages.iter().filter(of_model) {
            if spoken.messages.last() != Some(&passage.message) {
                spoken.messages.push(passage.message);
                spoken.terms.push(Vec::new());
            }
            if let Some(terms) = spoken.terms.last_mut() {
                let lines = passage.lines.clone().take(LONGEST_SPEECH);
                let left = MOST_TERMS.saturating_sub(terms.len());
                terms.extend(lines.flat_map(|line| worth.terms_of(line)).take(left));
            }
        }
        spoken
    }

    /// Returns the terms of the message that asked for an output, and of the next ones, each with its weight.
    pub(crate) fn terms_around(&self, asked: u32) -> impl Iterator<Item = (&[u32], f32)> {
        let at = self.messages.partition_point(|message| *message < asked);
        let own = self.messages.get(at).is_some_and(|message| *message == asked);
        let next = at + usize::from(own);
        let later = &self.terms[next..self.terms.len().min(next + NEXT_MESSAGES)];
        let own = &self.terms[at..next];
        own.iter().map(|terms| (terms.as_slice(), ASKED)).chain(later.iter().map(|terms| (terms.as_slice(), NEXT)))
    }
}
