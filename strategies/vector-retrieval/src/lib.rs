#![doc = include_str!("../README.md")]

mod identifiers;
mod nearness;

use std::collections::HashSet;

use epitome_strategy::{
    Goal, Plan, PlanError, Reason, SUMMARY_OVERHEAD, SummaryRoom, TaskKind, Tokens, UnitKind, Vectors, View, settings,
    speech, strategy, summarize_runs, text, window_start,
};

use nearness::Candidate;

settings! {
    /// Settings of `vector-retrieval`.
    pub struct Settings {
        /// Old messages that stay because they are near to the question. A call and its results count as one message.
        keep_nearest: u32 = 20, in 0..=500, unit "messages";
    }
    constants {
        /// Newest messages that stay whole, near or not.
        window: u32 = 9;
        /// Share of the target that old messages may take in which a person demands something or tells what is to be kept in
        /// mind: they stay, near or not.
        demand_share: f64 = 0.4;
        /// How much nearness counts against diversity in the choice of the nearest: 1 goes by nearness alone.
        lambda: f64 = 0.7;
        /// How much it adds to a message's nearness when it holds all exact strings (paths, ids, numbers) of the question.
        identifier_weight: f64 = 0.3;
        /// Share of the target that summaries may take.
        summary_share: f64 = 0.15;
        /// Tokens that each summary gets at least, however small its share is. Text for which that is too much gets none.
        min_summary_tokens: u32 = 200;
    }
}

/// The power of a demand's probability in its message's worth, as in `transcript`: certain ones come first.
const DEMAND_POWER: i32 = 4;

strategy! {
    /// The old messages nearest to the current question stay: see the crate's page.
    pub struct VectorRetrieval(Settings) {
        id: "vector-retrieval",
        summary: "Old messages nearest to the current question stay; the others leave, least near first.",
        lossiness: Whole,
        needs: [embeddings],
        since: "0.1.0",
        needs_vectors: has_question,
    }
}

/// Whether there is a question to be near to: the one that was given, or that is not answered yet; in work with tools also the newest
/// thing that a person asked for, which the next steps serve.
fn has_question(goal: &Goal) -> bool {
    goal.focus_given || goal.task != TaskKind::Conversation
}

