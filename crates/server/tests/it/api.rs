//! The routes for runtimes that keep their own history, and for gateways.

use epitome_server::Settings;
use serde_json::{Value, json};

use crate::support::{Running, SMALL, Wire, code, read, with_tokens};

async fn service() -> Running {
    Running::start(SMALL, Settings::default()).await
}

#[tokio::test]
async fn a_request_of_each_format_is_compacted() {
    let service = service().await;
    for wire in Wire::ALL {
        let request = wire.request(12);
        for format in [Some(wire.name()), None] {
            let body = json!({"request": request, "budget": 2_000, "format": format});
            let (status, answer) = read(service.post("/v1/compact", &body)).await;
            assert_eq!((status, answer["status"].as_str()), (200, Some("compacted")), "{answer}");
            assert_eq!(answer["format"], wire.name());
            assert!(answer["tokens_after"].as_u64().unwrap() <= 2_000, "{answer}");
            assert_eq!(answer["report"]["tokens_after"], answer["tokens_after"]);
            let compacted = &answer["request"];
            assert_eq!(compacted["temperature"], 0.25, "other fields stay");
            assert_eq!(compacted["model"], "test-model");
            let (before, after) =
                (request[wire.list()].as_array().unwrap(), compacted[wire.list()].as_array().unwrap());
            assert_eq!(before.last(), after.last(), "the newest question stays");
            assert!(after.len() < before.len() || compacted.to_string().len() < request.to_string().len());
        }
    }
}

#[tokio::test]
async fn settings_are_those_of_one_call() {
    let service = service().await;
    let request = Wire::Chat.request(18);
    let ask = |path: &'static str, settings: Value| {
        read(service.post(path, &json!({"request": request, "settings": settings})))
    };
    let tokens = |answer: &Value| answer["tokens_after"].as_u64().unwrap();
    let (_, usual) = ask("/v1/compact", json!({})).await;
    let (status, deeper) = ask("/v1/compact", json!({"budget": {"target": 0.2}})).await;
    assert_eq!(status, 200, "{deeper}");
    assert!(tokens(&deeper) <= 1_600 && tokens(&usual) > 1_600, "{} {}", tokens(&deeper), tokens(&usual));
    let (_, recent) = ask("/v1/preview", json!({"keep_recent_messages": 10})).await;
    assert!(recent["report"]["recent"].is_object() && usual["report"]["recent"].is_null(), "{recent}");
    let (_, check) = ask("/v1/check", json!({"budget.window": 100_000})).await;
    assert_eq!(check["urgency"], "none", "{check}");
    let (_, again) = ask("/v1/compact", json!({})).await;
    assert_eq!(tokens(&again), tokens(&usual), "the configuration stays");
    for settings in
        [json!({"summary.prompts": "/etc"}), json!({"budget.sfot": 1}), json!({"strategies.mine.command": ["x"]})]
    {
        let (status, answer) = ask("/v1/compact", settings).await;
        assert_eq!((status, code(&answer)), (422, "bad-settings"), "{answer}");
    }
}

#[tokio::test]
async fn a_text_and_messages_are_counted() {
    let service = service().await;
    let count = |body: Value| read(service.post("/v1/count", &body));
    let check = |(status, answer): (u16, Value), expect: (u64, &str, bool)| {
        assert_eq!(status, 200, "{answer}");
        let told = (answer["tokens"].as_u64().unwrap(), answer["counter"].as_str().unwrap(), answer["exact"] == true);
        assert_eq!(told, expect);
    };
    check(count(json!({"text": "Hello world"})).await, (2, "o200k_base", true));
    check(count(json!({"text": "Hello world", "counter": "quarters"})).await, (3, "quarters", false));
    let messages = json!([{"role": "user", "content": "Hello world"}]);
    check(count(json!({"request": messages})).await, (6, "o200k_base", true));
    check(count(json!({"request": {"messages": messages}, "format": "openai-chat"})).await, (6, "o200k_base", true));
    for wrong in [json!({}), json!({"text": "a", "request": []}), json!({"text": "a", "counter": "abacus"})] {
        let (status, answer) = count(wrong).await;
        assert_eq!((status, code(&answer)), (400, "bad-request"), "{answer}");
    }
}

