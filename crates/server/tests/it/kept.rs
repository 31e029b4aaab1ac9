//! A service that keeps sessions, and what the cases do with it.

use std::sync::Arc;
use std::time::Duration;

use epitome_server::{Settings, StoreLocation};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::contract;
use crate::support::{Running, SMALL, Wire, read};

/// How long a test waits for an answer that should come at once.
const PATIENCE: Duration = Duration::from_secs(60);

/// A service that keeps sessions. Every answer is held against the OpenAPI document.
pub(crate) struct Kept {
    pub(crate) running: Running,
    document: Arc<Value>,
    token: Option<&'static str>,
}

/// A folder with a database.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn address(&self) -> String {
        format!("sqlite:{}", self.0.path().join("epitome.sqlite").display())
    }

    pub(crate) fn keeping(&self) -> StoreLocation {
        StoreLocation::In(self.address())
    }
}

impl Kept {
    /// With 8,000 usable tokens, in memory.
    pub(crate) async fn small() -> Self {
        Self::start(SMALL, StoreLocation::In("sqlite::memory:".to_owned())).await
    }

    pub(crate) async fn start(config: &str, store: StoreLocation) -> Self {
        Self::with(config, Settings { store, ..Settings::default() }).await
    }

    pub(crate) async fn with(config: &str, settings: Settings) -> Self {
        Self::new(Running::start(config, settings).await).await
    }

    /// A service that runs.
    pub(crate) async fn new(running: Running) -> Self {
        let document = read(running.client.get(running.url("/openapi.json"))).await.1;
        Self { running, document: Arc::new(document), token: None }
    }

    /// Another caller of the same service.
    pub(crate) fn with_token(mut self, token: &'static str) -> Self {
        self.token = Some(token);
        self
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let request = self.running.client.request(method.parse().unwrap(), self.running.url(path));
        match self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Status and body of an answer that is what the document says.
    pub(crate) async fn send(&self, method: &str, path: &str, request: RequestBuilder) -> (u16, Value) {
        let answer = tokio::time::timeout(PATIENCE, read(request)).await;
        let (status, body) = answer.unwrap_or_else(|_| panic!("no answer: {method} {path}"));
        contract::check(&self.document, method, path, status, &body);
        (status, body)
    }

    /// Status and body of an answer that is what the document says; `None` where there is none, as of a service that was
    /// killed meanwhile.
    pub(crate) async fn tried(&self, method: &str, path: &str, body: Option<Value>) -> Option<(u16, Value)> {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let answered = async {
            let response = request.send().await.ok()?;
            let status = response.status().as_u16();
            let text = response.text().await.ok()?;
            Some((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
        };
        let answer = tokio::time::timeout(PATIENCE, answered).await;
        let (status, body) = answer.unwrap_or_else(|_| panic!("no answer: {method} {path}"))?;
        contract::check(&self.document, method, path, status, &body);
        Some((status, body))
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.send("GET", path, self.request("GET", path)).await
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let request = self.request(method, path).header("content-type", "application/json").body(body.to_string());
        self.send(method, path, request).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.ask("POST", path, body).await
    }

    /// The body of an answer that must be a success.
    pub(crate) async fn done(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.post(path, body).await;
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
        answer
    }

    /// The body of what must be there.
    pub(crate) async fn found(&self, path: &str) -> Value {
        let (status, answer) = self.get(path).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// A session with a task and `steps` steps of about 650 tokens each.
    pub(crate) async fn session(&self, id: &str, steps: usize) -> Value {
        let request = Wire::Chat.request(steps);
        self.done("/v1/sessions", json!({"id": id, "request": request})).await
    }

    /// The ids of a view's messages.
    pub(crate) async fn ids(&self, id: &str, view: &str) -> Vec<String> {
        let page = self.found(&format!("/v1/sessions/{id}/messages?view={view}&limit=500")).await;
        let ids =
            page["messages"].as_array().unwrap().iter().map(|it| it["message"]["id"].as_str().unwrap().to_owned());
        ids.collect()
    }
}

/// A typed message.
pub(crate) fn typed(text: &str) -> Value {
    json!({"messages": [{"role": "user", "content": text}]})
}

/// A chain that asks a model for a summary of nearly everything.
pub(crate) fn with_model(url: &str) -> String {
    format!(
        "{SMALL}[select]\nmode = \"fixed\"\nchain = \"plain\"\n[chains]\nplain = [\"summary\"]\n\
         [summary]\nsummarizer = \"llm\"\n[channels.test]\nbase_url = \"{url}/v1\"\nmodels = [\"m\"]\ntries = 1\n\
         timeout_seconds = 60\n"
    )
}
