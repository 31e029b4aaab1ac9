//! `--model-url` of `epitome bench` and `eval`: a model behind an address beside the methods.

use std::process::Stdio;

use epitome_harness::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
use serde_json::{Value, json};

use crate::place::Place;
use crate::probes::{place, probes};

const SUMMARY: &str = "## Goal\n- Build the release, and never publish it without asking the user.\n## State\n- Unit 61 did not \
    link because its symbol is missing; the first and the second log say that all other units of the release are compiled.\n\
    ## Next step\n- Fix what is asked for, and say how it came out.";

/// A small measurement: the questions of two sessions at two budgets.
const EVAL: &str = "eval probes --what probes -q --min-tokens 0 -b 0.3,0.15";

fn sessions() -> Place {
    place(&probes())
}

fn said(text: &str) -> ScriptedAnswer {
    ScriptedAnswer::json(
        200,
        json!({"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 1_000, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 400}}}),
    )
}

fn is_first_question(request: &ReceivedRequest) -> bool {
    request.text().contains("Is anybody there?")
}

/// A service that knows the first question, and answers everything else so.
fn service(answer: fn() -> ScriptedAnswer) -> ScriptedServer {
    ScriptedServer::start_with(move |_, request| if is_first_question(request) { said("Yes.") } else { answer() })
}

fn of_model(server: &ScriptedServer, line: &str) -> String {
    format!("{line} --model-url {}/v1 --model qwen", server.url())
}

fn rows<'a>(output: &'a Value, method: &str) -> Vec<&'a Value> {
    output["rows"].as_array().unwrap().iter().filter(|row| row["method"] == method).collect()
}

#[test]
fn a_model_is_measured_beside_the_methods() {
    let (place, server) = (sessions(), service(|| said(SUMMARY)));
    let line = format!("bench probes -q -m default --model-url {}/v1 --model qwen", server.url());
    let mut output = place.run(&format!("{line} --json --model-cache answers --html page.html")).json();
    let asked = server.requests().len() as u64 - 1;
    let account = output["accounts"].as_array_mut().unwrap().pop().unwrap();
    assert_eq!((&account["method"], &account["failed"]), (&json!("qwen"), &json!(0)), "{account}");
    // The same part of a session may be summarised twice: it is asked for once.
    let answers = account["models"][0]["answers"].as_u64().unwrap();
    assert!(answers >= asked && asked > 10, "{asked} requests, {account}");
    let expect = json!([{"model": "qwen", "answers": answers, "input_tokens": 1_000 * answers,
        "cached_tokens": 400 * answers, "output_tokens": 50 * answers, "dollars": null}]);
    assert_eq!(account["models"], expect);
    let at = |method: &str| {
        let row =
            rows(&output, method).into_iter().find(|row| row["budget"] == "0.15" && row["figures"]["facts"]["of"] == 8);
        row.unwrap()["figures"].clone()
    };
    assert!(at("qwen")["facts"]["kept"].as_u64().unwrap() > 0, "{}", at("qwen"));
    assert_eq!(at("qwen")["price"], Value::Null, "what the summaries cost is not known");
    assert!(at("default")["price"]["of"].as_u64().unwrap() > 0);
    let page = String::from_utf8(place.read("page.html")).unwrap();
    assert!(
        page.contains("summaries by models, and failures") && page.contains("<td class='left'>qwen</td>"),
        "{page}"
    );

    // Again, from the folder, with a price: the same figures and costs.
    place.file("prices.toml", "[models.qwen]\ninput = 2\ncached_input = 1\noutput = 10\n");
    let again = place.run(&format!("{line} --json --model-cache answers --prices prices.toml")).json();
    assert_eq!(server.requests().len() as u64, asked + 2, "nothing but the first question");
    let models = &again["accounts"][0]["models"][0];
    assert_eq!(models["answers"], json!(answers), "{models}");
    let dollars = answers as f64 * (600.0 * 2.0 + 400.0 + 50.0 * 10.0) / 1e6;
    assert!((models["dollars"].as_f64().unwrap() - dollars).abs() < 1e-9, "{models}");
    let facts =
        |output: &Value| rows(output, "qwen").iter().map(|row| row["figures"]["facts"].clone()).collect::<Vec<_>>();
    assert_eq!(facts(&again), facts(&output));
    assert!(rows(&again, "qwen").iter().any(|row| row["figures"]["price"]["of"].as_u64() > Some(0)));
}

#[test]
fn what_the_summaries_cost_is_told() {
    let (place, server) = (sessions(), service(|| said(SUMMARY)));
    place.file("prices.toml", "[models.qwen]\ninput = 2\ncached_input = 1\noutput = 10\n");
    let output =
        place.run(&of_model(&server, &format!("{EVAL} --json --prices prices.toml --jsonl rows.jsonl"))).json();
    let models = &output["accounts"][0]["models"][0];
    let answers = models["answers"].as_u64().unwrap();
    assert!(answers >= 4, "two sessions at two budgets: {models}");
    // 600 tokens at 2 dollars a million, 400 at 1, 50 of output at 10.
    let dollars = answers as f64 * (600.0 * 2.0 + 400.0 + 50.0 * 10.0) / 1e6;
    assert!((models["dollars"].as_f64().unwrap() - dollars).abs() < 1e-9, "{models}");
    let lines = String::from_utf8(place.read("rows.jsonl")).unwrap();
    let paid: u64 = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|row| row["summaries"][0]["answers"].as_u64())
        .sum();
    assert_eq!(paid, answers, "each row says what it took");
    let told = place.run(&of_model(&server, EVAL));
    assert!(told.text().contains("\nsummaries by models, and failures\n"), "{}", told.text());
    let words = told.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("qwen qwen 4 0 {answers} {} {}", 1_000 * answers, 400 * answers)), "{words}");
}

