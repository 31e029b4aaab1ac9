//! Providers' own compaction protocols: what the proxy answers itself, what its items are worth later, and what goes to
//! the provider.

use std::io::Write as _;

use epitome::formats::{Wire as ProviderWire, validate};
use epitome_harness::{ScriptedAnswer, ScriptedServer};
use epitome_server::{ItemKeys, Settings, StoreLocation, Tokens};
use serde_json::{Value, json};

use crate::kept::Folder;
use crate::support::{Running, SMALL, Wire, asked, header, in_front_of, read};

const COMPACT: &str = "/v1/responses/compact";

fn provider() -> ScriptedServer {
    ScriptedServer::start(vec![ScriptedAnswer::json(
        200,
        r#"{"output":[{"type":"message"}],"content":[{"type":"text"}]}"#,
    )])
}

/// The events of a streamed answer.
fn events(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect()
}

/// A request as Codex asks for a compaction.
fn triggered(request: &Value) -> Value {
    let mut request = Wire::Responses.longer(request, vec![json!({"type": "compaction_trigger"})]);
    (request["stream"], request["store"]) = (json!(true), json!(false));
    request
}

/// The item that the service gives Codex, with its figures.
async fn codex_item(service: &Running, request: &Value) -> Value {
    let response = service.post(Wire::Responses.path(), &triggered(request)).send().await.unwrap();
    assert_eq!(header(&response, "x-epitome-status"), "answered");
    assert_eq!(header(&response, "content-type"), "text/event-stream");
    let figure = |name: &str| header(&response, name).parse::<u32>().unwrap();
    assert!(figure("x-epitome-tokens-after") <= figure("x-epitome-tokens-before") / 2 + 200);
    let events = events(&response.text().await.unwrap());
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("response.created", "response.completed"));
    let done: Vec<&Value> = events.iter().filter(|event| event["type"] == "response.output_item.done").collect();
    assert_eq!(done.len(), 1, "exactly one item");
    let completed = &events[events.len() - 1]["response"];
    assert_eq!(completed["output"], json!([done[0]["item"]]));
    assert!(completed["usage"]["total_tokens"].as_u64() > Some(100));
    done[0]["item"].clone()
}

/// What Codex keeps: the messages of people, and the item.
fn kept_by_codex(request: &Value, item: &Value) -> Value {
    let mut kept = request.clone();
    let input = kept["input"].as_array_mut().unwrap();
    input.retain(|item| item["role"] == "user");
    input.push(item.clone());
    kept
}

#[tokio::test]
async fn codex_is_given_an_item_several_compactions_deep() {
    let wire = Wire::Responses;
    let upstream = provider();
    let service = Running::proxy(&upstream, "").await;
    let mut request = wire.request(12);
    let mut step = 12;
    for deep in 1..=4 {
        let calls = upstream.requests().len();
        let item = codex_item(&service, &request).await;
        assert_eq!(upstream.requests().len(), calls, "the provider is not asked");
        request = kept_by_codex(&request, &item);
        let mut first: Vec<Value> = Vec::new();
        for turn in 0..3 {
            request = wire.longer(&request, wire.step(step));
            request = wire.longer(&request, vec![wire.said("Good."), asked(&format!("Go on with {deep}.{turn}."))]);
            step += 1;
            let response = service.post(wire.path(), &request).send().await.unwrap();
            assert_eq!(header(&response, "x-epitome-status"), "passed");
            let sent = upstream.requests().last().unwrap().clone();
            assert_eq!(validate(&sent.text(), ProviderWire::OpenaiResponses), []);
            assert!(!sent.text().contains("epitome.c1."), "the provider cannot read the item");
            let input = sent.json()["input"].as_array().unwrap().clone();
            let said = |text: &str| input.iter().filter(|item| item.to_string().contains(text)).count();
            assert_eq!(said("Find out why the build of the parser fails."), 1, "the task stands once: {deep}.{turn}");
            assert_eq!(input[..first.len()], first[..], "the provider's cache stays warm");
            assert_eq!(sent.json()["temperature"], 0.25, "other fields stay");
            first = input;
        }
    }
    let metrics = service.get("/metrics").await.text().await.unwrap();
    assert!(metrics.contains("epitome_native_compactions_total{asked=\"compaction_trigger\"} 4"), "{metrics}");
    assert!(metrics.contains("epitome_native_items_total{outcome=\"expanded\"} 15"), "{metrics}");
    assert!(metrics.contains("epitome_proxied_total{status=\"answered\"} 4"), "{metrics}");
}

