//! Known models: the table that ships, and the configuration's entries over it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use epitome_strategy::{Tokens, nearest};
use epitome_tokens::ModelName;
use thiserror::Error;
use toml::Value;

use crate::named::ModelTable;
use crate::tables::BudgetTable;

/// The table that ships.
const SHIPPED: &str = include_str!("models.toml");

/// The known limits of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelLimits {
    /// The tokens that a request and its answer may take together.
    pub window: Tokens,
    /// The longest answer, where the model has such a limit.
    pub largest_output: Option<Tokens>,
    /// The tokens to keep free for an answer, however short it is.
    pub reserve_output: Option<Tokens>,
}

/// No model of this name is known, or not its window.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the window of the model `{name}` is not known")]
pub struct UnknownModel {
    /// The name.
    pub name: String,
    /// A suggestion for the configuration.
    pub help: String,
}

/// The entries of the table that ships, read when a model is first asked for.
static ENTRIES: LazyLock<BTreeMap<String, ModelLimits>> = LazyLock::new(|| parse_models(SHIPPED).unwrap_or_default());

/// The known models by their names: the table that ships, with entries of one's own over it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Models {
    /// One's own, by the beginning of the name, in small letters.
    own: BTreeMap<String, ModelLimits>,
}

/// The entries of a table in TOML; `None` where the text is not such a table.
fn parse_models(text: &str) -> Option<BTreeMap<String, ModelLimits>> {
    let file: toml::Table = text.parse().ok()?;
    let models = file.get("models")?.as_table()?;
    let limits = |(name, entry): (&String, &Value)| {
        let tokens = |key: &str| entry.get(key).and_then(Value::as_integer).and_then(|it| Tokens::try_from(it).ok());
        let (largest_output, reserve_output) = (tokens("largest_output"), tokens("reserve_output"));
        Some((name.to_lowercase(), ModelLimits { window: tokens("window")?, largest_output, reserve_output }))
    };
    models.iter().map(limits).collect()
}

impl Models {
    /// The table that ships with `own` over it.
    pub(crate) fn with(own: &BTreeMap<String, ModelTable>) -> Self {
        let mut models = Self::default();
        for (name, table) in own {
            let mut limits = models.find(name).unwrap_or_default();
            if table.window > 0 {
                limits.window = table.window;
            }
            if table.reserve_output > 0 {
                limits.reserve_output = Some(table.reserve_output);
            }
            models.own.insert(name.to_lowercase(), limits);
        }
        models
    }

    /// The known limits of the model `name`. Linear in the table.
    ///
    /// # Errors
    ///
    /// No entry is of its family, or the entry has no window.
    pub fn limits(&self, name: &str) -> Result<ModelLimits, UnknownModel> {
        self.find(name).filter(|limits| limits.window > 0).ok_or_else(|| {
            let near = nearest(name, self.entries().map(|(known, _)| known));
            let near = near.map(|near| format!("did you mean `{near}`? Else ")).unwrap_or_default();
            let key = toml::Value::from(name).to_string();
            let help = format!("{near}write it into the configuration: [models.{key}] with `window = …`");
            UnknownModel { name: name.to_owned(), help }
        })
    }

    /// All of them, one's own last: of two that fit alike, the last counts.
    fn entries(&self) -> impl Iterator<Item = (&str, ModelLimits)> {
        let shipped = ENTRIES.iter().filter(|(name, _)| !self.own.contains_key(*name));
        shipped.chain(&self.own).map(|(name, limits)| (name.as_str(), *limits))
    }

    fn find(&self, name: &str) -> Option<ModelLimits> {
        let name = name.to_lowercase();
        let name = with_dashes(base_of(&name));
        let tails = name.char_indices().filter(|(_, letter)| matches!(letter, '/' | '.')).map(|(at, _)| at + 1);
        let tails: Vec<&str> = std::iter::once(0).chain(tails).map(|at| &name[at..]).collect();
        let fits = |known: &str| tails.iter().any(|tail| tail.strip_prefix(known).is_some_and(ends_a_word));
        let fitting = self.entries().filter(|(known, _)| fits(&with_dashes(known)));
        let named = fitting.max_by_key(|(known, _)| known.len()).map(|(_, limits)| limits);
        named.or_else(|| self.family(&ModelName::parse(&name)))
    }

