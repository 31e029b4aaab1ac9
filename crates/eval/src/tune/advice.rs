//! The recommendation of a search, as a configuration with the evidence in its comments.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use epitome::strategy::Value;
use serde::Serialize;

use super::enough::LEAST_SESSIONS;
use super::search::TuneOptions;
use crate::tables::sheet::signed;

/// The evidence for and against a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Evidence {
    /// The mean objective on the sessions of the search.
    pub train: f64,
    /// The default's mean objective on them.
    pub train_default: f64,
    /// The mean objective on the sessions of the verification.
    pub verify: f64,
    /// The default's mean objective on them.
    pub verify_default: f64,
    /// The mean paired difference on the sessions of the verification.
    pub difference: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How many sessions were compared.
    pub sessions: usize,
    /// On how many sessions it is better.
    pub wins: usize,
    /// On how many sessions it is worse.
    pub losses: usize,
}

impl Evidence {
    /// Whether the difference is above zero, outside an interval over enough sessions.
    pub fn is_better(&self) -> bool {
        self.low > 0.0 && self.sessions >= LEAST_SESSIONS
    }
}

/// The best chain that was found for a kind of task.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainAdvice {
    /// The kind.
    pub kind: String,
    /// How many sessions of the kind there are to search on.
    pub train_cases: usize,
    /// How many sessions of the kind there are to verify on.
    pub verify_cases: usize,
    /// The chain; empty where none was searched for.
    pub chain: Vec<String>,
    /// Whether it is the default chain, because no other one was better on the sessions of the search.
    pub is_default: bool,
    /// The evidence; `None` where there are too few sessions.
    pub evidence: Option<Evidence>,
}

/// The best settings that were found.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsAdvice {
    /// Values by `STRATEGY.KEY`; empty where none helped.
    pub settings: BTreeMap<String, Value>,
    /// The evidence against the same chains without these settings.
    pub evidence: Option<Evidence>,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Its settings.
    pub options: TuneOptions,
    /// By kind of task.
    pub chains: Vec<ChainAdvice>,
    /// `None` where no setting was to be tried.
    pub settings: Option<SettingsAdvice>,
}

impl Advice {
    /// Returns the chains that are better than the default.
    pub fn recommended(&self) -> impl Iterator<Item = &ChainAdvice> {
        self.chains.iter().filter(|chain| chain.evidence.is_some_and(|evidence| evidence.is_better()))
    }

    /// Returns the settings that are better than the default.
    pub fn recommended_settings(&self) -> Option<&SettingsAdvice> {
        self.settings.as_ref().filter(|settings| settings.evidence.is_some_and(|evidence| evidence.is_better()))
    }

    /// Whether anything is better than the default.
    pub fn is_any(&self) -> bool {
        self.recommended().next().is_some() || self.recommended_settings().is_some()
    }

    /// Returns the verdict on each kind of task, and on the settings where some were tried.
    pub fn sentences(&self) -> Vec<String> {
        let chains = self.chains.iter().map(ChainAdvice::sentence);
        chains.chain(self.settings.iter().map(SettingsAdvice::sentence)).collect()
    }

    /// Returns the recommendations as a configuration; everything else is in comments. The same advice gives the same
    /// text.
    pub fn toml(&self) -> String {
        let options = &self.options;
        let mut out = format!(
            "# Written by `epitome tune`: seed {}, at most {} trials, budgets {}, objective {}.\n# The objective is a mean \
             of shares from 0 to 1; differences are paired by session on sessions that the\n# search has not seen, with \
             95 % intervals. What is not better outside the interval is not recommended.\n",
            options.seed, options.trials, options.budgets, options.weights
        );
        if !self.is_any() {
            out.push_str(
                "#\n# No winner: nothing that was found is better than the defaults, so there is nothing to set.\n",
            );
        }
        out.push_str("\n[chains]\n");
        for chain in &self.chains {
            out.push_str(&chain.comment());
            if chain.evidence.is_some_and(|evidence| evidence.is_better()) {
                let _ = writeln!(out, "{} = {}", chain.kind, Value::from(chain.chain.clone()));
            }
            out.push('\n');
        }
        if let Some(settings) = &self.settings {
            out.push_str(&settings.toml());
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        out
    }
}

impl ChainAdvice {
    /// Returns the verdict in one sentence: the winner, or that there is none.
    pub fn sentence(&self) -> String {
        let Some(evidence) = self.evidence else {
            return format!(
                "{}: {} sessions to search on and {} to verify on are too few: {LEAST_SESSIONS} and {LEAST_SESSIONS} are needed.",
                self.kind, self.train_cases, self.verify_cases
            );
        };
        match self.is_default {
            true => format!(
                "{}: no winner: of what was tried on {} sessions nothing is better than the default ({:.3}).",
                self.kind, self.train_cases, evidence.train
            ),
            false => format!("{}: {}", self.kind, evidence.sentence(&self.chain.join("+"))),
        }
    }