#[tokio::test]
async fn the_route_for_compactions() {
    let wire = Wire::Responses;
    let upstream = provider();
    let service = Running::proxy(&upstream, "").await;
    let mut request = wire.request(12);
    let (status, compacted) = read(service.post(COMPACT, &request)).await;
    assert_eq!((status, &compacted["object"]), (200, &json!("response.compaction")));
    let output = compacted["output"].as_array().unwrap();
    let kinds: Vec<&str> = output.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "message", "compaction"]);
    assert!(output[..2].iter().all(|item| item["role"] == "user" && item["id"].is_string()), "{output:?}");
    assert!(compacted["usage"]["output_tokens"].as_u64() < compacted["usage"]["input_tokens"].as_u64());
    assert!(upstream.requests().is_empty());
    request["input"] = json!([output.clone(), vec![asked("And now?")]].concat());
    read(service.post(wire.path(), &request)).await;
    let sent = upstream.requests()[0].text();
    assert_eq!(sent.matches("Find out why the build").count(), 1, "{sent}");
    assert_eq!(validate(&sent, ProviderWire::OpenaiResponses), []);
    // What only the provider can do, it is asked for.
    let check = async |body: Value, detail: &str| {
        let response = service.post(COMPACT, &body).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-detail"), detail);
        assert_eq!(header(&response, "x-epitome-status"), "bypassed");
        let sent = upstream.requests().last().unwrap().clone();
        assert_eq!((sent.path.as_str(), sent.json()), (COMPACT, body));
    };
    check(json!({"model": "m", "previous_response_id": "resp_1"}), "history-at-the-provider").await;
    check(json!({"model": "m", "input": "Hello"}), "one-text").await;
    let theirs = json!({"type": "compaction", "encrypted_content": "gAAAA"});
    check(json!({"model": "m", "input": [asked("x"), theirs]}), "compaction-of-the-provider").await;
    check(json!({"model": "m", "input": [asked("x"), {"type": "new_kind"}]}), "unknown-part").await;
}

#[tokio::test]
async fn from_a_threshold_on_the_item_comes_in_front_of_the_answer() {
    let wire = Wire::Responses;
    let mut short = wire.request(1);
    short["context_management"] = json!([{"type": "compaction", "compact_threshold": 4_000}]);
    let long = {
        let mut long = wire.request(12);
        long["context_management"] = short["context_management"].clone();
        long
    };
    let upstream = provider();
    let service = Running::proxy(&upstream, "").await;
    let (_, answer) = read(service.post(wire.path(), &short)).await;
    assert_eq!(answer["output"], json!([{"type": "message"}]), "as it came");
    let response = service.post(wire.path(), &long).send().await.unwrap();
    assert_eq!(header(&response, "x-epitome-status"), "compacted");
    let figure = |name: &str| header(&response, name).parse::<u32>().unwrap();
    assert!(figure("x-epitome-tokens-before") > 4_000 && figure("x-epitome-tokens-after") <= 2_000);
    let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    let kinds: Vec<&Value> = answer["output"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["compaction", "message"]);
    let seen = upstream.requests();
    assert!(seen.iter().all(|sent| sent.json()["context_management"].is_null()), "no provider is asked for it as well");
    assert!(seen[1].body.len() < long.to_string().len() / 2);
    assert_eq!(validate(&seen[1].text(), ProviderWire::OpenaiResponses), []);
    // The client goes on with what it was given, and may leave out what is in front of the item.
    let mut output = answer["output"].as_array().unwrap().clone();
    output[1] = wire.said("A parser.");
    let whole = wire.longer(&long, [output.clone(), vec![asked("And now?")]].concat());
    let mut pruned = whole.clone();
    pruned["input"] = json!([output, vec![asked("And now?")]].concat());
    for request in [whole, pruned] {
        let (_, answer) = read(service.post(wire.path(), &request)).await;
        assert_eq!(answer["output"], json!([{"type": "message"}]), "it is short enough now");
    }
    let seen = upstream.requests();
    assert_eq!(seen[2].json()["input"], seen[3].json()["input"]);
    let (before, now) = (seen[1].json(), seen[3].json());
    let before = before["input"].as_array().unwrap();
    assert_eq!(now["input"].as_array().unwrap()[..before.len()], before[..], "the cache stays warm");
}

