//! The proxy's own tools: what the model looks up, what the client sees of it, and what the provider is sent later.

use epitome::formats::{Wire as ProviderWire, validate};
use epitome_harness::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
use epitome_server::Tokens;
use serde_json::{Value, json};

use crate::support::{Running, SMALL, Wire, asked, header, in_front_of, read};

/// 8,000 usable tokens: soft 6,400. A page of passages has room above the target.
const LOW_TARGET: &str = "[budget]\nwindow = 9_000\nreserve_output = 1_000\nsoft = 0.8\ntarget = 2_500\n";

/// A part of what the model says.
#[derive(Clone)]
enum Part {
    Text(String),
    /// A call of a tool: id, name, arguments.
    Call(&'static str, &'static str, Value),
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn search(id: &'static str, words: &str) -> Part {
    Part::Call(id, "search_history", json!({"queries": [words]}))
}

fn bash(id: &'static str) -> Part {
    Part::Call(id, "bash", json!({"command": "make again"}))
}

/// An answer of a provider, whole or as a stream. It took 100 tokens in and 10 out.
fn answer(wire: Wire, parts: &[Part], is_stream: bool) -> ScriptedAnswer {
    if !is_stream {
        return ScriptedAnswer::json(200, whole(wire, parts));
    }
    let events = stream(wire, parts);
    ScriptedAnswer::bytes(200, events).header("content-type", "text/event-stream")
}

fn items(wire: Wire, parts: &[Part]) -> Vec<Value> {
    let item = |part: &Part| match (wire, part) {
        (Wire::Anthropic, Part::Text(text)) => json!({"type": "text", "text": text}),
        (Wire::Anthropic, Part::Call(id, name, input)) => {
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        (Wire::Responses, Part::Text(text)) => json!({"type": "message", "id": "msg", "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        (Wire::Responses, Part::Call(id, name, input)) => json!({"type": "function_call", "id": format!("fc_{id}"),
            "call_id": id, "name": name, "arguments": input.to_string()}),
        (Wire::Chat, Part::Text(text)) => json!(text),
        (Wire::Chat, Part::Call(id, name, input)) => json!({"id": id, "type": "function",
            "function": {"name": name, "arguments": input.to_string()}}),
    };
    parts.iter().map(item).collect()
}

fn calls(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Call(..)))
}

