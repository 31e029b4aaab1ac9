//! The embedder over HTTP against a server of our own, under an executor that knows nothing of asynchronous IO.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use epitome_engine::block_on;
use epitome_providers::{CacheSettings, EmbedderChoice, OpenAiEmbedder, OpenAiSettings};
use epitome_strategy::{EmbedError, Embedder, Embeddings};
use serde_json::{Value, json};

/// What the server does with one request.
enum Answer {
    /// A status line's code, further headers, a body.
    Says(u16, &'static str, String),
    /// A vector for each text: its number of characters, and 1.
    Lengths,
    /// Holds the connection and says nothing.
    Nothing,
    /// Closes the connection.
    HangsUp,
}

fn says(status: u16, body: &str) -> Answer {
    Answer::Says(status, "", body.to_owned())
}

/// A request: its first line and headers, and its body.
struct Request {
    head: String,
    body: Value,
}

/// Serves one answer a connection; the address, and the requests that came.
fn serve(answers: Vec<Answer>) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let (send, requests) = channel();
    thread::spawn(move || {
        for answer in answers {
            let (stream, _) = listener.accept().unwrap();
            let request = read(&stream);
            respond(stream, answer, &request.body);
            let _ = send.send(request);
        }
    });
    (address, requests)
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).unwrap() > 2 {}
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap()];
    reader.read_exact(&mut body).unwrap();
    Request { head, body: serde_json::from_slice(&body).unwrap() }
}

fn respond(mut stream: TcpStream, answer: Answer, request: &Value) {
    let (status, headers, body) = match answer {
        Answer::Says(status, headers, body) => (status, headers, body),
        Answer::Lengths => {
            let texts = request["input"].as_array().unwrap();
            let item = |(index, text): (usize, &Value)| json!({ "index": index, "embedding": [text.as_str().unwrap().chars().count(), 1] });
            (200, "", json!({ "data": texts.iter().enumerate().map(item).collect::<Vec<_>>() }).to_string())
        }
        Answer::Nothing => {
            thread::spawn(move || stream.read_to_end(&mut Vec::new()));
            return;
        }
        Answer::HangsUp => return,
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all((head + &body).as_bytes()).unwrap();
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
    let (address, requests) = serve(vec![Answer::Lengths, Answer::Lengths]);
    let settings = OpenAiSettings { batch_size: 2, max_text_bytes: 4, ..settings(&address) };
    let embeddings = embed(&settings, &["abcd", " ", "é", "123456789"]).unwrap();
    assert_eq!((embeddings.dimensions(), embeddings.len()), (2, 4));
    let unit = |length: f32| [length / (length * length + 1.0).sqrt(), 1.0 / (length * length + 1.0).sqrt()];
    for (row, expect) in [unit(4.0), [0.0, 0.0], unit(1.0), unit(4.0)].into_iter().enumerate() {
        let found = embeddings.row(row).unwrap();
        assert!(found.iter().zip(expect).all(|(found, expect)| (found - expect).abs() < 1e-6), "{row}: {found:?}");
    }
    let first = requests.recv().unwrap();
    assert!(first.head.starts_with("POST /v1/embeddings HTTP/1.1"), "{}", first.head);
    assert_eq!(first.body, json!({ "model": "small", "input": ["abcd", "é"], "encoding_format": "float" }));
    assert_eq!(requests.recv().unwrap().body["input"], json!(["1234"]), "cut to what the service reads");
}

#[test]
fn the_key_is_sent_and_never_shown() {
    let key = std::env::var("PATH").unwrap();
    let body = format!("the key {key} is wrong");
    let (address, requests) = serve(vec![says(401, &body)]);
    let settings = OpenAiSettings { key_variable: Some("PATH".to_owned()), ..settings(&address) };
    let embedder = OpenAiEmbedder::new(&settings).unwrap();
    let error = block_on(embedder.embed(&["text"])).unwrap_err();
    assert_eq!(error.message, format!("`{address}/embeddings` answered 401: the key [key] is wrong"));
    assert!(!error.retryable);
    assert!(requests.recv().unwrap().head.contains(&format!("authorization: Bearer {key}\r\n")));
    assert!(!format!("{embedder:?}").contains(&key));
}

#[test]
fn busy_services_are_asked_again() {
    let busy = || Answer::Says(429, "Retry-After: 0\r\n", "slow down".to_owned());
    let (address, requests) = serve(vec![busy(), says(503, ""), Answer::Lengths]);
    assert_eq!(embed(&settings(&address), &["text"]).unwrap().len(), 1);
    assert_eq!(requests.iter().take(3).count(), 3);

    let (address, _requests) = serve(vec![busy(), busy()]);
    let (message, retryable) = failure(&OpenAiSettings { tries: 2, ..settings(&address) });
    assert_eq!((message, retryable), (format!("`{address}/embeddings` answered 429: slow down"), true));
}

#[test]
fn refusals_are_final() {
    let (address, requests) = serve(vec![says(400, "no such\n  model"), Answer::Lengths]);
    let (message, retryable) = failure(&settings(&address));
    assert_eq!((message, retryable), (format!("`{address}/embeddings` answered 400: no such model"), false));
    requests.recv().unwrap();
    assert!(requests.try_recv().is_err(), "asked once");
}

#[test]
fn nobody_there() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let (message, retryable) = failure(&OpenAiSettings { tries: 1, ..settings(&address) });
    assert!(message.starts_with(&format!("`{address}/embeddings` cannot be reached: ")), "{message}");
    assert!(retryable);

    let (address, _requests) = serve(vec![Answer::HangsUp]);
    let (message, retryable) = failure(&OpenAiSettings { tries: 1, ..settings(&address) });
    assert!(message.contains("cannot be reached") && retryable, "{message}");
}