#[tokio::test]
async fn the_item_comes_in_front_of_a_streamed_answer() {
    let said = [
        json!({"type": "response.created", "response": {"output": []}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "message"}}),
        json!({"type": "response.completed", "response": {"output": [{"type": "message"}]}}),
    ];
    let stream: String = said.iter().map(|event| format!("data: {event}\n\n")).collect();
    let upstream =
        ScriptedServer::start(vec![ScriptedAnswer::bytes(200, stream).header("content-type", "text/event-stream")]);
    let service = Running::proxy(&upstream, "").await;
    let mut request = Wire::Responses.request(12);
    request["context_management"] = json!([{"type": "compaction", "compact_threshold": 4_000}]);
    request["stream"] = json!(true);
    let response = service.post(Wire::Responses.path(), &request).send().await.unwrap();
    let found = events(&response.text().await.unwrap());
    let kinds: Vec<(&str, Option<u64>)> =
        found.iter().map(|event| (event["type"].as_str().unwrap(), event["output_index"].as_u64())).collect();
    let expect = [
        ("response.created", None),
        ("response.output_item.added", Some(0)),
        ("response.output_item.done", Some(0)),
        ("response.output_item.done", Some(1)),
        ("response.completed", None),
    ];
    assert_eq!(kinds, expect);
    assert_eq!(found[4]["response"]["output"][0], found[2]["item"]);
}

#[tokio::test]
async fn anthropics_compaction_on_demand() {
    let wire = Wire::Anthropic;
    let upstream = provider();
    let service = Running::proxy(&upstream, "").await;
    let mut request = wire.request(12);
    for deep in 0..3 {
        let calls = upstream.requests().len();
        let mut demand = request.clone();
        demand["compaction"] = json!({"type": "summarize"});
        demand["stream"] = json!(deep == 1);
        let response = service.post(wire.path(), &demand).send().await.unwrap();
        assert_eq!((response.status().as_u16(), header(&response, "x-epitome-status")), (200, "answered"));
        let text = response.text().await.unwrap();
        let block = if deep == 1 {
            let events = events(&text);
            let delta = &events[2]["delta"];
            assert_eq!(
                (&delta["type"], &events[4]["delta"]["stop_reason"]),
                (&json!("compaction_delta"), &json!("compaction"))
            );
            json!({"type": "compaction", "content": delta["content"], "encrypted_content": delta["encrypted_content"]})
        } else {
            let answer: Value = serde_json::from_str(&text).unwrap();
            assert_eq!((&answer["stop_reason"], &answer["role"]), (&json!("compaction"), &json!("assistant")));
            assert_eq!(answer["content"].as_array().unwrap().len(), 1, "the block and nothing else");
            answer["content"][0].clone()
        };
        assert!(block["content"].as_str().unwrap().contains("Find out why the build of the parser fails."));
        assert_eq!(upstream.requests().len(), calls, "the provider is not asked");
        request["messages"] = json!([{"role": "assistant", "content": [block]}, asked("And now?")]);
        for step in 0..3 {
            let next = [wire.step(100 + step), vec![wire.said("Good."), asked("Go on.")]].concat();
            request = wire.longer(&request, next);
        }
        let (status, _) = read(service.post(wire.path(), &request)).await;
        let sent = upstream.requests().last().unwrap().text();
        assert_eq!((status, validate(&sent, ProviderWire::Anthropic)), (200, vec![]), "{sent}");
        assert_eq!(sent.matches("Find out why the build of the parser fails.").count(), 1, "{sent}");
        assert!(!sent.contains("epitome.c1."));
    }
}

