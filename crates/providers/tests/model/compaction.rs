//! A provider's own compaction as a summarizer: what is sent, what is made of each answer, who steps in where there is none.

use std::sync::Arc;
use std::time::Duration;

use epitome_engine::{Chain, Engine, MemoryArchive, Request, SignalDetector, block_on};
use epitome_handoff::Handoff;
use epitome_harness::laws::compact_and_check;
use epitome_harness::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
use epitome_providers::RuleSummarizer;
use epitome_providers::chat::{ChannelKind, ChannelSettings, KeySource};
use epitome_providers::http::RetryPolicy;
use epitome_providers::model::{FallbackSummarizer, ModelSettings, ModelSummarizer};
use epitome_strategy::{Configurable, Message, ModelBackoff, Summarizer, Summary};
use epitome_testkit::FakeCounter;
use serde_json::{Value, json};

use super::scripted::{Case, FIXING, GOOD};

/// A variable that is set wherever tests run; its value stands for the key.
const KEY_VARIABLE: &str = "PATH";

const ON_DEMAND: &str = "compact-2026-09-04";
const THRESHOLD: &str = "compact-2026-01-12";

fn settings(server: &ScriptedServer) -> ChannelSettings {
    ChannelSettings {
        kind: ChannelKind::Anthropic,
        base_url: server.url(),
        key: KeySource::Environment(KEY_VARIABLE.to_owned()),
        model: "claude".to_owned(),
        window: 200_000,
        timeout: Duration::from_secs(20),
        retry: RetryPolicy { tries: 1, ..RetryPolicy::default() },
        ..ChannelSettings::default()
    }
}

/// The provider's compaction, behind it the model of the same channel, behind that the rules.
fn chain(settings: &ChannelSettings) -> FallbackSummarizer {
    let model = ModelSummarizer::new(settings.open().unwrap(), ModelSettings::default()).unwrap();
    let first = model.by_compaction(settings.open_compaction().unwrap());
    let second = FallbackSummarizer { first: model, second: Arc::new(RuleSummarizer) };
    FallbackSummarizer { first, second: Arc::new(second) }
}

/// What the server is asked for: `on demand`, `threshold`, or `model` for a plain question.
fn asked(server: &ScriptedServer) -> Vec<&'static str> {
    let form = |request: &ReceivedRequest| match request.header("anthropic-beta") {
        Some(ON_DEMAND) => "on demand",
        Some(THRESHOLD) => "threshold",
        Some(_) => "another beta",
        None => "model",
    };
    server.requests().iter().map(form).collect()
}

fn compacted(text: &str) -> ScriptedAnswer {
    ScriptedAnswer::json(
        200,
        json!({
            "type": "message", "role": "assistant", "stop_reason": "compaction",
            "content": [{ "type": "compaction", "content": text, "signature": "EuYB" }],
            "usage": { "input_tokens": 0, "output_tokens": 0, "iterations": [
                { "type": "compaction", "input_tokens": 40, "cache_read_input_tokens": 800,
                  "cache_creation_input_tokens": 60, "output_tokens": 90 },
            ] },
        }),
    )
}

/// An answer without a block: the compaction came to nothing.
fn empty(stop_reason: &str) -> ScriptedAnswer {
    let usage = json!({ "input_tokens": 0, "output_tokens": 0,
        "iterations": [{ "type": "compaction", "input_tokens": 900, "output_tokens": 10 }] });
    ScriptedAnswer::json(200, json!({ "type": "message", "content": [], "stop_reason": stop_reason, "usage": usage }))
}

/// The answer of a model that was asked for a hand-off, or that knows nothing of compaction.
fn said(text: &str) -> ScriptedAnswer {
    let usage = json!({ "input_tokens": 500, "output_tokens": 50 });
    let content = json!([{ "type": "text", "text": text }]);
    ScriptedAnswer::json(
        200,
        json!({ "type": "message", "content": content, "stop_reason": "end_turn", "usage": usage }),
    )
}

fn refused(status: u16, message: &str) -> ScriptedAnswer {
    ScriptedAnswer::json(status, json!({ "type": "error", "error": { "type": "error", "message": message } }))
}

