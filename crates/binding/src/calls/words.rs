//! The words of each call, as JSON. A word that a call does not have is refused by its name, and so is a wrong value.
//!
//! The options that other languages declare are written from these types and what they say of themselves.

use epitome::Runtime;
use epitome::engine::Mode;
use epitome::live::{ModelRequest, Overflow};
use epitome::recall::{Query, Source};
use epitome::session::MessageRange;
use epitome::strategy::{HostChanges, TaskKind, Value};
use epitome_fit::FitOptions;
use serde::Deserialize;
use serde_json::Map;

use super::read::{no_option, read};
use super::takes::{
    AnswerStatus, BesideWord, ByName, Bytes, ChainName, Characters, Conversations, GivenShare, OneOrMore, PageNumber,
    Passages, Secret, Sought, Tokens, TokensOrNone, model_name,
};
#[cfg(test)]
use crate::tests::declarations::kinds::{Chain, Configuration, Provider, SourceOrSources, TextOrTexts, Tools};
use crate::{Failure, Parts, Words};

/// An object that a call is about; a package that holds its objects itself gives no number.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Handle {
    pub(super) handle: u32,
}

/// A call that takes nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoWords {}

/// An engine that a call is about.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
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
#[cfg_attr(test, derive(serde::Serialize, utoipa::ToSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct EngineWords {
    /// The text of a TOML file, or its sections and keys as an object.
    #[cfg_attr(test, schema(value_type = Configuration))]
    pub(crate) config: Option<Value>,
    /// What errors call that text.
    pub(crate) config_name: Option<String>,
    /// The model whose window is the budget.
    #[serde(deserialize_with = "model_name")]
    pub(crate) model: Option<String>,
    /// The tokens that the model takes, over `model` and `config`.
    pub(crate) window: Tokens,
    /// The tokens that are kept free for the answer.
    pub(crate) reserve_output: TokensOrNone,
}

/// How a fitter is made.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, utoipa::ToSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct FitterWords {
    pub(super) engine: u32,
    /// The form of the messages, where they do not tell.
    #[cfg_attr(test, schema(value_type = Option<Provider>))]
    pub(super) format: Option<String>,
    /// Tokens for messages, system prompt and tools; the window of `model`, `window` or `config` without.
    budget: Tokens,
    /// Whether the list is fitted once.
    once: bool,
    /// How many conversations are remembered.
    conversations: Conversations,
    /// How much of conversations is remembered, in bytes, near enough.
    memory_bytes: Bytes,
    /// How much is kept of what left, in bytes.
    archive_bytes: Bytes,
    /// 32 bytes: the key of the hashes by which conversations are recognised.
    secret: Secret,
    /// What the host can change in its list: everything (`any`, and without); texts, in the same messages and the same order
    /// (`texts`); one run at the front, that becomes one text (`cut`); messages leave, and one text at most comes in
    /// (`removals`). The engine plans for it, and decisions count for it.
    #[cfg_attr(test, schema(value_type = Option<HostChanges>))]
    host: Option<ByName<HostChanges>>,
    /// Strategies in their order, or the name of a chain, for every kind of task; those of the configuration without.
    #[cfg_attr(test, schema(value_type = Option<Chain>))]
    chain: Option<OneOrMore<ChainName>>,
}

impl FitterWords {
    /// The budget, how much the fitter may remember, and what its host can change; the rest as the configuration says.
    pub(super) fn options(&self, parts: &Parts) -> FitOptions {
        let mut options = match self.budget.0 {
            Some(tokens) if self.once => FitOptions::once(tokens),
            Some(tokens) => FitOptions::within(tokens),
            None => FitOptions::for_budget(parts.runtime.budget.clone()),
        };
        options.conversations = self.conversations.0.unwrap_or(options.conversations);
        options.memory_bytes = self.memory_bytes.0.unwrap_or(options.memory_bytes);
        options.archive_bytes = self.archive_bytes.0.unwrap_or(options.archive_bytes);
        options.secret = self.secret.0.unwrap_or(options.secret);
        options.host = self.host.map_or(options.host, |it| it.0);
        options
    }

    /// What the configuration describes, with the chain of the words.
    pub(super) fn runtime(&self, parts: &Parts) -> Result<Runtime, Failure> {
        let mut runtime = parts.runtime.clone();
        if let Some(chain) = &self.chain {
            runtime.fixed = Some(parts.chain(&names_of(chain))?);
            runtime.mode = Mode::Fixed;
        }
        Ok(runtime)
    }
}

