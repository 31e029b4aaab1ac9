#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use epitome::strategy::Value;
use epitome::{Config, Registry};

use super::*;
use crate::tune::{Bench, Figures, TuneCase, split};

/// A bench on which one chain is best, with noise that is the same for every candidate or differs with each.
struct Planted {
    kinds: Vec<&'static str>,
    best: Vec<String>,
    gain: f64,
    noise: f64,
    best_setting: Option<f64>,
    default: Vec<String>,
    basis: &'static str,
    measured: AtomicUsize,
}

impl Planted {
    fn new(gain: f64, noise: f64) -> Self {
        Self {
            kinds: ["code"; 24].into_iter().chain(["conversation"; 3]).collect(),
            best: names("tool-results key-events"),
            gain,
            noise,
            best_setting: None,
            default: Vec::new(),
            basis: "now",
            measured: AtomicUsize::new(0),
        }
    }

    fn value(&self, candidate: &Candidate, case: usize) -> f64 {
        let chain = candidate.chain.clone().unwrap_or_else(|| self.default.clone());
        // Each strategy at its place is worth its part; others cost a little.
        let right = self.best.iter().zip(&chain).filter(|(wanted, is)| wanted == is).count() as f64;
        let wrong = chain.len() as f64 - right;
        let noise = (hash(7, &format!("{case} {}", candidate.key())) % 1_000) as f64 / 1_000.0 - 0.5;
        let setting = self.best_setting.map_or(0.0, |best| {
            let is = candidate.settings.get("tool-results.keep").and_then(Value::as_f64).unwrap_or(0.1);
            0.2 - (best - is).abs() / 5.0
        });
        0.3 + self.gain * (right / self.best.len() as f64) - 0.02 * wrong * f64::from(u8::from(self.gain > 0.0))
            + self.noise * noise
            + setting
    }
}

impl Bench for Planted {
    fn cases(&self) -> Vec<TuneCase> {
        let case =
            |(number, kind): (usize, &&str)| TuneCase { key: format!("case {number}"), kind: (*kind).to_owned() };
        self.kinds.iter().enumerate().map(case).collect()
    }

    fn default_chain(&self, _: &str) -> Vec<String> {
        self.default.clone()
    }

    fn basis(&self, _: &Candidate) -> Result<String, EvalError> {
        Ok(self.basis.to_owned())
    }

    fn measure(&self, candidate: &Candidate, numbers: &[usize]) -> Result<Vec<Vec<Figures>>, EvalError> {
        self.measured.fetch_add(numbers.len(), Ordering::Relaxed);
        let figures = |case: &usize| {
            let bound = Some(self.value(candidate, *case));
            vec![Figures { bound, usable: true, ..Figures::default() }]
        };
        Ok(numbers.iter().map(figures).collect())
    }

    fn values(&self, _: &str, now: Option<&Value>) -> Vec<Value> {
        let now = now.and_then(Value::as_f64).unwrap_or(0.1);
        vec![(now / 2.0).into(), (now * 2.0).into()]
    }
}

