//! The free baselines: simple methods without this project, in a form that providers accept and within the budget.

use std::collections::HashSet;
use std::sync::Arc;

use epitome::session::{Content, Entry, Message, Origin, Role, ToolResult, Unit, UnitKind, units};
use epitome::strategy::named;

use crate::cases::atoms::atoms;
use crate::cases::case::Case;
use crate::cases::cut::tokens_of;
use crate::cases::patterns::Patterns;
use crate::cases::text::words;

/// A baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// The newest rounds that fit, whole, behind the system prompt; of a newest round that does not fit, its typed
    /// message and its newest steps.
    Newest,
    /// The newest steps and messages that fit, behind the system prompt and the newest typed message.
    Tail,
    /// Old tool results cleared, the oldest first; where that is not enough, the oldest units leave.
    Cleared,
    /// Old tool results replaced by the exact strings that they introduced, with the words around each, as many of each
    /// result as fit; where that is not enough, the oldest units leave.
    Identifiers,
}

named! { Baseline { Newest = "newest", Tail = "tail", Cleared = "cleared", Identifiers = "identifiers" } }

impl Baseline {
    /// Returns the baseline's result for a case. Linear in the prefix.
    pub(crate) fn compact(self, case: &Case, budget: u32) -> Vec<Entry> {
        let mut shrunk = ShrunkPrefix::new(case);
        match self {
            Self::Newest => return shrunk.newest(budget, true),
            Self::Tail => {}
            Self::Cleared => shrunk.shrink_results(budget, |_, _| CLEARED.to_owned()),
            Self::Identifiers => {
                for most in MOST_IDENTIFIERS {
                    shrunk = ShrunkPrefix::new(case);
                    shrunk.shrink_results(budget, |text, seen| identifiers(text, seen, most));
                    if shrunk.total() <= u64::from(budget) {
                        break;
                    }
                }
            }
        }
        shrunk.newest(budget, false)
    }
}

/// The numbers of exact strings that an old result may keep: the largest that fits is taken.
const MOST_IDENTIFIERS: [usize; 7] = [64, 32, 16, 8, 4, 2, 1];
/// The text that replaces a cleared result.
const CLEARED: &str = "[Old tool result content cleared]";
/// The message in front of a conversation that would otherwise start with the model.
const OPENING: &str = "[Earlier conversation left out]";

/// A prefix in units, with the present tokens of each entry.
struct ShrunkPrefix {
    entries: Vec<Entry>,
    tokens: Vec<u32>,
    units: Vec<Unit>,
}

impl ShrunkPrefix {
    fn new(case: &Case) -> Self {
        let entries = case.prefix.view().to_vec();
        let units = units(&entries);
        Self { entries, tokens: case.tokens.clone(), units }
    }

    fn total(&self) -> u64 {
        self.tokens.iter().map(|tokens| u64::from(*tokens)).sum()
    }

    /// Replaces tool results, the oldest first, until the whole fits; those of the newest step stay. `replacement` gets
    /// the text and the exact strings seen before it.
    fn shrink_results(&mut self, budget: u32, replacement: impl Fn(&str, &mut HashSet<String>) -> String) {
        let mut seen = HashSet::new();
        let mut total = self.total();
        let newest_step = self.units.iter().rposition(|unit| unit.kind == UnitKind::Step).unwrap_or(0);
        let last = self.units.get(newest_step).map_or(0, |unit| unit.entries.start);
        for index in 0..last {
            if total <= u64::from(budget) {
                return;
            }
            let is_output = self.entries[index].message.role == Role::Tool
                || self.entries[index].message.origin == Origin::ToolOutput;
            if !is_output {
                let mut text = String::new();
                crate::cases::text::append(&self.entries[index].message, &mut text);
                seen.extend(atoms(&text));
                continue;
            }
            let new = replace_outputs(&self.entries[index].message, |text| replacement(text, &mut seen));
            let tokens = tokens_of(&new);
            if tokens < self.tokens[index] {
                total -= u64::from(self.tokens[index] - tokens);
                self.tokens[index] = tokens;
                self.entries[index].message = Arc::new(new);
            }
        }
    }