fn unknown() -> ScriptedAnswer {
    refused(400, "compaction: Extra inputs are not permitted")
}

fn write(chain: &dyn Summarizer, case: &Case) -> Summary {
    let summary = block_on(chain.summarize(&case.task())).unwrap();
    let key = std::env::var(KEY_VARIABLE).unwrap();
    assert!(!format!("{summary:?} {chain:?}").contains(&key));
    let tokens = case.counter.count(&summary.text);
    assert!(tokens <= case.request.max_tokens, "{tokens} tokens:\n{}", summary.text);
    summary
}

#[test]
fn what_is_sent_and_what_comes_of_it() {
    let forgetful = GOOD.replace("- The public API must never be touched.", "- see above");
    let server = ScriptedServer::start(vec![compacted(&forgetful)]);
    let mut case = Case::new(FIXING);
    case.session.tools = Some(Arc::from(r#"[{"name":"Read","input_schema":{"type":"object"}}]"#));
    let chain = chain(&settings(&server));
    let summary = write(&chain, &case);
    assert!(summary.text.starts_with("## Goal\n"), "{}", summary.text);
    assert!(summary.text.contains("Never touch the public API"), "demands come in by rule");
    assert_eq!(
        (summary.usage.input_tokens(), summary.usage.cached_tokens(), summary.usage.output_tokens()),
        (900, 800, 90)
    );
    assert_eq!((summary.fell_back, chain.kind()), (None, "provider"));
    assert!(summary.check.is_some_and(|check| check.demands > 0 && check.files > 0));

    let request = &server.requests()[0];
    assert_eq!((request.path.as_str(), request.header("anthropic-beta")), ("/v1/messages", Some(ON_DEMAND)));
    assert_eq!(request.header("x-api-key"), Some(std::env::var(KEY_VARIABLE).unwrap().as_str()));
    let body = request.json();
    let keys: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["model", "max_tokens", "stream", "messages", "tools", "compaction"]);
    assert_eq!((&body["model"], &body["tools"][0]["name"]), (&json!("claude"), &json!("Read")));
    assert!(body["max_tokens"].as_u64().unwrap() >= 4_096);
    assert_eq!(body["compaction"]["type"], "summarize");
    let instructions = body["compaction"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("## Constraints") && instructions.contains("call no tool"), "{instructions}");
    let messages = body["messages"].as_array().unwrap();
    assert_eq!((&messages[0]["role"], &messages[1]["content"][1]["type"]), (&json!("user"), &json!("tool_use")));
    assert!(messages.len() > 6 && messages.last().unwrap()["role"] == "assistant", "the conversation, as it was");
}

#[test]
fn the_system_prompt_goes_along_and_reasoning_does_not() {
    let server = ScriptedServer::start(vec![compacted(GOOD)]);
    let request = r#"{"system":"You mend lexers.","messages":[
        {"role":"user","content":"Make the lexer accept nested brackets."},
        {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"Done."}]}]}"#;
    let read = epitome_formats::read(request.into(), epitome_formats::ReadOptions::default()).unwrap();
    let session = read.sessions[0].session.clone();
    let messages: Vec<Arc<Message>> = session.view().iter().map(|entry| Arc::clone(&entry.message)).collect();
    let mut case = Case::with_messages(messages);
    case.session = session;
    case.messages.extend(Case::new(FIXING).messages);
    write(&chain(&settings(&server)), &case);
    let body = server.requests()[0].json();
    assert!(body["system"].to_string().contains("You mend lexers."), "{}", body["system"]);
    assert_eq!(body["system"].to_string().matches("You mend").count(), 1, "once");
    assert!(body["messages"].to_string().contains("Done.") && !body.to_string().contains("c2ln"));
}