fn names(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn options(trials: usize) -> TuneOptions {
    TuneOptions {
        strategies: names("tool-results key-events sliding-window importance summary time-decay"),
        settings: Vec::new(),
        budgets: "0.4".to_owned(),
        weights: Weights::default(),
        trials,
        seed: 1,
    }
}

fn tuned(bench: &Planted, options: &TuneOptions, known: Vec<Measurement>) -> (Advice, Vec<Measurement>) {
    let (train, verify) = split(&bench.cases(), options.seed);
    let mut new = Vec::new();
    let (advice, _) = tune(bench, (&train, &verify), options, known, &mut |rows| new.extend_from_slice(rows)).unwrap();
    (advice, new)
}

fn parsed(advice: &Advice, registry: &Registry) -> Config {
    Config::parse(&advice.toml(), "tuned.toml", registry).unwrap_or_else(|errors| panic!("{errors}\n{}", advice.toml()))
}

#[test]
fn a_planted_chain_is_found() {
    let bench = Planted::new(0.4, 0.05);
    let (advice, _) = tuned(&bench, &options(80), Vec::new());
    let found: Vec<_> = advice.recommended().map(|chain| (chain.kind.as_str(), chain.chain.clone())).collect();
    assert_eq!(found, [("code", bench.best.clone())]);
    let text = advice.toml();
    assert!(text.contains("code = [\"tool-results\",\"key-events\"]"), "{text}");
    assert!(text.contains("# conversation: 2 sessions to search on and 1 to verify on are too few."), "{text}");
    parsed(&advice, &epitome::registry());
}

#[test]
fn what_is_no_better_is_not_recommended() {
    // All candidates are the same but for noise: the best on one half is the best by chance.
    let bench = Planted::new(0.0, 0.2);
    let (advice, _) = tuned(&bench, &options(80), Vec::new());
    let evidence = advice.chains[0].evidence.unwrap();
    assert!(evidence.train > evidence.train_default, "the search did find something on its own half");
    assert!(!advice.is_any(), "{}", advice.toml());
    let text = advice.toml();
    assert!(text.contains("there is nothing to set"), "{text}");
    let config = parsed(&advice, &epitome::registry());
    let registry = epitome::registry();
    assert_eq!(config.effective(&registry), Config::default().effective(&registry));
}

#[test]
fn an_interrupted_search_gives_the_same_answer_and_measures_nothing_twice() {
    let bench = Planted::new(0.4, 0.05);
    let (whole, measured) = tuned(&bench, &options(60), Vec::new());
    let all = bench.measured.swap(0, Ordering::Relaxed);
    assert_eq!(all, measured.len());
    let half = measured[..measured.len() / 2].to_vec();
    let (again, new) = tuned(&bench, &options(60), half);
    assert_eq!(again, whole);
    assert_eq!(new, measured[measured.len() / 2..]);
    // Measurements of candidates whose settings changed are repeated, and the result says so.
    let (train, verify) = split(&bench.cases(), 1);
    let other = Planted { basis: "changed", ..Planted::new(0.4, 0.05) };
    let recalled =
        |bench: &Planted| tune(bench, (&train, &verify), &options(60), measured.clone(), &mut |_| ()).unwrap().1;
    assert_eq!(recalled(&bench), MeasurementReuse { reused: all, changed: 0 });
    assert_eq!(recalled(&other), MeasurementReuse { reused: 0, changed: all });
    // Measurements at other budgets are none.
    let others = measured.into_iter().map(|row| Measurement { budgets: "0.1".to_owned(), ..row }).collect();
    assert_eq!(tuned(&bench, &options(60), others).1.len(), all);
}

#[test]
fn the_search_starts_from_the_default_where_that_is_better() {
    // Too few trials to draw a chain like it.
    let default = names("tool-results key-events sliding-window");
    let bench = Planted { default, ..Planted::new(0.4, 0.0) };
    let (advice, _) = tuned(&bench, &options(12), Vec::new());
    let chain: Vec<_> = advice.recommended().map(|chain| chain.chain.clone()).collect();
    assert_eq!(chain, std::slice::from_ref(&bench.best), "the default without what only costs");
}

#[test]
fn a_default_that_is_best_stays() {
    let bench = Planted { default: names("tool-results key-events"), ..Planted::new(0.4, 0.0) };
    let (advice, _) = tuned(&bench, &options(60), Vec::new());
    assert!(advice.chains[0].is_default && !advice.is_any());
    let text = advice.toml();
    assert!(text.contains("# code: of what was tried on 12 sessions nothing is better than the default"), "{text}");
}

#[test]
fn trials_bound_the_search() {
    // A candidate on more of the sessions is one more trial; each hears of its measurements once.
    let used = |trials: usize| {
        let bench = Planted::new(0.4, 0.05);
        let (train, verify) = split(&bench.cases(), 1);
        let (mut calls, mut keys) = (0, Vec::new());
        let mut listener = |rows: &[Measurement]| {
            let is_search =
                rows[0].candidate != "default" && train.iter().any(|at| rows[0].case == format!("case {at}"));
            calls += usize::from(is_search);
            keys.push(rows[0].candidate.clone());
        };
        tune(&bench, (&train, &verify), &options(trials), Vec::new(), &mut listener).unwrap();
        keys.sort();
        keys.dedup();
        (calls, keys.len())
    };
    for trials in [0, 1, 4, 5, 6, 18, 40] {
        assert!(used(trials).0 <= trials, "{trials}: {:?}", used(trials));
    }
    assert!(used(40).1 > 12);
}

#[test]
fn settings_are_searched_with_the_chains_that_were_found() {
    let bench = Planted { best_setting: Some(0.4), ..Planted::new(0.4, 0.02) };
    let with = TuneOptions { settings: vec!["tool-results.keep".to_owned()], ..options(120) };
    let (advice, _) = tuned(&bench, &with, Vec::new());
    let settings = advice.recommended_settings().unwrap();
    let expect: BTreeMap<String, Value> = [("tool-results.keep".to_owned(), 0.4.into())].into();
    assert_eq!(settings.settings, expect);
    let text = advice.toml();
    assert!(text.contains("[strategies.tool-results]\nkeep = 0.4\n"), "{text}");
}

#[test]
fn halves_hold_each_kind_in_equal_parts() {
    let bench = Planted::new(0.0, 0.0);
    let cases = bench.cases();
    let (train, verify) = split(&cases, 5);
    assert_eq!((train.len(), verify.len()), (14, 13));
    let of = |numbers: &[usize], kind: &str| numbers.iter().filter(|number| cases[**number].kind == kind).count();
    assert_eq!((of(&train, "code"), of(&verify, "code")), (12, 12));
    assert_ne!(split(&cases, 6).0, train, "another seed, another split");
    assert_eq!(split(&cases, 5).0, train);
}

#[test]
fn few_sessions_are_no_evidence() {
    // Four to verify on, all of them better.
    let found = Evidence { low: 0.1, difference: 0.2, high: 0.3, sessions: 4, wins: 4, ..none() };
    assert!(!found.is_better());
    assert!(Evidence { sessions: 5, ..found }.is_better());
    let bench = Planted { kinds: vec!["code"; 9], ..Planted::new(0.4, 0.0) };
    let (advice, _) = tuned(&bench, &options(40), Vec::new());
    assert!(advice.toml().contains("# code: 5 sessions to search on and 4 to verify on are too few."));
    let bench = Planted { kinds: vec!["code"; 10], ..Planted::new(0.4, 0.0) };
    assert!(tuned(&bench, &options(40), Vec::new()).0.is_any());
}

fn none() -> Evidence {
    Evidence {
        train: 0.0,
        train_default: 0.0,
        verify: 0.0,
        verify_default: 0.0,
        difference: 0.0,
        low: 0.0,
        high: 0.0,
        sessions: 0,
        wins: 0,
        losses: 0,
    }
}