fn whole(wire: Wire, parts: &[Part]) -> Value {
    let items = items(wire, parts);
    match wire {
        Wire::Anthropic => json!({"id": "m", "type": "message", "role": "assistant", "content": items,
            "stop_reason": if calls(parts) { "tool_use" } else { "end_turn" },
            "usage": {"input_tokens": 100, "output_tokens": 10}}),
        Wire::Responses => json!({"id": "r", "object": "response", "status": "completed", "output": items,
            "usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}}),
        Wire::Chat => {
            let text: Option<String> = items.iter().find_map(|item| item.as_str().map(str::to_owned));
            let calls: Vec<&Value> = items.iter().filter(|item| item.is_object()).collect();
            let mut message = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                message["tool_calls"] = json!(calls);
            }
            let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
            json!({"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}})
        }
    }
}

fn stream(wire: Wire, parts: &[Part]) -> String {
    let mut events = String::new();
    let mut event = |json: Value| match json["type"].as_str() {
        Some(kind) => events.push_str(&format!("event: {kind}\ndata: {json}\n\n")),
        None => events.push_str(&format!("data: {json}\n\n")),
    };
    let items = items(wire, parts);
    match wire {
        Wire::Anthropic => {
            event(json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [],
                "usage": {"input_tokens": 100, "output_tokens": 1}}}));
            for (index, item) in items.iter().enumerate() {
                let (mut start, delta) = match item["type"] == "text" {
                    true => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": item["text"]})),
                    false => {
                        (item.clone(), json!({"type": "input_json_delta", "partial_json": item["input"].to_string()}))
                    }
                };
                if start["type"] == "tool_use" {
                    start["input"] = json!({});
                }
                event(json!({"type": "content_block_start", "index": index, "content_block": start}));
                event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
                event(json!({"type": "content_block_stop", "index": index}));
            }
            let reason = if calls(parts) { "tool_use" } else { "end_turn" };
            event(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 10}}));
            event(json!({"type": "message_stop"}));
        }
        Wire::Responses => {
            let mut number = 0;
            let mut event = |mut json: Value| {
                json["sequence_number"] = number.into();
                number += 1;
                event(json);
            };
            event(json!({"type": "response.created", "response": {"id": "r", "output": []}}));
            for (index, item) in items.iter().enumerate() {
                event(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
                if item["type"] == "message" {
                    let text = &item["content"][0]["text"];
                    event(json!({"type": "response.output_text.delta", "output_index": index, "delta": text}));
                } else {
                    let part = &item["arguments"];
                    event(
                        json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": part}),
                    );
                }
                event(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
            }
            event(json!({"type": "response.completed", "response": whole(wire, parts)}));
        }
        Wire::Chat => {
            let delta =
                |delta: Value| json!({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
            event(delta(json!({"role": "assistant", "content": ""})));
            let mut index = 0;
            for item in &items {
                if item.is_string() {
                    event(delta(json!({"content": item})));
                    continue;
                }
                let mut start = item.clone();
                start["index"] = index.into();
                start["function"]["arguments"] = "".into();
                event(delta(json!({"tool_calls": [start]})));
                let arguments = json!({"index": index, "function": {"arguments": item["function"]["arguments"]}});
                event(delta(json!({"tool_calls": [arguments]})));
                index += 1;
            }
            let reason = if calls(parts) { "tool_calls" } else { "stop" };
            event(json!({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
            event(json!({"id": "c", "choices": [],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}));
            events.push_str("data: [DONE]\n\n");
        }
    }
    events
}

/// What a client makes of an answer: its text, the names of its calls, and its tokens in and out.
#[derive(Debug, PartialEq)]
struct Seen {
    text: String,
    calls: Vec<String>,
    usage: (u64, u64),
    reason: String,
}

fn seen(wire: Wire, body: &str, is_stream: bool) -> Seen {
    let mut seen = Seen { text: String::new(), calls: Vec::new(), usage: (0, 0), reason: String::new() };
    let say = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if !is_stream {
        let json: Value = serde_json::from_str(body).unwrap();
        let usage = &json["usage"];
        let figures = |one: &str, other: &str| (usage[one].as_u64().unwrap(), usage[other].as_u64().unwrap());
        let list = match wire {
            Wire::Anthropic => {
                (seen.usage, seen.reason) = (figures("input_tokens", "output_tokens"), say(&json["stop_reason"]));
                json["content"].as_array().unwrap().clone()
            }
            Wire::Responses => {
                seen.usage = figures("input_tokens", "output_tokens");
                json["output"].as_array().unwrap().clone()
            }
            Wire::Chat => {
                let choice = &json["choices"][0];
                (seen.usage, seen.reason) =
                    (figures("prompt_tokens", "completion_tokens"), say(&choice["finish_reason"]));
                seen.text = say(&choice["message"]["content"]);
                let calls = choice["message"]["tool_calls"].as_array().into_iter().flatten();
                seen.calls = calls.map(|call| say(&call["function"]["name"])).collect();
                Vec::new()
            }
        };
        for item in &list {
            seen.text += &say(&item["text"]);
            seen.text += &say(&item["content"][0]["text"]);
            seen.calls.extend(item["name"].as_str().map(str::to_owned));
        }
        return seen;
    }
    let mut blocks = 0;
    let mut starts = 0;
    for line in body.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let Ok(json) = serde_json::from_str::<Value>(line) else { continue };
        match json["type"].as_str().unwrap_or_default() {
            "message_start" => {
                starts += 1;
                seen.usage.0 = json["message"]["usage"]["input_tokens"].as_u64().unwrap();
            }
            "content_block_start" => {
                assert_eq!(json["index"], blocks, "the blocks are numbered through: {body}");
                blocks += 1;
                seen.calls.extend(json["content_block"]["name"].as_str().map(str::to_owned));
            }
            "content_block_delta" => seen.text += &say(&json["delta"]["text"]),
            "message_delta" => {
                seen.usage.1 = json["usage"]["output_tokens"].as_u64().unwrap();
                seen.reason = say(&json["delta"]["stop_reason"]);
                seen.usage.0 = json["usage"]["input_tokens"].as_u64().unwrap_or(seen.usage.0);
            }
            "response.created" => starts += 1,
            "response.output_item.added" => {
                assert_eq!(json["output_index"], blocks, "the items are numbered through: {body}");
                blocks += 1;
                seen.calls.extend(json["item"]["name"].as_str().map(str::to_owned));
            }
            "response.output_text.delta" => seen.text += &say(&json["delta"]),
            "response.completed" => {
                let usage = &json["response"]["usage"];
                seen.usage = (usage["input_tokens"].as_u64().unwrap(), usage["output_tokens"].as_u64().unwrap());
                assert_eq!(json["response"]["output"].as_array().unwrap().len(), blocks, "{body}");
            }
            _ => {
                let choice = &json["choices"][0];
                seen.text += &say(&choice["delta"]["content"]);
                for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
                    seen.calls.extend(call["function"]["name"].as_str().map(str::to_owned));
                }
                seen.reason += &say(&choice["finish_reason"]);
                if json["usage"].is_object() {
                    let figure = |name: &str| json["usage"][name].as_u64().unwrap();
                    seen.usage = (figure("prompt_tokens"), figure("completion_tokens"));
                }
            }
        }
    }
    assert!(starts <= 1, "it begins once: {body}");
    if wire == Wire::Responses {
        let numbers = body.lines().filter_map(|line| line.strip_prefix("data: "));
        let numbers = numbers.filter_map(|line| serde_json::from_str::<Value>(line).ok()?["sequence_number"].as_u64());
        assert!(numbers.collect::<Vec<u64>>().windows(2).all(|pair| pair[0] + 1 == pair[1]), "{body}");
    }
    seen
}

fn profile(wire: Wire) -> ProviderWire {
    match wire {
        Wire::Chat => ProviderWire::OpenaiChat,
        Wire::Responses => ProviderWire::OpenaiResponses,
        Wire::Anthropic => ProviderWire::Anthropic,
    }
}

fn messages(wire: Wire, seen: &ReceivedRequest) -> Vec<String> {
    seen.json()[wire.list()].as_array().unwrap().iter().map(ToString::to_string).collect()
}

fn tool_names(seen: &ReceivedRequest) -> Vec<String> {
    let body = seen.json();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).unwrap().to_owned();
    tools.iter().map(name).collect()
}

/// A request that has to be compacted, streamed or not, with a tool of the client's.
fn request(wire: Wire, is_stream: bool) -> Value {
    let mut request = wire.request(16);
    request["stream"] = is_stream.into();
    let schema = json!({"type": "object", "properties": {}});
    request["tools"] = match wire {
        Wire::Chat => json!([{"type": "function", "function": {"name": "bash", "parameters": schema}}]),
        Wire::Responses => json!([{"type": "function", "name": "bash", "parameters": schema}]),
        Wire::Anthropic => json!([{"name": "bash", "input_schema": schema}]),
    };
    request
}

/// Each format, streamed and not.
fn all() -> impl Iterator<Item = (Wire, bool)> {
    Wire::ALL.into_iter().flat_map(|wire| [(wire, false), (wire, true)])
}

/// A provider that says one thing after the other, and a service in front of it.
async fn start(wire: Wire, is_stream: bool, said: &[Vec<Part>]) -> (ScriptedServer, Running) {
    let upstream = ScriptedServer::start(said.iter().map(|parts| answer(wire, parts, is_stream)).collect());
    let service = Running::proxy(&upstream, LOW_TARGET).await;
    (upstream, service)
}

#[tokio::test]
async fn nothing_is_added_while_nothing_has_left() {
    for (wire, is_stream) in all() {
        let parts = [text("Good.")];
        let (upstream, service) = start(wire, is_stream, &[parts.to_vec()]).await;
        let mut request = wire.request(2);
        request["stream"] = is_stream.into();
        let response = service.post(wire.path(), &request).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), "passed");
        let expect = if is_stream { stream(wire, &parts) } else { whole(wire, &parts).to_string() };
        assert_eq!(response.text().await.unwrap(), expect, "byte for byte");
        assert_eq!(upstream.requests()[0].text(), request.to_string(), "byte for byte");
    }
}

