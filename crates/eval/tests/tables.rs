//! Averages, paired differences and the report, from rows written by hand.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use epitome_eval::{CaseId, Kept, Metric, Row, Run, Scores, differences, report, summaries};

fn row(session: &str, method: &str, kept: u32, of: u32) -> Row {
    let frr = Kept { kept, of };
    let scores = Scores { frr, bound_frr: frr, tokens: 40, system_intact: true, ..Scores::default() };
    Row {
        case: CaseId { file: "<file>".into(), session: session.into(), cut_permille: 500, part: None },
        format: "test".into(),
        task: "code".into(),
        prefix_tokens: 100,
        future_calls: 5,
        method: method.into(),
        budget: "0.4".into(),
        budget_tokens: 40,
        scores,
        problem: None,
        micros: 1_000,
    }
}

#[test]
fn averages_both_ways() {
    let failed = Row { problem: Some("it failed".into()), scores: Scores::default(), ..row("c", "ours", 0, 0) };
    let rows = [row("a", "ours", 1, 2), row("b", "ours", 9, 10), failed];
    let [summary] = &summaries(&rows)[..] else { panic!("one group") };
    let average = summary.average(Metric::BoundFrr);
    assert!((average.macro_average.unwrap() - 0.7).abs() < 1e-9);
    assert!((average.micro_average.unwrap() - 10.0 / 12.0).abs() < 1e-9);
    assert_eq!((average.cases, summary.cases, summary.usable, summary.failed), (2, 3, 2, 1));
    assert_eq!(summary.average(Metric::Quotes).macro_average, None, "there was nothing to quote");
    assert!((summary.kept_share - 0.4).abs() < 1e-9);
}

#[test]
fn differences_are_paired_and_repeatable() {
    let mut rows = Vec::new();
    for (number, (ours, theirs)) in [(8, 4), (6, 5), (9, 9), (3, 5), (10, 2)].into_iter().enumerate() {
        rows.push(row(&number.to_string(), "ours", ours, 10));
        rows.push(row(&number.to_string(), "theirs", theirs, 10));
    }
    rows.push(row("only ours", "ours", 10, 10));
    let found = differences(&rows, "ours", "theirs", 7);
    let bound = &found[0];
    assert_eq!((bound.metric, bound.sessions, bound.wins, bound.losses), (Metric::BoundFrr, 5, 3, 1));
    assert!((bound.mean - 0.22).abs() < 1e-9);
    assert!(bound.low < bound.mean && bound.mean < bound.high, "{bound:?}");
    assert_eq!(found, differences(&rows, "ours", "theirs", 7), "the same seed gives the same interval");
    assert_ne!(found, differences(&rows, "ours", "theirs", 8));
    let same: Vec<Row> = rows.iter().map(|row| Row { method: "same".into(), ..row.clone() }).collect();
    let none = differences(&[rows, same].concat(), "theirs", "theirs", 7);
    assert_eq!((none[0].low, none[0].high), (0.0, 0.0));
}

#[test]
fn the_report_is_one_page_that_fetches_nothing() {
    let rows = vec![row("a", "ours", 1, 2), row("a", "theirs", 2, 2)];
    let found = differences(&rows, "ours", "theirs", 1);
    let page = report(&Run { rows, cases: 1, sessions: 1, skipped: Vec::new() }, &found);
    for part in ["<svg", "prefers-color-scheme:dark", "@media print", "<details>", "&lt;file&gt;", "upper bound"] {
        assert!(page.contains(part), "{part}");
    }
    for part in ["<script", "http:", "https:", "src=", "@import", "url(", "<file>", "NaN"] {
        assert!(!page.contains(part), "{part}");
    }
}