#[tokio::test]
async fn what_fits_comes_back_as_the_same_bytes() {
    let service = service().await;
    let request = "{ \"messages\" : [ {\"role\":\"user\",  \"content\":\"caf\\u00e9\"} ],\n \"n\":1.0 }";
    let body = format!(r#"{{"request": {request}, "budget": 1000}}"#);
    let response = service.post_text("/v1/compact", &body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let text = response.text().await.unwrap();
    assert!(text.contains(request), "{text}");
    assert!(text.contains(r#""status":"no-change""#), "{text}");
}

#[tokio::test]
async fn a_bare_list_stays_a_bare_list() {
    let service = service().await;
    let messages = Wire::Chat.request(8)["messages"].clone();
    let (status, answer) = read(service.post("/v1/compact", &json!({"request": messages, "budget": 1500}))).await;
    assert_eq!(status, 200, "{answer}");
    assert!(answer["request"].is_array(), "{answer}");
}

#[tokio::test]
async fn windows_models_and_the_configuration_are_budgets() {
    let service = service().await;
    let request = Wire::Chat.request(18);
    let ask = |more: Value| {
        let mut body = json!({"request": request});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        read(service.post("/v1/compact", &body))
    };
    let (_, answer) = ask(json!({})).await;
    assert!(answer["tokens_after"].as_u64().unwrap() <= 4_000, "half of 8,000: {answer}");
    let (_, answer) = ask(json!({"window": 100_000})).await;
    assert_eq!(answer["status"], "no-change");
    let (_, answer) = ask(json!({"model": "gpt-4o"})).await;
    assert_eq!(answer["status"], "no-change");
    let (status, answer) = ask(json!({"model": "nobody-knows-it"})).await;
    assert_eq!((status, code(&answer)), (400, "unknown-model"));
    let (_, answer) = ask(json!({"budget": 6_000, "target": 2_000})).await;
    assert!(answer["tokens_after"].as_u64().unwrap() <= 2_000, "{answer}");
    let (_, answer) = ask(json!({"budget": 3_000, "chain": ["tool-results"], "focus": "part_3"})).await;
    assert_eq!(answer["report"]["chain"], json!(["tool-results"]));
    let (_, answer) = ask(json!({"budget": 3_000, "task": "conversation"})).await;
    assert_eq!(answer["report"]["task"]["kind"], "conversation");
}

#[tokio::test]
async fn what_cannot_be_taken_is_said() {
    let service = service().await;
    let request = Wire::Chat.request(2);
    let check = async |body: Value, status: u16, expect: &str| {
        let (got, answer) = read(service.post("/v1/compact", &body)).await;
        assert_eq!((got, code(&answer)), (status, expect), "{body} {answer}");
    };
    check(json!({"request": request, "budget": 10}), 422, "infeasible").await;
    check(json!({"request": request, "budget": 0}), 400, "bad-budget").await;
    check(json!({"request": request, "format": "unheard-of"}), 400, "unknown-format").await;
    check(json!({"request": {"messages": []}}), 400, "unreadable-request").await;
    check(json!({"request": {"what": "else"}}), 400, "unreadable-request").await;
    check(json!({"request": request, "chain": ["no-such"]}), 400, "unknown-chain").await;
    check(json!({"request": request, "task": "poetry"}), 400, "unknown-task").await;
    check(json!({"request": request, "mode": "odd"}), 400, "unknown-mode").await;
    check(json!({"request": request, "mode": "fixed"}), 400, "no-chain").await;
    check(json!({"request": request, "summaries": [{"number": 0, "text": "x"}]}), 400, "bad-request").await;
    check(json!({"budget": 10}), 400, "bad-request").await;
    check(json!({"request": request, "buget": 10}), 400, "bad-request").await;
    let (_, answer) = read(service.post("/v1/compact", &json!({"request": request, "budget": 10}))).await;
    assert!(answer["report"]["floor"]["tokens"].as_u64().unwrap() > 10, "{answer}");
}

#[tokio::test]
async fn a_preview_is_made_as_it_was_shown() {
    let service = service().await;
    let request = Wire::Anthropic.request(12);
    let (status, preview) = read(service.post("/v1/preview", &json!({"request": request, "budget": 2_000}))).await;
    assert_eq!((status, preview["status"].as_str()), (200, Some("compacted")), "{preview}");
    let (_, direct) = read(service.post("/v1/compact", &json!({"request": request, "budget": 2_000}))).await;
    let body = json!({"request": request, "draft": preview["draft"]});
    let (status, made) = read(service.post("/v1/compact", &body)).await;
    assert_eq!(status, 200, "{made}");
    assert_eq!(made["request"], direct["request"]);
    let other = json!({"request": Wire::Anthropic.request(13), "draft": preview["draft"]});
    let (status, stale) = read(service.post("/v1/compact", &other)).await;
    assert_eq!((status, code(&stale)), (409, "stale-draft"));
    let (status, answer) = read(service.post("/v1/check", &body)).await;
    assert_eq!((status, code(&answer)), (400, "bad-request"));
}

#[tokio::test]
async fn a_summary_can_be_edited_before_it_is_made() {
    let service = service().await;
    let request = Wire::Chat.request(12);
    let body = json!({"request": request, "budget": 2_000, "chain": ["summary"]});
    let (_, preview) = read(service.post("/v1/preview", &body)).await;
    let number = preview["summaries"][0]["number"].clone();
    assert!(number.is_number(), "{preview}");
    let edited = json!({"request": request, "draft": preview["draft"],
        "summaries": [{"number": number, "text": "All twelve parts were built."}]});
    let (status, made) = read(service.post("/v1/compact", &edited)).await;
    assert_eq!(status, 200, "{made}");
    assert!(made["request"].to_string().contains("All twelve parts were built."), "{made}");
    let long = json!({"request": request, "draft": preview["draft"],
        "summaries": [{"number": number, "text": "word ".repeat(20_000)}]});
    let (status, answer) = read(service.post("/v1/compact", &long)).await;
    assert_eq!((status, code(&answer)), (400, "bad-summary"));
}

#[tokio::test]
async fn check_and_inspect() {
    let service = service().await;
    let (status, small) = read(service.post("/v1/check", &json!({"request": Wire::Chat.request(1)}))).await;
    assert_eq!((status, small["urgency"].as_str()), (200, Some("none")), "{small}");
    assert_eq!((small["window_tokens"].as_u64(), small["usable_tokens"].as_u64()), (Some(9_000), Some(8_000)));
    let (_, large) = read(service.post("/v1/check", &json!({"request": Wire::Chat.request(30)}))).await;
    assert_eq!((large["urgency"].as_str(), large["should_compact"].as_bool()), (Some("hard"), Some(true)), "{large}");
    // A vocabulary is exact for the models that have it.
    for (model, expect) in [("gpt-4o", true), ("claude-sonnet-5", false)] {
        let (_, told) =
            read(service.post("/v1/check", &json!({"request": Wire::Chat.request(1), "model": model}))).await;
        assert_eq!(told["exact"], expect, "{told}");
        let mut request = Wire::Chat.request(1);
        request["model"] = model.into();
        let (_, told) = read(service.post("/v1/check", &json!({"request": request, "budget": 8_000}))).await;
        assert_eq!((&told["exact"], &told["usable_tokens"]), (&json!(expect), &json!(8_000)), "{told}");
    }
    let (status, seen) = read(service.post("/v1/inspect", &json!({"request": Wire::Responses.request(3)}))).await;
    assert_eq!((status, seen["calls"].as_u64(), seen["rounds"].as_u64()), (200, Some(3), Some(2)), "{seen}");
    let by_role = seen["tokens_by_role"].as_object().unwrap().values().map(|it| it.as_u64().unwrap()).sum::<u64>();
    assert_eq!(Some(by_role), seen["tokens"].as_u64());
    assert!(seen["tokens_by_tool"]["bash"].as_u64().unwrap() > 1_000, "{seen}");
    assert_eq!(seen["largest"][0]["role"], "tool");
    let by_part = seen["parts"].as_array().unwrap().iter().map(|part| part["tokens"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(
        Some(by_part),
        seen["tokens"].as_u64().map(|tokens| tokens + seen["tool_definition_tokens"].as_u64().unwrap())
    );
}

#[tokio::test]
async fn gateways_compress_and_retrieve() {
    let service = service().await;
    let messages = Wire::Chat.request(12)["messages"].clone();
    let body = json!({"model": "test-model", "messages": messages, "tokenBudget": 2_000, "fallback": true});
    let (status, answer) = read(service.post("/v1/compress", &body)).await;
    assert_eq!(status, 200, "{answer}");
    let figure = |name: &str| answer[name].as_u64().unwrap();
    assert!(figure("tokens_after") <= 2_000 && figure("tokens_before") > 4_000, "{answer}");
    assert_eq!(figure("tokens_saved"), figure("tokens_before") - figure("tokens_after"));
    assert!(answer["compression_ratio"].as_f64().unwrap() < 0.5);
    assert!(!answer["transforms_applied"].as_array().unwrap().is_empty());
    assert!(answer["messages"].as_array().unwrap().len() <= messages.as_array().unwrap().len());
    let hashes = answer["ccr_hashes"].as_array().unwrap();
    assert!(!hashes.is_empty());
    let mut found = String::new();
    for hash in hashes {
        let hash = hash.as_str().unwrap();
        let (status, item) = read(service.client.get(service.url(&format!("/v1/retrieve/{hash}")))).await;
        assert_eq!((status, item["hash"].as_str()), (200, Some(hash)), "{item}");
        assert!(item["original_tokens"].as_u64().unwrap() > 0);
        found += item["original_content"].as_str().unwrap();
    }
    assert!(found.contains("src/part_0/file_29.rs: checked, 203 warnings"), "what left can be retrieved: {found}");
    let hash = hashes[0].as_str().unwrap();
    let (_, again) = read(service.post("/v1/retrieve", &json!({"hash": hash, "query": "FILE_3.rs 21"}))).await;
    assert_eq!(again["retrieval_count"], 2);
    let lines = again["results"].as_array().unwrap();
    assert!(!lines.is_empty() && again["count"].as_u64() == Some(lines.len() as u64), "{again}");
    assert!(lines.iter().all(|line| line["text"].as_str().unwrap().contains("file_3.rs")), "{again}");
    let (status, answer) = read(service.client.get(service.url("/v1/retrieve/00000000"))).await;
    assert_eq!((status, code(&answer)), (404, "unknown-hash"));
}

/// As gateways call it that hold back the system prompt, what the model said and the newest question: results come without
/// their calls, no budget is named, and the rows are put back by their place.
#[tokio::test]
async fn rows_of_a_gateway_stay_in_their_places() {
    let service = service().await;
    let all = Wire::Chat.request(30)["messages"].clone();
    let held_back = |row: &&Value| row["role"] != "assistant" && row["role"] != "system";
    let rows: Vec<Value> = all.as_array().unwrap().iter().filter(held_back).cloned().collect();
    let check = async |model: &str, config: Value| {
        let body = json!({"messages": rows, "model": model, "config": config});
        let (status, answer) = read(service.post("/v1/compress", &body)).await;
        assert_eq!((status, answer["status"].as_str()), (200, Some("compacted")), "{answer}");
        let figure = |name: &str| answer[name].as_u64().unwrap();
        assert!(figure("tokens_after") * 10 <= figure("tokens_before") * 6, "{model}: {answer}");
        let sent = answer["messages"].as_array().unwrap();
        assert_eq!(sent.len(), rows.len());
        for (row, sent) in rows.iter().zip(sent) {
            let rest = |row: &Value| (row["role"].clone(), row["tool_call_id"].clone(), row.as_object().unwrap().len());
            assert_eq!(rest(row), rest(sent));
        }
        let shorter = rows.iter().zip(sent).filter(|(row, sent)| row != sent).count();
        assert!(shorter > 0 && sent.last() == rows.last(), "{model}: the newest row is as it came");
        (sent.iter().map(Value::to_string).collect::<String>(), answer["ccr_hashes"].clone())
    };
    let (text, hashes) = check("gpt-4o", json!({"mode": "ccr"})).await;
    let is_taken = |hash: &str| (12..=24).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    for hash in hashes.as_array().unwrap().iter().map(|hash| hash.as_str().unwrap()) {
        assert!(is_taken(hash) && text.contains(hash), "{hash} is named where the text left");
        let (status, item) = read(service.client.get(service.url(&format!("/v1/retrieve/{hash}?query=checked")))).await;
        assert_eq!((status, item["hash"].as_str()), (200, Some(hash)), "{item}");
        assert!(item["original_content"].as_str().unwrap().contains("checked"), "{item}");
    }
    // A window that is too small for the rows, a model that nobody knows, and a caller whose model cannot retrieve.
    check("gpt-4", json!({"mode": "ccr"})).await;
    check("a-model-of-their-own", Value::Null).await;
    let few = json!({"messages": rows[..3], "model": "gpt-4o", "config": {"mode": "ccr"}});
    let (_, answer) = read(service.post("/v1/compress", &few)).await;
    assert_eq!((answer["status"].as_str(), &answer["messages"]), (Some("no-change"), &json!(rows[..3])));
    // A budget that is named is met, or said to be out of reach.
    let named = json!({"messages": rows, "token_budget": 100, "config": {"mode": "ccr"}});
    let (_, answer) = read(service.post("/v1/compress", &named)).await;
    assert_eq!((answer["status"].as_str(), &answer["messages"]), (Some("infeasible"), &json!(rows)));
}

#[tokio::test]
async fn compress_gives_back_what_cannot_be_made_smaller() {
    let service = service().await;
    let messages = Wire::Chat.request(2)["messages"].clone();
    let (status, answer) = read(service.post("/v1/compress", &json!({"messages": messages, "budget": 10}))).await;
    assert_eq!((status, answer["status"].as_str()), (200, Some("infeasible")), "{answer}");
    assert_eq!(answer["messages"], messages);
    assert_eq!(answer["compression_ratio"], 1.0);
    let (status, answer) = read(service.post("/v1/compress", &json!({"messages": "hello"}))).await;
    assert_eq!((status, code(&answer)), (400, "unreadable-request"));
}

#[tokio::test]
async fn whole_messages_come_back_in_any_format() {
    let service = service().await;
    let body = json!({"request": Wire::Chat.request(12), "budget": 1_500, "chain": ["sliding-window"]});
    let (_, answer) = read(service.post("/v1/compact", &body)).await;
    let mut whole = None;
    for edit in answer["report"]["edits"].as_array().unwrap() {
        let handle = edit["recall"].as_str().unwrap().to_owned();
        let (_, item) = read(service.client.get(service.url(&format!("/v1/retrieve/{handle}?format=anthropic")))).await;
        if item["kind"] == "messages" {
            whole = Some((handle, item));
        }
    }
    let (handle, item) = whole.expect("whole messages left");
    assert!(item["messages"]["messages"].to_string().contains("tool_result"), "{item}");
    let (status, answer) = read(service.client.get(service.url(&format!("/v1/retrieve/{handle}?format=odd")))).await;
    assert_eq!((status, code(&answer)), (400, "unknown-format"));
}

#[tokio::test]
async fn tenants_see_their_own() {
    let service = Running::start(SMALL, with_tokens("alice alices-own-token-1\nbob bobs-own-token-0002")).await;
    let as_of =
        |token: &str, request: reqwest::RequestBuilder| request.header("authorization", format!("Bearer {token}"));
    let body = json!({"messages": Wire::Chat.request(12)["messages"], "budget": 2_000});
    let (_, answer) = read(as_of("alices-own-token-1", service.post("/v1/compress", &body))).await;
    let path = format!("/v1/retrieve/{}", answer["ccr_hashes"][0].as_str().unwrap());
    let (status, _) = read(as_of("alices-own-token-1", service.client.get(service.url(&path)))).await;
    assert_eq!(status, 200);
    let (status, _) = read(as_of("bobs-own-token-0002", service.client.get(service.url(&path)))).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn how_it_runs() {
    let service = service().await;
    let (status, alive) = read(service.client.get(service.url("/healthz"))).await;
    assert_eq!((status, alive["status"].as_str()), (200, Some("ok")));
    let (status, ready) = read(service.client.get(service.url("/readyz"))).await;
    assert_eq!((status, ready["proxy"].as_bool()), (200, Some(false)));
    let (_, document) = read(service.client.get(service.url("/openapi.json"))).await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3."), "{document}");
    let named =
        document["paths"]["/v1/compact"]["post"]["requestBody"]["content"]["application/json"]["schema"].clone();
    assert_eq!(named["$ref"], "#/components/schemas/Subject");
    assert!(document["components"]["schemas"]["Subject"]["properties"]["budget"].is_object());
    read(service.post("/v1/compact", &json!({"request": Wire::Chat.request(12), "budget": 2_000}))).await;
    read(service.client.get(service.url("/secret-path-of-somebody"))).await;
    let metrics = service.get("/metrics").await.text().await.unwrap();
    for line in [
        "epitome_requests_total{route=\"/v1/compact\",status=\"200\"} 1",
        "epitome_requests_total{route=\"proxy\",status=\"404\"} 1",
        "epitome_compactions_total{status=\"compacted\"} 1",
        "epitome_request_duration_seconds_count{route=\"/v1/compact\"} 1",
        "# TYPE epitome_archive_bytes gauge",
        "epitome_requests_in_flight 1",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line} in {metrics}");
    }
    assert!(!metrics.contains("secret-path"), "no text of callers");
}
