#![doc = include_str!("../README.md")]

mod clusters;
mod representatives;

use std::ops::Range;

use epitome_strategy::{
    Goal, Plan, PlanError, Reason, SUMMARY_OVERHEAD, SummaryRoom, Tokens, UnitKind, View, settings, strategy,
    summarize_runs, text, window_start,
};

use representatives::Member;

settings! {
    /// Settings of `semantic-clustering`.
    pub struct Settings {}
    constants {
        /// Newest messages that stay whole and are not clustered.
        window: u32 = 9;
        /// Clusters at most; there are fewer when the goal has no room for so many representatives.
        max_clusters: u32 = 64;
        /// Messages of each cluster that stay for the others.
        per_cluster: u32 = 1;
        /// How much it counts in the choice of a representative that later messages use its exact strings, or that a person
        /// typed it; 0 takes the one nearest to the middle of the cluster.
        usage_weight: f64 = 0.2;
        /// The strategy runs with at least this many messages in front of the window; a call and its results count as one.
        min_messages: u32 = 10;
        /// Share of the target that summaries may take.
        summary_share: f64 = 0.15;
        /// Tokens that each summary gets at least, however small its share is. Text for which that is too much gets none.
        min_summary_tokens: u32 = 200;
    }
}

strategy! {
    /// Of similar messages a representative stays: see the crate's page.
    pub struct SemanticClustering(Settings) {
        id: "semantic-clustering",
        summary: "Of messages that say alike a representative stays; the others leave, best represented first.",
        lossiness: Whole,
        needs: [embeddings],
        since: "0.1.0",
    }
}

impl SemanticClustering {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let vectors = match view.vectors() {
            Ok(vectors) => vectors,
            Err(reason) => return Ok(Plan::decline(reason)),
        };
        let window = window_start(view, self.settings.window as usize);
        let free = |unit: &usize| view.protection(*unit).may_leave();
        let is_summary = |unit: &usize| view.units()[*unit].kind == UnitKind::Summary;
        let (earlier, old): (Vec<usize>, Vec<usize>) = (0..window).filter(free).partition(is_summary);
        let least = self.settings.min_messages as usize;
        if old.len() < least {
            let reason = format!(
                "{} in front of the newest {}: runs from {least}",
                text::counted(old.len(), "message"),
                self.settings.window
            );
            return Ok(Plan::decline(reason));
        }
        let exchanges = clusters::exchanges(view, &old);
        let count = self.how_many(view, goal, &exchanges);
        let points = clusters::Points::new(exchanges, &vectors.units);
        if points.is_empty() {
            return Ok(Plan::decline("nothing that the embedder knows stands in the messages"));
        }
        let clusters = clusters::cluster(&points, count);
        if clusters.is_empty() {
            return Ok(Plan::decline("the messages could not be clustered"));
        }
        let per_cluster = self.settings.per_cluster as usize;
        let members = representatives::rank(view, &points, &clusters, per_cluster, self.settings.usage_weight as f32);
        let mut queue: Vec<RemovalCandidate> = Vec::with_capacity(view.units().len());
        queue.extend(earlier.into_iter().map(|unit| RemovalCandidate::new(unit..unit + 1, Cause::Earlier)));
        queue.extend(members.into_iter().map(RemovalCandidate::from));
        let newest = (window..view.units().len()).filter(free).filter(|unit| !is_summary(unit));
        queue.extend(newest.map(|unit| RemovalCandidate::new(unit..unit + 1, Cause::Window)));
        Ok(self.plan_of(view, goal, clusters.len(), queue))
    }

    /// Returns the most tokens of all summaries together.
    fn share(&self, goal: &Goal) -> Tokens {
        SummaryRoom { share: self.settings.summary_share, least: self.settings.min_summary_tokens }.tokens(goal)
    }

    /// Returns how many clusters there are: as many as representatives of a middling length fit.
    fn how_many(&self, view: &View<'_>, goal: &Goal, old: &[Range<usize>]) -> usize {
        let tokens: Tokens = old.iter().cloned().flatten().map(|unit| view.unit_tokens(unit)).sum();
        let room = tokens.saturating_sub(goal.excess() + SUMMARY_OVERHEAD + self.share(goal));
        let representatives = u64::from(room) * old.len() as u64 / u64::from(tokens.max(1));
        let clusters = representatives as usize / self.settings.per_cluster.max(1) as usize;
        clusters.clamp(1, self.settings.max_clusters as usize).min((old.len() / 2).max(1))
    }

    /// Returns the edits for the first exchanges of the queue, as many as the goal needs to leave.
    fn plan_of(&self, view: &View<'_>, goal: &Goal, clusters: usize, mut queue: Vec<RemovalCandidate>) -> Plan {
        let share = self.share(goal);
        let needed = goal.excess() + SUMMARY_OVERHEAD + share;
        let least = goal.excess() + SUMMARY_OVERHEAD + self.settings.min_summary_tokens;
        // A unit that alone is larger than the target cannot stay: it goes first, so that it does not cost all the
        // others.
        queue.sort_by_key(|leaving| match leaving.cause {
            Cause::Earlier => 0,
            _ if leaving.tokens(view) > goal.target => 1,
            _ => 2,
        });
        let mut gone: Vec<RemovalCandidate> = Vec::new();
        let mut tokens: Tokens = 0;
        for leaving in queue {
            // Representatives and new units leave for the goal alone, not for a longer summary.
            let enough = if leaving.cause <= Cause::Represented { needed } else { least };
            if tokens >= enough && leaving.cause != Cause::Earlier && gone.iter().any(|it| it.cause != Cause::Earlier) {
                break;
            }
            tokens += leaving.tokens(view);
            gone.push(leaving);
        }
        if tokens <= self.settings.min_summary_tokens + SUMMARY_OVERHEAD {
            return Plan::decline("what is represented is no longer than its summary would be");
        }
        let left = goal.target.saturating_sub(goal.current.saturating_sub(tokens) + SUMMARY_OVERHEAD);
        let all = left.min(share).max(self.settings.min_summary_tokens);
        gone.sort_by_key(|leaving| leaving.units.start);
        let units: Vec<u32> = gone.iter().flat_map(|leaving| leaving.units.clone()).map(|unit| unit as u32).collect();
        let reason = |units: &[u32]| {
            let of_run = gone.iter().filter(|leaving| units.binary_search(&(leaving.units.start as u32)).is_ok());
            reason(view, clusters, &of_run.collect::<Vec<&RemovalCandidate>>())
        };
        let edits = summarize_runs(view, goal, &units, all.min(tokens - 1), self.settings.min_summary_tokens, reason);
        Plan::from_edits(edits, "nothing but earlier summaries may leave")
    }
}

