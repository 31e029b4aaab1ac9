//! The embedder over HTTP against a server of our own, under an executor that knows nothing of asynchronous IO.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use epitome_engine::block_on;
use epitome_harness::{ReceivedRequest, ScriptedAnswer, ScriptedServer};
use epitome_providers::{CacheSettings, EmbedderChoice, OpenAiEmbedder, OpenAiSettings};
use epitome_strategy::{EmbedError, Embedder, Embeddings};
use serde_json::{Value, json};

/// A vector for each text: its number of characters, and 1.
fn lengths(request: &ReceivedRequest) -> ScriptedAnswer {
    let request = request.json();
    let texts = request["input"].as_array().unwrap();
    let item = |(index, text): (usize, &Value)| json!({ "index": index, "embedding": [text.as_str().unwrap().chars().count(), 1] });
    ScriptedAnswer::json(200, json!({ "data": texts.iter().enumerate().map(item).collect::<Vec<_>>() }))
}

/// Gives `answers` in their order, then vectors; the server and its address.
fn serve(answers: Vec<ScriptedAnswer>) -> (String, ScriptedServer) {
    let server = ScriptedServer::start_with(move |position, request| {
        answers.get(position).cloned().unwrap_or_else(|| lengths(request))
    });
    (format!("{}/v1", server.url()), server)
}

fn settings(address: &str) -> OpenAiSettings {
    OpenAiSettings {
        base_url: address.to_owned(),
        model: "small".to_owned(),
        key_variable: None,
        timeout: Duration::from_secs(20),
        ..OpenAiSettings::default()
    }
}

fn embed(settings: &OpenAiSettings, texts: &[&str]) -> Result<Embeddings, EmbedError> {
    let embedder = OpenAiEmbedder::new(settings).unwrap();
    block_on(embedder.embed(texts))
}

/// The message of a failure, and whether trying again may help.
fn failure(settings: &OpenAiSettings) -> (String, bool) {
    let error = embed(settings, &["text"]).unwrap_err();
    (error.message, error.retryable)
}

#[test]
fn vectors_in_batches() {
    let (address, server) = serve(Vec::new());
    let settings = OpenAiSettings { batch_size: 2, max_text_bytes: 4, ..settings(&address) };
    let embeddings = embed(&settings, &["abcd", " ", "é", "123456789"]).unwrap();
    assert_eq!((embeddings.dimensions(), embeddings.len()), (2, 4));
    let unit = |length: f32| [length / (length * length + 1.0).sqrt(), 1.0 / (length * length + 1.0).sqrt()];
    for (row, expect) in [unit(4.0), [0.0, 0.0], unit(1.0), unit(4.0)].into_iter().enumerate() {
        let found = embeddings.row(row).unwrap();
        assert!(found.iter().zip(expect).all(|(found, expect)| (found - expect).abs() < 1e-6), "{row}: {found:?}");
    }
    let requests = server.requests();
    assert_eq!((requests[0].method.as_str(), requests[0].path.as_str()), ("POST", "/v1/embeddings"));
    assert_eq!(requests[0].json(), json!({ "model": "small", "input": ["abcd", "é"], "encoding_format": "float" }));
    assert_eq!(requests[1].json()["input"], json!(["1234"]), "cut to what the service reads");
}

#[test]
fn the_key_is_sent_and_never_shown() {
    let key = std::env::var("PATH").unwrap();
    let body = format!("the key {key} is wrong");
    let (address, server) = serve(vec![ScriptedAnswer::text(401, &body)]);
    let settings = OpenAiSettings { key_variable: Some("PATH".to_owned()), ..settings(&address) };
    let embedder = OpenAiEmbedder::new(&settings).unwrap();
    let error = block_on(embedder.embed(&["text"])).unwrap_err();
    assert_eq!(error.message, format!("`{address}/embeddings` answered 401: the key [key] is wrong"));
    assert!(!error.retryable);
    assert_eq!(server.requests()[0].header("authorization"), Some(format!("Bearer {key}").as_str()));
    assert!(!format!("{embedder:?}").contains(&key));
}

#[test]
fn busy_services_are_asked_again() {
    let busy = || ScriptedAnswer::text(429, "slow down").header("Retry-After", "0");
    let (address, server) = serve(vec![busy(), ScriptedAnswer::text(503, "")]);
    assert_eq!(embed(&settings(&address), &["text"]).unwrap().len(), 1);
    assert_eq!(server.requests().len(), 3);

    let (address, _server) = serve(vec![busy(), busy()]);
    let (message, retryable) = failure(&OpenAiSettings { tries: 2, ..settings(&address) });
    assert_eq!((message, retryable), (format!("`{address}/embeddings` answered 429: slow down"), true));
}

