//! The prices of tokens: a table in TOML.

use std::collections::BTreeMap;

use epitome_strategy::{ModelUsage, SummaryUsage};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The table that ships.
const SHIPPED: &str = include_str!("prices.toml");

/// The number of tokens of a price.
const PER: f64 = 1_000_000.0;

/// A price table cannot be used, or has no price for a model.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: {problem}")]
pub struct PriceError {
    /// The file.
    pub file: String,
    /// The problem.
    pub problem: String,
}

/// The prices of a model, in US dollars per million tokens, and the rules of its prompt cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input tokens without any part in the cache.
    pub input: f64,
    /// Input tokens read from the cache; without it the model has no cache.
    pub cached_input: Option<f64>,
    /// Input tokens written to the cache; as [`input`](Self::input) without it.
    pub cache_write: Option<f64>,
    /// Output tokens.
    pub output: f64,
    /// Tokens of the shortest prefix that is cached.
    #[serde(default)]
    pub cache_minimum: u32,
    /// Seconds after the last request that the cache lives; for ever without it.
    pub cache_lifetime: Option<u32>,
    /// The source of the figures, and the date of reading.
    #[serde(default)]
    pub source: String,
}

/// The tokens of one request, or of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// All input tokens: cached and uncached ones.
    pub input: u64,
    /// Input tokens read from the cache.
    pub cached: u64,
    /// Input tokens not read from the cache.
    pub uncached: u64,
    /// Of the uncached ones, those written to the cache.
    pub cache_writes: u64,
    /// Output tokens.
    pub output: u64,
}

impl TokenUsage {
    /// Returns the tokens of a request of `input` tokens, of which the first `unchanged` were in the last request.
    /// `alive` says whether the cache has lived until now. Constant time.
    pub fn request(price: &Price, input: u64, unchanged: u64, alive: bool, output: u64) -> Self {
        let has_cache = price.cached_input.is_some();
        let is_long_enough = |tokens: u64| tokens > 0 && tokens >= u64::from(price.cache_minimum);
        let unchanged = unchanged.min(input);
        let cached = if has_cache && alive && is_long_enough(unchanged) { unchanged } else { 0 };
        let uncached = input - cached;
        let cache_writes = if has_cache && is_long_enough(input) { uncached } else { 0 };
        Self { input, cached, uncached, cache_writes, output }
    }

    /// Returns the price of the tokens, in dollars.
    pub fn money(&self, price: &Price) -> f64 {
        let plain = (self.uncached - self.cache_writes) as f64 * price.input;
        let written = self.cache_writes as f64 * price.cache_write.unwrap_or(price.input);
        let read = self.cached as f64 * price.cached_input.unwrap_or(price.input);
        (plain + written + read + self.output as f64 * price.output) / PER
    }

    /// Adds the tokens of another request.
    pub fn add(&mut self, other: &Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.uncached += other.uncached;
        self.cache_writes += other.cache_writes;
        self.output += other.output;
    }
}

impl From<&ModelUsage> for TokenUsage {
    /// Nothing is known of what summaries wrote to the cache.
    fn from(usage: &ModelUsage) -> Self {
        Self {
            input: usage.input_tokens,
            cached: usage.cached_tokens,
            uncached: usage.input_tokens.saturating_sub(usage.cached_tokens),
            cache_writes: 0,
            output: usage.output_tokens,
        }
    }
}

/// Prices by model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    models: BTreeMap<String, Price>,
}

impl Prices {
    /// Returns the table that ships.
    pub fn shipped() -> Result<Self, PriceError> {
        Self::parse(SHIPPED, "the shipped prices")
    }

    /// Returns the shipped table with the entries of `text` over it; `file` is its name in errors.
    pub fn with(text: &str, file: &str) -> Result<Self, PriceError> {
        let mut prices = Self::shipped()?;
        prices.models.extend(Self::parse(text, file)?.models);
        Ok(prices)
    }

    fn parse(text: &str, file: &str) -> Result<Self, PriceError> {
        let wrong = |problem: String| PriceError { file: file.to_owned(), problem };
        let prices: Self = toml::from_str(text).map_err(|error| wrong(error.to_string().trim_end().to_owned()))?;
        for (model, price) in &prices.models {
            let figures = [Some(price.input), price.cached_input, price.cache_write, Some(price.output)];
            if figures.into_iter().flatten().any(|figure| !figure.is_finite() || figure < 0.0) {
                return Err(wrong(format!("[models.{model}]: prices are numbers of 0 or more")));
            }
        }
        Ok(prices)
    }

    /// Returns the price of a model; the error names those that exist.
    pub fn price(&self, model: &str) -> Result<&Price, PriceError> {
        self.models.get(model).ok_or_else(|| {
            let known: Vec<&str> = self.models.keys().map(String::as_str).collect();
            PriceError {
                file: "--model".to_owned(),
                problem: format!("there is no price for `{model}`; there are {}", known.join(", ")),
            }
        })
    }

    /// Returns the price of summaries, in dollars; `None` where a model that wrote some has no price.
    pub fn of_summaries(&self, usage: &SummaryUsage) -> Option<f64> {
        let money = |usage: &ModelUsage| Some(TokenUsage::from(usage).money(self.of_request(&usage.model)?));
        usage.models().iter().map(money).sum()
    }

