//! Finds the statements of a person that are worth remembering.

use epitome_strategy::speech::demands as demanded;
use epitome_strategy::{Cue, Lexicon};

use super::alone::Sentence;
use super::binding::{binds_an_identifier, is_identifier};
use super::facts::{tells_of_a_person, without_leads};
use super::model::names_something;
use super::sentences::sentences;
use super::weight::{clear_start, weight};
use super::words::Words;
use super::{LONGEST_SENTENCE, Worth};
use crate::memory::MemoryKind;

/// Statements of less worth are not remembered.
const LEAST_WORTH: f64 = 1.5;

/// The words that may stand in front of a cue in a demand: "and please always run the tests".
static LEADS: Words = Words::of_section("person.leads");

/// Who stands directly in front of a Chinese cue where somebody tells of something, and demands nothing.
static TELLING_CHINESE: Words = Words::of_section("person.telling-chinese");

/// Words that open no demand although they look like it.
static IDIOMS: Words = Words::of_section("person.idioms");

/// Verbs of people and teams; with other subjects the sentence is only a report.
const DOING: &[&str] = &["decided", "agreed to", "agreed on", "settled on", "opted for", "决定", "约定", "选定"];

/// What makes an instruction a standing one.
static STANDING: Words = Words::of_section("person.standing");

/// Words for a limited time: a demand or a decision with one holds for the task at hand.
const MOMENTARY: &[&str] = &[
    "for now",
    "right now",
    "this time",
    "at the moment",
    "first",
    "just now",
    "yet",
    "今天",
    "现在",
    "这次",
    "先",
    "刚才",
    "暂时",
    "please help",
    "go ahead",
    "continue",
];

/// Days that only somebody knows who knows when it was said.
static RELATIVE_DAYS: Words = Words::of_section("person.relative-days");

/// Those of them that are in the future.
const DAYS_TO_COME: &[&str] = &[
    "tonight",
    "tomorrow",
    "next",
    "this week",
    "this weekend",
    "this month",
    "soon",
    "明天",
    "下周",
    "下个月",
    "明年",
    "后天",
    "周末",
];

/// What people say of what they like, at the start of a sentence or behind a comma.
static LIKING: Words = Words::of_section("person.liking");
static LIKING_CHINESE: Words = Words::of_section("person.liking-chinese");

/// What is liked for the moment, or of the answer before.
static LIKED_IN_THE_TALK: Words = Words::of_section("person.liked-in-the-talk");

/// Modal verbs of what a thing has to be.
const MODALS: &[&str] =
    &["should", "must", "needs to", "need to", "has to", "have to", "cannot", "can't", "shouldn't", "mustn't"];

/// What stands behind a modal verb where something is presumed and not demanded.
static PRESUMED: Words = Words::of_section("person.presumed");

/// What a sentence starts with that demands of nobody's product or work.
static NO_SUBJECTS: Words = Words::of_section("person.no-subjects");

/// The statements of a person's text that are worth remembering, each with its worth; `time` is the time of the
/// message.
///
/// Among `people` who talk to each other, apparent demands are advice.
pub(super) fn statements(text: &str, time: Option<i64>, people: bool, lexicon: &Lexicon) -> Vec<(String, Worth)> {
    let judged = |sentence: &Sentence<'_>, lexicon: &Lexicon| {
        judged(sentence, lexicon).filter(|(kind, worth)| {
            !people
                || *kind != MemoryKind::Instruction
                    && (*kind != MemoryKind::Fact || tells_of_a_person(sentence))
                    && *worth > 0.0
        })
    };
    let mut said = Vec::new();
    let mut joined = Vec::new();
    // "My budget is $740. Never go over it.": what refers to the sentence before it is remembered with that.
    for range in demanded(lexicon, text).into_iter().map(|demand| demand.range) {
        let together = &text[range.clone()];
        let parts = sentences(together);
        if let [first, .., last] = &parts[..]
            && !together.contains('\n')
            && together.chars().count() <= LONGEST_SENTENCE
            && let (first, last, whole) = (Sentence::new(first), Sentence::new(last), Sentence::new(together))
            && first.stands_alone()
            && !first.is_open()
            && !whole.is_open()
            && let Some(worth) = judged(&last, lexicon)
            && let Some(text) = dated_text(&whole, worth.0, time)
        {
            said.push((text, worth));
            joined.push(range);
        }
    }
    for part in sentences(text) {
        let at = part.as_ptr().addr() - text.as_ptr().addr();
        let sentence = Sentence::new(part);
        let points = sentence.has_any(&["these", "those", "been one"]);
        if joined.iter().any(|range| range.contains(&at)) || points || !sentence.stands_alone() {
            continue;
        }
        if let Some(worth) = judged(&sentence, lexicon)
            && worth.1 >= LEAST_WORTH
            && let Some(text) = dated_text(&sentence, worth.0, time)
        {
            said.push((text, worth));
        }
    }
    said
}