#[tokio::test]
async fn the_client_sees_the_final_answer_only() {
    for (wire, is_stream) in all() {
        let said = [
            vec![text("Let me look."), search("s1", "warnings part_3 file_7"), search("s2", "")],
            vec![Part::Call("s3", "recall", json!({"handle": "#1"}))],
            vec![text("It was part 3.")],
            vec![text("Part 3 again.")],
        ];
        let (upstream, service) = start(wire, is_stream, &said).await;
        let request = request(wire, is_stream);
        let response = service.post(wire.path(), &request).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), "compacted", "{wire:?}");
        let body = response.text().await.unwrap();
        let got = seen(wire, &body, is_stream);
        assert_eq!((got.text.as_str(), got.calls.len()), ("It was part 3.", 0), "{wire:?} {body}");
        assert_eq!(got.usage, (100, 30), "the newest answer's context, and what all of them took to write: {body}");
        let requests = upstream.requests();
        assert_eq!(requests.len(), 3);
        for seen in &requests {
            assert_eq!(tool_names(seen), ["bash", "search_history", "recall", "compact_context"]);
            assert_eq!(validate(&seen.text(), profile(wire)), [], "{}", seen.text());
            assert_eq!(seen.json()["temperature"], 0.25);
        }
        let second = messages(wire, &requests[1]);
        assert!(second.iter().any(|it| it.contains("src/part_3/file_7.rs: checked, 49 warnings")), "{second:?}");
        assert!(
            second.last().unwrap().contains("`queries` is missing"),
            "what is wrong is told to the model: {second:?}"
        );
        let third = messages(wire, &requests[2]);
        assert_eq!(third[..second.len()], second[..], "the provider's cache stays warm");
        // The next turn, and the one after: what was looked up stands where it was.
        let mut longer = request.clone();
        for turn in 0..2 {
            longer = wire.longer(&longer, vec![wire.said("It was part 3."), asked(&format!("And {turn}?"))]);
            let response = service.post(wire.path(), &longer).send().await.unwrap();
            assert_eq!(header(&response, "x-epitome-status"), "replayed", "{wire:?} {turn}");
            let requests = upstream.requests();
            let now = messages(wire, requests.last().unwrap());
            assert_eq!(now[..third.len()], third[..], "{wire:?} {turn}: the provider's cache stays warm");
            assert_eq!(now.len(), third.len() + 2 * (turn + 1));
            assert_eq!(validate(&requests.last().unwrap().text(), profile(wire)), []);
        }
        let (status, metrics) = read(service.client.get(service.url("/metrics"))).await;
        assert_eq!(status, 200);
        for line in ["{by=\"proxy\",found=\"false\"} 1\n", "{by=\"proxy\",found=\"true\"} 2\n"] {
            assert!(metrics.as_str().unwrap().contains(&format!("epitome_lookups_total{line}")), "{metrics}");
        }
        let (_, listed) = read(service.client.get(service.url("/v1/proxy/conversations"))).await;
        assert_eq!((&listed["items"][0]["lookups"], &listed["items"][0]["lookups_found"]), (&json!(3), &json!(2)));
    }
}

