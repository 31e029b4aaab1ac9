//! Memories: facts that are worth knowing beyond the session in which they were said.

use std::fmt::Debug;
use std::sync::Arc;

use epitome_session::MessageId;
use epitome_strategy::async_trait;
use epitome_strategy::text::is_cjk;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

/// The kind of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// Something was decided or found out.
    Decision,
    /// Something that a person likes or wants.
    Preference,
    /// The way to do things from now on.
    Instruction,
    /// An exact string and the words that say what it is.
    Identifier,
    /// Something that went wrong, and why.
    Failure,
    /// Something about a person, a place or a program, or something that a person asked to remember.
    Fact,
}

/// Something worth knowing beyond the session in which it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The text: a whole sentence, or two that belong together; in front of it the speaker's name where several people
    /// speak, and behind it the day on which it was said where the text names a day only relative to it.
    pub text: String,
    /// The kind.
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
    /// The kind's name, as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Preference => "preference",
            Self::Instruction => "instruction",
            Self::Identifier => "identifier",
            Self::Failure => "failure",
            Self::Fact => "fact",
        }
    }
}

impl Memory {
    /// Its id: 16 hexadecimal digits of the hash of its session and its text. In one session texts that differ only in
    /// upper and lower case, white space and the mark at their end have the same id; the same text in another session
    /// is another memory.
    pub fn id(&self) -> String {
        match &self.session {
            None => self.id_of_text(),
            Some(session) => {
                let mut hasher = blake3::Hasher::new();
                hasher.update(&(session.len() as u64).to_le_bytes()).update(session.as_bytes());
                hasher.update(normalise(&self.text).as_bytes());
                hasher.finalize().to_hex()[..16].to_owned()
            }
        }
    }

    /// The id that memories had before sessions counted, which stores may still hold.
    pub(crate) fn id_of_text(&self) -> String {
        blake3::hash(normalise(&self.text).as_bytes()).to_hex()[..16].to_owned()
    }
}

/// How much of the words of two memories has to be the same for the newer to take the older one's place where both
/// define something: three of five, as in "the port is 8080" and "the port is 8443".
const SAME_BOUND: f64 = 0.6;
/// The same where they say anything else: a person who has a dog may have a cat too.
const SAME_TOLD: f64 = 0.7;

/// Whether `newer` says the same as `older`, or something else of the same subject: "The port is 8080" of "The port is
/// 8443". Both are of one session and one kind. Linear in the texts.
pub fn supersedes(newer: &Memory, older: &Memory) -> bool {
    newer.session == older.session && newer.kind == older.kind && share_a_subject(&newer.text, &older.text)
}

/// Whether two texts are near enough for one to take the other's place: most of their words are the same, the first one
/// among them.
pub(crate) fn share_a_subject(newer: &str, older: &str) -> bool {
    Subject::parse(newer).is_that_of(&Subject::parse(older))
}

/// The words of a text that show its subject, read once for many comparisons.
#[derive(Debug)]
pub(crate) struct Subject {
    first: String,
    is_short: bool,
    terms: Vec<String>,
    binds: bool,
}

impl Subject {
    /// Linear in the text.
    pub(crate) fn parse(text: &str) -> Self {
        let terms = terms(text);
        Self {
            first: text.split_whitespace().next().unwrap_or_default().to_lowercase(),
            is_short: text.split_whitespace().nth(2).is_none(),
            binds: terms.iter().any(|term| matches!(term.as_str(), "is" | "are" | "called")),
            terms,
        }
    }

    /// Whether this one, the newer, is near enough to take the place of `older`.
    pub(crate) fn is_that_of(&self, older: &Self) -> bool {
        if !self.is_short && self.first != older.first {
            return false;
        }
        let least = if self.binds && older.binds { SAME_BOUND } else { SAME_TOLD };
        let shared = self.terms.iter().filter(|term| older.terms.binary_search(term).is_ok()).count();
        let all = self.terms.len() + older.terms.len() - shared;
        all > 0 && shared as f64 >= least * all as f64
    }
}

/// A text as memories are compared: in lower case, with single spaces, without the mark at its end.
pub(crate) fn normalise(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let ends = |char: char| epitome_strategy::text::ends_sentence(char) || matches!(char, ',' | '，' | ':' | '：');
    words.join(" ").trim_end_matches(ends).to_owned()
}

/// The search terms of a text: its words in lower case, and pairs of Chinese characters.
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
    /// The memories of one session.
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
#[async_trait]
pub trait MemoryStore: Send + Sync + Debug {
    /// Stores the memories that are not known yet, and returns their number. A memory that one of them [`supersedes`]
    /// is forgotten: it was said earlier in the same session. When it fails, none of them is stored; where the process
    /// is killed meanwhile, the first of them may be.
    async fn remember(&self, memories: &[Memory]) -> Result<usize, StoreError>;
    /// At most `most` memories, the last stored first.
    async fn recent(&self, scope: &Scope, most: usize) -> Result<Vec<Memory>, StoreError>;
    /// At most `most` memories that hold one of the words, those with the most of them first, then the last stored.
    async fn search(&self, scope: &Scope, words: &str, most: usize) -> Result<Vec<Memory>, StoreError>;
    /// Forgets the memory of that id; whether there was one.
    async fn forget(&self, id: &str) -> Result<bool, StoreError>;
}
