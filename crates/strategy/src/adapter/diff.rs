//! Compares the messages that a function left with the view, and makes edits of the differences.

use std::collections::HashMap;
use std::ops::Range;

use epitome_session::{Block, Content, Message, Reason, Role};

use super::arguments::{self, Change};
use super::shortened::shortened;
use crate::plan::{Edit, Plan, SummaryText};
use crate::services::Tokens;
use crate::summaries::{SUMMARY_OVERHEAD, neighbours};
use crate::text;
use crate::view::View;

/// What a function may do, as the end of an error message.
const ALLOWED: &str =
    "a text may only lose parts; words of your own go into a new message in place of messages that leave";

/// Returns the edits that turn `view` into `left`. The error names a message and says what is allowed.
pub(super) fn plan(view: &View<'_>, left: &[Message]) -> Result<Plan, String> {
    let rows = align_messages(view, left)?;
    whole_units(view, &rows)?;
    let mut edits = Vec::new();
    let mut protected = leaving(view, left, &rows, &mut edits)?;
    for (row, message) in rows.iter().zip(left) {
        let Some(position) = *row else { continue };
        let mut changed = Vec::new();
        compare_messages(view.message(position), position as u32, message, &mut changed)?;
        if view.protection(view.unit_of(position)).may_edit() {
            edits.append(&mut changed);
        } else {
            protected += usize::from(!changed.is_empty());
        }
    }
    Ok(Plan::from_edits(
        edits,
        match protected {
            0 => "the function gave the messages back as they were".to_owned(),
            count => format!("the function changed {}, all of them protected", text::counted(count, "message")),
        },
    ))
}

/// Returns for each message of `left` its position in the view, `None` for a new one. Positions rise.
fn align_messages(view: &View<'_>, left: &[Message]) -> Result<Vec<Option<usize>>, String> {
    let positions: HashMap<&str, usize> =
        view.messages().enumerate().map(|(position, message)| (message.id.as_str(), position)).collect();
    let mut next = 0;
    let row = |message: &Message| match positions.get(message.id.as_str()) {
        Some(position) if *position < next => Err(format!(
            "message `{}` stands twice, or behind one that it preceded; messages keep their order",
            message.id
        )),
        Some(position) => {
            next = position + 1;
            Ok(Some(*position))
        }
        None => Ok(None),
    };
    left.iter().map(row).collect()
}

/// Errors for a unit of which only a part has left.
fn whole_units(view: &View<'_>, rows: &[Option<usize>]) -> Result<(), String> {
    let mut stays = vec![false; view.len()];
    rows.iter().flatten().for_each(|position| stays[*position] = true);
    for unit in view.units() {
        let missing = unit.entries.clone().find(|position| !stays[*position]);
        let there = unit.entries.clone().find(|position| stays[*position]);
        if let (Some(missing), Some(there)) = (missing, there) {
            return Err(format!(
                "message `{}` left without `{}`; a model's message and the results of its calls leave together",
                view.message(missing).id,
                view.message(there).id
            ));
        }
    }
    Ok(())
}

/// Adds one edit for every run of units that left: a summary where a new message replaces them. Returns how many
/// protected messages left and stay all the same.
fn leaving(view: &View<'_>, left: &[Message], rows: &[Option<usize>], edits: &mut Vec<Edit>) -> Result<usize, String> {
    let mut protected = 0;
    let mut summary: Option<&Message> = None;
    let mut next = 0;
    for (row, message) in rows.iter().zip(left) {
        if let Some(position) = row {
            let unit = view.unit_of(*position);
            protected += run(view, next..unit.max(next), summary.take(), edits)?;
            next = unit + 1;
        } else if let Some(first) = summary.replace(message) {
            return Err(format!(
                "messages `{}` and `{}` are both new and stand together; one new message may stand in place of messages \
                 that leave",
                first.id, message.id
            ));
        }
    }
    Ok(protected + run(view, next..view.units().len(), summary, edits)?)
}

/// Returns the edit for units that left, with the new message that replaces them.
fn run(
    view: &View<'_>,
    units: Range<usize>,
    summary: Option<&Message>,
    edits: &mut Vec<Edit>,
) -> Result<usize, String> {
    let messages =
        |units: &[u32]| -> usize { units.iter().map(|unit| view.units()[*unit as usize].entries.len()).sum() };
    let all: Vec<u32> = units.map(|unit| unit as u32).collect();
    let free: Vec<u32> = all.iter().copied().filter(|unit| view.protection(*unit as usize).may_leave()).collect();
    let count = messages(&free);
    let protected = messages(&all) - count;
    let beside = if protected > 0 { format!("; {protected} protected ones stay") } else { String::new() };
    let text = match summary {
        Some(message) if all.is_empty() => {
            return Err(format!(
                "message `{}` is new, and nothing left where it stands; a new message may only take the place of messages \
                 that leave",
                message.id
            ));
        }
        Some(message) => Some(summary_text(message)?),
        None => None,
    };
    let left_out = |units: Vec<u32>, beside: &str| {
        let detail = format!("{} left out{beside}", text::counted(messages(&units), "message"));
        Edit::Drop { units, reason: Reason::new("left-out-by-function", detail) }
    };
    match (text, summary) {
        _ if free.is_empty() => {}
        (Some(text), Some(message)) => {
            let place = place(view, &free, &text).ok_or_else(|| {
                format!(
                    "message `{}` takes the place of messages between which protected ones stay, and is longer than any of \
                     their runs; give one new message for each side of what stays",
                    message.id
                )
            })?;
            let (before, after): (Vec<u32>, Vec<u32>) =
                free.into_iter().filter(|unit| !place.contains(unit)).partition(|unit| *unit < place[0]);
            let reason = Reason::new(
                "replaced-by-function",
                format!("{} became one text{beside}", text::counted(count, "message")),
            );
            edits.push(Edit::Summarize { units: place, summary: SummaryText::Ready(text), reason });
            let elsewhere = "; told in the text of the newest run";
            edits.extend([before, after].into_iter().filter(|it| !it.is_empty()).map(|it| left_out(it, elsewhere)));
        }
        _ => edits.push(left_out(free, &beside)),
    }
    Ok(protected)
}

