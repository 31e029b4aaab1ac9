//! Finds the model's statements that are worth remembering: its findings, not its actions and offers.

use epitome_strategy::{Cue, Cues, Lexicon};

use super::Worth;
use super::alone::Sentence;
use super::binding::{binds_an_identifier, is_identifier};
use super::person::is_ours;
use super::sentences::sentences;
use super::words::{Words, has_word};
use crate::memory::MemoryKind;

/// The largest worth of a model's plain fact; statements of people come first.
pub(super) const PLAIN: f64 = 1.9;

/// How a model starts what it does, offers, or says to somebody.
static IDLE: Words = Words::of_section("model.idle");

/// What is guessed, planned or only so for the moment.
static UNSURE: Words = Words::of_section("model.unsure");

/// What tells of the work and not of what it is about: what was just changed, passed, or is left to do.
static OF_THE_WORK: Words = Words::of_section("model.of-the-work");

/// What a proposal or a heading starts with: a verb that tells to do something.
static PROPOSING: Words = Words::of_section("model.proposing");

/// What a sentence starts with that says what was done to something.
static DONE: Words = Words::of_section("model.done");

/// What says that something caused something.
static CAUSES: Words = Words::of_section("model.causes");

/// What names a failure beside the lexicon's words.
static FAILURES: Words = Words::of_section("model.failures");

/// The verbs of a fact.
static STATES: Words = Words::of_section("model.states");

/// The same in Chinese.
static STATES_CHINESE: Words = Words::of_section("model.states-chinese");

/// The beginnings of sentences that continue the one before.
const JOINING: &[&str] = &[
    "and",
    "but",
    "plus",
    "conversely",
    "assistant",
    "goal",
    "example",
    "so",
    "which",
    "where",
    "at",
    "quick",
    "key",
    "why",
    "notable",
    "notes",
];

/// Whether the sentence is an item under a heading that names its subject: "Force mode: prints only names". A label
/// of code, or the name of a failure, is enough of a subject.
fn is_labelled(sentence: &Sentence<'_>) -> bool {
    let marks = [" — ", " – ", " - ", ": ", "：", ": "];
    let split = marks.iter().filter_map(|mark| sentence.text.split_once(mark)).min_by_key(|(label, _)| label.len());
    split.is_some_and(|(label, rest)| {
        // "`main.rs` — parses the arguments" says what the file does.
        let says = rest.split_whitespace().take(2).any(|word| STATES.contains(&word.to_lowercase().as_str()))
            || rest.split_whitespace().next().is_some_and(|word| DONE.contains(&word.to_lowercase().as_str()))
            || sentence.is_chinese();
        let of_a_failure = ["cause", "bug", "reason", "issue", "problem", "原因", "根因"];
        let lower = label.to_lowercase();
        label.split_whitespace().count() <= 4
            && label.chars().count() <= 40
            && !(says && (label.contains('`') || label.contains("](")))
            && !of_a_failure.iter().any(|word| lower.contains(word))
    })
}

/// Sentences in which a model reports an action for a person: "The refund has been processed."
const OUTCOMES: &[&str] = &[
    "booked",
    "cancelled",
    "canceled",
    "refunded",
    "processed",
    "downgraded",
    "upgraded",
    "charged",
    "completed",
    "rebooked",
];

/// Whether the sentence reports an action for a person.
fn tells_an_outcome(sentence: &Sentence<'_>) -> bool {
    let done = ["has been", "have been"].iter().any(|words| has_word(&sentence.lower, words));
    done && sentence.has_any(OUTCOMES) && !sentence.text.contains('`')
}

/// Whether the sentence describes a current activity: "The worker is looking at the log".
fn goes_on(sentence: &Sentence<'_>) -> bool {
    let words: Vec<&str> = sentence.words().collect();
    words.windows(2).any(|two| {
        matches!(two[0], "is" | "are") && two[1].len() > 5 && two[1].ends_with("ing") && !matches!(two[1], "missing")
    })
}

/// Phrases that certainly name a cause.
const NAMING_A_CAUSE: &[&str] = &["root cause", "根本原因", "根因"];

/// What belongs to something that the sentence does not name.
static ATTRIBUTES: Words = Words::of_section("model.attributes");

/// What a sentence has in it that may be more than a plain fact: a cause, a decision, an outcome, a name for good.
static KEEN: Words = Words::of_section("model.keen");

/// The statements of a model's message that are worth remembering; of a message that is not `is_recent` only those that
/// are more than plain facts. `concludes` says that it calls no tool: statements on the way are guesses.
pub(super) fn statements(text: &str, concludes: bool, is_recent: bool, lexicon: &Lexicon) -> Vec<(String, Worth)> {
    let judged = |part: &str| {
        let plain = part.replace("**", "");
        let worth = judged(&Sentence::new(&plain), concludes, lexicon)?;
        Some((plain, worth))
    };
    // On the way only what names a cause counts: most of what a model says need not be looked at.
    let lower = if concludes { String::new() } else { text.to_lowercase() };
    if !concludes && !NAMING_A_CAUSE.iter().any(|cause| lower.contains(cause)) {
        return Vec::new();
    }
    // Of plain facts the newest are kept: of older messages only what may be more is looked at.
    let is_worth_a_look = |part: &&str| is_recent || KEEN.occur_in(&part.to_lowercase());
    sentences(text).into_iter().filter(is_worth_a_look).filter_map(judged).collect()
}

