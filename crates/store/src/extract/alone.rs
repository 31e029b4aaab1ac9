//! Decides whether a sentence stands alone: whether a reader of it alone knows its subject.

use super::words::{Words, has_word};
use epitome_strategy::text::is_cjk;

/// A sentence with what every rule asks of it.
#[derive(Debug)]
pub(super) struct Sentence<'t> {
    pub(super) text: &'t str,
    pub(super) lower: String,
    /// The number of words of `text` in Chinese characters.
    pub(super) chinese: usize,
}

/// What refers to something outside of the sentence, as its first word.
static REFERRING: Words = Words::of_section("alone.referring");

/// The same in the middle of a sentence near its start, where no word precedes that it could refer to.
const REFERRING_EARLY: &[&str] =
    &["it", "this", "these", "those", "them", "that's", "it's", "there", "here", "they", "they're", "he", "she"];

/// Parts of a sentence that point at the conversation around it.
static POINTING: Words = Words::of_section("alone.pointing");

/// Chinese words that refer to something outside of the sentence.
static REFERRING_CHINESE: Words = Words::of_section("alone.referring-chinese");

impl<'t> Sentence<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let chinese = text.chars().filter(|char| is_cjk(*char)).count();
        Self { text, lower: text.to_lowercase().replace('’', "'"), chinese }
    }

    /// The words in lower case, without marks around them.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.lower
            .split(|char: char| char.is_whitespace() || matches!(char, '—' | '–' | '/' | '('))
            .map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()))
            .filter(|word| !word.is_empty())
    }

    /// The text in lower case without the code in it, which says nothing of the speaker's certainty.
    pub(super) fn prose(&self) -> String {
        let parts = self.lower.split('`').step_by(2);
        parts.collect::<Vec<_>>().join(" ")
    }

    /// Whether the sentence is mostly in Chinese.
    pub(super) fn is_chinese(&self) -> bool {
        self.chinese * 3 >= self.text.chars().count()
    }

    /// Whether the sentence starts with a verb and lacks its subject: "Reads the table at every start".
    pub(super) fn starts_with_a_verb(&self) -> bool {
        let mut words = self.words();
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let object =
            ["all", "the", "a", "an", "to", "it", "each", "every", "both", "its", "into", "only", "from", "any", "no"];
        first.len() > 3
            && first.ends_with('s')
            && !first.ends_with("ss")
            && object.contains(&second)
            && !self.text.starts_with('`')
    }

    /// Whether the sentence has one of `words` as a word of its own, or as Chinese characters.
    pub(super) fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| has_word(&self.lower, word))
    }

    /// Whether the sentence asks, announces a list, or breaks off.
    pub(super) fn is_open(&self) -> bool {
        let end = self.text.trim_end_matches(['"', '”', '」', '*', '_', '`', ' ', ')', '）']);
        end.ends_with(['?', '？', '吗', '呢', ':', '：', '…', ',', '，', ';', '；']) || end.ends_with("...")
    }

    /// Whether the sentence stands alone.
    pub(super) fn stands_alone(&self) -> bool {
        if !is_balanced(self.text) || self.points() {
            return false;
        }
        if self.is_chinese() {
            let starts = REFERRING_CHINESE.iter().any(|word| self.lower.starts_with(word));
            let near: String = self.lower.chars().take(8).collect();
            let refers = ["这", "那个", "它", "该", "此", "他", "她"].iter().any(|word| near.contains(word));
            return !starts && !refers;
        }
        let words: Vec<&str> = self.words().collect();
        let Some(first) = words.first() else { return false };
        let early = if words.len() < 8 { words.len() } else { 5 };
        let stem = |word: &str| word.split('\'').next().unwrap_or_default().to_owned();
        !REFERRING.contains(first)
            && !REFERRING.contains(&stem(first).as_str())
            && !words.iter().take(early).any(|word| REFERRING_EARLY.contains(&stem(word).as_str()))
            && !self.ends_a_clause_with_a_pronoun()
            && !self.speaks_of_nobody_named()
    }

    /// "I would do this, but …": what "this" is was said elsewhere.
    fn ends_a_clause_with_a_pronoun(&self) -> bool {
        let ends = |word: &str| word.ends_with([',', '.', '!', ';', ':', ')']);
        let pronoun = |word: &str| {
            let word = word.trim_matches(|char: char| !char.is_alphanumeric());
            matches!(word, "this" | "these" | "those" | "that" | "here" | "both")
        };
        self.lower.split_whitespace().any(|word| ends(word) && pronoun(word))
    }

    /// "Our bond with him was special": the sentence names no person whom the pronoun could mean.
    fn speaks_of_nobody_named(&self) -> bool {
        let is_pronoun =
            |word: &str| matches!(word, "he" | "she" | "him" | "her" | "his" | "them" | "they" | "they're");
        let mut owned = false;
        self.words().any(|word| {
            owned |=
                matches!(word, "my" | "our" | "your" | "a" | "an" | "the") || word.ends_with('s') && word.len() > 3;
            !owned && is_pronoun(word) || matches!(word, "him" | "he" | "she") && !self.lower.contains("my ")
        })
    }

    /// Whether the sentence points at a place of the conversation: "as mentioned", "option 2".
    fn points(&self) -> bool {
        POINTING.occur_in(&self.lower)
            && POINTING.iter().any(|part| {
                self.lower.match_indices(part).any(|(at, _)| {
                    let starts = !self.lower[..at].ends_with(char::is_alphanumeric);
                    let behind = &self.lower[at + part.len()..];
                    // "option 2", "direction A", and not "option that"
                    let numbered = behind.split(|char: char| !char.is_alphanumeric()).next().is_some_and(|next| {
                        next.len() <= 2
                            && next != "is"
                            && next != "of"
                            && next != "in"
                            && next != "to"
                            && !next.is_empty()
                    });
                    starts && (!part.ends_with(' ') || numbered)
                })
            })
    }
}

/// Whether brackets and quotations that begin also end.
fn is_balanced(text: &str) -> bool {
    let count = |char: char| text.matches(char).count();
    count('`').is_multiple_of(2)
        && count('"').is_multiple_of(2)
        && count('(') == count(')')
        && count('[') == count(']')
        && count('（') == count('）')
        && count('“') == count('”')
        && count('《') == count('》')
        && text.matches("**").count().is_multiple_of(2)
}
