//! The report as one page: no script, nothing fetched from elsewhere, charts drawn as SVG, readable in light and dark.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::runner::{Row, Run};
use crate::summary::{Difference, Metric, Summary, summaries};

/// Marks of the methods in charts: shapes tell them apart where colours do not.
const SHAPES: [&str; 6] = ["circle", "square", "diamond", "triangle", "cross", "ring"];
/// Most points of a scatter that are drawn.
const MOST_POINTS: usize = 2_000;

/// The page for a run: tables, charts and definitions. `differences` are shown as they are; the first of them names the
/// two methods of the scatter. Linear in the rows.
pub fn report(run: &Run, differences: &[Difference]) -> String {
    let summaries = summaries(&run.rows);
    let mut methods: Vec<&str> = Vec::new();
    for summary in &summaries {
        if !methods.contains(&summary.method.as_str()) {
            methods.push(&summary.method);
        }
    }
    let main = main_metric(&summaries);
    let mut page = String::from(HEAD);
    let _ = write!(
        page,
        "<h1>Compaction measured on recorded sessions</h1><p>{} cases from {} sessions. A survival figure is an upper \
         bound on what a model will remember, never an accuracy.</p>",
        run.cases, run.sessions
    );
    page.push_str(&legend(&methods));
    section(&mut page, &format!("{} against tokens kept", name(main)), main, &retention(&summaries, &methods, main));
    page.push_str(&tables(&summaries));
    section(&mut page, "By kind of task", main, &by_task(&run.rows, &methods, main));
    if let Some(first) = differences.first() {
        let title = format!("{} against {}, session by session", first.method, first.baseline);
        section(&mut page, &title, main, &scatter(&run.rows, &first.method, &first.baseline, main));
    }
    page.push_str(&difference_table(differences));
    page.push_str("<h2>Time</h2>");
    page.push_str(&details(TIME));
    page.push_str(&times(&summaries, &methods));
    page.push_str("<h2>What each figure means</h2>");
    for metric in Metric::ALL {
        let _ = write!(page, "<details><summary>{}</summary><p>{}</p></details>", name(metric), definition(metric));
    }
    page.push_str("</main></body></html>\n");
    page
}

/// The first metric that there is anything of.
fn main_metric(summaries: &[Summary]) -> Metric {
    let has = |metric: &Metric| summaries.iter().any(|summary| summary.average(*metric).cases > 0);
    let evidence = Some(Metric::Evidence).filter(has);
    evidence.or_else(|| Metric::ALL.into_iter().find(has)).unwrap_or(Metric::BoundFrr)
}

fn name(metric: Metric) -> &'static str {
    match metric {
        Metric::BoundFrr => "Bound future-reference recall",
        Metric::Frr => "Future-reference recall",
        Metric::Quotes => "Exact quotes",
        Metric::Files => "Files",
        Metric::Rules => "Standing instructions",
        Metric::Evidence => "Evidence recall",
        Metric::Answers => "Answers",
    }
}

fn definition(metric: Metric) -> &'static str {
    match metric {
        Metric::BoundFrr => {
            "As future-reference recall, but the string must survive with its binding: of the up to three words on each \
             side of one of its original occurrences, at least two stand within 120 characters of it in the result."
        }
        Metric::Frr => {
            "Needed are the exact strings (paths, file names, identifiers, ids and numbers, URLs, quoted strings) in the \
             arguments of later tool calls that occur before the cut, are not in the system prompt, and that nothing shows \
             again between the cut and their first use. The share of them still present in the result."
        }
        Metric::Quotes => {
            "Lines of 12 or more characters that later edits must match, verbatim before the cut: the share that still is."
        }
        Metric::Files => "Files written or edited before the cut: the share that the result still names.",
        Metric::Rules => {
            "Sentences of what the user typed with must, never, always, do not, only, make sure, or their Chinese \
             counterparts: the share still verbatim."
        }
        Metric::Evidence => {
            "Turns of a chat that hold the answers to questions: the share still verbatim in the result."
        }
        Metric::Answers => "Answers that the chat holds word for word: the share that the result still holds.",
    }
}

const TIME: &str = "Mean time of one compaction: counting, planning and applying. Cases run in parallel, so it is an upper \
                    bound; compare methods within one run only.";

fn details(text: &str) -> String {
    format!("<details><summary>How this is measured</summary><p>{}</p></details>", escaped(text))
}

