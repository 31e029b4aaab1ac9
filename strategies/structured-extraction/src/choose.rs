//! Which snippets go into the block: as much worth as fits, each exact string counted once.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};

use epitome_strategy::{Goal, Tokens, UnitKind, View};

use crate::block;
use crate::plan_state;
use crate::snippets::{Gather, Kind, Snippet};
use crate::value::values;
use crate::{Settings, stays};

/// What a demand of the user is worth beside its exact strings.
const DEMAND: f32 = 40.0;
/// What any other line that a person typed is worth.
const TYPED: f32 = 6.0;
/// What a decision that the model took is worth.
const DECISION: f32 = 2.5;
/// What a line of an error is worth.
const ERROR: f32 = 0.6;
/// What a line is worth that was written to or read from a file, and may be quoted by an edit.
const QUOTABLE: f32 = 0.5;
/// Tokens that any snippet costs beside its text.
const SNIPPET_TOKENS: f32 = 2.0;

/// The snippets that were chosen, in the order of the session.
pub(crate) struct Choice<'a> {
    pub chosen: Vec<Snippet<'a>>,
    /// The state of the task list, where the old part holds one.
    pub tasks: Vec<String>,
    /// Files that were changed and those that were only read, newest first.
    pub files: block::Files,
    /// How many exact strings stand in the block and nowhere else.
    pub covered: usize,
}

/// A snippet with its worth per token when it was last looked at.
struct Ranked {
    worth: f32,
    snippet: usize,
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Ranked {}
impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth.total_cmp(&other.worth).then(self.snippet.cmp(&other.snippet))
    }
}

impl<'a> Choice<'a> {
    /// Chooses for `budget` tokens. `n log n` in the lines of the old units.
    pub(crate) fn make(view: &View<'a>, goal: &Goal, old: &[usize], settings: &Settings, budget: Tokens) -> Self {
        let is_old: HashSet<usize> = old.iter().copied().collect();
        let mut values = values(view, |unit| stays(view.protection(unit)) || !is_old.contains(&unit));
        let mut gather = Gather::new(view, settings.longest_line);
        for unit in old.iter().copied().filter(|unit| view.units()[*unit].kind != UnitKind::System) {
            gather.unit(unit);
        }
        let snippets = gather.snippets;
        let tasks = plan_state::tasks(view, &is_old);
        let files = block::Files::of(view, &is_old, budget / 4);
        let fixed = view.count(&tasks.join("\n")) + files.tokens(view) + block::headings(view, goal.language);
        let mut left =
            f32::from(u16::try_from(budget.min(60_000)).unwrap_or(u16::MAX)).max(budget as f32) - fixed as f32;
        let mut typed_left = left * settings.typed_share as f32;
        for atom in files.paths().flat_map(|path| view.facts().atoms().in_text(path)) {
            values[atom as usize] *= 0.5;
        }
        let fresh: Vec<f32> = snippets.iter().map(|snippet| freshness(snippet.message, view.len())).collect();
        let mut groups: HashSet<(usize, Option<u32>)> = HashSet::new();
        let mut heap: BinaryHeap<Ranked> = BinaryHeap::with_capacity(snippets.len());
        let worth = |index: usize, values: &[f32], groups: &HashSet<(usize, Option<u32>)>| {
            let snippet = &snippets[index];
            let of_atoms: f32 = snippet.atoms.iter().map(|atom| values[*atom as usize]).sum();
            let bonus = match snippet.kind {
                Kind::Typed if snippet.is_demand => DEMAND,
                Kind::Typed => TYPED * fresh[index],
                Kind::Model if snippet.is_decision => DECISION * fresh[index],
                Kind::Written => QUOTABLE * fresh[index],
                Kind::Output if snippet.is_error => ERROR * fresh[index],
                Kind::Model | Kind::Call | Kind::Output => 0.0,
            };
            let header = if groups.contains(&(snippet.message, snippet.call)) { 0.0 } else { block::HEADER_TOKENS };
            (of_atoms + bonus) / (snippet.tokens as f32 + SNIPPET_TOKENS + header)
        };
        for index in 0..snippets.len() {
            let worth = worth(index, &values, &groups);
            if worth > 0.0 {
                heap.push(Ranked { worth, snippet: index });
            }
        }
        let mut seen: HashMap<&str, ()> = HashMap::new();
        let mut chosen = Vec::new();
        let mut covered = 0;
        let mut misses = 0;
        while let Some(top) = heap.pop() {
            let now = worth(top.snippet, &values, &groups);
            if now < top.worth * 0.999 {
                if now > 0.0 {
                    heap.push(Ranked { worth: now, snippet: top.snippet });
                }
                continue;
            }
            let snippet = &snippets[top.snippet];
            if seen.contains_key(snippet.text.trim()) {
                continue;
            }
            let header = if groups.contains(&(snippet.message, snippet.call)) { 0.0 } else { block::HEADER_TOKENS };
            let cost = snippet.tokens as f32 + header + 1.0;
            let over = cost > left || snippet.kind == Kind::Typed && cost > typed_left;
            if over {
                misses += 1;
                if misses > 200 {
                    break;
                }
                continue;
            }
            left -= cost;
            if snippet.kind == Kind::Typed {
                typed_left -= cost;
            }
            seen.insert(snippet.text.trim(), ());
            groups.insert((snippet.message, snippet.call));
            for atom in &snippet.atoms {
                covered += usize::from(values[*atom as usize] > 0.0);
                values[*atom as usize] = 0.0;
            }
            chosen.push(top.snippet);
        }
        chosen.sort_unstable();
        let chosen = chosen.into_iter().map(|index| snippets[index].clone()).collect();
        Self { chosen, tasks, files, covered }
    }
}

fn freshness(message: usize, messages: usize) -> f32 {
    let age = (messages - message) as f32 / messages.max(1) as f32;
    0.5f32.powf(age / 0.3)
}
