//! Presets: named sets of values between the defaults and the file.

use epitome_engine::Threshold;
use epitome_strategy::{TaskKind, Value, named};

/// A named set of values. Explicit keys override it; of several, later ones override earlier ones.
///
/// Some say when to compact, others how. Thresholds, reserve, kept messages and summary length of the former are those of
/// the desktop design that they come from, which has no target: it is half of the soft threshold here. The window stays
/// what it is: it belongs to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    /// Small thresholds, to see compactions early.
    Development,
    /// Everyday work with models that answer best on short contexts.
    Production,
    /// More room before anything leaves.
    LargeContext,
    /// The chains and constants of the design that the strategies come from.
    Classic,
    /// Old tool output, then the oldest messages: what most agents do.
    Basic,
    /// By what messages are: events, scores, chunks.
    Advanced,
    /// By what messages mean: vectors, topics, exact lines.
    Smart,
    /// Compacts deep, so that the next compaction is far away.
    Aggressive,
    /// The shipped chains, to half of the window.
    Balanced,
    /// Takes what costs least first, and stops early.
    Conservative,
}

type Values = Vec<(String, Value)>;

named! {
    Preset {
        Development = "development",
        Production = "production",
        LargeContext = "large-context",
        Classic = "classic",
        Basic = "basic",
        Advanced = "advanced",
        Smart = "smart",
        Aggressive = "aggressive",
        Balanced = "balanced",
        Conservative = "conservative",
    }
}

impl Preset {
    /// The preset's purpose, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Development => "small thresholds, to see compactions early",
            Self::Production => "everyday work on short contexts",
            Self::LargeContext => "more room before anything leaves",
            Self::Classic => "the source design's chains and constants",
            Self::Basic => "old tool output, then the oldest messages",
            Self::Advanced => "by what messages are: events, scores, chunks",
            Self::Smart => "by what messages mean: vectors, topics, exact lines",
            Self::Aggressive => "deep, so that the next compaction is far away",
            Self::Balanced => "the shipped chains, to half of the window",
            Self::Conservative => "what costs least first, and no further than needed",
        }
    }

    /// The keys that it sets, spelt with their sections, where the soft threshold is `soft` so far.
    pub(crate) fn values(self, soft: Threshold) -> Values {
        match self {
            Self::Development => thresholds(5_000, 8_000, 2_000, 4, 400),
            Self::Production => with_flush(thresholds(15_000, 20_000, 4_000, 6, 800)),
            Self::LargeContext => {
                let mut values = with_flush(thresholds(25_000, 30_000, 6_000, 10, 1_200));
                values.push(("summary.summarizer".to_owned(), "llm".into()));
                values
            }
            Self::Classic => {
                let mut values = chains(|kind| match kind {
                    TaskKind::Code => &["sliding-window", "key-events", "incremental-summary"],
                    TaskKind::Mixed => &["sliding-window", "incremental-summary", "importance"],
                    TaskKind::Analysis | TaskKind::Conversation | TaskKind::Unknown => {
                        &["sliding-window", "importance", "incremental-summary"]
                    }
                });
                values.extend(classic_constants().map(|(key, value)| (format!("strategies.{key}"), value)));
                values
            }
            Self::Basic => chains(|_| &["tool-results", "message-truncation", "sliding-window"]),
            Self::Advanced => chains(|kind| match kind {
                TaskKind::Conversation => &["qa-pairs", "importance", "incremental-summary"],
                TaskKind::Analysis => &["superseded-reads", "tool-results", "importance", "incremental-summary"],
                TaskKind::Code | TaskKind::Mixed | TaskKind::Unknown => {
                    &["superseded-reads", "diff-truncation", "tool-results", "key-events", "incremental-summary"]
                }
            }),
            Self::Smart => chains(|kind| match kind {
                TaskKind::Conversation => &["vector-retrieval", "topic-segments", "sliding-window"],
                TaskKind::Analysis => &["superseded-reads", "semantic-clustering", "transcript"],
                TaskKind::Code | TaskKind::Mixed | TaskKind::Unknown => {
                    &["superseded-reads", "vector-retrieval", "transcript"]
                }
            }),
            Self::Aggressive => {
                let mut values = chains(|_| &["transcript", "sliding-window"]);
                values.push(("budget.target".to_owned(), target(0.25, soft)));
                values
            }
            Self::Balanced => vec![("budget.target".to_owned(), target(0.5, soft))],
            Self::Conservative => {
                let mut values =
                    chains(|_| &["superseded-reads", "diff-truncation", "time-decay", "hierarchical", "transcript"]);
                values.push(("budget.target".to_owned(), target(0.7, soft)));
                values
            }
        }
    }
}

