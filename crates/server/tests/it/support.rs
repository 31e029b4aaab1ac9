//! A service under test, and requests for it.

use std::net::SocketAddr;

use epitome::Config;
use epitome_harness::ScriptedServer;
use epitome_server::{Service, Settings, Tokens, Upstreams};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// 8,000 usable tokens: soft 6,400, target 4,000.
pub(crate) const SMALL: &str = "[budget]\nwindow = 9_000\nreserve_output = 1_000\nsoft = 0.8\ntarget = 0.5\n";

/// A service that answers until it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) client: Client,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start(config: &str, settings: Settings) -> Self {
        let registry = epitome::registry();
        let mut config = Config::parse(config, "test.toml", &registry).unwrap();
        if !settings.upstreams.is_empty() {
            config.has_conversations();
        }
        let runtime = config.build(&registry).unwrap();
        let settings = Settings { listen: SocketAddr::from(([127, 0, 0, 1], 0)), config, ..settings };
        let service = Service::bind(runtime, registry, settings).await.unwrap();
        let address = service.address();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            service.run(stopped).await.unwrap();
        });
        Self { address, client: Client::builder().no_proxy().build().unwrap(), stop: Some(stop), task }
    }

    /// One that runs in another process.
    pub(crate) fn elsewhere(address: SocketAddr) -> Self {
        // A service in this process would have said which; there may be one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().build().unwrap();
        Self { address, client, stop: None, task: tokio::spawn(async {}) }
    }

    /// In front of a provider.
    pub(crate) async fn proxy(upstream: &ScriptedServer, config: &str) -> Self {
        Self::start(config, in_front_of(&upstream.url())).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.post_text(path, &body.to_string())
    }

    pub(crate) fn post_text(&self, path: &str, body: &str) -> RequestBuilder {
        self.client.post(self.url(path)).header("content-type", "application/json").body(body.to_owned())
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.client.get(self.url(path)).send().await.unwrap()
    }

    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }
}

pub(crate) fn in_front_of(url: &str) -> Settings {
    let mut upstreams = Upstreams::default();
    upstreams.add(url).unwrap();
    Settings { upstreams, ..Settings::default() }
}

pub(crate) fn with_tokens(text: &str) -> Settings {
    Settings { tokens: Tokens::parse(text).unwrap(), ..Settings::default() }
}

/// Status and body of an answer.
pub(crate) async fn read(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// The code of an error.
pub(crate) fn code(body: &Value) -> &str {
    assert!(body["error"]["message"].is_string() && body["error"]["help"].is_string(), "{body}");
    body["error"]["code"].as_str().unwrap()
}

/// What a header says.
pub(crate) fn header<'r>(response: &'r Response, name: &str) -> &'r str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

/// The wire formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Chat,
    Responses,
    Anthropic,
}

impl Wire {
    pub(crate) const ALL: [Self; 3] = [Self::Chat, Self::Responses, Self::Anthropic];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chat => "openai-chat",
            Self::Responses => "openai-responses",
            Self::Anthropic => "anthropic",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Anthropic => "/v1/messages",
        }
    }

    pub(crate) fn list(self) -> &'static str {
        if self == Self::Responses { "input" } else { "messages" }
    }

    /// A request with a task, `steps` steps of a tool each, and a last question. A step has about 650 tokens.
    pub(crate) fn request(self, steps: usize) -> Value {
        let mut items = vec![json!({"role": "user", "content": "Find out why the build of the parser fails."})];
        for step in 0..steps {
            items.extend(self.step(step));
        }
        items.push(self.said("That is all of it."));
        items.push(asked("What do you know now?"));
        let mut request = match self {
            Self::Chat => json!({"model": "test-model", "stream": false}),
            Self::Responses => json!({"model": "test-model", "instructions": "You build parsers."}),
            Self::Anthropic => json!({"model": "test-model", "max_tokens": 500, "system": "You build parsers."}),
        };
        if self == Self::Chat {
            items.insert(0, json!({"role": "system", "content": "You build parsers."}));
        }
        request[self.list()] = Value::Array(items);
        request["temperature"] = json!(0.25);
        request
    }

    /// A call of a tool with its result.
    pub(crate) fn step(self, step: usize) -> Vec<Value> {
        let id = format!("call_{step}");
        let lines: Vec<String> = (0..30)
            .map(|line| format!("src/part_{step}/file_{line}.rs: checked, {} warnings, nothing else to say", line * 7))
            .collect();
        let output = lines.join("\n");
        let arguments = json!({"command": format!("make part_{step}")});
        match self {
            Self::Chat => vec![
                json!({"role": "assistant", "content": null, "tool_calls": [
                    {"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments.to_string()}}]}),
                json!({"role": "tool", "tool_call_id": id, "content": output}),
            ],
            Self::Responses => vec![
                json!({"type": "function_call", "call_id": id, "name": "bash", "arguments": arguments.to_string()}),
                json!({"type": "function_call_output", "call_id": id, "output": output}),
            ],
            Self::Anthropic => vec![
                json!({"role": "assistant", "content": [
                    {"type": "tool_use", "id": id, "name": "bash", "input": arguments}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]}),
            ],
        }
    }

    /// The request with more messages at its end.
    pub(crate) fn longer(self, request: &Value, more: Vec<Value>) -> Value {
        let mut longer = request.clone();
        longer[self.list()].as_array_mut().unwrap().extend(more);
        longer
    }

    /// What the model said, as the client sends it back.
    pub(crate) fn said(self, text: &str) -> Value {
        json!({"role": "assistant", "content": text})
    }
}

pub(crate) fn asked(text: &str) -> Value {
    json!({"role": "user", "content": text})
}
