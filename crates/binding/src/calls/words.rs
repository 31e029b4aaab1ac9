//! The words of each call, as JSON. A word that a call does not have is refused by its name.

use epitome::Runtime;
use epitome::engine::Mode;
use epitome::live::{ModelRequest, Needed};
use epitome::session::MessageRange;
use epitome::strategy::{Named, Value, nearest};
use epitome_fit::{Beside, FitOptions};
use serde::Deserialize;
use serde_json::Map;
use serde_json::value::RawValue;

use crate::{Failure, Parts, Share, Words};

/// The words of a call.
pub(crate) fn read<'de, W: Deserialize<'de>>(words: &'de str) -> Result<W, Failure> {
    serde_json::from_str(words).map_err(|error| {
        let text = error.to_string();
        // The place in a text that the caller never saw says nothing.
        let text = text.split(" at line ").next().unwrap_or(&text);
        Failure::config(unknown_option(text).unwrap_or_else(|| text.to_owned()))
    })
}

/// The words that a package gives itself: its callers have no use for their names.
const OWN: [&str; 7] = ["engine", "configName", "handle", "objects", "once", "of", "query"];

/// What to say of a word that a call does not have, from what serde says of it; `None` where that is something else.
fn unknown_option(text: &str) -> Option<String> {
    let mut quoted = text.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let wrong = quoted.next()?;
    let known: Vec<&str> = quoted.filter(|name| !OWN.contains(name)).collect();
    let help = match nearest(wrong, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    };
    Some(format!("there is no option `{wrong}`; {help}"))
}

/// An object that a call is about; a package that holds its objects itself gives no number.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Handle {
    pub(super) handle: u32,
}

/// An engine that a call is about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EngineHandle {
    pub(super) engine: u32,
}

/// What left under a name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Retrieval {
    pub(super) handle: u32,
    pub(super) of: String,
    /// The form of the messages that left, where it is not the fitter's.
    pub(super) format: Option<String>,
}

/// What an engine is made of.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct EngineWords {
    /// The text of a configuration file, or its sections and keys.
    pub(crate) config: Option<Value>,
    /// What errors call that text.
    pub(crate) config_name: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) window: Option<u32>,
    pub(crate) reserve_output: Option<u32>,
}

/// How a fitter is made.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct FitterWords {
    pub(super) engine: u32,
    pub(super) format: Option<String>,
    budget: Option<Value>,
    /// Whether the list is fitted once.
    once: bool,
    conversations: Option<usize>,
    memory_bytes: Option<usize>,
    archive_bytes: Option<usize>,
    /// 32 bytes as numbers.
    secret: Option<Vec<u8>>,
    /// What the host can change in its list.
    host: Option<String>,
    chain: Option<Chain>,
}

impl FitterWords {
    /// The budget, how much the fitter may remember, and what its host can change; the rest as the configuration says.
    pub(super) fn options(&self, parts: &Parts) -> Result<FitOptions, Failure> {
        let mut options = match self.tokens()? {
            Some(tokens) if self.once => FitOptions::once(tokens),
            Some(tokens) => FitOptions::within(tokens),
            None => FitOptions::for_budget(parts.runtime.budget.clone()),
        };
        options.conversations = self.conversations.unwrap_or(options.conversations);
        options.memory_bytes = self.memory_bytes.unwrap_or(options.memory_bytes);
        options.archive_bytes = self.archive_bytes.unwrap_or(options.archive_bytes);
        if let Some(given) = &self.secret {
            let wrong = |_| Failure::config(format!("`secret` takes 32 bytes, not {}", given.len()));
            options.secret = given.as_slice().try_into().map_err(wrong)?;
        }
        if let Some(name) = &self.host {
            options.host = named("host", name)?;
        }
        Ok(options)
    }

