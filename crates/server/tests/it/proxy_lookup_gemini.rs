//! The proxy's own tools in Gemini's contents: what the model looks up, and what the client and Google see of it.

use epitome::formats::{Wire, validate};
use epitome_harness::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
use serde_json::{Value, json};

use crate::proxy_gemini::{PATH, request, text};
use crate::support::{Running, header};

/// 8,000 usable tokens: soft 6,400. A page of passages has room above the target.
const LOW_TARGET: &str = "[budget]\nwindow = 9_000\nreserve_output = 1_000\nsoft = 0.8\ntarget = 2_500\n";
const WHOLE: &str = "/v1beta/models/gemini-test:generateContent";
/// A line of a step that leaves.
const LINE: &str = "src/part_3/file_7.rs: checked, 49 warnings";

fn says(text: &str) -> Value {
    json!({"text": text})
}

fn calls(id: &str, name: &str, args: Value) -> Value {
    json!({"functionCall": {"id": id, "name": name, "args": args}})
}

fn search(id: &str) -> Value {
    calls(id, "search_history", json!({"queries": ["part_3 file_7"]}))
}

/// A call whose answer says what is wrong with it.
fn wrong(id: &str) -> Value {
    calls(id, "search_history", json!({}))
}

fn bash(id: &str) -> Value {
    calls(id, "bash", json!({"command": "make again"}))
}

fn signed(mut part: Value, signature: &str) -> Value {
    part["thoughtSignature"] = signature.into();
    part
}

/// An answer whose parts arrive as so many events, or whole. It took 100 tokens in and 10 out.
fn answer(events: &[&[Value]], is_stream: bool) -> ScriptedAnswer {
    let usage = json!({"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110});
    let event = |parts: &[Value], is_last: bool| {
        let mut event = json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}]});
        if is_last {
            event["candidates"][0]["finishReason"] = "STOP".into();
            event["usageMetadata"] = usage.clone();
        }
        event
    };
    if !is_stream {
        return ScriptedAnswer::json(200, event(&events.concat(), true));
    }
    let last = events.len() - 1;
    let stream: String =
        events.iter().enumerate().map(|(at, parts)| format!("data: {}\r\n\r\n", event(parts, at == last))).collect();
    ScriptedAnswer::bytes(200, stream).header("content-type", "text/event-stream")
}

/// What a client makes of an answer: its parts, and the tokens in, out and together.
fn seen(body: &str, is_stream: bool) -> (Vec<Value>, [u64; 3]) {
    let events: Vec<Value> = match is_stream {
        true => body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect(),
        false => vec![serde_json::from_str(body).unwrap()],
    };
    let usage = &events.last().unwrap()["usageMetadata"];
    assert_eq!(events.iter().filter(|event| event["candidates"][0]["finishReason"] == "STOP").count(), 1, "{body}");
    let parts = events.iter().flat_map(|event| event["candidates"][0]["content"]["parts"].as_array().unwrap().clone());
    let figures = ["promptTokenCount", "candidatesTokenCount", "totalTokenCount"];
    (parts.collect(), figures.map(|name| usage[name].as_u64().unwrap()))
}

/// A request that has to be compacted, with a tool of the client's and a last question.
fn long_request() -> Value {
    longer(&request(16), &[text("model", "That is all of it."), text("user", "What do you know now?")])
}

fn longer(request: &Value, more: &[Value]) -> Value {
    let mut longer = request.clone();
    longer["contents"].as_array_mut().unwrap().extend(more.iter().cloned());
    longer
}

fn contents(seen: &ReceivedRequest) -> Vec<Value> {
    seen.json()["contents"].as_array().unwrap().clone()
}

fn functions(seen: &ReceivedRequest) -> Vec<String> {
    let tools = seen.json()["tools"].as_array().cloned().unwrap_or_default();
    let functions = tools.iter().flat_map(|tool| tool["functionDeclarations"].as_array().unwrap().clone());
    functions.map(|function| function["name"].as_str().unwrap().to_owned()).collect()
}

fn path(is_stream: bool) -> &'static str {
    if is_stream { PATH } else { WHOLE }
}

