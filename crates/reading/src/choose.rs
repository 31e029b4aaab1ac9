//! Chooses the lines to keep: again and again the one that adds most for its tokens, until the room is used.

use epitome_strategy::keys::KeyMap;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::heads::Heads;
use crate::passage::PassageKind;
use crate::source::Source;
use crate::worth::{TOPIC, Worth};

/// The overhead of a line beside its own tokens: a share of marks and line feeds.
const LINE_TOKENS: f32 = 1.0;

/// The factor for a line next to a kept one: a fact spans neighbouring lines, and a lone line has lost its subject.
const NEAR: f32 = 1.6;
/// Kept tokens of a passage at which a further line of it is worth half: of tool outputs, and of speech.
const LONG_PASSAGE: f32 = 400.0;
const LONG_SPEECH: f32 = 3_000.0;
/// The power of a line's tokens that its worth is divided by: a little under 1, because a long line is rarely as dense.
const PRICE: f32 = 0.9;

/// The state of a choice. Each heap entry has the worth of a line per token when it entered. Taking a line makes its
/// terms worth less elsewhere, so entries go out of date: [`take_until`](Self::take_until) values the top anew and puts
/// it back where the next entry is better. Lines next to a taken one gain, so they enter again with their new value;
/// the old entry is skipped once the line is kept.
#[derive(Debug)]
pub struct Choice<'c> {
    source: &'c Source,
    worth: &'c Worth,
    /// Whether each line is kept.
    pub kept: Vec<bool>,
    /// Whether each line takes part at all.
    open: Vec<bool>,
    /// How many kept lines have each term.
    shown: Vec<u8>,
    /// How many kept lines of a passage have a term, by passage and term.
    told: KeyMap<u8>,
    /// Tokens of the kept lines of each passage.
    taken: Vec<u32>,
    heap: BinaryHeap<Candidate>,
    /// Tokens of all kept lines.
    pub used: u32,
    /// The lines in the order in which they were taken.
    pub order: Vec<u32>,
    /// The bound for the lines of each run.
    runs: Bounds,
    heads: Heads,
}

/// The bound for the lines of each run of units, and the tokens that they take.
#[derive(Debug, Default)]
pub struct Bounds {
    /// The run of each passage; `None` where its lines have no bound.
    pub of_passage: Vec<Option<u32>>,
    /// The most tokens that the lines of each run may take.
    pub most: Vec<u32>,
    used: Vec<u32>,
}

impl Bounds {
    /// Returns bounds of `most` tokens for runs: `of_passage` has the run of each passage.
    pub fn new(of_passage: Vec<Option<u32>>, most: Vec<u32>) -> Self {
        Self { of_passage, used: vec![0; most.len()], most }
    }

    fn run(&self, passage: u32) -> Option<usize> {
        self.of_passage.get(passage as usize).copied().flatten().map(|run| run as usize)
    }

    fn has_room(&self, passage: u32, tokens: u32) -> bool {
        self.run(passage).is_none_or(|run| self.used[run].saturating_add(tokens) <= self.most[run])
    }
}

#[derive(Debug)]
struct Candidate {
    density: f32,
    line: u32,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.density.total_cmp(&other.density).then_with(|| other.line.cmp(&self.line))
    }
}