/// How one list of a loop is fitted.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, utoipa::ToSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct FitWords {
    pub(super) handle: u32,
    /// The system prompt that is not in the list, as the request has it, or its tokens.
    #[serde(deserialize_with = "BesideWord::system")]
    #[cfg_attr(test, schema(value_type = Value))]
    pub(super) system: BesideWord,
    /// The definitions of the tools, as the request has them, or their tokens.
    #[serde(deserialize_with = "BesideWord::tools")]
    #[cfg_attr(test, schema(value_type = Tools))]
    pub(super) tools: BesideWord,
    /// Distinguishes conversations that begin alike.
    pub(super) key: String,
    /// The form of this list, which is recognised otherwise.
    #[cfg_attr(test, schema(value_type = Option<Provider>))]
    pub(super) format: Option<String>,
    /// The input tokens, cached ones included, that the provider reported for what the call before this one gave: counts are
    /// corrected by them.
    pub(super) reported_tokens: TokensOrNone,
    /// A compaction that the conversation's model asks for: it is made where it is wise, whether one is due or not.
    asked: Option<AskedWords>,
    /// After the provider refused what was sent.
    pub(super) overflow: Option<OverflowWords>,
}

/// What a model asks for with a compaction.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, utoipa::ToSchema), schema(as = Asked))]
#[serde(
    deny_unknown_fields,
    default,
    rename_all = "camelCase",
    expecting = "an object with `reason`, `nextStep` and `keep`"
)]
struct AskedWords {
    /// Why now.
    reason: String,
    /// What the model does next: what bears on it stays first.
    // As the arguments of `compact_context` name it, which a host may hand over.
    #[serde(alias = "next_step")]
    next_step: String,
    /// What the next context has to hold: messages by their numbers (`#37`, `#40-#52`), or exact texts, up to eight.
    keep: Vec<String>,
}

/// The tokens that a provider's refusal names.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, utoipa::ToSchema))]
#[serde(deny_unknown_fields, default, expecting = "an object with `limit` and `actual`")]
pub(crate) struct OverflowWords {
    /// The most that the model takes.
    limit: Option<TokensOrNone>,
    /// What the request had.
    actual: Option<TokensOrNone>,
}

impl OverflowWords {
    pub(super) fn tokens(&self) -> Overflow {
        Overflow { limit: self.limit.and_then(|it| it.0), actual: self.actual.and_then(|it| it.0) }
    }
}

impl FitWords {
    /// The compaction that the model asks for. The error says which text of `keep` names nothing.
    pub(super) fn model_request(&self) -> Result<Option<ModelRequest>, Failure> {
        let read = |words: &AskedWords| {
            let made = ModelRequest::from_texts(&words.reason, &words.next_step, &words.keep);
            made.map_err(|problem| Failure::config(format!("`asked`: {problem}")))
        };
        self.asked.as_ref().map(read).transpose()
    }
}

/// How a session is read.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReadWords {
    pub(super) engine: u32,
    /// Whether the session came as objects.
    pub(super) objects: bool,
    /// The format, where it is not recognised.
    pub(super) format: Option<String>,
    /// The name or number of one of several sessions.
    pub(super) name: Option<String>,
}

/// What a model looks up in its own past.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LookUpWords {
    pub(super) engine: u32,
    /// Whether the session came as objects.
    pub(super) objects: bool,
    /// The format, where it is not recognised.
    pub(super) format: Option<String>,
    /// The name or number of one of several sessions.
    pub(super) name: Option<String>,
    /// The tool that the model calls.
    pub(super) tool: String,
    /// What the model gives with it.
    pub(super) arguments: Map<String, Value>,
}

/// How much a text of a session may take.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BriefWords {
    pub(super) engine: u32,
    /// Whether the session came as objects.
    pub(super) objects: bool,
    /// The format, where it is not recognised.
    pub(super) format: Option<String>,
    /// The name or number of one of several sessions.
    pub(super) name: Option<String>,
    /// The most tokens of the text.
    tokens: Tokens,
    /// In their place the tokens of the context that is compacted: text and `beside` are as much of it as the configuration's
    /// target says.
    context: Tokens,
    /// The tokens of what stays in the context beside the text.
    beside: TokensOrNone,
}

impl BriefWords {
    /// Tokens of the text without a word of it.
    const TOKENS: u32 = 4_000;
    /// Tokens of the text at least, where it is a part of a context: with less of it little can be told.
    const LEAST: u32 = 2_000;
    /// It has at least one token in so many of that context, whatever stays beside it.
    const LEAST_OF_CONTEXT: u32 = 20;

    /// The most tokens of the text.
    pub(super) fn tokens(&self, runtime: &Runtime) -> Result<u32, Failure> {
        match (self.tokens.0, self.context.0) {
            (Some(_), Some(_)) => {
                Err(Failure::config("`tokens` and `context` exclude each other: leave one of them out"))
            }
            (Some(tokens), None) => Ok(tokens),
            (None, None) => Ok(Self::TOKENS),
            (None, Some(context)) => {
                let target = runtime.budget.target.tokens(context).min(context);
                let rest = target.saturating_sub(self.beside.0.unwrap_or_default());
                Ok(rest.max(Self::LEAST).max(context / Self::LEAST_OF_CONTEXT))
            }
        }
    }
}

