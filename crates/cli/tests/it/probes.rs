//! `epitome eval --what probes`: folders of probes from the file to the tables.

use epitome_testkit::{ScriptedAnswer, ScriptedServer};
use serde_json::{Value, json};

use crate::place::Place;

/// A session of three rounds, each with a fact and a long log; the newest round says nothing that is asked.
fn prefix() -> Value {
    let log = |name: &str| (1..=60).map(|n| format!("{name} compiled unit {n} of the release\n")).collect::<String>();
    let step = |id: &str, command: &str, printed: String| {
        let arguments = json!({ "command": command }).to_string();
        let call = json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}});
        [
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": id, "content": printed}),
        ]
    };
    let mut messages =
        vec![json!({"role": "user", "content": "Build the release. Never publish it without asking me."})];
    messages.extend(step("c1", "make release", log("first") + "error: unit 61 did not link"));
    messages.push(json!({"role": "assistant", "content": "Unit 61 did not link because its symbol is missing."}));
    messages.push(json!({"role": "user", "content": "Then fix it."}));
    messages.extend(step("c2", "make unit-61", log("second")));
    messages.push(json!({"role": "assistant", "content": "It is built."}));
    json!({ "messages": messages })
}

fn probe(id: &str, kind: &str, facts: Value) -> Value {
    json!({"id": id, "kind": kind, "question": "What?", "answer": "That.", "facts": facts})
}

fn place(probes: &Value) -> Place {
    let place = Place::new();
    for name in ["agent-ledger-11-a0b1", "agent-stamps-12"] {
        std::fs::create_dir_all(place.path(&format!("probes/{name}"))).unwrap();
        place.file(&format!("probes/{name}/prefix.json"), prefix().to_string());
        place.file(&format!("probes/{name}/probes.json"), probes.to_string());
    }
    place.file("probes/agent-stamps-12/handoff.md", "Unit 61 does not link: a missing symbol.");
    place
}

fn probes() -> Value {
    json!([
        probe("q1", "why", json!([["unit 61"], ["symbol is missing", "missing symbol"]])),
        probe("q2", "user", json!([["never  PUBLISH it"]])),
        probe("q3", "state", json!([["it is built"]])),
        probe("q4", "exact", json!([["command: make release"]])),
    ])
}

