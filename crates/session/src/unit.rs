//! Units: the smallest groups of entries that may leave the context whole.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::fold::Entry;
use crate::message::{Origin, Role};

/// The kind of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnitKind {
    /// A system or developer message.
    System,
    /// A genuine user turn: it starts a round.
    User,
    /// A user-role message that no person typed.
    Injected,
    /// A model's message with all its calls and their results, and those of the programs that it started.
    Step,
    /// A summary or notice of an earlier compaction.
    Summary,
    /// A tool result without a call.
    Orphan,
}

/// The smallest group that may leave whole: consecutive entries of a view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Its kind.
    pub kind: UnitKind,
    /// Its entries, as positions in the view that it was computed from.
    pub entries: Range<usize>,
    /// Whether every call in it is answered. Only closed units may be edited.
    pub closed: bool,
    /// How many genuine user turns precede or start it: 0 before the first, 1 for the first turn and its work.
    pub round: u32,
}

/// Returns the units of a view, in order; every entry belongs to exactly one. Linear in the view.
///
/// A step includes the results that answer its calls and follow it directly, and while one of these calls is a program that
/// waits, the messages with the calls that are made from it; for an agent that calls tools in plain text, the outputs that follow.
pub fn units(entries: &[Entry]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut round = 0;
    let mut at = 0;
    while at < entries.len() {
        let message = &entries[at].message;
        let (kind, end, closed) = match (message.role, message.origin) {
            (Role::User | Role::System, Origin::Summary | Origin::Notice) => (UnitKind::Summary, at + 1, true),
            (Role::System, _) => (UnitKind::System, at + 1, true),
            (Role::Tool, _) => (UnitKind::Orphan, at + 1, true),
            (Role::User, Origin::Typed) => (UnitKind::User, at + 1, true),
            (Role::User, _) => (UnitKind::Injected, at + 1, true),
            (Role::Assistant, _) => {
                let (end, closed) = step_end(entries, at);
                (UnitKind::Step, end, closed)
            }
        };
        round += u32::from(kind == UnitKind::User);
        units.push(Unit { kind, entries: at..end, closed, round });
        at = end;
    }
    units
}

/// Returns where the step that starts at `start` ends, and whether all its calls are answered.
fn step_end(entries: &[Entry], start: usize) -> (usize, bool) {
    let message = &entries[start].message;
    // By id how many calls wait for a result: a message may have thousands of calls, so each is looked up and not
    // searched for.
    let mut open: HashMap<&str, usize> = HashMap::new();
    let mut waiting = 0;
    let mut end = start;
    loop {
        for (_, call) in entries[end].message.calls() {
            *open.entry(&call.id).or_default() += 1;
            waiting += 1;
        }
        end += 1;
        while let Some(entry) = entries.get(end)
            && entry.message.role == Role::Tool
            && let Some(result) = entry.message.blocks.iter().find_map(|block| block.as_result())
            && let Some(open) = open.get_mut(result.call_id.as_ref()).filter(|open| **open > 0)
        {
            *open -= 1;
            waiting -= 1;
            end += 1;
        }
        // A program that waits goes on to call in the model's next message.
        let is_open = |program: &str| open.get(program).is_some_and(|open| *open > 0);
        let next = entries.get(end).map(|entry| &entry.message).filter(|next| next.role == Role::Assistant);
        if !next.and_then(|next| next.program.as_deref()).is_some_and(is_open) {
            break;
        }
    }
    if message.text_calls.is_empty() {
        return (end, waiting == 0);
    }
    let results_end = end;
    while let Some(entry) = entries.get(end)
        && entry.message.role == Role::User
        && entry.message.origin == Origin::ToolOutput
    {
        end += 1;
    }
    // A call in plain text is open only while nothing has followed it.
    let awaiting = end == results_end && end == entries.len();
    (end, waiting == 0 && !awaiting)
}

#[cfg(test)]
#[path = "unit_tests.rs"]
mod tests;
