//! A chat model out of settings.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use epitome_strategy::{Tokens, named};
#[cfg(feature = "http")]
use epitome_wire::Wire;
use serde_json::{Map, Value};
use thiserror::Error;

#[cfg(feature = "http")]
use crate::http::HttpError;
use crate::http::RetryPolicy;

use super::{ChatModel, Compaction};

/// Which wire format a service speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChannelKind {
    /// OpenAI's `/chat/completions`, which most services and local servers have too.
    #[default]
    OpenAi,
    /// Anthropic's `/v1/messages`.
    Anthropic,
}

named! { ChannelKind { OpenAi = "openai", Anthropic = "anthropic" } }

impl ChannelKind {
    /// Returns the interface.
    #[cfg(feature = "http")]
    pub(super) fn wire(self) -> Wire {
        match self {
            Self::OpenAi => Wire::OpenaiChat,
            Self::Anthropic => Wire::Anthropic,
        }
    }

    /// Why no summary can be made of what its providers' own compaction gives; `None` where one can.
    pub fn without_compaction(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some(
                "is `openai`, whose own compaction gives an encrypted item: nobody but OpenAI can read it, so that it can \
                 be neither counted nor checked nor shown",
            ),
            Self::Anthropic => None,
        }
    }
}

/// Where the key of a service lies. Never the key itself, so that it cannot end up in a file of settings or a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KeySource {
    /// The service wants none.
    #[default]
    None,
    /// In the environment variable of this name.
    Environment(String),
    /// In this file, alone on its line.
    File(PathBuf),
}

/// A chat model of a service over HTTP.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelSettings {
    /// The wire format.
    pub kind: ChannelKind,
    /// The address that the format's path is appended to: `https://api.openai.com/v1`, `http://localhost:11434/v1`,
    /// `https://api.anthropic.com`.
    pub base_url: String,
    /// The service's name in errors, for readers who must not learn its address or the place of its key. Errors show
    /// both where it is missing.
    pub called: Option<String>,
    /// Where the key lies.
    pub key: KeySource,
    /// The model as the service calls it.
    pub model: String,
    /// Tokens that request and answer may take together.
    pub window: Tokens,
    /// The longest wait for one try, from connecting to the last byte.
    pub timeout: Duration,
    /// When a request is sent again.
    pub retry: RetryPolicy,
    /// Further parameters of each request, such as `top_p`. They go before our own (`temperature`, `max_tokens`); null takes
    /// a parameter out.
    pub extra: Map<String, Value>,
}

impl Default for ChannelSettings {
    /// A local server without a key and without a model's name; a window of 8,192 tokens, two minutes a try, three tries.
    fn default() -> Self {
        Self {
            kind: ChannelKind::OpenAi,
            base_url: "http://localhost:11434/v1".to_owned(),
            called: None,
            key: KeySource::None,
            model: String::new(),
            window: 8192,
            timeout: Duration::from_secs(120),
            retry: RetryPolicy::default(),
            extra: Map::new(),
        }
    }
}

/// Why a channel cannot be opened. No message holds a key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChannelError {
    /// This build speaks no HTTP.
    #[error("this build has no channel `{kind}`: build it with the cargo feature `{feature}`")]
    NotBuilt {
        /// The kind that was asked for.
        kind: &'static str,
        /// The feature that it needs.
        feature: &'static str,
    },
    /// A setting is missing or cannot work.
    #[error("the channel's `{setting}` {problem}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// The problem.
        problem: String,
    },
    /// The key cannot be had, or the address not be called.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Http(#[from] HttpError),
}

/// Parameters that settings must not choose: the question, the model, and the form of the answer.
const RESERVED: [&str; 11] = [
    "functions",
    "function_call",
    "input",
    "messages",
    "model",
    "n",
    "stream",
    "stream_options",
    "system",
    "tool_choice",
    "tools",
];

impl ChannelSettings {
    /// The model of this channel. Reads the key and asks nothing yet.
    ///
    /// # Errors
    ///
    /// The build has no HTTP; a setting is missing or cannot work; the key is not where it should be; the address cannot be
    /// called.
    pub fn open(&self) -> Result<Arc<dyn ChatModel>, ChannelError> {
        self.check()?;
        open(self)
    }

    /// The compaction that this channel's provider has of its own. Reads the key and asks nothing yet: whether the service
    /// offers it is found out by asking.
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open); and the channel's kind has no compaction that gives a summary.
    pub fn open_compaction(&self) -> Result<Arc<dyn Compaction>, ChannelError> {
        self.check()?;
        if let Some(problem) = self.kind.without_compaction() {
            return Err(ChannelError::Setting { setting: "kind", problem: problem.to_owned() });
        }
        open_compaction(self)
    }

    fn check(&self) -> Result<(), ChannelError> {
        let bad = |setting, problem: &str| Err(ChannelError::Setting { setting, problem: problem.to_owned() });
        if self.model.trim().is_empty() {
            return bad("model", "is empty: name the model as the service calls it");
        }
        if self.window == 0 {
            return bad("window", "is 0: it is the number of tokens that request and answer may take together");
        }
        if self.timeout.is_zero() {
            return bad("timeout", "is 0: nothing can answer in no time");
        }
        if let Some(name) = self.extra.keys().find(|name| RESERVED.contains(&name.as_str())) {
            return bad("extra", &format!("has `{name}`, which is not to be set there"));
        }
        Ok(())
    }
}

#[cfg(feature = "http")]
fn open(settings: &ChannelSettings) -> Result<Arc<dyn ChatModel>, ChannelError> {
    Ok(Arc::new(super::service::HttpChat::new(settings)?))
}

#[cfg(feature = "http")]
fn open_compaction(settings: &ChannelSettings) -> Result<Arc<dyn Compaction>, ChannelError> {
    Ok(Arc::new(super::compaction::HttpCompaction::new(super::service::HttpChat::new(settings)?)))
}

#[cfg(not(feature = "http"))]
fn open_compaction(settings: &ChannelSettings) -> Result<Arc<dyn Compaction>, ChannelError> {
    Err(ChannelError::NotBuilt { kind: settings.kind.as_str(), feature: "http" })
}

#[cfg(not(feature = "http"))]
fn open(settings: &ChannelSettings) -> Result<Arc<dyn ChatModel>, ChannelError> {
    Err(ChannelError::NotBuilt { kind: settings.kind.as_str(), feature: "http" })
}

#[cfg(all(test, not(feature = "http")))]
mod tests {
    use super::*;

    #[test]
    fn builds_without_http_say_what_they_lack() {
        let settings = ChannelSettings { model: "m".to_owned(), ..ChannelSettings::default() };
        let error = settings.open().map(|model| model.name().to_owned()).map_err(|error| error.to_string());
        assert_eq!(error, Err("this build has no channel `openai`: build it with the cargo feature `http`".to_owned()));
    }
}
