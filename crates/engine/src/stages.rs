//! The engine's own stages: repair before the chain, thinking and opening after each pass. The floor is in `floor.rs`.

use std::collections::HashSet;

use epitome_session::heading::missing_result;
use epitome_session::{
    Entry, Message, OpenCalls, Origin, Position, Reason, Role, ToolCall, ToolResult, Unit, UnitKind,
};
use epitome_strategy::{HostChanges, Protection};

use crate::context::Context;
use crate::editor::{BlockEdit, Editor};
use crate::guard::{self, EditRefusal, Guard, HostChange};
use crate::ledger::is_blank;
use crate::wording;

pub(crate) const REPAIR: &str = "repair";
pub(crate) const THINKING: &str = "thinking";

/// The code of the reason of a result that no call can exist for.
pub(crate) const ORPHAN: &str = "orphan-result";
/// The code of the reason of an answer to a call whose result was never recorded.
pub(crate) const MISSING: &str = "missing-result";
/// The code of the reason of a message without content.
pub(crate) const EMPTY: &str = "empty-message";

impl Editor<'_> {
    /// Makes a recorded history one that a provider accepts, where the host can make every change: results that no call can
    /// exist for and messages without content leave, a call that was never answered and is no longer open gets an answer.
    /// A result whose call is there was given its call's id when it came into the session.
    ///
    /// Establishes the pairing invariant, which edits of whole units then cannot break. Linear.
    pub(crate) fn repair(&mut self) -> Result<(), EditRefusal> {
        // Half of a repair would be none: a host that cannot make every change keeps what it has.
        if !self.context.guards.on(Guard::Pairing) || self.check_host(HostChange::Addition).is_err() {
            return Ok(());
        }
        let layout = self.layout();
        let entries = self.working.entries();
        let paired = guard::pairing(entries, &layout.units).is_none();
        let mut orphans = Vec::new();
        let mut empty = Vec::new();
        let mut dead: Vec<(Position, String, Vec<ToolResult>)> = Vec::new();
        let last = layout.units.iter().rposition(|unit| unit.kind != UnitKind::System);
        for (index, unit) in layout.units.iter().enumerate() {
            if !paired && unit.kind == UnitKind::Orphan {
                orphans.extend(unit.entries.clone());
            } else if !paired && !unit.closed && Some(index) != last {
                dead.extend(missing_results(entries, unit, self.context));
            } else if unit.entries.len() == 1 && is_blank(&entries[unit.entries.start].message) {
                empty.extend(unit.entries.clone());
            }
        }
        for (positions, code, detail) in
            [(orphans, ORPHAN, "a result without its call"), (empty, EMPTY, "a message without content")]
        {
            if !positions.is_empty() {
                self.drop_messages(REPAIR, &positions, Reason::new(code, detail))?;
            }
        }
        for (call, caller, results) in dead {
            for result in results {
                let sequence = self.working.synthetics.len() as u32;
                let mut message = Message::result("", result);
                message.origin = Origin::Answer;
                let position = Position::answer(call, self.context.epoch, sequence);
                let detail = format!("answers a call of {caller} whose result was never recorded");
                let reason = Reason::new(MISSING, detail);
                self.write(REPAIR, position, message, reason);
            }
        }
        self.working.end_pass();
        Ok(())
    }

    /// Makes the changes that an edit entails, after each pass: where the model would open the conversation a user's
    /// message is put in front, and the signed thinking of every loop at or behind the first change leaves.
    ///
    /// Invariant (thinking): the signed thinking of a loop (the steps between two messages on the user's side) stays whole,
    /// with all its messages untouched, or leaves whole; only the newest step keeps its own, because the provider wants it
    /// to answer the results behind it. A host that limits the changes keeps all thinking where it is: it leaves out what
    /// its provider refuses when it renders the messages. Linear in the view.
    pub(crate) fn restore_validity(&mut self) -> Result<(), EditRefusal> {
        self.working.end_pass();
        if self.working.is_untouched() {
            return Ok(());
        }
        if self.context.guards.on(Guard::Provider)
            && self.check_host(HostChange::Addition).is_ok()
            && let Some(first) = guard::provider(self.working.entries())
        {
            let sequence = self.working.synthetics.len() as u32;
            let message = Message::text("", Role::User, Origin::Notice, wording::opening(self.context.language));
            let position = Position::before(self.working.entries()[first].position, self.context.epoch, sequence);
            let reason = Reason::new("opening", "the conversation would start with the model");
            self.write(REPAIR, position, message, reason);
            self.working.end_pass();
        }
        if self.context.guards.on(Guard::Thinking)
            && (self.working.host == HostChanges::Any || !self.context.guards.on(Guard::Host))
            && let Some(first) = self.working.first_change()
        {
            self.strip_thinking_behind(first)?;
        }
        Ok(())
    }

    /// Takes the signed thinking out of every loop at or behind the message at `first`, which is the first change. Linear.
    pub(crate) fn strip_thinking_behind(&mut self, first: usize) -> Result<(), EditRefusal> {
        let layout = self.layout();
        let unit = layout.units.partition_point(|unit| unit.entries.end <= first);
        // Back to the start of the loop that holds the first change.
        let loop_start = layout.units[..unit.min(layout.units.len())]
            .iter()
            .rposition(|unit| unit.kind != UnitKind::Step)
            .map_or(0, |user| user + 1);
        let mut emptied = Vec::new();
        let newest_user = layout.units.iter().rposition(|unit| unit.kind == UnitKind::User);
        let newest_step = layout.units.iter().rposition(|unit| unit.kind == UnitKind::Step);
        let newest_step = newest_step.filter(|step| newest_user.is_none_or(|user| user < *step));
        for (index, unit) in layout.units.iter().enumerate().skip(loop_start) {
            // The newest step keeps its own. A pinned one stays byte-identical, and its thinking is left out when the
            // view is rendered for a provider that would refuse it. One of the newest messages that are to stay loses
            // its thinking, and so does a step that read rules.
            let is_recent = matches!(layout.protections[index], Protection::RecentMessage | Protection::Instructions)
                && Some(index) != newest_step;
            if !layout.protections[index].may_leave() && !is_recent {
                continue;
            }
            for position in unit.entries.clone() {
                for block in 0..self.working.entries()[position].message.blocks.len() {
                    if self.working.entries()[position].message.blocks[block].is_signed_thinking() {
                        let detail = "signed thinking is not valid behind an edited prefix";
                        let reason = Reason::new("thinking-behind-edit", detail);
                        let edit = BlockEdit::new(THINKING, position as u32, block as u32, reason);
                        self.strip(edit, |_| None)?;
                    }
                }
                if unit.entries.len() == 1 && is_blank(&self.working.entries()[position].message) {
                    emptied.push(position);
                }
            }
        }
        if !emptied.is_empty() {
            let reason = Reason::new(EMPTY, "nothing is left of it without its thinking");
            self.drop_messages(THINKING, &emptied, reason)?;
            self.working.end_pass();
        }
        Ok(())
    }
}

/// Returns answers for the calls of `unit` that have none, by the messages that made them: the place and the id of each.
fn missing_results(entries: &[Entry], unit: &Unit, context: &Context<'_>) -> Vec<(Position, String, Vec<ToolResult>)> {
    let mut open = OpenCalls::default();
    let mut answered: HashSet<(usize, usize)> = HashSet::new();
    for position in unit.entries.clone() {
        let message = &entries[position].message;
        message.calls().for_each(|(block, call)| open.open(position, call, block));
        answered.extend(message.blocks.iter().filter_map(|block| open.answer(block.as_result()?)));
    }
    let answer = |call: &ToolCall| ToolResult {
        call_id: call.id.clone(),
        name: None,
        text: missing_result(context.language).into(),
        attachments: Vec::new(),
        is_error: true,
    };
    let of_message = |position: usize| {
        let Entry { position: place, message, .. } = &entries[position];
        let unanswered = message.calls().filter(|(block, _)| !answered.contains(&(position, *block)));
        let answers: Vec<ToolResult> = unanswered.map(|(_, call)| answer(call)).collect();
        (!answers.is_empty()).then(|| (*place, message.id.to_string(), answers))
    };
    unit.entries.clone().filter_map(of_message).collect()
}
