//! The sentences of a person that hold beyond the task at hand: rules, preferences, decisions, facts.

use epitome_strategy::speech::{binding, refers_back, sentences};
use epitome_strategy::text::{clip, is_cjk};
use epitome_strategy::{Cue, Cues, Lexicon};

use super::LONGEST_MEMORY;
use super::identifier::named_string;
use crate::memory::MemoryKind;

/// The lowest probability that a sentence binds what comes later ([`binding`]) at which a rule, a preference or a fact in
/// it counts: below it most sentences tell of something.
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

/// Marks at the end of a question, and of a sentence that goes on.
const OPEN: [char; 9] = ['?', '？', '吗', '呢', ':', '：', '…', ',', '，'];

/// Who says so: the first word of a sentence in the first person.
const SPEAKERS: &[&str] = &["i", "i'm", "i've", "my", "we", "we've", "our", "team"];

/// Returns the statements of a typed text that hold beyond the task at hand, each a whole sentence. Linear.
pub(super) fn statements(text: &str, lexicon: &Lexicon) -> Vec<(MemoryKind, String)> {
    let all = sentences(text).into_iter();
    let said = all.filter(|range| !is_quoted(text, range.start)).map(|range| &text[range]);
    said.filter_map(|sentence| {
        let sentence = sentence.replace("**", "");
        let kind = kind(&sentence, lexicon)?;
        let whole = clip(&sentence, LONGEST_MEMORY).filter(|text| !text.ends_with('…'))?;
        Some((kind, whole))
    })
    .collect()
}

/// Whether the line at a byte is a quotation or the row of a table.
fn is_quoted(text: &str, at: usize) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |feed| feed + 1);
    text[start..].trim_start().starts_with(['>', '|'])
}

/// Returns the kind of a statement; `None` where the sentence says nothing that lasts, or not by itself.
fn kind(sentence: &str, lexicon: &Lexicon) -> Option<MemoryKind> {
    let lower = sentence.to_lowercase().replace('’', "'");
    let is_long_enough = sentence.split_whitespace().count() >= SHORTEST
        || !sentence.is_ascii() && sentence.chars().count() >= SHORTEST_CHINESE;
    if !is_long_enough || sentence.ends_with(OPEN) {
        return None;
    }
    if named_string(sentence).is_some() && !is_guess(&lower) {
        return Some(MemoryKind::Identifier);
    }
    let asked = ASKING.iter().find_map(|asking| Some(lower.split_once(asking)?.1.trim_start()));
    let said = asked.and_then(|said| said.strip_prefix("that ")).unwrap_or(&lower);
    if refers_back(said) {
        return None;
    }
    let own = |cue| lexicon.added().is_some_and(|own| own.has(sentence, Cues::new([cue])));
    let is_momentary = MOMENTARY.iter().any(|word| has_word(&lower, word)) && !lower.contains("from now on");
    if is_momentary || is_guess(&lower) {
        return None;
    }
    let binds = binding(sentence) >= BINDS;
    let words = |cue| {
        let found = lexicon.search(Cues::new([cue])).find(&lower);
        found.into_iter().map(|found| (found.range.start, lower.get(found.range).unwrap_or_default().to_owned()))
    };
    let before = |at: usize| lower.get(..at).unwrap_or_default().trim_end();
    let speaks_first = |at: usize| {
        let words = before(at);
        let last = words.split_whitespace().next_back().unwrap_or_default();
        words.is_empty() || SPEAKERS.contains(&last) || ["我", "我们", "团队"].iter().any(|who| words.ends_with(who))
    };
    let is_one_of = |word: &str, list: &[&str]| list.iter().any(|part| word.contains(part));
    if own(Cue::Instruction) || binds && words(Cue::Instruction).any(|(at, word)| is_standing(before(at), &word)) {
        return Some(MemoryKind::Instruction);
    }
    if words(Cue::Decision).any(|(at, word)| is_one_of(&word, TAKEN) && speaks_first(at)) {
        return Some(MemoryKind::Decision);
    }
    if own(Cue::Preference)
        || words(Cue::Preference).any(|(at, word)| {
            let is_plain = word.contains("prefer") || word.contains("偏好") || word.contains("喜欢");
            (is_plain || binds) && !is_one_of(&word, WISHING) && is_lead(before(at))
        })
    {
        return Some(MemoryKind::Preference);
    }
    let is_theirs = |at: usize, word: &str| {
        let opens = is_lead(before(at)) || SPEAKERS.contains(&before(at));
        opens
            && (SPEAKERS.contains(&lower.split_whitespace().next().unwrap_or_default())
                || word.chars().count() >= 3 && word.starts_with('我'))
    };
    let is_fact = own(Cue::Remember)
        || binds && states_what_is_theirs(&lower)
        || words(Cue::Remember).any(|(at, word)| {
            let asks = is_one_of(&word, ASKING) && is_lead(before(at)) && asked.is_some_and(is_clause);
            binds && is_theirs(at, &word) || asks
        });
    is_fact.then_some(MemoryKind::Fact)
}

/// Whether a cue of an instruction, with these words before it, demands something that holds beyond the task at hand.
fn is_standing(before: &str, cue: &str) -> bool {
    let last = before.split_whitespace().next_back().unwrap_or_default();
    let demands = is_lead(before) || matches!(last, "must" | "should" | "shall" | "we" | "please" | "to");
    let tells =
        before.starts_with(['i', 'I']) && SPEAKERS.contains(&before.split_whitespace().next().unwrap_or_default());
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

/// Whether a sentence says that it may be wrong.
fn is_guess(lower: &str) -> bool {
    ["i think", "i guess", "i believe", "maybe", "perhaps", "probably", "might", "也许", "可能"]
        .iter()
        .any(|word| has_word(lower, word))
}

/// Whether a text has a word or phrase of its own, or these Chinese characters.
fn has_word(lower: &str, word: &str) -> bool {
    let is_letter = |char: char| char.is_ascii_alphanumeric();
    lower.match_indices(word).any(|(at, _)| {
        !word.is_ascii() || !lower[..at].ends_with(is_letter) && !lower[at + word.len()..].starts_with(is_letter)
    })
}
