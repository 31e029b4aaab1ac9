//! How each unit is treated: it stays, is shortened in place, or becomes lines.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use epitome_reading::{Passage, PassageKind, SHORT_REPLY, Source, Worth};
use epitome_strategy::keys::key_of;
use epitome_strategy::session::Content;
use epitome_strategy::{BlockRef, Goal, Protection, Tokens, UnitKind, View};

use crate::settings::Settings;

/// The most characters of a string in the newest call's arguments where they are giant.
const TRIMMED_CHARS: [u32; 3] = [4_000, 1_200, 300];

/// The most tokens of a harness beside a typed message that stays as it is.
const LITTLE_BESIDE: Tokens = 40;

/// Tokens of the marks of a transcript's line.
const MARK_TOKENS: Tokens = 3;

/// A typed message.
struct TypedMessage {
    unit: usize,
    tokens: Tokens,
    /// Tokens of its demands, as lines of a transcript.
    demands: Tokens,
    /// Tokens of its pictures and files.
    media: Tokens,
    passages: Vec<usize>,
    /// Whether a later one has the same words.
    is_repeated: bool,
}

/// How a unit is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitTreatment {
    /// It stays as it is.
    Stays,
    /// It is the newest step, and too large: its outputs are cut in place.
    Newest,
    /// A typed message that is cut in place.
    Message,
    /// A summary of the agent or a model that is too large: its sections are shortened.
    Summary,
    /// It becomes lines of a transcript.
    Folds,
}

/// How each unit of a view is treated.
#[derive(Debug)]
pub(crate) struct Layout {
    treatments: Vec<UnitTreatment>,
    /// Calls of the newest step whose arguments are cut, with the most characters of their strings.
    pub(crate) trims: Vec<(BlockRef, u32)>,
    /// Tokens that are left for lines.
    pub(crate) room: Tokens,
    /// Tokens for each summary that is cut.
    pub(crate) summary_room: Tokens,
    /// The most tokens of the lines of one run; 0 for no bound.
    pub(crate) max_lines: Tokens,
    /// For each passage, whether its typed message stays whole within the lines.
    pub(crate) whole: Vec<bool>,
    /// For each unit, whether it is a typed message whose words are kept within the lines.
    quoted: Vec<bool>,
    /// Whether one text has to do: a message that stayed in its place would part it.
    one_text: bool,
}

impl Layout {
    /// Lays a view out; `parting` is what a typed message in its place costs beside its words. Linear in the view.
    pub(crate) fn new(
        view: &View<'_>,
        source: &Source,
        worth: &Worth,
        goal: &Goal,
        settings: &Settings,
        parting: Tokens,
    ) -> Self {
        let units = view.units();
        let mut layout = Self {
            treatments: Vec::with_capacity(units.len()),
            trims: Vec::new(),
            room: 0,
            summary_room: 0,
            max_lines: 0,
            whole: vec![false; source.passages.len()],
            quoted: vec![false; units.len()],
            one_text: false,
        };
        let mut protected: Tokens = 0;
        for (index, unit) in units.iter().enumerate() {
            let place = match view.protection(index).may_leave() {
                true if unit.kind == UnitKind::Summary && !is_transcript(view, index) => UnitTreatment::Summary,
                true => UnitTreatment::Folds,
                false => UnitTreatment::Stays,
            };
            if place == UnitTreatment::Stays && view.protection(index) != Protection::NewestStep {
                protected += view.unit_tokens(index);
            }
            layout.treatments.push(place);
        }
        let room = goal.target.saturating_sub(protected);
        let share = |share: f64| (f64::from(room) * share) as Tokens;
        layout.one_text = goal.host.takes_one_text();
        let messages = layout.typed_messages(view, source, worth);
        let demands: Tokens =
            messages.iter().map(|message| message.demands.max(message.tokens.min(settings.short_message))).sum();
        layout.keep_typed(view, messages, share(settings.typed_share), settings.short_message, parting);
        let beside_demands = room.saturating_sub(demands).max(share(settings.least_newest_share));
        layout.keep_newest(view, share(settings.newest_share).min(beside_demands));
        layout.keep_summaries(view, share(settings.summary_share));
        layout.max_lines = goal.max_summary_tokens.unwrap_or(0);
        layout.keep_tail(view, share(settings.tail_share).max(layout.left_over(view, worth, source, goal)));
        layout.room = goal.target.saturating_sub(layout.staying(view));
        layout
    }

