//! Hand-offs that the conversation's own model writes: asked at the end of the client's own request, prepared before they
//! are due.

use std::time::Duration;

use epitome_harness::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
use epitome_server::{Limits, Settings};
use reqwest::Response;
use serde_json::{Value, json};

use crate::support::{Running, Wire, asked, header, in_front_of, read};

/// 8,000 usable tokens: soft 6,400, hard 7,600, target 4,000. Nothing but `summarizer` is set for the hand-off.
const LLM: &str =
    "[budget]\nwindow = 9_000\nreserve_output = 1_000\nsoft = 0.8\ntarget = 0.5\n[summary]\nsummarizer = \"llm\"\n";

/// What begins the instruction.
const INSTRUCTION: &str = "This is not a part of the work.";

const HANDOFF: &str = "## Goal\n- Find out why the build of the parser fails.\n\n## Constraints\n- none\n\n## State\n- make was \
    run; src/part_1/file_2.rs was checked, 14 warnings.\n\n## Decisions\n- none\n\n## Findings\n- All files that were looked at \
    have warnings and nothing else to say, src/part_0/file_3.rs too.\n\n## Failed\n- none\n\n## Open\n- The reason is not \
    known.\n\n## Next step\n- Say what is known now.";

/// What the provider answers in the end of a conversation.
#[derive(Debug, Clone, Copy)]
enum Answer {
    Handoff,
    ToolCall,
    Refusal,
    /// A stream that ends before its end.
    Cut,
    Busy,
}

fn is_instruction(seen: &ReceivedRequest) -> bool {
    seen.text().contains(INSTRUCTION)
}

fn answer(wire: Wire, answer: Answer, streams: bool) -> ScriptedAnswer {
    if matches!(answer, Answer::Busy) {
        return ScriptedAnswer::json(
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        );
    }
    let stops = |calls: &'static str, refuses: &'static str, ends: &'static str| match answer {
        Answer::ToolCall => calls,
        Answer::Refusal => refuses,
        _ => ends,
    };
    let is_call = matches!(answer, Answer::ToolCall);
    let whole = match wire {
        Wire::Anthropic => json!({
            "content": [if is_call { json!({"type": "tool_use", "id": "t", "name": "bash", "input": {}}) }
                else { json!({"type": "text", "text": HANDOFF}) }],
            "stop_reason": stops("tool_use", "refusal", "end_turn"),
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 6_000, "output_tokens": 90},
        }),
        Wire::Chat => json!({
            "choices": [{
                "message": {"content": HANDOFF, "tool_calls": if is_call { json!([{"id": "t"}]) } else { Value::Null }},
                "finish_reason": stops("tool_calls", "content_filter", "stop"),
            }],
            "usage": {"prompt_tokens": 6_010, "completion_tokens": 90, "prompt_tokens_details": {"cached_tokens": 6_000}},
        }),
        Wire::Responses => json!({
            "status": "completed",
            "output": [
                if is_call { json!({"type": "function_call", "name": "bash"}) } else { json!({"type": "reasoning"}) },
                {"type": "message", "content": [match answer {
                    Answer::Refusal => json!({"type": "refusal", "refusal": "No."}),
                    _ => json!({"type": "output_text", "text": HANDOFF}),
                }]},
            ],
            "usage": {"input_tokens": 6_010, "output_tokens": 90, "input_tokens_details": {"cached_tokens": 6_000}},
        }),
    };
    if !streams {
        return ScriptedAnswer::json(200, whole.to_string());
    }
    let mut events = match wire {
        Wire::Anthropic => vec![
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "cache_read_input_tokens": 6_000}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": whole["content"][0]}),
            json!({"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"]}, "usage": {"output_tokens": 90}}),
            json!({"type": "message_stop"}),
        ],
        Wire::Chat => vec![
            json!({"choices": [{"delta": {"content": HANDOFF}}]}),
            json!({"choices": [{"delta": {"tool_calls": if is_call { json!([{"index": 0}]) } else { Value::Null }},
                "finish_reason": whole["choices"][0]["finish_reason"]}], "usage": whole["usage"]}),
        ],
        Wire::Responses => vec![
            json!({"type": "response.created", "response": {}}),
            json!({"type": "response.completed", "response": whole}),
        ],
    };
    if matches!(answer, Answer::Cut) {
        events.pop();
        events.pop_if(|_| wire == Wire::Anthropic);
    }
    let text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    ScriptedAnswer::bytes(200, text).header("content-type", "text/event-stream")
}

