//! The history that a file inherits from other files of its agent: how they are named and found, and their records.

use std::io;
use std::ops::Range;

/// A file as another one names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileName<'a> {
    /// An id with which the file's name ends; empty where none is told.
    pub id: &'a str,
    /// The path that the file had when it was named.
    pub path: Option<&'a str>,
}

/// Gives the content of a file, or why that is not there: [`NotFound`](std::io::ErrorKind::NotFound) where there is no such file.
pub type FindFile<'a> = &'a dyn Fn(&FileName<'_>) -> io::Result<Vec<u8>>;

/// The records of other files that a file continues.
#[derive(Debug)]
pub(crate) struct Inherited {
    /// The records, as text.
    records: String,
    /// Behind which record of the file which of them stand: by the byte at which that record starts.
    places: Vec<(usize, Range<usize>)>,
    /// The length of the file: their positions are behind its end.
    start: usize,
}

impl Inherited {
    /// None yet, of a file of this length.
    pub(crate) fn new(length: usize) -> Self {
        Self { records: String::new(), places: Vec::new(), start: length }
    }

    /// Adds records that stand behind the one which starts at a byte of the file.
    pub(crate) fn add(&mut self, byte: usize, records: &str) {
        let first = self.records.len();
        self.records += records;
        self.places.push((byte, first..self.records.len()));
    }

    /// Whether the file continues no other.
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The records that stand behind the one that starts at a byte of the file, and the position of the first.
    pub(crate) fn behind(&self, byte: usize) -> Option<(usize, &str)> {
        let (_, range) = self.places.iter().find(|(place, _)| *place == byte)?;
        Some((self.start + range.start, self.records.get(range.clone())?))
    }

    /// The records, as text.
    pub(crate) fn records(&self) -> &str {
        &self.records
    }

    /// The text at a position behind the end of the file.
    pub(crate) fn text(&self, span: Range<usize>) -> Option<&str> {
        self.records.get(span.start.checked_sub(self.start)?..span.end - self.start)
    }
}
