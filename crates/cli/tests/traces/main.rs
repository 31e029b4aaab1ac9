//! The traces of `epitome serve`, as a collector receives them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use epitome_harness::{ScriptedAnswer, ScriptedServer};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

/// The trace of a caller, and its span.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A service with these variables.
struct Serving {
    child: Child,
    said: BufReader<std::process::ChildStderr>,
    address: String,
}

fn command(options: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_epitome"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--store", "sqlite::memory:"]).args(options.split_whitespace());
    let inherited = std::env::vars().map(|(name, _)| name).filter(|name| name.starts_with("OTEL_"));
    inherited.for_each(|name| _ = command.env_remove(name));
    command.envs(variables.iter().copied()).stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

impl Serving {
    fn start(options: &str, variables: &[(&str, &str)]) -> Self {
        let mut child = command(options, variables).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut lines = String::new();
        while said.read_line(&mut lines).unwrap() > 0 {
            if let Some((_, rest)) = lines.split_once("serves on http://") {
                let address = rest.split_whitespace().next().unwrap().to_owned();
                return Self { child, said, address };
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("it did not start: {lines}");
    }

    /// Status and body of an answer.
    fn post(&self, path: &str, headers: &str, body: &Value) -> (u16, Value) {
        self.post_bytes(path, headers, body.to_string().as_bytes())
    }

    fn post_bytes(&self, path: &str, headers: &str, body: &[u8]) -> (u16, Value) {
        let host = &self.address;
        let mut stream = TcpStream::connect(host).unwrap();
        let length = body.len();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}Content-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n"
        )
        .unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
    }

    /// Stops it, and returns its log.
    fn stop(mut self) -> String {
        assert!(Command::new("kill").arg(self.child.id().to_string()).status().unwrap().success());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let mut log = String::new();
        self.said.read_to_string(&mut log).unwrap();
        log
    }
}

/// A span as the collector received it, with its attributes by name.
#[derive(Debug)]
struct Received {
    name: String,
    span: Value,
    attributes: serde_json::Map<String, Value>,
}

impl Received {
    fn attribute(&self, name: &str) -> Value {
        self.attributes.get(name).cloned().unwrap_or_default()
    }
}

fn attributes(of: &Value) -> serde_json::Map<String, Value> {
    let pairs = of["attributes"].as_array().into_iter().flatten();
    let value = |value: &Value| match value.as_object().and_then(|value| value.iter().next()).unwrap() {
        // Whole numbers are texts in the protocol's JSON.
        (kind, Value::String(text)) if kind == "intValue" => json!(text.parse::<i64>().unwrap()),
        (_, value) => value.clone(),
    };
    pairs.map(|pair| (pair["key"].as_str().unwrap().to_owned(), value(&pair["value"]))).collect()
}

/// The spans that a collector has received, and the name of the service that sent them.
fn received(collector: &ScriptedServer) -> (Vec<Received>, Value) {
    let mut service = Value::Null;
    let mut spans = Vec::new();
    for request in collector.requests() {
        assert_eq!((request.path.as_str(), request.header("x-key")), ("/v1/traces", Some("sesame")));
        for resource in request.json()["resourceSpans"].as_array().unwrap() {
            service = attributes(&resource["resource"])["service.name"].clone();
            for span in
                resource["scopeSpans"].as_array().unwrap().iter().flat_map(|scope| scope["spans"].as_array().unwrap())
            {
                let name = span["name"].as_str().unwrap().to_owned();
                spans.push(Received { name, span: span.clone(), attributes: attributes(span) });
            }
        }
    }
    (spans, service)
}

fn conversation() -> Value {
    let rounds = (0..12).flat_map(|round| {
        let printed: String = (0..80).map(|line| format!("unit {line} of round {round} is built\n")).collect();
        let call =
            json!({"id": format!("c{round}"), "type": "function", "function": {"name": "run", "arguments": "{}"}});
        [
            json!({"role": "user", "content": format!("Round {round} of a secret matter.")}),
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": format!("c{round}"), "content": printed}),
        ]
    });
    json!({"model": "the-model", "messages": rounds.collect::<Vec<_>>()})
}