/// A provider that answers instructions so, and everything else with nothing.
fn upstream(wire: Wire, to_instruction: Answer) -> ScriptedServer {
    ScriptedServer::start_with(move |_, seen| match is_instruction(seen) {
        true => answer(wire, to_instruction, seen.json()["stream"] == true),
        false => ScriptedAnswer::json(200, "{}"),
    })
}

async fn send(service: &Running, wire: Wire, request: &Value) -> Response {
    service.post(wire.path(), request).header("x-api-key", "sesame").send().await.unwrap()
}

fn items(wire: Wire, request: &Value) -> &Vec<Value> {
    request[wire.list()].as_array().unwrap()
}

#[tokio::test]
async fn the_conversations_own_model_is_asked() {
    for wire in Wire::ALL {
        for streams in [false, true] {
            let upstream = upstream(wire, Answer::Handoff);
            let service = Running::proxy(&upstream, LLM).await;
            let mut request = wire.request(16);
            request["stream"] = json!(streams);
            request["tools"] = json!([{"type": "function", "name": "bash", "function": {"name": "bash"}}]);
            let response = send(&service, wire, &request).await;
            assert_eq!(header(&response, "x-epitome-status"), "compacted", "{wire:?}");
            let seen = upstream.requests();
            assert_eq!(seen.len(), 2, "{wire:?}: one instruction, and the smaller request");
            let (instruction, sent) = (seen[0].json(), seen[1].json());
            assert!(is_instruction(&seen[0]) && seen[0].path == wire.path());
            assert_eq!(seen[0].header("x-api-key"), Some("sesame"), "the client's own credentials");
            let (came, behind) = items(wire, &instruction).split_at(items(wire, &request).len());
            assert_eq!((came, behind.len()), (items(wire, &request).as_slice(), 1), "{wire:?}: the same, and one more");
            for field in ["model", "system", "instructions", "tools", "temperature", "stream"] {
                assert_eq!(instruction[field], request[field], "{wire:?} {field}");
            }
            assert_eq!(instruction["tool_choice"], if wire == Wire::Anthropic { Value::Null } else { json!("none") });
            let sent = sent.to_string();
            assert!(sent.contains("## Goal\\n- Find out why") && sent.contains("## Next step"), "{sent}");
            assert!(!sent.contains(INSTRUCTION) && !sent.contains("unverified"), "{sent}");
            let metrics = service.get("/metrics").await.text().await.unwrap();
            assert!(metrics.lines().any(|line| line.contains("summary") && line.ends_with(" 6010")), "{metrics}");
            // Its account has the hand-off, and what was saved is less by it.
            let figure = |name: &str| header(&response, name).parse::<i64>().unwrap();
            let saved = figure("x-epitome-tokens-before") - figure("x-epitome-tokens-after");
            let list = read(service.client.get(service.url("/v1/proxy/conversations"))).await.1;
            let one = &list["items"][0];
            let summaries = [&one["summaries"]["answers"], &one["summaries"]["input"], &one["summaries"]["cached"]];
            assert_eq!(summaries, [&json!(1), &json!(6_010), &json!(6_000)], "{wire:?}: {list}");
            assert_eq!(one["tokens_saved"], json!(saved - 6_100), "{wire:?}: {list}");
            // What was decided is decided.
            let more = wire.longer(&request, vec![wire.said("A parser."), asked("And now?")]);
            let response = send(&service, wire, &more).await;
            assert_eq!(header(&response, "x-epitome-status"), "replayed", "{wire:?}");
            assert_eq!(upstream.requests().len(), 3);
        }
    }
}

#[tokio::test]
async fn where_it_gives_none_the_rules_do() {
    for wire in Wire::ALL {
        for (gives, streams) in [
            (Answer::ToolCall, false),
            (Answer::ToolCall, true),
            (Answer::Refusal, true),
            (Answer::Cut, true),
            (Answer::Busy, false),
        ] {
            let upstream = upstream(wire, gives);
            let service = Running::proxy(&upstream, LLM).await;
            let mut request = wire.request(16);
            request["stream"] = json!(streams);
            let response = send(&service, wire, &request).await;
            let what = format!("{wire:?} {gives:?} {streams}");
            assert_eq!(header(&response, "x-epitome-status"), "compacted", "{what}");
            let seen = upstream.requests();
            let asked = seen.iter().filter(|seen| is_instruction(seen)).count();
            // What came whole and is no good is asked for once more.
            let expect = if matches!(gives, Answer::Cut | Answer::Busy) { 1 } else { 2 };
            assert_eq!((asked, seen.len()), (expect, expect + 1), "{what}");
            let sent = seen[expect].text();
            assert!(sent.len() < request.to_string().len() * 2 / 3 && !sent.contains("## Next step"), "{what}: {sent}");
        }
    }
}

