//! The tournament: every candidate chain is tried, and the one that keeps most is taken.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use epitome_session::{Content, Entry};
use rayon::prelude::*;

use crate::guard::Refusal;
use crate::request::Chain;
use crate::working::Working;

/// The candidate that keeps the most, the first of equals; candidates are tried in parallel. `attempt` gives the view
/// that a chain leads to.
pub(crate) fn best(
    candidates: Vec<Chain>,
    before: &[Entry],
    attempt: impl Fn(&Chain) -> Result<Working, Refusal> + Sync,
) -> Chain {
    let wanted = words(before);
    let score = |chain: &Chain| attempt(chain).map_or(-1.0, |working| retained(&wanted, &working.entries));
    let scores: Vec<f64> = candidates.par_iter().map(score).collect();
    let best =
        scores.iter().enumerate().fold(0, |best, (index, score)| if *score > scores[best] { index } else { best });
    candidates.into_iter().nth(best).unwrap_or_default()
}

/// The share of the weight of `wanted` that still stands in `after`.
fn retained(wanted: &HashMap<u64, f64>, after: &[Entry]) -> f64 {
    let kept = words(after);
    let total: f64 = wanted.values().sum();
    let mut held: Vec<(u64, f64)> =
        wanted.iter().filter(|(word, _)| kept.contains_key(word)).map(|(w, v)| (*w, *v)).collect();
    held.sort_by_key(|(word, _)| *word); // sums of floats depend on the order
    held.iter().map(|(_, weight)| weight).sum::<f64>() / total.max(f64::MIN_POSITIVE)
}

/// The exact strings of a view: words of four and more characters that hold a digit, a dot, a slash or an underscore.
/// Each weighs more the later it was last seen: what is recent is likelier needed again.
fn words(entries: &[Entry]) -> HashMap<u64, f64> {
    let mut words = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let weight = 1.0 + index as f64 / entries.len() as f64;
        for block in &entry.message.blocks {
            let text = match &block.content {
                Content::Text { text } => text,
                Content::ToolCall(call) => call.arguments.text(),
                Content::ToolResult(result) => &result.text,
                Content::Thinking(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => continue,
            };
            let word_end =
                |char: char| !(char.is_alphanumeric() || matches!(char, '_' | '.' | '/' | '-' | ':' | '#' | '@'));
            for word in text.split(word_end).map(|word| word.trim_matches(['.', ':', '-'])) {
                let marked = word.contains(['_', '.', '/']) || word.bytes().any(|byte| byte.is_ascii_digit());
                if word.len() >= 4 && marked {
                    let mut hasher = DefaultHasher::new();
                    word.hash(&mut hasher);
                    words.insert(hasher.finish(), weight);
                }
            }
        }
    }
    words
}
