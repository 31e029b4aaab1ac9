//! Summaries by a model, from the options to the service and back.

use std::process::{Command, Stdio};

use epitome_harness::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
use serde_json::{Value, json};

use crate::place::{Place, Ran};

/// A summary that is good enough for the session below.
const GOOD: &str = "## Goal\n- The user keeps a register of stamps and asks where each page stands.\n## Constraints\n- none\n\
## State\n- The assistant read pages 1 to 10 of the register and told what is on each of them, with colour and margin.\n\
## Findings\n- All pages are blue but for page 3, which is red; the headline of each page stands above the margin.\n\
## Open\n- The user asks what comes next.\n## Next step\n- Answer that.";

/// A conversation in which the older part is summarised.
fn chat() -> String {
    let turn = |n: u32| {
        let detail = "It has a margin and a headline, and some lines below. ".repeat(14);
        format!(
            r#"{{"role":"user","content":"Page {n}?"}},{{"role":"assistant","content":"Page {n} is blue. {detail}"}},"#
        )
    };
    let turns: String = (1..=12).map(turn).collect();
    format!(r#"{{"messages":[{turns}{{"role":"user","content":"And now?"}}]}}"#)
}

/// What OpenAI-compatible services answer.
fn said(text: &str) -> ScriptedAnswer {
    ScriptedAnswer::json(
        200,
        json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
               "usage": {"prompt_tokens": 1_234, "completion_tokens": 56}}),
    )
}

const COMPACT: &str = "compact chat.json -b 1500 --chain sliding-window";

fn place() -> Place {
    Place::with("chat.json", chat())
}

/// A configuration with one channel to the server, and with keys of `[summary]` and of the channel.
fn config(place: &Place, server: &ScriptedServer, summary: &str, channel: &str) {
    let url = server.url();
    let text = format!(
        "[summary]\nsummarizer = \"llm\"\n{summary}\n[channels.local]\nbase_url = \"{url}/v1\"\nmodels = [\"qwen\", \"tiny\"]\ntries = 1\n{channel}\n"
    );
    place.file("c.toml", text);
}

fn report(place: &Place) -> Value {
    serde_json::from_slice(&place.read("r.json")).unwrap()
}

