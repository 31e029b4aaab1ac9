//! The floor stage: no model, no network, no strategy; it ends every chain that did not meet the target.

use std::ops::Range;

use epitome_session::{Block, Reason, UnitKind};
use epitome_strategy::{Archive, BlockRef, Protection, Tokens, text};

use crate::guard::Refusal;
use crate::report::{Floor, FloorPart};
use crate::stages::{Before, entail};
use crate::wording;
use crate::working::{BlockEdit, Context, NOTICE, Replacement, Working};

pub(crate) const FLOOR: &str = "floor";

/// A text of fewer tokens is not cut: its mark would cost as much.
const SHORTEST_TEXT: Tokens = 40;

/// Arguments are cut at this many characters first and, where that is not enough, at the second.
const ARGUMENT_CHARS: [u32; 2] = [200, 20];

/// Tokens that a notice may take: the wording and a handle, with room for large numbers.
const NOTICE_TOKENS: Tokens = 40;

/// Makes room until the target is met or nothing more may leave: giant texts are cut, the oldest units leave with one
/// notice, then the newest step's own texts and arguments shrink.
///
/// Linear in the view for each of a bounded number of passes.
pub(crate) fn make_room(
    working: &mut Working,
    context: &Context<'_>,
    archive: &mut dyn Archive,
    before: &Before,
    target: Tokens,
) -> Result<(), Refusal> {
    cut_texts(working, context, archive, target, (target / 4).max(SHORTEST_TEXT * 4))?;
    entail(working, context, archive, before)?;
    // A second round covers what the first one entails: a notice, a message in front.
    for _ in 0..2 {
        if working.total <= target {
            return Ok(());
        }
        leave_oldest(working, context, archive, target)?;
        entail(working, context, archive, before)?;
    }
    for (round, max_chars) in [(0, None), (1, Some(ARGUMENT_CHARS[0])), (2, Some(ARGUMENT_CHARS[1])), (3, None)] {
        if working.total <= target {
            return Ok(());
        }
        match max_chars {
            Some(max_chars) => trim_arguments(working, context, archive, max_chars)?,
            None => cut_texts(working, context, archive, target, if round == 0 { target / 16 } else { 0 })?,
        }
        entail(working, context, archive, before)?;
    }
    Ok(())
}

