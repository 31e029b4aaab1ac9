//! Methods against each other on recorded sessions.

use std::fs;

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
    settings.add_filter(r"(0 / 0 / 0 / 0 +\.\d{3} +\d+) +\d+\n", "$1  ms\n");
    settings.add_filter(r"cache loss +ms", "cache loss  ms");
    let _filters = settings.bind_to_scope();
    insta::assert_snapshot!(place().run(BASELINES).all(), @r"
    exit 0
    ----- stdout
    1 session of 5 at least: too few to tell baseline:cleared from baseline:newest in the strings that later calls needed; so far +.200.
    1 case of 1 session, 1 read. Upper bounds on what a model will remember, not accuracies.

      budget  method                  bound (1)      FRR (1)   quotes (1)      files (1)      rules (1)     fill (1)  kept  usable  over / invalid / system / failed  unchanged  cache loss  ms
      0.4     baseline:newest       .600 (.600)  .600 (.600)  .800 (.800)  1.000 (1.000)    .500 (.500)  .925 (.925)  .370  1 of 1                     0 / 0 / 0 / 0       .000       39011  ms
      0.4     baseline:tail         .600 (.600)  .600 (.600)  .800 (.800)  1.000 (1.000)    .500 (.500)  .925 (.925)  .370  1 of 1                     0 / 0 / 0 / 0       .000       39011  ms
      0.4     baseline:cleared      .800 (.800)  .800 (.800)  .800 (.800)  1.000 (1.000)  1.000 (1.000)  .941 (.941)  .376  1 of 1                     0 / 0 / 0 / 0       .008       38692  ms
      0.4     baseline:identifiers  .867 (.867)  .867 (.867)  .800 (.800)  1.000 (1.000)  1.000 (1.000)  .985 (.985)  .394  1 of 1                     0 / 0 / 0 / 0       .008       38692  ms

    baseline:cleared − baseline:newest paired by session, 95 % interval
      budget          difference    from      to  sessions  more/less
      0.4     bound       +0.200  +0.200  +0.200         1        1/0
      0.4     FRR         +0.200  +0.200  +0.200         1        1/0
      0.4     quotes      +0.000  +0.000  +0.000         1        0/0
      0.4     files       +0.000  +0.000  +0.000         1        0/0
      0.4     rules       +0.500  +0.500  +0.500         1        1/0
      0.4     fill        +0.017  +0.017  +0.017         1        1/0

      budget       what a result may have: a share of the tokens before the cut, or so many tokens
      bound      ↑ needed strings that are left with words around them: paths, ids, numbers that later calls used
      FRR        ↑ the same strings, with or without the words around them
      quotes     ↑ lines that later edits must match, left to the letter
      files      ↑ files that were written before the cut and are still named
      rules      ↑ typed sentences with must, never, always …, left word for word
      fill       ↑ tokens of the result, of those that the budget allows
      kept         tokens of the result, as a share of those before the cut
      usable     ↑ results within the budget that a provider accepts, with the system prompt as it was
      over       ↓ results over the budget
      invalid    ↓ results that a provider refuses
      system     ↓ results with another system prompt
      failed     ↓ cases without a result
      unchanged  ↑ share of the tokens before the first change: what the prompt cache still serves
      cache loss ↓ tokens that were sent before and are sent anew
      ms         ↓ milliseconds of one compaction, several at a time
      numbers      a mean of cases, (all that was kept of all there was), [its 95 % interval]; behind a column's name its cases
      difference   the mean of the sessions' differences, and its 95 % interval; where that holds 0, none is shown
      ↑ higher is better, ↓ lower is better; docs/evaluation.md defines each, and the page of --html
    ");
}