fn compact(id: &'static str) -> Part {
    let asked = json!({"reason": "part 3 is done", "next_step": "part 4", "keep": ["#1"]});
    Part::Call(id, "compact_context", asked)
}

#[tokio::test]
async fn a_model_compacts_its_own_context() {
    let settings = format!("{LOW_TARGET}[live]\nasked_share = 0.1\nasked_calls = 0\n");
    for (wire, is_stream) in all() {
        let said = [vec![compact("c1")], vec![text("On to part 4.")], vec![text("Good.")]];
        let answers = said.iter().map(|parts| answer(wire, parts, is_stream)).collect();
        let upstream = ScriptedServer::start(answers);
        let service = Running::proxy(&upstream, &settings).await;
        let request = request(wire, is_stream);
        let body = service.post(wire.path(), &request).send().await.unwrap().text().await.unwrap();
        let got = seen(wire, &body, is_stream);
        assert_eq!((got.text.as_str(), got.calls.len()), ("On to part 4.", 0), "{wire:?} {body}");
        let requests = upstream.requests();
        let (first, second) = (messages(wire, &requests[0]), messages(wire, &requests[1]));
        let told = second.last().unwrap();
        assert!(told.contains("Compacted: the messages took") && told.contains("Kept whole: #1."), "{told}");
        let bytes = |messages: &[String]| messages.iter().map(String::len).sum::<usize>();
        assert!(bytes(&second) * 4 < bytes(&first) * 3, "{} of {}: {second:?}", bytes(&second), bytes(&first));
        assert_eq!(validate(&requests[1].text(), profile(wire)), [], "{}", requests[1].text());
        // The compaction stands, and what was asked for too.
        let longer = wire.longer(&request, vec![wire.said("On to part 4."), asked("And then?")]);
        let response = service.post(wire.path(), &longer).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), "replayed", "{wire:?}");
        assert_eq!(header(&response, "x-epitome-epoch"), "2", "{wire:?}");
        response.bytes().await.unwrap();
        let third = upstream.requests().pop().unwrap();
        assert_eq!(messages(wire, &third)[..second.len()], second[..], "{wire:?}: the provider's cache stays warm");
        assert_eq!(validate(&third.text(), profile(wire)), []);
    }
}

