//! From a case to rows: every method at every budget.

use std::sync::atomic::Ordering;

use epitome::session::{Entry, Session};
use rayon::prelude::*;

use crate::budget::BudgetSpec;
use crate::case::{Case, CaseId};
use crate::cut::tokens_of;
use crate::evidence::{Chat, Question};
use crate::job::Job;
use crate::meaning::{OWN_SUMMARY, OWN_SUMMARY_SHARE};
use crate::method::{Method, MethodOutcome};
use crate::probes::{ProbeHits, ProbeScores, ProbedCase, context_text, message_of, messages_of, recall};
use crate::random::hash;
use crate::resume::Basis;
use crate::row::Row;
use crate::score::Scores;

/// The name of the agent's own view, among the methods.
const RECORDED: &str = "recorded";
/// The name of a budget of the size of the agent's own view.
const OWN_SIZE: &str = "own size";
/// The name of the hand-off summary of a probed session, alone, among the methods.
pub const HANDOFF: &str = "hand-off";

/// The name of a search's results for each question of a probed session, alone, among the methods.
pub const SEARCH: &str = "search";

/// The name of a method's context with a search's results beside it, among the methods.
pub fn with_search(method: &str) -> String {
    format!("{method} +search")
}

/// A case that is being measured.
pub(crate) struct Measure<'a> {
    pub(crate) job: &'a Job<'a>,
    pub(crate) case: &'a Case,
    /// The digest of its file.
    pub(crate) file: &'a str,
    /// How the case is made.
    pub(crate) how: &'a str,
}

/// The sizes before and after.
struct BudgetStep<'a> {
    /// Tokens before.
    prefix: u32,
    /// The least budget that is fair.
    floor: u32,
    budget: &'a str,
    tokens: u32,
}

/// The identity of a row within a case.
struct RowIdentity<'a> {
    /// The number among several rows of the same method and budget.
    part: Option<&'a str>,
    budget: &'a str,
    tokens: u32,
    method: &'a str,
    method_digest: &'a str,
}