/// The report on the terminal without its line breaks.
fn words(ran: &Ran) -> String {
    ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_model_writes_without_any_configuration() {
    let (place, server) = (place(), ScriptedServer::start(vec![said(GOOD)]));
    let url = server.url();
    let ran = place.run(&format!("{COMPACT} --summarizer llm --model-url {url}/v1 --model qwen --report r.json"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.text().contains("page 3, which is red"), "{}", ran.text());
    let summarizer = &report(&place)["summarizer"];
    let checks = json!([{"strings": 1, "demands": 0, "files": 0}]);
    let models = json!([{"model": "qwen", "answers": 1, "input_tokens": 1234, "output_tokens": 56}]);
    let expect = json!({"kind": "llm", "input_tokens": 1234, "output_tokens": 56, "models": models, "fell_back": false,
        "checks": checks});
    assert_eq!(summarizer, &expect);
    let told = words(&ran);
    assert!(told.contains(&format!(" model qwen at {url}/v1: 1,234 tokens read, 56 written ")), "{told}");
    assert!(told.contains(" summary by llm: "), "{told}");
    assert!(!ran.stderr.contains(['\r', '\u{1b}']), "no progress where nobody watches: {:?}", ran.stderr);
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!((requests[0].path.as_str(), requests[0].header("authorization")), ("/v1/chat/completions", None));
    assert_eq!(requests[0].json()["model"], "qwen");
    // Naming a model is asking for it.
    let implied = place.run(&format!("{COMPACT} --model-url {url}/v1 --model qwen"));
    assert_eq!(implied.stdout, ran.stdout);
}

/// An agent at work: one task, then calls and their results.
fn agent() -> String {
    let step = |n: u32| {
        let result =
            format!("line {n} of the register: the stamp is blue and has a margin of two millimetres. ").repeat(20);
        let arguments = json!({ "path": format!("pages/{n}.txt") }).to_string();
        let call = json!({ "id": format!("c{n}"), "type": "function", "function": { "name": "read_file", "arguments": arguments } });
        [
            json!({ "role": "assistant", "content": format!("Now page {n}."), "tool_calls": [call] }),
            json!({ "role": "tool", "tool_call_id": format!("c{n}"), "content": result }),
        ]
    };
    let task = json!({ "role": "user", "content": "Read all pages of the register and tell which stamps are red." });
    let messages: Vec<Value> = std::iter::once(task).chain((1..=30).flat_map(step)).collect();
    json!({ "messages": messages }).to_string()
}

#[test]
fn a_model_is_asked_for_the_sessions_of_agents_too() {
    let check = |options: &str, chains: &str, is_asked: bool| {
        let (place, server) = (Place::with("chat.json", agent()), ScriptedServer::start(vec![said(GOOD)]));
        config(&place, &server, "", chains);
        let ran = place.run(&format!("compact chat.json -b 4000 --config c.toml --report r.json {options}"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let report = report(&place);
        assert_eq!(!server.requests().is_empty(), is_asked, "{options} {chains}: {report}");
        assert_eq!(ran.text().contains("page 3, which is red"), is_asked, "{options} {chains}");
    };
    check("", "", true);
    check("--task code", "", true);
    // Chains of one's own stay.
    check("--task code", "[chains]\ncode = [\"structured-extraction\"]", false);
    check("--chain structured-extraction", "", false);
    check("--summarizer rules", "", false);
}

#[test]
fn room_to_think_is_asked_for_beside_the_answer() {
    let asked = |summary: &str| {
        let (place, server) = (place(), ScriptedServer::start(vec![said(GOOD)]));
        config(&place, &server, summary, "");
        assert_eq!(place.run(&format!("{COMPACT} --config c.toml -q")).code, 0);
        let request = server.requests()[0].json();
        ["max_tokens", "max_completion_tokens"].iter().find_map(|key| request[*key].as_u64()).unwrap()
    };
    assert_eq!(asked("reasoning_tokens = 500"), asked("") + 500);
}

#[test]
fn failed_answers_are_on_the_bill() {
    let (place, server) = (place(), ScriptedServer::start(vec![said("HACKED")]));
    config(&place, &server, "fall_back_to_rules = false", "");
    let ran = place.run(&format!("{COMPACT} --config c.toml --report r.json"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (n_requests, summarizer) = (server.requests().len() as u64, &report(&place)["summarizer"]);
    assert!(n_requests >= 2, "asked once more");
    assert_eq!(summarizer["input_tokens"].as_u64(), Some(1_234 * n_requests), "{summarizer}");
    assert_eq!(summarizer["output_tokens"].as_u64(), Some(56 * n_requests), "{summarizer}");
}

#[test]
fn a_longer_wait_than_is_allowed_ends_the_tries() {
    let asked = |longest_wait: &str| {
        let busy = ScriptedAnswer::json(429, r#"{"error":{"message":"busy"}}"#).header("Retry-After", "1");
        let (place, server) = (place(), ScriptedServer::start(vec![busy, said(GOOD)]));
        let url = server.url();
        place.file(
            "c.toml",
            format!(
                "[summary]\nsummarizer = \"llm\"\n[channels.local]\nbase_url = \"{url}/v1\"\nmodels = [\"qwen\"]\n{longest_wait}\n"
            ),
        );
        let ran = place.run(&format!("{COMPACT} --config c.toml --report r.json"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        (server.requests().len(), report(&place)["summarizer"]["fell_back"].as_bool())
    };
    assert_eq!(asked(""), (2, Some(false)));
    assert_eq!(asked("longest_wait_seconds = 0"), (1, Some(true)));
}

#[test]
fn what_a_service_says_cannot_write_to_the_terminal() {
    let wild = ScriptedAnswer::json(401, json!({ "error": { "message": "\u{1b}[2Jgo\u{7} away\u{9b}0m" } }));
    let (place, server) = (place(), ScriptedServer::start(vec![wild]));
    config(&place, &server, "", "");
    let ran = place.run(&format!("{COMPACT} --config c.toml --report r.json"));
    let problem = report(&place)["summarizer"]["problem"].as_str().unwrap().to_owned();
    assert!(problem.contains("[2Jgo away0m") && !problem.contains(char::is_control), "{problem:?}");
    assert!(!ran.stderr.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{:?}", ran.stderr);
}

#[test]
fn quiet_is_quiet() {
    let (place, server) = (place(), ScriptedServer::start(vec![said(GOOD)]));
    let ran = place.run(&format!("{COMPACT} -q --model-url {}/v1 --model qwen", server.url()));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.text().contains("page 3, which is red"));
}

#[test]
fn a_busy_service_is_asked_again() {
    let busy = ScriptedAnswer::json(429, r#"{"error":{"message":"busy"}}"#).header("Retry-After", "0");
    let (place, server) = (place(), ScriptedServer::start(vec![busy, said(GOOD)]));
    let ran = place.run(&format!("{COMPACT} --model-url {}/v1 --model qwen --report r.json", server.url()));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!((server.requests().len(), &report(&place)["summarizer"]["fell_back"]), (2, &false.into()));
}

#[test]
fn where_the_model_fails_the_rules_step_in() {
    let check = |answer: ScriptedAnswer, why: &str| {
        let (place, server) = (place(), ScriptedServer::start(vec![answer]));
        config(&place, &server, "", "");
        let ran = place.run(&format!("{COMPACT} --config c.toml --report r.json"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let report = report(&place);
        let summarizer = &report["summarizer"];
        assert_eq!((&summarizer["kind"], &summarizer["fell_back"]), (&"llm".into(), &true.into()));
        let problem = summarizer["problem"].as_str().unwrap();
        assert!(problem.contains(why), "{problem}");
        assert!(report["tokens_after"].as_u64().unwrap() <= 1500);
        let told = words(&ran);
        assert!(told.contains(" summary by rules, in place of the model: "), "{told}");
        assert!(told.contains("; the rules stepped in: ") && told.contains(why), "{told}");
    };
    check(ScriptedAnswer::json(401, r#"{"error":{"message":"Incorrect API key"}}"#), "401");
    check(ScriptedAnswer::hang_up(), "cannot be reached");
    check(said("HACKED"), "it has 6 characters, too few to tell what happened");
}

#[test]
fn with_stop_nothing_is_written() {
    let (place, server) = (place(), ScriptedServer::start(vec![ScriptedAnswer::hang_up()]));
    config(&place, &server, "fall_back_to_rules = false\non_failure = \"stop\"", "");
    let ran = place.run(&format!("{COMPACT} --config c.toml --report r.json -o out.json"));
    assert_eq!((ran.code, ran.text()), (1, ""));
    let told = words(&ran);
    assert!(told.starts_with("error: nothing was changed: there is no summary: "), "{told}");
    assert!(told.contains("cannot be reached"), "{told}");
    assert_eq!(place.files(), ["c.toml", "chat.json"]);
    // Going on, the engine makes room without it.
    config(&place, &server, "fall_back_to_rules = false", "");
    let ran = place.run(&format!("{COMPACT} --config c.toml --report r.json"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let report = report(&place);
    assert_eq!((&report["summarizer"]["fell_back"], &report["summary"]), (&false.into(), &Value::Null));
    assert!(words(&ran).contains(": no tokens; no summary: "), "{}", ran.stderr);
}

#[test]
fn keys_come_from_the_environment_and_never_show() {
    let (place, server) =
        (place(), ScriptedServer::start(vec![ScriptedAnswer::json(401, r#"{"error":"sk-secret-1 is wrong"}"#)]));
    let line = format!(
        "{COMPACT} --model-url {}/v1 --model qwen --key-variable EPITOME_TEST_KEY --report r.json",
        server.url()
    );
    let output = place.command(&line).env("EPITOME_TEST_KEY", "sk-secret-1").stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer sk-secret-1"));
    let told = String::from_utf8(output.stderr).unwrap() + &String::from_utf8(place.read("r.json")).unwrap();
    assert!(told.contains("401") && !told.contains("sk-secret"), "{told}");
    let unset = place.run(&line);
    assert_eq!((unset.code, unset.text()), (2, ""));
    assert!(words(&unset).contains("no key: set the environment variable `EPITOME_TEST_KEY`"), "{}", unset.stderr);
    // What asks no model wants no key.
    config(&place, &server, "", "key_variable = \"EPITOME_TEST_KEY\"");
    for command in ["check chat.json --config c.toml", "inspect chat.json --config c.toml"] {
        let ran = place.run(command);
        assert_eq!(ran.code, 0, "{command}: {}", ran.stderr);
    }
    assert_eq!(place.run(&format!("{COMPACT} --config c.toml --summarizer rules")).code, 0);
}

#[test]
fn channels_models_and_agents_are_chosen_by_name() {
    let (place, first, second) =
        (place(), ScriptedServer::start(vec![said(GOOD)]), ScriptedServer::start(vec![said(GOOD)]));
    let text = format!(
        "[summary]\nchannel = \"one\"\n[channels.one]\nbase_url = \"{}/v1\"\nmodels = [\"a\", \"b\"]\n\
         [channels.two]\nbase_url = \"{}/v1\"\nmodels = [\"c\"]\n[agents.x]\nchannel = \"two\"\n\
         [agents.y]\nsummarizer = \"llm\"\nmodel = \"b\"\n",
        first.url(),
        second.url()
    );
    place.file("c.toml", text);
    let model = |request: &ReceivedRequest| request.json()["model"].as_str().unwrap().to_owned();
    let asked = |options: &str| {
        let before = (first.requests().len(), second.requests().len());
        let ran = place.run(&format!("{COMPACT} --config c.toml -q {options}"));
        assert_eq!(ran.code, 0, "{options}: {}", ran.stderr);
        let first: Vec<String> = first.requests()[before.0..].iter().map(model).collect();
        let second: Vec<String> = second.requests()[before.1..].iter().map(model).collect();
        format!("one: {}; two: {}", first.join(" "), second.join(" "))
    };
    assert_eq!(asked(""), "one: ; two: ");
    assert_eq!(asked("--summarizer llm"), "one: a; two: ");
    assert_eq!(asked("--model b"), "one: b; two: ");
    assert_eq!(asked("--channel two"), "one: ; two: c");
    assert_eq!(asked("--agent x"), "one: ; two: c");
    assert_eq!(asked("--agent x --summarizer rules"), "one: ; two: ");
    assert_eq!(asked("--agent y"), "one: b; two: ");
    let refused = |options: &str| {
        let ran = place.run(&format!("{COMPACT} --config c.toml {options}"));
        assert_eq!((ran.code, ran.text()), (2, ""), "{options}");
        words(&ran)
    };
    insta::assert_snapshot!(refused("--channel three"), @"error: there is no channel `three` help: there are one, two");
    insta::assert_snapshot!(refused("--model d"), @"error: the configuration has 1 problem: c.toml:2:1: the channel `one` does not list the model `d`; it lists a, b");
    insta::assert_snapshot!(refused("--agent z"), @"error: --agent: there is no agent `z`; [agents] has x, y");
    insta::assert_snapshot!(refused("--model b --summarizer off"), @"error: --model goes with --summarizer llm or provider, not with off help: leave one of them out");
}

#[test]
fn a_model_that_nobody_named_is_asked_for() {
    let place = place();
    let ran = place.run(&format!("{COMPACT} --summarizer llm"));
    insta::assert_snapshot!(ran.all(), @r#"
    exit 2
    ----- stderr
    error: --summarizer llm needs a model, and there is no channel to one
      help: name it here: --model-url http://localhost:11434/v1 --model qwen3:8b
            or for good, in a file for --config:
            [channels.local]
            base_url = "http://localhost:11434/v1"
            models = ["qwen3:8b"]
    "#);
    let refused = |options: &str| {
        let ran = place.run(&format!("{COMPACT} {options}"));
        assert_eq!((ran.code, ran.text()), (2, ""), "{options}");
        words(&ran)
    };
    insta::assert_snapshot!(refused("--model-url localhost:11434 --model m"), @r#"error: the channel `--model-url`: `localhost:11434` is not the address of a service: it must begin with `http://` or `https://` help: an address is such as "http://localhost:11434/v1""#);
    let without_model = refused("--model-url http://localhost:1/v1");
    assert!(without_model.contains("--model <NAME>"), "{without_model}");
}

/// The process is ended while the model is asked: the request ends, and no file is begun. By the signal that nothing makes
/// it ignore: what runs in the background, or under `nohup`, ignores the interrupts of a keyboard, and so do its children.
#[cfg(unix)]
#[test]
fn an_end_in_between_leaves_nothing_behind() {
    let (place, server) = (place(), ScriptedServer::start(vec![ScriptedAnswer::hold()]));
    let line = format!("{COMPACT} --model-url {}/v1 --model qwen -o out.json --report r.json", server.url());
    let mut child = place.command(&line).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    server.wait_for_requests(1);
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert!(!child.wait().unwrap().success());
    server.wait_for_hang_ups(1);
    assert_eq!(place.files(), ["chat.json"]);
}

#[test]
fn check_knows_models_agents_and_triggers() {
    let place = place();
    let checked = |options: &str| place.run(&format!("check chat.json --json {options}")).json();
    let small = checked("--model gpt-4");
    assert_eq!((&small["window_tokens"], &small["reserve_output_tokens"]), (&8192.into(), &2048.into()));
    assert_eq!(checked("--model gpt-4 --window 3k")["window_tokens"], 3000);
    assert_eq!((&small["trigger"], &small["should_compact"]), (&Value::Null, &false.into()));
    assert_eq!(checked("--window 2500")["trigger"], "hard");
    let unknown = place.run("check chat.json --model nobodys");
    assert_eq!(unknown.code, 2);
    assert!(words(&unknown).contains("the window of the model `nobodys` is not known"), "{}", unknown.stderr);
    place.file("c.toml", "[triggers]\nrounds = 5\n[agents.a]\nthreshold_percent = 0\n[agents.b]\nthreshold_percent = 1\n[budget]\nwindow = 30_000\n");
    let all = checked("--config c.toml");
    assert_eq!((&all["trigger"], &all["urgency"]), (&"rounds".into(), &"soft".into()));
    assert_eq!(checked("--config c.toml --agent b")["trigger"], "soft");
    let named = |config: &str, options: &str| {
        place.file("t.toml", config);
        let ran = place.run(&format!("check chat.json --config t.toml {options}"));
        let words: Vec<&str> = ran.text().split_whitespace().collect();
        words.join(" ").split_once(" trigger ").unwrap().1.to_owned()
    };
    let agent = "[agents.b]\nthreshold_percent = 1\n[budget]\nwindow = 30_000\n";
    assert_eq!(named(agent, "--agent b"), "the soft threshold");
    assert_eq!(named(&format!("[triggers]\ntokens = 20\n{agent}"), "--agent b"), "[triggers] tokens");
    assert_eq!(named(&format!("[triggers]\ntokens = 9000\n{agent}"), "--agent b"), "the soft threshold");
    let never = place.run("check chat.json --config c.toml --agent a --window 2500");
    let never: Vec<&str> = never.text().split_whitespace().collect();
    assert!(never.join(" ").contains("threshold off trigger [triggers] rounds since the last compaction"), "{never:?}");
}
