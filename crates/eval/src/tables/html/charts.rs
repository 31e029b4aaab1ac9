//! Charts as SVG: points and lines in a frame.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::escape_html;
use crate::cases::case::CaseId;
use crate::cases::text::distinct;
use crate::figures::metric::Metric;
use crate::figures::row::Row;
use crate::figures::summary::Summary;

/// Marks in charts: shapes distinguish methods where colours do not.
const SHAPES: [&str; 6] = ["circle", "square", "diamond", "triangle", "cross", "ring"];
/// Colours in `page.css`. Shapes and colours together distinguish 24 methods.
const COLOURS: usize = 8;
/// The most points of a scatter.
const MOST_POINTS: usize = 2_000;

/// Returns the number of a method's mark: its place in a list.
fn number(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or(0)
}

/// Returns a mark at a point, with its text on hovering.
fn mark(number: usize, x: f64, y: f64, title: &str) -> String {
    let shape = SHAPES[number % SHAPES.len()];
    let (tag, drawn) = match shape {
        "square" => ("rect", format!("x='{:.1}' y='{:.1}' width='8' height='8'", x - 4.0, y - 4.0)),
        "diamond" => ("path", format!("d='M{x:.1} {:.1}l5 5l-5 5l-5-5z'", y - 5.0)),
        "triangle" => ("path", format!("d='M{x:.1} {:.1}l5 9h-10z'", y - 5.0)),
        "cross" => ("path", format!("class='line' d='M{:.1} {:.1}l8 8m0-8l-8 8'", x - 4.0, y - 4.0)),
        "ring" => ("circle", format!("class='line' cx='{x:.1}' cy='{y:.1}' r='4'")),
        _ => ("circle", format!("cx='{x:.1}' cy='{y:.1}' r='4.5'")),
    };
    let colour = number % COLOURS;
    format!("<g class='m{colour}'><{tag} {drawn}><title>{}</title></{tag}></g>", escape_html(title))
}

/// Returns the marks of `names` with the names.
pub(super) fn legend(names: &[&str]) -> String {
    let item = |(number, name): (usize, &&str)| {
        let shape = mark(number, 7.0, 7.0, name);
        format!("<li><svg width='14' height='14' aria-hidden='true'>{shape}</svg> {}</li>", escape_html(name))
    };
    format!("<ul class='legend'>{}</ul>", names.iter().enumerate().map(item).collect::<String>())
}

/// A plot of shares: up to 1 upwards, up to `most` to the right.
struct Frame {
    most: f64,
}

impl Frame {
    fn x(&self, share: f64) -> f64 {
        60.0 + 560.0 * (share / self.most).clamp(0.0, 1.0)
    }

    fn y(&self, share: f64) -> f64 {
        300.0 - 280.0 * share.clamp(0.0, 1.0)
    }

    fn drawn(&self, x_name: &str, y_name: &str, body: &str) -> String {
        let mut grid = String::new();
        for step in 0..=5 {
            let share = f64::from(step) / 5.0;
            let (x, y) = (self.x(share * self.most), self.y(share));
            let _ = write!(
                grid,
                "<path class='grid' d='M{x:.0} 20V300M60 {y:.0}H620'/><text class='faint' x='{x:.0}' y='317' \
                 text-anchor='middle'>{:.0} %</text><text class='faint' x='52' y='{:.0}' text-anchor='end'>{:.0} %</text>",
                100.0 * share * self.most,
                y + 4.0,
                100.0 * share
            );
        }
        format!(
            "<div class='scroll'><svg class='chart plot' viewBox='0 0 640 345' role='img' aria-label='{y} against {x}'>{grid}\
             {body}<text x='340' y='339' text-anchor='middle'>{x}</text><text transform='translate(14 160) rotate(-90)' \
             text-anchor='middle'>{y}</text></svg></div>",
            x = escape_html(x_name),
            y = escape_html(y_name)
        )
    }
}

/// What each method keeps against the tokens that it keeps, a line over the budgets.
pub(super) fn retention(summaries: &[Summary], methods: &[&str], metric: Metric, y_name: &str) -> String {
    let widest = summaries.iter().map(|summary| summary.kept_share).fold(0.0, f64::max);
    let frame = Frame { most: ((widest * 10.0 + 0.3).ceil() / 10.0).clamp(0.2, 1.0) };
    let (mut lines, mut marks) = (String::new(), String::new());
    for method in methods {
        let number = number(methods, method);
        let mut points: Vec<(f64, f64, &Summary)> = summaries
            .iter()
            .filter(|summary| summary.method == *method)
            .filter_map(|summary| Some((summary.kept_share, summary.average(metric).macro_average?, summary)))
            .collect();
        points.sort_by(|left, right| left.0.total_cmp(&right.0));
        let path: Vec<String> =
            points.iter().map(|(x, y, _)| format!("{:.1} {:.1}", frame.x(*x), frame.y(*y))).collect();
        if !path.is_empty() {
            let _ = write!(lines, "<path class='line m{}' d='M{}'/>", number % COLOURS, path.join("L"));
        }
        for (x, y, summary) in points {
            let title = format!("{method} at {}: {y:.3} with {x:.3} of the tokens", summary.budget);
            marks.push_str(&mark(number, frame.x(x), frame.y(y), &title));
        }
    }
    frame.drawn("share of tokens kept", y_name, &(lines + &marks))
}

/// One method against another, a point for each case at each budget.
pub(super) fn scatter(rows: &[Row], ours: &str, theirs: &str, metric: Metric) -> String {
    let of_both: Vec<&Row> = rows.iter().filter(|row| row.method == ours || row.method == theirs).collect();
    let budgets = distinct(of_both.iter().map(|row| row.budget.as_str()));
    let mut pairs: BTreeMap<(&CaseId, &str), [Option<f64>; 2]> = BTreeMap::new();
    for row in of_both {
        pairs.entry((&row.case, &row.budget)).or_default()[usize::from(row.method == theirs)] =
            metric.count(row).share();
    }
    let frame = Frame { most: 1.0 };
    let mut body = String::from("<path class='even' d='M60 300L620 20'/><g class='points'>");
    for ((case, budget), pair) in pairs.iter().take(MOST_POINTS) {
        let [Some(ours), Some(theirs)] = pair else { continue };
        let title = format!("{} {} at {budget}: {ours:.2} against {theirs:.2}", case.file, case.session);
        body.push_str(&mark(number(&budgets, budget), frame.x(*theirs), frame.y(*ours), &title));
    }
    body.push_str("</g>");
    let said: Vec<String> = budgets.iter().map(|budget| format!("budget {budget}")).collect();
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    format!("{}{}", legend(&said), frame.drawn(theirs, ours, &body))
}
