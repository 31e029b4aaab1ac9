#![doc = include_str!("../README.md")]

mod passages;
mod segments;
mod terms;

use epitome_strategy::parts::{self, ReasonCodes, SessionPart};
use epitome_strategy::{
    Edit, Goal, Plan, PlanError, Reason, SUMMARY_OVERHEAD, SummaryRoom, Tokens, UnitKind, View, settings, strategy,
    summarize,
};

use passages::Passages;
use segments::Segment;

settings! {
    /// Settings of `topic-segments`.
    pub struct Settings {}
    constants {
        /// Passages on either side of a gap that are compared.
        window: u32 = 3;
        /// Score from which a gap is a boundary; a drop in cohesion that stands out counts up to 1.2, the other signs as below.
        boundary_score: f64 = 0.8;
        /// The score of a typed message that opens with words that turn to something else.
        shift_score: f64 = 1.2;
        /// The score of a typed message most of whose words are new.
        novelty_score: f64 = 0.4;
        /// The score of a pause of `pause_minutes`.
        pause_score: f64 = 0.5;
        /// A pause this long speaks for a new topic.
        pause_minutes: f64 = 30.0;
        /// Topics of fewer tokens are joined with their neighbours.
        min_topic_tokens: u32 = 400;
        /// More summaries than this are folded into one, the oldest first.
        max_summaries: u32 = 12;
        /// Share of the target that summaries may take.
        summary_share: f64 = 0.15;
        /// Tokens that each summary gets at least, however small its share is. Text for which that is too much gets none.
        min_summary_tokens: u32 = 80;
    }
}

strategy! {
    /// Finished topics are summarised, the current one stays: see the crate's page.
    pub struct TopicSegments(Settings) {
        id: "topic-segments",
        summary: "The session is split by topic; finished topics become one summary each, the current one stays whole.",
        lossiness: Whole,
        since: "0.1.0",
    }
}

const CODES: ReasonCodes = ReasonCodes { cut: "finished-topic", summary: "finished-topic" };

impl TopicSegments {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let passages = Passages::new(view);
        let segments = segments::find(&passages, &self.settings);
        let Some((_, finished)) = segments.split_last().filter(|(_, finished)| !finished.is_empty()) else {
            let reason = format!("one topic so far, in {} passages", passages.list.len());
            return Ok(Plan::decline(reason));
        };
        let mut edits: Vec<Edit> = self.fold(view, goal).into_iter().collect();
        let topics: Vec<SessionPart> = finished
            .iter()
            .enumerate()
            .map(|(index, segment)| SessionPart {
                name: format!("topic {} of {}{}", index + 1, segments.len(), segment.describe(&passages)),
                units: self.units(view, segment, &edits),
                cuts: Vec::new(),
            })
            .collect();
        edits.extend(parts::plan(
            view,
            goal,
            &topics,
            SummaryRoom { share: self.settings.summary_share, least: self.settings.min_summary_tokens },
            CODES,
        ));
        Ok(Plan::from_edits(edits, format!("{} finished topics, none longer than its summary", finished.len())))
    }

    fn units(&self, view: &View<'_>, segment: &Segment, folded: &[Edit]) -> Vec<u32> {
        let is_folded = |unit: u32| matches!(folded, [Edit::Summarize { units, .. }] if units.contains(&unit));
        let leaves = |unit: &u32| view.units()[*unit as usize].kind != UnitKind::System && !is_folded(*unit);
        segment.units.clone().map(|unit| unit as u32).filter(leaves).collect()
    }

    /// Returns one summary of the oldest summaries, where there are too many.
    fn fold(&self, view: &View<'_>, goal: &Goal) -> Option<Edit> {
        let is_summary = |unit: &u32| view.units()[*unit as usize].kind == UnitKind::Summary;
        let summaries: Vec<u32> = (0..view.units().len() as u32).filter(is_summary).collect();
        let beyond = summaries.len().checked_sub(self.settings.max_summaries as usize).filter(|beyond| *beyond > 0)?;
        // One of them is the one that they are folded into.
        let runs = parts::runs(view, summaries.into_iter().take(beyond + 1));
        let run = runs.into_iter().find(|run| run.units.len() > 1)?;
        let max_tokens = (run.tokens / 2).min(goal.longest_summary());
        if max_tokens < self.settings.min_summary_tokens + SUMMARY_OVERHEAD {
            return None;
        }
        let detail = format!("the oldest {} summaries, {} tokens", run.units.len(), run.tokens);
        Some(summarize(goal, run.units, max_tokens, Reason::new("summaries-folded", detail)))
    }
}

/// Returns the tokens of units.
fn tokens_of(view: &View<'_>, units: std::ops::Range<usize>) -> Tokens {
    units.map(|unit| view.unit_tokens(unit)).sum()
}

#[cfg(test)]
mod tests;
