#![doc = include_str!("../README.md")]

mod paths;
mod span;

use std::collections::HashMap;

use epitome_strategy::{
    BlockRef, Edit, Facts, FileAccess, FileEvent, Goal, Plan, PlanError, Reason, ToolOutput, View, settings, strategy,
};

use crate::paths::Paths;
use crate::span::Span;

settings! {
    /// Settings of `superseded-reads`.
    pub struct Settings {}
    constants {
        /// Shorter outputs are left alone: a stub would cost as much.
        min_tokens: u32 = 60;
    }
}

strategy! {
    /// Reads that a later read or write makes redundant become stubs: see the crate's page.
    pub struct SupersededReads(Settings) {
        id: "superseded-reads",
        summary: "Clears file reads that a later read or whole write makes redundant, and repeated tool output.",
        lossiness: Redundant,
        since: "0.1.0",
    }
}

impl SupersededReads {
    fn make_plan(&self, view: &View<'_>, _: &Goal) -> Result<Plan, PlanError> {
        let facts = view.facts();
        // One reason for each output, by its position in the facts: oldest first when read in order.
        let mut reasons: Vec<Option<Reason>> = vec![None; facts.outputs().len()];
        self.find_superseded(view, facts, &mut reasons);
        find_duplicates(facts, &mut reasons);
        let edits = facts
            .outputs()
            .iter()
            .zip(reasons)
            .filter_map(|(output, reason)| Some((output, reason?)))
            .filter(|(output, _)| self.may_clear(view, output))
            .map(|(output, reason)| Edit::Excerpt {
                message: output.at.message,
                block: output.at.block,
                keep: Vec::new(),
                reason,
            })
            .collect();
        Ok(Plan::from_edits(edits, "no tool output is redundant"))
    }

    fn may_clear(&self, view: &View<'_>, output: &ToolOutput<'_>) -> bool {
        output.tokens >= self.settings.min_tokens
            && output.tokens > view.mark_tokens()
            && view.protection(output.unit as usize).may_edit()
    }

    /// Walks each file's history from its end, so that later events are known when a read is met.
    fn find_superseded(&self, view: &View<'_>, facts: &Facts<'_>, reasons: &mut [Option<Reason>]) {
        let events = facts.file_events();
        let files = Paths::new(events);
        let positions: HashMap<BlockRef, usize> =
            facts.outputs().iter().enumerate().map(|(index, output)| (output.at, index)).collect();
        let mut later: HashMap<u32, LaterEvents> = HashMap::new();
        for (index, event) in events.iter().enumerate().rev().filter(|(_, event)| !event.failed) {
            let call = &facts.calls()[event.call as usize];
            let known = later.entry(files.file(index)).or_default();
            let output = call.output.and_then(|at| positions.get(&at)).copied();
            let is_edited = view.entries()[call.at.message as usize].is_edited();
            match (event.access, output) {
                (FileAccess::Edit, _) => known.see_edit(),
                // A call that was shortened no longer shows what was written.
                (FileAccess::Write, _) if is_edited => known.see_edit(),
                (FileAccess::Write, _) => known.see_write(),
                (FileAccess::ReadWhole | FileAccess::ReadPart, Some(output)) => {
                    let shown = &facts.outputs()[output];
                    if shown.is_error || is_pointer(shown.text) {
                        continue;
                    }
                    let span = Span::new(event);
                    reasons[output] = known.supersedes(&span, shown.tokens, event);
                    // An excerpt does not show the file: it supersedes nothing.
                    if !shown.is_excerpted {
                        known.see_read(span, shown.tokens);
                    }
                }
                (FileAccess::ReadWhole | FileAccess::ReadPart, None) => {}
            }
        }
    }
}

/// Whether an output only points at an earlier one, as some agents answer a read of an unchanged file.
fn is_pointer(text: &str) -> bool {
    let start = text.get(..200.min(text.len())).unwrap_or(text).to_ascii_lowercase();
    text.len() < 1000 && (start.contains("unchanged since") || start.contains("has not changed since"))
}

/// The later events of a file, seen from the present place of the walk.
#[derive(Debug, Default)]
struct LaterEvents {
    written: bool,
    /// Parts that a later read shows; tokens of that read, and whether the file was changed between here and there.
    reads: Vec<(Span, u32, bool)>,
}

impl LaterEvents {
    fn see_edit(&mut self) {
        self.reads.iter_mut().for_each(|(_, _, changed)| *changed = true);
    }

    fn see_write(&mut self) {
        self.see_edit();
        self.written = true;
    }

    fn see_read(&mut self, span: Span, tokens: u32) {
        // A read that shows as much and is nearer makes the others unnecessary, so the list stays short.
        self.reads.retain(|(later, length, _)| !span.covers(later) || tokens < *length);
        self.reads.truncate(15);
        self.reads.push((span, tokens, false));
    }

    /// Returns why a read of `span` is redundant, if it is.
    fn supersedes(&self, span: &Span, tokens: u32, event: &FileEvent) -> Option<Reason> {
        let path = &event.path;
        // The tool cut off a later read that is much shorter, although the file is unchanged.
        let shows = |(later, length, changed): &(Span, u32, bool)| {
            later.covers(span) && (*changed || u64::from(*length) * 2 >= u64::from(tokens))
        };
        let reason = |code: &str, detail: String| Some(Reason::new(code, detail).with_evidence(path));
        if self.reads.iter().any(shows) {
            reason("read-again", format!("{path} was read again later"))
        } else if self.written {
            reason("written-later", format!("{path} was written whole later"))
        } else {
            None
        }
    }
}

fn find_duplicates(facts: &Facts<'_>, reasons: &mut [Option<Reason>]) {
    for (earlier, newest) in facts.repeats() {
        let slot = &mut reasons[*earlier as usize];
        if slot.is_none() {
            let tool = facts.outputs()[*newest as usize].tool;
            let tool = if tool.is_empty() { "a tool" } else { tool };
            *slot = Some(Reason::new("duplicate-output", format!("the same output of {tool} stands again later")));
        }
    }
}

#[cfg(test)]
mod tests;
