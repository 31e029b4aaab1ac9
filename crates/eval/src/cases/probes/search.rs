//! Probes with a search allowed: its results for each question word for word.

use epitome::Session;
use epitome::recall::{Index, Query};
use epitome::strategy::TokenCounter as _;

use super::probe::Probe;
use super::shown::{ProbeScores, recall};
use crate::cases::cut::COUNTER;

/// The most characters of each passage. Source: the default of a search.
const CHARACTERS: usize = 1_500;

/// The results of a search for each probe of a session.
#[derive(Debug)]
pub(crate) struct ProbeHits {
    texts: Vec<String>,
}

impl ProbeHits {
    /// Searches a session's log once for each probe, for its question word for word; the first page of this many
    /// passages.
    pub(crate) fn search(session: &Session, probes: &[Probe], passages: usize) -> Self {
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

    /// Returns how many probes `context` and the results for each can answer together.
    pub(crate) fn score_probes(&self, probes: &[Probe], context: &str) -> ProbeScores {
        let with = |(probe, found): (&Probe, &String)| {
            recall(std::slice::from_ref(probe), &[context, found].join("\n")).contains(&true)
        };
        let shown: Vec<bool> = probes.iter().zip(&self.texts).map(with).collect();
        ProbeScores::count(probes, &shown)
    }

    /// Returns the mean tokens of one search's result.
    pub(crate) fn tokens(&self) -> u32 {
        let all: u32 = self.texts.iter().map(|text| COUNTER.count(text)).sum();
        all / self.texts.len().max(1) as u32
    }
}