impl<'c> Choice<'c> {
    /// Returns a choice among the lines of the passages for which `is_open` holds; the lines of those for which `stays`
    /// holds are shown anyway. Linear in the lines.
    pub fn new(
        source: &'c Source,
        worth: &'c Worth,
        is_open: impl Fn(usize) -> bool,
        stays: impl Fn(usize) -> bool,
    ) -> Self {
        let mut choice = Self {
            source,
            worth,
            kept: vec![false; source.lines.len()],
            open: vec![false; source.lines.len()],
            shown: vec![0; worth.of_term.len()],
            told: KeyMap::default(),
            taken: vec![0; source.passages.len()],
            heap: BinaryHeap::new(),
            used: 0,
            order: Vec::new(),
            runs: Bounds::default(),
            heads: Heads::default(),
        };
        for (number, passage) in source.passages.iter().enumerate() {
            if stays(number) {
                for line in passage.lines.clone() {
                    choice.show(line);
                }
            } else if is_open(number) {
                choice.open[passage.lines.start as usize..passage.lines.end as usize].fill(true);
            }
        }
        // Outdated text misleads.
        for (open, replaced) in choice.open.iter_mut().zip(&worth.replaced) {
            *open &= !replaced;
        }
        choice.heads = Heads::new(source, worth, &choice.open);
        let open = (0..source.lines.len() as u32).filter(|line| choice.open[*line as usize]);
        choice.heap = open.map(|line| Candidate { density: choice.density(line), line }).collect();
        choice
    }

    /// Sets bounds for the lines of runs.
    pub fn with_bounds(mut self, runs: Bounds) -> Self {
        self.runs = runs;
        self
    }

    /// Lowers the bound of a run to `over` tokens under what its lines take, and removes the lines that were taken
    /// last.
    pub fn shrink(&mut self, run: usize, over: u32) {
        self.runs.most[run] = self.runs.used[run].saturating_sub(over);
        let mut at = self.order.len();
        let mut others = Vec::new();
        while at > 0
            && (self.runs.used[run] > self.runs.most[run] || is_orphan(&self.heads, &self.kept, self.order[at - 1]))
        {
            at -= 1;
            let line = self.order[at];
            if self.runs.run(self.source.lines[line as usize].passage) == Some(run) {
                self.forget(line);
            } else {
                others.push(line);
            }
        }
        self.order.truncate(at);
        self.order.extend(others.into_iter().rev());
    }

    /// Takes lines until they make `room` tokens; a line that is too long for the rest is passed over. Can be called
    /// again with more room.
    pub fn take_until(&mut self, room: u32) {
        self.take_among(room, |_| true);
    }

    /// Takes lines for which `is_among` holds until all taken ones make `room` tokens.
    pub fn take_among(&mut self, room: u32, is_among: impl Fn(u32) -> bool) {
        let (mut passed, mut others) = (Vec::new(), Vec::new());
        while let Some(Candidate { density, line }) = self.heap.pop() {
            if self.kept[line as usize] {
                continue;
            }
            if !is_among(line) {
                others.push(Candidate { density, line });
                continue;
            }
            let now = self.density(line);
            if self.heap.peek().is_some_and(|next| now < next.density) && now < density {
                self.heap.push(Candidate { density: now, line });
                continue;
            }
            let cost = self.cost(line);
            if !self.runs.has_room(self.source.lines[line as usize].passage, cost) {
                continue;
            }
            if self.used + cost > room {
                passed.push(Candidate { density: now, line });
                // Little is left: a line that is passed over now would be passed over to the end.
                if self.used + 8 > room || passed.len() > MOST_PASSED {
                    break;
                }
                continue;
            }
            self.take_with_heads(line);
        }
        self.heap.extend(passed);
        self.heap.extend(others);
    }

    /// Takes these lines, in their order, until all taken ones make `room` tokens; one that is too long for the rest is passed over.
    pub fn take_in_order(&mut self, room: u32, lines: impl IntoIterator<Item = u32>) {
        for line in lines {
            let is_left = self.open[line as usize] && !self.kept[line as usize];
            let cost = self.cost(line);
            let has_room = self.runs.has_room(self.source.lines[line as usize].passage, cost);
            if is_left && has_room && self.used + cost <= room {
                self.take_with_heads(line);
            }
        }
    }

    /// Whether a line takes part in the choice.
    pub fn is_open(&self, line: u32) -> bool {
        self.open[line as usize]
    }

    /// Takes a line whatever its cost, below what it stands under.
    pub fn take_with_heads(&mut self, line: u32) {
        let heads: Vec<u32> = self.missing_heads(line).collect();
        heads.into_iter().rev().for_each(|head| self.take(head));
        self.take(line);
    }