/// The kind and worth of a sentence; `None` where it holds nothing to remember.
fn judged(sentence: &Sentence<'_>, concludes: bool, lexicon: &Lexicon) -> Option<Worth> {
    let lower = sentence.lower.as_str();
    let names_cause = sentence.has_any(NAMING_A_CAUSE);
    if !(concludes || names_cause)
        || sentence.is_open()
        || !sentence.stands_alone()
        || (!sentence.text.starts_with("推荐您")
            && IDLE.iter().any(|start| lower.starts_with(start))
            && !decides(sentence, lexicon))
    {
        return None;
    }
    let words = sentence.words().count();
    if if sentence.is_chinese() { sentence.chinese < 10 } else { words < 7 } {
        return None;
    }
    if decides(sentence, lexicon) {
        return Some((MemoryKind::Decision, 2.0));
    }
    let first = sentence.words().next().unwrap_or_default();
    // A sentence that starts in lower case is a part of one; code starts as it likes.
    let starts_small = sentence.text.starts_with(|char: char| char.is_ascii_lowercase())
        && first.chars().all(|char| char.is_ascii_alphabetic());
    if sentence.text.starts_with("推荐您") {
        return (sentence.chinese >= 7).then_some((MemoryKind::Fact, 1.6));
    }
    let prose = sentence.prose();

    let joins = JOINING.contains(&first)
        || prose.contains(", it ")
        || prose.contains(['?', '？', '→'])
        || sentence.text.contains("->")
        || is_labelled(sentence);
    let tells_to = PROPOSING.contains(&first) || (STATES.contains(&first) && first.len() > 2);
    let is_a_part = sentence.starts_with_a_verb();
    let praises = sentence.text.ends_with(['!', '！']) || sentence.text.contains(" # ");
    if joins
        || is_a_part
        || praises
        || goes_on(sentence)
        || UNSURE.stand_in(&prose)
        || OF_THE_WORK.stand_in(&prose)
        || tells_to
        || starts_small
    {
        return None;
    }
    // An attribute without what it is of: "the phone is 010-62165588".
    let behind_a_word =
        lower.split_once('，').filter(|(word, _)| word.chars().count() <= 4).map_or("", |(_, rest)| rest);
    if ATTRIBUTES.iter().any(|start| lower.starts_with(start) || behind_a_word.starts_with(start)) {
        return None;
    }
    let is_named = names_something(sentence);
    if names_cause && is_named {
        return Some((MemoryKind::Failure, 2.6));
    }
    if tells_an_outcome(sentence) {
        return Some((MemoryKind::Fact, PLAIN));
    }
    if is_failure(sentence, lexicon) && is_named {
        return Some((MemoryKind::Failure, 2.2));
    }
    if binds_an_identifier(sentence.text, false) {
        return Some((MemoryKind::Identifier, 2.1));
    }
    let is_done = DONE.contains(&first) && sentence.text.contains('`') && words >= 8;
    let states = is_done
        || if sentence.is_chinese() {
            STATES_CHINESE.iter().any(|verb| lower.contains(verb))
        } else {
            sentence.words().skip(1).take(9).any(|word| STATES.contains(&word))
        };
    (states && is_named && !first.ends_with("ing")).then(|| (MemoryKind::Fact, plain_worth(sentence)))
}

/// The worth of a plain fact: more with more exact strings in it.
fn plain_worth(sentence: &Sentence<'_>) -> f64 {
    let exact = sentence.text.matches('`').count() / 2
        + sentence.text.split_whitespace().filter(|word| is_identifier(word)).count();
    (1.5 + 0.1 * exact as f64).min(PLAIN)
}

/// Whether the model reports a decision that the speakers took.
fn decides(sentence: &Sentence<'_>, lexicon: &Lexicon) -> bool {
    const TAKEN: &[&str] = &[
        "decided",
        "we agreed",
        "agreed to",
        "agreed on",
        "settled on",
        "opted for",
        "we chose",
        "i chose",
        "决定",
        "一致同意",
        "约定",
        "选定",
    ];
    let found = lexicon.search(Cues::new([Cue::Decision])).find(sentence.text);
    let taken = |range: std::ops::Range<usize>| {
        let word = sentence.text[range.clone()].to_lowercase();
        let before = sentence.text[..range.start].trim_end().to_lowercase();
        let open = ["not", "how", "what", "if", "yet", "没", "没有", "的", "出", "you", "to be"];
        TAKEN.contains(&word.as_str()) && is_ours(&before) && !open.iter().any(|word| before.ends_with(word))
    };
    sentence.words().count() >= if sentence.is_chinese() { 1 } else { 6 }
        && found.into_iter().any(|found| taken(found.range))
}

/// Whether the sentence says what went wrong and why.
fn is_failure(sentence: &Sentence<'_>, lexicon: &Lexicon) -> bool {
    let wrong = || lexicon.has(sentence.text, Cues::new([Cue::Error])) || FAILURES.stand_in(&sentence.lower);
    CAUSES.stand_in(&sentence.lower) && wrong()
}

/// Whether the sentence names something that can be looked up: code, an identifier, a number, or a capitalised name.
pub(super) fn names_something(sentence: &Sentence<'_>) -> bool {
    let text = sentence.text;
    if text.contains(['`', '《', '“']) || text.split_whitespace().any(is_identifier) {
        return true;
    }
    if sentence.is_chinese() {
        return text.chars().filter(char::is_ascii_alphanumeric).count() >= 2;
    }
    let mut words = text.split_whitespace();
    words.next();
    let is_name = |word: &str| {
        let mut chars = word.trim_start_matches(|char: char| !char.is_alphanumeric()).chars();
        chars.next().is_some_and(char::is_uppercase) && chars.next().is_some_and(char::is_lowercase)
    };
    words.any(is_name)
}