#[test]
fn refusals_are_final() {
    let (address, server) = serve(vec![ScriptedAnswer::text(400, "no such\n  model")]);
    let (message, retryable) = failure(&settings(&address));
    assert_eq!((message, retryable), (format!("`{address}/embeddings` answered 400: no such model"), false));
    assert_eq!(server.requests().len(), 1, "asked once");
}

#[test]
fn nobody_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let (message, retryable) = failure(&OpenAiSettings { tries: 1, ..settings(&address) });
    assert!(message.starts_with(&format!("`{address}/embeddings` cannot be reached: ")), "{message}");
    assert!(retryable);

    let (address, _server) = serve(vec![ScriptedAnswer::hang_up()]);
    let (message, retryable) = failure(&OpenAiSettings { tries: 1, ..settings(&address) });
    assert!(message.contains("cannot be reached") && retryable, "{message}");
}

#[test]
fn too_slow() {
    let (address, _server) = serve(vec![ScriptedAnswer::hold()]);
    let settings = OpenAiSettings { tries: 1, timeout: Duration::from_millis(300), ..settings(&address) };
    assert_eq!(failure(&settings), (format!("`{address}/embeddings` did not answer within 0.3 s"), true));
}

#[test]
fn answers_that_are_none() {
    let check = |body: &str, expect: &str| {
        let (address, _server) = serve(vec![ScriptedAnswer::text(200, body)]);
        let (message, retryable) = failure(&settings(&address));
        assert!(message.contains(expect) && message.contains("127.0.0.1") && !retryable, "{message}");
    };
    check(
        "<html>hello</html>",
        "answered something unreadable: expected value at line 1 column 1; it begins with `<html>",
    );
    check("{}", "it has no list `data`");
    check(r#"{"data":[]}"#, "0 vectors for 1 texts");
    check(r#"{"data":[{"embedding":[1,"x"]}]}"#, "vector 0 is not a list of numbers");
}

#[test]
fn all_vectors_are_of_one_length() {
    let vectors = |numbers: Value| ScriptedAnswer::json(200, json!({ "data": [{ "embedding": numbers }] }));
    let (address, _server) = serve(vec![vectors(json!([4, 1])), vectors(json!([1, 2, 3]))]);
    let embedder = OpenAiEmbedder::new(&settings(&address)).unwrap();
    assert_eq!(embedder.dimensions(), 0, "not known before the first answer");
    block_on(embedder.embed(&["text"])).unwrap();
    assert_eq!(embedder.dimensions(), 2);
    let message = block_on(embedder.embed(&["text"])).unwrap_err().message;
    assert!(message.contains("3 numbers in a vector where 2 were expected"), "{message}");
}

#[test]
fn settings_that_cannot_work() {
    let check = |settings: OpenAiSettings, expect: &str| {
        let choice = EmbedderChoice::OpenAi(settings);
        assert_eq!(choice.build(&CacheSettings::default()).unwrap_err().to_string(), expect);
    };
    let base = || settings("http://localhost/v1");
    let no_key = Some("EPITOME_TEST_NO_SUCH_KEY".to_owned());
    check(
        OpenAiSettings { key_variable: no_key, ..base() },
        "no key: set the environment variable `EPITOME_TEST_NO_SUCH_KEY`",
    );
    check(settings("nonsense"), "`nonsense` is not the address of a service: relative URL without a base");
    check(
        settings("file:///etc"),
        "`file:///etc` is not the address of a service: it must begin with `http://` or `https://`",
    );
    check(
        settings("https://me:secret@host/v1"),
        "`(left out)` is not the address of a service: it holds a password; name an environment variable",
    );
}

#[test]
fn a_cache_in_front_asks_once() {
    let (address, server) = serve(Vec::new());
    let choice = EmbedderChoice::OpenAi(settings(&address));
    let embedder = choice.build(&CacheSettings::default()).unwrap().unwrap();
    let first = block_on(embedder.embed(&["one", "three", "one"])).unwrap();
    let second = block_on(embedder.embed(&["three", "one", "six"])).unwrap();
    assert_eq!(first.row(1), second.row(0));
    let asked: Vec<Value> = server.requests().iter().map(|request| request.json()["input"].clone()).collect();
    assert_eq!(asked, [json!(["one", "three"]), json!(["six"])]);
}