    /// Returns the newest units that fit behind the system prompt and the newest typed message; with `whole_rounds`
    /// older rounds only whole.
    fn newest(&self, budget: u32, whole_rounds: bool) -> Vec<Entry> {
        let cost = |unit: &Unit| self.tokens[unit.entries.clone()].iter().sum::<u32>();
        let newest_typed = self.units.iter().rposition(|unit| unit.kind == UnitKind::User);
        let always = |index: usize| self.units[index].kind == UnitKind::System || Some(index) == newest_typed;
        let opening = opening();
        let pinned: u32 =
            (0..self.units.len()).filter(|index| always(*index)).map(|index| cost(&self.units[index])).sum();
        let mut room = i64::from(budget) - i64::from(pinned) - i64::from(tokens_of(&opening.message));
        let mut first = self.units.len();
        while let Some(unit) = first.checked_sub(1).map(|index| &self.units[index]) {
            let cost = if always(first - 1) || is_broken(unit) { 0 } else { i64::from(cost(unit)) };
            if cost > room {
                break;
            }
            room -= cost;
            first -= 1;
        }
        if let Some(newest_typed) = newest_typed.filter(|newest| whole_rounds && first <= *newest) {
            // Forward to where a round starts.
            first =
                (first..newest_typed).find(|index| self.units[*index].kind == UnitKind::User).unwrap_or(newest_typed);
        }
        let kept = |index: &usize| always(*index) || (*index >= first && !is_broken(&self.units[*index]));
        let kept: Vec<usize> = (0..self.units.len()).filter(kept).collect();
        let starts_with_user = kept
            .iter()
            .map(|index| &self.units[*index])
            .find(|unit| unit.kind != UnitKind::System)
            .is_some_and(|unit| unit.kind != UnitKind::Step);
        let mut result: Vec<Entry> = Vec::new();
        for index in kept {
            if self.units[index].kind != UnitKind::System && !starts_with_user && !result.iter().any(is_opening) {
                result.push(opening.clone());
            }
            result.extend(self.entries[self.units[index].entries.clone()].iter().cloned());
        }
        result
    }
}

/// Whether a unit is a step with unanswered calls, or a result without a call: no provider accepts it.
fn is_broken(unit: &Unit) -> bool {
    unit.kind == UnitKind::Orphan || (unit.kind == UnitKind::Step && !unit.closed)
}

fn opening() -> Entry {
    let message = Message::text("opening", Role::User, Origin::Notice, OPENING);
    let key = epitome::session::EntryKey::Synthetic { epoch: 0, index: 0 };
    Entry::new(key, epitome::session::Position::log(0), Arc::new(message))
}

fn is_opening(entry: &Entry) -> bool {
    entry.message.origin == Origin::Notice
}

/// Returns the message with each of its outputs replaced and without attachments.
fn replace_outputs(message: &Message, mut replacement: impl FnMut(&str) -> String) -> Message {
    let mut new = message.clone();
    for block in &mut new.blocks {
        match &block.content {
            Content::ToolResult(result) => {
                let text = replacement(&result.text).into();
                block.content = Content::ToolResult(ToolResult { text, attachments: Vec::new(), ..result.clone() });
                block.raw = None;
            }
            Content::Text { text } => {
                (block.content, block.raw) = (Content::Text { text: replacement(text).into() }, None);
            }
            _ => {}
        }
    }
    new
}

/// Returns the exact strings that `text` is the first to show, each with up to three words on each side, a line each.
fn identifiers(text: &str, seen: &mut HashSet<String>, most: usize) -> String {
    const WORDS: usize = 3;
    let mut new: Vec<String> = atoms(text).into_iter().filter(|atom| seen.insert(atom.clone())).collect();
    new.truncate(most);
    let words = words(text);
    let mut places: Vec<(usize, usize)> = Vec::new();
    if let Ok(patterns) = Patterns::new(&new, true) {
        let mut placed = vec![false; new.len()];
        patterns.each(text, |number, start, end| {
            if !std::mem::replace(&mut placed[number], true) {
                let before = words.partition_point(|word| word.end <= start);
                let after = words.partition_point(|word| word.start < end);
                let from = before.checked_sub(WORDS).map(|at| words[at].start).or(words.first().map(|word| word.start));
                let to = words.get((after + WORDS - 1).min(words.len().saturating_sub(1))).map(|word| word.end);
                places.push((from.unwrap_or(start).min(start), to.unwrap_or(end).max(end)));
            }
        });
    }
    places.sort_unstable();
    let mut out = String::new();
    let mut reached = 0;
    for (start, end) in places {
        if start >= reached && !out.is_empty() {
            out.push_str(" … ");
        }
        out.push_str(text.get(start.max(reached)..end.max(reached)).unwrap_or_default());
        reached = reached.max(end);
    }
    if out.trim().is_empty() { CLEARED.to_owned() } else { out }
}