impl Measure<'_> {
    /// Measures every method at every budget.
    pub(crate) fn at_budgets(&self) -> Vec<Row> {
        let budgets = self.job.plan.budgets.iter();
        budgets.flat_map(|budget| self.at(&budget.to_string(), self.case.budget_tokens(*budget))).collect()
    }

    /// Measures the agent's own view, and every method at its size.
    pub(crate) fn beside(&self, own: &[Entry]) -> Vec<Row> {
        let tokens = own.iter().map(|entry| tokens_of(&entry.message)).sum();
        let recorded = || MethodOutcome { entries: Some(own.to_vec()), problem: None, micros: 0 };
        let score = |entries: &[Entry]| self.case.score(entries, tokens);
        let part = self.case.id.part.as_deref();
        let which = RowIdentity { part, budget: OWN_SIZE, tokens, method: RECORDED, method_digest: RECORDED };
        let mut rows = vec![self.row(&which, &recorded, &score)];
        rows.extend(self.at(OWN_SIZE, tokens));
        rows
    }

    /// Measures a probed session: the hand-off summary alone, where there is one, and every method, at every budget. A
    /// result that is over its budget or invalid counts as showing nothing.
    pub(crate) fn probes(&self, probed: &ProbedCase) -> Vec<Row> {
        let (case, plan, folder) = (self.case, self.job.plan, &probed.folder);
        let tools = case.prefix.tools.as_deref();
        let probes = &folder.set.probes;
        let answered = |entries: &[Entry]| match messages_of(entries, tools) {
            Ok(messages) => ProbeScores::count(probes, &recall(probes, &context_text(&messages))),
            // A result that cannot be rendered is invalid, and shows nothing.
            Err(_) => ProbeScores::count(probes, &vec![false; probes.len()]),
        };
        let mut rows = Vec::new();
        for budget in &plan.budgets {
            let (name, tokens) = (budget.to_string(), probed.budget(*budget));
            if let Some(text) = &folder.handoff {
                let mut handoff = Session::new();
                handoff.push(message_of(text));
                let entries = handoff.view().to_vec();
                let which = RowIdentity { part: None, budget: &name, tokens, method: HANDOFF, method_digest: HANDOFF };
                let outcome = || MethodOutcome { entries: Some(entries.clone()), problem: None, micros: 0 };
                // It is alone: it is not a session that could be valid or keep a system prompt.
                let score = |entries: &[Entry]| Scores {
                    probes: answered(entries),
                    tokens: entries.iter().map(|entry| tokens_of(&entry.message)).sum(),
                    system_intact: true,
                    ..Scores::default()
                };
                rows.push(self.row(&which, &outcome, &score));
            }
            for method in &plan.methods {
                let score = |entries: &[Entry]| {
                    let scores = Scores { probes: answered(entries), ..case.score(entries, tokens) };
                    if scores.over_budget || scores.violation.is_some() {
                        let (probes, meaning) = (scores.probes.with_nothing_kept(), scores.meaning.with_nothing_kept());
                        return Scores { probes, meaning, ..scores };
                    }
                    scores
                };
                let way = BudgetStep { prefix: probed.tokens, floor: probed.floor, budget: &name, tokens };
                rows.extend(self.of_method(method, &way, &score));
            }
            if let Some(passages) = plan.search {
                rows.extend(self.search_rows(
                    probed,
                    &ProbeHits::search(&case.prefix, probes, passages),
                    passages,
                    *budget,
                ));
            }
        }
        rows.extend(self.own_summary());
        rows
    }

    /// Measures a search's results for each question of a probed session, alone and beside the context of every method.
    /// A result that is over its budget or invalid counts as showing nothing, also with a search beside it.
    fn search_rows(&self, probed: &ProbedCase, found: &ProbeHits, passages: usize, budget: BudgetSpec) -> Vec<Row> {
        let (case, probes) = (self.case, &probed.folder.set.probes);
        let (name, tokens) = (budget.to_string(), probed.budget(budget));
        let digest = format!("{passages} passages");
        let alone = RowIdentity { part: None, budget: &name, tokens, method: SEARCH, method_digest: &digest };
        let nothing = || MethodOutcome { entries: Some(Vec::new()), problem: None, micros: 0 };
        let score = |_: &[Entry]| Scores {
            probes: found.score_probes(probes, ""),
            tokens: found.tokens(),
            system_intact: true, // it stands alone: there is none that it could have lost
            ..Scores::default()
        };
        let mut rows = vec![self.row(&alone, &nothing, &score)];
        for method in &self.job.plan.methods {
            let (named, digest) = (with_search(method.name()), format!("{} {digest}", method.digest()));
            let which = RowIdentity { part: None, budget: &name, tokens, method: &named, method_digest: &digest };
            let score = |entries: &[Entry]| {
                let scores = case.score(entries, tokens);
                let messages = messages_of(entries, case.prefix.tools.as_deref());
                match messages {
                    Ok(messages) if !scores.over_budget && scores.violation.is_none() => {
                        Scores { probes: found.score_probes(probes, &context_text(&messages)), ..scores }
                    }
                    _ => Scores {
                        probes: found.score_probes(probes, "").with_nothing_kept(),
                        meaning: scores.meaning.with_nothing_kept(),
                        ..scores
                    },
                }
            };
            rows.push(self.row(&which, &|| method.compact(case, tokens), &score));
        }
        rows
    }

    /// Measures a view with a summary that the agent recorded, compacted by every method; none where there is no
    /// summary.
    pub(crate) fn own_summary(&self) -> Vec<Row> {
        if !self.case.truth.meaning.has_own_summary() {
            return Vec::new();
        }
        let budget = BudgetSpec::Share(OWN_SUMMARY_SHARE);
        self.at(OWN_SUMMARY, self.case.budget_tokens(budget))
    }

    fn at(&self, budget: &str, tokens: u32) -> Vec<Row> {
        let score = |entries: &[Entry]| self.case.score(entries, tokens);
        let way = BudgetStep { prefix: self.case.prefix_tokens, floor: self.case.floor_tokens, budget, tokens };
        self.job.plan.methods.iter().flat_map(|method| self.of_method(method, &way, &score)).collect()
    }

    /// Measures a method at a budget: once, and as often as the plan says. Repeating baselines would be useless.
    fn of_method(&self, method: &Method, way: &BudgetStep<'_>, score: &dyn Fn(&[Entry]) -> Scores) -> Vec<Row> {
        let once = self.which(way.budget, way.tokens, method);
        let mut rows = vec![self.row(&once, &|| method.compact(self.case, way.tokens), score)];
        for generations in self.job.plan.generations.iter().filter(|_| !method.is_baseline()) {
            let budgets = generations.budgets(way.prefix, way.tokens, way.floor);
            let name = generations.name(method.name());
            let digest = format!("{} {budgets:?}{}", method.digest(), if generations.piped { " piped" } else { "" });
            let which =
                RowIdentity { method: &name, method_digest: &digest, ..self.which(way.budget, way.tokens, method) };
            let compact = || method.compact_through(self.case, &budgets, generations.piped);
            rows.push(self.row(&which, &compact, score));
        }
        rows
    }

    /// Measures a chat: each method once without a question, scored by all of them; and those that take a focus once
    /// for each question that is drawn, `most` of them.
    pub(crate) fn chat(&self, chat: &Chat, most: usize) -> Vec<Row> {
        let (case, plan) = (self.case, self.job.plan);
        let all: Vec<&Question> = chat.questions.iter().collect();
        let mut drawn = all.clone();
        drawn.sort_by_key(|question| hash(plan.seed, &question.text));
        drawn.truncate(most);
        let mut rows = Vec::new();
        for budget in &plan.budgets {
            let (name, tokens) = (budget.to_string(), case.budget_tokens(*budget));
            for method in &plan.methods {
                let score = |entries: &[Entry]| case.score_evidence(entries, tokens, &all);
                let which = self.which(&name, tokens, method);
                rows.push(self.row(&which, &|| method.compact(case, tokens), &score));
            }
            for method in plan.methods.iter().filter(|method| method.takes_focus()) {
                let asked = format!("{} +question", method.name());
                let of_question = |question: &&Question| {
                    let compact = || method.compact_for(case, tokens, Some(&question.text));
                    let score = |entries: &[Entry]| case.score_evidence(entries, tokens, &[question]);
                    let part = Some(question.text.as_str());
                    let which = RowIdentity { part, method: &asked, ..self.which(&name, tokens, method) };
                    self.row(&which, &compact, &score)
                };
                rows.par_extend(drawn.par_iter().map(of_question));
            }
        }
        rows
    }

    fn which<'b>(&'b self, budget: &'b str, tokens: u32, method: &'b Method) -> RowIdentity<'b> {
        let part = self.case.id.part.as_deref();
        RowIdentity { part, budget, tokens, method: method.name(), method_digest: method.digest() }
    }

    /// Returns a row, of the earlier run or measured now.
    fn row(
        &self,
        which: &RowIdentity<'_>,
        compact: &dyn Fn() -> MethodOutcome,
        score: &dyn Fn(&[Entry]) -> Scores,
    ) -> Row {
        let case = self.case;
        let empty = Row {
            case: CaseId { part: which.part.map(str::to_owned), ..case.id.clone() },
            method: which.method.to_owned(),
            budget: which.budget.to_owned(),
            budget_tokens: which.tokens,
            ..Row::empty(case)
        };
        let basis = Basis {
            file: self.file.to_owned(),
            method: which.method_digest.to_owned(),
            case: format!("{}, {} tokens", self.how, which.tokens),
            version: Basis::version(),
        };
        if let Some(known) = self.job.known.row(&empty.case, which.budget, which.method, &basis) {
            // Labels are not inputs of the figures: those of this run count.
            return Row { task: empty.task, ..known.clone() };
        }
        let outcome = compact();
        let row = Row {
            // A method that failed keeps nothing.
            scores: outcome.entries.as_deref().map_or_else(|| score(&[]).with_nothing_kept(), score),
            problem: outcome.problem,
            micros: outcome.micros,
            basis: Some(basis),
            ..empty
        };
        (self.job.progress)(self.job.done.load(Ordering::Relaxed), self.job.files, std::slice::from_ref(&row));
        row
    }
}
