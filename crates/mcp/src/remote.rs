//! Sessions of a service elsewhere: calls are forwarded to it, and its answers returned.

use std::time::Duration;

use epitome::lookup::Answer;
use epitome::lookup::tools::SESSION;
use reqwest::{Client, Url, header};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::call_origin::CallOrigin;
use crate::handler::ToolBackend;

/// The most time for an answer of the service.
const WAIT: Duration = Duration::from_secs(120);

/// Sessions of a running service.
#[derive(Debug)]
pub struct RemoteService {
    client: Client,
    url: Url,
    token: Option<String>,
    session: Option<String>,
}

/// Why a service cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RemoteProblem {
    /// The address is not valid.
    #[error("`{0}` is not the address of a service")]
    NoUrl(String),
    /// The HTTP client could not be built.
    #[error("no client can be made: {0}")]
    NoClient(String),
}

impl RemoteService {
    /// Returns the service at `url` (`http://127.0.0.1:7777`), with its token where it has one. Calls that name no
    /// session are about `session`. Sends nothing yet.
    pub fn new(url: &str, token: Option<String>, session: Option<String>) -> Result<Self, RemoteProblem> {
        let parsed =
            Url::parse(url.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let mut url = parsed.ok_or_else(|| RemoteProblem::NoUrl(url.to_owned()))?;
        let path = url.path().trim_end_matches('/').trim_end_matches("/mcp").to_owned();
        url.set_path(&format!("{path}/mcp"));
        // Building a client panics without a provider of cryptography; one that is installed already is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let host = url.host_str().unwrap_or_default();
        let is_local = host == "localhost" || host == "[::1]" || host.starts_with("127.");
        let builder = Client::builder().timeout(WAIT).redirect(reqwest::redirect::Policy::none());
        let builder = if is_local { builder.no_proxy() } else { builder };
        let client = builder.build().map_err(|error| RemoteProblem::NoClient(error.to_string()))?;
        Ok(Self { client, url, token, session })
    }

    async fn call_service(
        &self,
        tool: &str,
        mut arguments: Map<String, Value>,
        origin: &CallOrigin,
    ) -> Result<Answer, String> {
        if let Some(session) = &self.session {
            arguments.entry(SESSION).or_insert_with(|| session.as_str().into());
        }
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments, "_meta": origin.meta()},
        });
        let mut request = self
            .client
            .post(self.url.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .body(call.to_string());
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let unreachable = |error: reqwest::Error| format!("the service does not answer: {}", error.without_url());
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let body: Value = serde_json::from_str(&response.text().await.map_err(unreachable)?).unwrap_or_default();
        let result = &body["result"];
        let text: Vec<&str> =
            result["content"].as_array().into_iter().flatten().filter_map(|it| it["text"].as_str()).collect();
        if text.is_empty() {
            let problem = body["error"]["message"].as_str().unwrap_or("that is not an answer of the service");
            return Err(format!("{status}: {problem}"));
        }
        let is_error = result["isError"].as_bool().unwrap_or(false);
        let text = text.join("\n");
        Ok(if is_error { Answer::refusal(text) } else { Answer::new(text) })
    }
}

impl ToolBackend for RemoteService {
    fn has_many_sessions(&self) -> bool {
        self.session.is_none()
    }

    fn compacts(&self) -> bool {
        true
    }

    async fn answer(&self, tool: &str, arguments: Map<String, Value>, origin: &CallOrigin) -> Answer {
        self.call_service(tool, arguments, origin).await.unwrap_or_else(Answer::refusal)
    }
}
