//! `epitome serve`: it starts, answers, proxies and stops; and what it refuses to start with.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use epitome_harness::{ScriptedAnswer, ScriptedServer};

use crate::place::Place;

/// A service with the reader of what it says.
pub(crate) struct Serving {
    pub(crate) child: Child,
    said: BufReader<std::process::ChildStderr>,
    pub(crate) address: String,
}

impl Serving {
    pub(crate) fn start(place: &Place, more: &str) -> Self {
        let mut command = place.command(&format!("serve --listen 127.0.0.1:0 {more}"));
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut lines = String::new();
        while said.read_line(&mut lines).unwrap() > 0 {
            if let Some((_, rest)) = lines.split_once("serves on http://") {
                let address = rest.split_whitespace().next().unwrap().to_owned();
                return Self { child, said, address };
            }
        }
        let _ = child.kill();
        let _ = child.wait();
        unreachable!("it did not start: {lines}");
    }

    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.replace("HOST", &self.address).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

#[test]
fn it_answers_proxies_and_stops() {
    let upstream = ScriptedServer::start(vec![ScriptedAnswer::json(200, r#"{"from":"the provider"}"#)]);
    let place = Place::with("tokens", "alice alices-own-token-1\n");
    let mut serving = Serving::start(&place, &format!("--token-file tokens --upstream {}", upstream.url()));
    let head = "Host: HOST\r\nConnection: close\r\n";
    let healthy = serving.ask(&format!("GET /healthz HTTP/1.1\r\n{head}\r\n"));
    assert!(healthy.starts_with("HTTP/1.1 200") && healthy.contains(r#""status":"ok""#), "{healthy}");
    let post = |extra: &str| {
        let body = r#"{"messages":[{"role":"user","content":"hello"}]}"#;
        format!(
            "POST /v1/chat/completions HTTP/1.1\r\n{head}{extra}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let refused = serving.ask(&post(""));
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    let answer = serving.ask(&post("X-Epitome-Token: alices-own-token-1\r\nAuthorization: Bearer sk-sesame\r\n"));
    assert!(answer.contains("x-epitome-status: passed") && answer.contains("the provider"), "{answer}");
    let stopped = std::process::Command::new("kill").arg(serving.child.id().to_string()).status();
    assert!(stopped.unwrap().success());
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let mut log = String::new();
    serving.said.read_to_string(&mut log).unwrap();
    assert!(log.lines().all(|line| line.starts_with("{\"timestamp\"")), "{log}");
    assert!(log.contains(r#""tenant":"alice""#) && log.contains(r#""did":"passed""#), "{log}");
    assert!(!log.contains("alices-own-token-1") && !log.contains("sesame") && !log.contains("hello"), "{log}");
}

/// The status and the JSON body of an answer.
pub(crate) fn asked(serving: &Serving, method: &str, path: &str, body: &str) -> (u16, serde_json::Value) {
    asked_with(serving, "", method, path, body)
}

/// The same, with more headers, each ended by `\r\n`.
pub(crate) fn asked_with(
    serving: &Serving,
    headers: &str,
    method: &str,
    path: &str,
    body: &str,
) -> (u16, serde_json::Value) {
    let length = body.len();
    let answer = serving.ask(&format!(
        "{method} {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    ));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_default())
}

#[test]
fn where_sessions_are_kept() {
    let end = |mut serving: Serving| {
        serving.child.kill().unwrap();
        serving.child.wait().unwrap();
    };
    let place = Place::with("data", "");
    std::fs::remove_file(place.path("data")).unwrap();
    // In the user's own folder, which is made and is nobody else's business.
    let serving = Serving::start(&place, "");
    assert_eq!(asked(&serving, "POST", "/v1/sessions", r#"{"id": "mine"}"#).0, 201);
    end(serving);
    let folder = place.path("data/epitome");
    assert!(folder.join("epitome.sqlite").exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    }
    let serving = Serving::start(&place, "");
    assert_eq!(asked(&serving, "GET", "/v1/sessions/mine", "").0, 200);
    end(serving);
    // Where that cannot be used the rest works.
    for beside in ["epitome.sqlite-wal", "epitome.sqlite-shm"] {
        std::fs::remove_file(folder.join(beside)).ok();
    }
    std::fs::write(
        folder.join("epitome.sqlite"),
        "this is not a database, and a long text that it is not ".repeat(100),
    )
    .unwrap();
    let serving = Serving::start(&place, "");
    let (status, refused) = asked(&serving, "GET", "/v1/sessions", "");
    assert_eq!((status, refused["error"]["code"].as_str()), (404, Some("no-store")));
    end(serving);
    let serving = Serving::start(&place, "--store none");
    assert_eq!(asked(&serving, "GET", "/v1/sessions", "").0, 404);
    end(serving);
    let serving = Serving::start(&place, "--store sqlite:other.sqlite");
    assert_eq!(asked(&serving, "GET", "/v1/sessions/mine", "").0, 404);
    assert!(place.path("other.sqlite").exists());
    end(serving);
}

#[test]
fn a_failure_is_logged_and_told_without_the_operators_address() {
    // Nobody listens there once it is dropped.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = format!(
        "[select]\nmode = \"fixed\"\nchain = \"only\"\n[chains]\nonly = [\"summary\"]\n\
         [summary]\nsummarizer = \"llm\"\nfall_back_to_rules = false\non_failure = \"stop\"\n\
         [channels.house]\nbase_url = \"http://{nobody}/v1\"\nmodels = [\"m\"]\ntries = 1\nwindow = 9000\n"
    );
    let place = Place::with("c.toml", config);
    let mut serving = Serving::start(&place, "--config c.toml --store sqlite::memory: --log info");
    let turn = |number: u32| {
        let answer = format!("Step {number} was done, and nothing else was to be said of it. ").repeat(12);
        format!(r#"{{"role":"user","content":"Do step {number}."}},{{"role":"assistant","content":"{answer}"}}"#)
    };
    let turns: Vec<String> = (0..12).map(turn).collect();
    let body = format!(r#"{{"id":"s","request":{{"messages":[{}]}}}}"#, turns.join(","));
    assert_eq!(asked(&serving, "POST", "/v1/sessions", &body).0, 201);
    let (status, told) = asked(&serving, "POST", "/v1/sessions/s/compact", r#"{"target":700}"#);
    let told = told.to_string();
    assert!(status >= 400 && told.contains("channel house"), "{status} {told}");
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    let mut log = String::new();
    serving.said.read_to_string(&mut log).unwrap();
    assert!(log.contains("compaction failed"), "{log}");
    for line in log.lines() {
        assert_eq!(line.matches("\"message\":").count(), 1, "{line}");
    }
    assert!(!format!("{told}{log}").contains(&nobody.to_string()), "{told}\n{log}");
}

#[test]
fn what_it_does_not_start_with() {
    let check = |line: &str, code: i32, part: &str| {
        let ran = Place::with("tokens", "alice short\n").run(line);
        assert_eq!(ran.code, code, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{line}: {}", ran.stderr);
    };
    check("serve --listen 0.0.0.0:0", 2, "--token-variable");
    check("serve --token-variable THERE_IS_NO_SUCH", 2, "THERE_IS_NO_SUCH");
    check("serve --item-key-variable NO_SUCH_KEY", 2, "NO_SUCH_KEY");
    check("serve --item-key-file no-such-keys.txt", 2, "no-such-keys.txt");
    check("serve --token-file tokens", 2, "line 1");
    check("serve --token-file missing", 2, "missing");
    check("serve --upstream nowhere", 2, "--upstream");
    check("serve --channel-host https://api.openai.com", 2, "is not a host");
    check("serve --log ==", 2, "--log");
    check("serve --config missing.toml", 2, "missing.toml");
    check("serve --max-body 0", 2, "--max-body");
    check("serve --store nowhere", 2, "--store");
    check("serve --store-variable THERE_IS_NO_SUCH", 2, "THERE_IS_NO_SUCH");
    check("serve --store none --store-variable THERE_IS_NO_SUCH", 2, "cannot be used with");
    check("serve --store sqlite:", 1, "--store none");
    check("serve --store sqlite:missing/folder/e.sqlite", 1, "missing/folder");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    check(&format!("serve --listen {}", taken.local_addr().unwrap()), 1, "port 0");
}

/// A request of twelve rounds, with results that are worth taking out.
fn long_request() -> serde_json::Value {
    let round = |number: u32| {
        let call = serde_json::json!({"id": format!("c{number}"), "type": "function",
            "function": {"name": "run", "arguments": "{}"}});
        let printed: String = (0..80).map(|line| format!("unit {line} of round {number} is built\n")).collect();
        [
            serde_json::json!({"role": "user", "content": format!("Round {number}.")}),
            serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            serde_json::json!({"role": "tool", "tool_call_id": format!("c{number}"), "content": printed}),
        ]
    };
    let messages: Vec<_> = (1..=12).flat_map(round).collect();
    serde_json::json!({"model": "m", "messages": messages})
}

#[test]
fn what_left_is_kept_up_to_a_size() {
    let retrieved = |options: &str| {
        let place = Place::new();
        let mut serving = Serving::start(&place, &format!("--store none {options}"));
        let body = serde_json::json!({"request": long_request(), "budget": 3_000, "chain": ["sliding-window"]});
        let (status, answer) = asked(&serving, "POST", "/v1/compact", &body.to_string());
        assert_eq!(status, 200, "{answer}");
        let handle = answer["report"]["edits"][0]["recall"].as_str().unwrap();
        let status = asked(&serving, "GET", &format!("/v1/retrieve/{handle}"), "").0;
        serving.child.kill().unwrap();
        serving.child.wait().unwrap();
        status
    };
    assert_eq!((retrieved(""), retrieved("--archive-size 0")), (200, 404));
}

#[test]
fn an_agents_settings_count() {
    let strategies = |options: &str| {
        let config = "[budget]\nwindow = 60_000\n[chains]\nwindowed = [\"sliding-window\"]\n[agents.windowed]\nchain = \"windowed\"\n";
        let place = Place::with("c.toml", config);
        let mut serving = Serving::start(&place, &format!("--store none --config c.toml {options}"));
        let body = serde_json::json!({"request": long_request(), "budget": 3_000});
        let (status, answer) = asked(&serving, "POST", "/v1/compact", &body.to_string());
        assert_eq!(status, 200, "{answer}");
        serving.child.kill().unwrap();
        serving.child.wait().unwrap();
        answer["report"]["edits"].to_string()
    };
    assert!(strategies("--agent windowed").contains("sliding-window"), "{}", strategies("--agent windowed"));
    assert!(!strategies("").contains("sliding-window"));
}
