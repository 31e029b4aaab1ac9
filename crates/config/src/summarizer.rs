//! The summarizer that a configuration describes.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use epitome_providers::RuleSummarizer;
use epitome_providers::chat::{ChannelError, ChannelSettings, ChatModel, Compaction, KeySource};
#[cfg(feature = "http")]
use epitome_providers::http::HttpError;
use epitome_providers::http::RetryPolicy;
use epitome_providers::model::{FallbackSummarizer, ModelProgress, ModelSettings, ModelSummarizer, PromptError};
use epitome_strategy::{Summarizer, Tokens};

use crate::channels::SummaryChannel;
use crate::config::Config;
use crate::error::{ConfigErrors, Problem};
use crate::named::ChannelTable;
use crate::values::{ModelQuestion, SummarizerChoice};

/// The assumed window of a model where none is known. Too large a value is found out and halved, but not for servers
/// that cut a request silently.
const ASSUMED_WINDOW: Tokens = 32_768;

/// A callback for the progress of a model's summary. It is called in between requests, and must not wait.
pub type OnProgress = Arc<dyn Fn(ModelProgress) + Send + Sync>;

/// The model that writes summaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryModel {
    /// The channel's name.
    pub channel: String,
    /// The model as the service calls it.
    pub model: String,
    /// The base of the service's addresses.
    pub base_url: String,
    /// Tokens that request and answer may take together.
    pub window: Tokens,
}

impl fmt::Display for SummaryModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}", self.model, self.base_url)
    }
}

/// The writer of summaries, ready to be asked.
#[derive(Debug, Clone)]
pub(crate) enum Writer {
    /// No one.
    Off,
    /// The rules.
    Rules,
    /// A model, and the rules behind it where they may step in.
    Model {
        summarizer: Box<ModelSummarizer>,
        /// Asked before the model: its provider's own compaction.
        compaction: Option<Arc<dyn Compaction>>,
        about: SummaryModel,
        falls_back: bool,
        asking: Option<ConversationModelSettings>,
    },
    /// Only the model of a conversation; the rules where there is no conversation.
    Conversations { asking: ConversationModelSettings, falls_back: bool },
}

/// The settings for asking a conversation's own model.
#[derive(Debug, Clone)]
pub(crate) struct ConversationModelSettings {
    settings: ModelSettings,
    /// Whether its provider is asked for its own compaction first.
    compacts: bool,
}

impl ConversationModelSettings {
    /// A summarizer that asks it. The prompts were read before, so that this cannot fail but where they changed since.
    fn summarizer(&self, conversation: Arc<dyn ChatModel>, progress: Option<OnProgress>) -> Option<ModelSummarizer> {
        let summarizer = ModelSummarizer::in_conversation(conversation, self.settings.clone()).ok()?;
        Some(telling(summarizer, progress))
    }

    /// A summarizer that asks its provider's compaction, where that is to be asked.
    fn compaction(&self, compaction: Arc<dyn ChatModel>, progress: Option<OnProgress>) -> Option<ModelSummarizer> {
        let settings = self.compacts.then(|| self.settings.clone())?;
        Some(telling(ModelSummarizer::in_compaction(compaction, settings).ok()?, progress))
    }
}

fn telling(summarizer: ModelSummarizer, progress: Option<OnProgress>) -> ModelSummarizer {
    match progress {
        Some(progress) => summarizer.with_progress(progress),
        None => summarizer,
    }
}

impl Writer {
    /// The summarizer; `progress` receives how far a model is.
    pub(crate) fn summarizer(&self, progress: Option<OnProgress>) -> Option<Arc<dyn Summarizer>> {
        match self {
            Self::Off => None,
            Self::Rules | Self::Conversations { .. } => Some(Arc::new(RuleSummarizer)),
            Self::Model { summarizer, compaction, falls_back, .. } => {
                let first = telling(ModelSummarizer::clone(summarizer), progress);
                let compacting = compaction.as_ref().map(|compaction| first.by_compaction(Arc::clone(compaction)));
                let second: Arc<dyn Summarizer> = match falls_back {
                    true => Arc::new(FallbackSummarizer { first, second: Arc::new(RuleSummarizer) }),
                    false => Arc::new(first),
                };
                Some(match compacting {
                    Some(first) => Arc::new(FallbackSummarizer { first, second }),
                    None => second,
                })
            }
        }
    }
}