async fn start(said: &[&[&[Value]]], is_stream: bool) -> (ScriptedServer, Running) {
    let upstream = ScriptedServer::start(said.iter().map(|events| answer(events, is_stream)).collect());
    let service = Running::proxy(&upstream, LOW_TARGET).await;
    (upstream, service)
}

async fn send(service: &Running, request: &Value, is_stream: bool) -> String {
    service.post(path(is_stream), request).send().await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn the_client_sees_the_final_answer_only() {
    for is_stream in [false, true] {
        let thought = json!({"text": "**Looking**", "thought": true});
        let first: &[&[Value]] = &[
            &[thought, says("Let me ")],
            &[says("look.")],
            &[signed(search("s1"), "sig-1"), wrong("s2")],
            &[says("")],
        ];
        let second: &[&[Value]] = &[&[signed(calls("s3", "recall", json!({"handle": "#1"})), "sig-3")]];
        let (upstream, service) =
            start(&[first, second, &[&[says("It was ")], &[says("part 3.")]], &[&[says("Yes.")]]], is_stream).await;
        let request = long_request();
        let (parts, usage) = seen(&send(&service, &request, is_stream).await, is_stream);
        assert_eq!((parts, usage), (vec![says("It was "), says("part 3.")], [100, 30, 130]));
        let requests = upstream.requests();
        assert_eq!(requests.len(), 3);
        for seen in &requests {
            assert_eq!(functions(seen), ["bash", "search_history", "recall", "compact_context"]);
            assert_eq!(seen.json()["tools"].as_array().unwrap().len(), 1, "Google takes one list of functions only");
            assert_eq!(validate(&seen.text(), Wire::Gemini), [], "{}", seen.text());
        }
        let second = contents(&requests[1]);
        let [.., said, found] = &second[..] else { panic!() };
        assert_eq!(
            *said,
            json!({"role": "model", "parts": [says("Let me look."), signed(search("s1"), "sig-1"), wrong("s2")]})
        );
        assert_eq!((&found["role"], &found["parts"][1]["functionResponse"]["id"]), (&json!("user"), &json!("s2")));
        assert!(
            found["parts"][0]["functionResponse"]["response"]["output"].as_str().unwrap().contains(LINE),
            "{found}"
        );
        let third = contents(&requests[2]);
        assert_eq!(third[..second.len()], second[..], "the provider's cache stays warm");
        // The next turn: what was looked up stands where it was.
        let longer = longer(&request, &[text("model", "It was part 3."), text("user", "Sure?")]);
        send(&service, &longer, is_stream).await;
        let now = contents(&upstream.requests()[3]);
        assert_eq!((&now[..third.len()], now.len()), (&third[..], third.len() + 2));
    }
}

#[tokio::test]
async fn beside_the_clients_calls() {
    for is_stream in [false, true] {
        for (called, told) in [
            (vec![signed(search("s1"), "sig"), bash("b1")], signed(bash("b1"), "sig")),
            (vec![signed(bash("b1"), "sig"), search("s1")], signed(bash("b1"), "sig")),
            (vec![search("s1"), bash("b1")], bash("b1")),
        ] {
            for at_once in [true, false] {
                let apart: Vec<&[Value]> = called.chunks(1).collect();
                let events: &[&[Value]] = if at_once { &[&called] } else { &apart };
                let (upstream, service) = start(&[events, &[&[says("Done.")]]], is_stream).await;
                let request = long_request();
                let (parts, usage) = seen(&send(&service, &request, is_stream).await, is_stream);
                let parts: Vec<Value> = parts.into_iter().filter(|part| part["text"] != "").collect();
                assert_eq!((&parts[..], usage), (&[told.clone()][..], [100, 10, 110]));
                assert_eq!(upstream.requests().len(), 1, "the client has its call at once");
                let made = json!({"functionResponse": {"id": "b1", "name": "bash", "response": {"output": "made"}}});
                let more = [json!({"role": "model", "parts": parts}), json!({"role": "user", "parts": [made.clone()]})];
                send(&service, &longer(&request, &more), is_stream).await;
                let seen = &upstream.requests()[1];
                assert_eq!(validate(&seen.text(), Wire::Gemini), [], "{}", seen.text());
                let now = contents(seen);
                let [.., said, answered] = &now[..] else { panic!() };
                assert_eq!(said["parts"], json!(called), "as the model made them");
                let place = usize::from(called[0] != search("s1") && called[0] != signed(search("s1"), "sig"));
                let found = &answered["parts"][place]["functionResponse"];
                assert!(found["response"]["output"].as_str().unwrap().contains(LINE), "{answered}");
                assert_eq!(answered["parts"][1 - place], made);
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_turns_to_a_search_late_goes_on() {
    let long = "This is a long beginning of an answer. ".repeat(20);
    let first: &[&[Value]] = &[&[says(&long)], &[says("I look."), search("s1")]];
    let (upstream, service) = start(&[first, &[&[says("It was part 3.")]]], true).await;
    let (parts, usage) = seen(&send(&service, &long_request(), true).await, true);
    assert_eq!((parts, usage), (vec![says(&long), says("I look."), says("It was part 3.")], [100, 20, 120]));
    assert_eq!(upstream.requests().len(), 2);
}

#[tokio::test]
async fn rounds_are_bounded() {
    for (has_tools, is_stream) in [(true, true), (false, true), (true, false), (false, false)] {
        let (upstream, service) = start(&[&[&[says("Once more.")], &[search("s")]]], is_stream).await;
        let mut request = long_request();
        if !has_tools {
            request.as_object_mut().unwrap().remove("tools");
        }
        let (parts, _) = seen(&send(&service, &request, is_stream).await, is_stream);
        let words: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        assert_eq!(
            (words.as_str(), parts.iter().any(|part| part.get("functionCall").is_some())),
            ("Once more.", false)
        );
        let requests = upstream.requests();
        let last = requests.last().unwrap();
        let mode = last.json()["toolConfig"]["functionCallingConfig"]["mode"].clone();
        assert_eq!((requests.len(), functions(last).len()), (9, if has_tools { 1 } else { 3 }));
        assert_eq!(mode, if has_tools { Value::Null } else { json!("NONE") });
    }
}

#[tokio::test]
async fn nothing_is_added_where_it_could_not_be_taken_back() {
    let check = async |path: &str, fields: Value| {
        let (upstream, service) = start(&[&[&[says("Good.")]]], false).await;
        let mut request = long_request();
        fields.as_object().unwrap().iter().for_each(|(name, value)| request[name] = value.clone());
        let response = service.post(path, &request).send().await.unwrap();
        assert_eq!(header(&response, "x-epitome-status"), "compacted", "{path}");
        let sent = upstream.requests().pop().unwrap().text();
        assert!(!sent.contains("search_history") && !sent.contains("recall"), "{path} {fields}: {sent}");
    };
    // A stream as one list in pieces; functions that may not be called; answers in a form; several answers.
    check("/v1beta/models/gemini-test:streamGenerateContent", json!({})).await;
    check(WHOLE, json!({"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}})).await;
    check(WHOLE, json!({"tools": [{"googleSearch": {}}]})).await;
    check(WHOLE, json!({"tools": [], "generationConfig": {"responseMimeType": "application/json"}})).await;
    check(WHOLE, json!({"generationConfig": {"candidateCount": 2}})).await;
}

#[tokio::test]
async fn a_provider_that_refuses_gets_the_clients_own_request() {
    let refusal = r#"{"error":{"code":400,"message":"Function calling is not enabled for this model","status":"INVALID_ARGUMENT"}}"#;
    let upstream = ScriptedServer::start_with(move |_, seen| match functions(seen).len() {
        1 => answer(&[&[says("Without.")]], true),
        _ => ScriptedAnswer::json(400, refusal),
    });
    let service = Running::proxy(&upstream, LOW_TARGET).await;
    let (parts, _) = seen(&send(&service, &long_request(), true).await, true);
    assert_eq!((parts, upstream.requests().len()), (vec![says("Without.")], 2));
}
