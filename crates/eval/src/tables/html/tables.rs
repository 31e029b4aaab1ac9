//! Tables of the page.

use std::fmt::Write as _;

use super::{escape_html, link};
use crate::tables::groups::Group;
use crate::tables::sheet::{Sheet, Verdict};

/// The figures of a group, a table for each family of metrics.
pub(super) fn figures(group: &Group) -> String {
    group.figures(true).iter().map(table).collect()
}

/// Returns the paired differences of a group, a table for each method that is compared with others.
pub(super) fn differences(group: &Group) -> String {
    group.against().iter().map(table).collect()
}

/// A table as it is, its differences coloured.
pub(super) fn table(sheet: &Sheet) -> String {
    let mut out = String::new();
    out.push_str("<div class='rows' tabindex='0'><table><thead><tr>");
    for (column, heading) in sheet.headings.iter().enumerate() {
        let said = match sheet.terms(column).as_slice() {
            [] => escape_html(heading),
            [term] => link(term, heading),
            several => several.iter().map(|term| link(term, &term.short)).collect::<Vec<_>>().join(" / "),
        };
        let class = if column < 2 { " class='left'" } else { "" };
        let _ = write!(out, "<th{class}>{said}</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for row in &sheet.rows {
        out.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let class = match (column, cell.verdict) {
                (0 | 1, _) => " class='left'",
                (_, Verdict::More) => " class='more'",
                (_, Verdict::Less) => " class='less'",
                (_, Verdict::Open) => "",
            };
            let _ = write!(out, "<td{class}>{}</td>", escape_html(&cell.text));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    out
}
