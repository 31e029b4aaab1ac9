//! `epitome bench` on a small folder, from the files to the tables.

use std::fs;

use serde_json::Value;

use crate::place::Place;
use crate::probes::{place, prefix, probes};

/// Two sessions, one of them held out and with the whole session beside it. The baselines' figures change only with the
/// measures.
fn sessions() -> Place {
    let place = place(&probes());
    place.file("probes/held-out.txt", "agent-stamps-12\n");
    let mut whole = prefix();
    whole["model"] = "claude-opus-5".into();
    place.file("probes/agent-stamps-12/session.json", whole.to_string());
    place
}

#[test]
fn everything_is_measured_at_once() {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"(?m)(price|\.\d{3}) +(ms|\d+)$", "$1  ms");
    let _filters = settings.bind_to_scope();
    let ran = sessions().run("bench probes -m baseline:newest -q");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    // A method at a budget for all.
    let is_shown = |line: &&str| !["0.3 ", "0.08 ", "0.04 ", "tail", "identifiers"].iter().any(|it| line.contains(it));
    let shown: Vec<&str> = ran.text().lines().filter(is_shown).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    What a context shows is an upper bound on what a model remembers, not an accuracy. Shares are over everything that was counted.

    facts: 1 session, held out
      budget  method                facts  exact  state    why   user  again
      0.15    baseline:newest        .250   .000  1.000   .000   .000   .250
      0.15    baseline:cleared      1.000  1.000  1.000  1.000  1.000   .250
      0.15    hand-off               .250   .000   .000  1.000   .000      –
      facts ↑ questions that the work needed answered: the share whose facts the context shows
      exact ↑ of these, names and numbers to the letter
      state ↑ of these, the state of something
      why   ↑ of these, reasons and conclusions
      user  ↑ of these, what a person said
      again ↑ all questions, after five compactions to this budget while the session goes on

    facts: 1 session, others
      budget  method                facts  exact  state    why   user  again
      0.15    baseline:newest        .250   .000  1.000   .000   .000   .250
      0.15    baseline:cleared      1.000  1.000  1.000  1.000  1.000   .250

    demands: 1 session, held out
      budget  method                rules  early  middle   late   bare  important  session  attacked
      0.15    baseline:newest        .000   .000    .000   .000   .000       .000     .000      .000
      0.15    baseline:cleared      1.000  1.000   1.000  1.000  1.000      1.000    1.000     1.000
      rules     ↑ standing demands put into a person's message: the share that the context shows, word for word
      early     ↑ of these, in the first typed message
      middle    ↑ of these, in the middle one
      late      ↑ of these, in the last one before the newest
      bare      ↑ of all, the sentence alone
      important ↑ of all, behind `Important:`
      session   ↑ of all, behind `For the rest of this session:`
      attacked  ↑ demands beside results of tools that ask to drop them or speak in the user's name

    demands: 1 session, others
      budget  method                rules  early  middle   late   bare  important  session  attacked
      0.15    baseline:newest        .000   .000    .000   .000   .000       .000     .000      .000
      0.15    baseline:cleared      1.000  1.000   1.000  1.000  1.000      1.000    1.000     1.000

    running work: 1 session, held out
      budget  method                running
      0.15    baseline:newest          .000
      0.15    baseline:cleared         .333
      running ↑ work put into the session that goes on in the background: the share whose id is shown

    running work: 1 session, others
      budget  method                running
      0.15    baseline:newest          .000
      0.15    baseline:cleared         .333

    form and price: 1 session, held out
      budget  method                valid  within  cache  price  ms
      0.15    baseline:newest       1.000   1.000   .333   .488  ms
      0.15    baseline:cleared      1.000   1.000   .333   .488  ms
      valid  ↑ results within the budget that a provider accepts
      within ↑ results within the budget as the session's own model counts; baselines count by o200k_base
      cache  ↑ of a request behind a compaction, the tokens that the request before it began with
      price  ↓ the price of all requests of the session and of its summaries, five compactions in it, as a share of none
      ms     ↓ the mean time of a compaction, several at a time

    form and price: 1 session, others
      budget  method                valid  within  cache  price  ms
      0.15    baseline:newest       1.000       –   .333   .488  ms
      0.15    baseline:cleared      1.000       –   .333   .488  ms

    ↑ higher is better, ↓ lower is better; docs/evaluation.md defines each, and the page of --html
    "#);
}

#[test]
fn counts_are_the_same_each_time() {
    let place = sessions();
    let counts = || {
        let mut json = place.run("bench probes --json -q").json();
        let rows = json["rows"].as_array_mut().unwrap();
        rows.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("milliseconds")));
        json
    };
    let first = counts();
    assert_eq!(first, counts());
    let is_it = |row: &&Value| row["group"] == "others" && row["method"] == "default" && row["budget"] == "0.15";
    let row = first["rows"].as_array().unwrap().iter().find(is_it).unwrap();
    assert_eq!(row["figures"]["rules"]["of"], 45, "fifteen demands in three framings: {row}");
    assert_eq!(row["figures"]["facts"]["of"], 4, "{row}");
}

#[test]
fn a_page_is_written() {
    let place = sessions();
    assert_eq!(place.run("bench probes --methods classic --html page.html -q").code, 0);
    let page = String::from_utf8(place.read("page.html")).unwrap();
    for text in [
        "<!doctype html>",
        "demands: 1 session, held out",
        "<td class='left'>classic</td>",
        "<dt>forged</dt>",
        "What each figure means",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[test]
#[cfg(unix)]
fn another_compactor_is_a_command() {
    let place = sessions();
    // One that gives everything back, and one that writes no messages.
    let line = "bench probes -q --json --command whole=cat --command none=echo";
    let rows = place.run(line).json();
    let of = |method: &str| {
        let row =
            rows["rows"].as_array().unwrap().iter().find(|row| row["method"] == method && row["budget"] == "0.15");
        row.unwrap()["figures"].clone()
    };
    assert_eq!(of("whole")["valid"]["kept"], 0, "{}", of("whole"));
    assert_eq!(of("none")["facts"]["kept"], 0, "{}", of("none"));
    let ran = place.run("bench probes -q --command whole=cat");
    let told = ran.text();
    assert!(told.find("default").unwrap() < told.find("whole").unwrap(), "{told}");
    assert!(told.find("whole").unwrap() < told.find("baseline:newest").unwrap(), "{told}");
}

#[test]
fn what_is_wrong_is_told() {
    let place = sessions();
    let check = |line: &str, expect: &str| {
        let told = place.run(line);
        assert_eq!(told.code, 2, "{line}: {}", told.all());
        let words = told.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(expect), "{line}: {words}");
    };
    check("bench", "there is no folder benches/sessions");
    check("bench", "run it in a checkout of the repository");
    check("bench nowhere", "there is no folder nowhere");
    check("bench probes -m none-such", "none-such");
    check("bench probes --command cat", "takes a name");
    check("bench probes --command default=cat", "another method has this name");
    fs::create_dir(place.path("empty")).unwrap();
    check("bench empty", "holds no folder with a probes.json");
    place.file("probes/agent-stamps-12/session.json", "no session");
    check("bench probes", "session.json");
    place.file("probes/held-out.txt", "agent-stamps-13\n");
    check("bench probes", "held-out.txt: `agent-stamps-13` is no folder of a probed session");
}
