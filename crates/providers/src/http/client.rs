//! The client.

use std::error::Error;
use std::future::Future;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinHandle, unconstrained};

use super::error::beginning;
use super::resolve::NonLinkLocalResolver;
use super::retry::retry_after;
use super::{ApiKey, HttpError, RetryPolicy};

/// The number of bytes of a refusal that are kept.
const KEPT_BYTES: usize = 16 * 1024;

/// A header of one request: its name and its value.
pub type Header = (&'static str, &'static str);

/// Settings of an HTTP service.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// The base of all addresses, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The service's name in errors, for readers who must not learn its address: then no error holds an address. Errors
    /// show the address where it is missing.
    pub called: Option<String>,
    /// The key, if any.
    pub key: Option<ApiKey>,
    /// The header for the key.
    pub key_header: KeyHeader,
    /// Headers of each request, by name.
    pub headers: Vec<(&'static str, String)>,
    /// The longest wait for one try, from connecting to the last byte.
    pub timeout: Duration,
    /// When a request is sent again.
    pub retry: RetryPolicy,
    /// The largest answer that is read.
    pub max_answer_bytes: usize,
}

/// The header that carries a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyHeader {
    /// `Authorization: Bearer …`.
    Bearer,
    /// The header of this name, with nothing but the key.
    Named(&'static str),
}

impl HttpSettings {
    /// The service at `base_url`: no key, 30 seconds a try, three tries, answers of up to 256 MB.
    pub fn new(base_url: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            called: None,
            key: None,
            key_header: KeyHeader::Bearer,
            headers: Vec::new(),
            timeout: Duration::from_secs(30),
            retry: RetryPolicy::default(),
            max_answer_bytes: 256 * 1024 * 1024,
        }
    }
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
    /// The address is not `http` or `https`, or carries a user name, a password or a query; TLS cannot be set up.
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
        if url.query().is_some() || url.fragment().is_some() {
            // Some services take their key there.
            let url = "(left out)".to_owned();
            return Err(HttpError::BadUrl { url, problem: "it must end before any `?` or `#`".to_owned() });
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("it must begin with `http://` or `https://`"));
        }
        // Building a client panics without a provider of cryptography; one that is there already is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .timeout(settings.timeout)
            // A service that sends us elsewhere is not followed: it would take the key along.
            .redirect(Policy::none())
            .dns_resolver(Arc::new(NonLinkLocalResolver));
        if is_this_machine(&url) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| HttpError::Setup { problem: causes(&error) })?;
        let base = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self { inner: Arc::new(Inner { client, base, settings }) })
    }

    /// The base of all addresses, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.inner.base
    }

    /// The name in errors of this path under the base address.
    pub fn url_for_people(&self, path: &str) -> String {
        self.inner.url_for_people(&format!("{}{path}", self.inner.base))
    }

    /// `text` without the key, for what a service said.
    pub fn redact(&self, text: &str) -> String {
        self.inner.redact(text)
    }

    /// Posts `body` to `path` (with a slash in front) under the base address; the JSON of the answer. Tries again as the
    /// settings say.
    ///
    /// # Errors
    ///
    /// The last try's error.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, HttpError> {
        self.post_with(path, &[], body).await
    }

    /// The same with additional headers for this request alone.
    ///
    /// # Errors
    ///
    /// The last try's error.
    pub async fn post_with(&self, path: &str, headers: &[Header], body: &Value) -> Result<Value, HttpError> {
        let inner = Arc::clone(&self.inner);
        let (url, headers, body) = (format!("{}{path}", inner.base), headers.to_vec(), body.to_string());
        on_own_runtime(async move { inner.post_with_retries(&url, &headers, &body).await }).await?
    }
}

impl Inner {
    async fn post_with_retries(&self, url: &str, headers: &[Header], body: &str) -> Result<Value, HttpError> {
        let mut n_tries = 0;
        loop {
            let outcome = self.post_once(url, headers, body).await;
            n_tries += 1;
            let Err(error) = &outcome else { return outcome };
            let Some(wait) = self.settings.retry.wait_after(n_tries, error) else { return outcome };
            tokio::time::sleep(wait).await;
        }
    }

