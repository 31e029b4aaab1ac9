//! The sentences of a person that hold beyond the task at hand: rules, preferences, decisions, facts.

use epitome_strategy::secrets::secrets;
use epitome_strategy::speech::{binding, refers_back, sentences};
use epitome_strategy::text::{clip, is_cjk};
use epitome_strategy::transcript;
use epitome_strategy::{Cue, CueMatch, Cues, Lexicon};

use super::LONGEST_MEMORY;
use super::identifier::named_string;
use crate::memory::MemoryKind;

/// The lowest probability that a sentence binds what comes later ([`binding`]) at which a rule, a preference or a fact in
/// it counts: below it most sentences narrate something.
const BINDS: f32 = 0.6;

/// The fewest words of a statement, and of Chinese characters.
const SHORTEST: usize = 4;
const SHORTEST_CHINESE: usize = 6;

/// The most words of a fact that no cue of the lexicon marks.
const LONGEST_FACT: usize = 12;

/// The cues of the lexicon's instructions that hold beyond the task at hand; of the others most do not.
const STANDING: &[&str] = &[
    "never",
    "always",
    "must not",
    "must never",
    "must always",
    "from now on",
    "from here on",
    "going forward",
    "moving forward",
    "in future",
    "in the future",
    "every time",
    "each time",
    "whenever",
    "at all times",
    "henceforth",
    "as a rule",
    "until further notice",
    "始终",
    "禁止",
    "不得",
    "切勿",
    "务必",
    "不准",
];

/// The parts of the lexicon's cues for decisions that say that one was taken; the others conclude or propose.
const TAKEN: &[&str] =
    &["decided", "agreed", "settled", "chose", "opted", "will use", "'ll use", "决定", "约定", "选定", "改用"];

/// The parts of the lexicon's cues for preferences that wish for something once.
const WISHING: &[&str] =
    &["want", "would like", "'d like", "'d love", "appreciate", "i like", "i love", "想", "希望", "要求"];

/// What asks to remember what follows, among the lexicon's cues for what is to be remembered.
const ASKING: &[&str] =
    &["remember", "keep in mind", "don't forget", "do not forget", "for the record", "记住", "请记得"];

/// Words that bind a sentence to the moment.
const MOMENTARY: &[&str] =
    &["now", "today", "currently", "this time", "at the moment", "yet", "again", "今天", "现在", "这次", "刚才"];

/// What says that a sentence may be wrong.
const GUESSING: &[&str] = &["i think", "i guess", "i believe", "maybe", "perhaps", "probably", "might", "也许", "可能"];

/// Names of what must not be known elsewhere.
const SECRETS: &[&str] =
    &["password", "passphrase", "secret", "token", "api key", "access key", "private key", "密码", "密钥", "令牌"];

/// Marks at the end of a question, and of a sentence that goes on.
const OPEN: [char; 9] = ['?', '？', '吗', '呢', ':', '：', '…', ',', '，'];

/// Subjects in the first person.
const SPEAKERS: &[&str] = &["i", "i'm", "i've", "my", "we", "we've", "our", "team", "我", "我们", "团队"];

/// Returns the statements of a typed text that hold beyond the task at hand, each a whole sentence. Linear.
pub(super) fn statements(text: &str, lexicon: &Lexicon) -> Vec<(MemoryKind, String)> {
    let all = sentences(text).into_iter();
    let said = all.filter(|range| !is_quoted(text, range.start)).map(|range| &text[range]);
    said.filter_map(|sentence| {
        let sentence = sentence.replace("**", "");
        let kind = Statement::new(&sentence, lexicon).kind()?;
        let whole = clip(&sentence, LONGEST_MEMORY).filter(|text| !text.ends_with('…'))?;
        Some((kind, whole))
    })
    .collect()
}

/// Whether the line at a byte is a quotation or the row of a table, or stands behind a line that names a speaker, as
/// transcripts have it.
fn is_quoted(text: &str, at: usize) -> bool {
    if text[..at].lines().any(transcript::opens_record) {
        return true;
    }
    let start = text[..at].rfind('\n').map_or(0, |feed| feed + 1);
    text[start..].trim_start().starts_with(['>', '|'])
}

/// A sentence that may state something.
struct Statement<'s> {
    text: &'s str,
    /// The text in lower case.
    lower: String,
    lexicon: &'s Lexicon,
    /// Whether it binds what comes later, by the words in it.
    binds: bool,
}

impl<'s> Statement<'s> {
    fn new(text: &'s str, lexicon: &'s Lexicon) -> Self {
        Self { text, lower: text.to_lowercase().replace('’', "'"), lexicon, binds: binding(text) >= BINDS }
    }

    /// Returns the kind; `None` where the sentence says nothing that lasts, or not by itself.
    fn kind(&self) -> Option<MemoryKind> {
        let is_long_enough = self.text.split_whitespace().count() >= SHORTEST
            || !self.text.is_ascii() && self.text.chars().count() >= SHORTEST_CHINESE;
        if !is_long_enough || self.text.ends_with(OPEN) || self.has_any(GUESSING) {
            return None;
        }
        if self.gives_a_secret() {
            return None;
        }
        if named_string(self.text).is_some() {
            return Some(MemoryKind::Identifier);
        }
        let said = self.asked().and_then(|said| said.strip_prefix("that ")).unwrap_or(&self.lower);
        let is_momentary = self.has_any(MOMENTARY) && !self.lower.contains("from now on");
        if refers_back(said) || is_momentary {
            return None;
        }
        let kinds = [
            (MemoryKind::Instruction, self.is_rule()),
            (MemoryKind::Decision, self.is_decision()),
            (MemoryKind::Preference, self.is_preference()),
            (MemoryKind::Fact, self.is_fact()),
        ];
        kinds.into_iter().find_map(|(kind, holds)| holds.then_some(kind))
    }

