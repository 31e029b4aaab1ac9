//! The search: random chains under successive halving, single changes of the best, then settings one at a time.

use std::collections::BTreeMap;

use super::advice::{Advice, ChainAdvice, Evidence, SettingsAdvice};
use super::bench::Bench;
use super::candidate::{Candidate, drawn, neighbours};
use super::enough::{KindSessions, by_kind};
use super::measurements::{Listener, MeasurementCache};
use super::weights::Weights;
use crate::EvalError;
use crate::figures::paired::bootstrap;
use crate::figures::random::{Random, hash};

/// The shares of the sessions, as divisors, for the rounds of a halving.
const ROUNDS: [usize; 3] = [4, 2, 1];
/// How often a chain is drawn in search of a new one.
const DRAWS: usize = 20;

/// The settings of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct TuneOptions {
    /// The strategies of drawn chains.
    pub strategies: Vec<String>,
    /// Settings that are tried, as `STRATEGY.KEY`.
    pub settings: Vec<String>,
    /// The budgets as they were asked for.
    pub budgets: String,
    /// The objective.
    pub weights: Weights,
    /// The most candidates that are measured, those on part of the sessions included. The default and the verification
    /// do not count.
    pub trials: usize,
    /// The seed.
    pub seed: u64,
}

/// Searches on the cases `train` and verifies on the cases `verify`, both numbers of the bench's cases, and returns the
/// advice; `listener` receives the number of measurements as they are made. The same seed, cases and options give the
/// same advice.
pub fn tune(
    bench: &dyn Bench,
    (train, verify): (&[usize], &[usize]),
    options: &TuneOptions,
    listener: Listener<'_>,
) -> Result<Advice, EvalError> {
    let memory = MeasurementCache::new(bench, options.weights, listener);
    Search { memory, options }.run(train, verify)
}

/// A chain and its mean objective.
type RankedChain = (Vec<String>, f64);

struct Search<'a> {
    memory: MeasurementCache<'a>,
    options: &'a TuneOptions,
}