/// How a session is compacted.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CompactWords {
    pub(super) engine: u32,
    /// Whether the session came as objects.
    pub(super) objects: bool,
    /// The format, where it is not recognised.
    format: Option<String>,
    /// The name or number of one of several sessions.
    name: Option<String>,
    /// Tokens (1 or more), or a part of what the messages take now (below 1).
    // As a session that is going on has it.
    #[serde(alias = "target")]
    budget: GivenShare,
    /// The format to write.
    to: Option<String>,
    /// Strategies in their order, or the name of a chain.
    #[cfg_attr(test, schema(value_type = Option<Chain>))]
    chain: Option<OneOrMore<ChainName>>,
    /// How the chain is chosen.
    #[cfg_attr(test, schema(value_type = Option<Mode>))]
    mode: Option<ByName<Mode>>,
    /// The kind of task, where you know it.
    #[cfg_attr(test, schema(value_type = Option<TaskKind>))]
    task: Option<ByName<TaskKind>>,
    /// What to keep in focus.
    focus: Option<String>,
    /// Messages that stay whole, each call with its results, by their numbers from 0: `#37`, `#40-#52`, `..#36`, `#53..`.
    #[cfg_attr(test, schema(value_type = TextOrTexts))]
    keep: OneOrMore<MessageRange>,
    /// Messages that leave before anything else does, each call with its results.
    #[cfg_attr(test, schema(value_type = TextOrTexts))]
    drop: OneOrMore<MessageRange>,
    /// Settings for this call alone, by their keys, such as `keep_recent_messages` or `budget.target`.
    settings: Option<Map<String, Value>>,
}

fn names_of(chain: &OneOrMore<ChainName>) -> Vec<String> {
    chain.0.iter().map(|name| name.0.clone()).collect()
}

/// The words of `compact`: where a session stands, and how it is compacted.
pub fn compact_words(words: &str) -> Result<Words, Failure> {
    read::<CompactWords>(words)?.checked()
}

impl CompactWords {
    pub(super) fn checked(self) -> Result<Words, Failure> {
        let mode = self.mode.map(|mode| mode.0);
        if self.chain.is_some() && mode.is_some_and(|mode| mode != Mode::Fixed) {
            let problem = "`chain` names the chain: no other `mode` than fixed goes with it; leave one of them out";
            return Err(Failure::config(problem));
        }
        Ok(Words {
            format: self.format,
            session: self.name,
            to: self.to,
            budget: self.budget.0,
            chain: self.chain.as_ref().map(names_of),
            mode,
            task: self.task.map(|task| task.0),
            focus: self.focus,
            keep: self.keep.0,
            drop: self.drop.0,
            settings: self.settings.unwrap_or_default(),
        })
    }
}

/// What is searched, and how much comes back.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SearchWords {
    /// Whether the session came as objects.
    pub(super) objects: bool,
    /// The format, where it is not recognised.
    pub(super) format: Option<String>,
    /// The name or number of one of several sessions.
    pub(super) name: Option<String>,
    /// What is looked for.
    #[cfg_attr(test, schema(value_type = TextOrTexts))]
    words: OneOrMore<Sought>,
    /// Whose text is searched; everybody's without.
    #[cfg_attr(test, schema(value_type = SourceOrSources))]
    sources: OneOrMore<Source>,
    /// Puts what is newest first.
    newest: bool,
    /// Passages of a page; 6 without.
    limit: Passages,
    /// Characters of a page; 9,000 without.
    characters: Characters,
    /// Which page, from 1.
    page: PageNumber,
}

impl SearchWords {
    /// What is searched for.
    pub(super) fn query(&self) -> Query {
        let without = Query::default();
        Query {
            words: self.words.0.iter().map(|words| words.0.clone()).collect(),
            from: self.sources.0.clone(),
            newest: self.newest,
            limit: self.limit.0.unwrap_or(without.limit),
            characters: self.characters.0.unwrap_or(without.characters),
            page: self.page.0.map_or(without.page, |number| number - 1),
        }
    }
}

/// The query of a search of one session.
///
/// # Errors
///
/// The first word that is wrong.
pub fn query_of(words: &str) -> Result<Query, Failure> {
    Ok(read::<SearchWords>(words)?.query())
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
    pub(super) status: AnswerStatus,
}

/// Names of options, and the names that there are.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Options {
    given: Vec<String>,
    known: Vec<String>,
}

impl Options {
    /// What is wrong with the first name that is not known; `None` where all are.
    pub(super) fn problem(&self) -> Option<String> {
        let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
        self.given.iter().find(|name| !known.contains(&name.as_str())).map(|wrong| no_option(wrong, &known))
    }
}
