//! The chunks of a view: earlier summaries, full chunks, and the growing one.

use epitome_strategy::{Origin, Tokens, UnitKind, View};

use crate::Settings;

/// Units that become one summary.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chunk {
    /// Those of its units that may leave, in order.
    pub(crate) units: Vec<u32>,
    /// Their tokens.
    pub(crate) tokens: Tokens,
    /// Its rounds; for earlier summaries, how many there are.
    pub(crate) count: usize,
    /// Whether it is made of earlier summaries.
    pub(crate) is_fold: bool,
    /// How many earlier summaries stand in front of it: chunks of different runs are never joined.
    run: usize,
}

impl Chunk {
    fn take(&mut self, view: &View<'_>, unit: usize) {
        if view.protection(unit).may_leave() {
            self.units.push(unit as u32);
            self.tokens += view.unit_tokens(unit);
        }
    }
}

/// An earlier summary that may leave.
#[derive(Debug, Clone, Copy)]
struct EarlierSummary {
    unit: u32,
    tokens: Tokens,
    /// Its level of summary; `None` for a notice, which has no content to summarise.
    level: Option<u32>,
}

/// The earlier summaries of a view, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Summaries {
    all: Vec<EarlierSummary>,
    /// How many of them are summaries and not notices.
    pub(crate) count: usize,
}

impl Summaries {
    fn push(&mut self, view: &View<'_>, unit: usize) {
        let first = view.units()[unit].entries.start;
        let is_summary = view.message(first).origin == Origin::Summary;
        let level = is_summary.then(|| view.summary_level(first));
        self.count += usize::from(is_summary);
        self.all.push(EarlierSummary { unit: unit as u32, tokens: view.unit_tokens(unit), level });
    }

    /// Returns the summaries that may be folded into one: those up to a level of which there are two or more. Each fold
    /// contains more than the one before it. Notices go with any of them.
    ///
    /// So a summary of one level is of two or more of the level below, and a fact is written anew at most as often as the
    /// number of summaries can be halved.
    pub(crate) fn folds(&self) -> impl Iterator<Item = Chunk> {
        let mut levels: Vec<u32> = self.all.iter().filter_map(|earlier| earlier.level).collect();
        levels.sort_unstable();
        let of_two = |pair: &[u32]| (pair[0] == pair[1]).then_some(pair[0]);
        let mut twice: Vec<u32> = levels.windows(2).filter_map(of_two).collect();
        twice.dedup();
        twice.into_iter().map(|highest| self.up_to(highest))
    }

    /// Returns all summaries up to a level, as one chunk.
    fn up_to(&self, highest: u32) -> Chunk {
        let mut fold = Chunk { is_fold: true, ..Chunk::default() };
        for earlier in self.all.iter().filter(|earlier| earlier.level.is_none_or(|level| level <= highest)) {
            fold.units.push(earlier.unit);
            fold.tokens += earlier.tokens;
            fold.count += usize::from(earlier.level.is_some());
        }
        fold
    }
}

/// The chunks of a view.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    /// The earlier summaries that may leave.
    pub(crate) summaries: Summaries,
    /// Chunks that are followed by more, oldest first.
    pub(crate) full: Vec<Chunk>,
    /// The newest chunk, full or not.
    pub(crate) last: Chunk,
}

impl Chunks {
    /// Divides a view. A chunk starts behind each earlier summary, after `chunk_rounds` rounds, and where a unit would
    /// take the chunk over its share of `target`. Linear in the view.
    pub(crate) fn new(view: &View<'_>, settings: &Settings, target: Tokens) -> Self {
        let most_tokens = (f64::from(target) * settings.max_chunk_share) as Tokens;
        let mut chunks = Self::default();
        let mut steps = 0;
        for (index, unit) in view.units().iter().enumerate() {
            let starts_round = match unit.kind {
                UnitKind::System => continue,
                UnitKind::Summary => {
                    chunks.close();
                    if view.protection(index).may_leave() {
                        chunks.summaries.push(view, index);
                    }
                    steps = 0;
                    continue;
                }
                UnitKind::User => {
                    steps = 0;
                    true
                }
                UnitKind::Step => {
                    steps += 1;
                    let is_full = steps > settings.steps_per_round;
                    if is_full {
                        steps = 1;
                    }
                    // Text in front of the first typed message is a round too.
                    is_full || chunks.last.count == 0
                }
                UnitKind::Injected | UnitKind::Orphan => false,
            };
            let grows = if view.protection(index).may_leave() { view.unit_tokens(index) } else { 0 };
            let rounds_full = starts_round && chunks.last.count as u32 >= settings.chunk_rounds;
            let is_too_large = chunks.last.tokens + grows > most_tokens;
            if rounds_full {
                chunks.close();
            } else if is_too_large && grows > 0 {
                chunks.close_in_front_of(view, index);
            }
            chunks.last.count += usize::from(starts_round || chunks.last.count == 0);
            chunks.last.take(view, index);
        }
        // A last chunk of nothing but what is protected (the newest question, say) leaves the model without the exchange in
        // front of it: then the one before is the last.
        if chunks.last.units.is_empty() && chunks.full.last().is_some_and(|full| full.run == chunks.summaries.count) {
            chunks.last = chunks.full.pop().unwrap_or_default();
        }
        chunks
    }

    /// The last chunk is full, or ends at an earlier summary.
    fn close(&mut self) {
        let run = self.summaries.count;
        let full = std::mem::take(&mut self.last);
        if !full.units.is_empty() {
            self.full.push(Chunk { run, ..full });
        }
    }

    /// The same, but a question is not parted from the answer that `unit` is.
    fn close_in_front_of(&mut self, view: &View<'_>, unit: usize) {
        let question = (unit as u32).checked_sub(1).filter(|before| {
            let is_question = view.units()[*before as usize].kind == UnitKind::User;
            is_question && view.units()[unit].kind == UnitKind::Step && self.last.units.last() == Some(before)
        });
        let Some(question) = question.filter(|_| self.last.units.len() > 1) else { return self.close() };
        self.last.units.pop();
        self.last.tokens -= view.unit_tokens(question as usize);
        self.last.count -= 1;
        self.close();
        self.last.count = 1;
        self.last.take(view, question as usize);
    }
}

/// Neighbouring chunks joined so that about `groups` of equal numbers are left. Linear.
pub(crate) fn merge_chunks(chunks: &[Chunk], groups: usize) -> Vec<Chunk> {
    let size = chunks.len().div_ceil(groups.max(1)).max(1);
    let mut joined: Vec<(usize, Chunk)> = Vec::new();
    for chunk in chunks {
        match joined.last_mut() {
            Some((parts, last)) if *parts < size && last.run == chunk.run => {
                *parts += 1;
                last.units.extend(&chunk.units);
                last.tokens += chunk.tokens;
                last.count += chunk.count;
            }
            _ => joined.push((1, chunk.clone())),
        }
    }
    joined.into_iter().map(|(_, chunk)| chunk).collect()
}
