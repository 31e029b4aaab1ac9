//! Kinds of task or repositories by file, from a table in Markdown.

use std::collections::HashMap;

/// A label of each file: the kind of task, or the repository.
#[derive(Debug, Clone, Default)]
pub struct Labels(HashMap<String, String>);

impl Labels {
    /// The kinds of task in a Markdown table that has a column `file` and a column `type`. Linear.
    pub fn parse(markdown: &str) -> Self {
        Self::parse_column(markdown, "type")
    }

    /// The labels in the column `name` of a Markdown table that has a column `file` too. Linear.
    pub fn parse_column(markdown: &str, name: &str) -> Self {
        let mut labels = HashMap::new();
        let mut columns: Option<(usize, usize)> = None;
        for line in markdown.lines() {
            if !line.trim_start().starts_with('|') {
                columns = None;
                continue;
            }
            let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
            let place = |wanted: &str| cells.iter().position(|cell| *cell == wanted);
            match (place("file"), place(name), columns) {
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The label of a file, by its name or the longest end of its path that has one. A run over a part of the labelled
    /// folder names files shorter than the table: then the only one of its paths that ends so counts.
    pub fn label(&self, file: &str) -> Option<&str> {
        let mut ends = std::iter::once(0).chain(file.match_indices('/').map(|(at, _)| at + 1));
        if let Some(kind) = ends.find_map(|at| self.0.get(&file[at..])) {
            return Some(kind);
        }
        let mut longer =
            self.0.iter().filter(|(name, _)| name.strip_suffix(file).is_some_and(|folders| folders.ends_with('/')));
        match (longer.next(), longer.next()) {
            (Some((_, kind)), None) => Some(kind),
            _ => None,
        }
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
        assert_eq!(labels.label("x/y.json"), Some("code"));
        assert_eq!(labels.label("a"), None);
    }

    #[test]
    fn files_are_found_from_folders_above_and_below() {
        let labels = Labels::parse(
            "| file | type |\n|---|---|\n| a/x.json | code |\n| b/y.json | mixed |\n| b/z.json | code |\n| a/z.json | mixed |\n",
        );
        let check = |file: &str, expect: Option<&str>| assert_eq!(labels.label(file), expect, "{file}");
        check("dev/a/x.json", Some("code"));
        check("x.json", Some("code"));
        check("y.json", Some("mixed"));
        check("z.json", None);
        check("ax.json", None);
        check("json", None);
        check("c/x.json", None);
    }
}