#[tokio::test]
async fn who_gives_none_is_not_asked_at_each_compaction() {
    for (wire, gives) in [(Wire::Anthropic, Answer::Refusal), (Wire::Chat, Answer::ToolCall)] {
        let upstream = upstream(wire, gives);
        let service = Running::proxy(&upstream, &format!("{LLM}background = false\n")).await;
        let mut request = wire.request(16);
        let instructions = || upstream.requests().iter().filter(|seen| is_instruction(seen)).count();
        for round in 1..3 {
            let response = send(&service, wire, &request).await;
            assert_eq!(header(&response, "x-epitome-status"), "compacted", "{wire:?} {round}");
            assert_eq!(instructions(), 2, "{wire:?}: once, and once more with the reason");
            request = wire.longer(&request, (0..8).flat_map(|step| wire.step(100 * round + step)).collect());
            request = wire.longer(&request, vec![wire.said("That is all."), asked("And now?")]);
        }
        // Another conversation is another matter.
        let mut other = wire.request(16);
        other[wire.list()].as_array_mut().unwrap().insert(1, wire.said("I build parsers."));
        other[wire.list()].as_array_mut().unwrap().insert(2, asked("Then build this one."));
        send(&service, wire, &other).await;
        assert_eq!(instructions(), 4, "{wire:?}");
    }
}

#[tokio::test]
async fn what_was_found_is_in_the_metrics() {
    let wire = Wire::Anthropic;
    let upstream = ScriptedServer::start_with(move |_, seen| match is_instruction(seen) {
        true => {
            let text = HANDOFF.replace("make was run", "src/ghost.rs was written");
            ScriptedAnswer::json(
                200,
                json!({"content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
                "usage": {"input_tokens": 10, "output_tokens": 90}}),
            )
        }
        false => ScriptedAnswer::json(200, "{}"),
    });
    let service = Running::proxy(&upstream, LLM).await;
    let response = send(&service, wire, &wire.request(16)).await;
    assert_eq!(header(&response, "x-epitome-status"), "compacted");
    let metrics = service.get("/metrics").await.text().await.unwrap();
    for (name, expect) in [("unverified", 1), ("retries", 0), ("fallbacks", 0), ("left_out", 0)] {
        let line = format!("epitome_summary_{name}_total{{of=\"proxy\"}} {expect}\n");
        assert!(metrics.contains(&line), "{line}: {metrics}");
    }
    assert!(upstream.requests().last().unwrap().text().contains("src/ghost.rs [unverified]"));
}

#[tokio::test]
async fn what_was_decided_is_sent_where_nothing_new_can_be() {
    for wire in Wire::ALL {
        let asked_before = std::sync::atomic::AtomicBool::new(false);
        let upstream = ScriptedServer::start_with(move |_, seen| match is_instruction(seen) {
            true if asked_before.swap(true, std::sync::atomic::Ordering::SeqCst) => {
                answer(wire, Answer::Handoff, false).held()
            }
            true => answer(wire, Answer::Handoff, false),
            false => ScriptedAnswer::json(200, "{}"),
        });
        let limits = Limits { work_timeout: Duration::from_secs(3), ..Limits::default() };
        let settings = Settings { limits, ..in_front_of(&upstream.url()) };
        let service = Running::start(&format!("{LLM}background = false\n"), settings).await;
        let mut request = wire.request(16);
        let response = send(&service, wire, &request).await;
        assert_eq!(header(&response, "x-epitome-status"), "compacted", "{wire:?}");
        let behind = items(wire, &request).len();
        request = wire.longer(&request, (100..108).flat_map(|step| wire.step(step)).collect());
        request = wire.longer(&request, vec![wire.said("That is all."), asked("And now?")]);
        // The model that writes the next hand-off takes too long; then the conversation is still being worked on.
        for more in [vec![], vec![wire.said("A parser."), asked("Sure?")]] {
            request = wire.longer(&request, more);
            let response = send(&service, wire, &request).await;
            let did = (header(&response, "x-epitome-status"), header(&response, "x-epitome-detail"));
            assert_eq!(did, ("failed-open", "timeout"), "{wire:?}");
            let sent = upstream.requests().into_iter().rfind(|seen| !is_instruction(seen)).unwrap().json();
            assert!(sent.to_string().contains("## Goal\\n- Find out why"), "{wire:?}: {sent}");
            let arrived = &items(wire, &request)[behind..];
            let tail = &items(wire, &sent)[items(wire, &sent).len() - arrived.len()..];
            assert_eq!(tail, arrived, "{wire:?}: what came behind the decision as it came");
        }
        upstream.release();
    }
}