    /// Takes a line whatever its cost, and the lines that it is kept with. What is introduced is taken first, so that
    /// what introduces it is the first to be taken back; the line of a call precedes its outcome, for the same reason.
    pub fn take(&mut self, line: u32) {
        let companion = self.companion(line);
        if self.is_call(line) {
            self.take_one(line);
            companion.into_iter().for_each(|line| self.take_one(line));
        } else {
            companion.into_iter().for_each(|line| self.take(line));
            self.take_one(line);
        }
    }

    fn take_one(&mut self, line: u32) {
        if std::mem::replace(&mut self.kept[line as usize], true) {
            return;
        }
        self.order.push(line);
        let passage = self.source.lines[line as usize].passage;
        let tokens = self.worth.tokens[line as usize];
        self.used += tokens;
        self.taken[passage as usize] += tokens;
        if let Some(run) = self.runs.run(passage) {
            self.runs.used[run] += tokens;
        }
        self.show(line);
        if self.source.passages[passage as usize].kind == PassageKind::Output {
            for term in self.worth.terms_of(line) {
                let told = self.told.entry(key(passage, *term)).or_default();
                *told = told.saturating_add(1);
            }
        }
        for neighbour in self.neighbours(line).into_iter().flatten() {
            if !self.kept[neighbour as usize] && self.open[neighbour as usize] {
                self.heap.push(Candidate { density: self.density(neighbour), line: neighbour });
            }
        }
    }

    /// Removes the line that was taken last, with what was taken before it and stands under it. Returns it.
    pub fn take_back(&mut self) -> Option<u32> {
        let line = self.order.pop()?;
        self.forget(line);
        while let Some(orphan) = self.order.pop_if(|line| is_orphan(&self.heads, &self.kept, *line)) {
            self.forget(orphan);
        }
        Some(line)
    }

    /// Takes back all that [`take_one`](Self::take_one) did: the line may be taken again.
    fn forget(&mut self, line: u32) {
        let tokens = self.worth.tokens[line as usize];
        let passage = self.source.lines[line as usize].passage;
        self.kept[line as usize] = false;
        self.used -= tokens;
        self.taken[passage as usize] -= tokens;
        if let Some(run) = self.runs.run(passage) {
            self.runs.used[run] -= tokens;
        }
        for term in self.worth.terms_of(line) {
            let shown = &mut self.shown[*term as usize];
            *shown = shown.saturating_sub(1);
            if let Some(told) = self.told.get_mut(&key(passage, *term)) {
                *told = told.saturating_sub(1);
            }
        }
        if self.open[line as usize] {
            self.heap.push(Candidate { density: self.density(line), line });
        }
    }

    fn show(&mut self, line: u32) {
        for term in self.worth.terms_of(line) {
            let shown = &mut self.shown[*term as usize];
            *shown = shown.saturating_add(1);
        }
    }

    /// Returns the tokens that a line adds: its own, those of the lines that it is kept with, and of a mark where neither
    /// neighbour is kept.
    fn cost(&self, line: u32) -> u32 {
        let tokens: u32 = self.with_companions(line).map(|line| self.worth.tokens[line as usize]).sum();
        tokens + u32::from(!self.is_near(line))
    }

    /// Returns the worth that a line adds for each token of its cost.
    fn density(&self, line: u32) -> f32 {
        let passage = self.source.lines[line as usize].passage;
        let kind = self.source.passages[passage as usize].kind;
        let mut worth = self.own_worth(line);
        let taken = self.taken[passage as usize] as f32;
        worth /= match kind {
            PassageKind::Output | PassageKind::Argument | PassageKind::Injected => 1.0 + taken / LONG_PASSAGE,
            PassageKind::Commentary | PassageKind::Answer => 1.0 + taken / LONG_SPEECH,
            PassageKind::Typed | PassageKind::SpokenThroughTool | PassageKind::Call => 1.0,
        };
        worth += self.with_companions(line).skip(1).map(|line| self.own_worth(line)).sum::<f32>();
        if self.is_near(line) {
            worth *= NEAR;
        }
        worth / (self.cost(line) as f32 + LINE_TOKENS).powf(PRICE)
    }

