//! From a case to rows: every method at every budget.

use std::sync::atomic::Ordering;

use epitome::session::{Entry, Session};

use crate::cases::budget::BudgetSpec;
use crate::cases::case::Case;
use crate::cases::cut::tokens_of;
use crate::cases::probes::{ProbeScores, ProbedCase, message_of, recall};
use crate::figures::row::Row;
use crate::figures::score::Scores;
use crate::run::context::RunContext;
use crate::run::method::{Method, MethodOutcome};

/// The name of the agent's own view, among the methods.
const RECORDED: &str = "recorded";
/// The name of a budget of the size of the agent's own view.
const OWN_SIZE: &str = "own size";
/// The name of the hand-off summary of a probed session, alone, among the methods.
pub const HANDOFF: &str = "hand-off";

/// A case that is being measured.
pub(crate) struct Measure<'a> {
    pub(crate) job: &'a RunContext<'a>,
    pub(crate) case: &'a Case,
}

/// The identity of a row within a case.
struct RowIdentity<'a> {
    budget: &'a str,
    tokens: u32,
    method: &'a str,
}

impl Measure<'_> {
    /// Measures every method at `budgets`.
    pub(crate) fn at_budgets(&self, budgets: &[BudgetSpec]) -> Vec<Row> {
        budgets.iter().flat_map(|budget| self.at(&budget.to_string(), self.case.budget_tokens(*budget))).collect()
    }

    /// Measures the agent's own view, and every method at its size.
    pub(crate) fn beside(&self, own: &[Entry]) -> Vec<Row> {
        let tokens = own.iter().map(|entry| tokens_of(&entry.message)).sum();
        let recorded = || MethodOutcome::of_view(own.to_vec());
        let score = |entries: &[Entry]| self.case.score(entries, tokens);
        let which = RowIdentity { budget: OWN_SIZE, tokens, method: RECORDED };
        let mut rows = vec![self.row(&which, &recorded, &score)];
        rows.extend(self.at(OWN_SIZE, tokens));
        rows
    }

    /// Measures a probed session at every budget: the hand-off summary alone, where there is one, and every method.
    pub(crate) fn probes(&self, probed: &ProbedCase) -> Vec<Row> {
        let (plan, folder) = (self.job.plan, &probed.folder);
        let probes = &folder.set.probes;
        let answered = |text: &str| ProbeScores::count(probes, &recall(probes, text));
        let mut rows = Vec::new();
        for budget in &plan.budgets {
            let (name, tokens) = (budget.to_string(), probed.budget(*budget));
            if let Some(text) = &folder.handoff {
                let mut handoff = Session::new();
                handoff.push(message_of(text));
                let entries = handoff.view().to_vec();
                let which = RowIdentity { budget: &name, tokens, method: HANDOFF };
                let outcome = || MethodOutcome::of_view(entries.clone());
                // It is alone: it is not a session that could be valid or keep a system prompt.
                let score = |entries: &[Entry]| Scores {
                    probes: answered(text),
                    tokens: entries.iter().map(|entry| tokens_of(&entry.message)).sum(),
                    system_intact: true,
                    ..Scores::default()
                };
                rows.push(self.row(&which, &outcome, &score));
            }
            for method in &plan.methods {
                let score = |entries: &[Entry]| probed.score(entries, tokens);
                rows.push(self.of_method(method, &name, tokens, &score));
            }
        }
        rows
    }

    fn at(&self, budget: &str, tokens: u32) -> Vec<Row> {
        let score = |entries: &[Entry]| self.case.score(entries, tokens);
        self.job.plan.methods.iter().map(|method| self.of_method(method, budget, tokens, &score)).collect()
    }

    /// Measures a method at a budget.
    fn of_method(&self, method: &Method, budget: &str, tokens: u32, score: &dyn Fn(&[Entry]) -> Scores) -> Row {
        let which = RowIdentity { budget, tokens, method: method.name() };
        self.row(&which, &|| method.compact(self.case, tokens), score)
    }

    /// Measures a row.
    fn row(
        &self,
        which: &RowIdentity<'_>,
        compact: &dyn Fn() -> MethodOutcome,
        score: &dyn Fn(&[Entry]) -> Scores,
    ) -> Row {
        let case = self.case;
        let empty = Row {
            method: which.method.to_owned(),
            budget: which.budget.to_owned(),
            budget_tokens: which.tokens,
            ..Row::empty(case)
        };
        let outcome = compact();
        let row = Row {
            // A method that failed keeps nothing.
            scores: outcome.entries.as_deref().map_or_else(|| score(&[]).with_nothing_kept(), score),
            problem: outcome.problem,
            micros: outcome.micros,
            summaries: outcome.summaries,
            ..empty
        };
        (self.job.progress)(self.job.done.load(Ordering::Relaxed), self.job.files, std::slice::from_ref(&row));
        row
    }
}