#[tokio::test]
async fn nobody_waits() {
    for wire in Wire::ALL {
        let upstream = ScriptedServer::start_with(move |_, seen| match is_instruction(seen) {
            true => answer(wire, Answer::Handoff, false).held(),
            false => ScriptedAnswer::json(200, "{}"),
        });
        let service = Running::proxy(&upstream, LLM).await;
        let tokens = |response: &Response| header(response, "x-epitome-tokens-before").parse::<u32>().unwrap();
        let mut request = wire.request(8);
        let mut step = 8;
        let response = loop {
            let response = send(&service, wire, &request).await;
            if tokens(&response) > 6_400 {
                break response;
            }
            assert_eq!((header(&response, "x-epitome-status"), header(&response, "x-epitome-detail")), ("passed", ""));
            step += 1;
            request = wire.request(step);
        };
        assert!(tokens(&response) < 7_600);
        // The model has not said a word, and the client has its answer.
        assert_eq!(header(&response, "x-epitome-status"), "passed", "{wire:?}");
        assert_eq!(header(&response, "x-epitome-detail"), "preparing", "{wire:?}");
        let prefix = items(wire, &request).len();
        // Messages go on, and nothing more is asked.
        request = wire.longer(&request, vec![wire.said("It builds."), asked("Go on.")]);
        let response = send(&service, wire, &request).await;
        assert_eq!(header(&response, "x-epitome-detail"), "preparing", "{wire:?}");
        // What arrives behind the release would be held for good.
        while !upstream.requests().iter().any(is_instruction) {
            tokio::task::yield_now().await;
        }
        upstream.release();
        let more: Vec<Value> = (90..92).flat_map(|step| wire.step(step)).collect();
        request = wire.longer(&request, more);
        request = wire.longer(&request, vec![wire.said("Nearly."), asked("What is it?")]);
        let response = send(&service, wire, &request).await;
        let did = (header(&response, "x-epitome-status"), header(&response, "x-epitome-detail"));
        assert_eq!(did, ("compacted", ""), "{wire:?}");
        let after: u32 = header(&response, "x-epitome-tokens-after").parse().unwrap();
        assert!(after <= 7_600, "{after}");
        let seen = upstream.requests();
        assert_eq!(seen.iter().filter(|seen| is_instruction(seen)).count(), 1, "{wire:?}: one in flight");
        let sent: Value = seen.last().unwrap().json();
        let arrived = &items(wire, &request)[prefix..];
        let tail = &items(wire, &sent)[items(wire, &sent).len() - arrived.len()..];
        assert_eq!(tail, arrived, "{wire:?}: what arrived meanwhile stays as it came");
        assert!(sent.to_string().contains("## Goal\\n- Find out why"), "{sent}");
        // And it stays so.
        request = wire.longer(&request, vec![wire.said("That."), asked("Thanks.")]);
        let response = send(&service, wire, &request).await;
        assert_eq!(header(&response, "x-epitome-status"), "replayed", "{wire:?}");
    }
}

#[tokio::test]
async fn without_a_conversation_a_channel_is_needed() {
    let registry = epitome::registry();
    let config = epitome::Config::parse(LLM, "test.toml", &registry).unwrap();
    let error = config.build(&registry).unwrap_err().to_string();
    assert!(error.contains("needs a channel"), "{error}");
}

#[tokio::test]
async fn with_the_older_way_the_conversation_is_not_asked() {
    let check = async |ask: &str, expect: usize| {
        let upstream = upstream(Wire::Anthropic, Answer::Handoff);
        let channel = "[channels.none]\nbase_url = \"http://127.0.0.1:1/v1\"\nmodels = [\"m\"]\ntries = 1\n";
        let service = Running::proxy(&upstream, &format!("{LLM}ask = \"{ask}\"\n{channel}")).await;
        let response = send(&service, Wire::Anthropic, &Wire::Anthropic.request(16)).await;
        assert_eq!(header(&response, "x-epitome-status"), "compacted", "{ask}");
        assert_eq!(upstream.requests().iter().filter(|seen| is_instruction(seen)).count(), expect, "{ask}");
    };
    check("same-conversation", 1).await;
    check("transcript", 0).await;
}
