//! Which family a model belongs to, by its name.

use std::sync::Arc;

use epitome_strategy::session::Media;
use epitome_strategy::{MediaRates, TokenCounter, Tokens};

use crate::family::{ALIKE, FamilyCounter, Weights};
use crate::model_name::ModelName;
use crate::pictures::{CLAUDE_4_7_MEDIA, GEMINI_2_MEDIA, GEMINI_3_MEDIA, PIXTRAL_MEDIA, openai_media};
use crate::vocabulary::vocabulary_of;
use crate::{CounterError, by_name};

/// Claude before Opus 4.7. Source: `lab/factors` on 17 recorded sessions of Opus 4.5, Opus 4.6 and Sonnet 4.6 (January to
/// March 2026), each left out once: the provider's figure is 0.93 to 1.05 of this one, 1.11 in one session. Other scripts:
/// 1.43 times `o200k_base` in Chinese (a comparison of six vocabularies by A. Komatsuzaki, April 2026), as no recording has
/// any.
const CLAUDE: Weights =
    Weights { token: 0.954, small: 0.049, capital: 0.274, digit: 0.0, punctuation: 0.16, other_script: 0.36 };

/// Claude from Opus 4.7 on, which came with another vocabulary. Source: as above, six sessions of Opus 4.7, Opus 5, Sonnet 5
/// and Fable 5 (April to October 2026): 0.99 to 1.03. Other scripts count as they did before (`count_tokens` of both, sampled
/// by sol.ava.dev in April 2026).
const CLAUDE_4_7: Weights =
    Weights { token: 1.242, small: 0.073, capital: 0.71, digit: 0.0, punctuation: 0.042, other_script: 0.14 };

/// Gemini and Gemma, whose vocabulary has no figures of more than one digit, where `o200k_base` has three in a token. Source:
/// the published vocabulary of Gemma 3. Recorded sessions are too few to fit anything.
const GEMINI: Weights = Weights { digit: 0.67, ..ALIKE };

/// Qwen: the same holds; Chinese takes 0.74 of what it takes in `o200k_base` (the comparison above).
const QWEN: Weights = Weights { digit: 0.67, other_script: -0.2, ..ALIKE };

/// DeepSeek and Kimi. Source: one recorded session of DeepSeek V4 (1.01 to 1.04), and the comparison above for Chinese.
const DEEPSEEK: Weights = Weights { token: 1.02, other_script: -0.2, ..ALIKE };

/// A model of which nothing is known: a tenth above `o200k_base`, in the middle of what other vocabularies take for code and
/// English.
const UNKNOWN: Weights = Weights { token: 1.1, ..ALIKE };

/// How far the provider may be above a fitted family: four sessions of a hundred are further, by the fit's own sessions.
const FITTED_MARGIN: f64 = 0.04;

/// How far it may be above a family that was not fitted.
const GUESSED_MARGIN: f64 = 0.08;

/// Returns the counter for a model: the exact one where its vocabulary is public and in this program, else that of its family;
/// where no model is named, `o200k_base`. Constant time.
///
/// # Errors
///
/// The vocabulary `o200k_base`, on which all stand, is not in this build.
pub fn by_model(model: Option<&str>) -> Result<Arc<dyn TokenCounter>, CounterError> {
    let Some(model) = model.map(str::to_lowercase) else { return by_name(BASE) };
    let base = by_name(BASE)?;
    let Some(vocabulary) = vocabulary_of(&model) else { return Ok(Arc::new(family_of(&model, base))) };
    // The next best where a build has not the model's own.
    let (name, base) = by_name(vocabulary).map_or((BASE, base), |own| (vocabulary, own));
    Ok(Arc::new(FamilyCounter { name, base, weights: ALIKE, media: openai_media(&model), margin: 0.0 }))
}

/// The vocabulary that every family is measured against.
const BASE: &str = "o200k_base";