    /// What the configuration describes, with the chain of the words.
    pub(super) fn runtime(&self, parts: &Parts) -> Result<Runtime, Failure> {
        let mut runtime = parts.runtime.clone();
        if let Some(chain) = &self.chain {
            runtime.fixed = Some(parts.chain(&chain.names())?);
            runtime.mode = Mode::Fixed;
        }
        Ok(runtime)
    }

    /// The budget in tokens.
    fn tokens(&self) -> Result<Option<u32>, Failure> {
        let Some(given) = &self.budget else { return Ok(None) };
        let tokens = given.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).filter(|tokens| *tokens > 0);
        let wrong =
            || Failure::config(format!("`budget` takes a number of tokens (a whole number, 1 or more), not {given}"));
        tokens.map(Some).ok_or_else(wrong)
    }
}

/// How a list is fitted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct FitWords {
    pub(super) handle: u32,
    /// The form of the messages, where they tell it.
    pub(super) format: Option<String>,
    system: Option<Box<RawValue>>,
    tools: Option<Box<RawValue>>,
    pub(super) key: String,
    /// The input tokens that the provider reported for what the call before this one gave.
    pub(super) reported_tokens: Option<u64>,
    /// A compaction that the model asks for.
    asked: Option<AskedWords>,
    /// After the provider refused what was sent.
    pub(super) overflow: Option<Limits>,
}

/// What a model gives with its call of `compact_context`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
struct AskedWords {
    reason: String,
    next_step: String,
    keep: Vec<String>,
}

/// The tokens that a provider's refusal names.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Limits {
    pub(super) limit: Option<u32>,
    pub(super) actual: Option<u32>,
}

impl FitWords {
    /// The compaction that the model asks for. The error says which text of `keep` names nothing.
    pub(super) fn model_request(&self) -> Result<Option<ModelRequest>, Failure> {
        let read = |words: &AskedWords| {
            let keep = words.keep.iter().map(|named| named.parse::<Needed>()).collect::<Result<_, _>>();
            let keep = keep.map_err(|problem| Failure::config(format!("`asked`: {problem}")))?;
            let (reason, next_step) = (words.reason.clone(), words.next_step.clone());
            Ok(ModelRequest { reason, next_step, keep, has_open_calls: false })
        };
        self.asked.as_ref().map(read).transpose()
    }

    pub(super) fn system(&self) -> Result<Beside<'_>, Failure> {
        beside(self.system.as_deref(), "system")
    }

    pub(super) fn tools(&self) -> Result<Beside<'_>, Failure> {
        match beside(self.tools.as_deref(), "tools")? {
            Beside::Json(json) if !json.starts_with('[') => Err(Failure::config(format!(
                "`tools` takes a list of definitions, or the tokens that they take, not {json}"
            ))),
            tools => Ok(tools),
        }
    }
}

/// A number is the tokens of something that is not shown; anything else is sent as it is.
fn beside<'a>(given: Option<&'a RawValue>, name: &str) -> Result<Beside<'a>, Failure> {
    let json = match given.map(RawValue::get) {
        None | Some("null") => return Ok(Beside::Nothing),
        Some(json) => json,
    };
    if !json.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
        return Ok(Beside::Json(json));
    }
    let wrong =
        |_| Failure::config(format!("`{name}` takes a number of tokens (0 or more) where it is a number, not {json}"));
    json.parse().map(Beside::Tokens).map_err(wrong)
}

/// How a session is read.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ReadWords {
    pub(super) engine: u32,
    /// Whether the session came as objects.
    pub(super) objects: bool,
    pub(super) format: Option<String>,
    pub(super) name: Option<String>,
}

/// How a session is compacted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CompactWords {
    pub(super) engine: u32,
    /// Whether the session came as objects.
    pub(super) objects: bool,
    format: Option<String>,
    name: Option<String>,
    to: Option<String>,
    budget: Option<Value>,
    chain: Option<Chain>,
    mode: Option<String>,
    task: Option<String>,
    focus: Option<String>,
    keep: Option<Ranges>,
    drop: Option<Ranges>,
    settings: Option<Map<String, Value>>,
}

