//! The proxy's conversations: who sees which, and what they cost.

use epitome_harness::{ScriptedAnswer, ScriptedServer};
use epitome_server::Settings;
use serde_json::{Value, json};

use crate::support::{Running, SMALL, Wire, asked, code, in_front_of, read, with_tokens};

const PATH: &str = "/v1/proxy/conversations";

/// What a streamed answer of Anthropic's reports, in the events in which it does.
const STREAM: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1000,\
\"cache_read_input_tokens\":200,\"cache_creation_input_tokens\":300,\"output_tokens\":1}}}\n\n\
event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":400}}\n\n";

/// The list, once `holds` of it: a provider's figures are read as the answer ends, which a client may hear first.
async fn listed(service: &Running, holds: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..10_000 {
        let (status, list) = read(service.client.get(service.url(PATH))).await;
        assert_eq!(status, 200, "{list}");
        if holds(&list) {
            return list;
        }
    }
    panic!("{}", read(service.client.get(service.url(PATH))).await.1);
}

#[tokio::test]
async fn a_conversation_is_listed_with_what_it_costs_and_saves() {
    let upstream =
        ScriptedServer::start(vec![ScriptedAnswer::bytes(200, STREAM).header("content-type", "text/event-stream")]);
    let service = Running::proxy(&upstream, &format!("{SMALL}[proxy]\nrecall = false\n")).await;
    assert_eq!(read(service.client.get(service.url(PATH))).await, (200, json!({"items": [], "total": 0})));
    let wire = Wire::Anthropic;
    let mut request = wire.request(16);
    request["model"] = json!("claude-sonnet-5");
    let mut saved = 0;
    for turn in 0..2 {
        let response = service.post(wire.path(), &request).send().await.unwrap();
        let figure = |name: &str| crate::support::header(&response, name).parse::<u64>().unwrap();
        saved += figure("x-epitome-tokens-before") - figure("x-epitome-tokens-after");
        response.bytes().await.unwrap();
        request = wire.longer(&request, vec![wire.said(&format!("Answer {turn}.")), asked("And now?")]);
    }
    let list =
        listed(&service, |list| list["items"][0]["reported"]["answers"] == 2 && list["items"][0]["title"] != json!(""))
            .await;
    assert_eq!(list["total"], 1, "two turns are one conversation: {list}");
    let one = &list["items"][0];
    assert_eq!(one["title"], "Find out why the build of the parser fails.");
    assert_eq!((&one["model"], &one["interface"]), (&json!("claude-sonnet-5"), &json!("anthropic")));
    assert_eq!((&one["requests"], &one["compactions"]), (&json!(2), &json!(1)));
    assert!(saved > 2_000 && one["tokens_saved"] == saved, "{saved} in {one}");
    assert!(one["tokens_after"].as_u64().unwrap() < one["tokens_usable"].as_u64().unwrap());
    let expect = json!({"answers": 2, "unpriced": 0, "input": 3000, "cached": 400, "cache_writes": 600, "output": 800});
    assert_eq!(one["reported"], expect);
    let none = json!({"answers": 0, "unpriced": 0, "input": 0, "cached": 0, "cache_writes": 0, "output": 0});
    assert_eq!(one["summaries"], none, "no model was asked");
    // Twice: 1,000 tokens at 2 dollars a million, 200 at 0.2, 300 at 2.5, and 400 of output at 10.
    let price = 2.0 * (1_000.0 * 2.0 + 200.0 * 0.2 + 300.0 * 2.5 + 400.0 * 10.0) / 1e6;
    assert!((one["price"].as_f64().unwrap() - price).abs() < 1e-9, "{one}");
    assert!(one["began"].as_i64().unwrap() > 0 && one["began"].as_i64() <= one["last"].as_i64());
    let metrics = service.get("/metrics").await.text().await.unwrap();
    let line = format!("epitome_tokens_saved_total{{of=\"proxy\"}} {saved}");
    assert!(metrics.lines().any(|it| it == line), "{line} in {metrics}");
}

#[tokio::test]
async fn the_newest_is_first_and_a_price_that_is_not_known_is_none() {
    let answer =
        json!({"usage": {"prompt_tokens": 50, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 40}}});
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, answer)]);
    let service = Running::proxy(&upstream, SMALL).await;
    for question in ["The first?", "The second?"] {
        let body = json!({"model": "unheard-of", "messages": [asked(question)]});
        service.post(Wire::Chat.path(), &body).send().await.unwrap().bytes().await.unwrap();
        listed(&service, |list| list["items"][0]["title"] == question && list["items"][0]["reported"]["answers"] == 1)
            .await;
    }
    let (_, list) = read(service.client.get(service.url(&format!("{PATH}?limit=1")))).await;
    assert_eq!((list["items"].as_array().unwrap().len(), &list["total"]), (1, &json!(2)));
    let one = &list["items"][0];
    assert_eq!((&one["title"], &one["price"], &one["tokens_saved"]), (&json!("The second?"), &Value::Null, &json!(0)));
    let expect = json!({"answers": 1, "unpriced": 1, "input": 50, "cached": 40, "cache_writes": 0, "output": 7});
    assert_eq!(one["reported"], expect);
    let (status, refused) = read(service.client.get(service.url(&format!("{PATH}?limit=0")))).await;
    assert_eq!((status, code(&refused)), (400, "bad-limit"));
}

#[tokio::test]
async fn a_refused_request_is_none_of_it() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(401, json!({"error": {"message": "no"}}))]);
    let service = Running::proxy(&upstream, SMALL).await;
    service.post(Wire::Chat.path(), &Wire::Chat.request(1)).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(read(service.client.get(service.url(PATH))).await.1, json!({"items": [], "total": 0}));
}

#[tokio::test]
async fn nobody_sees_anothers() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, "{}")]);
    let tokens = with_tokens("alice open-sesame-one-two\nbob open-sesame-three-four\n").tokens;
    let service = Running::start(SMALL, Settings { tokens, ..in_front_of(&upstream.url()) }).await;
    let request =
        service.post(Wire::Chat.path(), &Wire::Chat.request(1)).header("x-epitome-token", "open-sesame-one-two");
    request.send().await.unwrap().bytes().await.unwrap();
    let total =
        async |token: &str| read(service.client.get(service.url(PATH)).bearer_auth(token)).await.1["total"].clone();
    assert_eq!(total("open-sesame-one-two").await, 1);
    assert_eq!(total("open-sesame-three-four").await, 0);
    assert_eq!(read(service.client.get(service.url(PATH))).await.0, 401);
}