/// Returns the units that the new message for `units` replaces: the newest run of neighbours that is longer than the
/// message, so that its content is older than all text behind it. In an older place it could put later text in front of
/// the messages that it answers. `None` where no run is longer.
fn place(view: &View<'_>, units: &[u32], text: &str) -> Option<Vec<u32>> {
    let mut runs = neighbours(view, units);
    if runs.len() < 2 {
        return runs.pop();
    }
    let tokens = view.count(text) + SUMMARY_OVERHEAD;
    let size = |run: &Vec<u32>| run.iter().map(|unit| view.unit_tokens(*unit as usize)).sum::<Tokens>();
    runs.into_iter().rfind(|run| size(run) > tokens)
}

/// Returns the text of a new message.
fn summary_text(message: &Message) -> Result<String, String> {
    let is_text = |block: &Block| matches!(block.content, Content::Text { .. });
    let text = message.plain_text();
    if message.role != Role::User || !message.blocks.iter().all(is_text) || text.trim().is_empty() {
        return Err(format!("message `{}` is new; a new message is a user's, and holds text only", message.id));
    }
    Ok(text)
}

/// Returns the edits of one message that stays.
fn compare_messages(old: &Message, position: u32, new: &Message, edits: &mut Vec<Edit>) -> Result<(), String> {
    let head = |message: &Message| (message.role, message.origin, message.name.clone(), message.pinned);
    if head(old) != head(new) {
        return Err(format!("message `{}` has another role, origin, name or pin than before; {ALLOWED}", old.id));
    }
    let mut blocks = new.blocks.iter().peekable();
    for (index, old_block) in old.blocks.iter().enumerate() {
        let missing = old.blocks.len() - index > blocks.len();
        let change = match blocks.peek() {
            Some(block) => change_of(old_block, block),
            None => Err("is gone".to_owned()),
        };
        let change = match change {
            // A block that left: the block in its place is a later one.
            Err(_) if missing && old_block.excerptable().is_some() => Some(BlockChange::Keep(Vec::new())),
            Err(_) if missing && matches!(old_block.content, Content::Gone) => None,
            Err(problem) => return Err(format!("message `{}`, block {index}: {problem}; {ALLOWED}", old.id)),
            Ok(change) => {
                blocks.next();
                change
            }
        };
        let block = index as u32;
        match change {
            None => {}
            Some(BlockChange::Keep(keep)) => {
                let (of, kept) = (old_block.excerptable().map_or(0, |text| text.len()), kept_bytes(&keep));
                let reason = Reason::new("cut-by-function", format!("{kept} of {of} bytes are left"));
                edits.push(Edit::Excerpt { message: position, block, keep, reason });
            }
            Some(BlockChange::Trim(max_chars)) => {
                let reason = Reason::new("cut-by-function", format!("strings were cut to {max_chars} characters"));
                edits.push(Edit::Trim { message: position, block, max_chars, reason });
            }
        }
    }
    match blocks.next() {
        Some(_) => Err(format!("message `{}` has more blocks than before; {ALLOWED}", old.id)),
        None => Ok(()),
    }
}

fn kept_bytes(keep: &[Range<u32>]) -> u32 {
    keep.iter().map(|range| range.end - range.start).sum()
}

enum BlockChange {
    Keep(Vec<Range<u32>>),
    Trim(u32),
}

/// Returns the change of a block; the error names the part that is not expressible as an edit.
fn change_of(old: &Block, new: &Block) -> Result<Option<BlockChange>, String> {
    if old.content == new.content {
        return Ok(None);
    }
    if let (Content::ToolCall(old), Content::ToolCall(new)) = (&old.content, &new.content) {
        if (&old.id, &old.name) != (&new.id, &new.name) {
            return Err("is another call than before".to_owned());
        }
        return match arguments::change(&old.arguments, &new.arguments) {
            Change::None => Ok(None),
            Change::Cut(max_chars) => Ok(Some(BlockChange::Trim(max_chars))),
            Change::Other(problem) => Err(problem),
        };
    }
    let (Some(old_text), Some(new_text)) = (old.excerptable(), new.excerptable()) else {
        return Err("changed, and is not text that may be cut".to_owned());
    };
    // Everything but the text must be unchanged.
    if old.with_text(new_text.clone()).content != new.content {
        return Err("is of another kind, or of another call, than before".to_owned());
    }
    shortened(old_text, new_text)
        .map(|keep| Some(BlockChange::Keep(keep)))
        .map_err(|at| format!("the text was rewritten, first at byte {at} of what came back"))
}
