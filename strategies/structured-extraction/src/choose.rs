//! Chooses the snippets of a block: as much worth as fits, with each exact string counted once.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};
use std::ops::Range;

use epitome_strategy::{Tokens, View};

use crate::files::Files;
use crate::gather::SnippetCollector;
use crate::settings::Settings;
use crate::snippets::{Kind, Snippet};
use crate::value::fade_factor;
use crate::{plan_state, section};

/// The worth of a user's demand beside its exact strings: more than anything else.
const DEMAND: f32 = 10_000.0;
/// The worth of any other line that a person typed.
const TYPED: f32 = 6.0;
/// The worth of a decision of the model, or of a question that it left open.
const DECISION: f32 = 2.5;
/// Share of a block within which decisions and open questions of the model come before other lines, newest first: 0 and 0.1
/// changed no figure of `docs/research/structured-extraction.md` by more than .003.
const DECISION_SHARE: f32 = 0.05;
/// The factor of that worth within the model's own share of the block: there it precedes lines that only have strings.
const WITHIN_SHARE: f32 = 200.0;
/// The worth of a line of an error.
const ERROR: f32 = 0.6;
/// The worth of each name of several words in an output (titles, people, places), and how many of them count.
const NAME: f32 = 0.4;
const MOST_NAMES: u32 = 4;
/// The worth of a line that was written to a file, because an edit may quote it.
const QUOTABLE: f32 = 1.5;
/// The age, as a share of the session, at which these worths have halved.
const LINE_HALF_LIFE: f32 = 0.5;
/// The rest of the worth of a path that is in the list of files.
const LISTED: f32 = 0.5;
/// Tokens that any snippet costs beside its text.
const SNIPPET_TOKENS: f32 = 2.0;
/// Share of the budget for which lines are chosen: counts of single lines add up to more than the count of the whole,
/// and lines that exceed the budget leave again.
const CHOSEN_SHARE: f32 = 1.12;
/// Share of the budget that the list of files may take.
const FILES_SHARE: Tokens = 4;
/// How many snippets may be too large for the rest of the budget before the choice ends.
const MOST_MISSES: u32 = 200;

/// The content of earlier blocks of the same plan, which no other block repeats.
pub(crate) struct CoveredContent<'p> {
    /// The present worth of each of the view's atoms: 0 for those in text that stays or in a block.
    pub values: Vec<f32>,
    files: Files,
    has_tasks: bool,
    lines: HashSet<&'p str>,
}

impl CoveredContent<'_> {
    /// Returns the content of no block.
    pub(crate) fn new(values: Vec<f32>) -> Self {
        Self { values, files: Files::default(), has_tasks: false, lines: HashSet::new() }
    }
}

/// The snippets that were chosen, and the other content of the block.
pub(crate) struct Choice<'a> {
    /// In the order of the session, each with its rank: 0 is the last to leave when the text is too long.
    pub chosen: Vec<(Snippet<'a>, usize)>,
    /// The state of the task list, where these units have it.
    pub tasks: Vec<String>,
    /// Files that were changed and those that were only read, newest first.
    pub files: Files,
    /// How many exact strings are in the block and nowhere else.
    pub covered: usize,
}

/// A snippet with its worth per token at the last look.
struct RankedSnippet {
    worth: f32,
    snippet: usize,
}

impl PartialEq for RankedSnippet {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for RankedSnippet {}
impl PartialOrd for RankedSnippet {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for RankedSnippet {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth.total_cmp(&other.worth).then(self.snippet.cmp(&other.snippet))
    }
}

impl<'a> Choice<'a> {
    /// Chooses for `budget` tokens among the snippets of `units`, a run of neighbours, that are not `told` yet, and
    /// adds the chosen ones to it. `n log n` in the lines, and linear in the atoms.
    pub(crate) fn make<'p>(
        view: &View<'a>,
        units: &Range<usize>,
        gathered: &'p SnippetCollector<'_, 'a>,
        settings: &Settings,
        budget: Tokens,
        told: &mut CoveredContent<'p>,
    ) -> Self {
        let end = units.clone().next_back().map_or(0, |unit| view.units()[unit].entries.end);
        let messages = view.units().get(units.start).map_or(end, |unit| unit.entries.start)..end;
        let snippets = gathered.snippets_in(&messages);
        let listed = gathered.listed_in(&messages);
        let tasks = match plan_state::tasks(view, units) {
            Some(tasks) => tasks,
            None if told.has_tasks => Vec::new(),
            None => listed.tasks,
        };
        told.has_tasks |= !tasks.is_empty();
        let files = Files::new(view, units, &listed.files, &told.files, budget / FILES_SHARE);
        told.files.append(&files);
        for atom in files.paths().flat_map(|path| view.facts().atoms().in_text(path)) {
            told.values[atom as usize] *= LISTED;
        }
        let fixed = view.count(&tasks.join("\n")) + files.tokens(view) + section::headings(view, view.language());
        let left = budget as f32 * CHOSEN_SHARE - fixed as f32;
        let mut picker = Picker::new(view, snippets, told);
        picker.decisions_left = left * DECISION_SHARE;
        let picked = picker.pick(left, left * settings.typed_share as f32);
        let mut ranked = picked.snippets;
        // Demands are the last to leave when the text turns out too long.
        ranked.sort_by_key(|index| !snippets[*index].is_demand);
        let mut ranks: Vec<Option<usize>> = vec![None; snippets.len()];
        for (rank, index) in ranked.into_iter().enumerate() {
            ranks[index] = Some(rank);
        }
        let chosen = snippets.iter().zip(ranks).filter_map(|(snippet, rank)| Some((snippet.clone(), rank?))).collect();
        Self { chosen, tasks, files, covered: picked.covered }
    }
}

