//! The step behind the chain that uses the room: what left comes back whole while it fits the target.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use epitome_session::{AppliedEdit, Change, EntryKey, Origin, Unit, UnitKind};
use epitome_strategy::{HostChanges, Lossiness, Tokens};

use crate::editor::Editor;
use crate::floor::NOTICE_ROOM;
use crate::guard::Refusal;
use crate::ledger::count_message;
use crate::protect::are_one_row;
use crate::request::Chain;
use crate::stages::{REPAIR, THINKING};
use crate::working::WorkingView;

pub(crate) const REFILL: &str = "refill";

/// One in so many tokens of the target: what a summary tells comes back only while more than that is free, because it
/// stands there twice then.
const TOLD_SHARE: Tokens = 50;

/// One in so many tokens of the target is the most that is left for notices of what stays away.
const NOTICE_SHARE: Tokens = 32;

/// Tokens by which a summary has to stay shorter than what it stands for: another count and handle may lengthen it.
const HEADING_CHANGE: Tokens = 8;

/// The most passes: thinking that leaves behind what came back makes room again.
const MOST_PASSES: usize = 8;

/// The view in front of the chain, and whose edits stay.
pub(crate) struct BeforeChain<'b> {
    pub view: &'b WorkingView,
    /// Where each message of it stands.
    pub places: HashMap<EntryKey, usize>,
    /// Strategies that take out what the context has elsewhere: that does not come back.
    redundant: HashSet<&'static str>,
}

impl<'b> BeforeChain<'b> {
    /// Returns the view in front of a chain. Linear in the view.
    pub(crate) fn new(view: &'b WorkingView, chain: &Chain) -> Self {
        let metas = chain.0.iter().map(|strategy| strategy.meta());
        Self {
            view,
            places: view.entries().iter().map(|entry| entry.key).zip(0..).collect(),
            redundant: metas.filter(|meta| meta.lossiness == Lossiness::Redundant).map(|meta| meta.id).collect(),
        }
    }
}

/// What comes back in one pass.
#[derive(Default)]
pub(crate) struct Returns {
    /// Whole messages: of the view before the chain, and texts of this compaction that had left again.
    pub messages: HashSet<EntryKey>,
    /// Texts and arguments that were cut.
    pub blocks: HashSet<(EntryKey, u32)>,
    /// How many units and texts these are.
    pub count: u32,
}

/// What became of a message that is not shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It left, and nothing tells what it said.
    Untold,
    /// The text of this number stands for it.
    Told(u32),
    /// It does not come back: it is told elsewhere, by a text that left again, or no edit of the chain removed it.
    Final,
}

/// Something that may come back.
struct Candidate {
    /// The worthiest first, and of equal worth the newest.
    rank: (u8, Reverse<usize>),
    tokens: Tokens,
    /// Its messages by their places in the view before the chain; for a text, the stretch that it stands for.
    stretch: Range<usize>,
    is_message: bool,
    keys: Vec<EntryKey>,
    block: Option<u32>,
}