    /// Returns the tokens of the units that stay as they are.
    fn staying(&self, view: &View<'_>) -> Tokens {
        let stays = (0..self.treatments.len()).filter(|unit| self.treatments[*unit] == UnitTreatment::Stays);
        stays.map(|unit| kept_tokens(view, unit)).sum()
    }

    /// Returns the tokens that bounded lines leave unused: room for the newest units.
    fn left_over(&self, view: &View<'_>, worth: &Worth, source: &Source, goal: &Goal) -> Tokens {
        if self.max_lines == 0 {
            return 0;
        }
        let lines = self.max_lines.saturating_mul(self.runs().len() as Tokens);
        let cut = |passage: &&Passage| {
            matches!(self.treatments[passage.unit as usize], UnitTreatment::Message | UnitTreatment::Newest)
        };
        let cut = source.passages.iter().filter(cut).flat_map(|passage| passage.lines.clone());
        let cut: Tokens = cut.map(|line| worth.tokens[line as usize]).sum();
        let summaries = self.treatments.iter().filter(|place| **place == UnitTreatment::Summary).count() as Tokens;
        let taken = [self.staying(view), lines, cut, summaries.saturating_mul(self.summary_room)];
        goal.target.saturating_sub(taken.into_iter().fold(0, Tokens::saturating_add))
    }

    pub(crate) fn treatment(&self, unit: usize) -> UnitTreatment {
        self.treatments[unit]
    }

    /// Whether a typed message is kept, in its place or within the lines, and its long text shortened.
    pub(crate) fn keeps_words(&self, unit: usize) -> bool {
        self.treatments[unit] == UnitTreatment::Message || self.quoted[unit]
    }

    /// Whether a summary of others is to be kept, which can neither be shortened in its place nor become lines.
    pub(crate) fn has_foreign_text(&self) -> bool {
        self.one_text && self.treatments.contains(&UnitTreatment::Summary)
    }

    pub(crate) fn has_something_to_give(&self) -> bool {
        self.treatments.iter().any(|place| *place != UnitTreatment::Stays) || !self.trims.is_empty()
    }

    /// Returns the runs of neighbouring units that become lines.
    pub(crate) fn runs(&self) -> Vec<Range<u32>> {
        let mut runs: Vec<Range<u32>> = Vec::new();
        for (unit, place) in self.treatments.iter().enumerate() {
            let unit = unit as u32;
            match runs.last_mut() {
                Some(run) if *place == UnitTreatment::Folds && run.end == unit => run.end += 1,
                _ if *place == UnitTreatment::Folds => runs.push(unit..unit + 1),
                _ => {}
            }
        }
        runs
    }

    /// Keeps typed messages, the newest first, as long as they take no more than `share`; long ones, and those with
    /// text of the harness, keep lines. A message that stays in its place parts the transcript in two, so that one with no
    /// room for `parting` is quoted within the lines. Room is set aside for the words of the older ones, or, where all need
    /// more than `share`, for the demands in them, which become lines. Of messages with the same words the newest stays; a short one of the others is quoted
    /// within the lines, because "yes" answers another question each time, and a long one is treated like any other text.
    /// Pictures and files have the room that all the words leave, the newest first: a message whose picture leaves is quoted.
    fn keep_typed(
        &mut self,
        view: &View<'_>,
        messages: Vec<TypedMessage>,
        share: Tokens,
        short: Tokens,
        parting: Tokens,
    ) {
        let quoted = |message: &TypedMessage| message.tokens.min(short) + MARK_TOKENS.min(parting);
        let all: Tokens = messages.iter().map(quoted).sum();
        let aside_for = |message: &TypedMessage| if all > share { message.demands } else { quoted(message) };
        let mut aside: Tokens = messages.iter().map(aside_for).sum();
        let mut used = 0;
        let mut media_room = share.saturating_sub(all);
        for message in messages {
            let (within_lines, own_aside) = (quoted(&message), aside_for(&message));
            let TypedMessage { unit, tokens, media, passages, is_repeated, .. } = message;
            let is_short = tokens <= short;
            aside = aside.saturating_sub(own_aside);
            if used + within_lines + aside > share {
                aside += own_aside;
                continue;
            }
            let parts = unit > 0 && self.treatments[unit - 1] == UnitTreatment::Folds;
            let in_place = within_lines + if parts { parting } else { 0 };
            let has_place = used + in_place + aside <= share;
            used += if has_place { in_place } else { within_lines };
            let beside = view.unit_tokens(unit).saturating_sub(tokens + media);
            // A little text beside the typed words costs less than its marks would.
            let is_whole = is_short && beside <= tokens / 4 + LITTLE_BESIDE;
            self.quoted[unit] = self.one_text || is_repeated || media > media_room || !has_place;
            if !self.quoted[unit] {
                media_room -= media;
                self.treatments[unit] = if is_whole { UnitTreatment::Stays } else { UnitTreatment::Message };
            }
            if is_short {
                passages.iter().for_each(|passage| self.whole[*passage] = true);
            }
        }
    }