fn section(page: &mut String, title: &str, metric: Metric, body: &str) {
    let _ = write!(page, "<h2>{}</h2>{}{body}", escaped(title), details(definition(metric)));
}

/// A text as HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            char => out.push(char),
        }
    }
    out
}

fn class(methods: &[&str], method: &str) -> usize {
    methods.iter().position(|known| *known == method).unwrap_or(0) % SHAPES.len()
}

/// A mark of a method's shape at a point, with what it says on hovering.
fn mark(number: usize, x: f64, y: f64, title: &str) -> String {
    let shape = match SHAPES[number] {
        "square" => format!("<rect x='{:.1}' y='{:.1}' width='8' height='8'", x - 4.0, y - 4.0),
        "diamond" => format!("<path d='M{x:.1} {:.1}l5 5l-5 5l-5-5z'", y - 5.0),
        "triangle" => format!("<path d='M{x:.1} {:.1}l5 9h-10z'", y - 5.0),
        "cross" => format!("<path class='line' d='M{:.1} {:.1}l8 8m0-8l-8 8'", x - 4.0, y - 4.0),
        "ring" => format!("<circle fill='none' class='line' cx='{x:.1}' cy='{y:.1}' r='4'"),
        _ => format!("<circle cx='{x:.1}' cy='{y:.1}' r='4.5'"),
    };
    format!("<g class='m{number}'>{shape}><title>{}</title></{}></g>", escaped(title), tag(SHAPES[number]))
}

fn tag(shape: &str) -> &'static str {
    match shape {
        "square" => "rect",
        "diamond" | "triangle" | "cross" => "path",
        _ => "circle",
    }
}

fn legend(methods: &[&str]) -> String {
    let items: String = methods
        .iter()
        .map(|method| {
            let shape = mark(class(methods, method), 7.0, 7.0, method);
            format!("<li><svg width='14' height='14' aria-hidden='true'>{shape}</svg> {}</li>", escaped(method))
        })
        .collect();
    format!("<ul class='legend'>{items}</ul>")
}

/// The plot's frame: axes from 0 to 1 with their names.
fn frame(x_name: &str, y_name: &str, body: &str) -> String {
    let mut grid = String::new();
    for step in 0..=5 {
        let share = f64::from(step) / 5.0;
        let (x, y) = (place_x(share), place_y(share));
        let _ = write!(
            grid,
            "<path class='grid' d='M{x:.0} 20V300M60 {y:.0}H560'/><text x='{x:.0}' y='318' text-anchor='middle'>{share:.1}</text>\
             <text x='52' y='{:.0}' text-anchor='end'>{share:.1}</text>",
            y + 4.0
        );
    }
    format!(
        "<svg class='chart' viewBox='0 0 580 345' role='img' aria-label='{y} against {x}'>{grid}{body}\
         <text x='310' y='338' text-anchor='middle'>{x}</text>\
         <text transform='translate(16 160) rotate(-90)' text-anchor='middle'>{y}</text></svg>",
        x = escaped(x_name),
        y = escaped(y_name)
    )
}

fn place_x(share: f64) -> f64 {
    60.0 + 500.0 * share.clamp(0.0, 1.0)
}

fn place_y(share: f64) -> f64 {
    300.0 - 280.0 * share.clamp(0.0, 1.0)
}

fn retention(summaries: &[Summary], methods: &[&str], metric: Metric) -> String {
    let mut body = String::new();
    for method in methods {
        let number = class(methods, method);
        let mut points: Vec<(f64, f64, &Summary)> = summaries
            .iter()
            .filter(|summary| summary.method == *method)
            .filter_map(|summary| Some((summary.kept_share, summary.average(metric).macro_average?, summary)))
            .collect();
        points.sort_by(|left, right| left.0.total_cmp(&right.0));
        let path: Vec<String> =
            points.iter().map(|(x, y, _)| format!("{:.1} {:.1}", place_x(*x), place_y(*y))).collect();
        if !path.is_empty() {
            let _ = write!(body, "<path class='line m{number}' d='M{}'/>", path.join("L"));
        }
        for (x, y, summary) in points {
            let title = format!("{method} at {}: {y:.3} with {x:.3} of the tokens", summary.budget);
            body.push_str(&mark(number, place_x(x), place_y(y), &title));
        }
    }
    frame("share of tokens kept", name(metric), &body)
}

