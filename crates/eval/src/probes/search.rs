//! Probes with the search allowed: what it finds for each question as it is asked.

use epitome::Session;
use epitome::recall::{Index, Query};
use epitome::strategy::TokenCounter as _;

use super::probe::Probe;
use super::shown::{ProbeScores, recall};
use crate::cut::COUNTER;

/// Characters of each passage, at most. Source: what a search gives by default.
const CHARACTERS: usize = 1_500;

/// What a search finds for each probe of a session.
#[derive(Debug)]
pub(crate) struct ProbeHits {
    texts: Vec<String>,
}

impl ProbeHits {
    /// Searches a session's log once for each probe, for its question word for word; the first page of so many passages.
    pub(crate) fn of(session: &Session, probes: &[Probe], passages: usize) -> Self {
        let index = Index::build(session);
        let limits = Query { limit: passages, characters: passages.saturating_mul(CHARACTERS), ..Query::default() };
        let text = |probe: &Probe| {
            let question = probe.question.chars().take(Query::MOST_QUERY_CHARACTERS).collect();
            // A question without a word in it finds nothing.
            let page = index.search(&Query { words: vec![question], ..limits.clone() }).unwrap_or_default();
            page.passages.into_iter().map(|passage| passage.text).collect::<Vec<_>>().join("\n")
        };
        Self { texts: probes.iter().map(text).collect() }
    }

    /// The probes that `context` and what was found for each can answer together.
    pub(crate) fn score_probes(&self, probes: &[Probe], context: &str) -> ProbeScores {
        let with = |(probe, found): (&Probe, &String)| {
            recall(std::slice::from_ref(probe), &[context, found].join("\n")).contains(&true)
        };
        let shown: Vec<bool> = probes.iter().zip(&self.texts).map(with).collect();
        ProbeScores::count(probes, &shown)
    }

    /// Tokens of what one search finds, on the average.
    pub(crate) fn tokens(&self) -> u32 {
        let all: u32 = self.texts.iter().map(|text| COUNTER.count(text)).sum();
        all / self.texts.len().max(1) as u32
    }
}
