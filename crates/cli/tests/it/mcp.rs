//! `epitome mcp`: it speaks the protocol on standard input and output and nothing else, and says what it cannot serve.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::place::Place;
use crate::serve::{Serving, asked_with};

#[test]
fn a_client_on_standard_input() {
    let session = r#"{"messages":[{"role":"user","content":"Never touch partner HLV-2209."}]}"#;
    let place = Place::with("session.json", session);
    let mut child = place
        .command("mcp session.json")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut write = |text: &str, is_answered: bool| {
        writeln!(input, "{text}").unwrap();
        let mut line = String::new();
        if is_answered {
            output.read_line(&mut line).unwrap();
        }
        serde_json::from_str::<Value>(&line).unwrap_or_default()
    };
    // Neither before nor behind the beginning does a line that cannot be read end anything.
    assert_eq!(write("nonsense", true)["error"]["code"], -32_700);
    let mut ask = |message: Value, is_answered: bool| write(&message.to_string(), is_answered);
    let about =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let begun = ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}), true);
    assert_eq!(begun["result"]["serverInfo"]["name"], "epitome", "{begun}");
    ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), false);
    let tools = ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}), true);
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 3, "{tools}");
    let call = json!({"name": "search_history", "arguments": {"queries": ["which partner?"]}});
    let found = ask(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}), true);
    let text = found["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("· user") && text.contains("HLV-2209"), "{text}");
    assert_eq!(write("{", true)["error"]["code"], -32_700);
    assert_eq!(write("[]", true)["error"]["code"], -32_600);
    assert_eq!(write(r#"{"jsonrpc":"2.0","id":4,"method":7}"#, true)["id"], 4);
    let call = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"search_history","arguments":{"query":"\ud800"}}}"#;
    assert_eq!(write(call, true)["id"], 5);
    let unfit = r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":7}}"#;
    assert!(write(unfit, true)["error"]["code"].is_i64());
    drop(input);
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn beside_an_agent() {
    let check = |agent: &str, folder: &str, variables: [(&str, &str); 2]| {
        let place = Place::new();
        let asked = |files: usize| {
            let mut command = place.command(&format!("mcp --beside {agent}"));
            for (name, path) in variables {
                command.env(name, place.path(path));
            }
            let mut child =
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let about = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
            let mut input = child.stdin.take().unwrap();
            writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about})).unwrap();
            writeln!(input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
            let call = json!({"name": "search_history", "arguments": {"queries": ["HLV-2209"]}});
            writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})).unwrap();
            let mut output = BufReader::new(child.stdout.take().unwrap());
            let mut lines = [String::new(), String::new()];
            for line in &mut lines {
                output.read_line(line).unwrap();
            }
            drop(input);
            let ended = child.wait_with_output().unwrap();
            assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{agent} with {files} files");
            lines[1].clone()
        };
        // The agent begins its servers before its file.
        assert!(!asked(0).contains("partner HLV-2209 is off limits"));
        std::fs::create_dir_all(place.path(folder)).unwrap();
        let said = r#"{"messages":[{"role":"user","content":"The partner HLV-2209 is off limits."}]}"#;
        std::fs::write(place.path(folder).join("session.json"), said).unwrap();
        let answer = asked(1);
        assert!(answer.contains("partner HLV-2209 is off limits"), "{agent}: {answer}");
    };
    let place = Place::new();
    let project = place.path("a b").display().to_string();
    let slug: String = project.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    check(
        "claude-code",
        &format!("agent/projects/{slug}"),
        [("CLAUDE_CONFIG_DIR", "agent"), ("CLAUDE_PROJECT_DIR", &project)],
    );
    check("codex", "agent/sessions", [("CODEX_HOME", "agent"), ("CLAUDE_PROJECT_DIR", &project)]);
}

#[test]
fn an_agent_without_the_service_that_it_needs() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let begun = || {
        let mut command = place.command(&format!("mcp --beside codex --needs http://{address}"));
        command.env("CODEX_HOME", place.path("agent"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let about =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about});
        writeln!(child.stdin.take().unwrap(), "{begin}").unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    assert!(begun().contains("\"serverInfo\""));
    drop(listener);
    let told = begun();
    let line = format!("through the service at http://{address}, and nothing answers there");
    assert!(told.contains("\"error\"") && told.contains(&line), "{told}");
}

#[test]
fn what_cannot_be_served() {
    let place = Place::with("session.json", "this is not a session");
    place.file("good.json", r#"{"messages":[{"role":"user","content":"hello"}]}"#);
    let check = |arguments: &str, parts: &[&str]| {
        let output = place.command(arguments).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(output.stdout.is_empty(), "standard output is the protocol's");
        parts.iter().for_each(|part| assert!(said.contains(part), "{arguments}: `{part}` in {said}"));
    };
    check("mcp", &["there is no session to answer for", "epitome mcp FILE"]);
    check("mcp session.json", &["session.json"]);
    check("mcp good.json --from codex", &["not a valid codex session"]);
    check("mcp good.json --config none.toml", &["cannot read none.toml"]);
    check("mcp good.json --config none.toml --agent nobody", &["cannot read none.toml"]);
    check("mcp --store-variable NO_SUCH_STORE --session a", &["NO_SUCH_STORE is not set"]);
    check("mcp -", &["standard input is where the client speaks"]);
    check("mcp --url nowhere", &["`nowhere` is not the address of a service"]);
    check("mcp --url http://127.0.0.1:1 --token-variable NO_SUCH_TOKEN", &["NO_SUCH_TOKEN is not set"]);
    check("mcp --store sqlite::memory: --session none", &["there is no store in memory"]);
    check("mcp --store sqlite:none.db --session none", &["there is no store at `none.db`"]);
    check("mcp --store-variable NO_SUCH_STORE --store sqlite:none.db --session a", &["cannot be used with"]);
    check("mcp good.json --store sqlite:none.db --session a", &["cannot be used with"]);
    check("mcp good.json --tenant alice", &["--store"]);
    assert!(!place.path("none.db").exists(), "a store that is looked into is not made");
    check("mcp --store sqlite::memory:", &["--session"]);
}

#[test]
fn a_tenants_session_in_a_store() {
    let place = Place::with("tokens", "alice alices-own-token-1\n");
    let mut serving = Serving::start(&place, "--token-file tokens --store sqlite:kept.sqlite");
    let headers = "Authorization: Bearer alices-own-token-1\r\n";
    let message = r#"{"messages":[{"role":"user","content":"Never touch partner HLV-2209."}]}"#;
    for (path, body) in [("/v1/sessions", r#"{"id": "hers"}"#), ("/v1/sessions/hers/messages", message)] {
        let (status, answer) = asked_with(&serving, headers, "POST", path, body);
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
    }
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    let line = "mcp --store sqlite:kept.sqlite --session hers";
    let ran = |options: &str| place.command(&format!("{line} {options}")).stdin(Stdio::null()).output().unwrap();
    let hers = ran("--tenant alice");
    assert!(hers.status.success(), "{}", String::from_utf8_lossy(&hers.stderr));
    let nobodys = ran("");
    assert_eq!(nobodys.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nobodys.stderr).contains("session `hers` is not there"));
}
