//! Agents and channels over HTTP.

use epitome_harness::{ScriptedAnswer, ScriptedServer};
use epitome_server::{ChannelHost, Settings, StoreLocation};
use serde_json::{Value, json};

use crate::support::{Running, code, read, with_tokens};

const TOKENS: &str = "alice open-sesame-one-two\nbob open-sesame-two-two\nbob_b open-sesame-two-bob\n";
const ALICE: &str = "open-sesame-one-two";
const BOB: &str = "open-sesame-two-two";

/// A window, a channel and an agent of the configuration's own.
const CONFIG: &str = "\
[budget]
window = 50_000
[channels.house]
base_url = \"http://me:hush@127.0.0.1:1/v1\"
models = [\"small\", \"large\"]
compaction = false
[chains]
short = [\"sliding-window\"]
[agents.coder]
threshold_percent = 60
keep_recent = 30
";

/// A service with a store, tokens and some hosts that channels may lead to.
struct Kept {
    running: Running,
    token: &'static str,
}

impl Kept {
    async fn start(hosts: &[&str]) -> Self {
        Self::with(CONFIG, hosts).await
    }

    async fn with(config: &str, hosts: &[&str]) -> Self {
        let settings = Settings {
            store: StoreLocation::In("sqlite::memory:".to_owned()),
            channel_hosts: hosts.iter().map(|host| host.parse::<ChannelHost>().unwrap()).collect(),
            ..with_tokens(TOKENS)
        };
        Self { running: Running::start(config, settings).await, token: ALICE }
    }

    async fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let request = self.running.client.request(method.parse().unwrap(), self.running.url(path));
        let request = request.bearer_auth(self.token);
        read(match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        })
        .await
    }

    async fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, None).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    async fn put(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.ask("PUT", path, Some(&body)).await;
        assert_eq!(status, 200, "{path}: {body}: {answer}");
        answer
    }

    async fn refused(&self, method: &str, path: &str, body: Option<Value>) -> (u16, String, String) {
        let (status, answer) = self.ask(method, path, body.as_ref()).await;
        assert!(status >= 400, "{method} {path}: {answer}");
        assert!(!answer.to_string().contains("hush"), "{answer}");
        (status, code(&answer).to_owned(), answer["error"]["message"].as_str().unwrap().to_owned())
    }
}

#[tokio::test]
async fn agents_are_stored_listed_and_deleted() {
    let kept = Kept::start(&[]).await;
    let stored =
        kept.put("/v1/agents/r%C3%A9viewer", json!({"settings": {"threshold_percent": 40, "keep_recent": null}})).await;
    let effective = json!({"threshold_percent": 40, "keep_recent": 0, "summarizer": "rules", "channel": null,
        "model": null, "runs_on": null, "window": 50_000, "chain": null, "handles": false});
    let expect = json!({"name": "réviewer", "settings": {"threshold_percent": 40}, "source": "stored",
        "effective": effective});
    assert_eq!(stored, expect);
    assert_eq!(kept.get("/v1/agents/r%C3%A9viewer").await, expect);
    let list = kept.get("/v1/agents").await;
    let names: Vec<(&str, &str)> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["name"].as_str().unwrap(), item["source"].as_str().unwrap()))
        .collect();
    assert_eq!(names, [("coder", "configuration"), ("réviewer", "stored")]);
    assert_eq!(list["items"][0]["settings"], json!({"threshold_percent": 60, "keep_recent": 30}));
    assert_eq!(list["items"][0]["effective"]["keep_recent"], 30);

    // Another tenant sees the configuration's alone.
    let bob = Kept { token: BOB, ..kept };
    assert_eq!(bob.get("/v1/agents").await["items"].as_array().unwrap().len(), 1);
    assert_eq!(bob.refused("GET", "/v1/agents/r%C3%A9viewer", None).await.1, "unknown-agent");
    assert_eq!(bob.refused("DELETE", "/v1/agents/r%C3%A9viewer", None).await.0, 404);
    let kept = Kept { token: ALICE, ..bob };

    let all = json!({"preset": ["basic"], "window": 8000, "chain": "short", "summarizer": "off", "runs_on": "gpt-4o"});
    let changed = kept.put("/v1/agents/r%C3%A9viewer", json!({"settings": all})).await;
    assert_eq!(changed["settings"], all);
    let in_force = &changed["effective"];
    assert_eq!((&in_force["window"], &in_force["runs_on"]), (&json!(8000), &json!("gpt-4o")));
    assert_eq!((&in_force["chain"], &in_force["summarizer"]), (&json!("short"), &json!("off")));

    assert_eq!(kept.ask("DELETE", "/v1/agents/r%C3%A9viewer", None).await, (204, Value::String(String::new())));
    assert_eq!(kept.refused("DELETE", "/v1/agents/r%C3%A9viewer", None).await.1, "unknown-agent");
}