    /// The limits of a model's family: those of the entry with the most words of its name and the next older version; the smaller
    /// window where a newer version is known too, and the oldest entry's where only newer ones are. Linear in the table.
    fn family(&self, name: &ModelName) -> Option<ModelLimits> {
        let version = name.version?;
        let known = self.entries().map(|(known, limits)| (ModelName::parse(known), limits));
        let fits = |known: &ModelName| known.version.is_some() && known.words.iter().all(|it| name.words.contains(it));
        let fitting: Vec<(ModelName, ModelLimits)> = known.filter(|(known, _)| fits(known)).collect();
        let most = fitting.iter().map(|(known, _)| known.words.len()).max().filter(|most| *most > 0)?;
        let family = || fitting.iter().filter(|(known, _)| known.words.len() == most);
        let older = family().filter(|(known, _)| known.version <= Some(version)).max_by_key(|(known, _)| known.version);
        let newer = family().filter(|(known, _)| known.version > Some(version)).min_by_key(|(known, _)| known.version);
        let limits = older.into_iter().chain(newer).map(|(_, limits)| *limits);
        limits.min_by_key(|limits| limits.window)
    }
}

/// The model that a name is of: for one that was trained further, the one that it was made of (`ft:gpt-4o-mini:acme::id`, the
/// ids of OpenAI's "Fine-tuning"), whose limits it has.
fn base_of(name: &str) -> &str {
    let start = name.rfind('/').map_or(0, |slash| slash + 1);
    let base = name[start..].strip_prefix("ft:").map(|rest| rest.split(':').next().unwrap_or(rest));
    base.unwrap_or(name)
}

/// A name in which a dot between two digits is a dash, as providers write versions; routers write a dot.
fn with_dashes(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let is_digit = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(char::is_ascii_digit);
    let dash = |(at, letter): (usize, &char)| match letter {
        '.' if is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)) => '-',
        other => *other,
    };
    letters.iter().enumerate().map(dash).collect()
}

/// Whether the rest of a name keeps the meaning of an entry's name: `-mini` does, `.1` and `o` make another model of
/// it.
fn ends_a_word(rest: &str) -> bool {
    !rest.starts_with(|next: char| next.is_alphanumeric() || next == '.')
}

