//! Averages, paired differences and the report, from rows written by hand.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use epitome_eval::{
    Better, CaseId, Group, Grouping, KeptCount, Metric, Row, Run, Scores, Sheet, SheetCell, Verdict, answers,
    differences, groups, legend, report, summaries,
};

fn row(session: &str, method: &str, kept: u32, of: u32) -> Row {
    let frr = KeptCount { kept, of };
    let scores = Scores { frr, bound_frr: frr, tokens: 40, system_intact: true, ..Scores::default() };
    Row {
        case: CaseId { file: "<file>".into(), session: session.into(), cut_permille: 500, part: None },
        format: "test".into(),
        task: "code".into(),
        repository: None,
        prefix_tokens: 100,
        future_calls: 5,
        method: method.into(),
        budget: "0.4".into(),
        budget_tokens: 40,
        scores,
        problem: None,
        summaries: epitome::session::SummaryUsage::default(),
        micros: 1_000,
    }
}

#[test]
fn averages_both_ways() {
    let failed = Row { problem: Some("it failed".into()), scores: Scores::default(), ..row("c", "ours", 0, 0) };
    let rows = [row("a", "ours", 1, 2), row("b", "ours", 9, 10), failed];
    let [summary] = &summaries(&rows, 7)[..] else { panic!("one group") };
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
fn the_answer_is_one_sentence() {
    fn check(why: &str, sessions: usize, figures: &[(u32, u32)], expect: &str) {
        let rows: Vec<Row> = (0..sessions)
            .flat_map(|number| {
                let (ours, theirs) = figures[number % figures.len()];
                let session = number.to_string();
                let larger = |row: Row| Row { scores: Scores { tokens: 42, ..row.scores }, ..row };
                [larger(row(&session, "ours", ours, 10)), row(&session, "theirs", theirs, 10)]
            })
            .collect();
        let found = answers(&rows, &pair(), 7);
        assert_eq!(found[0].sentence, expect, "{why}");
    }
    check(
        "more",
        6,
        &[(6, 4)],
        "ours keeps more of the strings that later calls needed than theirs at the same budgets: +.200 (+.200 to +.200) on \
         6 sessions; it leaves 5 % more tokens.",
    );
    check(
        "less: the other one is named",
        6,
        &[(4, 6)],
        "theirs keeps more of the strings that later calls needed than ours at the same budgets: +.200 (+.200 to +.200) on \
         6 sessions; it leaves 5 % fewer tokens.",
    );
    check(
        "now the one, now the other",
        6,
        &[(4, 6), (6, 4)],
        "No difference is shown between ours and theirs in the strings that later calls needed at the same budgets: +.000 \
         (−.133 to +.133) on 6 sessions; ours leaves 5 % more tokens.",
    );
    check(
        "too few",
        4,
        &[(6, 4)],
        "4 sessions of 5 at least: too few to tell ours from theirs in the strings that later calls needed; so far +.200.",
    );
    assert_eq!(answers(&[row("a", "ours", 1, 2)], &pair(), 7), [], "nothing to compare with");
}

#[test]
fn each_column_has_a_line_in_the_legend() {
    let group = Group::new("all", &[row("a", "ours", 1, 2)], &[], 1);
    let lines = legend(&group.figures(false), true);
    let of = |name: &str| lines.iter().find(|line| line.name == name).map(|line| line.better);
    for name in ["bound", "FRR", "usable", "unchanged"] {
        assert_eq!(of(name), Some(Better::More), "{name}");
    }
    for name in ["over", "invalid", "system", "failed", "cache loss", "ms"] {
        assert_eq!(of(name), Some(Better::Less), "{name}");
    }
    for name in ["budget", "kept", "numbers", "difference"] {
        assert_eq!(of(name), Some(Better::Neither), "{name}");
    }
    assert_eq!(lines.len(), 14, "each once: {lines:?}");
}

#[test]
fn the_report_is_one_page_that_fetches_nothing() {
    let rows = vec![row("a", "ours", 1, 2), row("a", "theirs", 2, 2)];
    let run = Run { rows, cases: 1, sessions: 1, ..Run::default() };
    let page = report(&run, &[("ours".into(), "theirs".into())], 1);
    for part in [
        "<svg",
        "prefers-color-scheme: dark",
        "@media print",
        "class='answer'",
        "dl class='columns'",
        "position: sticky",
        "href='#d-bound'",
        "id='d-bound'",
        "<details>",
        "&lt;file&gt;",
        "upper bound",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for part in ["<script", "http:", "https:", "src=", "@import", "url(", "<file>", "NaN"] {
        assert!(!page.contains(part), "{part}");
    }
}

fn pair() -> Vec<(String, String)> {
    vec![("ours".to_owned(), "theirs".to_owned())]
}

/// The tables of groups as lines; a cell that says something is bold.
fn tables(groups: &[Group]) -> String {
    let cells = |row: &[SheetCell]| {
        let cell = |cell: &SheetCell| match cell.verdict {
            Verdict::Open => cell.text.clone(),
            Verdict::More | Verdict::Less => format!("**{}**", cell.text),
        };
        row.iter().map(cell).collect::<Vec<_>>().join(" | ")
    };
    let mut lines = Vec::new();
    for group in groups {
        lines.push(format!("{}: {} of {}", group.name, group.cases(), group.sessions()));
        for sheet in group.figures(true).iter().chain(&group.against()) {
            lines.push(sheet.headings.join(" | "));
            lines.extend(sheet.rows.iter().map(|row| cells(row)));
        }
    }
    lines.join("\n")
}

/// A row of a kind of task at a budget, with a figure for quotes only where it has files to quote from.
fn of_kind(kind: &str, session: &str, method: &str, budget: &str, kept: u32) -> Row {
    let mut row = Row { task: kind.into(), budget: budget.into(), ..row(session, method, kept, 4) };
    if kind == "code" {
        row.scores.quotes = KeptCount { kept: 1, of: 1 };
    }
    row
}

#[test]
fn tables_by_kind() {
    // Of four strings: code keeps 4, 2 | 2, 2 against 1, 1 | 1, 1; analysis keeps 0 against 2, over its budget.
    let mut rows = vec![
        of_kind("code", "a", "ours", "0.4", 4),
        of_kind("code", "a", "theirs", "0.4", 1),
        of_kind("code", "a", "ours", "0.2", 2),
        of_kind("code", "a", "theirs", "0.2", 1),
        of_kind("code", "b", "ours", "0.4", 2),
        of_kind("code", "b", "theirs", "0.4", 1),
        of_kind("code", "b", "ours", "0.2", 2),
        of_kind("code", "b", "theirs", "0.2", 1),
        of_kind("analysis", "c", "ours", "0.4", 0),
        of_kind("analysis", "c", "theirs", "0.4", 2),
    ];
    rows[8].scores.over_budget = true;
    let found = groups(&rows, Grouping::Kind, &pair(), 1);
    let names: Vec<&str> = found.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["analysis", "code"]);
    assert_eq!((found[0].cases(), found[1].cases(), found[1].sessions()), (1, 2, 2));
    // Two sessions with 1.0 and 0.5: resamples are 0.5, 0.75 and 1.0, so the interval is from the one to the other. The
    // differences to 0.25 and 0.25 are 0.75 and 0.25; at 0.2 all are 0.25.
    let expect = "\
        analysis: 1 of 1
        budget | method | bound (1) | FRR (1) | kept | usable | over / invalid / system / failed | unchanged | cache loss | ms
        0.4 | ours | .000 (.000) [.000, .000] | .000 (.000) [.000, .000] | .400 | 0 of 1 | 1 / 0 / 0 / 0 | .000 | 0 | 1
        0.4 | theirs | .500 (.500) [.500, .500] | .500 (.500) [.500, .500] | .400 | 1 of 1 | 0 / 0 / 0 / 0 | .000 | 0 | 1
        budget | ours less … | bound (1) | FRR (1)
        0.4 | theirs | −.500 [−.500, −.500] | −.500 [−.500, −.500]
        code: 2 of 2
        budget | method | bound (2) | FRR (2) | quotes (2) | kept | usable | over / invalid / system / failed | unchanged | cache loss | ms
        0.4 | ours | .750 (.750) [.500, 1.000] | .750 (.750) [.500, 1.000] | 1.000 (1.000) [1.000, 1.000] | .400 | 2 of 2 | 0 / 0 / 0 / 0 | .000 | 0 | 1
        0.4 | theirs | .250 (.250) [.250, .250] | .250 (.250) [.250, .250] | 1.000 (1.000) [1.000, 1.000] | .400 | 2 of 2 | 0 / 0 / 0 / 0 | .000 | 0 | 1
        0.2 | ours | .500 (.500) [.500, .500] | .500 (.500) [.500, .500] | 1.000 (1.000) [1.000, 1.000] | .400 | 2 of 2 | 0 / 0 / 0 / 0 | .000 | 0 | 1
        0.2 | theirs | .250 (.250) [.250, .250] | .250 (.250) [.250, .250] | 1.000 (1.000) [1.000, 1.000] | .400 | 2 of 2 | 0 / 0 / 0 / 0 | .000 | 0 | 1
        budget | ours less … | bound (2) | FRR (2) | quotes (2)
        0.4 | theirs | +.500 [+.250, +.750] | +.500 [+.250, +.750] | +.000 [+.000, +.000]
        0.2 | theirs | +.250 [+.250, +.250] | +.250 [+.250, +.250] | +.000 [+.000, +.000]";
    assert_eq!(tables(&found), expect.lines().map(str::trim).collect::<Vec<_>>().join("\n"));
    let by_format = groups(&rows, Grouping::Format, &pair(), 1);
    assert_eq!(by_format.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["test"]);
}

#[test]
fn intervals_are_over_sessions_not_cases() {
    // One session cut three times, and another one: a mean over the cases of whole sessions.
    let cut = |session: &str, permille: u32, kept: u32| {
        let mut row = row(session, "ours", kept, 4);
        row.case.cut_permille = permille;
        row
    };
    let rows = [cut("a", 300, 4), cut("a", 500, 4), cut("a", 700, 4), cut("b", 500, 0)];
    let group = Group::new("all", &rows, &[], 1);
    let average = group.summaries[0].average(Metric::BoundFrr);
    assert_eq!((group.cases(), group.sessions(), average.cases), (4, 2, 4));
    assert_eq!(average.macro_average, Some(0.75));
    assert_eq!((average.low, average.high), (Some(0.0), Some(1.0)), "either session may be drawn twice");
}

#[test]
fn differences_are_marked_from_five_sessions_on() {
    let text = |sessions: u32| {
        let rows: Vec<Row> = (0..sessions)
            .flat_map(|number| {
                [("ours", 3), ("theirs", 1)].map(|(method, kept)| row(&number.to_string(), method, kept, 4))
            })
            .collect();
        tables(&[Group::new("all", &rows, &pair(), 1)])
    };
    assert!(text(4).contains("| theirs | +.500 [+.500, +.500] |"), "{}", text(4));
    assert!(text(5).contains("| theirs | **+.500 [+.500, +.500]** |"), "{}", text(5));
}

#[test]
fn several_methods_against_one_are_one_table() {
    let rows = [row("a", "ours", 3, 4), row("a", "mine", 2, 4), row("a", "theirs", 1, 4)];
    let pairs = ["ours", "mine"].map(|method| (method.to_owned(), "theirs".to_owned()));
    let sheets = Group::new("all", &rows, &pairs, 1).against();
    let cells =
        |sheet: &Sheet| sheet.rows.iter().map(|row| [row[1].text.clone(), row[2].text.clone()]).collect::<Vec<_>>();
    assert_eq!(sheets.iter().map(|sheet| sheet.headings[1].as_str()).collect::<Vec<_>>(), ["… less theirs"]);
    let expect = [["ours", "+.500 [+.500, +.500]"], ["mine", "+.250 [+.250, +.250]"]];
    assert_eq!(cells(&sheets[0]), expect);
}