#[tokio::test]
async fn a_model_that_asks_too_soon_goes_on_as_it_was() {
    let wire = Wire::Anthropic;
    let check = async |parts: &[Part], settings: &str, expect: &str| {
        let upstream = ScriptedServer::start(vec![answer(wire, parts, false), answer(wire, &[text("On.")], false)]);
        let service = Running::proxy(&upstream, &format!("{LOW_TARGET}[live]\n{settings}\n")).await;
        let mut request = request(wire, false);
        service.post(wire.path(), &request).send().await.unwrap().bytes().await.unwrap();
        if upstream.requests().len() == 1 {
            let called = json!({"type": "tool_use", "id": "b1", "name": "bash", "input": {"command": "make again"}});
            let result = json!({"type": "tool_result", "tool_use_id": "b1", "content": "made"});
            let more =
                vec![json!({"role": "assistant", "content": [called]}), json!({"role": "user", "content": [result]})];
            request = wire.longer(&request, more);
            service.post(wire.path(), &request).send().await.unwrap().bytes().await.unwrap();
        }
        let requests = upstream.requests();
        let (first, last) = (messages(wire, &requests[0]), messages(wire, requests.last().unwrap()));
        assert_eq!(last[..first.len()], first[..], "nothing left");
        assert!(last.last().unwrap().contains(expect), "{expect} in {last:?}");
        assert_eq!(validate(&requests.last().unwrap().text(), profile(wire)), []);
    };
    check(&[compact("c1")], "asked_share = 0.9", "Not yet: the context is").await;
    check(&[compact("c1")], "asked_share = 0.1", "Not yet: the context was compacted 0 turns of yours ago").await;
    let both = [compact("c1"), bash("b1")];
    let open = "Not yet: the calls beside this one are not answered yet.";
    check(&both, "asked_share = 0.1\nasked_calls = 0", open).await;
    let wrong = Part::Call("c1", "compact_context", json!({"reason": "done"}));
    check(&[wrong], "asked_share = 0.1", "`next_step` is missing").await;
}

