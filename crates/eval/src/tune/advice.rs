//! The recommendation of a search, as a configuration with the evidence in its comments.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use epitome::strategy::Value;
use serde::Serialize;

use super::search::TuneOptions;
use crate::tables::sheet::ENOUGH;

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
        self.low > 0.0 && self.sessions >= ENOUGH as usize
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
            out.push_str("#\n# Nothing that was found is better than the defaults: there is nothing to set.\n");
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
    fn comment(&self) -> String {
        let Some(evidence) = self.evidence else {
            return format!(
                "# {}: {} sessions to search on and {} to verify on are too few.\n",
                self.kind, self.train_cases, self.verify_cases
            );
        };
        if self.is_default {
            return format!(
                "# {}: of what was tried on {} sessions nothing is better than the default ({:.3}).\n",
                self.kind, self.train_cases, evidence.train
            );
        }
        let verdict = if evidence.is_better() { "better" } else { evidence.why_not() };
        let found = if evidence.is_better() {
            String::new()
        } else {
            format!("#   found: {}\n", Value::from(self.chain.clone()))
        };
        format!("# {}: {verdict}.\n{}{found}", self.kind, evidence.comment())
    }
}

impl Evidence {
    /// Returns why it is not recommended.
    fn why_not(&self) -> &'static str {
        if self.sessions < ENOUGH as usize {
            "not recommended: too few sessions to verify on"
        } else {
            "not recommended: not better outside the interval"
        }
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
    fn toml(&self) -> String {
        let Some(evidence) = self.evidence else {
            return "# settings: none of those tried helps where the search was made.\n".to_owned();
        };
        let better = evidence.is_better();
        let verdict = if better { "better" } else { evidence.why_not() };
        let mut out = format!("# settings, with the chains above: {verdict}.\n{}", evidence.comment());
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