impl Writer {
    pub(crate) fn asks_conversations(&self) -> bool {
        matches!(self, Self::Conversations { .. } | Self::Model { asking: Some(_), .. })
    }

    /// The summarizer for a session whose own model can be asked.
    pub(crate) fn summarizer_in(
        &self,
        conversation: Arc<dyn ChatModel>,
        compaction: Arc<dyn ChatModel>,
        progress: Option<OnProgress>,
    ) -> Option<Arc<dyn Summarizer>> {
        let (asking, falls_back) = match self {
            Self::Conversations { asking, falls_back } => (asking, *falls_back),
            Self::Model { asking: Some(asking), .. } => (asking, true),
            Self::Off | Self::Rules | Self::Model { asking: None, .. } => return self.summarizer(progress),
        };
        let last = self.summarizer(progress.clone()).filter(|_| falls_back);
        let own = asking.summarizer(conversation, progress.clone());
        let compaction = asking.compaction(compaction, progress);
        [own, compaction].into_iter().flatten().fold(last, |second, first| {
            Some(match second {
                Some(second) => Arc::new(FallbackSummarizer { first, second }),
                None => Arc::new(first),
            })
        })
    }
}

/// The writer of summaries. Reads the key and the prompts; makes no request.
pub(crate) fn writer(config: &Config) -> Result<Writer, Vec<Problem>> {
    match config.summarizer() {
        SummarizerChoice::Off => return Ok(Writer::Off),
        SummarizerChoice::Rules => return Ok(Writer::Rules),
        SummarizerChoice::Llm | SummarizerChoice::Provider => {}
    }
    let table = &config.tables.summary;
    let path = |text: &str| (!text.is_empty()).then(|| PathBuf::from(text));
    let asked = ModelSettings {
        form: table.form,
        prompts: path(&table.prompts),
        checks: table.check,
        counts_known: config.counts_known_answers,
        parallel: table.parallel as usize,
        reasoning_tokens: table.reasoning_tokens,
        cache_folder: path(&table.cache),
        redact_secrets: config.tables.marks.redact_secrets,
        ..ModelSettings::default()
    };
    let asking = (table.ask == ModelQuestion::SameConversation).then(|| ConversationModelSettings {
        settings: asked.clone(),
        compacts: config.summarizer() == SummarizerChoice::Provider,
    });
    let chosen = match (config.summary_channel(), asking.clone()) {
        (Err(_), Some(asking)) if config.has_conversations && config.asks_conversations_only() => {
            asked.check().map_err(|errors| unread(config, &errors))?;
            return Ok(Writer::Conversations { asking, falls_back: table.fall_back_to_rules });
        }
        (chosen, _) => chosen.map_err(|problem| vec![problem])?,
    };
    let settings = channel_settings(config, &chosen);
    let model = settings.open().map_err(|error| vec![not_opened(config, &chosen, &error)])?;
    let compaction = match config.summarizer() {
        SummarizerChoice::Provider => {
            Some(settings.open_compaction().map_err(|error| vec![not_opened(config, &chosen, &error)])?)
        }
        _ => None,
    };
    let summarizer = ModelSummarizer::new(model, asked).map_err(|errors| unread(config, &errors))?;
    let about = about(&chosen, settings);
    let summarizer = Box::new(summarizer);
    Ok(Writer::Model { summarizer, compaction, about, falls_back: table.fall_back_to_rules, asking })
}