#[tokio::test]
async fn agents_that_are_refused() {
    let kept = Kept::start(&[]).await;
    let check = async |path: &str, body: Value, status: u16, expect: &str, said: &str| {
        let found = kept.refused("PUT", path, Some(body.clone())).await;
        assert_eq!((found.0, found.1.as_str()), (status, expect), "{body}: {}", found.2);
        assert!(found.2.contains(said), "{body}: {}", found.2);
    };
    let settings = async |settings: Value, said: &str| {
        check("/v1/agents/a", json!({"settings": settings}), 422, "bad-settings", said).await;
    };
    settings(json!({"threshold_percent": 101}), "`threshold_percent` takes a value from 0 to 100, not 101").await;
    settings(json!({"keep_recent": 1001}), "`keep_recent` takes a value from 0 to 1000").await;
    settings(json!({"keep_recent": "9"}), "`keep_recent` takes a whole number").await;
    settings(json!({"keep_recnt": 9}), "did you mean `keep_recent`?").await;
    settings(json!({"prompts": "/etc"}), "`prompts` is not a key").await;
    settings(json!({"cache": "/tmp"}), "`cache` is not a key").await;
    settings(json!({"memory_file": "/tmp/x"}), "`memory_file` is not a key").await;
    settings(json!({"chain": "long"}), "there is no chain `long`").await;
    settings(json!({"runs_on": "nobodys-model"}), "nobodys-model").await;
    settings(json!({"channel": "elsewhere"}), "there is no channel `elsewhere`").await;
    settings(json!({"channel": "house"}), "`house` may not be used for compaction").await;
    settings(json!({"summarizer": "llm"}), "none of the channels may be used for compaction").await;
    settings(json!({"window": 99}), "`window` takes a value from 100").await;
    settings(json!({"chain": "x".repeat(20_000)}), "bytes are not taken").await;
    // Two problems are told at once.
    settings(json!({"keep_recent": 1001, "threshold_percent": -1}), "`threshold_percent`").await;
    check("/v1/agents/coder", json!({"settings": {}}), 409, "read-only", "`coder` is the configuration's").await;
    check("/v1/agents/a", json!({"settings": {"model": "sk-hush0123456789abcdef"}}), 400, "secret", "settings.model")
        .await;
    check("/v1/agents/a", json!({"setings": {}}), 400, "bad-request", "setings").await;
    check("/v1/agents/a", json!({"settings": 3}), 400, "bad-request", "").await;
    check("/v1/agents/a%00b", json!({"settings": {}}), 400, "bad-name", "").await;
    check(&format!("/v1/agents/{}", "x".repeat(201)), json!({}), 400, "bad-name", "").await;
    check("/v1/agents/%ff", json!({}), 400, "bad-path", "").await;
    assert_eq!(kept.refused("DELETE", "/v1/agents/coder", None).await.1, "read-only");
    for path in ["/v1/agents/%00", "/v1/channels/%00"] {
        assert_eq!(kept.refused("DELETE", path, None).await.1, "bad-name");
    }
    assert_eq!(kept.refused("GET", "/v1/agents/%00", None).await.1, "bad-name");
    assert_eq!(kept.refused("POST", "/v1/agents/coder", Some(json!({}))).await.0, 405);
    // Nothing of it was stored.
    assert_eq!(kept.get("/v1/agents").await["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn channels_are_stored_listed_and_deleted() {
    let kept = Kept::start(&["localhost:11434"]).await;
    let channel = json!({"name": "mine", "base_url": "http://localhost:11434/v1", "models": ["qwen3:8b"],
        "key": {"environment": "EPITOME_KEY_ALICE_HOME"}});
    let stored = kept.put("/v1/channels/mine", channel).await;
    let expect = json!({"name": "mine", "kind": "openai", "base_url": "http://localhost:11434/v1",
        "models": ["qwen3:8b"], "compaction": true, "default": false, "window": 0, "source": "stored", "has_key": false,
        "key": {"environment": "EPITOME_KEY_ALICE_HOME"}});
    assert_eq!(stored, expect);
    let list = kept.get("/v1/channels").await;
    // Where the configuration's own leads is nothing that tenants are told.
    let house = json!({"name": "house", "kind": "openai",
        "models": ["small", "large"], "compaction": false, "default": false, "window": 0, "source": "configuration", "has_key": false});
    assert_eq!(list, json!({"items": [house, expect]}));
    assert_eq!(kept.get("/v1/channels?compaction=true").await, json!({"items": [expect]}));
    assert_eq!(kept.get("/v1/channels?compaction=false").await, json!({"items": [house]}));
    assert_eq!(kept.refused("GET", "/v1/channels?compaction=perhaps", None).await.1, "bad-query");
    assert_eq!(kept.refused("GET", "/v1/channels?compacted=true", None).await.1, "bad-query");
    let bob = Kept { token: BOB, ..kept };
    assert_eq!(bob.get("/v1/channels").await, json!({"items": [house]}));
    assert_eq!(bob.refused("DELETE", "/v1/channels/mine", None).await.0, 404);
    let kept = Kept { token: ALICE, ..bob };
    assert_eq!(kept.ask("DELETE", "/v1/channels/mine", None).await.0, 204);
    assert_eq!(kept.refused("DELETE", "/v1/channels/mine", None).await.1, "unknown-channel");
    assert_eq!(kept.refused("DELETE", "/v1/channels/house", None).await.1, "read-only");
}

#[tokio::test]
async fn channels_that_are_refused() {
    let kept = Kept::start(&["localhost:11434", "api.openai.com", "http://lan"]).await;
    let good = json!({"base_url": "http://localhost:11434/v1"});
    let check = async |change: Value, status: u16, expect: &str, said: &str| {
        let mut body = good.clone();
        change.as_object().unwrap().iter().for_each(|(key, value)| body[key] = value.clone());
        let found = kept.refused("PUT", "/v1/channels/mine", Some(body)).await;
        assert_eq!((found.0, found.1.as_str()), (status, expect), "{change}: {}", found.2);
        assert!(found.2.contains(said), "{change}: {}", found.2);
    };
    // Where it leads to.
    check(json!({"base_url": "https://evil.example/v1"}), 403, "channel-not-allowed", "evil.example").await;
    check(json!({"base_url": "http://localhost:22/"}), 403, "channel-not-allowed", "localhost:22").await;
    check(json!({"base_url": "http://169.254.169.254/latest"}), 403, "channel-not-allowed", "169.254.169.254").await;
    check(json!({"base_url": "http://2852039166/"}), 403, "channel-not-allowed", "169.254.169.254").await;
    check(json!({"base_url": "http://[fd00:ec2::254]/"}), 403, "channel-not-allowed", "fd00:ec2::254").await;
    check(json!({"base_url": "https://api.openai.com@evil.example/"}), 422, "bad-settings", "user name").await;
    check(json!({"base_url": "https://api.openai.com/?key=hush"}), 422, "bad-settings", "`?`").await;
    check(json!({"base_url": "file:///etc/passwd"}), 422, "bad-settings", "http://").await;
    check(json!({"base_url": "https://me:hush@api.openai.com/"}), 400, "secret", "settings.base_url").await;
    check(json!({"base_url": "http://api.openai.com/v1"}), 403, "channel-not-allowed", "without encryption").await;
    kept.put("/v1/channels/secure", json!({"base_url": "https://api.openai.com/v1"})).await;
    kept.put("/v1/channels/lan", json!({"base_url": "http://lan/v1"})).await;
    // Its own service would be asked with the service's own key.
    check(json!({"base_url": ""}), 422, "bad-settings", "it is needed").await;
    check(json!({"base_url": null}), 422, "bad-settings", "it is needed").await;
    check(json!({"base_url": 7}), 422, "bad-settings", "`base_url` takes a string").await;
    // Its key.
    check(json!({"key": {"environment": "OPENAI_API_KEY"}}), 403, "channel-not-allowed", "not one of yours").await;
    check(json!({"key": {"environment": "EPITOME_KEY_BOB_X"}}), 403, "channel-not-allowed", "not one of yours").await;
    check(json!({"key": {"environment": "PATH"}}), 403, "channel-not-allowed", "not one of yours").await;
    check(json!({"key": {"file": "/etc/passwd"}}), 403, "channel-not-allowed", "files are not read").await;
    check(json!({"key": {"environment": "sk-hush0123456789abcdef"}}), 400, "secret", "key").await;
    check(json!({"key": "hush"}), 422, "bad-settings", "a key is not given but named").await;
    check(json!({"key_variable": "OPENAI_API_KEY"}), 422, "bad-settings", "`key_variable` is not a key of a channel")
        .await;
    check(json!({"key_file": "/etc/passwd"}), 422, "bad-settings", "`key_file` is not a key of a channel").await;
    check(json!({"api_key": "hush"}), 422, "bad-settings", "`api_key` is not a key of a channel").await;
    check(json!({"extra": {"top_p": 1}}), 422, "bad-settings", "`extra` is not a key of a channel").await;
    // Everything else.
    check(json!({"kind": "telnet"}), 422, "bad-settings", "`kind` takes one of \"openai\", \"anthropic\"").await;
    check(json!({"models": "one"}), 422, "bad-settings", "`models` takes a list of strings").await;
    check(json!({"models": vec!["m"; 101]}), 422, "bad-settings", "`models`: more than 100").await;
    check(json!({"window": -1}), 422, "bad-settings", "`window` takes a whole number").await;
    check(json!({"name": "other"}), 422, "bad-settings", "`name` is not `mine`").await;
    let found = kept.refused("PUT", "/v1/channels/house", Some(good.clone())).await;
    assert_eq!((found.0, found.1.as_str()), (409, "read-only"));
    assert_eq!(kept.refused("PUT", "/v1/channels/mine", Some(json!([]))).await.1, "bad-request");
    // The variables of `bob_b` begin as those of `bob`.
    let bob = Kept { token: BOB, ..kept };
    let key = |variable: &str| json!({"base_url": "http://localhost:11434", "key": {"environment": variable}});
    assert_eq!(bob.refused("PUT", "/v1/channels/b", Some(key("EPITOME_KEY_BOB_B_X"))).await.0, 403);
    bob.put("/v1/channels/b", key("EPITOME_KEY_BOB_X")).await;
}

#[tokio::test]
async fn without_a_host_there_are_no_channels_over_http() {
    let kept = Kept::start(&[]).await;
    let found = kept.refused("PUT", "/v1/channels/mine", Some(json!({"base_url": "https://api.openai.com/v1"}))).await;
    assert_eq!((found.0, found.1.as_str()), (403, "channel-not-allowed"));
    assert!(found.2.contains("takes no channels over HTTP"), "{}", found.2);
}

#[tokio::test]
async fn without_a_store_there_is_nothing_to_set() {
    let running = Running::start(CONFIG, Settings::default()).await;
    for path in ["/v1/agents", "/v1/agents/a", "/v1/channels"] {
        let (status, body) = read(running.client.get(running.url(path))).await;
        assert_eq!((status, code(&body)), (404, "no-store"), "{path}");
    }
}

#[tokio::test]
async fn a_channel_that_is_in_use_stays() {
    let kept = Kept::start(&["127.0.0.1:1"]).await;
    kept.put("/v1/channels/mine", json!({"base_url": "http://127.0.0.1:1/v1", "models": ["m"]})).await;
    let agent = kept.put("/v1/agents/a", json!({"settings": {"channel": "mine"}})).await;
    // Who names a channel wants it asked.
    assert_eq!((&agent["effective"]["summarizer"], &agent["effective"]["model"]), (&json!("llm"), &json!("m")));
    let found = kept.refused("DELETE", "/v1/channels/mine", None).await;
    assert_eq!((found.0, found.1.as_str()), (409, "in-use"));
    // A key that is not there shows when the channel is to be used.
    let key = json!({"environment": "EPITOME_KEY_ALICE_NOT_THERE"});
    kept.put("/v1/channels/keyed", json!({"base_url": "http://127.0.0.1:1/v1", "models": ["m"], "key": key})).await;
    let found = kept.refused("PUT", "/v1/agents/b", Some(json!({"settings": {"channel": "keyed"}}))).await;
    assert_eq!((found.0, found.1.as_str()), (422, "bad-settings"));
    assert!(found.2.contains("EPITOME_KEY_ALICE_NOT_THERE"), "{}", found.2);
    kept.put("/v1/agents/a", json!({"settings": {}})).await;
    assert_eq!(kept.ask("DELETE", "/v1/channels/mine", None).await.0, 204);
}

#[tokio::test]
async fn a_channel_that_a_session_names_stays() {
    let kept = Kept::start(&["127.0.0.1:1"]).await;
    kept.put("/v1/channels/mine", json!({"base_url": "http://127.0.0.1:1/v1", "models": ["m"]})).await;
    let (status, session) =
        kept.ask("POST", "/v1/sessions", Some(&json!({"id": "s", "settings": {"channel": "mine"}}))).await;
    assert_eq!(status, 201, "{session}");
    let found = kept.refused("DELETE", "/v1/channels/mine", None).await;
    assert_eq!((found.0, found.1.as_str()), (409, "in-use"));
    assert!(found.2.contains("session `s`"), "{}", found.2);
    kept.get("/v1/sessions/s").await;
    let (status, session) = kept.ask("PATCH", "/v1/sessions/s", Some(&json!({"settings": null}))).await;
    assert_eq!(status, 200, "{session}");
    assert_eq!(kept.ask("DELETE", "/v1/channels/mine", None).await.0, 204);
}

#[tokio::test]
async fn among_many_channels_one_is_named() {
    let kept = Kept::with("[budget]\nwindow = 50_000\n", &["127.0.0.1:1"]).await;
    let channel = |model: &str| json!({"base_url": "http://127.0.0.1:1/v1", "models": [model]});
    for number in 0..50 {
        kept.put(&format!("/v1/channels/c{number:02}"), channel(&format!("m{number}"))).await;
    }
    let found = kept.refused("PUT", "/v1/channels/c50", Some(channel("m"))).await;
    assert_eq!((found.0, found.1.as_str()), (409, "too-many"));
    kept.put("/v1/channels/c49", channel("last")).await;
    let found = kept.refused("PUT", "/v1/agents/a", Some(json!({"settings": {"summarizer": "llm"}}))).await;
    assert!(found.0 == 422 && found.2.contains("which channel writes summaries is not said"), "{found:?}");
    let found = kept.refused("POST", "/v1/sessions", Some(json!({"settings": {"summarizer": "llm"}}))).await;
    assert!(found.0 == 422 && found.2.contains("which channel writes summaries is not said"), "{found:?}");
    let by_name = kept.put("/v1/agents/a", json!({"settings": {"channel": "c07"}})).await;
    assert_eq!(by_name["effective"]["model"], "m7");
    let by_model = kept.put("/v1/agents/b", json!({"settings": {"model": "last"}})).await;
    assert_eq!(by_model["effective"]["channel"], "c49");
    let list = kept.get("/v1/agents").await;
    assert_eq!(list["items"], json!([by_name, by_model]));
    assert_eq!(kept.get("/v1/agents/b").await, by_model);
    let session = json!({"agent": "a", "settings": {"channel": "c08"}});
    assert_eq!(kept.ask("POST", "/v1/sessions", Some(&session)).await.0, 201);
}

#[tokio::test]
async fn what_does_not_work_is_not_tried_at_once_again() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    let config = format!("[channels.filed]\nmodels = [\"m\"]\nkey_file = {key:?}\n");
    let kept = Kept::with(&config, &[]).await;
    let create = async |settings: Value| kept.ask("POST", "/v1/sessions", Some(&json!({"settings": settings}))).await.0;
    assert_eq!(create(json!({"channel": "filed"})).await, 422);
    std::fs::write(&key, "a-key-for-nobody\n").unwrap();
    assert_eq!(create(json!({"channel": "filed"})).await, 422, "it was told a moment ago");
    assert_eq!(create(json!({"channel": "filed", "window": 40_000})).await, 201, "other settings are tried");
}

/// A request whose history is far over the budget, to be compacted by a session of the service.
#[tokio::test]
async fn without_a_threshold_there_are_no_figures_of_one() {
    let kept = Kept::start(&[]).await;
    kept.put("/v1/agents/never", json!({"settings": {"threshold_percent": 0}})).await;
    let (status, session) =
        kept.ask("POST", "/v1/sessions", Some(&json!({"agent": "never", "request": long_chat()}))).await;
    assert_eq!((status, &session["budget"]["soft"], &session["budget"]["hard"]), (201, &Value::Null, &Value::Null));
    let path = format!("/v1/sessions/{}", session["id"].as_str().unwrap());
    let answer = kept.get(&format!("{path}/check")).await;
    let (check, context) = (&answer["check"], &answer["context"]);
    assert_eq!((&check["threshold_tokens"], &check["trigger"]), (&Value::Null, &Value::Null), "{answer}");
    assert_eq!((context["thresholdPercent"].as_f64(), &check["urgency"]), (Some(0.0), &json!("none")), "{answer}");
    // What is asked for by hand is done.
    let (status, done) = kept.ask("POST", &format!("{path}/compact"), Some(&json!({}))).await;
    assert_eq!((status, &done["report"]["status"]), (200, &json!("compacted")), "{done}");
    assert!(done["report"]["saved_ratio"].as_f64().unwrap() > 0.3 && done["report"]["flushed_memories"] == 0);
}

fn long_chat() -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Find out why the build of the parser fails."})];
    for step in 0..60 {
        let said = format!("Step {step}: the file src/part_{step}.rs was read. ").repeat(30);
        messages.push(json!({"role": "assistant", "content": said}));
        messages.push(json!({"role": "user", "content": format!("Go on with part {}.", step + 1)}));
    }
    json!({"messages": messages})
}