/// Why a unit leaves, in the order in which units leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    /// A summary of an earlier compaction: folded into the new one.
    Earlier,
    /// Its cluster keeps a representative for it.
    Represented,
    /// A representative for which the goal leaves no room.
    Representative,
    /// In the window, but the goal leaves no room for it.
    Window,
}

/// An exchange that may leave.
#[derive(Debug)]
struct RemovalCandidate {
    units: Range<usize>,
    cause: Cause,
    /// Its similarity to its representative.
    likeness: f32,
}

impl RemovalCandidate {
    fn new(units: Range<usize>, cause: Cause) -> Self {
        Self { units, cause, likeness: 0.0 }
    }

    fn tokens(&self, view: &View<'_>) -> Tokens {
        self.units.clone().map(|unit| view.unit_tokens(unit)).sum()
    }
}

impl From<Member> for RemovalCandidate {
    fn from(member: Member) -> Self {
        let cause = if member.represents { Cause::Representative } else { Cause::Represented };
        Self { units: member.units, cause, likeness: member.likeness }
    }
}

/// Why units leave.
fn reason(view: &View<'_>, clusters: usize, leaving: &[&RemovalCandidate]) -> Reason {
    let messages: usize =
        leaving.iter().flat_map(|it| it.units.clone()).map(|unit| view.units()[unit].entries.len()).sum();
    let tokens: Tokens = leaving.iter().map(|leaving| leaving.tokens(view)).sum();
    let represented: Vec<&&RemovalCandidate> = leaving.iter().filter(|it| it.cause == Cause::Represented).collect();
    let likeness = represented.iter().map(|it| it.likeness).sum::<f32>() / represented.len().max(1) as f32;
    let (code, why) = match leaving.iter().map(|leaving| leaving.cause).max() {
        Some(Cause::Window) => ("window-shrunk", "; some of the newest had to go for the goal"),
        Some(Cause::Representative) => ("no-room-for-representative", "; some representatives had to go for the goal"),
        Some(Cause::Represented | Cause::Earlier) | None => ("represented", ""),
    };
    let detail = format!(
        "{} ({tokens} tokens) of {}, {likeness:.2} like their representatives{why}",
        text::counted(messages, "message"),
        text::counted(clusters, "cluster"),
    );
    Reason::new(code, detail).with_score(likeness)
}

#[cfg(test)]
mod tests;
