//! The floor stage: no model, no network, no strategy; it ends every chain that did not meet the target.

use std::ops::Range;

use epitome_session::{Block, Origin, Reason, UnitKind};
use epitome_strategy::{Archive, BlockRef, Protection, Tokens, text};

use crate::guard::Refusal;
use crate::report::{Floor, FloorPart};
use crate::stages::{Before, entail};
use crate::wording;
use crate::working::{BlockEdit, Context, Layout, Replacement, Working};

pub(crate) const FLOOR: &str = "floor";

/// A text of fewer tokens is cut only when nothing else helps: its mark costs nearly as much.
const SHORTEST_TEXT: Tokens = 40;

/// Arguments are cut at this many characters first, where that is not enough at the second, and last taken out whole.
const ARGUMENT_CHARS: [u32; 3] = [200, 20, 0];

/// What a notice and what comes with it may cost. Where it costs more, more leaves in the next round; the last round
/// takes all that may leave.
const SLACK: [Tokens; 4] = [40, 160, 640, Tokens::MAX];

/// The floor at work on a view.
pub(crate) struct Room<'a, 'c> {
    pub working: &'a mut Working,
    pub context: &'a Context<'c>,
    pub archive: &'a mut dyn Archive,
    pub before: &'a Before,
}

impl Room<'_, '_> {
    /// Makes room until the target is met or nothing more may leave: giant texts are cut, the oldest units leave with one
    /// notice, then the newest step's own texts and arguments shrink.
    ///
    /// Linear in the view for each of a bounded number of passes.
    pub(crate) fn make(&mut self, target: Tokens) -> Result<(), Refusal> {
        self.cut_texts(target, (target / 4).max(SHORTEST_TEXT * 4))?;
        self.entail()?;
        for slack in SLACK {
            if self.working.total <= target {
                return Ok(());
            }
            self.leave_oldest(target, slack)?;
            self.entail()?;
        }
        if self.working.total > target {
            self.cut_texts(target, (target / 16).max(SHORTEST_TEXT))?;
            self.entail()?;
        }
        for max_chars in ARGUMENT_CHARS {
            if self.working.total > target {
                self.trim_arguments(target, max_chars)?;
                self.entail()?;
            }
        }
        if self.working.total > target {
            self.cut_texts(target, 0)?;
            self.entail()?;
        }
        self.drop_notices(target)
    }

    /// The last thing that may leave is the notice that others left.
    fn drop_notices(&mut self, target: Tokens) -> Result<(), Refusal> {
        if self.working.total <= target {
            return Ok(());
        }
        let layout = self.working.layout(self.context.pins);
        let is_notice = |unit: usize| {
            let entry = &self.working.entries[layout.units[unit].entries.start];
            layout.protections[unit].may_leave() && entry.message.origin == Origin::Notice
        };
        let notices: Vec<u32> =
            (0..layout.units.len()).filter(|unit| is_notice(*unit)).map(|unit| unit as u32).collect();
        if !notices.is_empty() {
            let positions = self.working.leaving(self.context, &layout, &notices)?;
            let reason = Reason::new("over-budget", "there is no room for the notice");
            self.working.drop_messages(self.context, self.archive, FLOOR, &positions, reason)?;
            self.entail()?;
        }
        Ok(())
    }

    /// Takes out everything that may leave, the notice too where it does not fit `limit`: the least that a compaction can
    /// reach. Linear in the view.
    pub(crate) fn make_all(&mut self, limit: Tokens) -> Result<(), Refusal> {
        self.leave_oldest(0, Tokens::MAX)?;
        self.entail()?;
        self.trim_arguments(0, 0)?;
        self.cut_texts(0, 0)?;
        self.entail()?;
        self.drop_notices(limit)
    }

    /// Cuts editable texts of more than `allowance` tokens to it, largest first, until the target is met; an allowance of 0
    /// leaves stubs.
    fn cut_texts(&mut self, target: Tokens, allowance: Tokens) -> Result<(), Refusal> {
        let layout = self.working.layout(self.context.pins);
        let mut texts = editable(self.working, &layout, |block| block.excerptable().is_some());
        texts.retain(|(tokens, _)| *tokens > allowance);
        texts.sort_by_key(|(tokens, at)| (std::cmp::Reverse(*tokens), *at));
        for (tokens, at) in texts {
            let excess = self.working.total.saturating_sub(target);
            if excess == 0 {
                break;
            }
            let keep = tokens.saturating_sub(excess).saturating_sub(SHORTEST_TEXT).max(allowance);
            self.cut_text(&layout, at, tokens, keep, "over-budget")?;
        }
        Ok(())
    }

