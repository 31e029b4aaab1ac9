//! Memories: facts that are worth knowing beyond the session in which they were said.

use std::fmt::Debug;
use std::sync::Arc;

use epitome_session::MessageId;
use epitome_strategy::async_trait;
use epitome_strategy::text::is_cjk;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::extract::{command_key, commit_key, named_string};

/// The kind of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// Something was decided.
    Decision,
    /// Something that a person likes or wants.
    Preference,
    /// The way to do things from now on.
    Instruction,
    /// An exact string and the words that say what it is.
    Identifier,
    /// Something about a person or the project, or something that a person asked to remember.
    Fact,
    /// A command that builds, tests or checks the project, and passed.
    Command,
    /// A commit with its subject.
    Commit,
}

/// Something worth knowing beyond the session in which it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The text: a whole sentence that a person typed, or what a command showed.
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
            Self::Fact => "fact",
            Self::Command => "command",
            Self::Commit => "commit",
        }
    }
}

impl Memory {
    /// Its id: 16 hexadecimal digits of the hash of its session and its text. In one session texts that differ only in
    /// upper and lower case, white space and the mark at their end have the same id; the same text in another session
    /// is another memory.
    pub fn id(&self) -> String {
        match &self.session {
            None => blake3::hash(normalise(&self.text).as_bytes()).to_hex()[..16].to_owned(),
            Some(session) => {
                let mut hasher = blake3::Hasher::new();
                hasher.update(&(session.len() as u64).to_le_bytes()).update(session.as_bytes());
                hasher.update(normalise(&self.text).as_bytes());
                hasher.finalize().to_hex()[..16].to_owned()
            }
        }
    }

    /// Whether a person typed the text; otherwise a command showed it.
    pub fn is_typed(&self) -> bool {
        match self.kind {
            MemoryKind::Decision
            | MemoryKind::Preference
            | MemoryKind::Instruction
            | MemoryKind::Identifier
            | MemoryKind::Fact => true,
            MemoryKind::Command | MemoryKind::Commit => false,
        }
    }
}

/// Whether `newer` takes the place of `older`: both are of one session, and it says the same, or something else of the same
/// subject: "The port is 8080" of "The port is 8443". Linear in the texts.
pub fn supersedes(newer: &Memory, older: &Memory) -> bool {
    // Sessions without an id are not one session.
    newer.session.is_some()
        && newer.session == older.session
        && !is_older(newer, older)
        && are_of_one_subject(newer, older)
}

/// Whether a memory was said before another, where it is known when both were.
pub(crate) fn is_older(memory: &Memory, other: &Memory) -> bool {
    memory.time.zip(other.time).is_some_and(|(time, other)| time < other)
}

/// Whether two memories are of one kind and one subject: an identifier's is the name of the thing, a command's its program
/// and task, a commit's its subject. What people say has one subject where most of the words are the same.
pub(crate) fn are_of_one_subject(newer: &Memory, older: &Memory) -> bool {
    let keys = match newer.kind {
        MemoryKind::Identifier => [newer, older].map(|it| named_string(&it.text).map(|(name, _)| name)),
        MemoryKind::Command => [newer, older].map(|it| command_key(&it.text).map(|(command, place)| command + &place)),
        MemoryKind::Commit => [newer, older].map(|it| commit_key(&it.text).map(str::to_owned)),
        MemoryKind::Decision | MemoryKind::Preference | MemoryKind::Instruction | MemoryKind::Fact => [None, None],
    };
    newer.kind == older.kind
        && match keys {
            [Some(newer), Some(older)] => newer == older,
            _ => share_a_subject(&newer.text, &older.text),
        }
}

/// The share of the words of two statements that has to be the same for the newer to take the older one's place: more
/// where they do not say what something is, since a person who has a dog may have a cat too.
const SAME: f64 = 0.7;
const SAME_BOUND: f64 = 0.6;

/// Words that turn a statement into its contrary, or say how long it holds: both are of one subject.
const TURNING: &[&str] =
    &["never", "always", "not", "no", "don", "t", "do", "please", "from", "now", "on", "must", "longer"];

/// Whether two texts are of one subject: most of their words are the same, the first one among them, whatever turns them
/// into their contrary.
fn share_a_subject(newer: &str, older: &str) -> bool {
    let words = |text: &str| -> (Option<String>, Vec<String>) {
        let lower = text.to_lowercase();
        let mut split = lower.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
        let first = split.find(|word| !TURNING.contains(word)).map(str::to_owned);
        (first, terms(text).into_iter().filter(|term| !TURNING.contains(&term.as_str())).collect())
    };
    let ((first, new), (other, old)) = (words(newer), words(older));
    // Rack 12 has one name and rack 13 another: where two numbered things differ, one of them is the subject.
    let others = |terms: &[String], than: &[String]| {
        let is_number = |term: &&String| term.contains(|char: char| char.is_ascii_digit());
        terms.iter().filter(is_number).filter(|term| than.binary_search(term).is_err()).count()
    };
    if others(&new, &old).min(others(&old, &new)) >= 2 {
        return false;
    }
    let shared = new.iter().filter(|term| old.binary_search(term).is_ok()).count();
    let all = new.len() + old.len() - shared;
    let is_chinese = newer.contains(is_cjk);
    let binds = |terms: &[String]| terms.iter().any(|term| matches!(term.as_str(), "is" | "are" | "called"));
    let least = if binds(&new) && binds(&old) { SAME_BOUND } else { SAME };
    all > 0 && (first == other || is_chinese) && shared as f64 >= least * all as f64
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
