//! The units and the rounds of a session's view, with their sizes.

use epitome_session::{Session, UnitKind, units};
use epitome_strategy::{EntryTokens, Tokens};
use serde::Serialize;

use super::first_words::first_words;

/// One unit of a view: a message, or a step with its calls and results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnitSize {
    /// What it is.
    pub kind: UnitKind,
    /// The round that it belongs to; 0 in front of the first.
    pub round: u32,
    /// The first message's id.
    pub message: String,
    /// The first message's number in the log, from 0; `None` for one that a compaction wrote.
    pub number: Option<u32>,
    /// How many messages it has.
    pub messages: usize,
    /// Their tokens.
    pub tokens: Tokens,
    /// Its calls by tool, in the order of the first calls.
    pub tools: Vec<(String, usize)>,
    /// The first words of its first message that has any.
    pub words: String,
}

/// One round of a view: from a message that a person typed to the next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundSize {
    /// Its number; 0 is what stands in front of the first.
    pub round: u32,
    /// How many messages it has.
    pub messages: usize,
    /// Their tokens.
    pub tokens: Tokens,
    /// Its calls by tool, the most called first.
    pub tools: Vec<(String, usize)>,
    /// What the person said, in its first words.
    pub words: String,
}

/// Adds `count` calls of a tool.
fn add_calls(tools: &mut Vec<(String, usize)>, name: &str, count: usize) {
    match tools.iter_mut().find(|(known, _)| known == name) {
        Some((_, calls)) => *calls += count,
        None => tools.push((name.to_owned(), count)),
    }
}

impl UnitSize {
    /// The units of a session's view, in order; `tokens` has the counts of its messages. Linear in the view.
    pub fn measure(session: &Session, tokens: &[EntryTokens]) -> Vec<Self> {
        let size = |unit: epitome_session::Unit| {
            let entries = &session.view()[unit.entries.clone()];
            let mut tools = Vec::new();
            for message in entries.iter().map(|entry| &entry.message) {
                let in_text = message.text_calls.iter().map(|call| &call.name);
                message
                    .calls()
                    .map(|(_, call)| &call.name)
                    .chain(in_text)
                    .for_each(|name| add_calls(&mut tools, name, 1));
            }
            let words = entries.iter().map(|entry| first_words(&entry.message)).find(|words| !words.is_empty());
            Self {
                kind: unit.kind,
                round: unit.round,
                message: entries.first().map(|entry| entry.message.id.to_string()).unwrap_or_default(),
                number: entries.first().and_then(|entry| entry.key.number()),
                messages: entries.len(),
                tokens: tokens[unit.entries].iter().map(|tokens| tokens.total).fold(0, Tokens::saturating_add),
                tools,
                words: words.unwrap_or_default(),
            }
        };
        units(session.view()).into_iter().map(size).collect()
    }
}

impl RoundSize {
    /// The rounds that these units are of, in order. Linear in the units.
    pub fn of_units(units: &[UnitSize]) -> Vec<Self> {
        let of_one_round = units.chunk_by(|one, next| one.round == next.round);
        let size = |units: &[UnitSize]| {
            let mut tools = Vec::new();
            units.iter().flat_map(|unit| &unit.tools).for_each(|(name, calls)| add_calls(&mut tools, name, *calls));
            tools.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
            let said = units.iter().filter(|unit| unit.kind == UnitKind::User || unit.round == 0);
            Self {
                round: units.first().map_or(0, |unit| unit.round),
                messages: units.iter().map(|unit| unit.messages).sum(),
                tokens: units.iter().map(|unit| unit.tokens).fold(0, Tokens::saturating_add),
                tools,
                words: said.map(|unit| &unit.words).find(|words| !words.is_empty()).cloned().unwrap_or_default(),
            }
        };
        of_one_round.map(size).collect()
    }
}