fn scatter(rows: &[Row], ours: &str, theirs: &str, metric: Metric) -> String {
    let mut pairs: BTreeMap<(&crate::CaseId, &str), [Option<f64>; 2]> = BTreeMap::new();
    for row in rows {
        let side = usize::from(row.method == theirs);
        if row.method == ours || row.method == theirs {
            pairs.entry((&row.case, &row.budget)).or_default()[side] = metric.of(row).share();
        }
    }
    let mut body = String::from("<path class='grid' d='M60 300L560 20'/>");
    let budgets: Vec<&str> = {
        let mut budgets: Vec<&str> = Vec::new();
        rows.iter().for_each(|row| {
            if !budgets.contains(&row.budget.as_str()) {
                budgets.push(&row.budget)
            }
        });
        budgets
    };
    for ((case, budget), pair) in pairs.iter().take(MOST_POINTS) {
        let [Some(ours), Some(theirs)] = pair else { continue };
        let title = format!("{} {} at {budget}: {ours:.2} against {theirs:.2}", case.file, case.session);
        body.push_str(&mark(class(&budgets, budget), place_x(*theirs), place_y(*ours), &title));
    }
    let budgets_said = budgets.iter().map(|budget| format!("budget {budget}")).collect::<Vec<_>>();
    let said: Vec<&str> = budgets_said.iter().map(String::as_str).collect();
    format!("{}{}", legend(&said), frame(theirs, ours, &body))
}

fn by_task(rows: &[Row], methods: &[&str], metric: Metric) -> String {
    let mut tasks: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    rows.iter().for_each(|row| tasks.entry(&row.task).or_default().push(row));
    let mut body = String::new();
    let mut y = 0.0;
    for (task, rows) in &tasks {
        let _ = write!(body, "<text x='0' y='{:.0}' class='strong'>{}</text>", y + 14.0, escaped(task));
        y += 20.0;
        let rows: Vec<Row> = rows.iter().copied().cloned().collect();
        for summary in summaries(&rows) {
            let average = summary.average(metric);
            let Some(share) = average.macro_average else { continue };
            let _ = write!(
                body,
                "<text x='190' y='{:.0}' text-anchor='end'>{} {}</text><rect class='m{}' x='200' y='{:.0}' width='{:.1}' \
                 height='11'/><text x='{:.1}' y='{:.0}'>{share:.2} ({} cases)</text>",
                y + 10.0,
                escaped(&summary.method),
                escaped(&summary.budget),
                class(methods, &summary.method),
                y + 1.0,
                300.0 * share,
                206.0 + 300.0 * share,
                y + 10.0,
                average.cases
            );
            y += 14.0;
        }
        y += 10.0;
    }
    format!("<svg class='chart' viewBox='0 0 620 {y:.0}' role='img' aria-label='by kind of task'>{body}</svg>")
}

fn times(summaries: &[Summary], methods: &[&str]) -> String {
    let most = summaries.iter().map(|summary| summary.milliseconds).fold(1e-9, f64::max);
    let mut body = String::new();
    for (row, summary) in summaries.iter().enumerate() {
        let (y, width) = (row as f64 * 14.0, 300.0 * summary.milliseconds / most);
        let _ = write!(
            body,
            "<text x='190' y='{:.0}' text-anchor='end'>{} {}</text><rect class='m{}' x='200' y='{:.0}' width='{width:.1}' \
             height='11'/><text x='{:.1}' y='{:.0}'>{:.1} ms</text>",
            y + 10.0,
            escaped(&summary.method),
            escaped(&summary.budget),
            class(methods, &summary.method),
            y + 1.0,
            206.0 + width,
            y + 10.0,
            summary.milliseconds
        );
    }
    let height = summaries.len() as f64 * 14.0 + 4.0;
    format!(
        "<svg class='chart' viewBox='0 0 620 {height:.0}' role='img' aria-label='time of a compaction'>{body}</svg>"
    )
}

fn figure(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{share:.3}"))
}

