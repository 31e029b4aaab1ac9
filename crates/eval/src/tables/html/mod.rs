//! The report as one page: no script, nothing fetched from elsewhere, charts drawn as SVG, readable in light and dark and
//! on paper.

mod charts;
mod tables;

use std::fmt::Write as _;

use crate::cases::left_out::{LeftOut, left_out_counts};
use crate::cases::text::distinct;
use crate::figures::metric::Metric;
use crate::run::outcome::Run;
use crate::tables::answer::{Answer, answers};
use crate::tables::groups::{Group, Grouping, groups, main_metric};
use crate::tables::terms::{AVERAGES, BenchSheet, DIFFERENCE, LegendLine, Term, legend, term, terms};

/// Returns the page for a run: tables, charts and definitions. The differences are those of `pairs` of methods, the
/// first of which is the scatter's; intervals are under `seed`. Linear in the rows.
pub fn report(run: &Run, pairs: &[(String, String)], seed: u64) -> String {
    report_below(&[], run, pairs, seed)
}

/// Returns the page for a run below other tables.
pub(crate) fn report_below(sheets: &[BenchSheet], run: &Run, pairs: &[(String, String)], seed: u64) -> String {
    let all = Group::new("all", &run.rows, pairs, seed);
    let methods = distinct(all.summaries.iter().map(|summary| summary.method.as_str()));
    let main = main_metric(&run.rows);
    let figure = term(main.as_str());
    let marks = charts::legend(&methods);
    let mut page = format!(
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'>\
         <title>Compaction measured</title><style>\n{}</style></head><body><main>\n",
        include_str!("page.css")
    );
    let _ = write!(
        page,
        "<h1>Compaction measured on recorded sessions</h1>{}<p>{} cases of {} sessions, {} read.</p>{}<p class='notice'>A \
         survival figure is an upper bound on what a model will remember, never an accuracy. Names with dots under them lead to \
         their definition; marks say their figures when the pointer rests on them.</p>",
        sentences(&answers(&run.rows, pairs, seed)),
        run.cases,
        run.measured(),
        run.sessions,
        left_out(run)
    );
    for BenchSheet { name, sheet, legend } in sheets {
        heading(&mut page, &escape_html(name));
        page.push_str(&tables::table(sheet));
        page.push_str(&columns(legend));
    }
    heading(&mut page, &format!("{} against tokens kept", link(figure, &figure.name)));
    let _ = write!(page, "{marks}{}", charts::retention(&all.summaries, &methods, main, &figure.name));
    heading(&mut page, "Figures");
    let averages = term(AVERAGES);
    let _ = write!(page, "<p class='faint'>{}</p>{}", link(averages, &averages.name), tables::figures(&all));
    page.push_str(&columns(&legend(&all.figures(true), !pairs.is_empty())));
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

/// Returns the answers: the first, and the others folded away.
fn sentences(answers: &[Answer]) -> String {
    let sentence = |it: &Answer| format!("<p class='answer'>{}</p>", escape_html(&it.sentence));
    let Some((first, others)) = answers.split_first() else { return String::new() };
    let others: String = others.iter().map(sentence).collect();
    match others.is_empty() {
        true => sentence(first),
        false => format!("{}<details><summary>Other comparisons</summary>{others}</details>", sentence(first)),
    }
}

/// Returns the legend of a table.
fn columns(lines: &[LegendLine]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let line = |line: &LegendLine| {
        format!("<dt>{}</dt><dd>{} {}</dd>", escape_html(&line.name), line.better.arrow(), escape_html(&line.said))
    };
    let lines: String = lines.iter().map(line).collect();
    format!("<dl class='columns'>{lines}</dl><p class='faint'>↑ higher is better, ↓ lower is better.</p>")
}

/// Returns what was left out and why, with the names.
fn left_out(run: &Run) -> String {
    if run.left_out.is_empty() {
        return String::new();
    }
    let mut counts = String::new();
    for (whole, what) in [(true, ""), (false, " (a cut or a budget of a measured session)")] {
        for (reason, count) in left_out_counts(&run.left_out, whole) {
            let _ = write!(counts, "<li>{count}: {}{what}</li>", reason.words());
        }
    }
    let name = |it: &LeftOut| {
        let detail = if it.detail.is_empty() { String::new() } else { format!(": {}", escape_html(&it.detail)) };
        format!("<li>{}: {}{detail}</li>", escape_html(&it.name()), it.reason.words())
    };
    let names: String = run.left_out.iter().map(name).collect();
    format!("<p>Left out:</p><ul>{counts}</ul><details><summary>Names</summary><ul>{names}</ul></details>")
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
