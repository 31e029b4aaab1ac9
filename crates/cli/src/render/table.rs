//! Tables: aligned columns, the last of the wide ones cut to the width.

use crate::render::style::{FAINT, PLAIN, Style};
use crate::render::text::{clip, columns};

/// Columns between two columns.
const GAP: usize = 2;

/// Columns in front of each row.
const INDENT: usize = 2;

/// A cell: text without style codes, and its style.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), style: PLAIN }
    }
}

impl Cell {
    /// A cell in a style.
    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// The layout of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Words.
    Left,
    /// Figures.
    Right,
    /// Words that are cut when the row is too wide.
    Flexible,
}

/// A table in the making.
#[derive(Debug)]
pub(crate) struct Table {
    setting: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with headings; an empty list of headings gives none.
    pub(crate) fn new(setting: &[Column], headings: &[&str]) -> Self {
        let heading: Vec<Cell> = headings.iter().map(|heading| Cell::styled(*heading, FAINT)).collect();
        Self { setting: setting.to_vec(), rows: if heading.is_empty() { Vec::new() } else { vec![heading] } }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table in at most `width` columns.
    pub(crate) fn render(&self, width: usize) -> String {
        let mut widths: Vec<usize> = vec![0; self.setting.len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(&cell.text));
            }
        }
        self.fit(&mut widths, width);
        let mut out = String::new();
        for row in &self.rows {
            let mut line = " ".repeat(INDENT);
            let mut pending = 0; // blanks owed: none at the end of a line
            for (index, cell) in row.iter().enumerate() {
                let (Some(width), Some(column)) = (widths.get(index), self.setting.get(index)) else { continue };
                let text = clip(&cell.text, *width);
                let blank = width.saturating_sub(columns(&text));
                let (before, after) = if *column == Column::Right { (blank, 0) } else { (0, blank) };
                if !text.is_empty() {
                    let style = cell.style;
                    line.push_str(&" ".repeat(pending + before));
                    line.push_str(&format!("{style}{text}{style:#}"));
                    pending = after;
                } else {
                    pending += width;
                }
                pending += GAP;
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    /// Takes the excess width from the flexible columns, the widest first, and from other words where that is not enough.
    /// Figures stay whole.
    fn fit(&self, widths: &mut [usize], width: usize) {
        const LEAST: usize = 1;
        let gaps = INDENT + GAP * widths.len().saturating_sub(1);
        let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
        while excess > 0 {
            let widest_of = |kind: Column| {
                let gives = |index: &usize| self.setting[*index] == kind && widths[*index] > LEAST;
                (0..widths.len()).filter(gives).max_by_key(|index| widths[*index])
            };
            let Some(widest) = widest_of(Column::Flexible).or_else(|| widest_of(Column::Left)) else { return };
            widths[widest] -= 1;
            excess -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_cut() {
        let mut table = Table::new(&[Column::Left, Column::Right, Column::Flexible], &[]);
        table.row(["中文".into(), "1".into(), "a long explanation".into()]);
        table.row(["ascii".into(), "1,000".into(), Cell::from("")]);
        assert_eq!(table.render(29), "  中文       1  a long expla…\n  ascii  1,000\n");
        assert_eq!(table.render(16), "  中文      1  …\n  asc…  1,000\n", "words give way, figures do not");
    }
}