impl ModelLimits {
    /// The tokens to keep free for an answer: those that the model needs; else those of the configuration; else a
    /// reserve for an answer of usual length, no more than the model can write and than a quarter of its window.
    pub(crate) fn reserve(&self, configured: Option<Tokens>) -> Tokens {
        let usual = BudgetTable::default().reserve_output.min(self.largest_output.unwrap_or(Tokens::MAX));
        self.reserve_output.or(configured).unwrap_or(usual.min(self.window / 4))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_entry_is_read_and_makes_sense() {
        let n_entries = SHIPPED.lines().filter(|line| line.starts_with("[models.")).count();
        let entries = parse_models(SHIPPED).unwrap();
        assert_eq!(entries.len(), n_entries, "an entry without a window, or one that stands there twice");
        for (name, limits) in entries {
            let reserve = limits.reserve(None);
            assert!(limits.window >= 4_000 && reserve > 0 && reserve <= limits.window / 2, "{name}: {limits:?}");
            assert!(limits.largest_output.is_none_or(|output| output <= limits.window), "{name}: {limits:?}");
        }
    }

    #[test]
    fn names_are_matched_word_by_word_and_the_longest_wins() {
        let models = Models::default();
        let window = |name: &str| models.limits(name).map(|limits| limits.window).unwrap_or(0);
        let check = |name: &str, expect: Tokens| assert_eq!(window(name), expect, "{name}");
        check("gpt-4", 8_192);
        check("gpt-4-0613", 8_192);
        check("gpt-4-turbo-2024-04-09", 128_000);
        check("gpt-4o-mini", 128_000);
        check("openai/gpt-4.1-nano", 1_047_576);
        check("GPT-5-mini", 400_000);
        check("claude-3-opus-20240229", 200_000);
        check("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000);
        check("claude-sonnet-5-5", 1_000_000);
        check("claude-haiku-5-5", 1_000_000);
        check("claude-fable-5-1-20260901", 1_000_000);
        check("gpt-5.3-codex", 400_000);
        check("gpt-5.3-codex-spark", 128_000);
        check("gpt-5.6-sol", 400_000);
        check("gemini-3.1-pro-preview", 1_048_576);
        check("gemini-3.1-flash-image", 65_536);
        check("models/gemini-3.5-flash-lite", 1_048_576);
        check("google/gemini-3.8-flash", 1_048_576);
        check("gemini-4-carbon", 1_048_576);
        check("qwen3:8b", 32_768);
        check("Qwen/Qwen3-Coder-30B-A3B-Instruct", 262_144);
        check("meta-llama/Llama-3.1-8B-Instruct", 131_072);
        check("llama3:latest", 8_192);
        check("gemini-4-argon-latest", 1_048_576);
        // Trained further, under a name of somebody's own.
        check("ft:gpt-4o-mini:x", 128_000);
        check("openai/ft:GPT-4.1-mini-2025-04-14:acme:claude-opus-5:id", 1_047_576);
        check("ft:mine:gpt-4o", 0);
        check("claude-opus-4-20250514", 200_000);
        check("anthropic/claude-opus-4.6", 1_000_000);
        check("claude-opus-4-7", 1_000_000);
        check("us.anthropic.claude-opus-4-8-v1", 1_000_000);
        check("claude-sonnet-4-6", 1_000_000);
        check("deepseek-v4-pro", 1_000_000);
        check("grok-4-fast-reasoning", 2_000_000);
        check("x-ai/grok-4.3", 1_000_000);
        check("Qwen/Qwen3.6-35B-A3B", 262_144);
        check("glm-5.1", 202_752);
        check("zai-org/GLM-5.2", 1_000_000);
        check("MiniMax-M2", 204_800);
        check("minimax/minimax-m2.7", 204_800);
        check("command-a-03-2025", 256_000);
        check("command-a-plus-05-2026", 128_000);
        check("kimi-k2.7-code", 262_144);
        check("gpt-4x", 0);
        check("my-model", 0);
        check("", 0);
    }

    #[test]
    fn a_version_is_spelt_in_any_way_and_a_member_that_is_not_known_has_its_familys_window() {
        let models = Models::default();
        let check = |names: &[&str], expect: Tokens| {
            for name in names {
                assert_eq!(models.limits(name).map(|limits| limits.window).unwrap_or(0), expect, "{name}");
            }
        };
        check(&["claude-sonnet-4.5", "claude-sonnet-4-5", "claude-4.5-sonnet", "anthropic/claude-opus-4.1"], 200_000);
        check(&["claude-3.5-sonnet", "anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-opus-4-1@20250805"], 200_000);
        check(&["publishers/anthropic/models/claude-haiku-4-5@20251001", "claude-4-opus"], 200_000);
        check(&["claude-fable-5", "claude-sonnet-6", "openrouter/anthropic/claude-opus-5.7:thinking"], 1_000_000);
        check(&["claude-haiku-5"], 200_000);
        check(&["gemini-3-pro-preview", "gemini-5-carbon", "vertex_ai/gemini-3.3-flash"], 1_048_576);
        check(&["gpt-5.9", "openai/gpt-5.7-codex"], 400_000);
        check(&["grok-4", "xai/grok-4.1", "grok-4-0709"], 256_000);
        check(&["deepseek-v3.2", "glm-4.5-air"], 131_072);
        check(&["deepseek-v4-flash-free", "deepseek-v5"], 1_000_000);
        check(&["sonnet", "gpt-x", "my-model-3", "v2", "4.5"], 0);
    }

    #[test]
    fn the_users_entries_stand_over_those_that_ship() {
        let table = |window, reserve_output| ModelTable { window, reserve_output };
        let own = BTreeMap::from([
            ("gpt-4o".to_owned(), table(64_000, 0)),
            ("Qwen3".to_owned(), table(0, 9_000)),
            ("mine".to_owned(), table(5_000, 0)),
            ("empty".to_owned(), table(0, 3)),
        ]);
        let models = Models::with(&own);
        assert_eq!(models.limits("gpt-4o-mini").unwrap().window, 64_000);
        let qwen = models.limits("qwen3:8b").unwrap();
        assert_eq!((qwen.window, qwen.reserve_output), (32_768, Some(9_000)), "one key, the other as it ships");
        assert_eq!(models.limits("qwen3-coder:30b").unwrap().reserve_output, None, "a longer name");
        assert_eq!(models.limits("mine").unwrap().window, 5_000);
        assert!(models.limits("empty").is_err());
        let unknown = models.limits("gpt4o").unwrap_err();
        assert_eq!(unknown.to_string(), "the window of the model `gpt4o` is not known");
        assert!(unknown.help.starts_with("did you mean `gpt-4o`? Else write it"), "{}", unknown.help);
    }

    #[test]
    fn reserves() {
        let models = Models::default();
        let check = |name: &str, configured, expect: Tokens| {
            assert_eq!(models.limits(name).unwrap().reserve(configured), expect, "{name} {configured:?}");
        };
        check("gpt-4.1", None, 16_000);
        check("gpt-4-turbo", None, 4_096);
        check("gpt-4", None, 2_048);
        check("gpt-4.1", Some(30_000), 30_000);
        check("gpt-5", Some(4_000), 128_000);
    }
}