#[test]
fn who_writes_it_where_the_provider_does_not() {
    /// Who is asked for each of two summaries, and why the first is not the provider's.
    fn check(answers: Vec<ScriptedAnswer>, expect: &[&str], why: &[&str]) -> Vec<Summary> {
        let server = ScriptedServer::start(answers);
        let chain = chain(&settings(&server));
        // The second is of another run, or it would be known.
        let mut longer = Case::new(FIXING);
        longer.messages.extend(Case::new("user: Then go on.\nassistant: Yes.").messages);
        let summaries = [Case::new(FIXING), longer].map(|case| write(&chain, &case)).to_vec();
        assert_eq!(asked(&server), expect, "{summaries:?}");
        let reason = summaries[0].fell_back.clone().unwrap_or_default();
        why.iter().for_each(|why| assert!(reason.contains(why), "{why}: {reason}"));
        summaries
    }
    // Not offered: it is asked once, and the model from then on.
    let not_offered = |answer: ScriptedAnswer, why: &str| {
        let told = ["offers no compaction of its own", why];
        let summaries = check(vec![answer, said(GOOD), said(GOOD)], &["on demand", "model", "model"], &told);
        assert!(summaries.iter().all(|it| it.text.starts_with("## Goal") && it.fell_back.is_some()));
        assert_eq!(summaries.iter().map(|it| it.usage.input_tokens()).sum::<u64>(), 1_000, "a refusal costs nothing");
    };
    not_offered(refused(404, "not found"), "404: not found");
    not_offered(refused(404, "model: claude"), "404: model: claude");
    not_offered(refused(405, "Method Not Allowed"), "405");
    not_offered(unknown(), "Extra inputs are not permitted");
    not_offered(refused(400, "claude does not support compaction"), "does not support compaction");
    not_offered(
        refused(400, "Unexpected value(s) `compact-2026-09-04` for the `anthropic-beta` header"),
        "anthropic-beta",
    );
    not_offered(unknown(), "`context_management` is for longer conversations");

    // Refused for this run alone: the next one asks again.
    let once = |answer: ScriptedAnswer, why: &str| {
        check(vec![answer, said(GOOD), compacted(GOOD)], &["on demand", "model", "on demand"], &[why])
    };
    once(refused(400, "messages.3: tool_use ids were found without tool_result blocks"), "400: messages.3");
    once(refused(400, "prompt is too long: 300000 tokens > 200000 maximum"), "too long");
    once(refused(403, "this key may not use the beta"), "403");
    once(refused(529, "Compaction is unavailable."), "overloaded");
    let summaries = once(ScriptedAnswer::text(200, "<html>"), "unreadable");
    assert_eq!(summaries[1].fell_back, None);

    // Paid for, and no good: asked once more with the reason, then the model; all of it is on the bill.
    let paid = |first: ScriptedAnswer, second: ScriptedAnswer, why: &str, tokens: u64| {
        let expect = ["on demand", "on demand", "model", "on demand"];
        let summaries = check(vec![first, second, said(GOOD), compacted(GOOD)], &expect, &[why]);
        assert_eq!(summaries[0].usage.input_tokens(), tokens);
    };
    paid(empty("max_tokens"), empty("max_tokens"), "it was cut off", 2_300);
    paid(empty("refusal"), empty("refusal"), "it is a refusal", 2_300);
    paid(empty("tool_use"), empty("end_turn"), "it calls a tool", 2_300);
    paid(compacted(""), compacted("   "), "it is empty", 2_300);
    paid(compacted("Nothing much."), compacted("Really."), "too few to tell what happened", 2_300);
    let null = json!({ "content": [{ "type": "compaction", "content": null }], "stop_reason": "compaction",
        "usage": { "input_tokens": 7, "output_tokens": 1 } });
    paid(ScriptedAnswer::json(200, &null), ScriptedAnswer::json(200, &null), "it is empty", 514);

    // A service that does not look at the parameter: what it says is no summary, and is paid for once.
    let server = ScriptedServer::start(vec![said("I will go on with the work."), said(GOOD)]);
    let summary = write(&chain(&settings(&server)), &Case::new(FIXING));
    assert_eq!((asked(&server), summary.usage.input_tokens()), (vec!["on demand", "model"], 1_000));
    assert!(summary.fell_back.is_some_and(|why| why.contains("it answered the conversation instead")));
    assert!(!summary.text.contains("I will go on"));
}

