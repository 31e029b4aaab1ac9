//! Methods against each other on recorded sessions.

use serde_json::Value;

use crate::place::{Place, example};

/// The shipped example, cut in two; the baselines' figures change only with the metrics.
const BASELINES: &str = "eval session.jsonl --methods baseline:newest --budgets 0.4 --min-tokens 0 --min-calls 1 \
                         --min-needed 1 --compare baseline:cleared,baseline:newest";

fn place() -> Place {
    Place::with("session.jsonl", example("session.jsonl"))
}

#[test]
fn a_session_is_measured() {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"(\.\d{3}) +\d+\n", "$1  ms\n");
    settings.add_filter(r"unchanged +ms", "unchanged  ms");
    let _filters = settings.bind_to_scope();
    insta::assert_snapshot!(place().run(BASELINES).all(), @r"
    exit 0
    ----- stdout
    1 case from 1 session read; macro averages, micro in brackets. Upper bounds on what a model will remember, not accuracies.

    budget 0.4
      method                      bound          FRR  quotes  files  rules  kept  usable  over  invalid  failed  unchanged  ms
      baseline:newest       .600 (.600)  .600 (.600)    .800  1.000   .500  .370   100 %     0        0       0       .000  ms
      baseline:tail         .600 (.600)  .600 (.600)    .800  1.000   .500  .370   100 %     0        0       0       .000  ms
      baseline:cleared      .800 (.800)  .800 (.800)    .800  1.000  1.000  .376   100 %     0        0       0       .008  ms
      baseline:identifiers  .867 (.867)  .867 (.867)    .800  1.000  1.000  .394   100 %     0        0       0       .008  ms

    baseline:cleared − baseline:newest paired by session, 95 % interval
      budget          difference    from      to  sessions  more/less
      0.4     bound       +0.200  +0.200  +0.200         1        1/0
      0.4     FRR         +0.200  +0.200  +0.200         1        1/0
      0.4     quotes      +0.000  +0.000  +0.000         1        0/0
      0.4     files       +0.000  +0.000  +0.000         1        0/0
      0.4     rules       +0.500  +0.500  +0.500         1        1/0
    ");
}

#[test]
fn cases_are_written_and_not_measured_again() {
    let place = place();
    let lines = || -> Vec<Value> {
        let text = String::from_utf8(place.read("cases.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(place.run(&format!("{BASELINES} --jsonl cases.jsonl --html page.html -q")).code, 0);
    let first = lines();
    assert!(place.read("page.html").starts_with(b"<!doctype html>"));
    // What an interrupt leaves: some rows, the last one cut off. A row that is there is taken as it is.
    let mut left = first[1].clone();
    left["micros"] = 123_456_789.into();
    place.file("cases.jsonl", format!("{left}\n{{\"file\": \"sess"));
    assert_eq!(place.run(&format!("{BASELINES} --jsonl cases.jsonl --resume -q")).code, 0);
    let second = lines();
    assert_eq!(second[1], left);
    assert_eq!(second.len(), first.len());
    let key = |row: &Value| (row["method"].clone(), row["bound_frr"].clone(), row["tokens"].clone());
    assert_eq!(first.iter().map(key).collect::<Vec<_>>(), second.iter().map(key).collect::<Vec<_>>());
}

#[test]
fn what_is_wrong_is_told() {
    let place = place();
    let told = |arguments: &str| place.run(&format!("eval session.jsonl {arguments}")).all();
    assert!(told("--methods nonsense").contains("nonsense"), "{}", told("--methods nonsense"));
    assert!(told("--methods baseline:x").contains("there are newest, tail, cleared, identifiers"));
    assert!(told("--min-tokens 90m").contains("none of 1 session fits"), "{}", told("--min-tokens 90m"));
    assert!(told("--compare default").contains("takes two methods"));
    assert!(told("--compare default,other").contains("`other` is not measured"));
    assert_eq!(place.run("eval nowhere").code, 2);
}