#[tokio::test]
async fn a_session_is_worked_on_with_its_agents_settings_and_its_own() {
    let model = ScriptedServer::start(vec![ScriptedAnswer::text(302, "").header("Location", "/v1/elsewhere")]);
    let host = model.address().to_string();
    let kept = Kept::start(&[host.as_str()]).await;
    kept.put("/v1/channels/mine", json!({"base_url": format!("http://{host}/v1"), "models": ["m"]})).await;
    let agent = json!({"settings": {"channel": "mine", "window": 30_000, "threshold_percent": 50}});
    kept.put("/v1/agents/a", agent).await;
    let create = json!({"agent": "a", "request": long_chat(), "settings": {"threshold_percent": 70, "chain": null}});
    let (status, session) = kept.ask("POST", "/v1/sessions", Some(&create)).await;
    assert_eq!(status, 201, "{session}");
    // The agent's window, and the session's own threshold.
    let budget = &session["budget"];
    assert_eq!(budget["window"], 30_000, "{budget}");
    let percent = budget["soft"].as_f64().unwrap() / budget["usable"].as_f64().unwrap();
    assert!((percent - 0.7).abs() < 0.01, "{budget}");
    let path = format!("/v1/sessions/{}", session["id"].as_str().unwrap());

    let (status, done) = kept.ask("POST", &format!("{path}/compact"), Some(&json!({}))).await;
    assert_eq!(status, 200, "{done}");
    // The channel was asked, its redirect was not followed, and the rules wrote the summary.
    assert_eq!(done["report"]["summarizer"]["fell_back"], true, "{}", done["report"]["summarizer"]);
    assert!(model.requests().iter().all(|request| request.path == "/v1/chat/completions"), "{:?}", model.requests());
    assert!(!model.requests().is_empty());

    // What works no more is said by name, and nothing changes.
    let patch = async |body: Value| kept.refused("PATCH", &path, Some(body)).await;
    assert_eq!(patch(json!({"agent": "nobody"})).await.1, "unknown-agent");
    let found = patch(json!({"settings": {"keep_recent": 1001}})).await;
    assert!(found.0 == 422 && found.2.contains("`keep_recent`"), "{found:?}");
    assert_eq!(kept.refused("DELETE", "/v1/agents/a", None).await.1, "in-use");
    assert_eq!(kept.get(&path).await["agent"], "a");
}