/// The kept and all probes of a row by method, session and budget.
fn found(place: &Place, method: &str, session: &str, budget: &str) -> (u64, u64) {
    let text = String::from_utf8(place.read("cases.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_it = |row: &&Value| row["method"] == method && row["session"] == session && row["budget"] == budget;
    let row = rows.iter().find(is_it);
    assert!(row.is_some(), "{method} {session} {budget}: {text}");
    let row = row.unwrap();
    let count = |key: &str| row.pointer(&format!("/probes/all/{key}")).unwrap().as_u64().unwrap();
    (count("kept"), count("of"))
}

#[test]
fn what_a_context_can_answer() {
    let place = place(&probes());
    let ran = place
        .run("eval probes --what probes --methods default --budgets 100k,0.08 --by repository --jsonl cases.jsonl");
    assert_eq!(ran.code, 0, "{}", ran.all());
    for method in ["default", "baseline:newest"] {
        assert_eq!(found(&place, method, "agent-stamps-12", "100000"), (4, 4), "{method}: the whole answers all");
    }
    // The newest round alone: what it was, not what came before.
    assert_eq!(found(&place, "baseline:newest", "agent-ledger-11-a0b1", "0.08"), (1, 4));
    assert_eq!(found(&place, "hand-off", "agent-stamps-12", "0.08"), (1, 4), "it says why, and nothing else");
    let text = ran.text();
    assert!(text.contains("\nledger 1 case") && text.contains("\nstamps 1 case"), "{text}");
    assert!(text.contains("hand-off"), "{text}");
}

#[test]
fn what_is_over_its_budget_shows_nothing() {
    let place = place(&probes());
    let line = "eval probes --what probes --methods default --command cat --budgets 0.08 --jsonl cases.jsonl -q";
    assert_eq!(place.run(line).code, 0);
    assert_eq!(found(&place, "command:cat", "agent-stamps-12", "0.08"), (0, 4));
}

#[test]
fn again_and_again() {
    let place = place(&probes());
    let line = "eval probes --what probes --methods sliding-window --through 0.9,0.5 --jsonl cases.jsonl --json -q";
    let json = place.run(line).json();
    let (once, twice) = ("sliding-window", "sliding-window ×2");
    assert_eq!(found(&place, once, "agent-stamps-12", "0.5").1, 4);
    assert_eq!(found(&place, twice, "agent-stamps-12", "0.5").1, 4);
    let figures = json["generations"].as_array().unwrap();
    let probes = figures.iter().find(|it| it["method"] == once && it["figure"] == "probes").unwrap();
    assert_eq!((&probes["budget"], &probes["after"][0]["generations"]), (&"0.5".into(), &"×2".into()), "{probes}");
    let piped =
        place.run("eval probes --what probes --methods sliding-window --budgets 0.5 --generations 2,3 --piped -q");
    assert!(piped.text().contains("sliding-window ×3 piped") && piped.text().contains("of once"), "{}", piped.all());
    let wrong = |arguments: &str| place.run(&format!("eval probes --what probes -q {arguments}")).all();
    assert!(wrong("--piped").contains("there is only one compaction"), "{}", wrong("--piped"));
    assert!(wrong("--through 0.5").contains("one budget is one compaction"), "{}", wrong("--through 0.5"));
    let recorded = place.run("eval probes --what recorded --generations 3").all();
    assert!(recorded.contains("only cases and probes"), "{recorded}");
}

#[test]
fn repositories_are_told() {
    let place = place(&json!({"repo": "of the file", "probes": probes()}));
    place.file("labels.md", "| file | repo |\n|---|---|\n| agent-stamps-12 | of the table |\n");
    let ran = place.run("eval probes --what probes --budgets 1 --labels labels.md --by repository --json -q");
    let json = ran.json();
    let names: Vec<&Value> = json["groups"].as_array().unwrap().iter().map(|group| &group["name"]).collect();
    assert_eq!(names, ["of the file", "of the table"], "{}", ran.stderr);
}

#[test]
fn what_is_wrong_with_probes_is_told() {
    let check = |probes: &Value, expect: &str| {
        let told = place(probes).run("eval probes --what probes -q");
        assert_eq!(told.code, 2, "{}", told.all());
        let words = told.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(expect) && words.contains("docs/evaluation.md"), "{words}");
    };
    let wrong_kind = json!([probe("q1", "reason", json!([["a"]]))]);
    check(&wrong_kind, "probes.json: probe 1 (`q1`): `kind`: `reason` is not one of exact, state, why, user, content");
    check(&json!([{"id": "q1"}]), "probes.json: probe 1 (`q1`): `kind` is missing: add it");
    let place = place(&probes());
    std::fs::remove_file(place.path("probes/agent-stamps-12/prefix.json")).unwrap();
    let told = place.run("eval probes --what probes -q");
    assert!(told.stderr.contains("there is no prefix.json.gz or prefix.json beside it"), "{}", told.all());
    std::fs::create_dir(place.path("empty")).unwrap();
    let told = place.run("eval empty --what probes -q");
    assert!(told.stderr.contains("holds no folder with a probes.json"), "{}", told.all());
}

#[test]
fn a_blind_reading_goes_out_and_comes_back() {
    let place = place(&probes());
    let export = "eval probes --what probes --methods default --budgets 100k --export reading";
    let told = place.run(export);
    assert_eq!(told.code, 0, "{}", told.all());
    // Five methods of two sessions, and one hand-off.
    let contexts = std::fs::read_dir(place.path("reading/contexts")).unwrap().count();
    assert_eq!(contexts, 11);
    let text = |name: &str| String::from_utf8(place.read(name)).unwrap();
    assert!(!text("reading/answers.tsv").contains("default") && text("reading/answers.tsv").contains("001\tq1\tWhat?"));
    assert!(
        text("reading/contexts/001.txt").contains("Unit 61") || text("reading/contexts/001.txt").contains("unit 61")
    );
    let key: Value = serde_json::from_slice(&place.read("reading.key.json")).unwrap();
    let methods: Vec<&Value> = key.as_array().unwrap().iter().map(|context| &context["method"]).collect();
    assert_eq!(methods.iter().filter(|method| **method == "default").count(), 2);
    assert_ne!(methods[..5], methods[5..10], "shuffled");
    assert!(place.run(export).stderr.contains("is there already"));
    // A grader finds all right, but for one question.
    let graded: String = text("reading.grading.tsv")
        .lines()
        .enumerate()
        .map(|(number, line)| match (number, line.contains("\tq4\t")) {
            (0, _) => format!("{line}\n"),
            (_, is_wrong) => format!("{}\t{}\tAnn\n", line.trim_end_matches('\t'), if is_wrong { "0" } else { "1" }),
        })
        .collect();
    place.file("grades.tsv", graded);
    let read = "eval probes --what probes --grades grades.tsv --key reading.key.json";
    let ran = place.run(read);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let words = ran.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(" default .750 (.750) "), "{}", ran.text());
    assert!(ran.text().contains("44 graded answers; no answer has two graders"), "{}", ran.text());
    assert_eq!(place.run(&format!("{read} --json")).json()["agreement"]["answers"], 44);
    let future = place.run("eval probes --export other");
    assert!(future.stderr.contains("only probes are read blind"), "{}", future.stderr);
}

