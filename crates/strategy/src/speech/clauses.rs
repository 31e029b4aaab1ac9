//! What a clause around a cue does: demands, tells or asks.

use std::ops::Range;

/// Cues that tell as often as they demand: they count where the clause does not tell.
const WEAK: &[&str] = &[
    "only",
    "never",
    "always",
    "do not",
    "don't",
    "avoid",
    "instead of",
    "rather than",
    "at least",
    "at most",
    "no longer",
    "must",
    "may",
    "may not",
    "has to be",
    "have to be",
    "needs to be",
    "need to be",
    "can only",
    "you can only",
    "whenever",
    "throughout",
    "any time",
    "anytime",
    "until the",
    "as long as",
    "as soon as",
    "strictly",
    "solely",
    "exclusively",
    "every time",
    "each time",
    "i need to be",
    "in the future",
    "note that",
    "maximum of",
    "or less",
    "follow the",
    "stick with",
    "ends with",
    "ends in",
    "ending in",
    "without asking",
    "in every",
    "on every",
    "with every",
    "required to",
    "not allowed",
    "should",
    "has to",
    "have to",
    "needs",
    "alone",
    "let me see",
    "let me check",
    "forbidden",
    "anything",
    "anyone",
    "everything",
    "everyone",
    "nobody",
    "no one",
    "nothing",
    "none of",
    "for all",
    "for every",
    "for each",
    "for any",
    "in all",
    "be sure",
    "starting",
    "apply to all",
    "must come from",
    "before doing",
    "before making",
    "before running",
    "before any",
    "before you",
    "every",
    "each",
    "everywhere",
    "nowhere",
    "policy",
    "policies",
    "regardless of",
    "for good",
    "to spend",
];

/// What obliges whatever it is said of, but for what is only presumed.
const OBLIGING: &[&str] =
    &["must", "should", "has to", "have to", "needs", "has to be", "have to be", "needs to be", "need to be"];
const PRESUMING: &[&str] = &[
    "have been",
    "be a bug",
    "be fine",
    "be ok",
    "be enough",
    "be good",
    "have worked",
    "be possible",
    "work",
    "be easy",
    "i ",
    "we ",
];

/// What something is said about all of: it demands where there is a word that obliges or allows.
const OF_ALL: &[&str] = &[
    "anything",
    "anyone",
    "everything",
    "everyone",
    "nobody",
    "no one",
    "nothing",
    "none of",
    "for all",
    "for every",
    "for each",
    "for any",
    "in all",
    "starting",
];

/// Cues with which a condition starts: they demand where the clause behind the condition does.
const CONDITIONS: &[&str] =
    &["before", "after", "once", "when", "if", "while", "as soon as", "whenever", "each time", "every time"];

/// Cues that ask for one thing now, and for no more.
const REQUESTS: &[&str] = &[
    "i want to",
    "i'd like to",
    "i would like to",
    "i'd like",
    "i would like",
    "i want",
    "we want",
    "i'd love",
    "i love",
    "i like",
];

/// What a clause that tells starts with, but for the first person.
const TELLING: &[&str] = &[
    "it", "it's", "its", "he", "she", "they", "they're", "there", "there's", "this", "that", "that's", "these",
    "those", "the", "a", "an", "which", "who", "what", "whats", "what's", "why", "how", "where", "because", "since",
    "is", "are", "was", "were", "does", "did", "has", "had", "seems", "looks", "i've", "i'm", "maybe", "perhaps",
    "probably", "hmm", "some",
];

/// What may stand in front of a clause without changing what it is.
const CONJUNCTIONS: &[&str] = &[
    "and", "but", "so", "or", "then", "also", "please", "ok", "okay", "yes", "yeah", "no", "well", "now", "just",
    "first", "again", "oh", "thanks", "great", "good", "nice",
];

/// What follows "I don't" where somebody tells of themselves and demands nothing.
const STATES: &[&str] = &[
    "know",
    "think",
    "understand",
    "see",
    "get",
    "remember",
    "recall",
    "believe",
    "mind",
    "care",
    "feel",
    "even",
    "really",
    "find",
    "sure",
    "quite",
    "necessarily",
    "have",
];

/// What follows "no" where it answers or waves off.
const NOT_FORBIDDEN: &[&str] = &[
    "idea", "problem", "problems", "worries", "need", "that", "that's", "thats", "i", "i'm", "it", "it's", "you", "we",
    "thanks", "thank", "way", "luck", "such", "wait", "one", "matter", "doubt", "no", "wonder", "not", "the", "this",
    "just", "don't", "please", "let's", "its", "there", "what", "but", "longer",
];