impl VectorRetrieval {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        if !has_question(goal) {
            return Ok(Plan::decline(
                "the conversation's last question is answered: the next turn may be about another",
            ));
        }
        let vectors = match view.vectors() {
            Ok(vectors) => vectors,
            Err(reason) => return Ok(Plan::decline(reason)),
        };
        let (Some(vector), Some(question)) = (&vectors.focus, &goal.focus) else {
            return Ok(Plan::decline("there is no current question to be near to"));
        };
        let window = window_start(view, self.settings.window as usize);
        let may_leave = |unit: &usize| view.protection(*unit).may_leave();
        let old: Vec<usize> =
            (0..window).filter(may_leave).filter(|unit| view.units()[*unit].kind != UnitKind::Summary).collect();
        if old.is_empty() {
            return Ok(Plan::decline(format!(
                "nothing in front of the newest {} units may leave",
                view.units().len() - window
            )));
        }
        let first_new = view.units().get(window).map_or(view.len(), |unit| unit.entries.start);
        let held = identifiers::identifier_scores(view, question, first_new);
        let weight = self.settings.identifier_weight as f32;
        let candidate = |unit: &usize| Candidate {
            unit: *unit,
            nearness: nearness::cosine(vectors.units.row(*unit), vector) + weight * held[*unit],
        };
        let candidates: Vec<Candidate> = old.iter().map(candidate).collect();
        if candidates.iter().all(|candidate| candidate.nearness <= 0.0) {
            return Ok(Plan::decline("no old message has anything in common with the question"));
        }
        let mut queue = self.queue(view, vectors, candidates, window);
        self.keep_demands(view, goal, &mut queue);
        Ok(self.plan_of(view, goal, window, queue))
    }

    /// The units that may leave, in the order in which they do.
    fn queue(
        &self,
        view: &View<'_>,
        vectors: &Vectors,
        mut candidates: Vec<Candidate>,
        window: usize,
    ) -> Vec<RemovalCandidate> {
        let near =
            nearness::nearest(&candidates, &vectors.units, self.settings.keep_nearest as usize, self.settings.lambda);
        // In the order of choice, each with what it brings: the last chosen leaves first, and what it brought before it.
        let mut kept = vec![false; view.units().len()];
        let mut stays: Vec<Candidate> = Vec::new();
        for candidate in near {
            for unit in [Some(candidate.unit), partner(view, candidate.unit)].into_iter().flatten() {
                let at = candidates.binary_search_by_key(&unit, |candidate| candidate.unit);
                if let Ok(at) = at
                    && !std::mem::replace(&mut kept[unit], true)
                {
                    stays.push(candidates[at]);
                }
            }
        }
        let leaving = |cause| move |it: &Candidate| RemovalCandidate { unit: it.unit, cause, nearness: it.nearness };
        let free = |unit: &usize| view.protection(*unit).may_leave();
        let is_summary = |unit: &usize| view.units()[*unit].kind == UnitKind::Summary;
        let earlier = (0..window).filter(free).filter(is_summary);
        let mut queue: Vec<RemovalCandidate> =
            earlier.map(|unit| RemovalCandidate { unit, cause: Cause::Earlier, nearness: 0.0 }).collect();
        candidates.sort_by(|left, right| left.nearness.total_cmp(&right.nearness).then(left.unit.cmp(&right.unit)));
        queue.extend(candidates.iter().filter(|candidate| !kept[candidate.unit]).map(leaving(Cause::Far)));
        queue.extend(stays.iter().rev().map(leaving(Cause::Near)));
        let newest = (window..view.units().len()).filter(free).filter(|unit| !is_summary(unit));
        queue.extend(newest.map(|unit| RemovalCandidate { unit, cause: Cause::Window, nearness: 0.0 }));
        queue
    }

    /// Puts messages with demands at the end of the queue, as many as their share allows: last those whose demands are the most
    /// certain for their tokens, so that one long message takes no room from many short rules.
    fn keep_demands(&self, view: &View<'_>, goal: &Goal, queue: &mut Vec<RemovalCandidate>) {
        let mut room = (f64::from(goal.target) * self.settings.demand_share) as Tokens;
        let worth = |unit: usize| Some(binding(view, unit)?.powi(DEMAND_POWER) / view.unit_tokens(unit).max(1) as f32);
        let binds = |leaving: &RemovalCandidate| Some((worth(leaving.unit)?, *leaving));
        let mut demands: Vec<(f32, RemovalCandidate)> = queue.iter().filter_map(binds).collect();
        // Among equals the newest first.
        demands.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.unit.cmp(&one.1.unit)));
        demands.retain(|(_, leaving)| match room.checked_sub(view.unit_tokens(leaving.unit)) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        });
        let kept: HashSet<usize> = demands.iter().map(|(_, leaving)| leaving.unit).collect();
        queue.retain(|leaving| !kept.contains(&leaving.unit));
        queue.extend(demands.iter().rev().map(|(_, leaving)| RemovalCandidate {
            cause: Cause::Demand,
            nearness: 0.0,
            ..*leaving
        }));
    }

    /// Returns the first units of the queue that the goal needs to leave, and the edits for them.
    fn plan_of(&self, view: &View<'_>, goal: &Goal, window: usize, mut queue: Vec<RemovalCandidate>) -> Plan {
        let share = self.share(goal);
        let excess = goal.excess() + SUMMARY_OVERHEAD;
        let (needed, least) = (excess + share, excess + self.settings.min_summary_tokens);
        // A unit that alone is larger than the target cannot stay: it goes first, so that it does not cost all the
        // others.
        queue.sort_by_key(|leaving| match leaving.cause {
            Cause::Earlier => 0,
            _ if view.unit_tokens(leaving.unit) > goal.target => 1,
            _ => 2,
        });
        let mut gone: Vec<RemovalCandidate> = Vec::new();
        let mut tokens: Tokens = 0;
        for leaving in queue {
            // Near and new units leave for the goal alone, not for a longer summary.
            let enough = if leaving.cause <= Cause::Far { needed } else { least };
            if tokens >= enough && leaving.cause != Cause::Earlier && gone.iter().any(|it| it.cause != Cause::Earlier) {
                break;
            }
            tokens += view.unit_tokens(leaving.unit);
            gone.push(leaving);
        }
        if tokens <= self.settings.min_summary_tokens + SUMMARY_OVERHEAD {
            return Plan::decline("what is far from the question is no longer than its summary would be");
        }
        let code = match gone.iter().map(|leaving| leaving.cause).max() {
            Some(Cause::Window | Cause::Demand) => "window-shrunk",
            Some(Cause::Near) => "no-room-for-near",
            Some(Cause::Far | Cause::Earlier) | None => "far-from-question",
        };
        let stay = (0..window).filter(|unit| view.protection(*unit).may_leave()).count();
        let old = gone.iter().filter(|leaving| leaving.unit < window).count();
        let old_stay = stay.saturating_sub(old);
        let left = goal.target.saturating_sub(goal.current.saturating_sub(tokens) + SUMMARY_OVERHEAD);
        let max_tokens = left.min(share).max(self.settings.min_summary_tokens).min(tokens - SUMMARY_OVERHEAD - 1);
        gone.sort_by_key(|leaving| leaving.unit);
        let units: Vec<u32> = gone.iter().map(|leaving| leaving.unit as u32).collect();
        let reason = |units: &[u32]| {
            let of_run: Vec<RemovalCandidate> =
                gone.iter().filter(|leaving| units.binary_search(&(leaving.unit as u32)).is_ok()).copied().collect();
            let (detail, score) = reason(view, &of_run, code);
            Reason::new(code, format!("{detail}; {old_stay} old messages stay")).with_score(score)
        };
        let edits = summarize_runs(view, goal, &units, max_tokens, self.settings.min_summary_tokens, reason);
        Plan::from_edits(edits, "nothing but earlier summaries may leave")
    }

    fn share(&self, goal: &Goal) -> Tokens {
        SummaryRoom { share: self.settings.summary_share, least: self.settings.min_summary_tokens }.tokens(goal)
    }
}

