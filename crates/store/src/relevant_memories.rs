//! Selects the memories that are relevant to the current subject.

use std::collections::HashSet;

use epitome_strategy::cut::is_stop_word;

use crate::error::StoreError;
use crate::memory::{Memory, MemoryKind, MemoryStore, Scope, are_of_one_subject, is_older, normalise, terms};

/// The number of candidates for each memory that is wanted.
const CANDIDATES: usize = 8;
/// The most candidates.
const MOST_CANDIDATES: usize = 200;

/// Returns at most `most` memories of `scope` that are relevant to `talk`, the most relevant first, then the newest: those of
/// `session` itself, standing instructions, and those that share a distinctive word with the talk. `unstored` are newer
/// than those of the store, the newest first. A memory that a newer one repeats or contradicts is left out. Two queries of
/// the store, where there is one.
pub async fn relevant_memories(
    store: Option<&dyn MemoryStore>,
    scope: &Scope,
    session: Option<&str>,
    talk: &str,
    unstored: Vec<Memory>,
    most: usize,
) -> Result<Vec<Memory>, StoreError> {
    if most == 0 {
        return Ok(Vec::new());
    }
    let candidates = (most * CANDIDATES).min(MOST_CANDIDATES);
    let informative = informative_terms(talk);
    let mut words: Vec<&str> = informative.iter().map(String::as_str).collect();
    words.sort_unstable();
    let mut found = unstored;
    if let Some(store) = store {
        found.extend(store.recent(scope, candidates).await?);
        found.extend(store.search(scope, &words.join(" "), candidates).await?);
    }
    Ok(rank_memories(found, session, &informative, most))
}

/// Returns the candidates that are relevant to words, the best first; `found` has the newest before the older ones.
fn rank_memories(found: Vec<Memory>, session: Option<&str>, informative: &HashSet<String>, most: usize) -> Vec<Memory> {
    let shared_terms = |memory: &Memory| {
        let (latin, chinese): (Vec<_>, Vec<_>) =
            terms(&memory.text).into_iter().filter(|term| informative.contains(term)).partition(|term| term.is_ascii());
        // One pair of Chinese characters is shared by chance.
        let shared = latin.len() + chinese.len() / 2;
        let is_own = session.is_some() && memory.session.as_deref() == session;
        (shared > 0 || is_own || memory.kind == MemoryKind::Instruction).then_some(shared)
    };
    let mut known = HashSet::new();
    let mut kept: Vec<(usize, Memory)> = Vec::new();
    for memory in found {
        let Some(shared) = shared_terms(&memory) else { continue };
        // Of two sessions that say something of one subject the newer counts; both were stored for their sessions.
        let is_said = |(_, newer): &(usize, Memory)| are_of_one_subject(newer, &memory);
        let said = kept.iter().position(is_said);
        match said {
            // It was stored later, and said earlier.
            Some(at) if is_older(&kept[at].1, &memory) => kept[at] = (shared, memory),
            Some(_) => {}
            None if known.insert(normalise(&memory.text)) => kept.push((shared, memory)),
            None => {}
        }
    }
    kept.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared)); // stable: of equals the newest stay first
    kept.into_iter().take(most).map(|(_, memory)| memory).collect()
}

/// The words of a talk that tell what it is about.
fn informative_terms(talk: &str) -> HashSet<String> {
    let tells = |term: &String| {
        let length = term.chars().count();
        let is_latin = term.is_ascii();
        (length >= 4 || (!is_latin && length >= 2) || term.contains(|char: char| char.is_ascii_digit()))
            && !is_stop_word(term)
    };
    terms(talk).into_iter().filter(tells).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use epitome_session::MessageId;

    use super::*;

    fn memory(text: &str, kind: MemoryKind, session: &str) -> Memory {
        let (session, message) = (Some(Arc::from(session)), MessageId::new("m"));
        Memory { text: text.to_owned(), kind, session, message, time: None }
    }

    #[test]
    fn what_bears_on_a_talk() {
        // The newest first, as a store gives them.
        let stored = [
            memory("The staging database is db-9.", MemoryKind::Identifier, "a"),
            memory("The staging database is db-7.", MemoryKind::Identifier, "b"),
            memory("Never push to main without a review.", MemoryKind::Instruction, "b"),
            memory("I prefer Sichuan cuisine.", MemoryKind::Preference, "b"),
            memory("测试环境的数据库是只读的。", MemoryKind::Fact, "b"),
            memory("My sister lives in Oslo.", MemoryKind::Fact, "c"),
        ];
        let check = |talk: &str, session: &str, most: usize, expect: &[usize]| {
            let found = rank_memories(stored.to_vec(), Some(session), &informative_terms(talk), most);
            let expect: Vec<&Memory> = expect.iter().map(|index| &stored[*index]).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expect, "{talk}");
        };
        // the newer of two on one subject, and what always holds
        check("Is the staging database up?", "x", 9, &[0, 2]);
        check("Where should we eat Sichuan food tonight?", "x", 9, &[3, 2]);
        check("数据库连不上", "x", 9, &[4, 2]);
        // what the session said itself left its context: it comes back
        check("What next?", "c", 9, &[2, 5]);
        check("What next?", "x", 9, &[2]);
        check("Is the staging database up?", "x", 1, &[0]);
        check("", "x", 9, &[2]);
    }

    #[test]
    fn what_was_said_later_counts() {
        let at = |time, text: &str| Memory { time: Some(time), ..memory(text, MemoryKind::Identifier, "a") };
        let (older, newer) = (at(1, "The staging port is 8443."), at(2, "The staging port is 9999."));
        for stored in [[&older, &newer], [&newer, &older]] {
            let found =
                rank_memories(stored.map(Clone::clone).to_vec(), Some("x"), &informative_terms("staging port"), 9);
            assert_eq!(found, std::slice::from_ref(&newer));
        }
        // Sessions without an id are not the one that asks.
        let alone = Memory { session: None, ..memory("My sister lives in Oslo.", MemoryKind::Fact, "c") };
        assert_eq!(rank_memories(vec![alone], None, &informative_terms("What next?"), 9), []);
    }
}