/// The problems of the prompts.
fn unread(config: &Config, errors: &[PromptError]) -> Vec<Problem> {
    let describe = |error: &dyn Error| match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    let problem =
        |error| Problem::new(config.sources.place("summary.prompts"), format!("`prompts`: {}", describe(error)));
    errors.iter().map(|error| problem(error as &dyn Error)).collect()
}

impl Config {
    /// The model that `[summary]` names, for other questions than summaries, and what it is. Reads the key, makes no request.
    ///
    /// # Errors
    ///
    /// No channel is named, or the one that is cannot be opened; the error names the key to mend.
    pub fn chat_model(&self) -> Result<(Arc<dyn ChatModel>, SummaryModel), ConfigErrors> {
        let chosen = self.summary_channel().map_err(|problem| ConfigErrors::from_problems(vec![problem]))?;
        let settings = channel_settings(self, &chosen);
        let model =
            settings.open().map_err(|error| ConfigErrors::from_problems(vec![not_opened(self, &chosen, &error)]))?;
        Ok((model, about(&chosen, settings)))
    }
}

fn about(chosen: &SummaryChannel<'_>, settings: ChannelSettings) -> SummaryModel {
    SummaryModel {
        channel: chosen.name.to_owned(),
        model: settings.model,
        base_url: settings.base_url,
        window: settings.window,
    }
}

fn channel_settings(config: &Config, chosen: &SummaryChannel<'_>) -> ChannelSettings {
    let ChannelTable { kind, key_file, timeout_seconds, tries, longest_wait_seconds, window, extra, .. } =
        chosen.channel;
    let key = match (chosen.channel.variable(), key_file.as_str()) {
        ("", "") => KeySource::None,
        ("", file) => KeySource::File(PathBuf::from(file)),
        (variable, _) => KeySource::Environment(variable.to_owned()),
    };
    let known = || config.models().limits(chosen.model).map_or(ASSUMED_WINDOW, |limits| limits.window);
    ChannelSettings {
        kind: *kind,
        base_url: chosen.channel.address().to_owned(),
        called: config.hides_addresses.then(|| format!("channel {}", chosen.name)),
        key,
        model: chosen.model.to_owned(),
        window: if *window > 0 { *window } else { known() },
        timeout: Duration::from_secs((*timeout_seconds).into()),
        retry: RetryPolicy {
            tries: *tries,
            longest_wait: Duration::from_secs((*longest_wait_seconds).into()),
            ..RetryPolicy::default()
        },
        extra: extra.0.clone(),
    }
}

/// Why a channel cannot be opened, at the key that is most likely the wrong one.
fn not_opened(config: &Config, chosen: &SummaryChannel<'_>, error: &ChannelError) -> Problem {
    let name = chosen.name;
    let (key, help) = match error {
        ChannelError::NotBuilt { .. } => ("kind", "`summarizer = \"rules\"` needs no model".to_owned()),
        ChannelError::Setting { setting, .. } => (*setting, String::new()),
        #[cfg(feature = "http")]
        ChannelError::Http(HttpError::NoKey { .. } | HttpError::BadKey { .. }) => {
            let help = "or name another one with `key_variable`, or a file with `key_file`; the key itself never stands in \
                        the configuration";
            ("key_variable", help.to_owned())
        }
        #[cfg(feature = "http")]
        ChannelError::Http(HttpError::BadUrl { .. }) => {
            ("base_url", "an address is such as \"http://localhost:11434/v1\"".to_owned())
        }
        #[cfg(feature = "http")]
        ChannelError::Http(_) if !chosen.channel.key_file.is_empty() => ("key_file", String::new()),
        #[cfg(feature = "http")]
        ChannelError::Http(_) => ("kind", String::new()),
    };
    let place = config
        .sources
        .place(&format!("channels.{name}.{key}"))
        .or_else(|| config.sources.place(&format!("channels.{name}")));
    let problem = Problem::new(place, format!("the channel `{name}`: {error}"));
    if help.is_empty() { problem } else { problem.with_help(help) }
}