impl Search<'_> {
    fn run(&mut self, train: &[usize], verify: &[usize]) -> Result<Advice, EvalError> {
        let kinds = by_kind(self.memory.cases(), train, verify);
        let tunable = kinds.values().filter(|sessions| sessions.is_enough()).count();
        let for_chains =
            if self.options.settings.is_empty() { self.options.trials } else { self.options.trials * 2 / 3 };
        let mut advice = Advice { options: self.options.clone(), chains: Vec::new(), settings: None };
        for (kind, sessions) in &kinds {
            let KindSessions { train, verify } = sessions;
            advice.chains.push(match sessions.is_enough() {
                true => self.chain(kind, train, verify, for_chains / tunable)?,
                false => ChainAdvice {
                    kind: kind.clone(),
                    train_cases: train.len(),
                    verify_cases: verify.len(),
                    chain: Vec::new(),
                    is_default: false,
                    evidence: None,
                },
            });
        }
        if !self.options.settings.is_empty() {
            advice.settings = Some(self.settings(&advice, train, verify, self.options.trials - for_chains)?);
        }
        Ok(advice)
    }

    /// Returns the best chain for a kind of task, with its verification.
    fn chain(
        &mut self,
        kind: &str,
        train: &[usize],
        verify: &[usize],
        trials: usize,
    ) -> Result<ChainAdvice, EvalError> {
        // Every part of the sessions is a fair sample.
        let mut shuffled = train.to_vec();
        shuffled.sort_by_key(|number| hash(self.options.seed, &self.memory.cases()[*number].key));
        let (mut best, used) = self.halving(kind, &shuffled, trials / 2)?;
        let default = self.memory.bench().default_chain(kind);
        if !default.is_empty() {
            let mean = self.mean(&|_| Candidate::default(), &shuffled)?;
            if best.as_ref().is_none_or(|(_, found)| mean >= *found) {
                best = Some((default.clone(), mean));
            }
        }
        let mut left = trials.saturating_sub(used);
        // Single changes of the best, as long as one helps.
        'better: while let Some((chain, mean)) = &best {
            for other in neighbours(chain, &self.options.strategies) {
                if left == 0 {
                    break 'better;
                }
                left -= 1;
                let found = self.mean(&|_| Candidate::of_chain(&other), &shuffled)?;
                if found > *mean {
                    best = Some((other, found));
                    continue 'better;
                }
            }
            break;
        }
        let evidence = match &best {
            Some((chain, _)) => {
                let candidate = Candidate::of_chain(chain);
                Some(self.evidence(&|_| candidate.clone(), &|_| Candidate::default(), train, verify)?)
            }
            None => None,
        };
        Ok(ChainAdvice {
            kind: kind.to_owned(),
            train_cases: train.len(),
            verify_cases: verify.len(),
            is_default: best.as_ref().is_some_and(|(chain, _)| *chain == default),
            chain: best.map(|(chain, _)| chain).unwrap_or_default(),
            evidence,
        })
    }

    /// Measures random chains on a quarter of the cases, the better half on a half, and the better half of these on
    /// all. Returns the best with its mean, and how many candidates were measured.
    fn halving(
        &mut self,
        kind: &str,
        cases: &[usize],
        trials: usize,
    ) -> Result<(Option<RankedChain>, usize), EvalError> {
        let mut random = Random::new(hash(self.options.seed, kind));
        let mut chains: Vec<Vec<String>> = Vec::new();
        // A chain takes part in one round, half of them in two, a quarter in three.
        let cost = |chains: &usize| chains + chains.div_ceil(2) + chains.div_ceil(2).div_ceil(2);
        let wanted = (1..=trials).take_while(|chains| cost(chains) <= trials).last().unwrap_or(0);
        for _ in 0..wanted * DRAWS {
            let chain = drawn(&self.options.strategies, &mut random);
            if chains.len() < wanted && !chains.contains(&chain) {
                chains.push(chain);
            }
        }
        let mut used = 0;
        let mut best = None;
        for (round, part) in ROUNDS.into_iter().enumerate() {
            let share = &cases[..cases.len().div_ceil(part)];
            let mut ranked = Vec::new();
            for chain in chains {
                used += 1;
                ranked.push((self.mean(&|_| Candidate::of_chain(&chain), share)?, chain));
            }
            // Stable: of equal chains the first that was drawn.
            ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
            if round + 1 == ROUNDS.len() {
                best = ranked.into_iter().next().map(|(mean, chain)| (chain, mean));
                break;
            }
            let half = ranked.len().div_ceil(2);
            chains = ranked.into_iter().take(half).map(|(_, chain)| chain).collect();
        }
        Ok((best, used))
    }

    /// Searches settings, one at a time as long as one helps, with the recommended chains.
    fn settings(
        &mut self,
        advice: &Advice,
        train: &[usize],
        verify: &[usize],
        trials: usize,
    ) -> Result<SettingsAdvice, EvalError> {
        let chains: BTreeMap<String, Vec<String>> =
            advice.recommended().map(|it| (it.kind.clone(), it.chain.clone())).collect();
        let with = |kind: &str, settings: &BTreeMap<String, _>| Candidate {
            chain: chains.get(kind).cloned(),
            settings: settings.clone(),
        };
        let mut best = BTreeMap::new();
        let mut mean = self.mean(&|kind| with(kind, &best), train)?;
        let mut left = trials;
        'better: loop {
            for name in &self.options.settings {
                for value in self.memory.bench().values(name, best.get(name)) {
                    if left == 0 {
                        break 'better;
                    }
                    left -= 1;
                    let mut tried = best.clone();
                    tried.insert(name.clone(), value);
                    let found = self.mean(&|kind| with(kind, &tried), train)?;
                    if found > mean {
                        (best, mean) = (tried, found);
                        continue 'better;
                    }
                }
            }
            break;
        }
        let plain = BTreeMap::new();
        let evidence = match best.is_empty() {
            true => None,
            false => Some(self.evidence(&|kind| with(kind, &best), &|kind| with(kind, &plain), train, verify)?),
        };
        Ok(SettingsAdvice { settings: best, evidence })
    }

    /// Returns the objectives of cases, each under the candidate for its kind.
    fn objectives(
        &mut self,
        candidate: &dyn Fn(&str) -> Candidate,
        numbers: &[usize],
    ) -> Result<Vec<Option<f64>>, EvalError> {
        let mut found = vec![None; numbers.len()];
        let mut kinds: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, number) in numbers.iter().enumerate() {
            kinds.entry(self.memory.cases()[*number].kind.clone()).or_default().push(place);
        }
        for (kind, places) in kinds {
            let of_kind: Vec<usize> = places.iter().map(|place| numbers[*place]).collect();
            for (place, objective) in places.iter().zip(self.memory.objectives(&candidate(&kind), &of_kind)?) {
                found[*place] = objective;
            }
        }
        Ok(found)
    }

    fn mean(&mut self, candidate: &dyn Fn(&str) -> Candidate, numbers: &[usize]) -> Result<f64, EvalError> {
        let found: Vec<f64> = self.objectives(candidate, numbers)?.into_iter().flatten().collect();
        Ok(super::measurements::mean(&found).unwrap_or(0.0))
    }

    /// Returns the means of both on the training sessions, and the paired difference on the others.
    fn evidence(
        &mut self,
        candidate: &dyn Fn(&str) -> Candidate,
        default: &dyn Fn(&str) -> Candidate,
        train: &[usize],
        verify: &[usize],
    ) -> Result<Evidence, EvalError> {
        let ours = self.objectives(candidate, verify)?;
        let theirs = self.objectives(default, verify)?;
        let pairs: Vec<(f64, f64)> =
            ours.into_iter().zip(theirs).filter_map(|(ours, theirs)| ours.zip(theirs)).collect();
        let differences: Vec<f64> = pairs.iter().map(|(ours, theirs)| ours - theirs).collect();
        let (difference, low, high) = bootstrap(&differences, self.options.seed).unwrap_or_default();
        let count = pairs.len().max(1) as f64;
        Ok(Evidence {
            train: self.mean(candidate, train)?,
            train_default: self.mean(default, train)?,
            verify: pairs.iter().map(|(ours, _)| ours).sum::<f64>() / count,
            verify_default: pairs.iter().map(|(_, theirs)| theirs).sum::<f64>() / count,
            difference,
            low,
            high,
            sessions: pairs.len(),
            wins: differences.iter().filter(|difference| **difference > 0.0).count(),
            losses: differences.iter().filter(|difference| **difference < 0.0).count(),
        })
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
