//! Is the view one that a provider accepts?

use std::collections::HashSet;

use epitome_session::{Change, Entry, EntryKey, Origin, Role, Unit, UnitKind, units};
use epitome_strategy::HostChanges;

use super::{Laws, result_id};
use crate::laws::stays::{may_be_marked, must_stay};

impl Laws<'_> {
    /// Calls and results directly after each other; a call may be open at the end only.
    pub(super) fn pairing(&mut self) {
        // A host that cannot make every change keeps the problems that it came with.
        let known: HashSet<String> = match self.request.host {
            HostChanges::Any => HashSet::new(),
            _ => unpaired_calls(self.before.view()).into_iter().collect(),
        };
        for problem in unpaired_calls(self.after.view()).into_iter().filter(|problem| !known.contains(problem)) {
            self.law("pairing", false, || problem);
        }
    }

    /// The conversation starts with a user's message, and the role of each message fits its content.
    pub(super) fn provider(&mut self) {
        let opens_with_user = |entries: &[Entry]| {
            let first = entries.iter().find(|entry| entry.message.role != Role::System);
            first.is_none_or(|entry| entry.message.role == Role::User)
        };
        let came_so = self.request.host != HostChanges::Any && !opens_with_user(self.before.view());
        let fine = opens_with_user(self.after.view()) || came_so;
        self.law("provider", fine, || "the first message is not a user's".to_owned());
        for entry in self.after.view() {
            let fits = (entry.message.role == Role::Tool) == result_id(&entry.message).is_some();
            self.law("provider", fits, || format!("{} is no {:?} message", entry.message.id, entry.message.role));
        }
    }

    /// In and behind the loop of the first change no signed thinking stays, but that of the newest step and of pinned
    /// messages.
    pub(super) fn thinking(&mut self) {
        if self.request.host != HostChanges::Any {
            return; // it stays where it is, whole: see `Laws::host`
        }
        let Some(first) = self.report.first_changed_message.map(|first| first as usize) else { return };
        let all = units(self.after.view());
        // The loop is looked up in both views: a change may end it early, or join it with the next one.
        let start = loop_start(&units(self.before.view()), first).min(loop_start(&all, first));
        let unchanged: HashSet<EntryKey> = self.before.view().iter().take(start).map(|entry| entry.key).collect();
        let pins = &self.engine.pins;
        // A message is exempt that is pinned in either view: rounds are numbered anew where an empty message has left.
        let kept: HashSet<EntryKey> = [self.before, self.after]
            .iter()
            .flat_map(|session| must_stay(session.view(), pins, HostChanges::Any))
            .map(|(key, _)| key)
            .collect();
        let last_user = all.iter().rposition(|unit| unit.kind == UnitKind::User);
        let newest = all
            .iter()
            .rposition(|unit| unit.kind == UnitKind::Step)
            .filter(|step| last_user.is_none_or(|user| user < *step));
        let mut left = Vec::new();
        for (index, unit) in all.iter().enumerate() {
            let entries = &self.after.view()[unit.entries.clone()];
            let pinned = entries.iter().any(|entry| kept.contains(&entry.key) || may_be_marked(&entry.message, pins));
            if Some(index) == newest || !unit.closed || pinned {
                continue;
            }
            let thinks = |entry: &&Entry| entry.message.has_signed_thinking() && !unchanged.contains(&entry.key);
            left.extend(entries.iter().filter(thinks).map(|entry| entry.message.id.clone()));
        }
        self.law("thinking", left.is_empty(), || format!("{left:?} think in or behind the loop of the first change"));
    }

    /// Repair removes no recorded result of a call that stays, whatever its id; a second one may leave.
    pub(super) fn repaired(&mut self) {
        let Some(epoch) = self.epoch() else { return };
        let removals = epoch.edits.iter().filter(|edit| &*edit.strategy == "repair").flat_map(|edit| &edit.changes);
        let removed: HashSet<EntryKey> =
            removals.filter(|it| matches!(it, Change::Remove { .. })).map(Change::entry).collect();
        let lost: Vec<&Entry> = self
            .before
            .view()
            .iter()
            .filter(|entry| removed.contains(&entry.key) && entry.message.origin == Origin::Tool)
            .collect();
        for result in lost {
            // A call in front of it stays, and is now answered by the engine's own words.
            let is_robbed = |unit: &&Unit| {
                let entries = &self.after.view()[unit.entries.clone()];
                let earlier = entries.first().is_some_and(|call| call.position < result.position);
                earlier
                    && entries.iter().any(|entry| {
                        entry.message.origin == Origin::Answer
                            && result_id(&entry.message) == result_id(&result.message)
                    })
            };
            let robbed = units(self.after.view()).iter().any(|unit| is_robbed(&unit));
            self.law("repair", !robbed, || format!("result {} left, its call stays", result.message.id));
            let id = result_id(&result.message).unwrap_or_default();
            let is_second = self.before.log().iter().flat_map(|it| it.calls()).any(|(_, call)| &*call.id == id);
            let was_open = self.is_open_in_front_of(result);
            self.law("repair", is_second || !was_open, || {
                format!("result {} left for its id, and a call in front of it was open", result.message.id)
            });
        }
    }
}

impl Laws<'_> {
    /// Whether a call of the step in front of a result had no recorded result.
    fn is_open_in_front_of(&self, result: &Entry) -> bool {
        let view = self.before.view();
        let at = view.iter().position(|entry| entry.key == result.key).unwrap_or_default();
        let Some(caller) = view[..at].iter().rposition(|entry| entry.message.calls().next().is_some()) else {
            return false;
        };
        let unit = units(view).into_iter().find(|unit| unit.entries.start == caller);
        unit.is_some_and(|unit| !unit.closed && view[unit.entries].iter().all(|it| it.message.text_calls.is_empty()))
    }
}

/// Returns what is wrong with the calls and results of a view.
pub(super) fn unpaired_calls(entries: &[Entry]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut at = 0;
    while at < entries.len() {
        let message = &entries[at].message;
        if message.role == Role::Tool {
            problems.push(format!("result {} has no call", message.id));
        }
        let mut open: Vec<&str> = message.calls().map(|(_, call)| call.id.as_ref()).collect();
        at += 1;
        while at < entries.len() && entries[at].message.role == Role::Tool && !open.is_empty() {
            let id = result_id(&entries[at].message);
            let Some(index) = open.iter().position(|open| Some(*open) == id) else { break };
            open.remove(index);
            at += 1;
        }
        let last = entries[at..].iter().all(|entry| entry.message.is_system_prompt());
        if !open.is_empty() && !last {
            problems.push(format!("calls {open:?} of {} are unanswered", message.id));
        }
    }
    problems
}

/// Returns the position where the loop of steps with the message at `position` starts; `position` where there is none.
fn loop_start(units: &[Unit], position: usize) -> usize {
    let Some(unit) = units.iter().position(|unit| unit.entries.contains(&position)) else { return position };
    let steps = units[..=unit].iter().rev().take_while(|unit| unit.kind == UnitKind::Step).count();
    if steps == 0 { position } else { units[unit + 1 - steps].entries.start }
}