/// The text to remember: with the day on which it was said, where it names one that only the listener knew. `None` where
/// that day is not known, or where it makes of a demand one for the moment.
fn dated_text(sentence: &Sentence<'_>, kind: MemoryKind, time: Option<i64>) -> Option<String> {
    let text = sentence.text.replace("**", "");
    if !RELATIVE_DAYS.stand_in(&sentence.lower) {
        return Some(text);
    }
    if !matches!(kind, MemoryKind::Fact | MemoryKind::Preference | MemoryKind::Decision) {
        return (kind == MemoryKind::Identifier).then_some(text);
    }
    let Some(time) = time else {
        // The past may be remembered without its day; the future may be over when it is read.
        return (!sentence.has_any(DAYS_TO_COME)).then_some(text);
    };
    let day = day(time);
    Some(if sentence.is_chinese() { format!("{text}（{day}）") } else { format!("{text} (said on {day})") })
}

/// The day of a time in milliseconds since 1970-01-01 UTC, as in 2026-11-22. (Days to dates as in H. Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms", 2013.)
fn day(time: i64) -> String {
    let days = time.div_euclid(86_400_000) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153; // from March on
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The kind and worth of a sentence; `None` where it holds nothing to remember. Linear in the sentence.
pub(super) fn judged(sentence: &Sentence<'_>, lexicon: &Lexicon) -> Option<Worth> {
    if sentence.is_open() {
        return None;
    }
    let (text, lower) = (sentence.text, sentence.lower.as_str());
    let mut best: Option<Worth> = None;
    let mut offer = |kind, worth: f64| {
        if best.is_none_or(|(_, known)| worth > known) {
            best = Some((kind, worth));
        }
    };
    let is_standing = STANDING.occur_in(lower);
    let momentary = !is_standing && sentence.has_any(MOMENTARY);
    for found in lexicon.find(text) {
        // As long as in the sentence: cue words are of Latin letters and Chinese.
        let word = text[found.range.clone()].to_ascii_lowercase();
        let Some(full) = weight(found.cue, &word) else { continue };
        // A cue may be longer than its clear part: the words in front of that part are judged.
        let start = found.range.start + clear_start(found.cue, &word);
        let from_here = text[start..].to_lowercase().replace('’', "'");
        if IDIOMS.iter().any(|idiom| from_here.starts_with(idiom)) {
            continue;
        }
        let before = &text[..start];
        match found.cue {
            Cue::Remember if demands(before) => offer(MemoryKind::Fact, 4.5 * full),
            Cue::Preference if !is_liking(&word) && !momentary => offer(MemoryKind::Preference, 3.8 * full),
            Cue::Instruction if demands(before) && !momentary => offer(MemoryKind::Instruction, 2.6 * full),
            Cue::Decision if !momentary => {
                let full = if is_decided(before, &word) { full } else { 0.3 };
                offer(MemoryKind::Decision, 2.8 * full);
            }
            _ => {}
        }
    }
    if states_preference(sentence) {
        offer(MemoryKind::Preference, 2.4);
    }
    if tells_of_a_person(sentence) {
        offer(MemoryKind::Fact, 2.3);
    }
    if binds_an_identifier(text, true) {
        offer(MemoryKind::Identifier, 3.0);
    }
    if requires(sentence) && !momentary {
        offer(MemoryKind::Instruction, 2.2);
    }
    let (kind, mut worth) = best?;
    // Statements with names and dates are worth more than feelings.
    if matches!(kind, MemoryKind::Fact | MemoryKind::Preference) && names_something(sentence) {
        worth += 0.3;
    }
    let can_stand = matches!(kind, MemoryKind::Instruction | MemoryKind::Fact | MemoryKind::Preference);
    if can_stand && is_standing {
        worth += 1.5;
    }
    if kind != MemoryKind::Preference && text.split_whitespace().any(is_identifier) {
        worth += 0.5;
    }
    Some((kind, worth))
}

fn is_liking(word: &str) -> bool {
    matches!(word, "i like" | "我喜欢")
}

/// Whether a person states a preference, which is more than a word of praise.
fn states_preference(sentence: &Sentence<'_>) -> bool {
    let lower = without_leads(&sentence.lower);
    if LIKED_IN_THE_TALK.iter().any(|part| lower.contains(part)) {
        return false;
    }
    if sentence.is_chinese() {
        let starts = |start: &&str| lower.starts_with(*start) || lower.contains(&format!("，{start}"));
        let found = LIKING_CHINESE.iter().any(starts);
        return found && sentence.chinese >= 6 && (!lower.contains("我对") || lower.contains("感兴趣"));
    }
    let starts = LIKING.iter().any(|start| lower.starts_with(start) || lower.contains(&format!(", {start}")));
    starts && sentence.words().count() >= 4
}

/// Whether a sentence states a requirement on a thing that it names: "Session details should not show empty rows."
fn requires(sentence: &Sentence<'_>) -> bool {
    let words: Vec<&str> = sentence.words().collect();
    let Some(first) = words.first().filter(|first| !NO_SUBJECTS.contains(first)) else { return false };
    let modal = MODALS.iter().filter_map(|modal| {
        let at = sentence.lower.find(&format!(" {modal} "))?;
        Some((at, sentence.lower[at + modal.len() + 2..].trim_start()))
    });
    let Some((at, behind)) = modal.min_by_key(|(at, _)| *at) else { return false };
    let subject = sentence.lower[..at].split_whitespace().count();
    (2..=8).contains(&subject)
        && !first.ends_with("ing")
        && words.len() >= 6
        && !sentence.lower[..at].contains([',', '?'])
        && !["i", "you", "we", "it", "they"]
            .iter()
            .any(|pronoun| sentence.lower[..at].split(' ').any(|it| it == *pronoun))
        && !PRESUMED.iter().any(|start| behind.starts_with(start))
}

/// Whether the words in front of a cue allow a demand: none, or the beginnings of demands. A quoted sign or saying
/// demands nothing.
fn demands(before: &str) -> bool {
    let before = before.trim_end().to_lowercase();
    if TELLING_CHINESE.iter().any(|word| before.ends_with(word)) || before.ends_with(['"', '“', '「', '\'', '‘']) {
        return false;
    }
    // "I'll dim the lights, and make sure that it is warm" continues a report.
    let tells = |start: &str| before.starts_with(start);
    if before.ends_with(" and") && ["i ", "i'", "we'", "he ", "she ", "they "].iter().any(|start| tells(start)) {
        return false;
    }
    // The text in front of a comma or a colon is another clause.
    let clause = before.rsplit([',', ';', ':', '，', '；', '：']).next().unwrap_or_default();
    let mut words = clause.split_whitespace().map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()));
    let leads = words.clone().all(|word| word.is_empty() || !word.is_ascii() || LEADS.contains(&word));
    leads && !matches!(words.next_back(), Some("you" | "we" | "to" | "so"))
}

/// Whether a cue of a decision reports one that the speaker has taken.
fn is_decided(before: &str, word: &str) -> bool {
    let before = before.trim_end().to_lowercase();
    let open = ["haven't", "hasn't", "not", "how", "what", "if", "yet", "没", "没有", "的", "出", "to be", "can"];
    if open.iter().any(|word| before.ends_with(word)) {
        return false;
    }
    match word {
        "root cause" | "turns out" | "it turns out" | "in conclusion" => false,
        _ => !DOING.contains(&word) || is_ours(&before),
    }
}

/// Whether the speakers are the subject of the cue, or it has no subject.
pub(super) fn is_ours(before: &str) -> bool {
    let before = before.to_lowercase();
    let mut words = before.split(|char: char| !char.is_alphanumeric() && char != '\'').filter(|word| !word.is_empty());
    let ours = ["i", "we", "i've", "we've", "i'd", "we'd", "team", "user", "was", "been"];
    let chinese = ["我", "咱", "团队", "大家", "用户"];
    before.trim().is_empty() || words.any(|word| ours.contains(&word)) || chinese.iter().any(|who| before.contains(who))
}