/// The constants of the design that the strategies come from. They are repeated here also where they equal the
/// strategies' own defaults, because these may change.
fn classic_constants() -> [(&'static str, Value); 20] {
    [
        ("sliding-window.window", 9.into()),
        ("sliding-window.run_above", 2.0.into()),
        ("sliding-window.fill_target", false.into()),
        ("key-events.run_above", 10.into()),
        ("key-events.keep_newest", 5.into()),
        ("key-events.min_decision_chars", 100.into()),
        ("key-events.strict", true.into()),
        ("importance.run_above", 10.into()),
        ("importance.keep_score", 3.0.into()),
        ("importance.keep_newest", 5.into()),
        ("importance.user_score", 5.0.into()),
        ("importance.assistant_score", 2.0.into()),
        ("importance.other_score", 1.0.into()),
        ("importance.keyword_score", 0.5.into()),
        ("importance.tool_call_score", 2.0.into()),
        ("importance.error_score", 2.0.into()),
        ("importance.completion_score", 1.5.into()),
        ("importance.important_score", 3.0.into()),
        ("importance.strict", true.into()),
        ("incremental-summary.chunk_rounds", 20.into()),
    ]
}

/// A share of the usable window as target. Where the soft threshold is in tokens, the target is in tokens too, as deep
/// below it as it would be below the default one: presets that say how go with presets that say when.
fn target(share: f64, soft: Threshold) -> Value {
    const DEFAULT_SOFT: f64 = 0.8;
    match soft {
        Threshold::Share(_) => share.into(),
        Threshold::Tokens(tokens) => ((f64::from(tokens) * share / DEFAULT_SOFT) as u32).into(),
    }
}

fn thresholds(soft: u32, hard: u32, reserve: u32, keep_recent_messages: u32, summary_max_tokens: u32) -> Values {
    [
        ("budget.soft", soft),
        ("budget.hard", hard),
        ("budget.target", soft / 2),
        ("budget.reserve_output", reserve),
        ("pins.keep_recent", keep_recent_messages),
        ("summary.max_tokens", summary_max_tokens),
    ]
    .map(|(key, value)| (key.to_owned(), value.into()))
    .to_vec()
}

/// With memories kept before each compaction, as the design asks for where work is not thrown away.
fn with_flush(mut values: Values) -> Values {
    values.push(("live.memory_flush".to_owned(), true.into()));
    values
}

fn chains(of: impl Fn(TaskKind) -> &'static [&'static str]) -> Values {
    TaskKind::ALL.into_iter().map(|kind| (format!("chains.{kind}"), of(kind).to_vec().into())).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use crate::config::Config;
    use crate::source::Source;

    #[test]
    fn every_value_of_a_preset_is_taken() {
        let registry = epitome_builtin::registry();
        for preset in Preset::ALL {
            let name = preset.as_str();
            let mut config = Config::default();
            // For the preset that asks for a model.
            config.set("channels.local.base_url", &"http://127.0.0.1:1/v1".into()).unwrap();
            config.set("channels.local.models", &vec!["m"].into()).unwrap();
            let effective = |config: &Config, key: &str| {
                config.effective(&registry).into_iter().find(|entry| entry.key == key).map(|entry| entry.value)
            };
            for (key, value) in preset.values(config.tables.budget.soft.0) {
                config
                    .assign(&key, &value, Source::Preset(preset))
                    .unwrap_or_else(|error| panic!("{name} {key} {error}"));
                assert_eq!(effective(&config, &key), Some(value), "{name}: no strategy has {key}");
            }
            config.build(&registry).unwrap();
        }
    }
}