    /// Returns the typed messages that may become lines, the newest first; without long ones of which a later one has the
    /// same words.
    fn typed_messages(&self, view: &View<'_>, source: &Source, worth: &Worth) -> Vec<TypedMessage> {
        let mut of_unit: HashMap<u32, Vec<usize>> = HashMap::new();
        let typed = |passage: &Passage| passage.kind == PassageKind::Typed && passage.at.is_some();
        for (index, passage) in source.passages.iter().enumerate().filter(|(_, passage)| typed(passage)) {
            of_unit.entry(passage.unit).or_default().push(index);
        }
        let mut seen = HashSet::new();
        let mut messages: Vec<TypedMessage> = Vec::new();
        for unit in (0..view.units().len()).rev().filter(|unit| view.units()[*unit].kind == UnitKind::User) {
            let Some(passages) = of_unit.remove(&(unit as u32)) else { continue };
            let lines = || passages.iter().flat_map(|passage| source.passages[*passage].lines.clone());
            let said = key_of(lines().flat_map(|line| source.lines[line as usize].text().bytes()));
            let tokens = lines().map(|line| worth.tokens[line as usize]).sum();
            let is_repeated = !seen.insert(said);
            if (!is_repeated || tokens <= SHORT_REPLY) && self.treatments[unit] == UnitTreatment::Folds {
                let demands = lines().filter(|line| source.lines[*line as usize].demand > 0.0);
                let demands = demands.map(|line| worth.tokens[line as usize] + MARK_TOKENS).sum();
                let media = media_tokens(view, unit);
                messages.push(TypedMessage { unit, tokens, demands, media, passages, is_repeated });
            }
        }
        messages
    }

    /// Keeps the newest step; where it takes more than `share`, giant arguments shrink first, then its outputs.
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
        self.treatments[newest] = UnitTreatment::Newest;
    }

    /// Keeps the summaries of others whole while they fit into `share` together.
    fn keep_summaries(&mut self, view: &View<'_>, share: Tokens) {
        let summaries: Vec<usize> =
            (0..self.treatments.len()).filter(|unit| self.treatments[*unit] == UnitTreatment::Summary).collect();
        let tokens: Tokens = summaries.iter().map(|unit| view.unit_tokens(*unit)).sum();
        if tokens <= share && !self.one_text {
            summaries.iter().for_each(|unit| self.treatments[*unit] = UnitTreatment::Stays);
        }
        self.summary_room = share / summaries.len().max(1) as Tokens;
    }

    /// Keeps the newest units as they are while they fit into `share` together.
    fn keep_tail(&mut self, view: &View<'_>, mut share: Tokens) {
        for unit in (0..self.treatments.len()).rev().filter(|unit| view.units()[*unit].kind != UnitKind::System) {
            if self.treatments[unit] != UnitTreatment::Folds {
                continue;
            }
            let Some(left) = share.checked_sub(kept_tokens(view, unit)) else {
                // Where lines are bounded, room that a unit leaves would stay unused.
                if self.max_lines > 0 && !self.one_text { continue } else { break }
            };
            share = left;
            self.treatments[unit] = UnitTreatment::Stays;
        }
    }
}

/// Returns the tokens of a unit that stays: signed thinking behind the first change leaves, but for the newest step.
fn kept_tokens(view: &View<'_>, unit: usize) -> Tokens {
    if view.protection(unit) != Protection::Free {
        return view.unit_tokens(unit);
    }
    view.unit_tokens(unit).saturating_sub(view.signed_thinking(unit))
}

/// Returns the tokens of a unit's pictures and files.
fn media_tokens(view: &View<'_>, unit: usize) -> Tokens {
    let blocks = view.units()[unit].entries.clone().flat_map(|position| {
        let blocks = view.message(position).blocks.iter().enumerate();
        let media = blocks.filter(|(_, block)| matches!(block.content, Content::Media(_)));
        media.map(move |(block, _)| BlockRef { message: position as u32, block: block as u32 })
    });
    blocks.map(|at| view.block_tokens(at)).sum()
}

fn is_transcript(view: &View<'_>, unit: usize) -> bool {
    epitome_reading::transcript(view.message(view.units()[unit].entries.start)).is_some()
}
