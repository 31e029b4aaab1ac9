//! Facts that people state about themselves and what they have.

use super::alone::Sentence;
use super::words::Words;

/// What a sentence starts with that tells who somebody is, what they have, do and like, in the first person.
static OF_A_PERSON: Words = Words::of_section("facts.of-a-person");

/// The same for words at any place of a sentence.
const ANYWHERE: &[&str] = &[
    "my name is",
    "i'm allergic",
    "i am allergic",
    "i live in",
    "i live on",
    "i live at",
    "i work as",
    "i work for",
    "i'm vegetarian",
    "i'm vegan",
    "my birthday is",
    "i was born",
    "i've been meaning to ",
];

static OF_A_PERSON_CHINESE: Words = Words::of_section("facts.of-a-person-chinese");

/// Words in front of things and people about which lasting facts may be stated: "my sister lives in Oslo".
const THEIRS: &[&str] = &["my ", "our "];

/// What belongs to the talk and its tasks, and not to the person.
static OF_THE_TALK: Words = Words::of_section("facts.of-the-talk");

/// What binds a fact to what is theirs.
static BINDING: Words = Words::of_section("facts.binding");

/// What a sentence in the first person tells of this talk or this moment, whatever it starts with.
static OF_THE_MOMENT: Words = Words::of_section("facts.of-the-moment");

/// Whether a person states a lasting fact about themselves, in words that say it. Linear.
pub(super) fn tells_of_a_person(sentence: &Sentence<'_>) -> bool {
    if OF_THE_MOMENT.stand_in(&sentence.lower) {
        return false;
    }
    let lower = without_leads(&sentence.lower);
    if sentence.is_chinese() {
        return sentence.chinese >= 6
            && OF_A_PERSON_CHINESE.iter().any(|start| {
                lower.starts_with(start)
                    || (*start == "过敏" && lower.contains(start))
                    || (start.chars().count() >= 3 && lower.contains(&format!("，{start}")))
            });
    }
    let starts = |start: &&&str| lower.starts_with(**start);
    if OF_A_PERSON.iter().any(|start| starts(&start)) || ANYWHERE.iter().any(|part| lower.contains(part)) {
        return sentence.words().count() >= if lower.contains("name") || lower.starts_with("i'm a") { 4 } else { 5 };
    }
    let words: Vec<&str> = lower.split_whitespace().map(|word| word.trim_matches([',', '.', '!', ':'])).collect();
    THEIRS.iter().any(|start| lower.starts_with(start))
        && words.get(1).is_some_and(|word| !OF_THE_TALK.contains(word))
        && words.len() >= 4
        && words.iter().skip(2).take(4).any(|word| BINDING.contains(word) || word.ends_with("'s"))
}

/// What may stand in front of what somebody tells.
static LEADS: Words = Words::of_section("facts.leads");

/// A sentence in lower case without what only leads to it.
pub(super) fn without_leads(lower: &str) -> &str {
    let mut rest = lower;
    while let Some(behind) = LEADS.iter().find_map(|lead| rest.strip_prefix(lead)) {
        rest = behind;
    }
    rest
}