#[tokio::test]
async fn anthropics_edit() {
    let wire = Wire::Anthropic;
    let upstream = provider();
    let service = Running::proxy(&upstream, "").await;
    let other = json!({"type": "clear_tool_uses_20250919"});
    let mut request = wire.request(12);
    let edit = |pauses: bool| {
        let trigger = json!({"type": "input_tokens", "value": 4_000});
        json!({"edits": [other, {"type": "compact_20260112", "trigger": trigger, "pause_after_compaction": pauses}]})
    };
    request["context_management"] = edit(true);
    let (_, paused) = read(service.post(wire.path(), &request)).await;
    assert_eq!((&paused["stop_reason"], upstream.requests().len()), (&json!("compaction"), 0));
    request["context_management"] = edit(false);
    let (_, answer) = read(service.post(wire.path(), &request)).await;
    let kinds: Vec<&Value> = answer["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["compaction", "text"]);
    let sent = upstream.requests()[0].json();
    assert_eq!(sent["context_management"], json!({"edits": [other]}), "what else was asked for stays");
    assert!(sent.to_string().len() < request.to_string().len() / 2);
    // All of the history with the block in it.
    let answered = json!({"role": "assistant", "content": [answer["content"][0], {"type": "text", "text": "Yes."}]});
    let longer = wire.longer(&request, vec![answered, asked("And now?")]);
    let (_, again) = read(service.post(wire.path(), &longer)).await;
    assert_eq!(again["content"], json!([{"type": "text"}]), "it is short enough now");
    let now = upstream.requests()[1].json();
    let before = sent["messages"].as_array().unwrap();
    assert_eq!(now["messages"].as_array().unwrap()[..before.len()], before[..], "the cache stays warm");
    assert_eq!(validate(&upstream.requests()[1].text(), ProviderWire::Anthropic), []);
}

#[tokio::test]
async fn what_only_the_provider_can_do_it_is_asked_for() {
    let check = async |config: &str, wire: Wire, change: &dyn Fn(&mut Value), detail: &str| {
        let upstream = provider();
        let service = Running::proxy(&upstream, config).await;
        let mut request = wire.request(12);
        change(&mut request);
        let response = service.post(wire.path(), &request).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-detail"), detail, "{request}");
        assert_eq!(upstream.requests()[0].json(), request, "as it came");
    };
    let off = "[proxy]\ncompaction = \"provider\"\n";
    let trigger = |request: &mut Value| *request = triggered(request);
    check(off, Wire::Responses, &trigger, "switched-off").await;
    let stored = |request: &mut Value| {
        *request = triggered(request);
        request["store"] = json!(true);
    };
    check("", Wire::Responses, &stored, "stored-at-the-provider").await;
    let no_threshold = |request: &mut Value| request["context_management"] = json!([{"type": "compaction"}]);
    check("", Wire::Responses, &no_threshold, "no-threshold").await;
    let instructed = |request: &mut Value| {
        request["compaction"] = json!({"type": "summarize", "instructions": "In rhymes."});
    };
    check("", Wire::Anthropic, &instructed, "instructions").await;
    let theirs = |request: &mut Value| {
        let block = json!({"type": "compaction", "content": "So far.", "signature": "EuYB"});
        request["messages"].as_array_mut().unwrap().insert(0, json!({"role": "assistant", "content": [block]}));
        request["compaction"] = json!({"type": "summarize"});
    };
    check("", Wire::Anthropic, &theirs, "compaction-of-the-provider").await;
}

#[tokio::test]
async fn items_of_the_provider_pass_byte_for_byte() {
    let upstream = provider();
    let service = Running::proxy(&upstream, "").await;
    let item = r#"{"type": "compaction" ,"encrypted_content":"gAAAAABo","id":"cmp_7"}"#;
    let body = format!("{{\"model\": \"m\",\n\"input\":[ {item}, {{\"role\":\"user\",\"content\":\"compact it\"}}]}} ");
    service.post_text(Wire::Responses.path(), &body).send().await.unwrap();
    let block = r#"{"type":"compaction","content":"So far.","encrypted_content":"gAAA", "signature":"EuYB"}"#;
    let other = format!(
        "{{\"messages\":[{{\"role\":\"assistant\",\"content\":[{block}]}},\n{{\"role\":\"user\",\"content\":\"x\"}}]}}"
    );
    service.post_text(Wire::Anthropic.path(), &other).send().await.unwrap();
    let seen = upstream.requests();
    assert_eq!((seen[0].text(), seen[1].text()), (body, other));
}

#[tokio::test]
async fn items_that_cannot_be_used_are_refused_as_the_provider_refuses() {
    let upstream = provider();
    let tokens = Tokens::parse("one token-of-the-first\ntwo token-of-the-second").unwrap();
    let service = Running::start("", Settings { tokens, ..in_front_of(&upstream.url()) }).await;
    let post = |token: &str, wire: Wire, body: &Value| service.post(wire.path(), body).header("x-epitome-token", token);
    let (first, second) = ("token-of-the-first", "token-of-the-second");
    let response = post(first, Wire::Responses, &triggered(&Wire::Responses.request(12))).send().await.unwrap();
    let item = events(&response.text().await.unwrap()).pop().unwrap()["response"]["output"][0].clone();
    let mut demand = Wire::Anthropic.request(12);
    demand["compaction"] = json!({"type": "summarize"});
    let (_, answer) = read(post(first, Wire::Anthropic, &demand)).await;
    let block = answer["content"][0].clone();
    let of_openai = |item: &Value| json!({"model": "m", "input": [asked("x"), item, asked("y")]});
    let of_anthropic = |block: &Value| json!({"model": "m", "max_tokens": 9, "messages": [{"role": "assistant", "content": [block]}, asked("y")]});
    let with = |item: &Value, field: &str, change: &dyn Fn(&str) -> String| {
        let mut changed = item.clone();
        changed[field] = json!(change(item[field].as_str().unwrap()));
        changed
    };
    let check = async |token: &str, wire: Wire, body: Value, code: &str| {
        let (status, refused) = read(post(token, wire, &body)).await;
        let error = &refused["error"];
        assert_eq!((status, &error["type"]), (400, &json!("invalid_request_error")), "{refused}");
        match wire {
            Wire::Anthropic => {
                assert_eq!((&refused["type"], &error["details"]["error_code"]), (&json!("error"), &json!(code)));
            }
            _ => assert_eq!((&error["code"], &error["param"]), (&json!(code), &json!("input[1].encrypted_content"))),
        }
        assert!(!refused.to_string().contains("parser"), "nothing of the item is told: {refused}");
    };
    let flipped = |text: &str| {
        let at = text.len() / 2;
        format!("{}{}{}", &text[..at], if &text[at..=at] == "A" { "B" } else { "A" }, &text[at + 1..])
    };
    let cut = |text: &str| text[..text.len() / 2].to_owned();
    let of_another_key = |text: &str| text.replacen(&text[11..19], "00000000", 1);
    for change in [&flipped as &dyn Fn(&str) -> String, &cut, &of_another_key] {
        let body = of_openai(&with(&item, "encrypted_content", change));
        check(first, Wire::Responses, body, "invalid_encrypted_content").await;
        let body = of_anthropic(&with(&block, "encrypted_content", change));
        check(first, Wire::Anthropic, body, "compaction_signature_invalid").await;
    }
    check(second, Wire::Responses, of_openai(&item), "invalid_encrypted_content").await;
    check(second, Wire::Anthropic, of_anthropic(&block), "compaction_signature_invalid").await;
    let other_text = with(&block, "content", &|text| format!("{text}."));
    check(first, Wire::Anthropic, of_anthropic(&other_text), "compaction_content_mismatch").await;
    let mut misplaced = of_anthropic(&block);
    misplaced["messages"].as_array_mut().unwrap().insert(0, asked("x"));
    check(first, Wire::Anthropic, misplaced, "compaction_block_misplaced").await;
    let mut twice = of_anthropic(&block);
    twice["messages"].as_array_mut().unwrap().push(json!({"role": "assistant", "content": [block]}));
    check(first, Wire::Anthropic, twice, "compaction_block_ambiguous").await;
    let demanded = |messages: Value| json!({"messages": messages, "compaction": {"type": "summarize"}});
    check(first, Wire::Anthropic, demanded(json!([])), "compaction_nothing_to_summarize").await;
    let open = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]});
    check(first, Wire::Anthropic, demanded(json!([asked("x"), open])), "compaction_incomplete_turn").await;
    assert!(upstream.requests().is_empty(), "none of them went to the provider");
    let (status, _) = read(post(first, Wire::Responses, &of_openai(&item))).await;
    assert_eq!((status, upstream.requests().len()), (200, 1), "the item itself is good");
}

