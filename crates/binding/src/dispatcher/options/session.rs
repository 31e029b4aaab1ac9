//! The options of calls about a session.

use epitome::Runtime;
use epitome::engine::Mode;
use epitome::formats::LoadedFile;
use epitome::recall::{Query, Source};
use epitome::session::MessageRange;
use epitome::strategy::{TaskKind, Value};
use serde::Deserialize;
use serde_json::Map;

use super::names_of;
use crate::dispatcher::read_options::read_options;
use crate::dispatcher::values::{
    BudgetValue, ByName, ChainName, Characters, OneOrMore, PageNumber, Passages, SearchText, Tokens, TokensOrNone,
};
#[cfg(test)]
use crate::tests::declarations::kinds::{Chain, SourceOrSources, TextOrTexts};
use crate::{Failure, Input, Parts, choose, format_of, load};

/// Types of options that say, beside what is theirs, by which engine and how a session is read.
macro_rules! session_options {
    ($($(#[$about:meta])* $visible:vis struct $name:ident { $($own:tt)* })+) => {$(
        $(#[$about])*
        #[derive(Debug, Default, Deserialize)]
        #[cfg_attr(test, derive(serde::Serialize, utoipa::ToSchema))]
        #[serde(deny_unknown_fields, default)]
        $visible struct $name {
            pub(in crate::dispatcher) engine: u32,
            /// Whether the session came as objects.
            pub(in crate::dispatcher) objects: bool,
            /// The format, where it is not recognised.
            format: Option<String>,
            /// The name or number of one of several sessions.
            name: Option<String>,
            $($own)*
        }

        impl $name {
            /// Returns what `data` holds, and the number of the session that is meant.
            pub(crate) fn load(&self, bytes: Vec<u8>) -> Result<(LoadedFile, usize), Failure> {
                let loaded = load(Input { bytes, is_objects: self.objects }, self.format.as_deref())?;
                let index = choose(&loaded, self.name.as_deref())?;
                Ok((loaded, index))
            }
        }
    )+};
}

session_options! {
    /// How a session is read.
    pub(crate) struct ReadOptions {}

    /// How a session is compacted.
    pub struct CompactOptions {
        /// Tokens (1 or more), or a part of what the messages take now (below 1).
        // As a session that is going on has it.
        #[serde(alias = "target")]
        pub(crate) budget: BudgetValue,
        /// The format to write.
        pub(crate) to: Option<String>,
        /// Strategies in their order, or the name of a chain.
        #[cfg_attr(test, schema(value_type = Option<Chain>))]
        pub(crate) chain: Option<OneOrMore<ChainName>>,
        /// How the chain is chosen.
        #[cfg_attr(test, schema(value_type = Option<Mode>))]
        pub(crate) mode: Option<ByName<Mode>>,
        /// The kind of task, where you know it.
        #[cfg_attr(test, schema(value_type = Option<TaskKind>))]
        pub(crate) task: Option<ByName<TaskKind>>,
        /// What to keep in focus.
        pub(crate) focus: Option<String>,
        /// Messages that stay whole, each call with its results, by their numbers from 0: `#37`, `#40-#52`, `..#36`, `#53..`.
        #[cfg_attr(test, schema(value_type = TextOrTexts))]
        pub(crate) keep: OneOrMore<MessageRange>,
        /// Messages that leave before anything else does, each call with its results.
        #[cfg_attr(test, schema(value_type = TextOrTexts))]
        pub(crate) drop: OneOrMore<MessageRange>,
        /// Settings for this call alone, by their keys, such as `keep_recent_messages` or `budget.target`.
        pub(crate) settings: Option<Map<String, Value>>,
    }

    /// What is searched, and how much comes back.
    pub(crate) struct SearchOptions {
        /// What is looked for.
        #[cfg_attr(test, schema(value_type = TextOrTexts))]
        words: OneOrMore<SearchText>,
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

    /// What a session is converted to.
    pub(crate) struct ConvertOptions {
        pub(in crate::dispatcher) to: Option<String>,
    }

    /// What a model looks up in its own past.
    pub(crate) struct LookUpOptions {
        /// The tool that the model calls.
        pub(in crate::dispatcher) tool: String,
        /// What the model gives with it.
        pub(in crate::dispatcher) arguments: Map<String, Value>,
    }

    /// How much a text of a session may take.
    pub(crate) struct BriefOptions {
        /// The most tokens of the text.
        tokens: Tokens,
        /// In their place the tokens of the context that is compacted: text and `beside` are as much of it as the configuration's
        /// target says.
        context: Tokens,
        /// The tokens of what stays in the context beside the text.
        beside: TokensOrNone,
    }
}

impl BriefOptions {
    /// Tokens of the text unless the options say otherwise.
    const TOKENS: u32 = 4_000;
    /// Tokens of the text at least, where it is a part of a context: with less of it little can be told.
    const LEAST: u32 = 2_000;
    /// It has at least one token in so many of that context, whatever stays beside it.
    const LEAST_OF_CONTEXT: u32 = 20;

    /// The most tokens of the text.
    pub(in crate::dispatcher) fn tokens(&self, runtime: &Runtime) -> Result<u32, Failure> {
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

impl CompactOptions {
    /// Fails if an option is wrong, whatever the session.
    ///
    /// # Errors
    ///
    /// The first option that is wrong.
    pub fn check(&self, parts: &Parts) -> Result<(), Failure> {
        parts.request(self, 0, 0)?;
        [&self.format, &self.to].into_iter().flatten().try_for_each(|name| format_of(name).map(drop))
    }

    /// Returns the names in `chain`.
    pub(crate) fn chain_names(&self) -> Option<Vec<String>> {
        self.chain.as_ref().map(names_of)
    }
}

impl SearchOptions {
    /// What is searched for.
    pub(in crate::dispatcher) fn query(&self) -> Query {
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
/// The first option that is wrong.
pub fn search_query(options: &str) -> Result<Query, Failure> {
    Ok(read_options::<SearchOptions>(options)?.query())
}
