//! Many sessions searched as if they were one.

use std::collections::HashMap;

use snowball_stemmers_rs::{Algorithm, Stemmer};

use crate::index::Index;
use crate::page::{Page, Passage};
use crate::query::{Query, QueryProblem};
use crate::score::{Scope, rank, rarity};
use crate::select::candidates;
use crate::terms::query_terms;

/// The number of candidates from which on those that can no longer win are dropped.
const MOST: usize = 1_000;

/// The contribution of one session to a query: its best passages, and how rare the query's words are in it.
#[derive(Debug)]
pub struct SessionMatches {
    windows: usize,
    /// For each query's terms, in order: how many windows contain one.
    holding: Vec<Vec<usize>>,
    candidates: Vec<Candidate>,
}

#[derive(Debug)]
struct Candidate {
    passage: Passage,
    /// For each query's terms, in order: the passage's score for one, before its rarity counts.
    strengths: Vec<Vec<f32>>,
}

impl Index {
    /// Returns the contribution of this session to a query over many sessions. Costs a search.
    ///
    /// Errors where the query is beyond its limits: [`Query::check`].
    pub fn share(&self, query: &Query) -> Result<SessionMatches, QueryProblem> {
        query.check()?;
        let pages = query.page.saturating_add(1);
        let whole = Query {
            page: 0,
            limit: query.limit.saturating_mul(pages),
            characters: query.characters.saturating_mul(pages),
            ..query.clone()
        };
        let (scope, stemmer) = (Scope::new(self, &whole), Stemmer::create(Algorithm::English));
        let number = |key: &String| self.number_of_key(key);
        let terms: Vec<Vec<Option<u32>>> =
            whole.words.iter().map(|words| query_terms(words, &stemmer).iter().map(number).collect()).collect();
        let mut counts: HashMap<u32, Vec<(usize, u32)>> = HashMap::new();
        for term in terms.iter().flatten().flatten() {
            counts.entry(*term).or_insert_with(|| scope.counts(*term));
        }
        let of_term = |term: &Option<u32>| term.and_then(|term| counts.get(&term));
        let holding = |term: &Option<u32>| of_term(term).map_or(0, Vec::len);
        let answering: Vec<_> = whole.words.iter().map(|words| scope.answering(words, &stemmer)).collect();
        let strength = |query: usize, term: &Option<u32>, window: usize| {
            let answer = term.map_or(0.0, |term| Scope::answer_strength(answering[query].as_ref(), term, window));
            let count = of_term(term).and_then(|counts| {
                let at = counts.binary_search_by_key(&window, |(window, _)| *window).ok()?;
                Some(counts[at].1)
            });
            answer + count.map_or(0.0, |count| scope.strength(count, window))
        };
        let found = candidates(self, &whole, &rank(self, &whole)).into_iter().map(|(passage, place)| {
            let window = scope.window_at(place);
            let strengths = (0..)
                .zip(&terms)
                .map(|(query, terms)| terms.iter().map(|term| strength(query, term, window)).collect())
                .collect();
            Candidate { passage, strengths }
        });
        Ok(SessionMatches {
            windows: scope.window_count(),
            candidates: found.collect(),
            holding: terms.iter().map(|terms| terms.iter().map(holding).collect()).collect(),
        })
    }
}

/// Searches sessions one after the other as if they were one: a word counts by its rarity in all of them.
///
/// It holds passages and no sessions: some hundred at most.
#[derive(Debug)]
pub struct Pool<N> {
    query: Query,
    windows: usize,
    holding: Vec<Vec<usize>>,
    candidates: Vec<(N, Candidate)>,
}

impl<N> Pool<N> {
    /// Returns a pool without sessions.
    pub fn new(query: Query) -> Self {
        Self { query, windows: 0, holding: Vec::new(), candidates: Vec::new() }
    }

    /// Adds the share of the session `name`. The same shares in the same order give the same passages.
    pub fn add(&mut self, name: N, share: SessionMatches)
    where
        N: Clone,
    {
        self.windows += share.windows;
        if self.holding.is_empty() {
            self.holding = share.holding;
        } else {
            let all = self.holding.iter_mut().flatten().zip(share.holding.iter().flatten());
            all.for_each(|(sum, holding)| *sum += holding);
        }
        self.candidates.extend(share.candidates.into_iter().map(|candidate| (name.clone(), candidate)));
        let wanted = self.wanted();
        if self.candidates.len() > MOST.max(wanted.saturating_mul(8)) {
            self.rank();
            self.candidates.truncate((MOST / 2).max(wanted.saturating_mul(4)));
        }
    }

