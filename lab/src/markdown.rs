//! The tables of a run in Markdown, ready to stand in a document.

use std::fmt::Write as _;

use epitome_eval::{Group, Sheet, SheetCell, Verdict};

/// The tables of each group: averages with intervals, then the differences, bold where five sessions or more have an
/// interval that does not hold zero.
pub fn markdown(groups: &[Group]) -> String {
    let mut out = String::new();
    for group in groups {
        if !out.is_empty() {
            out.push('\n');
        }
        let (cases, sessions) = (group.cases(), group.sessions());
        let of = if cases == sessions { String::new() } else { format!("{cases} cases of ") };
        let s = |count: u32| if count == 1 { "" } else { "s" };
        let asked = match group.questions {
            0 => String::new(),
            questions => format!(", {questions} question{}", s(questions)),
        };
        let _ = writeln!(out, "#### {}: {of}{sessions} session{}{asked}\n", group.name, s(sessions));
        for (number, sheet) in group.figures(true).iter().chain(&group.against()).enumerate() {
            if number > 0 {
                out.push('\n');
            }
            table(&mut out, sheet);
        }
    }
    out
}

fn table(out: &mut String, sheet: &Sheet) {
    let headings: Vec<String> = sheet.headings.iter().map(|heading| plain(heading)).collect();
    let _ =
        writeln!(out, "| {} |\n|---|---|{}", headings.join(" | "), "---:|".repeat(headings.len().saturating_sub(2)));
    for row in &sheet.rows {
        let cells: Vec<String> = row.iter().enumerate().map(|(column, cell)| cell_markdown(column, cell)).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
}

fn cell_markdown(column: usize, cell: &SheetCell) -> String {
    match (column, cell.verdict) {
        (1, _) => format!("`{}`", plain(&cell.text).replace('`', "'")),
        (_, Verdict::Open) => plain(&cell.text),
        (_, Verdict::More | Verdict::Less) => format!("**{}**", plain(&cell.text)),
    }
}

/// A text that neither ends its cell nor its row.
fn plain(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
