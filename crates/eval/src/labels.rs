//! Kinds of task by file, from a table in Markdown.

use std::collections::HashMap;

/// Kinds of task by file.
#[derive(Debug, Clone, Default)]
pub struct Labels(HashMap<String, String>);

impl Labels {
    /// The labels in a Markdown table that has a column `file` and a column `type`. Linear.
    pub fn parse(markdown: &str) -> Self {
        let mut labels = HashMap::new();
        let mut columns: Option<(usize, usize)> = None;
        for line in markdown.lines() {
            if !line.trim_start().starts_with('|') {
                columns = None;
                continue;
            }
            let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
            let place = |name: &str| cells.iter().position(|cell| *cell == name);
            match (place("file"), place("type"), columns) {
                (Some(file), Some(kind), _) => columns = Some((file, kind)),
                (_, _, Some((file, kind))) => {
                    if let (Some(file), Some(kind)) = (cells.get(file), cells.get(kind)) {
                        labels.insert((*file).to_owned(), (*kind).to_owned());
                    }
                }
                _ => {}
            }
        }
        Self(labels)
    }

    /// The label of a file.
    pub fn of(&self, file: &str) -> Option<&str> {
        self.0.get(file).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_from_the_table_with_both_columns() {
        let table =
            "| other | type |\n|---|---|\n| a | b |\n\n| file | n | type |\n|---|---|---|\n| x/y.json | 3 | code |\n";
        let labels = Labels::parse(table);
        assert_eq!(labels.of("x/y.json"), Some("code"));
        assert_eq!(labels.of("a"), None);
    }
}
