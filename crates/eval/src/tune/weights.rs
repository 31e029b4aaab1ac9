//! The objective: the weight of each figure.

use std::fmt;
use std::str::FromStr;

use crate::figures::score::Scores;

/// The weight of each figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Of bound future-reference recall.
    pub bound: f64,
    /// Of lines that later edits must match.
    pub quotes: f64,
    /// Of files still named.
    pub files: f64,
    /// Of standing instructions.
    pub rules: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self { bound: 0.5, quotes: 0.2, files: 0.15, rules: 0.15 }
    }
}

impl Weights {
    /// Returns the weighted mean of the shares that exist; 0 for an unusable result, `None` where no figure with a
    /// weight exists.
    pub fn objective(&self, scores: &Scores) -> Option<f64> {
        let parts = [
            (self.bound, scores.bound_frr),
            (self.quotes, scores.quotes),
            (self.files, scores.files),
            (self.rules, scores.rules),
        ];
        let present = parts.into_iter().filter_map(|(weight, kept)| Some((weight, kept.share()?)));
        let (total, sum) =
            present.fold((0.0, 0.0), |(total, sum), (weight, share)| (total + weight, sum + weight * share));
        (total > 0.0).then(|| if scores.is_usable() { sum / total } else { 0.0 })
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bound, quotes, files, rules } = self;
        write!(formatter, "bound={bound},quotes={quotes},files={files},rules={rules}")
    }
}

impl FromStr for Weights {
    type Err = String;

    /// `NAME=WEIGHT,…`; other figures have no weight.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut weights = Self { bound: 0.0, quotes: 0.0, files: 0.0, rules: 0.0 };
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, weight) = part.split_once('=').ok_or_else(|| format!("`{part}` is not NAME=WEIGHT"))?;
            let weight = weight.trim().parse::<f64>().ok().filter(|weight| weight.is_finite() && *weight >= 0.0);
            let weight = weight.ok_or_else(|| format!("`{part}`: a weight is a number of 0 or more"))?;
            match name.trim() {
                "bound" => weights.bound = weight,
                "quotes" => weights.quotes = weight,
                "files" => weights.files = weight,
                "rules" => weights.rules = weight,
                name => return Err(format!("`{name}` is not a figure; there are bound, quotes, files, rules")),
            }
        }
        let total = weights.bound + weights.quotes + weights.files + weights.rules;
        if total > 0.0 { Ok(weights) } else { Err("nothing counts: give a weight above 0".to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::figures::kept::KeptCount;

    #[test]
    fn the_objective_is_a_mean_of_what_is_there() {
        let kept = |kept, of| KeptCount { kept, of };
        let none = Scores { system_intact: true, ..Scores::default() };
        let all = Scores { bound_frr: kept(3, 3), quotes: kept(1, 2), rules: kept(0, 4), ..none.clone() };
        let weights: Weights = "bound=2,quotes=1,files=7,rules=1".parse().unwrap();
        assert_eq!(weights.objective(&all), Some(2.5 / 4.0));
        assert_eq!(weights.objective(&Scores { over_budget: true, ..all }), Some(0.0));
        assert_eq!(weights.objective(&none), None);
        assert_eq!(weights.to_string().parse::<Weights>().unwrap(), weights);
        let wrong = |text: &str| text.parse::<Weights>().unwrap_err();
        assert!(wrong("bound").contains("NAME=WEIGHT"));
        assert!(wrong("cost=1").contains("there are bound"));
        assert!(wrong("bound=-1").contains("0 or more"));
        assert!(wrong("bound=0").contains("nothing counts"));
    }
}
