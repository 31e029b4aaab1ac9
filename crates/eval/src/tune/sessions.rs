//! Recorded sessions as cases for candidates.

use std::collections::BTreeSet;
use std::path::PathBuf;

use epitome::strategy::Value;
use epitome::{Config, Registry};
use rayon::prelude::*;

use super::bench::{Bench, TuneCase};
use super::candidate::{Candidate, values};
use crate::cases::case::{Case, CaseId, CaseOptions};
use crate::cases::files::files;
use crate::cases::left_out::{LeftOut, LeftOutReason};
use crate::cases::select::Filter;
use crate::figures::random::hash;
use crate::figures::score::Scores;
use crate::run::method::Method;
use crate::{BudgetSpec, EvalError};

/// The cases of a file, and what of it was left out.
type FoundCases = (Vec<(TuneCase, Case)>, Vec<LeftOut>);

/// Cases of recorded sessions.
#[derive(Debug)]
pub struct SessionBench {
    cases: Vec<(TuneCase, Case)>,
    left_out: BTreeSet<LeftOut>,
    budgets: Vec<BudgetSpec>,
    registry: Registry,
}

impl SessionBench {
    /// A bench without cases.
    pub fn new(budgets: &[BudgetSpec], registry: Registry) -> Self {
        Self { cases: Vec::new(), left_out: BTreeSet::new(), budgets: budgets.to_vec(), registry }
    }

    /// Adds the sessions of files and folders that `filter` admits, each cut in half; returns their numbers. Sessions
    /// are identified by their content, and known ones are left out, whatever their name. Kinds of task are the
    /// detector's, because it chooses the chains.
    pub fn add(&mut self, paths: &[PathBuf], filter: &Filter) -> Result<Vec<usize>, EvalError> {
        let of_files: Vec<Result<FoundCases, EvalError>> = files(paths)?
            .par_iter()
            .map(|file| {
                let name = file.path.display().to_string();
                let (loaded, content) = match file.load(&name) {
                    Ok(loaded) => loaded,
                    Err(left_out) => return Ok((Vec::new(), vec![left_out])),
                };
                let (mut found, mut left_out) = (Vec::new(), Vec::new());
                for session in &loaded.sessions {
                    let id =
                        CaseId { file: name.clone(), session: session.name.clone(), cut_permille: 500, part: None };
                    let format = loaded.format.as_str();
                    let Some(case) = Case::new(id.clone(), format, &session.session, &CaseOptions::default())? else {
                        left_out.push(LeftOut::session(&id, (LeftOutReason::NoCut, String::new())));
                        continue;
                    };
                    if let Some(refusal) = filter.refuses(&case) {
                        left_out.push(LeftOut::session(&id, refusal));
                        continue;
                    }
                    let key = format!("{content}\u{1f}{}", session.name);
                    found.push((TuneCase { key, kind: case.task.as_str().to_owned() }, case));
                }
                Ok((found, left_out))
            })
            .collect();
        let first = self.cases.len();
        for found in of_files {
            let (cases, left_out) = found?;
            self.left_out.extend(left_out);
            for (info, case) in cases {
                match self.cases.iter().find(|(known, _)| known.key == info.key) {
                    Some((_, known)) => {
                        let refusal = (LeftOutReason::Copy, format!("of {}", known.id.file));
                        self.left_out.insert(LeftOut::session(&case.id, refusal));
                    }
                    None => self.cases.push((info, case)),
                }
            }
        }
        Ok((first..self.cases.len()).collect())
    }

    /// Returns what was not added, and why.
    pub fn left_out(&self) -> &BTreeSet<LeftOut> {
        &self.left_out
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

    fn measure(&self, candidate: &Candidate, numbers: &[usize]) -> Result<Vec<Vec<Scores>>, EvalError> {
        let config = self.config(candidate)?;
        let method = Method::configured(&candidate.key(), &config, candidate.chain.as_deref(), &self.registry)?;
        let of_case = |number: &usize| {
            let case = &self.cases[*number].1;
            let at = |budget: &BudgetSpec| {
                let tokens = case.budget_tokens(*budget);
                let outcome = method.compact(case, tokens);
                match outcome.entries.as_deref() {
                    Some(entries) => case.score(entries, tokens),
                    None => case.score(&[], tokens).with_nothing_kept(),
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
