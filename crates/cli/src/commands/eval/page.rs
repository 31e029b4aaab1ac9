//! The output of `epitome eval` on a terminal.

use std::fmt::Write as _;

use epitome_eval::{Difference, Filter, Group, Sheet, Verdict, accounts_sheet, legend};

use super::output::EvalOutput;
use crate::commands::measure::{ARROWS, left_out_lines, legend_lines};
use crate::render::style::{BAD, FAINT, GOOD, STRONG};
use crate::render::table::{Cell, Column, Table};
use crate::render::text::{number, plural, width};

/// Columns that the figures of a table take with readable names beside them.
const FIGURES: usize = 220;

pub(super) fn page(printed: &EvalOutput<'_>, all: &Group, filter: &Filter, with_names: bool) -> String {
    let mut text = String::new();
    for answer in printed.answers {
        let _ = writeln!(text, "{STRONG}{}{STRONG:#}", answer.sentence);
    }
    let sessions = plural(printed.sessions_measured, "session");
    let read = number(printed.sessions_read as u64);
    let _ = writeln!(
        text,
        "{} of {sessions}, {read} read. {FAINT}Upper bounds on what a model will remember, not accuracies.{FAINT:#}",
        plural(printed.cases, "case")
    );
    text.push_str(&left_out_lines(printed.left_out, filter, with_names));
    let sheets = all.figures(false);
    for figures in &sheets {
        text.push('\n');
        text.push_str(&sheet(figures));
    }
    for difference in printed.differences.chunk_by(|a, b| (&a.method, &a.baseline) == (&b.method, &b.baseline)) {
        text.push_str(&differing(difference));
    }
    text.push('\n');
    text.push_str(&legend_lines(&legend(&sheets, !printed.differences.is_empty())));
    let _ = writeln!(text, "  {FAINT}{ARROWS}{FAINT:#}");
    if let Some(table) = accounts_sheet(printed.accounts) {
        let _ = write!(text, "\n{STRONG}{}{STRONG:#}\n{}", table.name, sheet(&table.sheet));
        text.push_str(&legend_lines(&table.legend));
    }
    for group in &printed.groups {
        text.push_str(&group_tables(group));
    }
    text
}

/// The tables of a group: means with 95 % intervals, then differences.
fn group_tables(group: &Group) -> String {
    let asked = match group.questions {
        0 => String::new(),
        questions => format!(", {}", plural(questions as usize, "question")),
    };
    let mut text = format!(
        "\n{STRONG}{}{STRONG:#} {FAINT}{}{asked}, macro averages (micro in brackets) with 95 % intervals over {}{FAINT:#}\n",
        group.name,
        plural(group.cases() as usize, "case"),
        plural(group.sessions() as usize, "session"),
    );
    for (number, figures) in group.figures(true).iter().chain(&group.against()).enumerate() {
        if number > 0 {
            text.push('\n');
        }
        text.push_str(&sheet(figures));
    }
    text
}

/// The table in the columns of the terminal, or in those that its figures take.
pub(crate) fn sheet(sheet: &Sheet) -> String {
    let mut setting = vec![Column::Left, Column::Flexible];
    setting.resize(sheet.headings.len(), Column::Right);
    let mut table = Table::new(&setting, &sheet.headings.iter().map(String::as_str).collect::<Vec<_>>());
    for row in &sheet.rows {
        table.row(row.iter().map(|cell| match cell.verdict {
            Verdict::Open => Cell::from(cell.text.clone()),
            Verdict::More => Cell::styled(cell.text.clone(), GOOD),
            Verdict::Less => Cell::styled(cell.text.clone(), BAD),
        }));
    }
    table.render(width().max(FIGURES))
}

fn differing(differences: &[Difference]) -> String {
    let Some(first) = differences.first() else { return String::new() };
    let mut text = format!(
        "\n{STRONG}{} − {}{STRONG:#} {FAINT}paired by session, 95 % interval{FAINT:#}\n",
        first.method, first.baseline
    );
    let setting =
        [Column::Left, Column::Left, Column::Right, Column::Right, Column::Right, Column::Right, Column::Right];
    let mut table = Table::new(&setting, &["budget", "", "difference", "from", "to", "sessions", "more/less"]);
    for difference in differences {
        let style = match difference.verdict() {
            Verdict::More => GOOD,
            Verdict::Less => BAD,
            Verdict::Open => FAINT,
        };
        table.row([
            difference.budget.clone().into(),
            difference.metric.as_str().into(),
            Cell::styled(format!("{:+.3}", difference.mean), style),
            format!("{:+.3}", difference.low).into(),
            format!("{:+.3}", difference.high).into(),
            difference.sessions.to_string().into(),
            format!("{}/{}", difference.wins, difference.losses).into(),
        ]);
    }
    text.push_str(&table.render(width()));
    text
}
