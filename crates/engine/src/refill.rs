//! The step behind the chain that uses the room: what left comes back whole while it fits the target.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use epitome_session::{AppliedEdit, Change, EntryKey, Heading, Origin, Unit, UnitKind};
use epitome_strategy::transcript::is_transcript;
use epitome_strategy::{HostChanges, Lossiness, Tokens};

use crate::editor::Editor;
use crate::floor::NOTICE_ROOM;
use crate::guard::EditRefusal;
use crate::protect::are_one_row;
use crate::request::Chain;
use crate::stages::{REPAIR, THINKING};
use crate::working::WorkingView;

pub(crate) const REFILL: &str = "refill";

/// The share of the target, as a divisor, that has to be free before what a summary covers comes back: it
/// stands in the context twice then.
const COVERED_SHARE: Tokens = 50;

/// The largest share of the target, as a divisor, that is reserved for notices of what stays away.
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
pub(crate) struct Restoration {
    /// Whole messages of the view before the chain.
    pub messages: HashSet<EntryKey>,
    /// Texts and arguments that were cut.
    pub blocks: HashSet<(EntryKey, u32)>,
    /// How many units and texts these are.
    pub count: u32,
}

/// How a message left that is not shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Removal {
    /// No text stands for it.
    Uncovered,
    /// The text of this number stands for it.
    Covered(u32),
    /// It does not come back: the context has it elsewhere, its text left again, or no edit of the chain removed it.
    Final,
}

/// What left.
enum Leftover {
    /// A unit, by the places of its messages in the view before the chain.
    Unit(Range<usize>),
    /// What is missing of a block of a message that is shown.
    Block(EntryKey, u32),
}

/// Something that may come back.
struct Candidate {
    /// The worthiest first, and of equal worth the newest.
    rank: (u8, Reverse<usize>),
    tokens: Tokens,
    what: Leftover,
}

