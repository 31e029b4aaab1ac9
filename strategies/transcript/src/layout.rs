//! What becomes of each unit: which stay as they are, which are shortened where they stand, which become lines.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use epitome_strategy::{BlockRef, Goal, Protection, Tokens, UnitKind, View};

use crate::Settings;
use crate::source::{self, Kind, Passage, Source};
use crate::terms::hash;
use crate::worth::Worth;

/// Characters of the longest string that the newest call's arguments keep where they are giant.
const TRIMMED_CHARS: [u32; 3] = [4_000, 1_200, 300];

/// Tokens that a harness may have put beside a typed message that stays as it is.
const LITTLE_BESIDE: Tokens = 40;

/// What the marks of a line of a transcript cost.
const MARK_TOKENS: Tokens = 3;

/// A typed message.
struct TypedMessage {
    unit: usize,
    tokens: Tokens,
    /// Tokens of what is demanded in it, as lines of a transcript.
    demands: Tokens,
    passages: Vec<usize>,
}

/// What becomes of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitFate {
    /// It stays as it is.
    Stays,
    /// It is the newest step, and too large: its outputs are cut where they stand.
    Newest,
    /// A typed message that is cut where it stands.
    Message,
    /// A summary that the agent or a model wrote, and that is too large: its sections are shortened.
    Summary,
    /// It becomes lines of a transcript.
    Folds,
}

/// What becomes of a view.
#[derive(Debug)]
pub(crate) struct Layout {
    places: Vec<UnitFate>,
    /// Calls of the newest step whose arguments are cut, with the characters that their strings keep.
    pub(crate) trims: Vec<(BlockRef, u32)>,
    /// Tokens that are left for lines.
    pub(crate) room: Tokens,
    /// Tokens for each summary that is cut.
    pub(crate) summary_room: Tokens,
    /// Tokens that the lines of one run may take at most; 0 for no bound of their own.
    pub(crate) max_lines: Tokens,
    /// Whether each passage is of a typed message that stays whole in the lines that were typed.
    pub(crate) whole: Vec<bool>,
}

impl Layout {
    /// Linear in the view.
    pub(crate) fn new(view: &View<'_>, source: &Source, worth: &Worth, goal: &Goal, settings: &Settings) -> Self {
        let units = view.units();
        let mut layout = Self {
            places: Vec::with_capacity(units.len()),
            trims: Vec::new(),
            room: 0,
            summary_room: 0,
            max_lines: 0,
            whole: vec![false; source.passages.len()],
        };
        let mut protected: Tokens = 0;
        for (index, unit) in units.iter().enumerate() {
            let place = match view.protection(index) {
                Protection::Free if unit.kind == UnitKind::Summary && !is_transcript(view, index) => UnitFate::Summary,
                Protection::Free => UnitFate::Folds,
                _ => UnitFate::Stays,
            };
            if place == UnitFate::Stays && view.protection(index) != Protection::NewestStep {
                protected += view.unit_tokens(index);
            }
            layout.places.push(place);
        }
        let room = goal.target.saturating_sub(protected);
        let share = |share: f64| (f64::from(room) * share) as Tokens;
        layout.keep_typed(view, source, worth, share(settings.typed_share), settings.short_message);
        layout.keep_newest(view, share(settings.newest_share));
        layout.keep_summaries(view, share(settings.summary_share));
        layout.max_lines = settings.max_summary_tokens;
        layout.keep_tail(view, share(settings.tail_share).max(layout.left_over(view, worth, source, goal)));
        layout.room = goal.target.saturating_sub(layout.staying(view));
        layout
    }

    /// Tokens of the units that stay as they are.
    fn staying(&self, view: &View<'_>) -> Tokens {
        let stays = (0..self.places.len()).filter(|unit| self.places[*unit] == UnitFate::Stays);
        stays.map(|unit| kept_tokens(view, unit)).sum()
    }

    /// Tokens that no lines will take where the lines of a run are bounded: what the newest units may have beside.
    fn left_over(&self, view: &View<'_>, worth: &Worth, source: &Source, goal: &Goal) -> Tokens {
        if self.max_lines == 0 {
            return 0;
        }
        let lines = self.max_lines.saturating_mul(self.runs().len() as Tokens);
        let cut =
            |passage: &&Passage| matches!(self.places[passage.unit as usize], UnitFate::Message | UnitFate::Newest);
        let cut = source.passages.iter().filter(cut).flat_map(|passage| passage.lines.clone());
        let cut: Tokens = cut.map(|line| worth.tokens[line as usize]).sum();
        let summaries = self.places.iter().filter(|place| **place == UnitFate::Summary).count() as Tokens;
        let taken = [self.staying(view), lines, cut, summaries.saturating_mul(self.summary_room)];
        goal.target.saturating_sub(taken.into_iter().fold(0, Tokens::saturating_add))
    }

    pub(crate) fn place(&self, unit: usize) -> UnitFate {
        self.places[unit]
    }

    pub(crate) fn has_something_to_give(&self) -> bool {
        self.places.iter().any(|place| *place != UnitFate::Stays) || !self.trims.is_empty()
    }

    /// The runs of neighbouring units that become lines.
    pub(crate) fn runs(&self) -> Vec<Range<u32>> {
        let mut runs: Vec<Range<u32>> = Vec::new();
        for (unit, place) in self.places.iter().enumerate() {
            let unit = unit as u32;
            match runs.last_mut() {
                Some(run) if *place == UnitFate::Folds && run.end == unit => run.end += 1,
                _ if *place == UnitFate::Folds => runs.push(unit..unit + 1),
                _ => {}
            }
        }
        runs
    }

