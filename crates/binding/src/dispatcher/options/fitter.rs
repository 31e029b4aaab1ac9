//! The options of a fitter, and of each list that it fits.

use epitome::Runtime;
use epitome::engine::Mode;
use epitome::live::{ModelRequest, Overflow};
use epitome::strategy::HostChanges;
use epitome_fit::FitOptions;
use serde::Deserialize;

use super::names_of;
use crate::dispatcher::values::{
    ByName, Bytes, ChainName, Conversations, OneOrMore, RequestPartValue, Secret, Tokens, TokensOrNone,
};
#[cfg(test)]
use crate::tests::declarations::kinds::{Chain, Provider, Tools};
use crate::{Failure, Parts};

/// How a fitter is made.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, utoipa::ToSchema))]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(crate) struct FitterOptions {
    pub(in crate::dispatcher) engine: u32,
    /// The form of the messages, where they do not tell.
    #[cfg_attr(test, schema(value_type = Option<Provider>))]
    pub(in crate::dispatcher) format: Option<String>,
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

impl FitterOptions {
    /// The budget, how much the fitter may remember, and what its host can change; the rest as the configuration says.
    pub(in crate::dispatcher) fn options(&self, parts: &Parts) -> FitOptions {
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

    /// What the configuration describes, with the chain of the options.
    pub(in crate::dispatcher) fn runtime(&self, parts: &Parts) -> Result<Runtime, Failure> {
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
pub(crate) struct FitRequestOptions {
    pub(in crate::dispatcher) handle: u32,
    /// The system prompt that is not in the list, as the request has it, or its tokens.
    #[serde(deserialize_with = "RequestPartValue::system")]
    #[cfg_attr(test, schema(value_type = Value))]
    pub(in crate::dispatcher) system: RequestPartValue,
    /// The definitions of the tools, as the request has them, or their tokens.
    #[serde(deserialize_with = "RequestPartValue::tools")]
    #[cfg_attr(test, schema(value_type = Tools))]
    pub(in crate::dispatcher) tools: RequestPartValue,
    /// Distinguishes conversations that begin alike.
    pub(in crate::dispatcher) key: String,
    /// The form of this list, which is recognised otherwise.
    #[cfg_attr(test, schema(value_type = Option<Provider>))]
    pub(in crate::dispatcher) format: Option<String>,
    /// The input tokens, cached ones included, that the provider reported for what the call before this one gave: counts are
    /// corrected by them.
    pub(in crate::dispatcher) reported_tokens: TokensOrNone,
    /// A compaction that the conversation's model asks for: it is made where it is wise, whether one is due or not.
    asked: Option<AskedCompaction>,
    /// After the provider refused what was sent.
    pub(in crate::dispatcher) overflow: Option<OverflowOptions>,
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
struct AskedCompaction {
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
pub(crate) struct OverflowOptions {
    /// The most that the model takes.
    limit: Option<TokensOrNone>,
    /// What the request had.
    actual: Option<TokensOrNone>,
}

impl OverflowOptions {
    pub(in crate::dispatcher) fn tokens(&self) -> Overflow {
        Overflow { limit: self.limit.and_then(|it| it.0), actual: self.actual.and_then(|it| it.0) }
    }
}

impl FitRequestOptions {
    /// The compaction that the model asks for. The error says which text of `keep` names nothing.
    pub(in crate::dispatcher) fn model_request(&self) -> Result<Option<ModelRequest>, Failure> {
        let read = |asked: &AskedCompaction| {
            let made = ModelRequest::from_texts(&asked.reason, &asked.next_step, &asked.keep);
            made.map_err(|problem| Failure::config(format!("`asked`: {problem}")))
        };
        self.asked.as_ref().map(read).transpose()
    }
}