impl Editor<'_> {
    /// Gives back whole what the chain and the floor took out, as long as the view takes no more than `most` tokens: what
    /// people typed first, then what the model said, then steps with results, each from the newest back. What a summary in words
    /// stands for comes back from its end alone, so that everything keeps its order, and only while the summary stays shorter than
    /// the rest. Returns how many units and texts came back.
    ///
    /// Linear in the view before the chain and the edits for each of a bounded number of passes, but for sorting.
    pub(crate) fn refill(&mut self, before: &BeforeChain<'_>, most: Tokens) -> Result<u32, EditRefusal> {
        self.working.end_pass();
        let mut count = 0;
        for _ in 0..MOST_PASSES {
            self.context.check_cancelled()?;
            let restoration = self.choose_restoration(before, most);
            if restoration.count == 0 {
                break;
            }
            count += restoration.count;
            self.restore(before, restoration)?;
            self.restore_validity_unless_cancelled()?;
        }
        Ok(count)
    }

    fn choose_restoration(&self, before: &BeforeChain<'_>, most: Tokens) -> Restoration {
        let ledger = Removed::new(self, before);
        let start = before.view;
        let removals: Vec<Option<Removal>> = start.entries().iter().map(|entry| ledger.removal_of(entry.key)).collect();
        let mut candidates = self.uncovered_units(&ledger, start, &removals);
        candidates.extend(self.cut_texts_shown(&ledger, before));
        candidates.sort_by_key(|it| it.rank);
        let gaps = removals.chunk_by(|one, next| one == next).filter(|run| run[0] == Some(Removal::Uncovered)).count();
        let notices = NOTICE_ROOM.saturating_mul(gaps as Tokens).min(most / NOTICE_SHARE);
        let mut room = most.saturating_sub(self.working.total).saturating_sub(notices);
        let mut restoration = Restoration::default();
        for candidate in candidates {
            let Some(rest) = room.checked_sub(candidate.tokens) else { continue };
            room = rest;
            restoration.count += 1;
            match candidate.what {
                Leftover::Block(key, block) => _ = restoration.blocks.insert((key, block)),
                Leftover::Unit(unit) => {
                    restoration.messages.extend(start.entries()[unit].iter().map(|entry| entry.key))
                }
            }
        }
        self.restore_covered(&ledger, before, most, room, &mut restoration);
        restoration
    }

    /// Returns the units that left and that no text covers, nor a summary around them. A host of one text has only what
    /// that text stands for.
    fn uncovered_units(
        &self,
        ledger: &Removed<'_>,
        start: &WorkingView,
        removals: &[Option<Removal>],
    ) -> Vec<Candidate> {
        if self.working.host != HostChanges::Any {
            return Vec::new();
        }
        let layout = start.layout(self.context.pins);
        let mut comes_back: Vec<bool> = removals.iter().map(|removal| *removal == Some(Removal::Uncovered)).collect();
        for stretch in ledger.summarized_stretches(start) {
            comes_back[stretch].fill(false);
        }
        let candidate = |unit: &Unit| {
            if comes_back[unit.entries.clone()].contains(&false) {
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
                what: Leftover::Unit(unit.entries.clone()),
            })
        };
        layout.units.iter().filter_map(candidate).collect()
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
                what: Leftover::Block(key, block),
            })
        };
        let mut found: Vec<_> = found.into_iter().filter(|(_, is_final)| !*is_final).collect();
        found.sort_unstable_by_key(|(place, _)| *place);
        found.into_iter().filter_map(candidate).collect()
    }

    /// Adds messages that texts stand for, from the end of each, the newest text first.
    fn restore_covered(
        &self,
        ledger: &Removed<'_>,
        before: &BeforeChain<'_>,
        most: Tokens,
        mut room: Tokens,
        restoration: &mut Restoration,
    ) {
        let start = before.view;
        let layout = start.layout(self.context.pins);
        let is_covered = |edit: &&AppliedEdit| {
            let text =
                edit.into.filter(|text| ledger.removal_for_text(*text, before, edit) == Some(Removal::Covered(*text)));
            // A call in a transcript's lines and as it was reads as two: a payment was made twice.
            let text = text.filter(|text| !ledger.is_transcript(*text));
            // A text that the floor cut has another heading than its own.
            text.is_some_and(|text| self.working.unchanged_tokens(ledger.key(text)).is_some())
        };
        for edit in self.working.edits[start.edits.len()..].iter().rev().filter(is_covered) {
            let is_summary = edit.into.is_some_and(|text| ledger.is_summary(text));
            let keys: HashSet<EntryKey> = edit.changes.iter().map(Change::entry).collect();
            let mut left = edit.changes.len();
            let mut saved = edit.tokens_saved;
            while left > 0 && (!is_summary || room > most / COVERED_SHARE) {
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
                restoration.messages.extend(messages.iter().map(|entry| entry.key));
                restoration.count += 1;
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

    /// Whether a text is a transcript, which shows calls as such.
    fn is_transcript(&self, text: u32) -> bool {
        let own = self.working.synthetics.get(text as usize).filter(|_| self.is_summary(text));
        own.is_some_and(|own| is_transcript(Heading::body_of(&own.message.plain_text())))
    }

    /// Returns how a message left; `None` for one that is shown.
    fn removal_of(&self, key: EntryKey) -> Option<Removal> {
        if self.shown.contains_key(&key) {
            return None;
        }
        let Some(edit) = self.edits.get(&key).copied().filter(|edit| !self.is_final[*edit]) else {
            return Some(Removal::Final);
        };
        let is_any = self.working.host == HostChanges::Any;
        Some(match self.working.edits[edit].into {
            None => Removal::Uncovered,
            Some(text) if !self.is_summary(text) && is_any => Removal::Uncovered,
            Some(text) if self.is_shown(text) => Removal::Covered(text),
            Some(_) => Removal::Final,
        })
    }

    /// Returns how the messages left that `edit` replaced by a text.
    fn removal_for_text(&self, text: u32, before: &BeforeChain<'_>, edit: &AppliedEdit) -> Option<Removal> {
        let takes = before.view.host == HostChanges::Any || before.view.host.takes_one_text();
        edit.changes.last().filter(|_| takes && self.is_shown(text)).and_then(|change| self.removal_of(change.entry()))
    }

    /// Returns the stretches of the view before the chain that the summaries of this compaction stand for, also of those
    /// that left again: one handle tells of all that such a summary stood for.
    fn summarized_stretches(&self, start: &WorkingView) -> impl Iterator<Item = Range<usize>> {
        let mut stretches: HashMap<u32, Range<usize>> = HashMap::new();
        for (at, entry) in start.entries().iter().enumerate() {
            let mut key = entry.key;
            while let Some(text) = self.edits.get(&key).and_then(|edit| self.working.edits[*edit].into) {
                if self.is_summary(text) {
                    stretches.entry(text).or_insert(at..at).end = at + 1;
                }
                key = self.key(text);
            }
        }
        stretches.into_values()
    }
}
