//! The report as one page: no script, nothing fetched from elsewhere, charts drawn as SVG, readable in light and dark and
//! on paper.

mod charts;
mod tables;
mod terms;

use std::fmt::Write as _;

use crate::cases::text::distinct;
use crate::figures::metric::Metric;
use crate::figures::summary::Summary;
use crate::run::outcome::Run;
use crate::tables::groups::{Group, Grouping, groups};
use crate::tables::sheet::BenchSheet;
use terms::{Term, term, terms};

/// Ids of figures that no column has.
const AVERAGES: &str = "averages";
const DIFFERENCE: &str = "difference";

/// Returns the page for a run: tables, charts and definitions. The differences are those of `pairs` of methods, the
/// first of which is the scatter's; intervals are under `seed`. Linear in the rows.
pub fn report(run: &Run, pairs: &[(String, String)], seed: u64) -> String {
    report_below(&[], run, pairs, seed)
}

/// Returns the page for a run below other tables.
pub(crate) fn report_below(sheets: &[BenchSheet], run: &Run, pairs: &[(String, String)], seed: u64) -> String {
    let all = Group::new("all", &run.rows, pairs, seed);
    let methods = distinct(all.summaries.iter().map(|summary| summary.method.as_str()));
    let main = main_metric(&all.summaries);
    let figure = term(main.as_str());
    let legend = charts::legend(&methods);
    let mut page = format!(
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>\
         <title>Compaction measured</title><style>\n{}</style></head><body><main>\n",
        include_str!("page.css")
    );
    let _ = write!(
        page,
        "<h1>Compaction measured on recorded sessions</h1><p>{} cases from {} sessions read.</p><p class='notice'>A survival \
         figure is an upper bound on what a model will remember, never an accuracy. Names with dots under them lead to \
         their definition; marks say their figures when the pointer rests on them.</p>",
        run.cases, run.sessions
    );
    for BenchSheet { name, sheet, legend } in sheets {
        heading(&mut page, &escape_html(name));
        page.push_str(&tables::table(sheet));
        let said =
            |(name, said): &(&str, &str)| format!("<dt>{}</dt><dd>{}</dd>", escape_html(name), escape_html(said));
        let _ = write!(page, "<dl>{}</dl>", legend.iter().map(said).collect::<String>());
    }
    heading(&mut page, &format!("{} against tokens kept", link(figure, &figure.name)));
    let _ = write!(page, "{legend}{}", charts::retention(&all.summaries, &methods, main, &figure.name));
    heading(&mut page, "Figures");
    let averages = term(AVERAGES);
    let _ = write!(page, "<p class='faint'>{}</p>{}", link(averages, &averages.name), tables::figures(&all));
    heading(&mut page, &format!("{} by kind of task", link(figure, &figure.name)));
    for group in groups(&run.rows, Grouping::Kind, pairs, seed) {
        by_kind(&mut page, &group, &methods, main);
    }
    if let Some((ours, theirs)) = pairs.first() {
        heading(&mut page, &format!("{} against {}, case by case", escape_html(ours), escape_html(theirs)));
        let _ = write!(
            page,
            "<p class='faint'>{}. Above the broken line {} keeps more.</p>{}",
            link(figure, &figure.name),
            escape_html(ours),
            charts::scatter(&run.rows, ours, theirs, main)
        );
        let difference = term(DIFFERENCE);
        heading(&mut page, &format!("{}s", link(difference, &difference.name)));
        page.push_str(&tables::differences(&all));
    }
    definitions(&mut page);
    page.push_str("</main></body></html>\n");
    page
}

fn by_kind(page: &mut String, group: &Group, methods: &[&str], metric: Metric) {
    let cases = group.summaries.iter().map(|summary| summary.average(metric).cases).max().unwrap_or(0);
    let _ = write!(
        page,
        "<div class='kind'><h3>{} <small>{cases} cases</small></h3>{}</div><details><summary>All figures of {}</summary>\
         {}{}</details>",
        escape_html(&group.name),
        charts::retention(&group.summaries, methods, metric, &term(metric.as_str()).name),
        escape_html(&group.name),
        tables::figures(group),
        tables::differences(group)
    );
}

/// Returns every definition in a list.
fn definitions(page: &mut String) {
    heading(page, "What each figure means");
    page.push_str("<dl>");
    for term in terms() {
        let _ = write!(page, "<dt id='d-{}'>{}</dt><dd>{}</dd>", term.id, named(term), escape_html(&term.definition));
    }
    page.push_str("</dl>");
}

/// Returns a term's name, with the one in tables where that is another.
fn named(term: &Term) -> String {
    let short = term.short.to_lowercase();
    if term.name.to_lowercase().starts_with(&short) || term.name.to_lowercase().contains(&short) {
        escape_html(&term.name)
    } else {
        format!("{} <small>({})</small>", escape_html(&term.name), escape_html(&term.short))
    }
}

/// Returns the first metric with any figures; metrics of questions precede those of strings.
fn main_metric(summaries: &[Summary]) -> Metric {
    let has = |metric: &Metric| summaries.iter().any(|summary| summary.average(*metric).cases > 0);
    [Metric::Probes].into_iter().chain(Metric::ALL).find(has).unwrap_or(Metric::BoundFrr)
}

/// Returns a heading; `title` is HTML.
fn heading(page: &mut String, title: &str) {
    let _ = write!(page, "\n<h2>{title}</h2>");
}

/// Returns a word that leads to the definition of a term.
fn link(term: &Term, word: &str) -> String {
    format!("<a class='term' href='#d-{}'>{}</a>", term.id, escape_html(word))
}

/// Returns a text as HTML.
fn escape_html(text: &str) -> String {
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
