//! A chat model of a service over HTTP, in either wire format.

use std::sync::atomic::{AtomicBool, Ordering};

use epitome_strategy::{Tokens, async_trait};
use epitome_wire::{AnswerError, question};
use serde_json::{Map, Value, json};

use crate::http::{ApiKey, HttpClient, HttpError, HttpSettings, KeyHeader};

use super::overflow::{AnswerTexts, Overflow, is_context_overflow};
use super::{ChannelKind, ChannelSettings, ChatAnswer, ChatError, ChatErrorKind, ChatModel, ChatRequest, KeySource};

/// No answer to one request is larger, whatever a service sends.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// Asks a service over HTTP. Works under any executor.
#[derive(Debug)]
pub(super) struct HttpChat {
    pub(super) client: HttpClient,
    pub(super) settings: ChannelSettings,
    pub(super) path: &'static str,
    /// Learned from refusals, so that each is met once.
    wants_completion_tokens: AtomicBool,
    refuses_temperature: AtomicBool,
}

/// The form of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RequestStyle {
    completion_tokens: bool,
    temperature: bool,
}

impl HttpChat {
    pub(super) fn new(settings: &ChannelSettings) -> Result<Self, HttpError> {
        let key = match &settings.key {
            KeySource::None => None,
            KeySource::Environment(variable) => Some(ApiKey::from_environment(variable)?),
            KeySource::File(path) => Some(ApiKey::from_file(path)?),
        };
        let wire = settings.kind.wire();
        let key_header = wire.key_header().map_or(KeyHeader::Bearer, KeyHeader::Named);
        let headers = wire.version_header().map(|(name, version)| (name, version.to_owned())).into_iter().collect();
        let client = HttpClient::new(HttpSettings {
            key,
            key_header,
            headers,
            timeout: settings.timeout,
            retry: settings.retry,
            max_answer_bytes: MAX_ANSWER_BYTES,
            called: settings.called.clone(),
            ..HttpSettings::new(&settings.base_url)
        })?;
        let path = wire.path_below(client.base_url()).unwrap_or_default();
        Ok(Self {
            client,
            settings: settings.clone(),
            path,
            wants_completion_tokens: AtomicBool::new(false),
            refuses_temperature: AtomicBool::new(false),
        })
    }

    fn body(&self, request: &ChatRequest, manner: RequestStyle) -> Value {
        let mut body = Map::from_iter([("model".to_owned(), json!(self.settings.model))]);
        body.extend(question(self.settings.kind.wire(), &request.system, &request.user));
        if !self.sets_length() {
            let name = if manner.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
            body.insert(name.to_owned(), json!(request.max_tokens.max(1)));
        }
        if manner.temperature {
            body.insert("temperature".to_owned(), json!(0));
        }
        body.insert("stream".to_owned(), json!(false));
        for (name, value) in &self.settings.extra {
            if value.is_null() {
                body.remove(name);
            } else {
                body.insert(name.clone(), value.clone());
            }
        }
        Value::Object(body)
    }

    /// Whether the settings limit the length of an answer.
    fn sets_length(&self) -> bool {
        ["max_tokens", "max_completion_tokens"].iter().any(|name| self.settings.extra.contains_key(*name))
    }

    /// The form of a second request after a refusal that names a parameter which we chose ourselves.
    fn other_manner(&self, manner: RequestStyle, error: &HttpError) -> Option<RequestStyle> {
        let HttpError::Status { status: status @ (400 | 422), body, .. } = error else { return None };
        if is_context_overflow(*status, body).is_some() {
            return None;
        }
        let is_openai = self.settings.kind == ChannelKind::OpenAi;
        if is_openai && !manner.completion_tokens && !self.sets_length() && body.contains("max_completion_tokens") {
            return Some(RequestStyle { completion_tokens: true, ..manner });
        }
        if manner.temperature && !self.settings.extra.contains_key("temperature") && body.contains("temperature") {
            return Some(RequestStyle { temperature: false, ..manner });
        }
        None
    }

    /// The message of a refusal's `body`. Reading JSON undoes its escapes, so the key is looked for once more.
    pub(super) fn refusal_message(&self, body: &str) -> String {
        AnswerTexts::parse(body).message(|text| self.client.redact(text))
    }

    pub(super) fn url(&self) -> String {
        self.client.url_for_people(self.path)
    }

    fn read(&self, answer: &Value) -> Result<ChatAnswer, ChatError> {
        self.check(answer)?;
        self.settings.kind.wire().read_answer(answer).map_err(|misread| self.misread(misread))
    }

    /// Errs where an answer with a status of success reports an error.
    pub(super) fn check(&self, answer: &Value) -> Result<(), ChatError> {
        let Some(error) = answer.get("error").filter(|error| !error.is_null()) else { return Ok(()) };
        let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        Err(self.error_in_answer(status.filter(|status| (400..600).contains(status)), &answer.to_string()))
    }

    /// The error for an answer that could not be read.
    pub(super) fn misread(&self, misread: AnswerError) -> ChatError {
        match misread {
            AnswerError::Wrong(problem) => {
                let kind = self.settings.kind.as_str();
                let message = format!(
                    "`{}` answered something that is not an answer of kind `{kind}`: {problem}; check `base_url` and `kind`",
                    self.url()
                );
                ChatError::new(ChatErrorKind::Unreadable, message)
            }
            AnswerError::Busy(problem) => {
                let message = format!("`{}` gave no answer: {problem}", self.url());
                ChatError::new(ChatErrorKind::Transient, message)
            }
            AnswerError::Full => self.too_long(Overflow::default(), "its window was full before the first word"),
        }
    }