    fn comment(&self) -> String {
        let found = match self.evidence {
            Some(evidence) if !evidence.is_better() => format!("#   found: {}\n", Value::from(self.chain.clone())),
            _ => String::new(),
        };
        let evidence = self.evidence.filter(|_| !self.is_default);
        let details = evidence.map_or(String::new(), |evidence| evidence.comment() + &found);
        format!("# {}\n{details}", self.sentence())
    }
}

impl Evidence {
    /// Returns how many sessions an interval that does not hold zero would take, if the difference stays what it is; `None`
    /// where it is not above zero.
    pub fn sessions_needed(&self) -> Option<usize> {
        let half = (self.high - self.low) / 2.0;
        let needed = (self.sessions as f64 * (half / self.difference).powi(2)).ceil();
        (self.difference > 0.0 && needed.is_finite()).then(|| (needed as usize).max(LEAST_SESSIONS))
    }

    /// Returns the verdict on what was `found`.
    fn sentence(&self, found: &str) -> String {
        let [difference, low, high] = [self.difference, self.low, self.high].map(signed);
        let by = format!("{difference} ({low} to {high}) on {} sessions", self.sessions);
        if self.is_better() {
            return format!("a winner: {found} is better than the default: {by}.");
        }
        if self.sessions < LEAST_SESSIONS {
            return format!("no winner: too few sessions to verify on, {LEAST_SESSIONS} are needed; so far {by}.");
        }
        if self.high < 0.0 {
            return format!("no winner: {found} was best in the search and is worse than the default: {by}.");
        }
        let more = self.sessions_needed().filter(|needed| *needed > self.sessions);
        let more = more.map_or(String::new(), |needed| {
            format!("; such a difference would take about {needed} sessions to verify on")
        });
        format!("no winner: the difference of {found} from the default is within noise: {by}{more}.")
    }

    fn comment(&self) -> String {
        format!(
            "#   searched on: {:.3}, the default {:.3}\n#   verified on {} sessions: {:.3}, the default {:.3}; difference \
             {:+.3} [{:+.3}, {:+.3}], better on {}, worse on {}\n",
            self.train,
            self.train_default,
            self.sessions,
            self.verify,
            self.verify_default,
            self.difference,
            self.low,
            self.high,
            self.wins,
            self.losses
        )
    }
}

impl SettingsAdvice {
    /// Returns the verdict in one sentence.
    pub fn sentence(&self) -> String {
        let found = self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
        match self.evidence {
            None => "settings: no winner: none of those tried helps where the search was made.".to_owned(),
            Some(evidence) => format!("settings, with the chains above: {}", evidence.sentence(&found)),
        }
    }

    fn toml(&self) -> String {
        let Some(evidence) = self.evidence else { return format!("# {}\n", self.sentence()) };
        let better = evidence.is_better();
        let mut out = format!("# {}\n{}", self.sentence(), evidence.comment());
        let mut strategy = "";
        for (name, value) in &self.settings {
            let Some((of, key)) = name.split_once('.') else { continue };
            if !better {
                let _ = writeln!(out, "#   found: {name} = {value}");
                continue;
            }
            if of != strategy {
                let _ = writeln!(out, "[strategies.{of}]");
                strategy = of;
            }
            let _ = writeln!(out, "{key} = {value}");
        }
        out
    }
}