    /// Returns the best passages of all sessions, each with the name of its session, and whether the next page has any.
    pub fn page(mut self) -> (Vec<(N, Passage)>, bool) {
        self.rank();
        let mut left = self.candidates.into_iter().map(|(name, candidate)| (name, candidate.passage)).peekable();
        let mut page = Vec::new();
        for _ in 0..=self.query.page {
            page.clear();
            let mut room = self.query.characters;
            while page.len() < self.query.limit
                && let Some(found) = left.next_if(|(_, passage)| passage.text.chars().count() <= room)
            {
                room -= found.1.text.chars().count();
                page.push(found);
            }
            if page.is_empty() {
                break;
            }
        }
        (page, left.peek().is_some())
    }

    fn wanted(&self) -> usize {
        self.query.limit.saturating_mul(self.query.page.saturating_add(1))
    }

    /// Sorts the best to the front, with their scores as shares of the best one's.
    fn rank(&mut self) {
        let rarities: Vec<Vec<f32>> = self
            .holding
            .iter()
            .map(|terms| terms.iter().map(|holding| rarity(*holding, self.windows)).collect())
            .collect();
        let mut total = vec![0.0; self.candidates.len()];
        for (query, rarities) in rarities.iter().enumerate() {
            let score = |candidate: &Candidate| {
                candidate.strengths[query].iter().zip(rarities).map(|(strength, rarity)| strength * rarity).sum()
            };
            let scores: Vec<f32> = self.candidates.iter().map(|(_, candidate)| score(candidate)).collect();
            let best = scores.iter().copied().fold(0.0, f32::max);
            if best > 0.0 {
                total.iter_mut().zip(scores).for_each(|(total, score)| *total += score / best);
            }
        }
        let best = total.iter().copied().fold(0.0, f32::max);
        for ((_, candidate), total) in self.candidates.iter_mut().zip(total) {
            if best > 0.0 {
                candidate.passage.score = total / best;
            }
        }
        // A stable sort: equal scores keep the order in which they came.
        self.candidates.sort_by(|left, right| right.1.passage.score.total_cmp(&left.1.passage.score));
    }
}

impl SessionMatches {
    /// Returns the passages for an update of where they are: see [`Page::locate`].
    pub fn locate(&mut self, session: &epitome_session::Session) {
        let passages = self.candidates.iter().map(|candidate| candidate.passage.clone()).collect();
        let mut page = Page { passages, more: false };
        page.locate(session);
        for (candidate, passage) in self.candidates.iter_mut().zip(page.passages) {
            candidate.passage = passage;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use epitome_session::{Message, Origin, Role, Session};

    use super::*;

    fn session(texts: &[&str]) -> Index {
        let mut session = Session::new();
        session.extend(texts.iter().map(|text| Message::text("", Role::Assistant, Origin::Model, *text)));
        Index::build(&session)
    }

    #[test]
    fn a_word_counts_for_as_much_as_it_is_rare_in_all() {
        // In the second session alone `port` is as rare as `ledger`; over both it is not.
        let filler = "port ".repeat(300);
        let sessions =
            [("a", session(&[&filler, "the port is open"])), ("b", session(&["port", "the ledger is closed"]))];
        let query = Query::new("port of the ledger");
        let found = |query: &Query| {
            let mut pool = Pool::new(query.clone());
            sessions.iter().for_each(|(name, index)| pool.add(*name, index.share(query).unwrap()));
            pool.page()
        };
        let (page, more) = found(&query);
        assert_eq!((page[0].0, page[0].1.score, more), ("b", 1.0, false));
        let one = Query { limit: 1, ..query };
        let (first, more) = found(&one);
        assert_eq!((first.len(), first[0].0, more), (1, "b", true));
        let (second, _) = found(&Query { page: 1, ..one });
        assert_eq!((second.len(), second[0].0), (1, "a"));
    }
}