/// Cuts editable texts of more than `allowance` tokens to it, largest first, until the target is met.
fn cut_texts(
    working: &mut Working,
    context: &Context<'_>,
    archive: &mut dyn Archive,
    target: Tokens,
    allowance: Tokens,
) -> Result<(), Refusal> {
    let layout = working.layout(context.pins);
    let mut texts = editable(working, &layout.protections, &layout.units, |block| block.excerptable().is_some());
    texts.retain(|(tokens, _)| *tokens > allowance.max(SHORTEST_TEXT));
    texts.sort_by_key(|(tokens, at)| (std::cmp::Reverse(*tokens), *at));
    for (tokens, at) in texts {
        let excess = working.total.saturating_sub(target);
        if excess == 0 {
            break;
        }
        let mut keep = tokens.saturating_sub(excess).saturating_sub(SHORTEST_TEXT).max(allowance);
        // The share of bytes is an estimate of the share of tokens: a few tries come down to it, the last one leaves a stub.
        for attempt in 0..4 {
            let block = &working.entries[at.message as usize].message.blocks[at.block as usize];
            let Some(shown) = block.excerptable() else { break };
            let kept = if attempt == 3 { Vec::new() } else { ends(shown, keep, tokens) };
            let detail =
                format!("{} of {} tokens stay", wording::grouped(keep.into()), wording::grouped(tokens.into()));
            let reason = Reason::new("over-budget", detail);
            let edit = BlockEdit::new(FLOOR, at.message, at.block, reason);
            match working.excerpt(context, archive, &layout, edit, &kept) {
                Ok(_) | Err(Refusal::Overlaps) => break,
                Err(Refusal::NoGain) => keep /= 2,
                Err(Refusal::Archive(problem)) => return Err(Refusal::Archive(problem)),
                Err(_) => break,
            }
        }
    }
    Ok(())
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
fn editable(
    working: &Working,
    protections: &[Protection],
    units: &[epitome_session::Unit],
    wanted: impl Fn(&Block) -> bool,
) -> Vec<(Tokens, BlockRef)> {
    let mut found = Vec::new();
    for (unit, protection) in units.iter().zip(protections) {
        if !protection.may_edit() {
            continue;
        }
        for message in unit.entries.clone() {
            for (block, content) in working.entries[message].message.blocks.iter().enumerate() {
                if wanted(content) {
                    let at = BlockRef { message: message as u32, block: block as u32 };
                    found.push((working.tokens[message].blocks[block], at));
                }
            }
        }
    }
    found
}

fn trim_arguments(
    working: &mut Working,
    context: &Context<'_>,
    archive: &mut dyn Archive,
    max_chars: u32,
) -> Result<(), Refusal> {
    let layout = working.layout(context.pins);
    for (_, at) in editable(working, &layout.protections, &layout.units, |block| block.as_call().is_some()) {
        let reason = Reason::new("over-budget", format!("arguments longer than {max_chars} characters"));
        let edit = BlockEdit::new(FLOOR, at.message, at.block, reason);
        if let Err(refusal @ Refusal::Archive(_)) = working.trim(context, archive, &layout, edit, max_chars) {
            return Err(refusal);
        }
    }
    Ok(())
}

/// Lets the oldest units leave, as many as it takes and summaries last, and puts one notice in their place. Notices of
/// earlier compactions go into the new one.
fn leave_oldest(
    working: &mut Working,
    context: &Context<'_>,
    archive: &mut dyn Archive,
    target: Tokens,
) -> Result<(), Refusal> {
    let layout = working.layout(context.pins);
    let is_notice = |unit: usize| {
        let entry = &working.entries[layout.units[unit].entries.start];
        layout.units[unit].kind == UnitKind::Summary && entry.message.name.as_deref() == Some(NOTICE)
    };
    let free = |unit: &usize| layout.protections[*unit].may_leave();
    let (summaries, others): (Vec<usize>, Vec<usize>) = (0..layout.units.len())
        .filter(free)
        .filter(|unit| !is_notice(*unit))
        .partition(|unit| layout.units[*unit].kind == UnitKind::Summary);
    let mut leaving: Vec<usize> = (0..layout.units.len()).filter(|unit| free(unit) && is_notice(*unit)).collect();
    let notices = leaving.len();
    let wanted = (working.total - target).saturating_add(NOTICE_TOKENS);
    let tokens_of = |unit: &usize| -> Tokens {
        working.tokens[layout.units[*unit].entries.clone()].iter().map(|it| it.total).sum()
    };
    let mut freed: Tokens = leaving.iter().map(tokens_of).sum();
    for unit in others.into_iter().chain(summaries) {
        if freed >= wanted {
            break;
        }
        freed += tokens_of(&unit);
        leaving.push(unit);
    }
    if leaving.len() == notices {
        return Ok(());
    }
    let units: Vec<u32> = leaving.into_iter().map(|unit| unit as u32).collect();
    let positions = working.leaving(context, &layout, &units)?;
    let reason = Reason::new("oldest-first", "the oldest that may leave, to meet the budget");
    let messages = positions.len();
    let write = |handle: &str| wording::notice(context.language, messages, freed, handle);
    let replacement = Replacement { name: Some(NOTICE), write: &write };
    match working.replace_messages(context, archive, FLOOR, &positions, reason.clone(), replacement) {
        Err(Refusal::NoGain) => working.drop_messages(context, archive, FLOOR, &positions, reason).map(drop),
        other => other.map(drop),
    }
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
