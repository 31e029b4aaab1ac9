//! The floor stage ends every chain that did not meet the target: without model, network or strategy.

use epitome_session::heading::group_digits;
use epitome_session::{Block, Origin, Reason, UnitKind};
use epitome_strategy::{BlockRef, HostChanges, Tokens};

use crate::editor::{BlockEdit, Editor, Replacement};
use crate::freed::FreedThinking;
use crate::guard::EditRefusal;
use crate::protect::are_one_row;
use crate::wording;
use crate::working::{Layout, WorkingView};
use epitome_strategy::cut::{Focus, beginnings, informative_lines};

pub(crate) const FLOOR: &str = "floor";

/// A text of fewer tokens is cut only when nothing else helps: its mark costs nearly as much.
pub(crate) const SHORTEST_TEXT: Tokens = 40;

/// Tokens of a mark without a handle.
pub(crate) const MARK: Tokens = 14;

/// The lengths in characters to which arguments are cut: the second where the first is not enough; in the end they are
/// taken out whole.
const ARGUMENT_CHARS: [u32; 3] = [200, 20, 0];

/// Tokens of a notice.
pub(crate) const NOTICE_ROOM: Tokens = 40;

/// The most that a notice and its companions are expected to cost. Where they cost more, more messages leave in the
/// next round; the last round removes everything that may leave.
pub(crate) const SLACK: [Tokens; 4] = [NOTICE_ROOM, 160, 640, Tokens::MAX];

/// The fewest tokens of a shortened summary: its heading and a few lines.
pub(crate) const LEAST_SUMMARY: Tokens = 120;

/// The fewest characters to which arguments are cut before any message leaves.
const LEAST_ARGUMENT_CHARS: u32 = 200;

/// Which messages may leave whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EvictionScope {
    WithoutSummaries,
    WithSummaries,
}