    async fn post_once(&self, url: &str, headers: &[Header], body: &str) -> Result<Value, HttpError> {
        let mut request = self.client.post(url).header(CONTENT_TYPE, "application/json").body(body.to_owned());
        for (name, value) in &self.settings.headers {
            request = request.header(*name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(key) = &self.settings.key {
            let (name, value) = match self.settings.key_header {
                KeyHeader::Bearer => (AUTHORIZATION.as_str(), format!("Bearer {}", key.reveal())),
                KeyHeader::Named(name) => (name, key.reveal().to_owned()),
            };
            let problem = |_| HttpError::Setup { problem: "the key cannot stand in a header".to_owned() };
            let mut value = HeaderValue::try_from(value).map_err(problem)?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        let mut response = request.send().await.map_err(|error| self.on_the_way(url, &error))?;
        let status = response.status().as_u16();
        let is_success = response.status().is_success();
        let unreadable = |problem: String| HttpError::Unreadable { url: self.url_for_people(url), problem };
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let asked = retry_after(header);
        // A stream may go on for long, and nothing in it is of use here.
        if is_success && header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return Err(unreadable(STREAMED.to_owned()));
        }
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.on_the_way(url, &error))? {
            let most = if is_success { self.settings.max_answer_bytes } else { 4 * KEPT_BYTES };
            if answer.len() + chunk.len() > most {
                if !is_success {
                    break;
                }
                return Err(unreadable(format!("it is larger than {} MB", most / 1024 / 1024)));
            }
            answer.extend_from_slice(&chunk);
        }
        if !is_success {
            let body = self.excerpt(&answer);
            return Err(HttpError::Status { url: self.url_for_people(url), status, body, retry_after: asked });
        }
        serde_json::from_slice(&answer).map_err(|error| {
            let text = self.excerpt(&answer);
            if text.starts_with("data:") || text.starts_with("event:") {
                return unreadable(STREAMED.to_owned());
            }
            unreadable(format!("{error}; it begins with `{}`", beginning(&text)))
        })
    }

    fn on_the_way(&self, url: &str, error: &reqwest::Error) -> HttpError {
        let url = self.url_for_people(url);
        if error.is_timeout() {
            return HttpError::Timeout { url, after: self.settings.timeout };
        }
        let problem = match &self.settings.called {
            None => causes(error),
            // The causes can name the host: of a name that is not known, of a certificate that is another's.
            Some(_) if error.is_connect() => "there is no connection".to_owned(),
            Some(_) => "the connection broke".to_owned(),
        };
        HttpError::Unreachable { url, problem }
    }

    fn url_for_people(&self, url: &str) -> String {
        self.settings.called.clone().unwrap_or_else(|| url.to_owned())
    }

    /// The beginning of an answer, without the key.
    fn excerpt(&self, answer: &[u8]) -> String {
        // More than is kept, so that a key across the end of the kept part is still seen whole.
        let text = self.redact(&String::from_utf8_lossy(&answer[..answer.len().min(2 * KEPT_BYTES)]));
        text[..text.floor_char_boundary(KEPT_BYTES)].to_owned()
    }

    fn redact(&self, text: &str) -> String {
        self.settings.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }
}

/// The error of an unexpected stream.
const STREAMED: &str = "it is a stream of events although none was asked for; something between us and the service, or its \
                        settings, turns streaming on";

/// The error down to its first cause; reqwest's own words repeat the address.
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
    let mut task = AbortOnDrop(runtime.spawn(work));
    // Not of the budget of the task of another runtime: one that waits here through another executor would never get a
    // new one.
    unconstrained(&mut task.0).await.map_err(|error| setup(error.to_string()))
}

/// Ends a task when its waiting caller is gone.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
