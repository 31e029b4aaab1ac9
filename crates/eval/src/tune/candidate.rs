//! Candidates: a chain and settings.

use std::collections::BTreeMap;

use epitome::strategy::{Field, FieldKind, Value};

use crate::figures::random::Random;

/// The most strategies of a drawn chain.
const LONGEST_DRAWN: usize = 4;
/// The most strategies of a changed chain: the default chains have up to five.
const LONGEST: usize = 6;

/// A candidate: a chain, and settings of strategies over their defaults.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Candidate {
    /// The strategies in order; `None` is the default chain of the kind of task.
    pub chain: Option<Vec<String>>,
    /// Settings by `STRATEGY.KEY`.
    pub settings: BTreeMap<String, Value>,
}

impl Candidate {
    /// Returns a chain with the strategies' own settings.
    pub fn of_chain(chain: &[String]) -> Self {
        Self { chain: Some(chain.to_vec()), settings: BTreeMap::new() }
    }

    /// Returns a text that identifies it.
    pub fn key(&self) -> String {
        let chain = self.chain.as_ref().map_or_else(|| "default".to_owned(), |chain| chain.join("+"));
        let settings = self.settings.iter().map(|(name, value)| format!(" {name}={value}"));
        chain + &settings.collect::<String>()
    }
}

/// Returns a chain of one to four different strategies.
pub(crate) fn drawn(strategies: &[String], random: &mut Random) -> Vec<String> {
    let length = 1 + random.below(LONGEST_DRAWN.min(strategies.len()));
    let mut left: Vec<&String> = strategies.iter().collect();
    (0..length).map(|_| left.remove(random.below(left.len())).clone()).collect()
}

/// Returns the chains that differ from `chain` in one place: a strategy left out, put in, exchanged, or moved to the
/// front.
pub(crate) fn neighbours(chain: &[String], strategies: &[String]) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut add = |chain: Vec<String>| {
        if !chain.is_empty() && chain.len() <= LONGEST && !found.contains(&chain) {
            found.push(chain);
        }
    };
    for at in 0..chain.len() {
        let mut without = chain.to_vec();
        let taken = without.remove(at);
        add(without.clone());
        without.insert(0, taken);
        add(without);
    }
    let new: Vec<&String> = strategies.iter().filter(|strategy| !chain.contains(strategy)).collect();
    for strategy in new {
        for at in 0..=chain.len() {
            let mut with = chain.to_vec();
            with.insert(at, strategy.clone());
            add(with);
            if at < chain.len() {
                let mut exchanged = chain.to_vec();
                exchanged[at].clone_from(strategy);
                add(exchanged);
            }
        }
    }
    found.retain(|other| other != chain);
    found
}

/// Returns the values that are tried beside `value`: half and double, a fifth less and more of a share, the other of a
/// flag; within the bounds. Texts and lists have none.
pub(crate) fn values(field: &Field, value: &Value) -> Vec<Value> {
    let within = |number: f64| field.bounds.is_none_or(|bounds| number >= bounds.least && number <= bounds.most);
    let tried: Vec<Value> = match field.kind {
        FieldKind::Flag => value.as_bool().map(|flag| (!flag).into()).into_iter().collect(),
        FieldKind::Integer => {
            let number = value.as_f64().unwrap_or_default();
            let tried = [(number / 2.0).round(), (number * 2.0).max(1.0)].into_iter().filter(|number| within(*number));
            tried.map(|number| (number as u64).into()).collect()
        }
        FieldKind::Number => {
            let number = value.as_f64().unwrap_or_default();
            let rounded = |number: f64| (number * 1_000.0).round() / 1_000.0;
            let tried = [number - 0.2, number + 0.2, number / 2.0, number * 2.0].map(rounded);
            tried.into_iter().filter(|number| *number > 0.0 && within(*number)).map(Value::from).collect()
        }
        FieldKind::Text | FieldKind::List => Vec::new(),
    };
    tried.into_iter().filter(|other| other != value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn chains_have_no_strategy_twice() {
        let strategies = names("a b c d e");
        let mut random = Random::new(3);
        for _ in 0..200 {
            let chain = drawn(&strategies, &mut random);
            let mut different = chain.clone();
            different.sort();
            different.dedup();
            assert_eq!(different.len(), chain.len());
            assert!((1..=LONGEST_DRAWN).contains(&chain.len()));
        }
    }

    #[test]
    fn neighbours_differ_in_one_place() {
        let found = neighbours(&names("a b"), &names("a b c"));
        let expect: Vec<Vec<String>> =
            ["b", "a", "b a", "c a b", "c b", "a c b", "a c", "a b c"].into_iter().map(names).collect();
        assert_eq!(found, expect);
    }
}