    fn own_worth(&self, line: u32) -> f32 {
        let (start, end) = self.worth.spans[line as usize];
        let passage = self.source.lines[line as usize].passage;
        let is_output = self.source.passages[passage as usize].kind == PassageKind::Output;
        let (mut named, mut near) = (0.0, 0.0);
        for at in start as usize..end as usize {
            let term = self.worth.terms[at];
            let of_term = self.worth.of_term[term as usize];
            named += of_term * fade_factor(self.shown[term as usize]);
            if is_output && self.worth.topic[at] > 0.0 {
                let told = self.told.get(&key(passage, term)).copied().unwrap_or(0);
                near += self.worth.topic[at] * fade_factor(told);
            }
        }
        self.worth.factor[line as usize] * named + self.worth.flat[line as usize] + TOPIC * near
    }

    /// Returns what a line stands under: the item of a list, the heading of a section, or the line of its call.
    fn head(&self, line: u32) -> Option<u32> {
        let passage = &self.source.passages[self.source.lines[line as usize].passage as usize];
        let call = passage.action.filter(|_| passage.kind != PassageKind::Call);
        self.heads.above(line).or_else(|| call.map(|action| self.source.actions[action as usize].head))
    }

    /// Returns what a line stands under and is not kept yet, the innermost first.
    fn missing_heads(&self, line: u32) -> impl Iterator<Item = u32> + '_ {
        let unkept = |line: u32| self.head(line).filter(|head| !self.kept[*head as usize]);
        std::iter::successors(unkept(line), move |line| unkept(*line))
    }

    fn is_call(&self, line: u32) -> bool {
        self.source.passages[self.source.lines[line as usize].passage as usize].kind == PassageKind::Call
    }

    /// Returns the line that a line is kept with, where it is not kept yet.
    fn companion(&self, line: u32) -> Option<u32> {
        self.heads.brought_by(line).filter(|other| !self.kept[*other as usize])
    }

    /// Returns a line with everything that is taken with it: its companions, what it stands under and these ones'.
    fn with_companions(&self, line: u32) -> impl Iterator<Item = u32> + '_ {
        let chain = move |line: u32| std::iter::successors(self.companion(line), |line| self.companion(*line));
        let of_heads = self.missing_heads(line).flat_map(move |head| std::iter::once(head).chain(chain(head)));
        std::iter::once(line).chain(chain(line)).chain(of_heads.filter(move |other| *other != line))
    }

    fn neighbours(&self, line: u32) -> [Option<u32>; 2] {
        let lines = &self.source.passages[self.source.lines[line as usize].passage as usize].lines;
        [line.checked_sub(1).filter(|before| *before >= lines.start), Some(line + 1).filter(|next| *next < lines.end)]
    }

    /// Whether a line is next to a kept one, or begins its passage.
    fn is_near(&self, line: u32) -> bool {
        let [before, next] = self.neighbours(line);
        before.is_none_or(|before| self.kept[before as usize]) || next.is_some_and(|next| self.kept[next as usize])
    }
}

/// Whether what a line stands under is not kept.
fn is_orphan(heads: &Heads, kept: &[bool], line: u32) -> bool {
    heads.above(line).is_some_and(|above| !kept[above as usize])
}

/// The most lines that are passed over, as too long for the rest, before a choice ends.
const MOST_PASSED: usize = 200;

fn key(passage: u32, term: u32) -> u64 {
    (u64::from(passage) << 32 | u64::from(term)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Returns the rest of a worth after it was shown this many times: half each time.
fn fade_factor(times: u8) -> f32 {
    match times {
        0 => 1.0,
        1..=24 => 1.0 / (1_u32 << times) as f32,
        _ => 0.0,
    }
}
