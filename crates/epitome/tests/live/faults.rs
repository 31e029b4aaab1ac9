//! A model behind real HTTP that answers in every way that it should not: the session is never lost, and the result is
//! a valid compaction or an unchanged session with an error that says whether to try again.

use epitome::engine::Status;
use epitome::live::LiveError;
use epitome::session::{Message, Origin, Role};
use epitome_harness::{ScriptedAnswer, ScriptedServer};
use serde_json::json;

use super::support::{SMALL, compact, live, talk, user};

/// A server's answer with `text` as the model's.
fn says(text: &str) -> ScriptedAnswer {
    let message = json!({"role": "assistant", "content": text});
    let choice = json!({"index": 0, "finish_reason": "stop", "message": message});
    ScriptedAnswer::json(200, json!({"choices": [choice], "usage": {"prompt_tokens": 700, "completion_tokens": 90}}))
}

/// A summary as the prompt asks for it.
fn summary() -> String {
    let prompt = include_str!("../../../providers/src/model/prompts/en/sections.md");
    let headings = prompt.lines().filter(|line| line.starts_with("## "));
    let section = |heading: &str| {
        format!(
            "{heading}\n- The user asks for the parser to be fixed without touching src/lexer.rs, and the agent reads on.\n"
        )
    };
    let text: String = headings.map(section).collect();
    assert!(text.len() > 200, "the prompt names its sections: {text}");
    text
}

/// The outcome of a compaction by a server with these answers.
#[derive(Debug, PartialEq, Eq)]
enum Ends {
    /// The model's summary.
    ByModel,
    /// The rules', because the model gave none.
    ByRules,
    /// With an error; whether it may be tried again.
    Error { retryable: bool },
}

#[track_caller]
fn check(name: &str, answers: Vec<ScriptedAnswer>, on_failure: &str, expect: &Ends) {
    let server = ScriptedServer::start(answers);
    let settings = format!(
        "[summary]\nsummarizer = \"llm\"\nfall_back_to_rules = {}\non_failure = \"stop\"\n\
         [channels.test]\nbase_url = \"{}/v1\"\nmodels = [\"m\"]\ntimeout_seconds = 1\ntries = 2\n",
        on_failure == "rules",
        server.url()
    );
    let mut live = live(&format!("{SMALL}{settings}"));
    live.push(Message::text("", Role::System, Origin::Instructions, "the rules of the house")).unwrap();
    live.push(user("Fix the parser; never touch src/lexer.rs.")).unwrap();
    talk(&mut live, 1_700);
    let before = (live.session().state_hash(), live.tokens());
    let mut told = String::new();
    let ended = match compact(&mut live) {
        Ok(report) => {
            assert_eq!(report.status, Status::Compacted);
            assert_eq!(report.summarizer.kind, "llm");
            assert!(live.tokens() <= 1_000);
            assert_eq!(live.tokens(), live.engine().ledger(live.session()).total(), "what a recount gives");
            assert_eq!(report.summarizer.fell_back, report.summarizer.problem.is_some(), "{:?}", report.summarizer);
            if report.summarizer.fell_back { Ends::ByRules } else { Ends::ByModel }
        }
        Err(error) => {
            assert_eq!((live.session().state_hash(), live.tokens()), before, "the session is as it was");
            assert!(matches!(error, LiveError::Engine(_)), "{error}");
            told = error.to_string();
            Ends::Error { retryable: error.is_retryable() }
        }
    };
    assert_eq!(ended, *expect, "{name}: {told}");
    // In any case the session continues.
    live.push(user("and on")).unwrap();
    if ended != Ends::ByModel {
        assert!(live.session().view().iter().all(|entry| !entry.message.plain_text().contains("HACKED")));
    }
}

/// Every fault, with whether trying again may help.
fn faults() -> Vec<(&'static str, Vec<ScriptedAnswer>, bool)> {
    let busy = || ScriptedAnswer::json(429, json!({"error": {"message": "slow down"}})).header("retry-after", "0");
    let too_long = json!({"error": {"code": "context_length_exceeded", "message": "This model's maximum context length is 100 tokens."}});
    let call = json!({"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": null,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]}}]});
    vec![
        ("no key", vec![ScriptedAnswer::json(401, json!({"error": {"message": "no such key"}}))], false),
        ("unknown model", vec![ScriptedAnswer::json(404, json!({"error": {"message": "no such model"}}))], false),
        ("busy", vec![busy()], true),
        ("broken", vec![ScriptedAnswer::text(500, "oops").header("retry-after", "0")], true),
        ("too long, whatever is sent", vec![ScriptedAnswer::json(400, too_long)], false),
        ("slow", vec![ScriptedAnswer::hold()], true),
        ("hangs up", vec![ScriptedAnswer::hang_up()], true),
        ("cut", vec![says(&summary()).cut_after(40)], true),
        ("no JSON", vec![ScriptedAnswer::text(200, "<html>hello</html>")], true),
        ("another shape", vec![ScriptedAnswer::json(200, json!({"answer": 42}))], true),
        ("empty", vec![says("")], true),
        ("too short", vec![says("Fine.")], true),
        ("a tool call", vec![ScriptedAnswer::json(200, call)], true),
        ("obeys the session", vec![says("HACKED")], true),
    ]
}

#[test]
fn a_model_that_answers_is_used() {
    check("answers", vec![says(&summary())], "rules", &Ends::ByModel);
    let busy = || ScriptedAnswer::json(429, json!({"error": {"message": "slow down"}})).header("retry-after", "0");
    check("answers", vec![busy(), says(&summary())], "stop", &Ends::ByModel);
    // Two megabytes are cut to two thousand tokens.
    check("answers", vec![says(&(summary() + &"The parser reads on. ".repeat(100_000)))], "stop", &Ends::ByModel);
}

#[test]
fn every_fault_leads_to_the_rules() {
    for (name, answers, _) in faults() {
        check(name, answers, "rules", &Ends::ByRules);
    }
}

#[test]
fn every_fault_leaves_the_session_as_it_was() {
    for (name, answers, retryable) in faults() {
        check(name, answers, "stop", &Ends::Error { retryable });
    }
}