#[tokio::test]
async fn items_outlive_the_process_where_their_key_does() {
    let upstream = provider();
    let folder = Folder::new();
    let wire = Wire::Responses;
    let start = async |settings: Settings| {
        Running::start("", Settings { upstreams: in_front_of(&upstream.url()).upstreams, ..settings }).await
    };
    let kept = || Settings { store: folder.keeping(), ..Settings::default() };
    let file = tempfile::NamedTempFile::new().unwrap();
    let given = |text: &str| {
        std::fs::write(file.path(), text).unwrap();
        Settings { item_keys: ItemKeys::from_file(file.path()).unwrap(), ..Settings::default() }
    };
    let (old, new) = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210");
    let check = async |makes: Settings, reads: Settings, expect: u16| {
        let service = start(makes).await;
        let request = wire.request(12);
        let item = codex_item(&service, &request).await;
        drop(service);
        let service = start(reads).await;
        let (status, answer) = read(service.post(wire.path(), &kept_by_codex(&request, &item))).await;
        assert_eq!(status, expect, "{answer}");
    };
    check(kept(), kept(), 200).await;
    check(kept(), Settings { store: folder.keeping(), ..given(new) }, 200).await;
    check(Settings::default(), Settings::default(), 400).await;
    check(given(old), given(old), 200).await;
    check(given(old), given(&format!("{new}\n{old}\n")), 200).await;
    check(given(old), given(new), 400).await;
    check(kept(), Settings { store: StoreLocation::In("sqlite::memory:".to_owned()), ..Settings::default() }, 400)
        .await;
}