/// Messages by their numbers: one text, or a list of them.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "messages are named by a text such as `#37` or `#40-#52`, or by a list of such texts")]
enum Ranges {
    One(String),
    Many(Vec<String>),
}

impl Ranges {
    /// The ranges that the word `word` has.
    fn read(given: Option<Self>, word: &str) -> Result<Vec<MessageRange>, Failure> {
        let texts = match given {
            None => Vec::new(),
            Some(Self::One(text)) => vec![text],
            Some(Self::Many(texts)) => texts,
        };
        let range = |text: &String| text.parse().map_err(|error| Failure::config(format!("`{word}`: {error}")));
        texts.iter().map(range).collect()
    }
}

/// A chain by its name, or the strategies of one.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "`chain` takes the name of a chain or strategy, or a list of names")]
enum Chain {
    One(String),
    Many(Vec<String>),
}

impl Chain {
    fn names(&self) -> Vec<String> {
        match self {
            Self::One(name) => vec![name.clone()],
            Self::Many(names) => names.clone(),
        }
    }
}

/// The words of `compact`: where a session stands, and how it is compacted.
pub fn compact_words(words: &str) -> Result<Words, Failure> {
    read::<CompactWords>(words)?.checked()
}

impl CompactWords {
    pub(super) fn checked(self) -> Result<Words, Failure> {
        let mode = self.mode.as_deref().map(|name| named::<Mode>("mode", name)).transpose()?;
        if self.chain.is_some() && mode.is_some_and(|mode| mode != Mode::Fixed) {
            let problem = "`chain` names the chain: no other `mode` than fixed goes with it; leave one of them out";
            return Err(Failure::config(problem));
        }
        Ok(Words {
            format: self.format,
            session: self.name,
            to: self.to,
            budget: self.budget.as_ref().map(share_of).transpose()?,
            chain: self.chain.as_ref().map(Chain::names),
            mode,
            task: self.task.as_deref().map(|name| named("task", name)).transpose()?,
            focus: self.focus,
            keep: Ranges::read(self.keep, "keep")?,
            drop: Ranges::read(self.drop, "drop")?,
            settings: self.settings.unwrap_or_default(),
        })
    }
}

/// The value of that name, which the word `word` has.
fn named<T: Named>(word: &str, name: &str) -> Result<T, Failure> {
    T::from_name(name).map_err(|error| Failure::config(format!("`{word}`: {error}")))
}

/// A whole number is tokens, another one of at most 1 a part of what the messages take. A language with one kind of number
/// writes 1 for both: then it is a token.
fn share_of(given: &Value) -> Result<Share, Failure> {
    let wrong = || {
        Failure::config(format!(
            "`budget` takes a number of tokens (a whole number, 1 or more) or a part of what the messages take (above 0 and \
             below 1), not {given}"
        ))
    };
    if let Some(tokens) = given.as_u64() {
        return u32::try_from(tokens).ok().filter(|tokens| *tokens > 0).map(Share::Tokens).ok_or_else(wrong);
    }
    given.as_f64().filter(|part| *part > 0.0 && *part <= 1.0).map(Share::Part).ok_or_else(wrong)
}

/// What is searched, and how much comes back.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchWords {
    /// Whether the session came as objects.
    #[serde(default)]
    pub(super) objects: bool,
    pub(super) format: Option<String>,
    pub(super) name: Option<String>,
    pub(super) query: Box<RawValue>,
}

/// What a session is converted to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConvertWords {
    /// Whether the session came as objects.
    #[serde(default)]
    pub(super) objects: bool,
    pub(super) format: Option<String>,
    pub(super) name: Option<String>,
    pub(super) to: String,
}

/// The format of a request.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ValidateWords {
    pub(super) format: Option<String>,
}

/// By what is counted.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Counter {
    pub(super) engine: Option<u32>,
    pub(super) counter: Option<String>,
}

/// An answer of a provider that is an error.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Refusal {
    pub(super) status: u16,
}
