//! Types of values that only the configuration has.

use epitome_engine::{Mode, Threshold};
use epitome_strategy::{FieldKind, SettingType, Value};

/// A threshold as a file spells it: a share of the usable window with a decimal point (`0.8`), or whole tokens.
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
        if let Some(tokens) = value.as_u64() {
            return match u32::try_from(tokens) {
                Ok(tokens) if tokens >= 2 => Ok(Self(Threshold::Tokens(tokens))),
                Ok(_) | Err(_) => Err(wrong()),
            };
        }
        match value.as_f64() {
            Some(share) if (0.01..=1.0).contains(&share) => Ok(Self(Threshold::Share(share))),
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

/// How the chain is chosen, as `[select] mode` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectMode(pub Mode);

impl SelectMode {
    /// The modes by name.
    pub const ALL: &[(&str, Mode)] =
        &[("fixed", Mode::Fixed), ("adaptive", Mode::Adaptive), ("tournament", Mode::Tournament)];
}

impl SettingType for SelectMode {
    const KIND: FieldKind = FieldKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        choose(value, Self::ALL).map(Self)
    }

    fn to_value(&self) -> Value {
        name_of(self.0, Self::ALL)
    }
}

/// Who writes summaries, as `[summary] summarizer` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummarizerChoice {
    /// Rules, without a model.
    Rules,
    /// No one: a strategy that asks for a summary is refused, and the chain goes on.
    Off,
}

impl SummarizerChoice {
    /// The choices by name.
    pub const ALL: &[(&str, Self)] = &[("rules", Self::Rules), ("off", Self::Off)];
}

impl SettingType for SummarizerChoice {
    const KIND: FieldKind = FieldKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        choose(value, Self::ALL)
    }

    fn to_value(&self) -> Value {
        name_of(*self, Self::ALL)
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

impl EmbedderName {
    const ALL: &[(&str, Self)] =
        &[("off", Self::Off), ("static", Self::Static), ("fastembed", Self::Fastembed), ("openai", Self::OpenAi)];
}

impl SettingType for EmbedderName {
    const KIND: FieldKind = FieldKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        choose(value, Self::ALL)
    }

    fn to_value(&self) -> Value {
        name_of(*self, Self::ALL)
    }
}

/// How a model's output becomes one vector, as `[embeddings] pooling` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolingName {
    /// The mean of all tokens.
    Mean,
    /// The first token.
    First,
}

impl PoolingName {
    const ALL: &[(&str, Self)] = &[("mean", Self::Mean), ("first", Self::First)];
}

impl SettingType for PoolingName {
    const KIND: FieldKind = FieldKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        choose(value, Self::ALL)
    }

    fn to_value(&self) -> Value {
        name_of(*self, Self::ALL)
    }
}

/// A token counter's name, one of [`epitome_tokens::NAMES`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterName(pub String);

impl SettingType for CounterName {
    const KIND: FieldKind = FieldKind::Text;

    fn from_value(value: &Value) -> Result<Self, String> {
        let known: Vec<(&str, &str)> = epitome_tokens::NAMES.iter().map(|name| (*name, *name)).collect();
        choose(value, &known).map(|name| Self(name.to_owned()))
    }

    fn to_value(&self) -> Value {
        self.0.as_str().into()
    }
}

fn choose<T: Copy>(value: &Value, known: &[(&str, T)]) -> Result<T, String> {
    known.iter().find(|(name, _)| value.as_str() == Some(name)).map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<String> = known.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        format!("takes one of {}, not {value}", names.join(", "))
    })
}

fn name_of<T: Copy + PartialEq>(choice: T, known: &[(&str, T)]) -> Value {
    known.iter().find(|(_, other)| *other == choice).map_or(Value::Null, |(name, _)| (*name).into())
}