    /// Whether the sentence says what a password or a key is: it is for this session, and not for a file of memories.
    fn gives_a_secret(&self) -> bool {
        let binds = [" is ", " are ", "=", ":", "：", "是", "为"].iter().any(|bind| self.lower.contains(bind));
        binds && SECRETS.iter().any(|name| self.lower.contains(name)) || !secrets(self.text).is_empty()
    }

    fn is_rule(&self) -> bool {
        self.has_own(Cue::Instruction)
            || self.binds && self.cues(Cue::Instruction).iter().any(|(before, cue)| is_standing(before, cue))
    }

    fn is_decision(&self) -> bool {
        let is_ours =
            |before: &str| before.is_empty() || SPEAKERS.contains(&last_word(before)) || before.ends_with('我');
        self.cues(Cue::Decision).iter().any(|(before, cue)| is_one_of(cue, TAKEN) && is_ours(before))
    }

    fn is_preference(&self) -> bool {
        let says = |(before, cue): &(&str, &str)| {
            let is_plain = is_one_of(cue, &["prefer", "偏好", "喜欢"]);
            (is_plain || self.binds) && !is_one_of(cue, WISHING) && is_lead(before)
        };
        self.has_own(Cue::Preference) || self.cues(Cue::Preference).iter().any(says)
    }

    fn is_fact(&self) -> bool {
        let first = self.lower.split_whitespace().next().unwrap_or_default();
        let says = |(before, cue): &(&str, &str)| {
            let opens = is_lead(before) || SPEAKERS.contains(before);
            let is_theirs = SPEAKERS.contains(&first) || cue.chars().count() >= 3 && cue.starts_with('我');
            let asks = is_one_of(cue, ASKING) && is_lead(before) && self.asked().is_some_and(is_clause);
            self.binds && opens && is_theirs || asks
        };
        self.has_own(Cue::Remember)
            || self.binds && states_what_is_theirs(&self.lower)
            || self.cues(Cue::Remember).iter().any(says)
    }

    /// Returns the words of a cue in the sentence, each with the text in front of it.
    fn cues(&self, cue: Cue) -> Vec<(&str, &str)> {
        let found = self.lexicon.search(Cues::new([cue])).find(&self.lower);
        let split = |found: CueMatch| Some((self.lower[..found.range.start].trim_end(), self.lower.get(found.range)?));
        found.into_iter().filter_map(split).collect()
    }

    /// Whether the sentence has a word for a cue that the configuration added.
    fn has_own(&self, cue: Cue) -> bool {
        self.lexicon.added().is_some_and(|own| own.has(self.text, Cues::new([cue])))
    }

    /// Returns what the sentence asks to remember.
    fn asked(&self) -> Option<&str> {
        ASKING.iter().find_map(|asking| Some(self.lower.split_once(asking)?.1.trim_start()))
    }

    /// Whether one of these stands in the sentence as a word or phrase of its own, or as Chinese characters.
    fn has_any(&self, words: &[&str]) -> bool {
        let is_letter = |char: char| char.is_ascii_alphanumeric();
        words.iter().any(|word| {
            self.lower.match_indices(word).any(|(at, _)| {
                let (before, behind) = (&self.lower[..at], &self.lower[at + word.len()..]);
                !word.is_ascii() || !before.ends_with(is_letter) && !behind.starts_with(is_letter)
            })
        })
    }
}

fn is_one_of(cue: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| cue.contains(part))
}

fn last_word(text: &str) -> &str {
    text.split_whitespace().next_back().unwrap_or_default()
}

/// Whether a cue of an instruction, with these words before it, demands something that holds beyond the task at hand.
fn is_standing(before: &str, cue: &str) -> bool {
    let demands = is_lead(before) || matches!(last_word(before), "must" | "should" | "shall" | "we" | "please" | "to");
    let tells = matches!(before.split_whitespace().next(), Some("i" | "i'm" | "i've"));
    STANDING.contains(&cue) && (demands || !matches!(cue, "never" | "always") && !tells)
}

/// Whether a short sentence says what something of the speaker's is: "my user on the tracker is ada".
fn states_what_is_theirs(lower: &str) -> bool {
    let words: Vec<&str> = lower.split_whitespace().collect();
    let Some(verb) = words.iter().position(|word| matches!(*word, "is" | "are" | "uses" | "use" | "runs")) else {
        return false;
    };
    let value = words.get(verb + 1).copied().unwrap_or_default();
    let goes_on = ["ing", "ed", "n't"].iter().any(|end| value.ends_with(end)) || value == "not";
    matches!(words[0], "my" | "our") && (2..=5).contains(&verb) && words.len() <= LONGEST_FACT && !goes_on
}

/// Whether what is to be remembered is a statement, and not a thing alone: "remember that …", not "remember the file".
fn is_clause(asked: &str) -> bool {
    asked.starts_with("that ") || asked.starts_with([':', ',', '：', '，']) || asked.starts_with(is_cjk)
}

/// Whether the words in front of a cue only lead to it.
fn is_lead(before: &str) -> bool {
    let clause = before.rsplit([',', ';', ':', '，']).next().unwrap_or_default();
    clause.split_whitespace().all(|word| matches!(word, "and" | "but" | "also" | "please" | "yes" | "no" | "ok" | "so"))
}