#[tokio::test]
async fn beside_the_clients_calls() {
    for (wire, is_stream) in all() {
        for first in [true, false] {
            let mut parts = vec![text("Both."), search("s1", "part_3 file_7"), bash("b1")];
            if !first {
                parts.swap(1, 2);
            }
            let (upstream, service) = start(wire, is_stream, &[parts, vec![text("Done.")]]).await;
            let request = request(wire, is_stream);
            let body = service.post(wire.path(), &request).send().await.unwrap().text().await.unwrap();
            let got = seen(wire, &body, is_stream);
            assert_eq!((got.text.as_str(), &got.calls[..]), ("Both.", &["bash".to_owned()][..]), "{wire:?} {body}");
            assert_eq!(got.usage, (100, 10));
            assert!(["", "tool_use", "tool_calls"].contains(&got.reason.as_str()), "{body}");
            assert_eq!(upstream.requests().len(), 1, "the client has its calls at once");
            // The client brings its result: the provider gets both, each call with its result.
            let arguments = json!({"command": "make again"});
            let more = match wire {
                Wire::Chat => vec![
                    json!({"role": "assistant", "content": "Both.", "tool_calls": [{"id": "b1", "type": "function",
                        "function": {"name": "bash", "arguments": arguments.to_string()}}]}),
                    json!({"role": "tool", "tool_call_id": "b1", "content": "made"}),
                ],
                Wire::Responses => vec![
                    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Both."}]}),
                    json!({"type": "function_call", "call_id": "b1", "name": "bash", "arguments": arguments.to_string()}),
                    json!({"type": "function_call_output", "call_id": "b1", "output": "made"}),
                ],
                Wire::Anthropic => vec![
                    json!({"role": "assistant", "content": [{"type": "text", "text": "Both."},
                        {"type": "tool_use", "id": "b1", "name": "bash", "input": arguments}]}),
                    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b1", "content": "made"}]}),
                ],
            };
            let longer = wire.longer(&request, more);
            let body = service.post(wire.path(), &longer).send().await.unwrap().text().await.unwrap();
            assert_eq!(seen(wire, &body, is_stream).text, "Done.");
            let requests = upstream.requests();
            let now = requests.last().unwrap().text();
            assert_eq!(validate(&now, profile(wire)), [], "{wire:?} {now}");
            for part in ["\"s1\"", "\"b1\"", "made", "src/part_3/file_7.rs: checked, 49 warnings"] {
                assert!(now.contains(part), "{wire:?}: {part} in {now}");
            }
            let before = messages(wire, &requests[0]);
            assert_eq!(messages(wire, &requests[1])[..before.len()], before[..], "{wire:?}");
        }
    }
}

