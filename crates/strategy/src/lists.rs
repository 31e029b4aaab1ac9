//! Lists of words and names that stand in a file of their own.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};

/// The words that this crate reads texts and commands by.
pub(crate) static LISTS: WordLists = WordLists::new(include_str!("lists.txt"));

/// A file of lists: a section `[name]` is one. Its entries stand between commas; one with a blank at an end, or that begins like
/// a section, stands in quotation marks. A section `[table: key]` is a part of a table: each of its entries has the key. A line
/// that begins with `#` is a comment.
#[derive(Debug)]
pub struct WordLists {
    text: &'static str,
    /// Each entry with the name of its section, once they are asked for.
    entries: OnceLock<Vec<(&'static str, &'static str)>>,
}

impl WordLists {
    /// Returns the lists of a file's text, which is read when the first of them is asked for.
    pub const fn new(text: &'static str) -> Self {
        Self { text, entries: OnceLock::new() }
    }

    /// Returns the entries of a list, in the order of the file. Linear in the entries of the file.
    pub fn list(&self, name: &str) -> Vec<&'static str> {
        let of_list = self.entries().iter().filter(|(section, _)| *section == name);
        let entries: Vec<&str> = of_list.map(|(_, entry)| *entry).collect();
        debug_assert!(!entries.is_empty(), "there is no [{name}]");
        entries
    }

    /// Returns the entries of a table, each with the value that its key names. Linear in the entries of the file.
    pub(crate) fn table<T: Deserialize<'static>>(&self, name: &str) -> HashMap<&'static str, T> {
        let keyed = |(section, entry): &(&'static str, &'static str)| {
            let key = section.strip_prefix(name)?.strip_prefix(": ")?;
            Some((*entry, T::deserialize(StrDeserializer::<Error>::new(key)).ok()?))
        };
        self.entries().iter().filter_map(keyed).collect()
    }

    fn entries(&self) -> &[(&'static str, &'static str)] {
        self.entries.get_or_init(|| entries(self.text))
    }
}

/// Returns each entry of a file with the name of its section.
fn entries(text: &'static str) -> Vec<(&'static str, &'static str)> {
    let bare = |entry: &'static str| entry.strip_prefix('"').and_then(|entry| entry.strip_suffix('"')).unwrap_or(entry);
    let mut section = "";
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(opened) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = opened;
            continue;
        }
        let entries = line.split(", ").map(|entry| entry.trim_end_matches(',')).filter(|entry| !entry.is_empty());
        found.extend(entries.map(|entry| (section, bare(entry))));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::ToolKind;

    #[test]
    fn entries_stand_between_commas() {
        let plumbing = LISTS.list("plumbing");
        assert_eq!((plumbing[0], plumbing[7], plumbing.len()), (" 2>&1", "; echo", 9));
        assert_eq!(LISTS.list("failures").last(), Some(&"未找到"));
        assert_eq!(LISTS.table::<ToolKind>("tools").get("todowrite"), Some(&ToolKind::Plan));
    }

    #[test]
    fn no_list_is_opened_twice() {
        let mut names: Vec<&str> = LISTS.text.lines().filter(|line| line.starts_with('[')).collect();
        names.retain(|name| LISTS.text.matches(name).count() != 1);
        assert!(names.is_empty(), "{names:?}");
    }

    #[test]
    fn no_entry_stands_twice_in_a_table() {
        let of_table = |(section, entry): &(&'static str, &'static str)| Some((section.split_once(": ")?.0, *entry));
        let mut entries: Vec<_> = LISTS.entries().iter().filter_map(of_table).collect();
        entries.sort_unstable();
        let twice: Vec<_> = entries.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