/// The text is the model's: rules write nothing into it and nothing in place of it.
#[test]
fn a_failure_keeps_nothing_and_is_told() {
    let busy = || ScriptedAnswer::json(429, r#"{"error":{"message":"Too many"}}"#).header("Retry-After", "3600");
    let check = |answer: fn() -> ScriptedAnswer, expect: &str| {
        let (place, server) = (sessions(), service(answer));
        let output = place.run(&of_model(&server, &format!("{EVAL} --json"))).json();
        let account = &output["accounts"][0];
        assert_eq!((&account["compactions"], &account["failed"]), (&json!(4), &json!(4)), "{account}");
        assert!(account["reasons"][0]["reason"].as_str().unwrap().contains(expect), "{account}");
        let figures = output["summaries"].as_array().unwrap().iter().filter(|it| it["method"] == "qwen");
        let failed: Vec<_> = figures.map(|it| (&it["failed_cases"], &it["figures"]["probes"]["macro_share"])).collect();
        assert_eq!(failed, [(&json!(2), &json!(0.0)), (&json!(2), &json!(0.0))]);
        let told = place.run(&of_model(&server, EVAL));
        let words = told.text().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("failed qwen,") && words.contains(expect), "{words}");
    };
    check(busy, "answered 429: Too many");
    check(|| said(""), "cannot be used");
    check(|| ScriptedAnswer::json(200, "[]"), "not an answer of kind");
}

/// What a configuration says of rules in a model's place does not count either.
#[test]
fn a_configuration_with_a_model_is_measured_alone() {
    let (place, server) = (sessions(), service(|| said("")));
    let channel = format!("[channels.local]\nbase_url = \"{}/v1\"\nmodels = [\"qwen\"]\n", server.url());
    place.file("mine.toml", format!("[summary]\nsummarizer = \"llm\"\nfall_back_to_rules = true\n{channel}"));
    let output = place.run(&format!("{EVAL} --json -m default,config:mine.toml")).json();
    let account = &output["accounts"][0];
    assert_eq!((&account["method"], &account["failed"]), (&json!("config:mine.toml"), &json!(4)), "{account}");
}

#[test]
fn a_service_that_will_not_answer_is_told_before_anything_is_measured() {
    let place = sessions();
    let check = |line: &str, code: i32, expect: &str| {
        let told = place.run(line);
        let words = told.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!((told.code, told.text()), (code, ""), "{words}");
        assert!(words.contains(expect), "{words}");
    };
    let refused =
        ScriptedServer::start(vec![ScriptedAnswer::json(401, r#"{"error":{"message":"sk-secret-1 is no key"}}"#)]);
    check(&of_model(&refused, EVAL), 1, "writes no summaries");
    assert_eq!(refused.requests().len(), 1);
    let line = format!("{} --key-variable EPITOME_TEST_KEY", of_model(&refused, EVAL));
    check(&line, 2, "set the environment variable `EPITOME_TEST_KEY`");
    let mut command = place.command(&line);
    let output = command.env("EPITOME_TEST_KEY", "sk-secret-1").stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("answered 401") && !told.contains("sk-secret"), "{told}");
    assert_eq!(refused.requests()[1].header("authorization"), Some("Bearer sk-secret-1"));
    check(&format!("{EVAL} --model qwen"), 2, "at which service is not said");
    check(&format!("{EVAL} --model-url http://127.0.0.1:9/v1"), 2, "--model");
    check(&format!("{EVAL} --model-cache answers"), 2, "--model-url");
    check(&of_model(&service(|| said(SUMMARY)), EVAL).replace("qwen", "default"), 2, "another method has this name");
}

#[test]
fn a_model_of_another_service_is_asked_as_its_options_say() {
    let place = sessions();
    let answer = json!({"content": [{"type": "text", "text": SUMMARY}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 1_000, "output_tokens": 50}});
    let server = ScriptedServer::start(vec![ScriptedAnswer::json(200, answer)]);
    let line = format!("{} --model-kind anthropic --model-window 4000 --json", of_model(&server, EVAL));
    let output = place.run(&line).json();
    assert_eq!(output["accounts"][0]["failed"], 0, "{output}");
    assert!(server.requests().iter().all(|request| request.path == "/v1/messages"));
    // A session that the window does not hold is read in parts.
    let answers = output["accounts"][0]["models"][0]["answers"].as_u64().unwrap();
    assert!(answers > 4, "{answers}");
}