    /// Returns the price of the model that a request names: `vendor/model`, and a version's date behind it, are the model.
    /// `None` where the table has none: a relative's price would be wrong. Linear in the table.
    pub fn of_request(&self, model: &str) -> Option<&Price> {
        let model = model.to_lowercase();
        let tails = model.char_indices().filter(|(_, letter)| matches!(letter, '/' | '.')).map(|(at, _)| at + 1);
        let tails: Vec<&str> = std::iter::once(0).chain(tails).map(|at| &model[at..]).collect();
        let fits = |known: &str| tails.iter().any(|tail| tail.strip_prefix(known).is_some_and(is_version));
        self.models.iter().filter(|(known, _)| fits(known)).max_by_key(|(known, _)| known.len()).map(|(_, price)| price)
    }
}

/// Whether this, behind a model's name, says which version of the same model is meant: `-20260131`, `-latest`, `-2026-01-31`,
/// `-20260131-v1:0`.
fn is_version(rest: &str) -> bool {
    let Some(said) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    let date = said.split_once("-v").map_or(said, |(date, _)| date);
    let digits = date.chars().filter(char::is_ascii_digit).count();
    said == "latest" || (digits == 8 && date.chars().all(|letter| letter.is_ascii_digit() || letter == '-'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn price() -> Price {
        Price {
            input: 2.0,
            cached_input: Some(0.2),
            cache_write: Some(2.5),
            output: 10.0,
            cache_minimum: 1_000,
            cache_lifetime: Some(300),
            source: String::new(),
        }
    }

    #[test]
    fn a_request_is_split() {
        let check = |unchanged, alive, cached, writes, money: f64| {
            let spent = TokenUsage::request(&price(), 10_000, unchanged, alive, 100);
            assert_eq!((spent.cached, spent.cache_writes), (cached, writes), "{unchanged}");
            assert_eq!(spent.cached + spent.uncached, spent.input);
            assert!((spent.money(&price()) - money).abs() < 1e-12, "{unchanged}: {}", spent.money(&price()));
        };
        // 8,000 read at 0.2, 2,000 written at 2.5, 100 at 10.
        check(8_000, true, 8_000, 2_000, 0.0016 + 0.005 + 0.001);
        check(999, true, 0, 10_000, 0.025 + 0.001);
        check(1_000, true, 1_000, 9_000, 0.0002 + 0.0225 + 0.001);
        check(8_000, false, 0, 10_000, 0.025 + 0.001);
        let short = TokenUsage::request(&price(), 500, 500, true, 0);
        assert_eq!((short.cached, short.cache_writes), (0, 0), "too short to be cached at all");
        let without = Price { cached_input: None, ..price() };
        let spent = TokenUsage::request(&without, 10_000, 8_000, true, 0);
        assert_eq!((spent.cached, spent.cache_writes, spent.money(&without)), (0, 0, 0.02));
    }

    #[test]
    fn the_price_of_what_a_request_names() {
        let prices = Prices::shipped().unwrap();
        let check = |name: &str, known: Option<&str>| {
            assert_eq!(prices.of_request(name), known.map(|known| prices.price(known).unwrap()), "{name}");
        };
        check("claude-sonnet-5", Some("claude-sonnet-5"));
        check("Claude-Sonnet-5-20260215", Some("claude-sonnet-5"));
        check("claude-sonnet-5-latest", Some("claude-sonnet-5"));
        check("us.anthropic.claude-sonnet-5-20260215-v1:0", Some("claude-sonnet-5"));
        check("anthropic/claude-sonnet-5@20260215", Some("claude-sonnet-5"));
        check("gpt-5.4-2026-03-05", Some("gpt-5.4"));
        check("openai/gpt-5.4-mini", Some("gpt-5.4-mini"));
        // Relatives have prices of their own.
        check("gpt-5.4-nano", None);
        check("claude-sonnet-5-1", None);
        check("claude-sonnet-50", None);
        check("unheard-of", None);
        check("", None);
    }

    #[test]
    fn summaries_have_the_price_of_their_models() {
        let prices = Prices::with("[models.mine]\ninput = 2\ncached_input = 1\noutput = 10\n", "mine.toml").unwrap();
        let usage = |model: &str| {
            let (input_tokens, cached_tokens, output_tokens) = (1_000_000, 500_000, 100_000);
            SummaryUsage::from(ModelUsage {
                model: model.into(),
                answers: 1,
                input_tokens,
                cached_tokens,
                output_tokens,
            })
        };
        let mut two = usage("mine");
        assert_eq!(prices.of_summaries(&two), Some(1.0 + 0.5 + 1.0));
        two.add(&usage("unheard-of"));
        assert_eq!(prices.of_summaries(&two), None, "the price of a part of them is not the price");
        assert_eq!(prices.of_summaries(&SummaryUsage::default()), Some(0.0));
    }

    #[test]
    fn tables_lie_over_the_shipped_one() {
        let table = "[models.mine]\ninput = 1\noutput = 2\n[models.claude-opus-5]\ninput = 9\noutput = 9\n";
        let prices = Prices::with(table, "mine.toml").unwrap();
        assert_eq!(prices.price("mine").unwrap().output, 2.0);
        assert_eq!(prices.price("claude-opus-5").unwrap().input, 9.0);
        assert_eq!(prices.price("claude-sonnet-5").unwrap().input, 2.0);
        assert!(prices.price("none").unwrap_err().to_string().contains("there are claude-haiku-4-5"));
        let told = |table: &str| Prices::with(table, "mine.toml").unwrap_err().to_string();
        assert!(told("[models.a]\ninput = 1\n").contains("mine.toml"));
        assert!(told("[models.a]\ninput = 1\noutput = 1\nprice = 1\n").contains("price"));
        assert!(told("[models.a]\ninput = -1\noutput = 1\n").contains("0 or more"));
    }
}
