//! Lists of words and names that stand in a file of their own.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};

/// The words that this crate reads texts and commands by.
pub(crate) const LISTS: WordLists = WordLists(include_str!("lists.txt"));

/// A file of lists: a section `[name]` is one. Its entries stand between commas; one with a blank at an end, or that begins like
/// a section, stands in quotation marks. A section `[table: key]` is a part of a table: each of its entries has the key. A line
/// that begins with `#` is a comment.
#[derive(Debug, Clone, Copy)]
pub struct WordLists(pub &'static str);

impl WordLists {
    /// Returns the entries of a list, in the order of the file. Linear in the list, behind a search for its name.
    pub fn list(self, name: &str) -> Vec<&'static str> {
        let start = self.0.find(&format!("[{name}]")).unwrap_or(self.0.len());
        let entries = Self(&self.0[start..]).sections().take_while(|(section, _)| *section == name);
        let entries: Vec<&str> = entries.map(|(_, entry)| entry).collect();
        debug_assert!(!entries.is_empty(), "there is no [{name}]");
        entries
    }

    /// Returns the entries of a table, each with the value that its key names. Linear in the file.
    pub(crate) fn table<T: Deserialize<'static>>(self, name: &str) -> HashMap<&'static str, T> {
        let keyed = |(section, entry): (&'static str, &'static str)| {
            let key = section.strip_prefix(name)?.strip_prefix(": ")?;
            Some((entry, T::deserialize(StrDeserializer::<Error>::new(key)).ok()?))
        };
        self.sections().filter_map(keyed).collect()
    }

    /// Returns each entry with the name of its section.
    fn sections(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let mut section = "";
        self.0.lines().filter(|line| !line.starts_with('#')).flat_map(move |line| {
            let opened = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
            section = opened.unwrap_or(section);
            let (section, entries) = (section, if opened.is_some() { "" } else { line });
            let bare = |entry: &'static str| {
                entry.strip_prefix('"').and_then(|entry| entry.strip_suffix('"')).unwrap_or(entry)
            };
            let entries =
                entries.split(", ").map(|entry| entry.trim_end_matches(',')).filter(|entry| !entry.is_empty());
            entries.map(move |entry| (section, bare(entry)))
        })
    }
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
        let mut names: Vec<&str> = LISTS.0.lines().filter(|line| line.starts_with('[')).collect();
        // A list is found by its name and ends where the next one begins.
        names.retain(|name| LISTS.0.matches(name).count() != 1);
        assert!(names.is_empty(), "{names:?}");
    }

    #[test]
    fn no_entry_stands_twice_in_a_table() {
        let of_table = |(section, entry): (&'static str, &'static str)| Some((section.split_once(": ")?.0, entry));
        let mut entries: Vec<_> = LISTS.sections().filter_map(of_table).collect();
        entries.sort_unstable();
        let twice: Vec<_> = entries.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
