//! The query of a search.

use epitome_strategy::named;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The speakers whose text is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// People: typed messages without the text of a harness, and answers given through a tool.
    User,
    /// The model: its text and its reasoning; its calls belong to the tools.
    Assistant,
    /// Tools: their calls and outputs, those that work on files included.
    Tool,
    /// The calls that name one file, and their outputs.
    File,
}

named! { Source { User = "user", Assistant = "assistant", Tool = "tool", File = "file" } }

/// A search: its words, and the size of its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Query {
    /// One or more queries; the scores of each, as shares of its best, add up. A question in whole sentences together
    /// with the names that the text is likely to use finds more than either alone.
    pub words: Vec<String>,
    /// The sources that are searched; empty for all.
    pub from: Vec<Source>,
    /// Sorts good matches by age, the newest first. Without any words it lists the newest passages.
    pub newest: bool,
    /// Passages of a page: 1 to [`MOST_PASSAGES`](Self::MOST_PASSAGES).
    pub limit: usize,
    /// Characters of a page's texts together: 1 to [`MOST_CHARACTERS`](Self::MOST_CHARACTERS).
    pub characters: usize,
    /// Which page, from 0: one of the first [`MOST_PAGES`](Self::MOST_PAGES).
    pub page: usize,
}

/// Why a search is refused. The limits are the same everywhere: the library, the command, the service, a model's tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum QueryProblem {
    /// There are no words, and neither a source nor the newest passages are asked for.
    #[error("there is nothing to look for: name words, or whose words, or ask for the newest")]
    Nothing,
    /// There are more queries than a search takes.
    #[error("a search takes at most {most} queries at once, not {0}", most = Query::MOST_QUERIES)]
    Queries(usize),
    /// One of the queries is longer than a query may be.
    #[error("a query has at most {most} characters, not {0}", most = Query::MOST_QUERY_CHARACTERS)]
    Words(usize),
    /// A page cannot have so many passages.
    #[error("`limit` is 1 to {most} passages, not {0}", most = Query::MOST_PASSAGES)]
    Limit(usize),
    /// A page cannot have so many characters.
    #[error("`characters` is 1 to {most}, not {0}", most = Query::MOST_CHARACTERS)]
    Characters(usize),
    /// There are not so many pages.
    #[error("a search has {most} pages at most, and `page` is behind the last: ask with other words", most = Query::MOST_PAGES)]
    Page,
}

impl Default for Query {
    /// Returns a query without words, over all sources, for a page of six passages with 9,000 characters together.
    /// Source: on the recorded questions six passages of 1,500 characters have more answers than more and shorter, or
    /// fewer and longer ones, of the same size.
    fn default() -> Self {
        Self { words: Vec::new(), from: Vec::new(), newest: false, limit: 6, characters: 9_000, page: 0 }
    }
}

impl Query {
    /// The most queries of a search. Source: a question and the names in its answer are some five; this is three times
    /// as many, and each costs as much as a search of its own.
    pub const MOST_QUERIES: usize = 16;

    /// The most characters of a query. Source: a paragraph of three hundred words; a longer text is found by a line of
    /// it.
    pub const MOST_QUERY_CHARACTERS: usize = 2_000;

    /// The most passages of a page. Source: at 1,500 characters each, as much as a page may have.
    pub const MOST_PASSAGES: usize = 100;

    /// The most characters of a page. Source: some 50,000 tokens, more room than a model's context can spare for one
    /// search.
    pub const MOST_CHARACTERS: usize = 200_000;

    /// The most pages of a search: each repeats the work of all in front of it, and a search that has not found its
    /// text in twenty needs other words.
    pub const MOST_PAGES: usize = 20;

    /// Checks the limits, and that there is something to search for. Linear in the words.
    pub fn check(&self) -> Result<(), QueryProblem> {
        let is_blank = self.words.iter().all(|words| words.trim().is_empty());
        let longest = self.words.iter().map(|words| words.chars().count()).max().unwrap_or(0);
        match self {
            _ if is_blank && self.from.is_empty() && !self.newest => Err(QueryProblem::Nothing),
            Self { words, .. } if words.len() > Self::MOST_QUERIES => Err(QueryProblem::Queries(words.len())),
            _ if longest > Self::MOST_QUERY_CHARACTERS => Err(QueryProblem::Words(longest)),
            Self { limit, .. } if !(1..=Self::MOST_PASSAGES).contains(limit) => Err(QueryProblem::Limit(*limit)),
            Self { characters, .. } if !(1..=Self::MOST_CHARACTERS).contains(characters) => {
                Err(QueryProblem::Characters(*characters))
            }
            Self { page, .. } if *page >= Self::MOST_PAGES => Err(QueryProblem::Page),
            _ => Ok(()),
        }
    }

    /// Returns a query of these words with the default's limits.
    pub fn new(words: impl Into<String>) -> Self {
        Self { words: vec![words.into()], ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_that_can_be_made() {
        let check = |query: Query, expect: Result<(), QueryProblem>| assert_eq!(query.check(), expect, "{query:?}");
        let asked = || Query::new("port");
        check(asked(), Ok(()));
        check(Query::default(), Err(QueryProblem::Nothing));
        check(Query::new(" \n"), Err(QueryProblem::Nothing));
        check(Query { newest: true, ..Query::default() }, Ok(()));
        check(Query { from: vec![Source::User], ..Query::default() }, Ok(()));
        check(Query { words: vec!["a".into(); 16], ..asked() }, Ok(()));
        check(Query { words: vec!["a".into(); 17], ..asked() }, Err(QueryProblem::Queries(17)));
        check(Query::new("字".repeat(2_000)), Ok(()));
        check(Query::new("字".repeat(2_001)), Err(QueryProblem::Words(2_001)));
        for (limit, expect) in [(0, false), (1, true), (100, true), (101, false), (usize::MAX, false)] {
            check(Query { limit, ..asked() }, if expect { Ok(()) } else { Err(QueryProblem::Limit(limit)) });
        }
        for (characters, expect) in [(0, false), (1, true), (200_000, true), (200_001, false)] {
            let problem = QueryProblem::Characters(characters);
            check(Query { characters, ..asked() }, if expect { Ok(()) } else { Err(problem) });
        }
        check(Query { page: 19, ..asked() }, Ok(()));
        check(Query { page: 20, ..asked() }, Err(QueryProblem::Page));
        check(Query { page: usize::MAX, ..asked() }, Err(QueryProblem::Page));
    }
}