impl Editor<'_> {
    /// Gives back whole what the chain and the floor took out, as long as the view takes no more than `most` tokens: what
    /// people typed and summaries that had left again first, then what the model said, then steps with results, each from
    /// the newest back. What a summary stands for comes back from its end alone, so that everything keeps its order, and
    /// only while the summary stays shorter than the rest. Returns how many units and texts came back.
    ///
    /// Linear in the view before the chain and the edits for each of a bounded number of passes, but for sorting.
    pub(crate) fn refill(&mut self, before: &BeforeChain<'_>, most: Tokens) -> Result<u32, Refusal> {
        self.working.settle();
        let mut count = 0;
        for _ in 0..MOST_PASSES {
            self.context.go_on()?;
            let returns = self.choose_returns(before, most);
            if returns.count == 0 {
                break;
            }
            count += returns.count;
            self.bring_back(before, returns)?;
            self.entail_unless_cancelled()?;
        }
        Ok(count)
    }

    fn choose_returns(&self, before: &BeforeChain<'_>, most: Tokens) -> Returns {
        let ledger = Removed::new(self, before);
        let start = before.view;
        let fates: Vec<Option<Fate>> = start.entries().iter().map(|entry| ledger.fate(entry.key)).collect();
        let mut taken: Vec<bool> = fates.iter().map(Option::is_none).collect();
        let mut told = vec![false; fates.len()];
        for (text, stretch) in ledger.stretches(start) {
            // Notices are written anew where the host takes that.
            if ledger.is_shown(text) && (ledger.is_summary(text) || self.working.host != HostChanges::Any) {
                told[stretch].fill(true);
            }
        }
        let mut candidates = self.untold_units(start, &fates);
        candidates.extend(self.texts_that_left(&ledger, start));
        candidates.extend(self.cut_texts_shown(&ledger, before));
        candidates.sort_by_key(|it| it.rank);
        let gaps = fates.chunk_by(|one, next| one == next).filter(|run| run[0] == Some(Fate::Untold)).count();
        let notices = NOTICE_ROOM.saturating_mul(gaps as Tokens).min(most / NOTICE_SHARE);
        let mut room = most.saturating_sub(self.working.total).saturating_sub(notices);
        let mut returns = Returns::default();
        for candidate in candidates {
            let is_beside = |at: usize| told[at] || candidate.block.is_none() && !candidate.is_message && taken[at];
            let fits = candidate.tokens <= room && (candidate.block.is_some() || !candidate.stretch.clone().any(is_beside));
            if !fits {
                continue;
            }
            room -= candidate.tokens;
            returns.count += 1;
            match candidate.block {
                Some(block) => returns.blocks.extend(candidate.keys.iter().map(|key| (*key, block))),
                None => {
                    let marks = if candidate.is_message { &mut taken } else { &mut told };
                    marks[candidate.stretch].fill(true);
                    returns.messages.extend(candidate.keys);
                }
            }
        }
        self.choose_told(&ledger, before, most, room, &mut returns);
        returns
    }

    /// Returns the units that left and of which nothing tells.
    fn untold_units(&self, start: &WorkingView, fates: &[Option<Fate>]) -> Vec<Candidate> {
        let host = self.working.host;
        if !matches!(host, HostChanges::Any | HostChanges::Removals) {
            return Vec::new();
        }
        let layout = start.layout(self.context.pins);
        let is_part = |at: usize| {
            let is_one = |one: usize, next: usize| are_one_row(start.entries(), &layout.units[one], &layout.units[next]);
            at > 0 && is_one(at - 1, at) || at + 1 < layout.units.len() && is_one(at, at + 1)
        };
        let candidate = |(at, unit): (usize, &Unit)| {
            let is_untold = fates[unit.entries.clone()].iter().all(|fate| *fate == Some(Fate::Untold));
            // A host of one text has none beside the one of this compaction.
            if !is_untold || host != HostChanges::Any && (is_part(at) || unit.kind == UnitKind::Summary) {
                return None;
            }
            let messages = &start.entries()[unit.entries.clone()];
            let worth = match unit.kind {
                UnitKind::User | UnitKind::Summary => 0,
                UnitKind::Step if messages.len() == 1 && messages[0].message.calls().next().is_none() => 1,
                _ => 2,
            };
            Some(Candidate {
                rank: (worth, Reverse(unit.entries.start)),
                tokens: start.tokens()[unit.entries.clone()].iter().map(|it| it.total).sum(),
                stretch: unit.entries.clone(),
                is_message: true,
                keys: messages.iter().map(|entry| entry.key).collect(),
                block: None,
            })
        };
        layout.units.iter().enumerate().filter_map(candidate).collect()
    }

    /// Returns the summaries of this compaction that left again and in whose place nothing stands.
    fn texts_that_left(&self, ledger: &Removed<'_>, start: &WorkingView) -> Vec<Candidate> {
        if self.working.host != HostChanges::Any {
            return Vec::new();
        }
        let left = ledger.stretches(start).into_iter().filter(|(text, _)| {
            ledger.is_summary(*text) && ledger.fate(ledger.key(*text)) == Some(Fate::Untold)
        });
        left.map(|(text, stretch)| Candidate {
            rank: (0, Reverse(stretch.start)),
            tokens: count_message(self.context.counter, &self.working.synthetics[text as usize].message).total,
            stretch,
            is_message: false,
            keys: vec![ledger.key(text)],
            block: None,
        })
        .collect()
    }

    /// Returns the texts and arguments of what is shown that were cut.
    fn cut_texts_shown(&self, ledger: &Removed<'_>, before: &BeforeChain<'_>) -> Vec<Candidate> {
        let mut found: HashMap<(EntryKey, u32), bool> = HashMap::new();
        for edit in &self.working.edits[before.view.edits.len()..] {
            let is_final = before.redundant.contains(&*edit.strategy);
            for change in &edit.changes {
                if let Change::Excerpt { entry, block, .. } | Change::Trim { entry, block, .. } = change {
                    *found.entry((*entry, *block)).or_default() |= is_final;
                }
            }
        }
        found.retain(|_, is_final| !*is_final);
        let candidate = |((key, block), _): ((EntryKey, u32), bool)| {
            let now = *ledger.shown.get(&key)?;
            let base = self.base(before, key)?;
            let whole = base.tokens.blocks[block as usize];
            let message = &self.working.entries()[now].message;
            let worth = match &message.blocks[block as usize] {
                cut if cut.as_result().is_some() || cut.as_call().is_some() => 2,
                _ if message.is_typed() || message.origin == Origin::Summary => 0,
                _ => 1,
            };
            Some(Candidate {
                rank: (worth, Reverse(now)),
                tokens: whole.saturating_sub(self.working.tokens()[now].blocks[block as usize]),
                stretch: 0..0,
                is_message: false,
                keys: vec![key],
                block: Some(block),
            })
        };
        let mut candidates: Vec<Candidate> = found.into_iter().filter_map(candidate).collect();
        candidates.sort_by_key(|it| (it.rank, it.block));
        candidates
    }

    /// Adds what texts stand for, from the end of each, the newest text first.
    fn choose_told(
        &self,
        ledger: &Removed<'_>,
        before: &BeforeChain<'_>,
        most: Tokens,
        mut room: Tokens,
        returns: &mut Returns,
    ) {
        let start = before.view;
        let layout = start.layout(self.context.pins);
        let told = |edit: &&AppliedEdit| {
            let text = edit.into.filter(|text| ledger.fate_of_text(*text, before, edit) == Some(Fate::Told(*text)));
            // A text that the floor cut has another heading than its own.
            text.is_some_and(|text| self.working.unchanged_tokens(ledger.key(text)).is_some())
        };
        for edit in self.working.edits[start.edits.len()..].iter().rev().filter(told) {
            let is_summary = edit.into.is_some_and(|text| ledger.is_summary(text));
            let keys: HashSet<EntryKey> = edit.changes.iter().map(Change::entry).collect();
            let mut left = edit.changes.len();
            let mut saved = edit.tokens_saved;
            while left > 0 && (!is_summary || room > most / TOLD_SHARE) {
                let Some(last) = before.places.get(&edit.changes[left - 1].entry()) else { break };
                let at = layout.units.partition_point(|unit| unit.entries.end <= *last);
                let unit = &layout.units[at];
                let is_part = at > 0 && are_one_row(start.entries(), &layout.units[at - 1], unit)
                    || start.host != HostChanges::Any && unit.kind == UnitKind::Summary;
                let messages = &start.entries()[unit.entries.clone()];
                let tokens: Tokens = start.tokens()[unit.entries.clone()].iter().map(|it| it.total).sum();
                let removed = messages.iter().filter_map(|entry| self.working.removed(entry.key));
                let Some(rest) = saved.checked_sub(removed.map(|it| it.tokens).sum()) else { break };
                let is_whole = messages.iter().all(|entry| keys.contains(&entry.key)) && messages.len() < left;
                if !is_whole || is_part || tokens > room || rest < HEADING_CHANGE {
                    break;
                }
                (room, saved, left) = (room - tokens, rest, left - messages.len());
                returns.messages.extend(messages.iter().map(|entry| entry.key));
                returns.count += 1;
            }
        }
    }
}

