//! The client.

use std::error::Error;
use std::future::Future;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::retry::retry_after;
use super::{ApiKey, HttpError, RetryPolicy};

/// The largest answer that is read.
const MAX_ANSWER_BYTES: usize = 256 * 1024 * 1024;

/// How much of a refusal is quoted.
const QUOTED_CHARACTERS: usize = 300;

/// How a service is reached.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// What all addresses begin with, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// Sent as `Authorization: Bearer …`, if any.
    pub key: Option<ApiKey>,
    /// The longest wait for one try, from connecting to the last byte.
    pub timeout: Duration,
    /// When a request is sent again.
    pub retry: RetryPolicy,
}

/// Posts JSON to a service and reads JSON. Clones share connections.
#[derive(Debug, Clone)]
pub struct HttpClient {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    client: Client,
    base: String,
    settings: HttpSettings,
}

impl HttpClient {
    /// A client of the service that `settings` names; connects to nothing yet.
    ///
    /// # Errors
    ///
    /// The address is not `http` or `https`, or carries a user name or password; TLS cannot be set up.
    pub fn new(settings: HttpSettings) -> Result<Self, HttpError> {
        let bad = |problem: &str| HttpError::BadUrl { url: settings.base_url.clone(), problem: problem.to_owned() };
        let url = Url::parse(&settings.base_url).map_err(|error| bad(&error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            let url = "(left out)".to_owned();
            return Err(HttpError::BadUrl {
                url,
                problem: "it holds a password; name an environment variable".to_owned(),
            });
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("it must begin with `http://` or `https://`"));
        }
        // Building a client panics without a provider of cryptography; one that is there already is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder().timeout(settings.timeout).redirect(Policy::none());
        if is_this_machine(&url) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| HttpError::Setup { problem: causes(&error) })?;
        let base = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self { inner: Arc::new(Inner { client, base, settings }) })
    }

    /// What all addresses begin with, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.inner.base
    }

    /// Posts `body` to `path` (with a slash in front) under the base address; the JSON of the answer. Tries again as the
    /// settings say.
    ///
    /// # Errors
    ///
    /// The last try's error.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, HttpError> {
        let inner = Arc::clone(&self.inner);
        let (url, body) = (format!("{}{path}", inner.base), body.to_string());
        on_own_runtime(async move { inner.post_with_retries(&url, &body).await }).await?
    }
}

impl Inner {
    async fn post_with_retries(&self, url: &str, body: &str) -> Result<Value, HttpError> {
        let mut n_tries = 0;
        loop {
            let outcome = self.post_once(url, body).await;
            n_tries += 1;
            let Err(error) = &outcome else { return outcome };
            let Some(wait) = self.settings.retry.wait_after(n_tries, error) else { return outcome };
            tokio::time::sleep(wait).await;
        }
    }

    async fn post_once(&self, url: &str, body: &str) -> Result<Value, HttpError> {
        let mut request = self.client.post(url).header(CONTENT_TYPE, "application/json").body(body.to_owned());
        if let Some(key) = &self.settings.key {
            request = request.header(AUTHORIZATION, format!("Bearer {}", key.reveal()));
        }
        let mut response = request.send().await.map_err(|error| self.on_the_way(url, &error))?;
        let status = response.status().as_u16();
        let asked = response.headers().get(RETRY_AFTER).and_then(|value| retry_after(value.to_str().ok()?));
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.on_the_way(url, &error))? {
            if answer.len() + chunk.len() > MAX_ANSWER_BYTES {
                let problem = format!("it is larger than {} MB", MAX_ANSWER_BYTES / 1024 / 1024);
                return Err(HttpError::Unreadable { url: url.to_owned(), problem });
            }
            answer.extend_from_slice(&chunk);
        }
        if !(200..300).contains(&status) {
            let body = self.quoted(&answer);
            return Err(HttpError::Status { url: url.to_owned(), status, body, retry_after: asked });
        }
        serde_json::from_slice(&answer).map_err(|error| {
            let problem = format!("{error}; it begins with `{}`", self.quoted(&answer));
            HttpError::Unreadable { url: url.to_owned(), problem }
        })
    }

    fn on_the_way(&self, url: &str, error: &reqwest::Error) -> HttpError {
        let url = url.to_owned();
        if error.is_timeout() {
            HttpError::Timeout { url, after: self.settings.timeout }
        } else {
            HttpError::Unreachable { url, problem: causes(error) }
        }
    }

    /// The beginning of an answer, on one line, without the key.
    fn quoted(&self, answer: &[u8]) -> String {
        let text = String::from_utf8_lossy(&answer[..answer.len().min(64 * 1024)]);
        let text = self.settings.key.as_ref().map_or_else(|| text.to_string(), |key| key.redact(&text));
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let cut: String = line.chars().take(QUOTED_CHARACTERS).collect();
        if cut.len() < line.len() { format!("{cut}…") } else { cut }
    }
}

/// What happened, down to its first cause; reqwest's own words repeat the address.
fn causes(error: &reqwest::Error) -> String {
    let mut source = error.source();
    let mut last = None;
    while let Some(cause) = source {
        last = Some(cause.to_string());
        source = cause.source();
    }
    last.unwrap_or_else(|| "the request failed".to_owned())
}

fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    host == "localhost" || host == "[::1]" || host.starts_with("127.")
}

/// Runs `work` on the runtime of this module and waits for it under whatever executor the caller has.
async fn on_own_runtime<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, HttpError> {
    static RUNTIME: LazyLock<Result<Runtime, String>> = LazyLock::new(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("epitome-http").enable_all().build().map_err(|error| error.to_string())
    });
    let setup = |problem: String| HttpError::Setup { problem };
    let runtime = RUNTIME.as_ref().map_err(|problem| setup(problem.clone()))?;
    let mut task = EndsWhenDropped(runtime.spawn(work));
    (&mut task.0).await.map_err(|error| setup(error.to_string()))
}

/// A task that nobody waits for any more is not carried on.
struct EndsWhenDropped<T>(JoinHandle<T>);

impl<T> Drop for EndsWhenDropped<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
