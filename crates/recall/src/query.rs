//! What is asked for.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Whose words are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// What a person said: typed messages without what a harness put between, and answers given through a tool.
    User,
    /// What the model said and thought; its calls are the tools'.
    Assistant,
    /// Calls of tools and what they printed, those that work on files included.
    Tool,
    /// Of these, the calls that name one file, and what they printed.
    File,
}

impl Source {
    /// Every source, in the order in which help texts name them.
    pub const ALL: [Self; 4] = [Self::User, Self::Assistant, Self::Tool, Self::File];

    /// The source's lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::File => "file",
        }
    }
}

impl FromStr for Source {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|source| source.as_str() == name);
        known.ok_or_else(|| format!("`{name}` is not a source: take user, assistant, tool or file"))
    }
}

/// A search: what is asked for, and how much comes back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Query {
    /// One or more queries; the scores of each, as shares of its best, add up. A question in whole sentences and the
    /// names that the text is likely to use, side by side, find more than either alone.
    pub words: Vec<String>,
    /// Whose words are searched; empty for everybody's.
    pub from: Vec<Source>,
    /// What is newest comes first among what matches well. Without any words it lists the newest passages.
    pub newest: bool,
    /// Passages of a page.
    pub limit: usize,
    /// Characters of a page's texts together.
    pub characters: usize,
    /// Which page, from 0.
    pub page: usize,
}

impl Default for Query {
    /// No words, everybody's text, and a page of six passages with 9,000 characters together. Source: on the recorded
    /// questions six passages of 1,500 characters hold more answers than more and shorter, or fewer and longer ones, of
    /// the same size.
    fn default() -> Self {
        Self { words: Vec::new(), from: Vec::new(), newest: false, limit: 6, characters: 9_000, page: 0 }
    }
}

impl Query {
    /// A query of these words with the default's limits.
    pub fn new(words: impl Into<String>) -> Self {
        Self { words: vec![words.into()], ..Self::default() }
    }
}