#[test]
fn asked_again_it_is_told_why() {
    let server = ScriptedServer::start(vec![compacted("Nothing much."), compacted(GOOD)]);
    let summary = write(&chain(&settings(&server)), &Case::new(FIXING));
    assert_eq!((summary.fell_back, summary.usage.input_tokens(), summary.usage.output_tokens()), (None, 1_800, 180));
    let instructions = |index: usize| server.requests()[index].json()["compaction"]["instructions"].clone();
    assert!(instructions(1).as_str().unwrap().contains("Nothing much."), "{}", instructions(1));
    assert!(instructions(1).to_string().starts_with(instructions(0).to_string().trim_end_matches('"')));

    // Instructions are bounded: what would not fit is not sent.
    let lines = "- It says src/unheard_of.rs and more.\n".repeat(600);
    let long = GOOD.replace("## Failed", &format!("{lines}\n## Failed"));
    let server = ScriptedServer::start(vec![compacted(&long), said(GOOD)]);
    let mut case = Case::new(FIXING).max_tokens(20_000);
    case.messages.extend(Case::new("user: Go on.\nassistant: Well. … x30000").messages);
    let summary = write(&chain(&settings(&server)), &case);
    let bodies: Vec<Value> = server.requests().iter().map(ReceivedRequest::json).collect();
    let longest = bodies.iter().filter_map(|body| body["compaction"]["instructions"].as_str()).map(str::len).max();
    assert!(longest.is_some_and(|longest| longest <= 16_384), "{longest:?}");
    assert_eq!(asked(&server), ["on demand"], "its faults are marked: {:?}", summary.fell_back);
    assert!(summary.text.contains("[unverified]"), "{}", &summary.text[..2_000]);
}

#[test]
fn a_long_conversation_is_compacted_at_the_threshold() {
    let long = |tokens: u32| {
        let mut case = Case::new(FIXING);
        case.messages.extend(Case::new(&format!("user: Go on.\nassistant: Well. … x{tokens}")).messages);
        case
    };
    let server = ScriptedServer::start(vec![unknown(), compacted(GOOD)]);
    let chain_of = chain(&settings(&server));
    let summary = write(&chain_of, &long(70_000));
    assert_eq!((asked(&server), summary.fell_back), (vec!["on demand", "threshold"], None));
    let body = server.requests()[1].json();
    assert_eq!(body["compaction"], Value::Null, "the two do not go together");
    let edit = &body["context_management"]["edits"][0];
    assert_eq!((&edit["type"], &edit["pause_after_compaction"]), (&json!("compact_20260112"), &json!(true)));
    assert_eq!(edit["trigger"], json!({ "type": "input_tokens", "value": 50_000 }));
    assert!(edit["instructions"].as_str().unwrap().contains("## Constraints"));
    // The form that is known is asked for at once.
    write(&chain_of, &long(71_000));
    assert_eq!(asked(&server)[2..], ["threshold"]);

    // One that knows neither.
    let server = ScriptedServer::start(vec![unknown(), refused(400, "context_management: unknown field"), said(GOOD)]);
    let chain_of = chain(&settings(&server));
    let summary = write(&chain_of, &long(70_000));
    let why = summary.fell_back.unwrap();
    assert!(why.contains("`compaction`: 400") && why.contains("`context_management`: 400"), "{why}");
    assert_eq!(asked(&server)[..3], ["on demand", "threshold", "model"]);

    // What does not fit the window is not sent.
    let server = ScriptedServer::start(vec![said(GOOD)]);
    let small = ChannelSettings { window: 32_000, ..settings(&server) };
    let summary = write(&chain(&small), &long(70_000));
    assert!(summary.fell_back.is_some_and(|why| why.contains("too long") && why.contains("32000")));
    assert!(asked(&server).iter().all(|form| *form == "model"));
}

#[test]
fn a_service_that_is_gone_is_asked_once() {
    for answer in [ScriptedAnswer::hang_up(), compacted(GOOD).cut_after(200)] {
        let server = ScriptedServer::start(vec![answer]);
        let summary = write(&chain(&settings(&server)), &Case::new(FIXING));
        assert_eq!(asked(&server), ["on demand"], "the model is behind the same address");
        assert!(summary.text.contains("Never touch the public API") && summary.check.is_none(), "the rules'");
        let why = summary.fell_back.unwrap();
        assert_eq!(why.matches("cannot be reached").count(), 1, "{why}");
    }
}