/// Which edit of the chain removed what, and what stands for it.
struct Removed<'r> {
    working: &'r WorkingView,
    epoch: u32,
    /// The edit that removed each.
    edits: HashMap<EntryKey, usize>,
    /// Whether the edits of a number are final.
    is_final: Vec<bool>,
    /// Where what is shown stands.
    shown: HashMap<EntryKey, usize>,
}

impl<'r> Removed<'r> {
    fn new(editor: &'r Editor<'_>, before: &BeforeChain<'_>) -> Self {
        let working = &editor.working;
        let mut edits = HashMap::new();
        for (number, edit) in working.edits.iter().enumerate().skip(before.view.edits.len()) {
            let removed = edit.changes.iter().filter(|change| matches!(change, Change::Remove { .. }));
            edits.extend(removed.map(|change| (change.entry(), number)));
        }
        let is_final = |edit: &AppliedEdit| {
            before.redundant.contains(&*edit.strategy) || [REPAIR, THINKING].contains(&&*edit.strategy)
        };
        Self {
            working,
            epoch: editor.context.epoch,
            edits,
            is_final: working.edits.iter().map(is_final).collect(),
            shown: working.entries().iter().map(|entry| entry.key).zip(0..).collect(),
        }
    }

    fn key(&self, text: u32) -> EntryKey {
        EntryKey::Synthetic { epoch: self.epoch, index: text }
    }