impl Editor<'_> {
    /// Makes room until the target is met or nothing more may leave: giant texts and arguments are cut, the oldest
    /// units leave with one notice, then the newest step's own texts and arguments shrink. A summary holds the rest of
    /// many messages, so it is shortened by its sections, never becomes a mark, and leaves only when nothing else can
    /// give.
    ///
    /// Linear in the view for each of a bounded number of passes.
    pub(crate) fn make_room(&mut self, target: Tokens) -> Result<(), EditRefusal> {
        if self.only_cuts() {
            return self.move_cut(target);
        }
        let giant = (target / 4).max(SHORTEST_TEXT * 4);
        self.cut_texts(target, giant)?;
        self.restore_validity_unless_cancelled()?;
        self.cut_giant_arguments(target, giant)?;
        self.restore_validity_unless_cancelled()?;
        self.shorten_summaries(target, |_| target / 2)?;
        self.restore_validity_unless_cancelled()?;
        for slack in SLACK {
            if self.working.total <= target {
                return Ok(());
            }
            self.evict_oldest(target, slack, EvictionScope::WithoutSummaries)?;
            self.restore_validity_unless_cancelled()?;
        }
        self.shorten_summaries(target, |tokens| tokens / 2)?;
        self.restore_validity_unless_cancelled()?;
        self.cut_texts(target, (target / 16).max(SHORTEST_TEXT))?;
        self.restore_validity_unless_cancelled()?;
        for max_chars in ARGUMENT_CHARS {
            if max_chars == 0 {
                self.shorten_summaries(target, |_| LEAST_SUMMARY)?;
                self.restore_validity_unless_cancelled()?;
            }
            self.trim_arguments(target, max_chars)?;
            self.restore_validity_unless_cancelled()?;
        }
        self.cut_texts(target, 0)?;
        self.restore_validity_unless_cancelled()?;
        if self.working.total > target {
            self.evict_oldest(target, Tokens::MAX, EvictionScope::WithSummaries)?;
            self.restore_validity_unless_cancelled()?;
        }
        self.drop_notices(target)
    }

    pub(crate) fn restore_validity_unless_cancelled(&mut self) -> Result<(), EditRefusal> {
        self.context.check_cancelled()?;
        self.restore_validity()
    }

    /// The notice for other messages is the last thing that may leave.
    fn drop_notices(&mut self, target: Tokens) -> Result<(), EditRefusal> {
        if self.working.total <= target {
            return Ok(());
        }
        let layout = self.layout();
        let is_notice = |unit: usize| {
            let entry = &self.working.entries()[layout.units[unit].entries.start];
            layout.protections[unit].may_leave() && entry.message.origin == Origin::Notice
        };
        let notices: Vec<u32> =
            (0..layout.units.len()).filter(|unit| is_notice(*unit)).map(|unit| unit as u32).collect();
        if !notices.is_empty() {
            let positions = self.leaving(&layout, &notices)?;
            if self.check_removal(&positions).is_err() {
                return Ok(());
            }
            let reason = Reason::new("over-budget", "there is no room for the notice");
            self.drop_messages(FLOOR, &positions, reason)?;
            self.restore_validity_unless_cancelled()?;
        }
        Ok(())
    }

    /// Removes everything that may leave, and the notice too where it does not fit `limit`: the least that a compaction
    /// can reach. Linear in the view.
    pub(crate) fn make_most_room(&mut self, limit: Tokens) -> Result<(), EditRefusal> {
        if self.only_cuts() {
            return self.make_whole_cut();
        }
        self.evict_oldest(0, Tokens::MAX, EvictionScope::WithSummaries)?;
        self.restore_validity_unless_cancelled()?;
        self.trim_arguments(0, 0)?;
        self.cut_texts(0, 0)?;
        self.restore_validity_unless_cancelled()?;
        self.drop_notices(limit)
    }

    /// Cuts editable texts of more than `allowance` tokens to it, largest first, until the target is met; an allowance
    /// of 0 leaves stubs. Summaries stay.
    fn cut_texts(&mut self, target: Tokens, allowance: Tokens) -> Result<(), EditRefusal> {
        if self.working.total <= target {
            return Ok(());
        }
        let layout = self.layout();
        let mut thinking = FreedThinking::new(&self.view(&layout));
        let mut texts =
            editable(&self.working, &layout, |unit| unit != UnitKind::Summary, |it| it.excerptable().is_some());
        texts.retain(|(tokens, _)| *tokens > allowance);
        texts.sort_by_key(|(tokens, at)| (std::cmp::Reverse(*tokens), *at));
        for (tokens, at) in texts {
            if self.working.total <= target.saturating_add(thinking.freed_tokens()) {
                break;
            }
            self.context.check_cancelled()?;
            // Tokens that this change frees behind it need not be cut out of the text.
            let freed = thinking.freed_with(unit_at(&layout, at));
            let excess = self.working.total.saturating_sub(target.saturating_add(freed));
            let keep = tokens.saturating_sub(excess).saturating_sub(SHORTEST_TEXT).max(allowance);
            if self.cut_text(&layout, at, tokens, keep, "over-budget")? {
                thinking.change(unit_at(&layout, at));
            }
        }
        Ok(())
    }

    /// Shortens summaries, largest first, until the target is met, but none to fewer tokens than `least` returns for
    /// it, or than [`LEAST_SUMMARY`].
    fn shorten_summaries(&mut self, target: Tokens, least: impl Fn(Tokens) -> Tokens) -> Result<(), EditRefusal> {
        if self.working.total <= target {
            return Ok(());
        }
        let layout = self.layout();
        let mut texts =
            editable(&self.working, &layout, |unit| unit == UnitKind::Summary, |it| it.excerptable().is_some());
        texts.sort_by_key(|(tokens, at)| (std::cmp::Reverse(*tokens), *at));
        for (tokens, at) in texts {
            self.context.check_cancelled()?;
            let excess = self.working.total.saturating_sub(target);
            let least = least(tokens).max(LEAST_SUMMARY);
            if excess == 0 {
                break;
            }
            if tokens <= least + SHORTEST_TEXT {
                continue;
            }
            let mut keep = tokens.saturating_sub(excess).max(least);
            // The marks of a summary with many sections may use up the gain.
            for _ in 0..3 {
                let Some(shown) = self.excerptable(at) else { break };
                let kept = beginnings(shown, keep, tokens, MARK);
                let (stays, of) = (group_digits(keep.into()), group_digits(tokens.into()));
                let detail = format!("a summary: the beginnings of its sections, about {stays} of {of} tokens");
                let edit = BlockEdit::new(FLOOR, at.message, at.block, Reason::new("summary-over-budget", detail));
                match self.excerpt(&layout, edit, &kept) {
                    Err(EditRefusal::NoGain) => keep = keep / 2 + least / 2,
                    Err(refusal @ EditRefusal::Archive(_)) => return Err(refusal),
                    Ok(_) | Err(_) => break,
                }
            }
        }
        Ok(())
    }

    /// Cuts the arguments of calls of more than `allowance` tokens, largest first, to the share that the target leaves
    /// them: their strings keep as many characters as fit, and at least [`LEAST_ARGUMENT_CHARS`].
    fn cut_giant_arguments(&mut self, target: Tokens, allowance: Tokens) -> Result<(), EditRefusal> {
        if self.working.total <= target {
            return Ok(());
        }
        let layout = self.layout();
        let mut thinking = FreedThinking::new(&self.view(&layout));
        let mut calls = editable(&self.working, &layout, |_| true, |block| block.as_call().is_some());
        calls.retain(|(tokens, _)| *tokens > allowance);
        calls.sort_by_key(|(tokens, at)| (std::cmp::Reverse(*tokens), *at));
        for (tokens, at) in calls {
            if self.working.total <= target.saturating_add(thinking.freed_tokens()) {
                break;
            }
            self.context.check_cancelled()?;
            let freed = thinking.freed_with(unit_at(&layout, at));
            let excess = self.working.total.saturating_sub(target.saturating_add(freed));
            let keep = tokens.saturating_sub(excess).max(allowance);
            let max_chars = self.most_chars(at, keep).max(LEAST_ARGUMENT_CHARS);
            if self.trim_call(&layout, at, max_chars)? {
                thinking.change(unit_at(&layout, at));
            }
        }
        Ok(())
    }

    /// Cuts a text of `tokens` tokens to about `keep` of them. Returns whether it was cut.
    pub(crate) fn cut_text(
        &mut self,
        layout: &Layout,
        at: BlockRef,
        tokens: Tokens,
        mut keep: Tokens,
        code: &str,
    ) -> Result<bool, EditRefusal> {
        let none = Focus::default();
        let focus = self.context.focus.unwrap_or(&none);
        // Other marks than those that were counted may use up the gain: a few tries approach it, and the last leaves a stub.
        for attempt in 0..4 {
            self.context.check_cancelled()?;
            let Some(shown) = self.excerptable(at).cloned() else { break };
            let stub = attempt == 3 || keep < SHORTEST_TEXT;
            let kept = match stub {
                true => Vec::new(),
                false => informative_lines(&self.view(layout), &shown, focus, keep).keep,
            };
            let stays = if stub { 0 } else { keep };
            let detail = format!("{} of {} tokens stay", group_digits(stays.into()), group_digits(tokens.into()));
            let edit = BlockEdit::new(FLOOR, at.message, at.block, Reason::new(code, detail));
            match self.excerpt(layout, edit, &kept) {
                Err(EditRefusal::NoGain) if !stub => keep /= 2,
                Err(refusal @ EditRefusal::Archive(_)) => return Err(refusal),
                Ok(_) => return Ok(true),
                Err(_) => break,
            }
        }
        Ok(false)
    }

    fn trim_arguments(&mut self, target: Tokens, max_chars: u32) -> Result<(), EditRefusal> {
        if self.working.total <= target {
            return Ok(());
        }
        let layout = self.layout();
        for (_, at) in editable(&self.working, &layout, |_| true, |block| block.as_call().is_some()) {
            if self.working.total <= target {
                break;
            }
            self.context.check_cancelled()?;
            self.trim_call(&layout, at, max_chars)?;
        }
        Ok(())
    }

    /// Cuts the strings of one call; returns whether that changed the call.
    fn trim_call(&mut self, layout: &Layout, at: BlockRef, max_chars: u32) -> Result<bool, EditRefusal> {
        let detail = match max_chars {
            0 => "the arguments left whole".to_owned(),
            _ => format!("strings longer than {} characters", group_digits(max_chars.into())),
        };
        let edit = BlockEdit::new(FLOOR, at.message, at.block, Reason::new("over-budget", detail));
        match self.trim(layout, edit, max_chars) {
            Err(refusal @ EditRefusal::Archive(_)) => Err(refusal),
            trimmed => Ok(trimmed.is_ok()),
        }
    }

    /// Removes the oldest units until the target, and `slack` tokens beyond it, are met, and puts one notice in place
    /// of the first run of them. Earlier notices inside such a run are merged into it.
    fn evict_oldest(&mut self, target: Tokens, slack: Tokens, scope: EvictionScope) -> Result<(), EditRefusal> {
        let layout = self.layout();
        let origin = |unit: usize| self.working.entries()[layout.units[unit].entries.start].message.origin;
        let free: Vec<usize> = (0..layout.units.len()).filter(|unit| layout.protections[*unit].may_leave()).collect();
        let notices: Vec<usize> = free.iter().copied().filter(|unit| origin(*unit) == Origin::Notice).collect();
        let (summaries, others): (Vec<usize>, Vec<usize>) = free
            .into_iter()
            .filter(|unit| origin(*unit) != Origin::Notice)
            .partition(|unit| layout.units[*unit].kind == UnitKind::Summary);
        let wanted = self.working.total.saturating_sub(target).saturating_add(slack);
        let summaries = if scope == EvictionScope::WithSummaries { summaries } else { Vec::new() };
        let mut thinking = FreedThinking::new(&self.view(&layout));
        let mut freed: Tokens = 0;
        let mut leaving = notices.clone();
        let is_row_of = |unit: usize, before: Option<&usize>| {
            before.is_some_and(|before| {
                before + 1 == unit && are_one_row(self.working.entries(), &layout.units[*before], &layout.units[unit])
            })
        };
        // Each run of neighbours behind the first gets its notice in the end.
        let (mut runs, mut last): (Tokens, Option<usize>) = (0, None);
        for unit in others.into_iter().chain(summaries) {
            let notices = NOTICE_ROOM.saturating_mul(runs.saturating_sub(1));
            let is_enough = freed.saturating_add(thinking.freed_tokens()) >= wanted.saturating_add(notices);
            if is_enough && (self.working.host == HostChanges::Any || !is_row_of(unit, leaving.last())) {
                break;
            }
            freed +=
                self.working.tokens()[layout.units[unit].entries.clone()].iter().map(|it| it.total).sum::<Tokens>();
            thinking.leave(unit);
            leaving.push(unit);
            runs += Tokens::from(last.is_none_or(|last| last + 1 != unit));
            last = Some(unit);
        }
        if leaving.len() == notices.len() && notices.len() < 2 {
            return Ok(());
        }
        let units: Vec<u32> = leaving.into_iter().map(|unit| unit as u32).collect();
        let positions = self.leaving(&layout, &units)?;
        let runs: Vec<Vec<usize>> = self.working.runs(&positions).into_iter().map(<[usize]>::to_vec).collect();
        let mut is_told = false;
        for run in runs {
            self.context.check_cancelled()?;
            let is_notice = |position: &usize| self.working.entries()[*position].message.origin == Origin::Notice;
            if run.len() == 1 && run.iter().all(is_notice) {
                is_told = true; // an earlier notice that has nothing to be joined with stays
            } else {
                is_told = self.let_leave(&run, is_told)?;
            }
        }
        Ok(())
    }

    /// Removes a run of messages. A notice takes their place where none precedes them yet and where it is shorter than
    /// they are; the other places get theirs in the end, where there is room (`gaps.rs`). Messages that the host cannot
    /// remove stay. Returns whether there is a notice now.
    fn let_leave(&mut self, run: &[usize], is_told: bool) -> Result<bool, EditRefusal> {
        let reason = Reason::new("oldest-first", "the oldest that may leave, to meet the budget");
        if !is_told {
            let messages = self.covered_messages(run);
            let write =
                |handle: &str| wording::notice(self.context.language, messages, self.context.usable_handle(handle));
            let replacement = Replacement { origin: Origin::Notice, write: &write };
            match self.replace_messages(FLOOR, run, reason.clone(), replacement) {
                Err(EditRefusal::NoGain | EditRefusal::Host(_)) => {}
                other => return other.map(|_| true),
            }
        }
        match self.drop_for_gain(FLOOR, run, reason) {
            Err(EditRefusal::NoGain | EditRefusal::Host(_)) => Ok(is_told),
            dropped => dropped.map(|_| is_told),
        }
    }
}