#[test]
fn the_same_run_is_not_paid_for_twice() {
    let server = ScriptedServer::start(vec![compacted(GOOD)]);
    let chain = chain(&settings(&server));
    let first = write(&chain, &Case::new(FIXING));
    let second = write(&chain, &Case::new(FIXING));
    assert_eq!((first.text, server.requests().len()), (second.text, 1));
    assert_eq!((second.usage.input_tokens(), second.usage.cached_tokens(), second.usage.output_tokens()), (0, 0, 0));
    // Another run is another question.
    let mut other = Case::new(FIXING);
    other.messages.pop();
    write(&chain, &other);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn openai_gives_nothing_to_read() {
    let server = ScriptedServer::start(Vec::new());
    let settings = ChannelSettings { kind: ChannelKind::OpenAi, ..settings(&server) };
    let error = settings.open_compaction().map(|it| it.name().to_owned()).unwrap_err().to_string();
    assert!(
        error.starts_with("the channel's `kind` is `openai`, whose own compaction gives an encrypted item"),
        "{error}"
    );
}

#[test]
fn the_engines_laws_hold_with_it() {
    let unknown_then_model = || vec![unknown(), said(GOOD)];
    let scripts: [(Vec<ScriptedAnswer>, bool); 4] = [
        (vec![compacted(GOOD)], false),
        (vec![compacted(&format!("{GOOD}\n- Then open src/unheard_of.rs."))], false),
        (unknown_then_model(), true),
        (vec![ScriptedAnswer::hang_up()], true),
    ];
    for (answers, falls_back) in scripts {
        let server = ScriptedServer::start(answers);
        let mut engine = Engine::new(Arc::new(FakeCounter), Arc::new(SignalDetector));
        engine.summarizer = Some(Arc::new(chain(&settings(&server))));
        let more: String = (0..12).map(|step| format!("user: Step {step}?\nassistant: Done. … x200\n")).collect();
        let mut session = epitome_testkit::session(&format!("{FIXING}{more}"));
        let request = Request {
            chain: Some(Chain(vec![Arc::new(Handoff::with_settings(Default::default()))])),
            ..Request::to_budget(1_600)
        };
        // What is known is not paid for again: the laws compare runs, bills included.
        let (mut first, mut archive) = (session.clone(), MemoryArchive::default());
        let mut ledger = engine.ledger(&first);
        block_on(engine.compact(&mut first, &mut ledger, &mut archive, &request)).unwrap();
        let (report, broken) = compact_and_check(&engine, &mut session, &mut MemoryArchive::default(), &request);
        let report = report.unwrap();
        assert!(broken.is_empty(), "{broken:?}");
        assert_eq!(report.summarizer.fell_back, falls_back, "{:?}", report.summarizer);
        let text: String = session.view().iter().map(|entry| entry.message.plain_text()).collect();
        assert!(text.contains("nested brackets") && report.tokens_after <= 1_600, "{text}");
        assert_eq!(report.summarizer.kind, "provider");
    }
}

#[test]
fn a_provider_that_refused_the_session_is_not_asked_again() {
    let server = ScriptedServer::start(vec![refused(400, "the prompt is unsafe"), compacted(GOOD), compacted(GOOD)]);
    let settings = settings(&server);
    let model = ModelSummarizer::new(settings.open().unwrap(), ModelSettings::default()).unwrap();
    let shared = model.by_compaction(settings.open_compaction().unwrap());
    let (own, case) = (ModelBackoff::default(), Case::new(FIXING));
    let summarize = |refusals: &ModelBackoff, case: &Case| {
        block_on(shared.for_session(refusals).unwrap().summarize(&case.task())).map(|_| asked(&server).len())
    };
    summarize(&own, &case).unwrap_err();
    // Later the run is another one, and its messages with it.
    let mut later = Case::new(FIXING);
    later.messages.pop();
    summarize(&own, &later).unwrap_err();
    assert_eq!(asked(&server), ["on demand"]);
    assert_eq!(summarize(&ModelBackoff::default(), &later).unwrap(), 2, "another session is another matter");
}