/// What a Chinese sentence asks with.
const ASKING_CHINESE: &[&str] = &["吗", "呢", "么", "为什么", "怎么", "是不是", "有没有", "能不能", "会不会", "要不要"];

/// Whether the cue at `at` demands something in its sentence.
pub(super) fn demands_here(lower: &str, at: Range<usize>, asks: bool) -> bool {
    let (cue, before, after) = (&lower[at.clone()], &lower[..at.start], &lower[at.end..]);
    if !cue.is_ascii() {
        let is_denied = before.ends_with('不') && matches!(cue, "一定" | "必须");
        return !asks && !is_denied;
    }
    // A request in the form of a question holds a standing demand only where it says so.
    if asks && (WEAK.contains(&cue) || CONDITIONS.contains(&cue) || REQUESTS.contains(&cue)) {
        return false;
    }
    let next = after
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .trim_matches(|char: char| !char.is_alphanumeric() && char != '\'');
    if cue == "no" {
        return !after.starts_with([',', '.', '!', ';', ':', '?'])
            && !next.is_empty()
            && !NOT_FORBIDDEN.contains(&next);
    }
    if CONDITIONS.contains(&cue) && before.trim().is_empty() {
        return after.split_once([',', '，', ':']).is_some_and(|(_, clause)| !tells(clause) && !tells_of_us(clause));
    }
    if REQUESTS.contains(&cue) {
        return !matches!(cue, "i want to" | "i'd like to" | "i would like to") || next == "be";
    }
    if !WEAK.contains(&cue) {
        return true;
    }
    // "if it fails, never retry": the clause of the cue is what counts.
    let clause = before.rsplit([',', ';', ':', '(', '—']).next().unwrap_or_default();
    if OBLIGING.contains(&cue) {
        return !PRESUMING.iter().any(|words| after.trim_start().starts_with(words))
            && !first_word(clause).starts_with("if");
    }
    if matches!(cue, "every" | "each") && matches!(first_word(clause), "i" | "we" | "you" | "") {
        return false; // "I looked at each of them"
    }
    if OF_ALL.contains(&cue) {
        return OBLIGING.iter().chain(&["may", "can", "could", "gets", "not", ","]).any(|word| after.contains(word));
    }
    let first = first_word(clause);
    match first {
        "i" | "we" | "you" if matches!(cue, "don't" | "do not") => !STATES.contains(&next),
        "i" | "we" => {
            !matches!(cue, "instead of" | "rather than" | "at least" | "at most" | "no longer")
                || before.contains("need")
        }
        _ => !tells(clause),
    }
}

/// The first word of a clause behind conjunctions.
fn first_word(clause: &str) -> &str {
    let words = clause.split(|char: char| !(char.is_alphanumeric() || char == '\''));
    words.filter(|word| !word.is_empty()).find(|word| !CONJUNCTIONS.contains(word)).unwrap_or_default()
}

fn tells(clause: &str) -> bool {
    TELLING.contains(&first_word(clause))
}

fn tells_of_us(clause: &str) -> bool {
    let first = first_word(clause);
    matches!(first, "i" | "we" | "i'll" | "we'll" | "i'd") || first.is_empty()
}

/// Whether a sentence asks, in English or Chinese.
pub(super) fn is_question(words: &str) -> bool {
    let words = words.trim_end_matches(['"', '”', '」', ')', ' ']);
    words.ends_with(['?', '？'])
        || ASKING_CHINESE[..3].iter().any(|mark| words.ends_with(mark))
        || ASKING_CHINESE[3..].iter().any(|mark| words.contains(mark))
}

/// What a sentence asks with where it goes without a mark.
const ASKING: &[&str] = &[
    "who", "whose", "what", "what's", "whats", "when", "where", "which", "how", "why", "did", "do", "does", "is",
    "are", "was", "were", "can", "could", "would", "will", "should", "tell", "remind", "recall", "show", "list",
    "explain",
];

/// Whether something is asked in a text: one of its sentences ends with a question mark, or starts with a word that asks,
/// in English or Chinese. Linear.
pub fn asks(text: &str) -> bool {
    super::sentences(text).into_iter().map(|range| &text[range]).any(|sentence| {
        let first = sentence.split(|char: char| !(char.is_alphanumeric() || char == '\'')).next().unwrap_or_default();
        is_question(sentence) || ASKING.iter().any(|word| first.eq_ignore_ascii_case(word))
    })
}

/// Whether a question asks somebody to do something: "can you make sure that …?"
pub(super) fn is_request(words: &str) -> bool {
    let lower = words.get(..words.floor_char_boundary(24)).unwrap_or_default().to_lowercase();
    ["can you", "could you", "would you", "will you", "please"].iter().any(|start| lower.contains(start))
}
