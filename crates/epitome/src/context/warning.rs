//! What in a context deserves a look before it is full.

use std::collections::HashMap;
use std::fmt;

use epitome_session::{Content, Session};
use epitome_strategy::{EntryTokens, TokenCounter, Tokens, View};
use serde::Serialize;

use super::first_words::line;
use super::parts::with_view;

/// The share of the usable window from which on one message is large. Source: five of them fill it.
const LARGE_SHARE: f64 = 0.2;

/// The newest calls among which a repetition counts as a loop. Source: a model that is stuck repeats itself at once; the
/// same check after an hour of work is none.
const NEWEST_CALLS: usize = 20;

/// How often a call has to be made with the same result. Source: twice is a check, the third time nothing was learnt.
const TIMES: usize = 3;

/// Something in a context that deserves a look.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "warning", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ContextWarning {
    /// One message fills a large share of the window.
    LargeMessage {
        /// The message's position in the view, from 0.
        position: u32,
        /// The message's id.
        id: String,
        /// The tool that printed it; `null` where it is not a tool's output.
        #[cfg_attr(feature = "schema", schema(required))]
        tool: Option<String>,
        /// The message's tokens.
        #[cfg_attr(feature = "schema", schema(value_type = u32))]
        tokens: Tokens,
        /// Its share of the usable window, from 0.
        share: f64,
    },
    /// The model makes the same call again and again, and gets the same result each time.
    RepeatedCall {
        /// The position of the newest such call's message in the view, from 0.
        position: u32,
        /// The tool.
        tool: String,
        /// The beginning of the arguments.
        arguments: String,
        /// How often, among the newest calls.
        times: u32,
        /// Among how many of the newest calls.
        of: u32,
    },
}

impl fmt::Display for ContextWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LargeMessage { position, tool, share, .. } => {
                let what =
                    tool.as_deref().map_or_else(|| "one message".to_owned(), |tool| format!("one result of {tool}"));
                write!(formatter, "{what} (#{position}) fills {:.0} % of the usable window", share * 100.0)
            }
            Self::RepeatedCall { tool, times, of, arguments, .. } => {
                write!(
                    formatter,
                    "{tool} was called {times} times among the newest {of} calls with the same arguments and \
                                   the same result: {arguments}"
                )
            }
        }
    }
}

impl ContextWarning {
    /// What deserves a look in a session's view, of which `usable` tokens may be used; `tokens` has the counts of its
    /// messages, in order. Large messages come first, in the order of the view. Linear in the number of blocks and in the
    /// newest calls with their results.
    pub fn find(session: &Session, tokens: &[EntryTokens], counter: &dyn TokenCounter, usable: Tokens) -> Vec<Self> {
        with_view(session, tokens, counter, |view| {
            let mut warnings = large_messages(view, tokens, usable);
            warnings.extend(repeated_calls(view));
            warnings
        })
    }
}

fn large_messages(view: &View<'_>, tokens: &[EntryTokens], usable: Tokens) -> Vec<ContextWarning> {
    let tools: HashMap<u32, &str> =
        view.facts().outputs().iter().map(|output| (output.at.message, output.tool)).collect();
    let large =
        tokens.iter().zip(0u32..).filter(|(tokens, _)| f64::from(tokens.total) >= f64::from(usable) * LARGE_SHARE);
    large
        .filter(|(tokens, _)| tokens.total > 0)
        .map(|(tokens, position)| ContextWarning::LargeMessage {
            position,
            id: view.message(position as usize).id.to_string(),
            tool: tools.get(&position).filter(|tool| !tool.is_empty()).map(|tool| (*tool).to_owned()),
            tokens: tokens.total,
            share: f64::from(tokens.total) / f64::from(usable.max(1)),
        })
        .collect()
}

/// The text of a tool's output as it was recorded, and whether it was an error.
fn recorded<'a>(view: &View<'a>, at: epitome_strategy::BlockRef) -> Option<(&'a str, bool)> {
    let entry = view.entries().get(at.message as usize)?;
    match &entry.original.blocks.get(at.block as usize)?.content {
        Content::ToolResult(result) => Some((&result.text, result.is_error)),
        Content::Text { text } => Some((text, false)),
        _ => None,
    }
}

/// A tool, its arguments, and its output as [`recorded`] gives it.
type RepeatedCall<'a> = (&'a str, &'a str, (&'a str, bool));

fn repeated_calls(view: &View<'_>) -> Vec<ContextWarning> {
    let calls = view.facts().calls();
    let newest = &calls[calls.len().saturating_sub(NEWEST_CALLS)..];
    let mut repeated: HashMap<RepeatedCall<'_>, (usize, usize)> = HashMap::new();
    for (index, call) in newest.iter().enumerate() {
        let Some(output) = call.output.and_then(|at| recorded(view, at)) else { continue };
        let (times, last) = repeated.entry((call.name, call.arguments, output)).or_default();
        (*times, *last) = (*times + 1, index);
    }
    let mut found: Vec<(usize, ContextWarning)> = repeated
        .into_iter()
        .filter(|(_, (times, _))| *times >= TIMES)
        .map(|((tool, arguments, _), (times, last))| {
            let warning = ContextWarning::RepeatedCall {
                position: newest[last].at.message,
                tool: tool.to_owned(),
                arguments: line(arguments).unwrap_or_default(),
                times: times as u32,
                of: newest.len() as u32,
            };
            (last, warning)
        })
        .collect();
    found.sort_by_key(|(last, _)| *last);
    found.into_iter().map(|(_, warning)| warning).collect()
}