    /// Typed messages stay, the newest first, as long as they take no more than `share`; of long ones, and of what the
    /// harness put into them, lines stay. Where they need more than that, room is set aside first for what is demanded in
    /// the others, which become lines. What was said again later word for word is a line like any other.
    fn keep_typed(&mut self, view: &View<'_>, source: &Source, worth: &Worth, share: Tokens, short: Tokens) {
        let messages = self.typed_messages(view, source, worth);
        let all: Tokens = messages.iter().map(|message| message.tokens.min(short)).sum();
        let mut aside: Tokens = messages.iter().map(|message| message.demands).sum();
        let mut used = 0;
        for TypedMessage { unit, tokens, demands, passages } in messages {
            let is_short = tokens <= short;
            let least = tokens.min(short);
            aside = aside.saturating_sub(demands);
            if used + least + if all > share { aside } else { 0 } > share {
                aside += demands;
                continue;
            }
            used += least;
            let beside = view.unit_tokens(unit).saturating_sub(tokens);
            // A little beside the words costs less than the marks for it would.
            let is_whole = is_short && beside <= tokens / 4 + LITTLE_BESIDE;
            self.places[unit] = if is_whole { UnitFate::Stays } else { UnitFate::Message };
            if is_short {
                passages.iter().for_each(|passage| self.whole[*passage] = true);
            }
        }
    }

    /// The typed messages that may become lines, the newest first, each said for the last time.
    fn typed_messages(&self, view: &View<'_>, source: &Source, worth: &Worth) -> Vec<TypedMessage> {
        let mut of_unit: HashMap<u32, Vec<usize>> = HashMap::new();
        let typed = |passage: &Passage| passage.kind == Kind::Typed && passage.at.is_some();
        for (index, passage) in source.passages.iter().enumerate().filter(|(_, passage)| typed(passage)) {
            of_unit.entry(passage.unit).or_default().push(index);
        }
        let mut seen = HashSet::new();
        let mut messages: Vec<TypedMessage> = Vec::new();
        for unit in (0..view.units().len()).rev().filter(|unit| view.units()[*unit].kind == UnitKind::User) {
            let Some(passages) = of_unit.remove(&(unit as u32)) else { continue };
            let lines = || passages.iter().flat_map(|passage| source.passages[*passage].lines.clone());
            let said = hash(lines().flat_map(|line| source.lines[line as usize].text().bytes()));
            if seen.insert(said) && self.places[unit] == UnitFate::Folds {
                let tokens = lines().map(|line| worth.tokens[line as usize]).sum();
                let demands = lines().filter(|line| source.lines[*line as usize].demand > 0.0);
                let demands = demands.map(|line| worth.tokens[line as usize] + MARK_TOKENS).sum();
                messages.push(TypedMessage { unit, tokens, demands, passages });
            }
        }
        messages
    }

    /// The newest step stays; where it takes more than `share`, giant arguments shrink first, then its outputs.
    fn keep_newest(&mut self, view: &View<'_>, share: Tokens) {
        let newest = (0..view.units().len()).rev().find(|unit| view.protection(*unit) == Protection::NewestStep);
        let Some(newest) = newest else { return };
        let entries = view.units()[newest].entries.clone();
        let mut tokens = view.unit_tokens(newest);
        if tokens <= share {
            return;
        }
        for position in entries {
            for (block, call) in view.message(position).calls() {
                let at = BlockRef { message: position as u32, block: block as u32 };
                let own = view.block_tokens(at);
                if own <= share / 4 || tokens <= share {
                    continue;
                }
                let bytes = call.arguments.text().len().max(1);
                let fits = |chars: &&u32| u64::from(**chars) * u64::from(own) / bytes as u64 <= u64::from(share / 4);
                let chars = TRIMMED_CHARS.iter().find(fits).unwrap_or(&TRIMMED_CHARS[2]);
                self.trims.push((at, *chars));
                tokens = tokens.saturating_sub(own - own.min(share / 4));
            }
        }
        self.places[newest] = UnitFate::Newest;
    }

    /// Summaries of others stay whole while they fit into `share` together.
    fn keep_summaries(&mut self, view: &View<'_>, share: Tokens) {
        let summaries: Vec<usize> =
            (0..self.places.len()).filter(|unit| self.places[*unit] == UnitFate::Summary).collect();
        let tokens: Tokens = summaries.iter().map(|unit| view.unit_tokens(*unit)).sum();
        if tokens <= share {
            summaries.iter().for_each(|unit| self.places[*unit] = UnitFate::Stays);
        }
        self.summary_room = share / summaries.len().max(1) as Tokens;
    }

    /// The newest units stay as they are while they fit into `share` together.
    fn keep_tail(&mut self, view: &View<'_>, mut share: Tokens) {
        for unit in (0..self.places.len()).rev().filter(|unit| view.units()[*unit].kind != UnitKind::System) {
            if self.places[unit] != UnitFate::Folds {
                continue;
            }
            let Some(left) = share.checked_sub(kept_tokens(view, unit)) else {
                // Where lines are bounded, what is passed over would leave the room to nobody.
                if self.max_lines > 0 { continue } else { break }
            };
            share = left;
            self.places[unit] = UnitFate::Stays;
        }
    }
}

/// Tokens of a unit that stays: signed thinking behind the first change leaves, but for the newest step.
fn kept_tokens(view: &View<'_>, unit: usize) -> Tokens {
    if view.protection(unit) != Protection::Free {
        return view.unit_tokens(unit);
    }
    view.unit_tokens(unit).saturating_sub(view.signed_thinking(unit))
}

fn is_transcript(view: &View<'_>, unit: usize) -> bool {
    source::transcript(view.message(view.units()[unit].entries.start)).is_some()
}
