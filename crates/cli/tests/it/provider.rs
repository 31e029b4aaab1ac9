//! `--summarizer provider`: summaries by a provider's own compaction, from the options to the service and back.

use epitome_harness::{ScriptedAnswer, ScriptedServer};
use serde_json::{Value, json};

use crate::place::{Place, Ran};

const SUMMARY: &str = "## Goal\n- The user wants all pages of the register read, and told which stamps are red.\n\
    ## Constraints\n- none\n## State\n- The agent read pages/1.txt to pages/30.txt; every stamp so far is blue.\n\
    ## Decisions\n- none\n## Findings\n- Margins are two millimetres.\n## Failed\n- none\n## Open\n- none\n\
    ## Next step\n- Tell that no stamp is red.";

/// An agent at work, as a request to Anthropic: one task, then calls and their results.
fn agent() -> String {
    let step = |n: u32| {
        let result =
            format!("line {n} of the register: the stamp is blue and has a margin of two millimetres. ").repeat(20);
        let call = json!({ "type": "tool_use", "id": format!("c{n}"), "name": "read_file",
            "input": { "path": format!("pages/{n}.txt") } });
        [
            json!({ "role": "assistant", "content": [{ "type": "text", "text": format!("Now page {n}.") }, call] }),
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": format!("c{n}"), "content": result }] }),
        ]
    };
    let task = json!({ "role": "user", "content": "Read all pages of the register and tell which stamps are red." });
    let messages: Vec<Value> = std::iter::once(task).chain((1..=30).flat_map(step)).collect();
    let tools = json!([{ "name": "read_file", "description": "Reads.", "input_schema": { "type": "object" } }]);
    json!({ "model": "claude-opus-5", "max_tokens": 1_000, "system": "You keep a register.", "tools": tools,
        "messages": messages })
    .to_string()
}

fn compacted() -> ScriptedAnswer {
    let usage = json!({ "input_tokens": 0, "output_tokens": 0, "iterations": [
        { "type": "compaction", "input_tokens": 234, "cache_read_input_tokens": 1_000, "output_tokens": 56 } ] });
    let content = json!([{ "type": "compaction", "content": SUMMARY, "signature": "EuYB" }]);
    ScriptedAnswer::json(200, json!({ "content": content, "stop_reason": "compaction", "usage": usage }))
}

fn said() -> ScriptedAnswer {
    let usage = json!({ "input_tokens": 500, "output_tokens": 50 });
    let content = json!([{ "type": "text", "text": SUMMARY }]);
    ScriptedAnswer::json(200, json!({ "content": content, "stop_reason": "end_turn", "usage": usage }))
}

/// A configuration as docs/models.md has it, but for the address.
fn config(place: &Place, server: &ScriptedServer) {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md")).unwrap();
    let blocks = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.filter(|block| block.contains("summarizer = \"provider\"")).collect::<String>();
    let (head, tail) = block.split_once("kind = \"anthropic\"\n").unwrap();
    place.file("c.toml", format!("{head}kind = \"anthropic\"\nbase_url = \"{}\"\ntries = 1\n{tail}", server.url()));
}

fn report(place: &Place) -> Value {
    serde_json::from_slice(&place.read("r.json")).unwrap()
}

/// The report on the terminal without its line breaks.
fn words(ran: &Ran) -> String {
    ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ")
}

const COMPACT: &str = "compact session.json -b 4000 --config c.toml --report r.json";

#[test]
fn the_provider_writes_the_summary() {
    let (place, server) = (Place::with("session.json", agent()), ScriptedServer::start(vec![compacted()]));
    config(&place, &server);
    let ran = place.run(COMPACT);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.text().contains("Tell that no stamp is red.") && !ran.text().contains("EuYB"), "{}", ran.text());
    let report = report(&place);
    assert!(report["tokens_after"].as_u64().unwrap() <= 4_000, "{report}");
    let summarizer = &report["summarizer"];
    assert_eq!((&summarizer["kind"], &summarizer["fell_back"]), (&json!("provider"), &json!(false)), "{summarizer}");
    let tokens = ["input_tokens", "cached_tokens", "output_tokens"].map(|key| summarizer[key].as_u64());
    assert_eq!(tokens, [Some(1_234), Some(1_000), Some(56)]);
    assert!(summarizer["checks"][0]["strings"].as_u64().unwrap() > 0, "{summarizer}");
    let told = words(&ran);
    assert!(told.contains("1,234 tokens read (1,000 cached), 56 written checked "), "{told}");
    let body = server.requests()[0].json();
    assert!(body["system"].to_string().contains("You keep a register.") && body["tools"][0]["name"] == "read_file");
    // What comes out is a request that the provider takes.
    // A summary of a part of the session is asked for in the same way.
    let part = place.run(&format!("{COMPACT} --chain summary"));
    assert!(words(&part).contains(" summary by provider: "), "{}", part.stderr);
    let whole = body["messages"].as_array().unwrap().len();
    assert!(server.requests()[1].json()["messages"].as_array().unwrap().len() < whole);
    let violations = epitome::formats::validate(ran.text(), epitome::formats::Wire::Anthropic);
    assert!(violations.is_empty(), "{violations:?}: {}", ran.text());
}

#[test]
fn where_it_does_not_the_model_of_the_channel_does() {
    let unknown = ScriptedAnswer::json(400, r#"{"error":{"message":"compaction: Extra inputs are not permitted"}}"#);
    let (place, server) = (Place::with("session.json", agent()), ScriptedServer::start(vec![unknown, said()]));
    config(&place, &server);
    let ran = place.run(&format!("{COMPACT} --chain summary"));
    assert_eq!((ran.code, server.requests().len()), (0, 2), "{}", ran.stderr);
    assert!(ran.text().contains("Tell that no stamp is red."));
    let summarizer = report(&place)["summarizer"].clone();
    assert_eq!((&summarizer["fell_back"], &summarizer["input_tokens"]), (&json!(true), &json!(500)), "{summarizer}");
    let told = words(&ran);
    assert!(told.contains(" summary by the model, in place of its provider's compaction: "), "{told}");
    assert!(told.contains("the model stepped in: ") && told.contains("Extra inputs are not permitted"), "{told}");

    // Both gone: the rules.
    let server = ScriptedServer::start(vec![ScriptedAnswer::hang_up()]);
    config(&place, &server);
    let ran = place.run(&format!("{COMPACT} --chain summary"));
    assert_eq!((ran.code, server.requests().len()), (0, 1), "{}", ran.stderr);
    assert!(words(&ran).contains(" summary by rules, in place of the model: "), "{}", ran.stderr);
}

#[test]
fn options_name_it_too() {
    let (place, server) = (Place::with("session.json", agent()), ScriptedServer::start(vec![compacted()]));
    let line = format!("compact session.json -b 4000 --report r.json --model-url {} --model m", server.url());
    let ran = place.run(&format!("{line} --summarizer provider --model-kind anthropic"));
    assert_eq!((ran.code, &report(&place)["summarizer"]["kind"]), (0, &json!("provider")), "{}", ran.stderr);
    let refused = place.run(&format!("{line} --summarizer provider"));
    assert_eq!(refused.code, 2);
    assert!(words(&refused).contains("an encrypted item"), "{}", refused.stderr);
    let without = place.run("compact session.json -b 4000 --summarizer provider");
    assert!(words(&without).contains("--summarizer provider needs a model"), "{}", without.stderr);
}
