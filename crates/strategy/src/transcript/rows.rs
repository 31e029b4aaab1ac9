//! The lines of a record.

use super::LEFT_OUT;
use super::write::write_rows;
use crate::levels;

/// Lines of one speaker or tool, with the places of omissions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    pub(super) rows: Vec<Row>,
    /// Whether lines behind the last one were left out.
    pub(super) gap_behind: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) text: String,
    /// Whether lines in front of it were left out.
    pub(super) gap_before: bool,
}

impl Rows {
    /// Adds a line, or each line of a text whose lines end otherwise than in line feeds; `gap_before` says whether lines in
    /// front were left out. The form's own marks of omission at the ends of a line are read as such, and one of marks only,
    /// or an empty one, is not added.
    pub fn push(&mut self, text: &str, gap_before: bool) {
        if !text.contains(levels::is_line_end) {
            return self.push_line(text, gap_before);
        }
        for (number, line) in levels::lines(text).enumerate() {
            self.push_line(line, gap_before && number == 0);
        }
    }

    fn push_line(&mut self, text: &str, gap_before: bool) {
        let gap_before = gap_before || std::mem::take(&mut self.gap_behind);
        let behind = text.strip_suffix(LEFT_OUT).and_then(|text| text.strip_suffix(' '));
        let marked = behind.unwrap_or(text);
        let mut inner = marked;
        while let Some(rest) = inner.strip_prefix(LEFT_OUT).and_then(|text| text.strip_prefix(' ')) {
            inner = rest;
        }
        let is_marked = inner.len() < marked.len();
        if inner == LEFT_OUT || inner.is_empty() {
            self.gap_behind = gap_before || is_marked || marked.len() < text.len() || inner == LEFT_OUT;
            return;
        }
        self.rows.push(Row { text: inner.to_owned(), gap_before: gap_before || is_marked });
        self.gap_behind = behind.is_some();
    }

    /// Records that lines behind the last one were left out.
    pub fn leave_out(&mut self) {
        self.gap_behind = true;
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the lines, each with whether others in front of it were left out.
    pub fn iter(&self) -> impl Iterator<Item = (&str, bool)> {
        self.rows.iter().map(|row| (row.text.as_str(), row.gap_before))
    }

    /// Returns the lines as they stand in the form, with the marks of omissions, without those of the speaker. Linear.
    pub fn text(&self) -> String {
        let mut text = String::new();
        write_rows(&mut text, self, "", "", false);
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    /// Whether lines behind the last one were left out.
    pub fn has_gap_behind(&self) -> bool {
        self.gap_behind
    }
}
