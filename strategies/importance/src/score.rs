//! The score of a unit: the highest of its messages'.

use std::fmt::Write as _;

use epitome_strategy::commands::{has_failed, script_of};
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{Cue, CueCounts, Message, Origin, Role, UnitKind, View};

use crate::Settings;

/// Words that make a message more important, each a little.
const KEYWORDS: [Cue; 4] = [Cue::Remember, Cue::Instruction, Cue::Preference, Cue::Decision];

/// The score of a unit.
#[derive(Debug, Clone, Default)]
pub(crate) struct ScoredUnit {
    /// The score.
    pub(crate) score: f64,
    /// Its message of the highest score, as a position in the view.
    pub(crate) message: usize,
    /// The parts of the score, for a person.
    pub(crate) parts: String,
}

impl ScoredUnit {
    fn add(&mut self, score: f64, what: &str) {
        if score > 0.0 {
            let plus = if self.parts.is_empty() { "" } else { " + " };
            let _ = write!(self.parts, "{plus}{what} {score:.1}");
            self.score += score;
        }
    }
}

/// Scores units of one view.
pub(crate) struct Scorer<'s, 'v, 'a> {
    settings: &'s Settings,
    view: &'v View<'a>,
    /// For each message, the outcomes of the calls that it made.
    outcomes: Vec<Outcome>,
}

/// The outcomes of calls.
#[derive(Debug, Clone, Copy, Default)]
struct Outcome {
    failed: bool,
    completed: bool,
}

impl<'s, 'v, 'a> Scorer<'s, 'v, 'a> {
    pub(crate) fn new(settings: &'s Settings, view: &'v View<'a>) -> Self {
        let mut outcomes = vec![Outcome::default(); view.len()];
        let facts = view.facts();
        for output in facts.outputs() {
            let call = output.call.map(|call| &facts.calls()[call as usize]);
            // The outcome of a call counts for the message that made it.
            let outcome = &mut outcomes[call.map_or(output.at, |call| call.at).message as usize];
            outcome.failed |= output.is_error;
            if call.is_some_and(|call| call.kind == ToolKind::Shell) {
                let failed = has_failed(output.text, output.is_error, call.and_then(script_of).as_deref());
                outcome.failed |= failed == Some(true);
                outcome.completed |= failed == Some(false);
            }
        }
        Self { settings, view, outcomes }
    }

    /// Returns the scores of all units, in order.
    pub(crate) fn score_all(&self) -> Vec<ScoredUnit> {
        (0..self.view.units().len()).map(|unit| self.unit(unit)).collect()
    }

    fn unit(&self, unit: usize) -> ScoredUnit {
        let it = &self.view.units()[unit];
        if it.kind == UnitKind::Summary {
            // A summary mentions everything, so every word would count: its content goes into the next summary.
            let mut scored = ScoredUnit { message: it.entries.start, ..ScoredUnit::default() };
            scored.add(self.settings.other_score, "summary");
            return scored;
        }
        let scores = it.entries.clone().map(|message| self.message(message));
        // Of equal scores the first: the model's message, not its results.
        scores.reduce(|best, next| if next.score > best.score { next } else { best }).unwrap_or_default()
    }

    fn message(&self, position: usize) -> ScoredUnit {
        let settings = self.settings;
        let message = self.view.message(position);
        let mut scored = ScoredUnit { message: position, ..ScoredUnit::default() };
        let (base, who) = match (message.role, message.origin) {
            (Role::User, Origin::Typed) => (settings.user_score, "typed"),
            (Role::Assistant, _) => (settings.assistant_score, "model"),
            (_, Origin::Injected) => (settings.other_score, "injected"),
            (Role::Tool, _) | (_, Origin::ToolOutput) => (settings.other_score, "tool output"),
            (Role::System | Role::User, _) => (settings.other_score, "other"),
        };
        scored.add(base, who);
        let is_output = matches!(message.origin, Origin::Tool | Origin::ToolOutput);
        let cues = match is_output {
            true => CueCounts::default(),
            false => self.view.facts().cues(position),
        };
        let keywords: u32 = KEYWORDS.iter().map(|cue| cues.count(*cue).min(settings.max_keywords)).sum();
        scored.add(f64::from(keywords) * settings.keyword_score, "keywords");
        if has_calls(message) {
            scored.add(settings.tool_call_score, "tool call");
        }
        let outcome = self.outcomes[position];
        if outcome.failed || cues.has(Cue::Error) || cues.has(Cue::Fix) {
            scored.add(settings.error_score, "error or fix");
        }
        if outcome.completed || cues.has(Cue::Completion) {
            scored.add(settings.completion_score, "completion");
        }
        if cues.has(Cue::Important) {
            scored.add(settings.important_score, "important");
        }
        scored
    }
}

fn has_calls(message: &Message) -> bool {
    message.calls().next().is_some() || !message.text_calls.is_empty()
}
