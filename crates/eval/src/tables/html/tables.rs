//! Tables of the page.

use std::fmt::Write as _;

use super::terms::term;
use super::{button, escape_html};
use crate::figures::metric::Metric;
use crate::figures::summary::Summary;
use crate::tables::groups::Group;
use crate::tables::sheet::{Sheet, Verdict, figure, measured_metrics};

/// The ids of the columns behind the metrics.
pub(super) const COLUMNS: [&str; 9] =
    ["kept", "usable", "over", "invalid", "system", "failed", "unchanged", "cache-loss", "ms"];

/// A table of figures for each budget of a group.
pub(super) fn figures(group: &Group) -> String {
    let metrics = measured_metrics(&group.summaries);
    let budgets = group.summaries.chunk_by(|left, right| left.budget == right.budget);
    budgets.map(|rows| at_budget(rows, &metrics)).collect()
}

fn at_budget(rows: &[Summary], metrics: &[Metric]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let columns = metrics.iter().map(|metric| metric.as_str()).chain(COLUMNS).map(term);
    let headings: String = columns.map(|term| format!("<th>{}</th>", button(term, &term.short))).collect();
    let mut out = format!(
        "<div class='scroll'><table><caption>budget {}</caption><thead><tr><th class='left'>method</th>{headings}</tr>\
         </thead><tbody>",
        escape_html(&first.budget)
    );
    for row in rows {
        let _ = write!(out, "<tr><td class='name'>{}</td>", escape_html(&row.method));
        for metric in metrics {
            let average = row.average(*metric);
            let _ = match average.macro_average {
                None => write!(out, "<td>–</td>"),
                mean => write!(
                    out,
                    "<td>{} ({})<small>[{}, {}]</small></td>",
                    figure(mean),
                    figure(average.micro_average),
                    figure(average.low),
                    figure(average.high)
                ),
            };
        }
        let bad = if row.usable < row.cases { " class='bad'" } else { "" };
        let _ = write!(out, "<td>{}</td><td{bad}>{} of {}</td>", figure(Some(row.kept_share)), row.usable, row.cases);
        for count in [row.over_budget, row.invalid, row.system_changed, row.failed] {
            let bad = if count > 0 { " class='bad'" } else { "" };
            let _ = write!(out, "<td{bad}>{count}</td>");
        }
        let _ = write!(
            out,
            "<td>{}</td><td>{:.0}</td><td>{:.1}</td></tr>",
            figure(Some(row.unchanged_share)),
            row.cache_loss_tokens,
            row.milliseconds
        );
    }
    out.push_str("</tbody></table></div>");
    out
}

/// Returns the paired differences of a group, a table for each method that is compared with others.
pub(super) fn differences(group: &Group) -> String {
    group.against().iter().map(table).collect()
}

/// A table as it is, its differences coloured.
fn table(sheet: &Sheet) -> String {
    let mut out = String::new();
    out.push_str("<div class='scroll'><table><thead><tr>");
    for (column, heading) in sheet.headings.iter().enumerate() {
        let metric = column.checked_sub(2).and_then(|place| sheet.metrics.get(place));
        let said = metric.map_or_else(|| escape_html(heading), |metric| button(term(metric.as_str()), heading));
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
