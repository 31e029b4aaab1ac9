#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use epitome::strategy::Value;
use epitome::{Config, Registry};

use super::*;
use crate::figures::kept::KeptCount;
use crate::figures::score::Scores;
use crate::tune::{Bench, TuneCase, split, uncertainty};

/// A bench on which one chain is best, with noise that is the same for every candidate or differs with each.
struct Planted {
    kinds: Vec<&'static str>,
    best: Vec<String>,
    gain: f64,
    noise: f64,
    best_setting: Option<f64>,
    default: Vec<String>,
    /// The candidate and the cases of each call.
    asked: Mutex<Vec<(String, Vec<usize>)>>,
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
            asked: Mutex::default(),
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

    fn measure(&self, candidate: &Candidate, numbers: &[usize]) -> Result<Vec<Vec<Scores>>, EvalError> {
        self.asked.lock().unwrap().push((candidate.key(), numbers.to_vec()));
        let scores = |case: &usize| {
            let of = 1_000_000;
            let kept = (self.value(candidate, *case) * f64::from(of)).round() as u32;
            vec![Scores { bound_frr: KeptCount { kept, of }, system_intact: true, ..Scores::default() }]
        };
        Ok(numbers.iter().map(scores).collect())
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

fn tuned(bench: &Planted, options: &TuneOptions) -> Advice {
    let (train, verify) = split(&bench.cases(), options.seed);
    tune(bench, (&train, &verify), options, &mut |_| ()).unwrap()
}

fn parsed(advice: &Advice, registry: &Registry) -> Config {
    Config::parse(&advice.toml(), "tuned.toml", registry).unwrap_or_else(|errors| panic!("{errors}\n{}", advice.toml()))
}

#[test]
fn a_planted_chain_is_found() {
    let bench = Planted::new(0.4, 0.05);
    let advice = tuned(&bench, &options(80));
    let found: Vec<_> = advice.recommended().map(|chain| (chain.kind.as_str(), chain.chain.clone())).collect();
    assert_eq!(found, [("code", bench.best.clone())]);
    let text = advice.toml();
    assert!(text.contains("code = [\"tool-results\",\"key-events\"]"), "{text}");
    assert!(
        text.contains("# conversation: 2 sessions to search on and 1 to verify on are too few: 5 and 5 are needed."),
        "{text}"
    );
    parsed(&advice, &epitome::registry());
}

#[test]
fn what_is_no_better_is_not_recommended() {
    // All candidates are the same but for noise: the best on one half is the best by chance.
    let bench = Planted::new(0.0, 0.2);
    let advice = tuned(&bench, &options(80));
    let evidence = advice.chains[0].evidence.unwrap();
    assert!(evidence.train > evidence.train_default, "the search did find something on its own half");
    assert!(!advice.is_any(), "{}", advice.toml());
    let text = advice.toml();
    assert!(text.contains("there is nothing to set"), "{text}");
    assert!(advice.sentences()[0].starts_with("code: no winner: the difference of "), "{text}");
    assert!(text.contains(" is within noise: "), "{text}");
    let config = parsed(&advice, &epitome::registry());
    let registry = epitome::registry();
    assert_eq!(config.effective(&registry), Config::default().effective(&registry));
}

#[test]
fn nothing_is_measured_twice_and_the_same_seed_finds_the_same() {
    let bench = Planted::new(0.4, 0.05);
    let advice = tuned(&bench, &options(60));
    let asked = std::mem::take(&mut *bench.asked.lock().unwrap());
    let each = || asked.iter().flat_map(|(candidate, cases)| cases.iter().map(move |case| (candidate, case)));
    assert_eq!(each().collect::<BTreeSet<_>>().len(), each().count());
    assert_eq!(tuned(&bench, &options(60)), advice);
    assert_eq!(*bench.asked.lock().unwrap(), asked);
}

#[test]
fn the_search_starts_from_the_default_where_that_is_better() {
    // Too few trials to draw a chain like it.
    let default = names("tool-results key-events sliding-window");
    let bench = Planted { default, ..Planted::new(0.4, 0.0) };
    let advice = tuned(&bench, &options(12));
    let chain: Vec<_> = advice.recommended().map(|chain| chain.chain.clone()).collect();
    assert_eq!(chain, std::slice::from_ref(&bench.best), "the default without what only costs");
}

#[test]
fn a_default_that_is_best_stays() {
    let bench = Planted { default: names("tool-results key-events"), ..Planted::new(0.4, 0.0) };
    let advice = tuned(&bench, &options(60));
    assert!(advice.chains[0].is_default && !advice.is_any());
    let text = advice.toml();
    assert!(
        text.contains("# code: no winner: of what was tried on 12 sessions nothing is better than the default"),
        "{text}"
    );
}

#[test]
fn trials_bound_the_search() {
    // A candidate on more of the sessions is one more trial; each hears of its measurements once.
    let used = |trials: usize| {
        let bench = Planted::new(0.4, 0.05);
        let (train, verify) = split(&bench.cases(), 1);
        let mut made = 0;
        tune(&bench, (&train, &verify), &options(trials), &mut |new| made += new).unwrap();
        let asked = bench.asked.into_inner().unwrap();
        assert_eq!(made, asked.iter().map(|(_, cases)| cases.len()).sum::<usize>());
        let of_search = asked.iter().filter(|(candidate, cases)| candidate != "default" && train.contains(&cases[0]));
        let candidates: BTreeSet<&String> = asked.iter().map(|(candidate, _)| candidate).collect();
        (of_search.count(), candidates.len())
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
    let advice = tuned(&bench, &with);
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
    let advice = tuned(&bench, &options(40));
    assert!(
        advice.toml().contains("# code: 5 sessions to search on and 4 to verify on are too few: 5 and 5 are needed.")
    );
    let bench = Planted { kinds: vec!["code"; 10], ..Planted::new(0.4, 0.0) };
    assert!(tuned(&bench, &options(40)).is_any());
}

#[test]
fn what_a_difference_would_take() {
    let check = |why: &str, (difference, low, high): (f64, f64, f64), expect: Option<usize>| {
        let evidence = Evidence { difference, low, high, sessions: 12, ..none() };
        assert_eq!(evidence.sessions_needed(), expect, "{why}");
    };
    check("half as large as its interval reaches", (0.02, -0.02, 0.06), Some(48));
    check("known already", (0.04, 0.02, 0.06), Some(5));
    check("none to be found", (-0.02, -0.06, 0.02), None);
    check("nothing differs", (0.0, 0.0, 0.0), None);
}

#[test]
fn how_uncertain_a_difference_is() {
    let noisy = |kinds: usize| {
        let bench = Planted { kinds: vec!["code"; kinds], ..Planted::new(0.0, 0.4) };
        uncertainty(&bench, &(0..kinds).collect::<Vec<_>>(), &names("summary"), Weights::default(), 1).unwrap()
    };
    assert_eq!(noisy(1), None, "one session has no interval");
    let (few, many) = (noisy(6).unwrap(), noisy(24).unwrap());
    assert!(few > 0.05 && many < few, "four times the sessions: {few} and {many}");
    let same = Planted { kinds: vec!["code"; 6], ..Planted::new(0.0, 0.0) };
    assert_eq!(uncertainty(&same, &[0, 1, 2, 3, 4, 5], &names("summary"), Weights::default(), 1).unwrap(), Some(0.0));
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