/// The picked snippets by position, the most valuable first.
struct PickedSnippets {
    snippets: Vec<usize>,
    covered: usize,
}

/// Picks the snippet of most worth per token, again and again. The exact strings of a picked snippet are worth nothing
/// from then on, so the worth of others only falls, and the heap may hold outdated values: the top is valued anew, and
/// goes back where it has fallen. Example: A has the paths p (4) and q (3) in 10 tokens, B has p in 4, C has q in 9. B
/// (1.0) is picked first; A falls from 0.7 to 0.3, goes back behind C (0.33), and C is picked; then A is worth nothing
/// and leaves. A header makes the one exception: once a group of lines has its header, its other lines cost less and
/// rise, and the top's new value is used at once.
struct Picker<'t, 'p, 'a> {
    snippets: &'p [Snippet<'a>],
    told: &'t mut CoveredContent<'p>,
    /// The worth of each snippet beside its exact strings.
    bonus: Vec<f32>,
    /// The groups of lines that have a header already.
    groups: HashSet<(usize, Option<u32>)>,
    /// Tokens that are left of the share of decisions and open questions.
    decisions_left: f32,
}

impl<'t, 'p, 'a> Picker<'t, 'p, 'a> {
    fn new(view: &View<'a>, snippets: &'p [Snippet<'a>], told: &'t mut CoveredContent<'p>) -> Self {
        let bonus = snippets.iter().map(|it| bonus(it) * fade(it, view.len())).collect();
        Self { snippets, told, bonus, groups: HashSet::new(), decisions_left: 0.0 }
    }

    fn pick(mut self, mut left: f32, mut typed_left: f32) -> PickedSnippets {
        let ranked = |snippet: usize| RankedSnippet { worth: self.worth(snippet), snippet };
        let mut heap: BinaryHeap<RankedSnippet> =
            (0..self.snippets.len()).map(ranked).filter(|ranked| ranked.worth > 0.0).collect();
        let mut picked = PickedSnippets { snippets: Vec::new(), covered: 0 };
        let mut misses = 0;
        while let Some(top) = heap.pop() {
            // Its strings may have been covered since: worth only falls, except where its header is there by now.
            let worth = self.worth(top.snippet);
            if worth < top.worth * 0.999 {
                if worth > 0.0 {
                    heap.push(RankedSnippet { worth, ..top });
                }
                continue;
            }
            let snippets: &'p [Snippet<'a>] = self.snippets;
            let snippet = &snippets[top.snippet];
            if self.told.lines.contains(snippet.text.trim()) {
                continue;
            }
            let cost = snippet.tokens as f32 + self.header(snippet) + 1.0;
            let is_typed = snippet.from.kind == Kind::Typed;
            if is_typed && cost > typed_left {
                continue;
            }
            if cost > left {
                misses += 1;
                if misses > MOST_MISSES {
                    break;
                }
                continue;
            }
            left -= cost;
            if is_typed {
                typed_left -= cost;
            }
            if snippet.is_decision_of_model() {
                self.decisions_left -= cost;
            }
            self.told.lines.insert(snippet.text.trim());
            self.groups.insert((snippet.from.message, snippet.from.call));
            for atom in &snippet.atoms {
                picked.covered += usize::from(self.told.values[*atom as usize] > 0.0);
                self.told.values[*atom as usize] = 0.0;
            }
            picked.snippets.push(top.snippet);
        }
        picked
    }

    /// Returns the worth of a snippet beside the picked ones, per token.
    fn worth(&self, index: usize) -> f32 {
        let snippet = &self.snippets[index];
        let of_atoms: f32 = snippet.atoms.iter().map(|atom| self.told.values[*atom as usize]).sum();
        let in_share = snippet.is_decision_of_model() && snippet.tokens as f32 <= self.decisions_left;
        let bonus = self.bonus[index] * if in_share { WITHIN_SHARE } else { 1.0 };
        (of_atoms + bonus) / (snippet.tokens as f32 + SNIPPET_TOKENS + self.header(snippet))
    }

    fn header(&self, snippet: &Snippet<'_>) -> f32 {
        if self.groups.contains(&(snippet.from.message, snippet.from.call)) { 0.0 } else { section::HEADER_TOKENS }
    }
}

fn bonus(snippet: &Snippet<'_>) -> f32 {
    match snippet.from.kind {
        Kind::Typed if snippet.is_demand => DEMAND,
        Kind::Typed => TYPED,
        Kind::Model if snippet.is_decision_of_model() => DECISION,
        Kind::Written => QUOTABLE,
        Kind::Output => {
            let names = NAME * snippet.names.min(MOST_NAMES) as f32;
            if snippet.is_error { ERROR + names } else { names }
        }
        Kind::Model | Kind::Call => 0.0,
    }
}

/// Returns the factor for age; a demand holds until it is met, however old it is.
fn fade(snippet: &Snippet<'_>, messages: usize) -> f32 {
    if snippet.is_demand { 1.0 } else { fade_factor(snippet.from.message, messages, LINE_HALF_LIFE) }
}
