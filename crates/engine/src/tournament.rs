//! The tournament: every candidate chain is tried, and the one that keeps most is taken.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use epitome_session::{Content, Entry};
use epitome_strategy::{Archive, ArchiveError, Tokens};
use rayon::prelude::*;

use crate::archive::MemoryArchive;
use crate::guard::Refusal;
use crate::request::Chain;
use crate::run::Run;

/// The winner: its chain, its run, and what it archived.
pub(crate) struct Best {
    pub chain: Chain,
    pub run: Run,
    archived: MemoryArchive,
}

impl Best {
    /// Hands what the winner archived to the session's archive. An archive that gives other handles is refused: the
    /// winner's texts name those that it got.
    pub(crate) fn archive_into(&self, archive: &mut dyn Archive) -> Result<(), ArchiveError> {
        for (handle, item) in self.archived.items() {
            let given = archive.put(item.clone())?;
            if given != *handle {
                return Err(ArchiveError(format!("gave the handle {given} where {handle} was expected")));
            }
        }
        Ok(())
    }
}

/// The candidate that meets the limit and keeps the most, the first of equals; candidates are tried in parallel. What
/// all of them cost in summaries is on the winner's bill. Errors with the first refusal when every candidate fails.
pub(crate) fn best(
    candidates: Vec<Chain>,
    before: &[Entry],
    limit: Tokens,
    attempt: impl Fn(&Chain, &mut MemoryArchive) -> Result<Run, Refusal> + Sync,
) -> Result<Best, Refusal> {
    let wanted = words(before);
    let tried: Vec<Result<(f64, Best), Refusal>> = candidates
        .into_par_iter()
        .map(|chain| {
            let mut archived = MemoryArchive::new();
            let run = attempt(&chain, &mut archived)?;
            let fits = if run.working.total <= limit { 1.0 } else { 0.0 };
            Ok((fits + retained(&wanted, &run.working.entries), Best { chain, run, archived }))
        })
        .collect();
    let (mut input, mut output) = (0, 0);
    let mut winner: Option<(f64, Best)> = None;
    let mut refusal = None;
    for tried in tried {
        match tried {
            Ok((score, best)) => {
                input += best.run.summarizer.input_tokens;
                output += best.run.summarizer.output_tokens;
                if winner.as_ref().is_none_or(|(highest, _)| score > *highest) {
                    winner = Some((score, best));
                }
            }
            Err(refused) => refusal = refusal.or(Some(refused)),
        }
    }
    let Some((_, mut best)) = winner else { return Err(refusal.unwrap_or(Refusal::NotThere)) };
    (best.run.summarizer.input_tokens, best.run.summarizer.output_tokens) = (input, output);
    Ok(best)
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