    fn is_shown(&self, text: u32) -> bool {
        self.shown.contains_key(&self.key(text))
    }

    fn is_summary(&self, text: u32) -> bool {
        self.working.synthetics.get(text as usize).is_some_and(|own| own.message.origin == Origin::Summary)
    }

    /// Returns what became of a message; `None` for what is shown.
    fn fate(&self, key: EntryKey) -> Option<Fate> {
        if self.shown.contains_key(&key) {
            return None;
        }
        let Some(edit) = self.edits.get(&key).copied().filter(|edit| !self.is_final[*edit]) else {
            return Some(Fate::Final);
        };
        let is_any = self.working.host == HostChanges::Any;
        Some(match self.working.edits[edit].into {
            None => Fate::Untold,
            Some(text) if !self.is_summary(text) && is_any => Fate::Untold,
            Some(text) if self.is_shown(text) => Fate::Told(text),
            Some(_) => Fate::Final,
        })
    }

    /// Returns what became of the messages that `edit` removed for a text.
    fn fate_of_text(&self, text: u32, before: &BeforeChain<'_>, edit: &AppliedEdit) -> Option<Fate> {
        let takes = before.view.host == HostChanges::Any || before.view.host.takes_one_text();
        edit.changes.last().filter(|_| takes && self.is_shown(text)).and_then(|change| self.fate(change.entry()))
    }

    /// Returns the texts of this compaction with the stretch of the view before the chain that each stands or stood for.
    fn stretches(&self, start: &WorkingView) -> Vec<(u32, Range<usize>)> {
        let mut stretches: HashMap<u32, Range<usize>> = HashMap::new();
        for (at, entry) in start.entries().iter().enumerate() {
            let mut key = entry.key;
            while let Some(text) = self.edits.get(&key).and_then(|edit| self.working.edits[*edit].into) {
                let stretch = stretches.entry(text).or_insert(at..at + 1);
                stretch.end = at + 1;
                key = self.key(text);
            }
        }
        let mut stretches: Vec<(u32, Range<usize>)> = stretches.into_iter().collect();
        stretches.sort_by_key(|(text, _)| *text);
        stretches
    }
}