#[tokio::test]
async fn with_the_switch_off_items_that_were_given_still_hold() {
    let upstream = provider();
    let folder = Folder::new();
    let settings = || Settings { store: folder.keeping(), ..in_front_of(&upstream.url()) };
    let request = Wire::Responses.request(12);
    let item = codex_item(&Running::start("", settings()).await, &request).await;
    let service = Running::start("[proxy]\ncompaction = \"provider\"\n", settings()).await;
    let (status, _) = read(service.post(Wire::Responses.path(), &triggered(&kept_by_codex(&request, &item)))).await;
    let sent = upstream.requests()[0].json();
    let input = sent["input"].as_array().unwrap();
    assert_eq!((status, &input[input.len() - 1]["type"]), (200, &json!("compaction_trigger")));
    assert!(!sent.to_string().contains("epitome.c1."), "the provider gets messages that it can read");
}

#[tokio::test]
async fn tokens_are_counted_of_what_the_item_stands_for() {
    let upstream = provider();
    let service = Running::proxy(&upstream, "").await;
    let request = Wire::Responses.request(12);
    let item = codex_item(&service, &request).await;
    let counted = json!({"model": "m", "input": [item, asked("x")]});
    let (status, _) = read(service.post("/v1/responses/input_tokens", &counted)).await;
    let plain = json!({"model": "m", "messages": [asked("compact it")]});
    read(service.post("/v1/messages/count_tokens", &plain)).await;
    let seen = upstream.requests();
    assert_eq!((status, seen[0].text().matches("Find out why the build").count()), (200, 1));
    assert_eq!((seen[1].path.as_str(), seen[1].json()), ("/v1/messages/count_tokens", plain));
}

#[tokio::test]
async fn compressed_bodies_are_read() {
    let upstream = provider();
    let service = Running::proxy(&upstream, SMALL).await;
    let wire = Wire::Responses;
    let zstd = |body: &str| zstd::encode_all(body.as_bytes(), 3).unwrap();
    let gzip = |body: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(body.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let post = |encoding: &str, body: Vec<u8>| {
        let request = service.client.post(service.url(wire.path())).header("content-encoding", encoding);
        request.header("content-type", "application/json").body(body).send()
    };
    let long = wire.request(16).to_string();
    for (encoding, body) in [("zstd", zstd(&long)), ("gzip", gzip(&long))] {
        let response = post(encoding, body).await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), if encoding == "zstd" { "compacted" } else { "replayed" });
        let sent = upstream.requests().last().unwrap().clone();
        assert_eq!((sent.header("content-encoding"), sent.json()["temperature"].as_f64()), (None, Some(0.25)));
    }
    let item = post("zstd", zstd(&triggered(&wire.request(12)).to_string())).await.unwrap();
    assert_eq!(header(&item, "x-epitome-status"), "answered");
    let bomb = vec![b' '; 40 << 20];
    let response = post("zstd", zstd::encode_all(&bomb[..], 3).unwrap()).await.unwrap();
    assert_eq!(response.status().as_u16(), 413);
    for unreadable in ["zstd", "br"] {
        let response = post(unreadable, b"{}".to_vec()).await.unwrap();
        assert_eq!(header(&response, "x-epitome-detail"), "encoded", "what it cannot read goes through");
        assert_eq!(upstream.requests().last().unwrap().header("content-encoding"), Some(unreadable));
    }
}
