//! Recorded sessions as cases for candidates.

use std::path::PathBuf;

use epitome::formats::{ReadOptions, read};
use epitome::strategy::Value;
use epitome::{Config, Registry};
use rayon::prelude::*;

use super::bench::{Bench, TuneCase};
use super::candidate::{Candidate, values};
use super::weights::Figures;
use crate::cases::case::{Case, CaseId, CaseOptions};
use crate::cases::files::files;
use crate::cases::select::Filter;
use crate::figures::random::hash;
use crate::run::method::Method;
use crate::{BudgetSpec, EvalError};

/// Cases of recorded sessions.
#[derive(Debug)]
pub struct SessionBench {
    cases: Vec<(TuneCase, Case)>,
    budgets: Vec<BudgetSpec>,
    registry: Registry,
}

impl SessionBench {
    /// A bench without cases.
    pub fn new(budgets: &[BudgetSpec], registry: Registry) -> Self {
        Self { cases: Vec::new(), budgets: budgets.to_vec(), registry }
    }

    /// Adds the sessions of files and folders that `filter` admits, each cut in half; returns their numbers. Sessions
    /// are identified by their content, and known ones are left out, whatever their name. Kinds of task are the
    /// detector's, because it chooses the chains.
    pub fn add(&mut self, paths: &[PathBuf], filter: &Filter) -> Result<Vec<usize>, EvalError> {
        let of_files: Vec<Result<Vec<(TuneCase, Case)>, EvalError>> = files(paths)?
            .par_iter()
            .map(|file| {
                let name = file.path.display().to_string();
                let bytes = file.read()?;
                // What is not a session is not a case.
                let content = digest(&bytes);
                let Ok(loaded) = read(bytes, ReadOptions::default()) else { return Ok(Vec::new()) };
                let mut found = Vec::new();
                for session in &loaded.sessions {
                    let id =
                        CaseId { file: name.clone(), session: session.name.clone(), cut_permille: 500, part: None };
                    let case = Case::new(id, loaded.format.as_str(), &session.session, &CaseOptions::default())?;
                    let Some(case) = case.filter(|case| filter.admits(case)) else { continue };
                    let key = format!("{content}\u{1f}{}", session.name);
                    found.push((TuneCase { key, kind: case.task.as_str().to_owned() }, case));
                }
                Ok(found)
            })
            .collect();
        let first = self.cases.len();
        for found in of_files {
            for (info, case) in found? {
                if self.cases.iter().all(|(known, _)| known.key != info.key) {
                    self.cases.push((info, case));
                }
            }
        }
        Ok((first..self.cases.len()).collect())
    }

    /// The default configuration with the settings of a candidate.
    fn config(&self, candidate: &Candidate) -> Result<Config, EvalError> {
        let mut config = Config::default();
        for (name, value) in &candidate.settings {
            let set = config.set(&format!("strategies.{name}"), value);
            set.map_err(|problem| EvalError::Method(format!("{name} {problem}")))?;
        }
        Ok(config)
    }
}

/// The first 64 bits of a content hash: enough to notice a change.
fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

impl Bench for SessionBench {
    fn cases(&self) -> Vec<TuneCase> {
        self.cases.iter().map(|(info, _)| info.clone()).collect()
    }

    fn default_chain(&self, kind: &str) -> Vec<String> {
        let key = format!("chains.{kind}");
        let chain = Config::default().effective(&self.registry).into_iter().find(|entry| entry.key == key);
        let names = chain.and_then(|entry| entry.value.as_array().cloned()).unwrap_or_default();
        names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
    }

    fn measure(&self, candidate: &Candidate, numbers: &[usize]) -> Result<Vec<Vec<Figures>>, EvalError> {
        let config = self.config(candidate)?;
        let method = Method::configured(&candidate.key(), &config, candidate.chain.as_deref(), &self.registry)?;
        let of_case = |number: &usize| {
            let case = &self.cases[*number].1;
            let at = |budget: &BudgetSpec| {
                let tokens = case.budget_tokens(*budget);
                let outcome = method.compact(case, tokens);
                let scores = match outcome.entries.as_deref() {
                    Some(entries) => case.score(entries, tokens),
                    None => case.score(&[], tokens).with_nothing_kept(),
                };
                Figures {
                    bound: scores.bound_frr.share(),
                    quotes: scores.quotes.share(),
                    files: scores.files.share(),
                    rules: scores.rules.share(),
                    usable: outcome.problem.is_none() && scores.is_usable(),
                }
            };
            self.budgets.iter().map(at).collect()
        };
        Ok(numbers.par_iter().map(of_case).collect())
    }

    fn values(&self, setting: &str, now: Option<&Value>) -> Vec<Value> {
        let Some((strategy, key)) = setting.split_once('.') else { return Vec::new() };
        let Ok(registration) = self.registry.get(strategy) else { return Vec::new() };
        let Some(field) = registration.fields.iter().find(|field| field.name == key) else { return Vec::new() };
        values(field, &now.cloned().unwrap_or_else(field.default))
    }
}

/// Splits cases into two halves with each kind of task in equal parts: one to search on, one for verifying. The same
/// seed gives the same halves.
pub fn split(cases: &[TuneCase], seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|number| (cases[*number].kind.clone(), hash(seed, &cases[*number].key)));
    let (mut train, mut verify): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (place, number) in order.into_iter().enumerate() {
        if place % 2 == 0 { train.push(number) } else { verify.push(number) }
    }
    train.sort_unstable();
    verify.sort_unstable();
    (train, verify)
}