    /// Cuts a text of `tokens` tokens to about `keep` of them.
    fn cut_text(
        &mut self,
        layout: &Layout,
        at: BlockRef,
        tokens: Tokens,
        mut keep: Tokens,
        code: &str,
    ) -> Result<(), Refusal> {
        // The share of bytes is an estimate of the share of tokens: a few tries come down to it, the last leaves a stub.
        for attempt in 0..4 {
            let block = &self.working.entries[at.message as usize].message.blocks[at.block as usize];
            let Some(shown) = block.excerptable() else { break };
            let stub = attempt == 3 || keep < SHORTEST_TEXT;
            let kept = if stub { Vec::new() } else { ends(shown, keep, tokens) };
            let stays = if stub { 0 } else { keep };
            let detail =
                format!("{} of {} tokens stay", wording::grouped(stays.into()), wording::grouped(tokens.into()));
            let edit = BlockEdit::new(FLOOR, at.message, at.block, Reason::new(code, detail));
            match self.working.excerpt(self.context, self.archive, layout, edit, &kept) {
                Err(Refusal::NoGain) if !stub => keep /= 2,
                Err(refusal @ Refusal::Archive(_)) => return Err(refusal),
                Ok(_) | Err(_) => break,
            }
        }
        Ok(())
    }

    /// Cuts the message of a protection, the original task's or the newest user message's, to its head and tail, about
    /// `keep` tokens of it: for a message that leaves no room for the rest of what must stay. One that is pinned by more
    /// than its place is not touched. Linear in the view.
    pub(crate) fn cut_protected(&mut self, protection: Protection, keep: Tokens) -> Result<(), Refusal> {
        let mut layout = self.working.layout(self.context.pins);
        let unit = layout.protections.iter().position(|known| *known == protection);
        let Some(unit) = unit.filter(|unit| !self.working.is_marked(&layout.units[*unit])) else { return Ok(()) };
        layout.protections[unit] = Protection::NewestStep; // parts may leave, and it may not leave whole
        let positions = layout.units[unit].entries.clone();
        let texts = editable_of(self.working, positions, |block| block.excerptable().is_some());
        let all = texts.iter().map(|(tokens, _)| *tokens).sum::<Tokens>().max(1);
        for (tokens, at) in texts {
            let share = (u64::from(keep) * u64::from(tokens) / u64::from(all)) as Tokens;
            self.cut_text(&layout, at, tokens, share, "message-over-budget")?;
        }
        self.entail()
    }

    fn trim_arguments(&mut self, target: Tokens, max_chars: u32) -> Result<(), Refusal> {
        let layout = self.working.layout(self.context.pins);
        for (_, at) in editable(self.working, &layout, |block| block.as_call().is_some()) {
            if self.working.total <= target {
                break;
            }
            let detail = match max_chars {
                0 => "the arguments left whole".to_owned(),
                _ => format!("strings longer than {max_chars} characters"),
            };
            let edit = BlockEdit::new(FLOOR, at.message, at.block, Reason::new("over-budget", detail));
            if let Err(refusal @ Refusal::Archive(_)) =
                self.working.trim(self.context, self.archive, &layout, edit, max_chars)
            {
                return Err(refusal);
            }
        }
        Ok(())
    }

    /// Lets the oldest units leave, as many as the target and `slack` tokens beyond it take and summaries last, and puts one
    /// notice in place of the first run of them. Notices of earlier compactions that stand in such a run go into it.
    fn leave_oldest(&mut self, target: Tokens, slack: Tokens) -> Result<(), Refusal> {
        let layout = self.working.layout(self.context.pins);
        let origin = |unit: usize| self.working.entries[layout.units[unit].entries.start].message.origin;
        let free: Vec<usize> = (0..layout.units.len()).filter(|unit| layout.protections[*unit].may_leave()).collect();
        let notices: Vec<usize> = free.iter().copied().filter(|unit| origin(*unit) == Origin::Notice).collect();
        let (summaries, others): (Vec<usize>, Vec<usize>) = free
            .into_iter()
            .filter(|unit| origin(*unit) != Origin::Notice)
            .partition(|unit| layout.units[*unit].kind == UnitKind::Summary);
        let wanted = self.working.total.saturating_sub(target).saturating_add(slack);
        let mut freed: Tokens = 0;
        let mut leaving = notices.clone();
        for unit in others.into_iter().chain(summaries) {
            if freed >= wanted {
                break;
            }
            freed += self.working.tokens[layout.units[unit].entries.clone()].iter().map(|it| it.total).sum::<Tokens>();
            leaving.push(unit);
        }
        if leaving.len() == notices.len() && notices.len() < 2 {
            return Ok(());
        }
        let units: Vec<u32> = leaving.into_iter().map(|unit| unit as u32).collect();
        let positions = self.working.leaving(self.context, &layout, &units)?;
        let runs: Vec<Vec<usize>> = self.working.runs(&positions).into_iter().map(<[usize]>::to_vec).collect();
        let mut is_told = false;
        for run in runs {
            let is_notice = |position: &usize| self.working.entries[*position].message.origin == Origin::Notice;
            if run.len() == 1 && run.iter().all(is_notice) {
                is_told = true; // an earlier notice that has nothing to be joined with stays
            } else {
                is_told = self.let_leave(&run, is_told)?;
            }
        }
        Ok(())
    }

