#![doc = include_str!("../README.md")]

mod excerpts;
mod fit;
mod layout;
mod settings;

use epitome_reading::{Source, SummaryForm, Worth};
use epitome_strategy::session::HeadingKind;
use epitome_strategy::{Edit, Goal, Plan, PlanError, Reason, SummaryText, View, strategy, text};

use crate::fit::FittedEdits;
use crate::layout::{Layout, UnitTreatment};
pub use crate::settings::Settings;

strategy! {
    /// What was said stays, every old step becomes a few lines in its own place: see the crate's page.
    pub struct Transcript(Settings) {
        id: "transcript",
        summary: "What was said stays; every old step shrinks in its place to its call and the lines worth most.",
        lossiness: Whole,
        since: "0.1.0",
    }
}

impl Transcript {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let source = Source::read(view, |_| SummaryForm::default());
        let worth = Worth::new(view, &source);
        if view.is_cancelled() {
            return Ok(Plan::decline("the compaction was cancelled"));
        }
        let mut layout = Layout::new(view, &source, &worth, goal, &self.settings, 0);
        if !layout.has_something_to_give() {
            return Ok(Plan::decline("nothing may leave but what was typed"));
        }
        if layout.has_foreign_text() {
            return Ok(Plan::decline("there is a summary of another form, and the host takes one text"));
        }
        let mut fitted = fit::fit(view, &source, &worth, &layout, goal);
        let all = source.lines.iter().filter(|line| line.demand > 0.0).count();
        let is_within = fitted.is_within(&layout);
        if !is_within || layout.runs().len() > 1 && fitted.demands < all {
            // Typed messages in their places part the transcript, and the headings of its parts take more than there is, or the room
            // of demands.
            let heading = fit::heading_tokens(view, HeadingKind::Summary);
            let quoting = Layout::new(view, &source, &worth, goal, &self.settings, heading);
            let quoted = fit::fit(view, &source, &worth, &quoting, goal);
            if quoted.is_within(&quoting) && (!is_within || quoted.demands > fitted.demands) {
                (layout, fitted) = (quoting, quoted);
            }
        }
        let edits = edits(view, &layout, fitted);
        let edits = if goal.host.takes_one_text() { with_one_text(view, edits) } else { edits };
        Ok(Plan::from_edits(edits, "no step has more than its transcript would have"))
    }
}

/// The edits, oldest first: where the goal is met before the last of them, what is newest stays as it was.
fn edits(view: &View<'_>, layout: &Layout, fitted: FittedEdits) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (units, text, lines) in fitted.runs {
        let tokens: u32 = units.clone().map(|unit| view.unit_tokens(unit as usize)).sum();
        let messages: usize = units.clone().map(|unit| view.units()[unit as usize].entries.len()).sum();
        let detail =
            format!("{} of {tokens} tokens in {}", text::counted(lines, "line"), text::counted(messages, "message"));
        let reason = Reason::new("condensed", detail);
        let units: Vec<u32> = units.collect();
        edits.push((
            units[0],
            match text {
                Some(text) => Edit::Summarize { units, summary: SummaryText::Ready(text), reason },
                None => Edit::Drop { units, reason: Reason::new("counted", "no line of it fitted") },
            },
        ));
    }
    for (at, keep) in fitted.excerpts {
        let unit = view.unit_of(at.message as usize);
        let reason = match layout.treatment(unit) {
            UnitTreatment::Newest => {
                Reason::new("newest-output", "the newest step would take more than its share of the room")
            }
            UnitTreatment::Summary => {
                Reason::new("earlier-summary", "shortened section by section, under its own headings")
            }
            _ => Reason::new("long-message", "demands and the lines worth most stay"),
        };
        edits.push((unit as u32, Edit::Excerpt { message: at.message, block: at.block, keep, reason }));
    }
    for (at, max_chars) in &layout.trims {
        let reason = Reason::new("newest-arguments", "the newest call would take more than its share of the room");
        let unit = view.unit_of(at.message as usize) as u32;
        edits.push((unit, Edit::Trim { message: at.message, block: at.block, max_chars: *max_chars, reason }));
    }
    edits.sort_by_key(|(unit, _)| *unit);
    edits.into_iter().map(|(_, edit)| edit).collect()
}

/// The edits for a host that takes one text: that of the longest run, and the other runs leave without one, the oldest
/// first, where the goal asks for it.
fn with_one_text(view: &View<'_>, edits: Vec<Edit>) -> Vec<Edit> {
    let tokens = |units: &[u32]| units.iter().map(|unit| view.unit_tokens(*unit as usize)).sum::<u32>();
    let longest = edits.iter().enumerate().filter_map(|(at, edit)| match edit {
        Edit::Summarize { units, .. } => Some((tokens(units), std::cmp::Reverse(at))),
        Edit::Drop { .. } | Edit::Excerpt { .. } | Edit::Trim { .. } => None,
    });
    let Some((_, std::cmp::Reverse(longest))) = longest.max() else { return edits };
    let (mut text, mut others) = (Vec::new(), Vec::new());
    for (at, edit) in edits.into_iter().enumerate() {
        match edit {
            edit if at == longest => text.push(edit),
            Edit::Summarize { units, .. } => {
                let reason = Reason::new("one-text", "the host takes one text, which a longer run has");
                others.push(Edit::Drop { units, reason });
            }
            edit => others.push(edit),
        }
    }
    text.append(&mut others);
    text
}

#[cfg(test)]
mod tests;