fn tables(summaries: &[Summary]) -> String {
    let has = |metric: &Metric| summaries.iter().any(|summary| summary.average(*metric).cases > 0);
    let metrics: Vec<Metric> = Metric::ALL.into_iter().filter(has).collect();
    let mut out = String::from("<h2>Figures</h2><p>Macro averages over cases, micro averages in brackets.</p>");
    for group in summaries.chunk_by(|left, right| left.budget == right.budget) {
        let Some(first) = group.first() else { continue };
        let _ = write!(out, "<table><caption>budget {}</caption><tr><th>method</th>", escaped(&first.budget));
        metrics.iter().for_each(|metric| out.push_str(&format!("<th>{}</th>", metric.as_str())));
        out.push_str(
            "<th>kept</th><th>usable</th><th>over</th><th>invalid</th><th>system changed</th><th>failed</th>\
                      <th>unchanged</th><th>cache loss</th><th>ms</th></tr>",
        );
        for row in group {
            let _ = write!(out, "<tr><td>{}</td>", escaped(&row.method));
            for metric in &metrics {
                let average = row.average(*metric);
                let (own, micro) = (figure(average.macro_average), figure(average.micro_average));
                let _ = write!(out, "<td>{own} <small>({micro})</small></td>");
            }
            let _ = write!(
                out,
                "<td>{:.3}</td><td>{} of {}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.3}</td><td>{:.0}</td>\
                 <td>{:.1}</td></tr>",
                row.kept_share,
                row.usable,
                row.cases,
                row.over_budget,
                row.invalid,
                row.system_changed,
                row.failed,
                row.unchanged_share,
                row.cache_loss_tokens,
                row.milliseconds
            );
        }
        out.push_str("</table>");
    }
    out
}

fn difference_table(differences: &[Difference]) -> String {
    if differences.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<h2>Paired differences</h2><details><summary>How this is measured</summary><p>The mean over sessions of what the \
         method keeps more than the other at the same budget, with a 95 % interval from 2,000 resamples of the \
         sessions.</p></details><table><tr><th>method</th><th>against</th><th>budget</th><th>figure</th><th>difference</th>\
         <th>from</th><th>to</th><th>sessions</th><th>more</th><th>less</th></tr>",
    );
    for it in differences {
        let sure = if it.low > 0.0 || it.high < 0.0 { " class='strong'" } else { "" };
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td{sure}>{:+.3}</td><td>{:+.3}</td><td>{:+.3}</td><td>{}</td>\
             <td>{}</td><td>{}</td></tr>",
            escaped(&it.method),
            escaped(&it.baseline),
            escaped(&it.budget),
            it.metric.as_str(),
            it.mean,
            it.low,
            it.high,
            it.sessions,
            it.wins,
            it.losses
        );
    }
    out.push_str("</table>");
    out
}

const HEAD: &str = "<!doctype html>
<html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>
<title>Compaction measured</title><style>
:root{color-scheme:light dark;--ink:#1c1d20;--faint:#6a6d75;--line:#d5d7dc;--paper:#fff;
--c0:#0b62c4;--c1:#c2410c;--c2:#15803d;--c3:#9333a8;--c4:#a16207;--c5:#475569}
@media (prefers-color-scheme:dark){:root{--ink:#e6e7ea;--faint:#9a9da6;--line:#3a3d44;--paper:#17181b;
--c0:#6cb2ff;--c1:#fb9a63;--c2:#5fd48a;--c3:#d69aea;--c4:#e3c05a;--c5:#a9b4c4}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0}
main{max-width:64rem;margin:0 auto;padding:1.5rem}
table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}
caption{text-align:left;font-weight:600}th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--line)}
th{color:var(--faint);font-weight:500}th:first-child,td:first-child{text-align:left}small,summary{color:var(--faint)}
summary{cursor:pointer}.strong{font-weight:600}.chart{width:100%;max-width:48rem;display:block;margin:.5rem 0}
.chart text{font-size:11px;fill:var(--ink)}.grid{stroke:var(--line);fill:none}.line{fill:none;stroke-width:1.6}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem}.legend svg{vertical-align:-2px}
.m0{fill:var(--c0);stroke:var(--c0)}.m1{fill:var(--c1);stroke:var(--c1)}.m2{fill:var(--c2);stroke:var(--c2)}
.m3{fill:var(--c3);stroke:var(--c3)}.m4{fill:var(--c4);stroke:var(--c4)}.m5{fill:var(--c5);stroke:var(--c5)}
path.line{fill:none}
@media print{body{font-size:11px}details[open]>summary{display:none}h2{break-after:avoid}table,svg{break-inside:avoid}}
</style></head><body><main>
";
