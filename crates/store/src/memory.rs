//! Memories: what is worth knowing beyond the session in which it was said.

use std::fmt::Debug;
use std::sync::Arc;

use epitome_session::MessageId;
use epitome_strategy::BoxFuture;
use epitome_strategy::text::is_cjk;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

/// What a memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// Something was decided or found out.
    Decision,
    /// What somebody likes or wants.
    Preference,
    /// How things are to be done, from now on.
    Instruction,
    /// An exact string and the words that say what it is.
    Identifier,
    /// Anything else that was asked to be remembered.
    Fact,
}

/// Something worth knowing beyond the session in which it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// What was said, word by word.
    pub text: String,
    /// What it is.
    pub kind: MemoryKind,
    /// The session in which it was said, where that has an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Arc<str>>,
    /// The message that says it.
    pub message: MessageId,
    /// When that was, in milliseconds since 1970-01-01 UTC, where it is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<i64>,
}

impl MemoryKind {
    /// Its name, as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Preference => "preference",
            Self::Instruction => "instruction",
            Self::Identifier => "identifier",
            Self::Fact => "fact",
        }
    }
}

impl Memory {
    /// Its id: 16 hexadecimal digits of the hash of its text. Texts that differ only in upper and lower case, white space
    /// and the mark at their end have the same.
    pub fn id(&self) -> String {
        blake3::hash(normalised(&self.text).as_bytes()).to_hex()[..16].to_owned()
    }
}

/// A text as memories are compared: in lower case, with single spaces, without the mark at its end.
pub(crate) fn normalised(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let ends = |char: char| epitome_strategy::text::ends_sentence(char) || matches!(char, ',' | '，' | ':' | '：');
    words.join(" ").trim_end_matches(ends).to_owned()
}

/// What a text is searched by: its words in lower case, and pairs of Chinese characters.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for word in text.to_lowercase().split(|char: char| !char.is_alphanumeric() && !matches!(char, '_' | '-')) {
        let chinese: Vec<char> = word.chars().filter(|char| is_cjk(*char)).collect();
        terms.extend(chinese.windows(2).map(String::from_iter));
        let latin = word.split(is_cjk).filter(|part| !part.is_empty());
        terms.extend(latin.map(str::to_owned));
    }
    terms.sort();
    terms.dedup();
    terms
}

/// Which memories are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Scope {
    /// All.
    #[default]
    All,
    /// Those of one session.
    Session(Arc<str>),
}

impl Scope {
    pub(crate) fn holds(&self, memory: &Memory) -> bool {
        match self {
            Self::All => true,
            Self::Session(id) => memory.session.as_ref() == Some(id),
        }
    }
}

/// Keeps memories. Every answer is in the order that is best first.
pub trait MemoryStore: Send + Sync + Debug {
    /// Stores what is not known yet, and says how many that were. When it fails, none of them is stored; where the process
    /// is killed meanwhile, the first of them may be.
    fn remember<'a>(&'a self, memories: &'a [Memory]) -> BoxFuture<'a, Result<usize, StoreError>>;
    /// At most `most` memories, the last stored first.
    fn recent<'a>(&'a self, scope: &'a Scope, most: usize) -> BoxFuture<'a, Result<Vec<Memory>, StoreError>>;
    /// At most `most` memories that hold one of the words, those with the most of them first, then the last stored.
    fn search<'a>(
        &'a self,
        scope: &'a Scope,
        words: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Memory>, StoreError>>;
    /// Forgets the memory of that id; whether there was one.
    fn forget<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<bool, StoreError>>;
}
