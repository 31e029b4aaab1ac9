//! Types of values that only the configuration has.

use epitome_engine::Threshold;
use epitome_strategy::{FieldKind, SettingType, Value, named};

use crate::amount::tokens_or_share;
use crate::preset::Preset;

/// A threshold as a file spells it: a share of the usable window (`0.8` or `"80%"`), or tokens (`60_000` or `"60k"`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit(pub Threshold);

impl SettingType for Limit {
    const KIND: FieldKind = FieldKind::Number;

    fn from_value(value: &Value) -> Result<Self, String> {
        let wrong = || {
            format!(
                "takes a share of the usable window from 0.01 to 1.0, or tokens as a whole number from 2, not {value}"
            )
        };
        let read = match value {
            Value::String(text) => tokens_or_share(text).ok(),
            value if value.is_u64() => value.as_u64().and_then(|it| u32::try_from(it).ok()).map(Threshold::Tokens),
            value => value.as_f64().map(Threshold::Share),
        };
        match read {
            Some(Threshold::Tokens(tokens)) if tokens >= 2 => Ok(Self(Threshold::Tokens(tokens))),
            Some(Threshold::Share(share)) if (0.01..=1.0).contains(&share) => Ok(Self(Threshold::Share(share))),
            Some(_) | None => Err(wrong()),
        }
    }

    fn to_value(&self) -> Value {
        match self.0 {
            Threshold::Tokens(tokens) => tokens.into(),
            Threshold::Share(share) => share.into(),
        }
    }
}

/// The writer of summaries, as `[summary] summarizer` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummarizerChoice {
    /// Rules, without a model.
    Rules,
    /// A model.
    Llm,
    /// The provider's own compaction, and the model where it offers none.
    Provider,
    /// Nothing: a strategy that asks for a summary is refused, and the chain continues.
    Off,
}

named! { SummarizerChoice { Rules = "rules", Llm = "llm", Provider = "provider", Off = "off" } }

impl SummarizerChoice {
    /// Whether a model is asked: itself, or its provider.
    pub fn asks_model(self) -> bool {
        matches!(self, Self::Llm | Self::Provider)
    }
}

/// What follows where a compaction is refused and the session has no room left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRefusal {
    /// It is an error, and nothing changes.
    Error,
    /// The oldest messages leave without a summary.
    DropOldest,
    /// A new session begins.
    NewSession,
}

named! { OnRefusal { Error = "error", DropOldest = "drop-oldest", NewSession = "new-session" } }

/// The way to ask a model for a summary, as `[summary] ask` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelQuestion {
    /// At the end of the conversation itself, where there is one to ask.
    SameConversation,
    /// With a transcript, over a channel.
    Transcript,
}

named! { ModelQuestion { SameConversation = "same-conversation", Transcript = "transcript" } }

/// Who makes the compactions that clients of the proxy ask their provider for, as `[proxy] compaction` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionBy {
    /// The proxy, where it can do rightly what is asked; else the provider.
    Proxy,
    /// The provider, always.
    Provider,
}

named! { CompactionBy { Proxy = "proxy", Provider = "provider" } }

/// Parameters as a table, which go into a request as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parameters(pub serde_json::Map<String, Value>);

impl SettingType for Parameters {
    const KIND: FieldKind = FieldKind::Number; // for want of a kind of its own: the unit says what it is

    fn from_value(value: &Value) -> Result<Self, String> {
        let table = value.as_object().ok_or_else(|| format!("takes a table such as {{ top_p = 0.9 }}, not {value}"))?;
        Ok(Self(table.clone()))
    }

    fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }
}

/// Names of presets: one, or a list of which later ones override earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PresetNames(pub Vec<Preset>);

impl SettingType for PresetNames {
    const KIND: FieldKind = FieldKind::List;

    fn choices() -> Vec<&'static str> {
        <Preset as SettingType>::choices()
    }

    fn from_value(value: &Value) -> Result<Self, String> {
        let one = std::slice::from_ref(value);
        let items = value.as_array().map_or(one, Vec::as_slice);
        items.iter().map(SettingType::from_value).collect::<Result<_, _>>().map(Self)
    }

    fn to_value(&self) -> Value {
        self.0.iter().map(|preset| Value::from(preset.as_str())).collect()
    }
}

/// An embedder, as `[embeddings] embedder` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedderName {
    /// None: strategies that need vectors decline.
    Off,
    /// The table that is compiled in.
    Static,
    /// A neural model on this machine.
    Fastembed,
    /// A service.
    OpenAi,
}

named! { EmbedderName { Off = "off", Static = "static", Fastembed = "fastembed", OpenAi = "openai" } }

/// A token counter's name, one of [`epitome_tokens::NAMES`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterName(pub String);

impl SettingType for CounterName {
    const KIND: FieldKind = FieldKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        let known = epitome_tokens::NAMES;
        match value.as_str().filter(|name| known.contains(name)) {
            Some(name) => Ok(Self(name.to_owned())),
            None => Err(format!("takes one of \"{}\", not {value}", known.join("\", \""))),
        }
    }

    fn to_value(&self) -> Value {
        self.0.as_str().into()
    }

    fn choices() -> Vec<&'static str> {
        epitome_tokens::NAMES.to_vec()
    }
}