#[test]
fn a_model_reads_and_grades() {
    let place = place(&probes());
    let said = |text: &str| {
        let message = json!({"role": "assistant", "content": text});
        let body = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                          "usage": {"prompt_tokens": 100, "completion_tokens": 7}});
        ScriptedAnswer::json(200, body)
    };
    let server = ScriptedServer::start_with(move |_, request| {
        let is_grading = request.json().to_string().contains("right answer: That.");
        said(if is_grading { "q1: 1\nq2: 0.5\nq3: 0\nq4: 1" } else { "q1: the symbol\nq2: never\nq4: make" })
    });
    let url = server.url();
    place.file(
        "c.toml",
        format!("[channels.local]\nbase_url = \"{url}/v1\"\nmodels = [\"tiny\", \"large\"]\ntries = 1\n"),
    );
    let line =
        "eval probes --what probes --methods default --only agent-ledger* --budgets 100k --config c.toml --judge";
    let ran = place.run(&format!("{line} local --export out --json"));
    assert_eq!(ran.code, 0, "{}", ran.all());
    let ours = ran.json()["summaries"].as_array().unwrap().iter().find(|it| it["method"] == "default").unwrap().clone();
    let means: Vec<&Value> = ours["averages"].as_array().unwrap().iter().map(|average| &average["macro"]).collect();
    assert!(means.contains(&&0.625.into()), "{ours}");
    let requests = server.requests();
    assert_eq!(requests.len(), 10, "a reader and a grader for each of five methods");
    assert_eq!(requests[0].json()["model"], "tiny");
    let readers: Vec<String> =
        requests.iter().map(|it| it.json().to_string()).filter(|it| it.contains("<context>")).collect();
    assert_eq!(readers.len(), 5);
    assert!(readers.iter().all(|it| it.contains("did not link") && !it.contains("That.")), "{readers:?}");
    // Who does not answer does not know; the sheets are there to be read.
    let text = |name: &str| String::from_utf8(place.read(name)).unwrap();
    assert!(text("out.answers.tsv").contains("001\tq3\tunknown\n"), "{}", text("out.answers.tsv"));
    assert!(text("out.grades.tsv").contains("001\tq2\t0.5\ttiny\n"), "{}", text("out.grades.tsv"));
    assert_eq!(place.run(&format!("{line} local --judge-model large -q")).code, 0);
    assert_eq!(server.requests()[10].json()["model"], "large");
    let missing = place.run(&format!("{line} other"));
    assert!(missing.code == 2 && missing.stderr.contains("there is no channel `other`"), "{}", missing.stderr);
    assert!(place.run("eval probes --what probes --judge local").stderr.contains("--config"));
}

#[test]
fn a_search_answers_what_the_context_does_not() {
    let mut probes = probes();
    probes[0]["question"] = "Which unit did not link, and whose symbol is missing?".into();
    probes[1]["question"] = "What did the user say about publishing?".into();
    let place = place(&probes);
    let line = "eval probes --what probes --methods sliding-window --budgets 0.08 --search 1 --jsonl cases.jsonl -q";
    assert_eq!(place.run(line).code, 0);
    let of = |method: &str| found(&place, method, "agent-ledger-11-a0b1", "0.08");
    let alone = of("search");
    assert!(alone.0 >= 2, "{alone:?}");
    for method in ["sliding-window", "baseline:newest"] {
        let (context, both) = (of(method), of(&format!("{method} +search")));
        assert!(both.0 >= context.0.max(alone.0), "{method}: {alone:?} {context:?} {both:?}");
    }
    let refused = place.run("eval probes --search 1");
    assert!(refused.code == 2 && refused.stderr.contains("measure --what probes"), "{}", refused.stderr);
}