/// Why a unit leaves, in the order in which units leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// A summary of an earlier compaction: folded into the new one.
    Earlier,
    /// Not among the nearest.
    Far,
    /// Among the nearest, but the goal leaves no room for it.
    Near,
    /// In the window, but the goal leaves no room for it.
    Window,
    /// It has a demand, but the goal leaves no room for it.
    Demand,
}

/// A unit that may leave.
#[derive(Debug, Clone, Copy)]
struct RemovalCandidate {
    unit: usize,
    cause: Cause,
    nearness: f32,
}

/// Returns the probability that a typed message binds what comes later; `None` where it is unlikely.
fn binding(view: &View<'_>, unit: usize) -> Option<f32> {
    let unit = &view.units()[unit];
    if unit.kind != UnitKind::User {
        return None;
    }
    let texts = speech::typed_texts(view.message(unit.entries.start));
    let typed = texts.flat_map(|(_, text, ranges)| ranges.into_iter().map(move |range| &text[range]));
    let demands = typed.flat_map(|text| speech::demands(view.lexicon(), text));
    demands.map(|demand| demand.binding).max_by(f32::total_cmp)
}

/// Returns the figures of a reason, and the highest nearness among the units that leave.
fn reason(view: &View<'_>, gone: &[RemovalCandidate], code: &str) -> (String, f32) {
    let messages: usize = gone.iter().map(|leaving| view.units()[leaving.unit].entries.len()).sum();
    let tokens: Tokens = gone.iter().map(|leaving| view.unit_tokens(leaving.unit)).sum();
    let nearest = gone.iter().map(|leaving| leaving.nearness).fold(0.0, f32::max);
    let why = match code {
        "window-shrunk" => "; some of the newest had to go for the goal",
        "no-room-for-near" => "; some of the nearest had to go for the goal",
        _ => "",
    };
    let messages = text::counted(messages, "message");
    (format!("{messages} ({tokens} tokens) of a nearness of {nearest:.2} or less{why}"), nearest)
}

/// Returns what a unit brings: a question the answer directly behind it, a step the question directly in front of it.
fn partner(view: &View<'_>, unit: usize) -> Option<usize> {
    let units = view.units();
    match units[unit].kind {
        UnitKind::Step => unit.checked_sub(1).filter(|before| units[*before].kind == UnitKind::User),
        UnitKind::User => {
            let answer = units.get(unit + 1).filter(|next| next.kind == UnitKind::Step && next.entries.len() == 1)?;
            view.message(answer.entries.start).calls().next().is_none().then_some(unit + 1)
        }
        UnitKind::System | UnitKind::Injected | UnitKind::Summary | UnitKind::Orphan => None,
    }
}

#[cfg(test)]
mod tests;