#[tokio::test]
async fn rounds_are_bounded() {
    for (wire, is_stream) in all() {
        for has_tools in [true, false] {
            let (upstream, service) = start(wire, is_stream, &[vec![text("Once more."), search("s", "part_3")]]).await;
            let mut request = request(wire, is_stream);
            if !has_tools {
                request.as_object_mut().unwrap().remove("tools");
            }
            let body = service.post(wire.path(), &request).send().await.unwrap().text().await.unwrap();
            let got = seen(wire, &body, is_stream);
            assert_eq!((got.text.as_str(), got.calls.len()), ("Once more.", 0), "{wire:?} {body}");
            assert!(["", "end_turn", "stop"].contains(&got.reason.as_str()), "{body}");
            let requests = upstream.requests();
            assert_eq!(requests.len(), 9);
            let last = &requests[8];
            let offered = tool_names(last).contains(&"search_history".to_owned());
            assert_eq!((offered, last.json()["tool_choice"].is_null()), (!has_tools, has_tools), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_turns_to_a_search_late_goes_on() {
    let long = "This is a long beginning of an answer. ".repeat(20);
    for wire in Wire::ALL {
        let said = [vec![text(&long), search("s1", "part_3 file_7")], vec![text("It was part 3.")], vec![text("Yes.")]];
        let (upstream, service) = start(wire, true, &said).await;
        let request = request(wire, true);
        let body = service.post(wire.path(), &request).send().await.unwrap().text().await.unwrap();
        let got = seen(wire, &body, true);
        assert_eq!(got.text, format!("{long}It was part 3."), "{wire:?} {body}");
        assert_eq!((got.calls.len(), got.usage), (0, (100, 20)), "{body}");
        // The client's history holds both parts, so nothing is told twice.
        let longer = wire.longer(&request, vec![wire.said(&got.text), asked("Sure?")]);
        service.post(wire.path(), &longer).send().await.unwrap().text().await.unwrap();
        let last = upstream.requests().pop().unwrap();
        assert_eq!(last.text().matches("This is a long beginning of an answer.").count(), 20, "{}", last.text());
        assert_eq!(validate(&last.text(), profile(wire)), []);
    }
}

#[tokio::test]
async fn a_provider_that_refuses_gets_the_clients_own_request() {
    for (wire, is_stream) in all() {
        // Our tools themselves.
        let upstream = ScriptedServer::start_with(move |_, seen| match tool_names(seen).len() {
            1 => answer(wire, &[text("Without.")], is_stream),
            _ => ScriptedAnswer::json(400, r#"{"error":{"message":"no tools of yours"}}"#),
        });
        let service = Running::proxy(&upstream, LOW_TARGET).await;
        let response = service.post(wire.path(), &request(wire, is_stream)).send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(seen(wire, &response.text().await.unwrap(), is_stream).text, "Without.", "{wire:?}");
        // What was looked up.
        let upstream = ScriptedServer::start_with(move |number, _| match number {
            0 => answer(wire, &[search("s1", "part_3")], is_stream),
            1 => ScriptedAnswer::json(500, r#"{"error":{"message":"overloaded"}}"#),
            _ => answer(wire, &[text("Without.")], is_stream),
        });
        let service = Running::proxy(&upstream, LOW_TARGET).await;
        let body = service.post(wire.path(), &request(wire, is_stream)).send().await.unwrap().text().await.unwrap();
        assert_eq!(seen(wire, &body, is_stream).text, "Without.", "{wire:?} {body}");
        assert_eq!(tool_names(&upstream.requests()[2]), ["bash"]);
        // All of it: the provider's own words.
        let upstream = ScriptedServer::start_with(move |number, _| match number {
            0 => answer(wire, &[search("s1", "part_3")], is_stream),
            _ => ScriptedAnswer::json(529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}"#),
        });
        let service = Running::proxy(&upstream, LOW_TARGET).await;
        let response = service.post(wire.path(), &request(wire, is_stream)).send().await.unwrap();
        assert_eq!(response.status().as_u16(), if is_stream { 200 } else { 529 }, "{wire:?}");
        let body = response.text().await.unwrap();
        assert!(body.contains("Busy") && body.contains("error"), "{wire:?} {body}");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_breaks_off() {
    for wire in Wire::ALL {
        for parts in [vec![text("Half of it.")], vec![search("s1", "part_3")]] {
            let whole = stream(wire, &parts);
            let cut = whole.len() - 40;
            let upstream = ScriptedServer::start(vec![
                ScriptedAnswer::bytes(200, whole.clone()).header("content-type", "text/event-stream").cut_after(cut),
            ]);
            let service = Running::proxy(&upstream, LOW_TARGET).await;
            let mut response = service.post(wire.path(), &request(wire, true)).send().await.unwrap();
            let mut got = Vec::new();
            let broke_off = loop {
                match response.chunk().await {
                    Ok(Some(piece)) => got.extend_from_slice(&piece),
                    Ok(None) => break false,
                    Err(_) => break true,
                }
            };
            let got = String::from_utf8(got).unwrap();
            assert!(broke_off, "{wire:?}: the client is not told that it is whole: {got}");
            assert!(!got.contains("search_history"), "{wire:?} {got}");
            assert_eq!(upstream.requests().len(), 1);
        }
    }
}

#[tokio::test]
async fn another_tenant_sees_nothing_of_it() {
    let wire = Wire::Anthropic;
    let upstream = ScriptedServer::start_with(move |number, _| match number {
        0 => answer(wire, &[search("s1", "part_3 file_7")], false),
        _ => answer(wire, &[text("It was part 3.")], false),
    });
    let settings = epitome_server::Settings {
        tokens: Tokens::parse("alice open-sesame-one-two\nbob open-sesame-two-two\n").unwrap(),
        ..in_front_of(&upstream.url())
    };
    let service = Running::start(LOW_TARGET, settings).await;
    let request = request(wire, false);
    let as_tenant = |token: &str, body: &Value| service.post(wire.path(), body).header("x-epitome-token", token).send();
    as_tenant("open-sesame-one-two", &request).await.unwrap();
    let longer = wire.longer(&request, vec![wire.said("It was part 3."), asked("Sure?")]);
    as_tenant("open-sesame-two-two", &longer).await.unwrap();
    let requests = upstream.requests();
    assert!(!requests.last().unwrap().text().contains("\"s1\""), "the same words, but another's");
    as_tenant("open-sesame-one-two", &longer).await.unwrap();
    assert!(upstream.requests().last().unwrap().text().contains("\"s1\""));
}

#[tokio::test]
async fn switched_off_nothing_is_added() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let service = Running::proxy(&upstream, &format!("{SMALL}[proxy]\nrecall = false\n")).await;
    let response = service.post(Wire::Chat.path(), &request(Wire::Chat, false)).send().await.unwrap();
    assert_eq!(header(&response, "x-epitome-status"), "compacted");
    assert_eq!(tool_names(&upstream.requests()[0]), ["bash"]);
    assert!(!upstream.requests()[0].text().contains("recall"), "and no handle is named");
}

#[tokio::test]
async fn where_the_model_may_call_nothing_nothing_names_the_tool() {
    for wire in Wire::ALL {
        let upstream = ScriptedServer::start_with(move |_, _| answer(wire, &[text("Good.")], false));
        let service = Running::proxy(&upstream, LOW_TARGET).await;
        let mut conversation = request(wire, false);
        let mut send = async |change: &dyn Fn(&mut Value), is_named: bool| {
            let mut request = conversation.clone();
            change(&mut request);
            let response = service.post(wire.path(), &request).send().await.unwrap();
            let status = header(&response, "x-epitome-status").to_owned();
            assert!(["compacted", "replayed"].contains(&status.as_str()), "{wire:?}: {status}");
            let seen = upstream.requests().pop().unwrap();
            let messages = messages(wire, &seen).join("\n");
            for word in ["search_history", "recall "] {
                assert_eq!(messages.contains(word), is_named, "{wire:?}: {word} in {messages}");
            }
            assert_eq!(tool_names(&seen).contains(&"search_history".to_owned()), is_named, "{wire:?}");
            assert_eq!(validate(&seen.text(), profile(wire)), [], "{wire:?}");
            conversation = wire.longer(&conversation, vec![wire.said("Good."), asked("And now?")]);
        };
        let none = |request: &mut Value| {
            request["tool_choice"] = match wire {
                Wire::Anthropic => json!({"type": "none"}),
                Wire::Chat | Wire::Responses => json!("none"),
            };
        };
        let form = |request: &mut Value| {
            request["tools"] = json!([]);
            match wire {
                Wire::Anthropic => request["output_format"] = json!({"type": "json_schema", "schema": {}}),
                Wire::Chat => request["response_format"] = json!({"type": "json_object"}),
                Wire::Responses => request["text"] = json!({"format": {"type": "json_object"}}),
            }
        };
        // The compaction is made in a request that may call nothing, and is the same for those that may.
        send(&none, false).await;
        send(&|_| {}, true).await;
        send(&form, false).await;
        send(&|request| request["tool_choice"] = json!({"type": "allowed_tools"}), false).await;
        send(&|request| request["tool_choice"] = json!({"type": "auto"}), true).await;
    }
}
