//! The kinds of records that a format is made of: what is read of a file, what is left out, and what nobody looked at.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::error::Warning;
use crate::input::Shape;
use crate::json::Object;

/// The kinds of records that an agent writes, by their `type`; where one type stands for many, by `type/subtype`. Each text
/// is names with white space between them.
pub(crate) struct Kinds {
    /// What is read.
    pub read: &'static str,
    /// What was looked at and is left out: the model saw nothing of it, or saw it by another record.
    pub left_out: &'static str,
}

/// The records of a file.
#[derive(Debug, Default)]
pub(crate) struct CountedRecords {
    known: usize,
    unknown: BTreeMap<String, usize>,
}

impl Kinds {
    /// Counts the records of a file. Linear in the input.
    pub(crate) fn count(&self, shape: &Shape<'_>) -> CountedRecords {
        let mut counted = CountedRecords::default();
        let mut add_all = |json: &str| {
            let Some(record) = Object::parse(json.trim()) else { return };
            self.add(&record, &mut counted);
            // Gemini CLI has messages in one record, or in one that replaces them.
            let messages = record.list("messages").or_else(|| record.object("$set")?.list("messages"));
            let messages = messages.into_iter().flatten().filter_map(Object::parse);
            messages.for_each(|message| self.add(&message, &mut counted));
        };
        match shape {
            Shape::Document(text) => add_all(text),
            Shape::Lines(lines) => lines.iter().for_each(|line| add_all(line.json)),
            Shape::Text(_) => {}
        }
        counted
    }

    fn add(&self, record: &Object<'_>, counted: &mut CountedRecords) {
        let Some(kind) = record.text("type") else { return };
        if self.has(&kind) {
            counted.known += 1;
            return;
        }
        let narrower = record.text("subtype").or_else(|| record.object("payload")?.text("type"));
        let kind = format!("{kind}/{}", narrower.unwrap_or_default());
        match self.has(&kind) {
            true => counted.known += 1,
            false => *counted.unknown.entry(kind.trim_end_matches('/').to_owned()).or_default() += 1,
        }
    }

    fn has(&self, kind: &str) -> bool {
        [self.read, self.left_out].iter().flat_map(|names| names.split_ascii_whitespace()).any(|name| name == kind)
    }
}

impl CountedRecords {
    /// Whether most records are of the format. Versions that are newer than what was looked at have a few kinds of their own.
    pub(crate) fn are_mostly_known(&self) -> bool {
        self.unknown.values().sum::<usize>() <= self.known
    }

    /// What is not read, with the kinds and how often each comes; `None` where every kind is known.
    pub(crate) fn unknown(&self) -> Option<String> {
        /// Kinds that are named, and characters of a name, which is the file's own word.
        const NAMED: usize = 6;
        const LONGEST: usize = 40;
        let mut kinds: Vec<(&str, usize)> = self.unknown.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
        kinds.sort_by_key(|(_, count)| Reverse(*count));
        let all: usize = kinds.iter().map(|(_, count)| count).sum();
        let name = |(kind, count): &(&str, usize)| {
            let short: String = kind.chars().take(LONGEST).collect();
            format!("`{}` {count}", short.escape_debug())
        };
        let mut named: Vec<String> = kinds.iter().take(NAMED).map(name).collect();
        if let Some(more) = kinds.len().checked_sub(NAMED).filter(|more| *more > 0) {
            named.push(format!("{more} more"));
        }
        let records = if all == 1 { "record of a kind that is" } else { "records of kinds that are" };
        (all > 0).then(|| format!("not read: {all} {records} not known ({})", named.join(", ")))
    }

    /// The warning for what is not read.
    pub(crate) fn warning(&self) -> Option<Warning> {
        self.unknown().map(|message| Warning { line: None, message })
    }
}

#[cfg(test)]
#[path = "tests/kinds.rs"]
mod tests;