#[test]
fn what_is_left_out_is_told() {
    let place = place();
    place.file("other.jsonl", example("session.jsonl"));
    place.file("notes.md", "# Notes");
    let turn = [("user", "Hello there"), ("assistant", "Good morning")]
        .map(|(role, text)| serde_json::json!({"role": role, "content": text}));
    let turns = [turn.clone(), turn].concat();
    let short = serde_json::json!({ "messages": turns }).to_string();
    place.file("short.json", short);
    let run = |how: &str| {
        let line = "eval session.jsonl other.jsonl notes.md short.json --methods baseline:newest --min-tokens 10k --min-calls 1 \
                    --min-needed 1 -q";
        place.run(&format!("{line} {how}"))
    };
    let told = run("--budgets 0.4,500k --only s*").text().to_owned();
    for line in [
        "1 case of 1 session, 3 read.",
        "1  no session can be read from it\n",
        "1  of another name (--only s*)\n",
        "1  too short (--min-tokens 10000)\n",
        "left out of sessions that are measured, with the option that decides it:\n     1  no compaction needed: within the \
         budget as it is (--budgets)\n",
        "--left-out names them",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(!told.contains("notes.md") && !told.contains("500000  "), "{told}");
    let named = run("--budgets 0.4,500k --only s* --left-out").text().to_owned();
    assert!(
        named.contains("        notes.md: ") && named.contains("session.jsonl, ") && named.contains("budget 500000")
    );
    let drawn = run("--budgets 0.4 --sample 1 --json").json();
    let reasons: Vec<&str> =
        drawn["left_out"].as_array().unwrap().iter().map(|it| it["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["unreadable", "few-tokens", "not-drawn"], "{drawn}");
    assert_eq!((&drawn["sessions_read"], &drawn["sessions_measured"]), (&3.into(), &1.into()));
    let none = run("--budgets 500k --left-out");
    let words = none.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(none.code, 2);
    assert!(
        words.contains("none of 3 sessions fits: 2 no compaction needed") && words.contains("other.jsonl"),
        "{words}"
    );
}

#[test]
fn several_methods_are_compared_with_the_first() {
    let place = place();
    let run = |how: &str| {
        let line =
            "eval session.jsonl --methods default,classic --budgets 0.4 --min-tokens 0 --min-calls 1 --min-needed 1 -q";
        place.run(&format!("{line} {how}")).text().to_owned()
    };
    let plain = run("");
    assert!(plain.starts_with("1 session of 5 at least: too few to tell classic from default in "), "{plain}");
    assert_eq!(plain.matches("paired by session").count(), 1, "{plain}");
    let by_kind = run("--by kind");
    for name in ["default", "classic"] {
        assert_eq!(by_kind.matches(&format!("{name} less …")).count(), 1, "{by_kind}");
    }
}

#[test]
fn figures_have_names_in_json() {
    let json = place().run(&format!("{BASELINES} --json -q")).json();
    let summary = &json["summaries"][0];
    assert_eq!((&summary["method"], &summary["usable_cases"]), (&"baseline:newest".into(), &1.into()), "{summary}");
    assert_eq!(summary["figures"]["bound_frr"]["macro_share"], 0.6, "{summary}");
    assert_eq!(
        (&summary["figures"]["probes"]["cases"], &summary["figures"]["probes"]["macro_share"]),
        (&0.into(), &Value::Null)
    );
    let answer = &json["answers"][0];
    assert_eq!(
        (&answer["metric"], &answer["budget"], &answer["verdict"]),
        (&"bound_frr".into(), &"all".into(), &"open".into())
    );
    assert_eq!(answer["mean_share"], json["differences"][0]["mean_share"], "one budget");
}

pub(crate) fn rows(place: &Place) -> Vec<Value> {
    let text = String::from_utf8(place.read("cases.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn cases_are_written() {
    let place = place();
    assert_eq!(place.run(&format!("{BASELINES} --jsonl cases.jsonl --html page.html -q")).code, 0);
    assert!(place.read("page.html").starts_with(b"<!doctype html>"));
    let methods: Vec<Value> = rows(&place).iter().map(|row| row["method"].clone()).collect();
    assert_eq!(methods, ["newest", "tail", "cleared", "identifiers"].map(|name| format!("baseline:{name}")));
}

#[test]
fn settings_are_set() {
    let place = place();
    let line = "eval session.jsonl --budgets 0.5 --min-tokens 0 --min-calls 1 --min-needed 1 --jsonl cases.jsonl -q \
                --compare default --methods default,set:select.mode=fixed+select.chain=code+transcript.tail_share=0.9";
    let ran = place.run(line);
    assert!(ran.text().starts_with("1 session of 5 at least: too few to tell set:"), "{}", ran.all());
    for other in ["tail_share=0.9", "baseline:newest", "baseline:identifiers"] {
        assert!(ran.text().contains(&format!("{other} − default paired")), "{}", ran.all());
    }
    assert_eq!(ran.text().matches("paired by session").count(), 5, "all others: {}", ran.all());
    let rows = rows(&place);
    assert!(rows[1]["method"].as_str().unwrap().starts_with("set:"));
    assert_eq!((&rows[0]["problem"], &rows[1]["problem"]), (&Value::Null, &Value::Null));
    assert_ne!(rows[0]["tokens"], rows[1]["tokens"], "a larger tail fills another room");
}

#[test]
#[cfg(unix)]
fn another_compactor_is_a_command() {
    let place = place();
    let line = "eval session.jsonl -b 0.5 --min-tokens 0 --min-calls 1 --min-needed 1 -q --jsonl cases.jsonl \
                --command whole=cat --command slow=yes>/dev/null --command-timeout 1";
    assert_eq!(place.run(line).code, 0);
    let rows = rows(&place);
    let of = |method: &str| rows.iter().find(|row| row["method"] == method).unwrap();
    assert_eq!(of("whole")["problem"], Value::Null, "{}", of("whole"));
    assert!(of("whole")["tokens"].as_u64() > of("default")["tokens"].as_u64(), "{}", of("whole"));
    assert_eq!(of("slow")["problem"], "it took more than 1 s");
}

#[test]
fn tables_by_kind_are_printed() {
    let place = place();
    let run = |how: &str| {
        let line = "eval session.jsonl --methods baseline:newest --budgets 0.4 --min-tokens 0 --min-calls 1 --min-needed 1 \
                    --compare baseline:cleared,baseline:newest";
        place.run(&format!("{line} {how}"))
    };
    let ran = run("--by kind --json").json();
    assert_eq!(ran["groups"][0]["name"], "code");
    assert_eq!(ran["groups"][0]["summaries"], ran["summaries"], "all cases are of one kind");
    assert_eq!(ran["groups"][0]["differences"], ran["differences"]);
    assert_eq!(run("--json").json().get("groups"), None);
    let text = run("--by kind").all();
    assert!(
        text.contains("code 1 case, macro averages (micro in brackets) with 95 % intervals over 1 session"),
        "{text}"
    );
    assert!(text.contains("baseline:cleared less …"), "{text}");
}

#[test]
fn what_is_wrong_is_told() {
    let place = place();
    let told = |arguments: &str| place.run(&format!("eval session.jsonl {arguments}")).all();
    assert!(told("--methods nonsense").contains("nonsense"), "{}", told("--methods nonsense"));
    assert!(told("--methods baseline:x").contains("`x` is not one of newest, tail, cleared, identifiers"));
    assert!(
        told("--methods set:budget").contains("set: `budget` is not KEY=VALUE"),
        "{}",
        told("--methods set:budget")
    );
    let unknown = told("--methods set:summary.nothing=1");
    assert!(unknown.contains("set: `summary.nothing=1` "), "{unknown}");
    assert_eq!(
        place
            .run("eval session.jsonl --methods set:summary.max_tokens=900+summary.tail_share=0.2 --min-tokens 0")
            .stderr,
        ""
    );
    assert!(told("--methods set:transcript.tail_share=much").contains("`tail_share` takes a number"));
    assert!(told("--min-tokens 90m").contains("none of 1 session fits"), "{}", told("--min-tokens 90m"));
    fs::create_dir(place.path("none")).unwrap();
    for line in ["eval none", "replay none"] {
        let nothing = place.run(line);
        assert!(nothing.code == 2 && nothing.stderr.contains("there is no session in none"), "{}", nothing.stderr);
    }
    assert!(told("--compare other").contains("--compare: `other` is not measured"));
    assert!(told("--compare default,other").contains("`other` is not measured"));
    assert_eq!(place.run("eval nowhere").code, 2);
    place.file("broken.toml", "[budget]\nwindow = \"much\"\n");
    let broken = told("--methods config:broken.toml");
    assert!(broken.contains("docs/configuration.md") && !broken.contains("epitome strategies"), "{broken}");
    let none = told("--only nothing --min-tokens 0");
    assert!(none.contains("lower --min-calls, --min-needed, or leave out --only, or name other files"), "{none}");
    assert!(told("--what recorded --budgets 0.3").contains("the budget is the size of each"));
}

#[test]
fn rows_and_other_files_are_not_lost() {
    let place = place();
    let eval = "eval session.jsonl --min-tokens 0 --min-calls 1 --min-needed 1 -q --methods";
    assert_eq!(place.run(&format!("{eval} default,classic --budgets 0.4 --cut 0.4,0.5 --jsonl cases.jsonl")).code, 0);
    let cuts: Vec<Value> = rows(&place).iter().map(|row| row["cut_permille"].clone()).collect();
    assert_eq!(cuts, [vec![400; 6], vec![500; 6]].concat());
    for name in ["cases.jsonl", "session.jsonl"] {
        let whole = place.read(name);
        let refused = place.run(&format!("{eval} default --jsonl {name}"));
        assert!(refused.code == 2 && refused.stderr.contains("is there already"), "{}", refused.stderr);
        assert_eq!(place.read(name), whole);
    }
    // Nothing is made by what goes wrong before anything is measured.
    for wrong in ["nonsense", "default --only nothing", "default --compare nothing", "default nowhere"] {
        assert_eq!(place.run(&format!("{eval} {wrong} --jsonl new.jsonl")).code, 2, "{wrong}");
    }
    assert!(!place.path("new.jsonl").exists());
    for (name, reason) in [("-", "standard output"), ("cases.jsonl.gz", "compressed")] {
        let refused = place.run(&format!("{eval} default --jsonl {name}"));
        assert!(refused.code == 2 && refused.stderr.contains(reason), "{}", refused.stderr);
    }
}

#[test]
fn what_is_named_twice_counts_once() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("all/part")).unwrap();
    place.file("all/part/session.jsonl", example("session.jsonl"));
    let line = "eval all all/part all/part/session.jsonl --methods default --budgets 0.4,0.40 --cut 0.5,0.50 --min-tokens 0 \
                --min-calls 1 --min-needed 1 --jsonl cases.jsonl -q";
    assert_eq!(place.run(line).code, 0);
    let rows = rows(&place);
    assert_eq!((rows.len(), &rows[0]["file"]), (5, &Value::from("part/session.jsonl")));
}