/// Returns the unit that holds a block.
fn unit_at(layout: &Layout, at: BlockRef) -> usize {
    layout.units.partition_point(|unit| unit.entries.end <= at.message as usize)
}

/// Returns the blocks of units of some kinds that may be edited and satisfy `wanted`, with their tokens.
fn editable(
    working: &WorkingView,
    layout: &Layout,
    of_kind: impl Fn(UnitKind) -> bool,
    wanted: impl Fn(&Block) -> bool,
) -> Vec<(Tokens, BlockRef)> {
    let units = layout.units.iter().zip(&layout.protections);
    let units = units.filter(|(unit, protection)| protection.may_edit() && of_kind(unit.kind));
    editable_blocks(working, units.flat_map(|(unit, _)| unit.entries.clone()), wanted)
}

/// Returns such blocks of the messages at `positions`, whatever their protection.
pub(crate) fn editable_blocks(
    working: &WorkingView,
    positions: impl Iterator<Item = usize>,
    wanted: impl Fn(&Block) -> bool,
) -> Vec<(Tokens, BlockRef)> {
    let mut blocks = Vec::new();
    for message in positions {
        for (block, content) in working.entries()[message].message.blocks.iter().enumerate() {
            if wanted(content) {
                let at = BlockRef { message: message as u32, block: block as u32 };
                blocks.push((working.tokens()[message].blocks[block], at));
            }
        }
    }
    blocks
}
