//! `epitome serve`: it starts, answers, proxies and stops; and what it refuses to start with.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use epitome_testkit::{Scripted, ScriptedServer};

use crate::place::Place;

/// A service with the reader of what it says.
struct Serving {
    child: Child,
    said: BufReader<std::process::ChildStderr>,
    address: String,
}

impl Serving {
    fn start(place: &Place, more: &str) -> Self {
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
    let upstream = ScriptedServer::start(vec![Scripted::json(200, r#"{"from":"the provider"}"#)]);
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

#[test]
fn what_it_does_not_start_with() {
    let check = |line: &str, code: i32, part: &str| {
        let ran = Place::with("tokens", "alice short\n").run(line);
        assert_eq!(ran.code, code, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{line}: {}", ran.stderr);
    };
    check("serve --listen 0.0.0.0:0", 2, "--token-variable");
    check("serve --token-variable THERE_IS_NO_SUCH", 2, "THERE_IS_NO_SUCH");
    check("serve --token-file tokens", 2, "line 1");
    check("serve --token-file missing", 2, "missing");
    check("serve --upstream nowhere", 2, "--upstream");
    check("serve --log ==", 2, "--log");
    check("serve --config missing.toml", 2, "missing.toml");
    check("serve --max-body 0", 2, "--max-body");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    check(&format!("serve --listen {}", taken.local_addr().unwrap()), 1, "port 0");
}