#[test]
fn too_slow() {
    let (address, _requests) = serve(vec![Answer::Nothing]);
    let settings = OpenAiSettings { tries: 1, timeout: Duration::from_millis(300), ..settings(&address) };
    assert_eq!(failure(&settings), (format!("`{address}/embeddings` did not answer within 0.3 s"), true));
}

#[test]
fn answers_that_are_none() {
    let check = |body: &str, expect: &str| {
        let (address, _requests) = serve(vec![says(200, body)]);
        let (message, retryable) = failure(&settings(&address));
        assert!(message.contains(expect) && message.contains("127.0.0.1") && !retryable, "{message}");
    };
    check(
        "<html>hello</html>",
        "answered something unreadable: expected value at line 1 column 1; it begins with `<html>",
    );
    check("{}", "it has no list `data`");
    check(r#"{"data":[]}"#, "0 vectors for 1 texts");
    check(r#"{"data":[{"embedding":[1,"x"]}]}"#, "vector 0 is no list of numbers");
}

#[test]
fn all_vectors_are_of_one_length() {
    let body = json!({ "data": [{ "embedding": [1, 2, 3] }] }).to_string();
    let (address, _requests) = serve(vec![Answer::Lengths, says(200, &body)]);
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
    check(settings("nonsense"), "`nonsense` is no address of a service: relative URL without a base");
    check(
        settings("file:///etc"),
        "`file:///etc` is no address of a service: it must begin with `http://` or `https://`",
    );
    check(
        settings("https://me:secret@host/v1"),
        "`(left out)` is no address of a service: it holds a password; name an environment variable",
    );
}

#[test]
fn a_cache_in_front_asks_once() {
    let (address, requests) = serve(vec![Answer::Lengths, Answer::Lengths]);
    let choice = EmbedderChoice::OpenAi(settings(&address));
    let embedder = choice.build(&CacheSettings::default()).unwrap().unwrap();
    let first = block_on(embedder.embed(&["one", "three", "one"])).unwrap();
    let second = block_on(embedder.embed(&["three", "one", "six"])).unwrap();
    assert_eq!(first.row(1), second.row(0));
    assert_eq!(requests.recv().unwrap().body["input"], json!(["one", "three"]));
    assert_eq!(requests.recv().unwrap().body["input"], json!(["six"]));
}
