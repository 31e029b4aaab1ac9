//! The index: every line of the log with its terms.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{Message, Session};
use snowball_stemmers_rs::{Algorithm, Stemmer};

use crate::page::Page;
use crate::pieces::{Body, Piece, Reader, Speaker, text_of};
use crate::query::{Query, QueryProblem};
use crate::terms::{NAMES_OF_TYPED, Term, read_terms, stem_key, with_key};
use crate::units::read_units;
use crate::{score, select};

/// A line of the log, or a part of a long one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    /// Its piece.
    pub(crate) piece: u32,
    /// Its start in the piece's text, in bytes.
    pub(crate) start: u32,
    /// Its end there.
    pub(crate) end: u32,
    /// Characters of all units in front of it, each with a line's end.
    pub(crate) offset: u32,
    /// Terms of all units in front of it.
    pub(crate) terms: u32,
    /// Whether it ends its line.
    pub(crate) ends_line: bool,
}

/// The searchable text of a whole session.
///
/// It holds the log's messages by reference and a few bytes for each word. Appending costs what is appended, and an
/// index that grew equals one that was built at once.
#[derive(Default)]
pub struct Index {
    log: Vec<Arc<Message>>,
    reader: Reader,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) units: Vec<Unit>,
    characters: u32,
    term_count: u32,
    /// The numbers of terms by their spelling: words that share a stem share a number.
    numbers: HashMap<Box<str>, u32>,
    /// For each term the units that contain it, ascending; a unit occurs as often as the term occurs in it.
    postings: Vec<Vec<u32>>,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (messages, lines, terms) = (self.log.len(), self.units.len(), self.postings.len());
        write!(formatter, "Index {{ messages: {messages}, lines: {lines}, terms: {terms} }}")
    }
}

impl Index {
    /// Returns an index without messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the index of a session's log. Linear in the log.
    pub fn build(session: &Session) -> Self {
        let mut index = Self::new();
        index.append(session.log());
        index
    }

    /// Adds the messages that the log has gained. Linear in them.
    pub fn append(&mut self, messages: &[Arc<Message>]) {
        let stemmer = Stemmer::create(Algorithm::English);
        for message in messages {
            let number = self.log.len() as u32;
            for piece in self.reader.pieces(message, number) {
                self.add(piece, message, &stemmer);
            }
            self.log.push(Arc::clone(message));
        }
    }

    /// Returns how many messages of the log it has.
    pub fn messages(&self) -> usize {
        self.log.len()
    }

    /// Returns the passages that match a query, the best first. Each is a stretch of the log of up to
    /// [`characters`](Query::characters) / [`limit`](Query::limit) characters, 2,000 at most; neighbours become one.
    /// [`Page::locate`] then adds which of them the context still contains. Takes a few milliseconds for a million
    /// tokens.
    ///
    /// Errors where the query is beyond its limits: [`Query::check`].
    pub fn search(&self, query: &Query) -> Result<Page, QueryProblem> {
        query.check()?;
        let ranking = score::rank(self, query);
        Ok(select::select(self, query, &ranking))
    }

    fn add(&mut self, piece: Piece, message: &Message, stemmer: &Stemmer) {
        let text = body_of(&piece, message);
        let first = self.units.len();
        let number = self.pieces.len() as u32;
        read_units(text, |range, ends_line| {
            let offset = self.characters;
            self.characters += text[range.clone()].chars().count() as u32 + u32::from(ends_line);
            let (start, end) = (range.start as u32, range.end as u32);
            self.units.push(Unit { piece: number, start, end, offset, terms: self.term_count, ends_line });
        });
        if piece.speaker == Speaker::User && first < self.units.len() {
            // A question about what a person wanted says "user" and "asked"; the person did not.
            for word in NAMES_OF_TYPED {
                let term = self.number_or_new(Term::Word(word), stemmer);
                self.postings[term as usize].push(first as u32);
            }
        }
        // Terms are read from the whole text: a long line may be cut inside a name.
        let mut unit = first;
        read_terms(text, |at, term| {
            while self.units.get(unit + 1).is_some_and(|next| next.start as usize <= at) {
                unit += 1;
                self.units[unit].terms = self.term_count;
            }
            self.term_count += 1;
            let term = self.number_or_new(term, stemmer);
            self.postings[term as usize].push(unit as u32);
        });
        for unit in unit + 1..self.units.len() {
            self.units[unit].terms = self.term_count;
        }
        if first < self.units.len() {
            self.pieces.push(piece);
        }
    }

    /// Returns the text that a piece's units are ranges of.
    pub(crate) fn body<'a>(&'a self, piece: &'a Piece) -> &'a str {
        body_of(piece, &self.log[piece.message as usize])
    }

    /// Returns the message of a piece.
    pub(crate) fn message(&self, piece: &Piece) -> &Message {
        &self.log[piece.message as usize]
    }

    /// Returns the characters of a unit, its line's end included.
    pub(crate) fn characters(&self, unit: usize) -> usize {
        let at = |unit: usize| self.units.get(unit).map_or(self.characters, |unit| unit.offset);
        (at(unit + 1) - at(unit)) as usize
    }

    /// Returns the terms of a unit.
    pub(crate) fn term_count(&self, unit: usize) -> usize {
        let at = |unit: usize| self.units.get(unit).map_or(self.term_count, |unit| unit.terms);
        (at(unit + 1) - at(unit)) as usize
    }

    /// Returns the number of a term, where the index has it: that of its stem for a word.
    pub(crate) fn number(&self, term: Term<'_>, stemmer: &Stemmer) -> Option<u32> {
        with_key(term, |key| self.numbers.get(key).copied()).or_else(|| self.number_of_key(&stem_key(term, stemmer)?))
    }

    /// Returns the number of a term by its spelling in the table.
    pub(crate) fn number_of_key(&self, key: &str) -> Option<u32> {
        self.numbers.get(key).copied()
    }

    /// Returns the number of a term; a new one gets that of its stem, or the next.
    fn number_or_new(&mut self, term: Term<'_>, stemmer: &Stemmer) -> u32 {
        if let Some(number) = with_key(term, |key| self.numbers.get(key).copied()) {
            return number;
        }
        let mut next = || {
            self.postings.push(Vec::new());
            self.postings.len() as u32 - 1
        };
        let number = match stem_key(term, stemmer) {
            Some(stem) => *self.numbers.entry(stem.into()).or_insert_with(next),
            None => next(),
        };
        with_key(term, |key| self.numbers.insert(key.into(), number));
        number
    }

    /// Returns the units that contain a term, ascending, once for each occurrence.
    pub(crate) fn postings(&self, term: u32) -> &[u32] {
        &self.postings[term as usize]
    }
}

fn body_of<'a>(piece: &'a Piece, message: &'a Message) -> &'a str {
    match &piece.body {
        Body::Recorded(range) => {
            text_of(message, piece.block).get(range.start as usize..range.end as usize).unwrap_or_default()
        }
        Body::Arguments(text) => text,
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