    /// An error that came as a success.
    fn error_in_answer(&self, status: Option<u16>, body: &str) -> ChatError {
        if let Some(overflow) = is_context_overflow(status.unwrap_or(200), body) {
            return self.too_long(overflow, &self.refusal_message(body));
        }
        let status = status.or_else(|| {
            let statuses = [("overloaded", 529), ("rate_limit", 429), ("api_error", 500), ("authentication", 401)];
            statuses.iter().find(|(word, _)| body.contains(word)).map(|(_, status)| *status)
        });
        match status {
            Some(status) => self.refused(status, body),
            None => {
                let said = self.refusal_message(body);
                let message = format!("`{}` answered an error as if it were a success: {said}", self.url());
                ChatError::new(ChatErrorKind::Unreadable, message)
            }
        }
    }

    /// The error for a request that failed.
    pub(super) fn explain_error(&self, error: &HttpError) -> ChatError {
        let kind = match error {
            HttpError::Status { status, body, .. } => {
                return match is_context_overflow(*status, body) {
                    Some(overflow) => self.too_long(overflow, &self.refusal_message(body)),
                    None => self.refused(*status, body),
                };
            }
            HttpError::Timeout { .. } | HttpError::Unreachable { .. } => ChatErrorKind::Transient,
            HttpError::Unreadable { .. } => ChatErrorKind::Unreadable,
            HttpError::NoKey { .. }
            | HttpError::BadKey { .. }
            | HttpError::KeyFile { .. }
            | HttpError::BadUrl { .. }
            | HttpError::Setup { .. } => ChatErrorKind::Rejected,
        };
        let fails_all =
            matches!(error, HttpError::Timeout { .. } | HttpError::Unreachable { .. } | HttpError::Setup { .. });
        ChatError { fails_all, ..ChatError::new(kind, error.to_string()) }
    }

    fn too_long(&self, overflow: Overflow, said: &str) -> ChatError {
        let figures = match (overflow.actual, overflow.limit) {
            (Some(actual), Some(limit)) => format!(" ({actual} tokens of at most {limit})"),
            (None, Some(limit)) => format!(" (at most {limit} tokens)"),
            (Some(actual), None) => format!(" ({actual} tokens)"),
            (None, None) => String::new(),
        };
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        let window = self.settings.window;
        let smaller = overflow.limit.filter(|limit| *limit < window);
        let hint = smaller.map_or_else(String::new, |limit| format!("; set `window` to {limit}, it is {window}"));
        let message = format!("the request is too long for `{}`{figures}{said}{hint}", self.url());
        ChatError { overflow: Some(overflow), ..ChatError::new(ChatErrorKind::TooLong, message) }
    }

    /// A refusal with this status.
    fn refused(&self, status: u16, body: &str) -> ChatError {
        let said = self.refusal_message(body);
        let model = &self.settings.model;
        let (kind, hint) = match status {
            429 if body.contains("insufficient_quota") => {
                (ChatErrorKind::Rejected, "the account's credit is used up".to_owned())
            }
            401 | 403 => (ChatErrorKind::Rejected, self.key_hint(status)),
            402 => (ChatErrorKind::Rejected, "the account's credit is used up".to_owned()),
            404 => (ChatErrorKind::Rejected, format!("check `base_url`, and that the service has the model `{model}`")),
            300..=399 => (ChatErrorKind::Rejected, "it sends us elsewhere; check `base_url`".to_owned()),
            429 => (ChatErrorKind::Transient, "it is asked too often; try later".to_owned()),
            408 | 409 | 425 => (ChatErrorKind::Transient, "try later".to_owned()),
            503 | 529 => (ChatErrorKind::Transient, "it is overloaded; try later".to_owned()),
            500..=599 => (ChatErrorKind::Transient, "it has trouble of its own; try later".to_owned()),
            _ => (ChatErrorKind::Rejected, format!("it does not take the request for the model `{model}`")),
        };
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        let message = format!("`{}` answered {status}{said} ({hint})", self.url());
        ChatError { fails_all: matches!(status, 300..=399 | 401..=404), ..ChatError::new(kind, message) }
    }

    fn key_hint(&self, status: u16) -> String {
        let source = match &self.settings.key {
            KeySource::None => {
                return "no key was sent; name an environment variable or a file that holds one".to_owned();
            }
            _ if self.settings.called.is_some() => "the key that was sent".to_owned(),
            KeySource::Environment(variable) => format!("the key in the environment variable `{variable}`"),
            KeySource::File(path) => format!("the key in the file `{}`", path.display()),
        };
        match status {
            401 => format!("it does not know {source}"),
            _ => format!("{source} may not use the model `{}`", self.settings.model),
        }
    }
}

#[async_trait]
impl ChatModel for HttpChat {
    fn name(&self) -> &str {
        &self.settings.model
    }

    /// With what the settings say of the service and its parameters; never the key.
    fn identity(&self) -> String {
        let ChannelSettings { kind, model, extra, .. } = &self.settings;
        json!([kind.as_str(), self.client.base_url(), model, extra]).to_string()
    }

    fn window(&self) -> Tokens {
        self.settings.window
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        let mut manner = RequestStyle {
            completion_tokens: self.wants_completion_tokens.load(Ordering::Relaxed),
            temperature: !self.refuses_temperature.load(Ordering::Relaxed),
        };
        // Ends: a manner only ever changes one way.
        let answer = loop {
            match self.client.post(self.path, &self.body(request, manner)).await {
                Ok(answer) => break answer,
                Err(error) => manner = self.other_manner(manner, &error).ok_or_else(|| self.explain_error(&error))?,
            }
        };
        self.wants_completion_tokens.fetch_or(manner.completion_tokens, Ordering::Relaxed);
        self.refuses_temperature.fetch_or(!manner.temperature, Ordering::Relaxed);
        self.read(&answer)
    }
}