/// The family of a model by its name in small letters. Names come with a vendor in front, in several spellings of a version,
/// and as an agent's nickname.
fn family_of(model: &str, base: Arc<dyn TokenCounter>) -> FamilyCounter {
    let ModelName { words, version } = ModelName::parse(model);
    let has = |word: &str| words.iter().any(|own| own == word);
    let is_before = |limit| version.is_some_and(|version| version < limit);
    let usual = MediaRates::default();
    let (name, weights, media, margin) = if ["claude", "opus", "sonnet", "haiku", "fable"].into_iter().any(has) {
        match is_before((4, 7)) {
            true => ("claude", CLAUDE, usual, FITTED_MARGIN),
            false => ("claude-4.7", CLAUDE_4_7, CLAUDE_4_7_MEDIA, FITTED_MARGIN),
        }
    } else if has("gemini") || has("gemma") {
        let media = if has("gemini") && is_before((3, 0)) { GEMINI_2_MEDIA } else { GEMINI_3_MEDIA };
        ("gemini", GEMINI, media, GUESSED_MARGIN)
    } else if has("qwen") || has("qwq") {
        ("qwen", QWEN, usual, GUESSED_MARGIN)
    } else if has("deepseek") || has("kimi") {
        ("deepseek", DEEPSEEK, usual, GUESSED_MARGIN)
    } else if has("pixtral") {
        ("o200k_base ×1.1", UNKNOWN, PIXTRAL_MEDIA, GUESSED_MARGIN)
    } else {
        ("o200k_base ×1.1", UNKNOWN, usual, GUESSED_MARGIN)
    };
    FamilyCounter { name, base, weights, media, margin }
}

/// Counts as the model of each session does. Used by itself it counts as the model that it was made for.
#[derive(Debug, Clone)]
pub struct ModelCounter {
    model: Option<String>,
    own: Arc<dyn TokenCounter>,
}

impl ModelCounter {
    /// Returns the counter for sessions that go on with `model`; with none, each session has the model that it names.
    ///
    /// # Errors
    ///
    /// As [`by_model`].
    pub fn new(model: Option<&str>) -> Result<Self, CounterError> {
        Ok(Self { model: model.map(str::to_owned), own: by_model(model)? })
    }
}

impl TokenCounter for ModelCounter {
    fn name(&self) -> &str {
        self.own.name()
    }

    fn count(&self, text: &str) -> Tokens {
        self.own.count(text)
    }

    fn media_tokens(&self, media: &Media) -> Tokens {
        self.own.media_tokens(media)
    }

    fn is_exact(&self) -> bool {
        self.own.is_exact()
    }

    fn margin(&self) -> f64 {
        self.own.margin()
    }

    fn of_model(&self, model: Option<&str>) -> Option<Arc<dyn TokenCounter>> {
        let model = self.model.as_deref().or(model);
        Some(by_model(model).unwrap_or_else(|_| Arc::clone(&self.own)))
    }
}

#[cfg(test)]
#[cfg(feature = "vocab-o200k")]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_model_has_the_counter_of_its_family() {
        let check = |models: &[&str], expect: &str| {
            for model in models {
                assert_eq!(by_model(Some(model)).unwrap().name(), expect, "{model}");
            }
        };
        check(&["gpt-5.5", "openai/gpt-4o-mini", "o3"], "o200k_base");
        check(
            &["claude-opus-4-5-20251101", "claude-sonnet-4.6", "anthropic/claude-haiku-4.5", "claude-3-5-sonnet"],
            "claude",
        );
        check(&["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-opus-4-1@20250805", "claude-2.1"], "claude");
        check(
            &["claude-opus-4-7", "claude-opus-4.8", "claude-sonnet-5", "claude-fable-5-1", "Claude-Opus-5"],
            "claude-4.7",
        );
        check(&["sonnet", "anthropic/claude-opus-latest"], "claude-4.7");
        check(&["gemini-3-pro-preview", "google/gemma-3-27b-it"], "gemini");
        check(&["Qwen/Qwen3-Coder-480B", "qwen3-max"], "qwen");
        check(&["deepseek-v4-flash-free", "moonshotai/kimi-k2"], "deepseek");
        check(&["grok-4", "llama-4-maverick", "", "opusculum"], "o200k_base ×1.1");
        assert_eq!(by_model(None).unwrap().name(), "o200k_base");
    }

    #[test]
    fn a_model_that_is_set_counts_for_every_session() {
        let by_session = ModelCounter::new(None).unwrap();
        assert_eq!(by_session.of_model(Some("claude-opus-5")).unwrap().name(), "claude-4.7");
        let set = ModelCounter::new(Some("gpt-5")).unwrap();
        assert_eq!(set.of_model(Some("claude-opus-5")).unwrap().name(), "o200k_base");
        let text = "One sentence of eight words and some CODE().";
        let [exact, fitted] = ["gpt-5", "claude-opus-5"].map(|model| by_model(Some(model)).unwrap());
        assert!(f64::from(fitted.count(text)) > 1.4 * f64::from(exact.count(text)));
        assert_eq!((exact.margin(), fitted.margin()), (0.0, FITTED_MARGIN));
    }
}
