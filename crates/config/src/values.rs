//! Types of values that only the configuration has.

use epitome_engine::{Mode, OnLoss, SummaryRole, Threshold};
use epitome_providers::chat::ChannelKind;
use epitome_strategy::{FieldKind, SettingType, Value};

use crate::preset::Preset;

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

/// What follows where a compaction keeps too little, as `[quality] on_loss` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OnLossName(pub(crate) OnLoss);

impl OnLossName {
    const ALL: &[(&str, OnLoss)] =
        &[("retry", OnLoss::Retry), ("roll-back", OnLoss::RollBack), ("report", OnLoss::Report)];
}

/// Whose side summaries stand on, as `[summary] role` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryRoleName(pub SummaryRole);

impl SummaryRoleName {
    /// The roles by name.
    pub const ALL: &[(&str, SummaryRole)] = &[("user", SummaryRole::User), ("system", SummaryRole::System)];
}

/// Who writes summaries, as `[summary] summarizer` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummarizerChoice {
    /// Rules, without a model.
    Rules,
    /// A model.
    Llm,
    /// The compaction that a model's provider has of its own, and the model where there is none.
    Provider,
    /// No one: a strategy that asks for a summary is refused, and the chain goes on.
    Off,
}

impl SummarizerChoice {
    /// The choices by name.
    pub const ALL: &[(&str, Self)] =
        &[("rules", Self::Rules), ("llm", Self::Llm), ("provider", Self::Provider), ("off", Self::Off)];

    /// Whether a model is asked: itself, or its provider.
    pub fn asks_model(self) -> bool {
        matches!(self, Self::Llm | Self::Provider)
    }
}

/// What follows where nobody gives a summary, as `[summary] on_failure` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The chain goes on.
    GoOn,
    /// The session stays as it was.
    Stop,
}

impl OnFailure {
    const ALL: &[(&str, Self)] = &[("go-on", Self::GoOn), ("stop", Self::Stop)];
}

/// What follows where a compaction is refused and the session has no room left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is an error, and nothing changes.
    Error,
    /// The oldest messages leave without a summary.
    DropOldest,
    /// A new session begins.
    NewSession,
}

impl Refusal {
    /// The choices by name.
    pub const ALL: &[(&str, Self)] =
        &[("error", Self::Error), ("drop-oldest", Self::DropOldest), ("new-session", Self::NewSession)];
}

/// How a model that writes summaries is asked, as `[summary] ask` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskName {
    /// At the end of the conversation itself, where there is one to ask.
    SameConversation,
    /// With a transcript, over a channel.
    Transcript,
}

impl AskName {
    const ALL: &[(&str, Self)] = &[("same-conversation", Self::SameConversation), ("transcript", Self::Transcript)];
}

/// What a model's summary looks like, as `[summary] form` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormName {
    /// Sections under headings.
    Sections,
    /// A JSON object, made into sections.
    Json,
}

impl FormName {
    const ALL: &[(&str, Self)] = &[("sections", Self::Sections), ("json", Self::Json)];
}

/// The wire format of a channel, as `[channels.NAME] kind` spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelKindName {
    /// OpenAI's chat completions, which most servers speak.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

impl ChannelKindName {
    /// The kinds by name.
    pub const ALL: &[(&str, Self)] = &[("openai", Self::OpenAi), ("anthropic", Self::Anthropic)];

    /// The address of the service that the kind is named after, and the environment variable that usually holds its key.
    pub(crate) fn own_service(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenAi => ("https://api.openai.com/v1", "OPENAI_API_KEY"),
            Self::Anthropic => ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
        }
    }
}

impl From<ChannelKindName> for ChannelKind {
    fn from(name: ChannelKindName) -> Self {
        match name {
            ChannelKindName::OpenAi => Self::OpenAi,
            ChannelKindName::Anthropic => Self::Anthropic,
        }
    }
}

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

/// Names of presets: one, or a list of which later ones stand over earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PresetNames(pub Vec<Preset>);

impl SettingType for PresetNames {
    const KIND: FieldKind = FieldKind::List;

    fn from_value(value: &Value) -> Result<Self, String> {
        let known: Vec<(&str, Preset)> = Preset::ALL.iter().map(|(preset, name, _)| (*name, *preset)).collect();
        let one = std::slice::from_ref(value);
        let items = value.as_array().map_or(one, Vec::as_slice);
        items.iter().map(|item| choose(item, &known)).collect::<Result<_, _>>().map(Self)
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

impl EmbedderName {
    const ALL: &[(&str, Self)] =
        &[("off", Self::Off), ("static", Self::Static), ("fastembed", Self::Fastembed), ("openai", Self::OpenAi)];
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

/// Makes settings of choices that have their names in `ALL`: enums, and tuples of one around enums of other crates.
macro_rules! choices {
    ($($choice:ident),* ; $($tuple:ident),*) => {
        $(choices!(@one $choice, |choice| choice, |own: &$choice| *own);)*
        $(choices!(@one $tuple, $tuple, |own: &$tuple| own.0);)*
    };
    (@one $choice:ident, $make:expr, $take:expr) => {
        impl SettingType for $choice {
            const KIND: FieldKind = FieldKind::Text;

            fn from_value(value: &Value) -> Result<Self, String> {
                choose(value, Self::ALL).map($make)
            }

            fn to_value(&self) -> Value {
                name_of($take(self), Self::ALL)
            }
        }
    };
}

choices! {
    SummarizerChoice, OnFailure, AskName, FormName, ChannelKindName, EmbedderName, PoolingName, Refusal;
    SelectMode, OnLossName, SummaryRoleName
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