#[test]
fn requests_and_compactions_are_traced() {
    let collector = ScriptedServer::start_with(|_, _| ScriptedAnswer::json(200, "{}"));
    let answer = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Done."}}]});
    let provider = ScriptedServer::start_with(move |_, _| ScriptedAnswer::json(200, &answer));
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json".to_owned()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=sesame".to_owned()),
    ];
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("epitome.toml");
    std::fs::write(&config, "[budget]\nwindow = 9_000\nreserve_output = 1_000\n").unwrap();
    // What is traced does not depend on what is logged.
    let options = format!("--config {} --upstream {} --log warn", config.display(), provider.url());
    let serving = Serving::start(&options, &variables);
    let caller = format!("traceparent: 00-{TRACE}-{CALLER}-01\r\n");
    assert_eq!(serving.post("/v1/chat/completions", &caller, &conversation()).0, 200);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(conversation().to_string().as_bytes()).unwrap();
    let headers = "Content-Encoding: gzip\r\n";
    assert_eq!(serving.post_bytes("/v1/chat/completions", headers, &gzip.finish().unwrap()).0, 200);
    let begin = json!({"id": "a-private-name", "request": conversation()});
    assert_eq!(serving.post("/v1/sessions", "", &begin).0, 201);
    let compacted = serving.post("/v1/sessions/a-private-name/compact", &caller, &json!({"target": 3_000})).1;
    let stateless = json!({"request": conversation(), "budget": 3_000});
    assert_eq!(serving.post("/v1/compact", &caller, &stateless).0, 200);
    assert_eq!(serving.post("/v1/compact", "", &json!({"request": conversation(), "budget": 1})).0, 422);
    assert_eq!(serving.post("/healthz", "", &json!(null)).0, 405, "a probe, as far as the guard knows");
    let log = serving.stop();
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");

    let (spans, service) = received(&collector);
    assert_eq!(service, "epitome");
    assert!(spans.iter().all(|span| !span.name.contains("healthz")), "{spans:?}");
    let named = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let id = |span: &Received| span.span["spanId"].clone();
    // What the provider got goes on where the proxy's span is.
    let [proxied, compressed] = named("POST proxy")[..] else { panic!("{spans:?}") };
    assert_eq!(compressed.attribute("gen_ai.request.model"), "the-model");
    assert_eq!((&proxied.span["traceId"], &proxied.span["parentSpanId"]), (&json!(TRACE), &json!(CALLER)));
    let sent = provider.requests()[0].header("traceparent").unwrap().to_owned();
    assert_eq!(sent, format!("00-{TRACE}-{}-01", id(proxied).as_str().unwrap()));
    for (name, value) in [
        ("gen_ai.operation.name", json!("chat")),
        ("gen_ai.provider.name", json!("openai")),
        ("gen_ai.request.model", json!("the-model")),
        ("gen_ai.conversation.compacted", json!(true)),
        ("epitome.status", json!("compacted")),
        ("http.response.status_code", json!(200)),
    ] {
        assert_eq!(proxied.attribute(name), value, "{name}: {proxied:?}");
    }
    // A stored session: the request, the work, the compaction.
    let compact = named("POST /v1/sessions/{id}/compact")[0];
    assert_eq!((&compact.span["parentSpanId"], &compact.span["kind"]), (&json!(CALLER), &json!(2)));
    let session = named("session").into_iter().find(|span| span.span["parentSpanId"] == id(compact)).unwrap();
    assert_eq!(session.attribute("gen_ai.conversation.id").as_str().unwrap().len(), 12);
    let compactions = named("compaction");
    let of = |parent: &Received| *compactions.iter().find(|span| span.span["parentSpanId"] == id(parent)).unwrap();
    let made = of(session);
    assert_eq!(made.attribute("gen_ai.conversation.compacted"), true);
    assert_eq!(made.attribute("epitome.tokens.after"), compacted["report"]["tokens_after"]);
    assert_eq!(made.attribute("epitome.tokens.before"), compacted["report"]["tokens_before"]);
    // Without a session, by the proxy, and one that could not be made.
    let requests = named("POST /v1/compact");
    let [done, failed] = [200, 422]
        .map(|status| *requests.iter().find(|span| span.attribute("http.response.status_code") == status).unwrap());
    assert_eq!(of(done).attribute("epitome.status"), "compacted");
    assert_eq!(of(failed).attribute("epitome.status"), "infeasible");
    assert_eq!(of(failed).attribute("gen_ai.conversation.compacted"), false);
    assert_eq!(of(proxied).attribute("gen_ai.conversation.compacted"), true);
    assert_ne!(failed.span["traceId"], TRACE, "a trace of its own");
    let all: String = collector.requests().iter().map(|request| request.text()).collect();
    assert!(!all.contains("secret matter") && !all.contains("a-private-name"), "no text, and no name of a session");
}

#[test]
fn what_the_variables_say_counts() {
    let collector = ScriptedServer::start_with(|_, _| ScriptedAnswer::json(200, "{}"));
    let (url, subject) = (collector.url(), json!({"request": conversation(), "budget": 3_000}));
    for variables in [
        vec![],
        vec![("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_SDK_DISABLED", "true")],
        vec![("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_TRACES_EXPORTER", "none")],
        vec![("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_TRACES_SAMPLER", "always_off")],
    ] {
        let serving = Serving::start("", &variables);
        assert_eq!(serving.post("/v1/compact", "", &subject).0, 200);
        serving.stop();
        assert!(collector.requests().is_empty(), "{variables:?}");
    }
    // Nobody collects: the service works, and says so in its log.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let serving = Serving::start("", &[("OTEL_EXPORTER_OTLP_ENDPOINT", &gone)]);
    assert_eq!(serving.post("/v1/compact", "", &subject).0, 200);
    let log = serving.stop();
    assert!(log.contains("opentelemetry"), "{log}");
    for (name, value, part) in [
        ("OTEL_TRACES_EXPORTER", "zipkin", "OTEL_TRACES_EXPORTER is `zipkin`"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf or http/json"),
    ] {
        let refused = command("", &[("OTEL_EXPORTER_OTLP_ENDPOINT", &url), (name, value)]).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(2) && said.contains(part), "{said}");
    }
}