    /// Lets a run of messages leave, with a notice in their place where none stands in front of them yet and where it is
    /// shorter than they are. Returns whether there is a notice now.
    fn let_leave(&mut self, run: &[usize], is_told: bool) -> Result<bool, Refusal> {
        let reason = Reason::new("oldest-first", "the oldest that may leave, to meet the budget");
        if !is_told {
            let messages = self.working.covered(self.context, run);
            let write = |handle: &str| wording::notice(self.context.language, messages, handle);
            let replacement = Replacement { origin: Origin::Notice, write: &write };
            match self.working.replace_messages(self.context, self.archive, FLOOR, run, reason.clone(), replacement) {
                Err(Refusal::NoGain) => {}
                other => return other.map(|_| true),
            }
        }
        self.working.drop_messages(self.context, self.archive, FLOOR, run, reason).map(|_| is_told)
    }

    fn entail(&mut self) -> Result<(), Refusal> {
        entail(self.working, self.context, self.archive, self.before)
    }
}

/// Tokens that a compaction reaches without touching the newest step: a bound that costs next to nothing.
pub(crate) fn easily_reached(working: &Working, layout: &Layout) -> Tokens {
    let stays = layout.units.iter().zip(&layout.protections).filter(|(_, protection)| !protection.may_leave());
    let tokens = stays.flat_map(|(unit, _)| &working.tokens[unit.entries.clone()]).map(|entry| entry.total);
    tokens.fold(SLACK[0], Tokens::saturating_add)
}

/// The head and the tail of a text of `tokens` tokens that together make about `keep` of them, at ends of lines where
/// that costs little. Two thirds go to the head: it says what the text is.
fn ends(shown: &str, keep: Tokens, tokens: Tokens) -> Vec<Range<u32>> {
    let bytes = (shown.len() as f64 * f64::from(keep) / f64::from(tokens.max(1))) as usize;
    let head = text::floor_boundary(shown, bytes * 2 / 3);
    let head = shown[..head].rfind('\n').map(|at| at + 1).filter(|at| at * 4 >= head * 3).unwrap_or(head);
    let tail = text::ceil_boundary(shown, shown.len() - (bytes / 3).min(shown.len()));
    let tail = shown[tail..]
        .find('\n')
        .map(|at| tail + at + 1)
        .filter(|at| (at - tail) * 4 <= shown.len() - tail)
        .unwrap_or(tail);
    if head >= tail { vec![] } else { vec![0..head as u32, tail as u32..shown.len() as u32] }
}

/// The blocks that may be edited and satisfy `wanted`, with their tokens.
fn editable(working: &Working, layout: &Layout, wanted: impl Fn(&Block) -> bool) -> Vec<(Tokens, BlockRef)> {
    let units = layout.units.iter().zip(&layout.protections).filter(|(_, protection)| protection.may_edit());
    editable_of(working, units.flat_map(|(unit, _)| unit.entries.clone()), wanted)
}

/// The same of the messages at `positions`, whatever protects them.
fn editable_of(
    working: &Working,
    positions: impl Iterator<Item = usize>,
    wanted: impl Fn(&Block) -> bool,
) -> Vec<(Tokens, BlockRef)> {
    let mut found = Vec::new();
    for message in positions {
        for (block, content) in working.entries[message].message.blocks.iter().enumerate() {
            if wanted(content) {
                let at = BlockRef { message: message as u32, block: block as u32 };
                found.push((working.tokens[message].blocks[block], at));
            }
        }
    }
    found
}

/// What is left when nothing more may leave: the parts of the floor, largest first.
pub(crate) fn floor_of(working: &Working, context: &Context<'_>) -> Floor {
    let layout = working.layout(context.pins);
    let mut parts: Vec<FloorPart> = Vec::new();
    for (unit, protection) in layout.units.iter().zip(&layout.protections) {
        let part = match protection {
            Protection::Free => "notice",
            Protection::NewestStep => "newest-step",
            Protection::System => "system",
            Protection::OriginalTask => "original-task",
            Protection::NewestUser => "newest-user",
            Protection::Pinned => "pinned",
            Protection::ProtectedTool => "protected-tool",
            Protection::RecentRound => "recent-round",
            Protection::Open => "open",
        };
        let tokens = working.tokens[unit.entries.clone()].iter().map(|it| it.total).sum::<Tokens>();
        let messages = unit.entries.len() as u32;
        match parts.iter_mut().find(|known| known.part == part) {
            Some(known) => {
                known.tokens += tokens;
                known.messages += messages;
            }
            None => parts.push(FloorPart { part: part.to_owned(), tokens, messages }),
        }
    }
    parts.sort_by(|left, right| right.tokens.cmp(&left.tokens).then_with(|| left.part.cmp(&right.part)));
    Floor { tokens: working.total, parts }
}
