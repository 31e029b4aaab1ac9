//! Demands that the user took back later, as far as that is certain.

use std::collections::HashSet;

use epitome_strategy::speech::sentences;

use super::evidence::words;
use super::exact::revokes;

/// Words that end the thing named behind them.
const OF_WHAT_FOLLOWS: &[&str] = &[
    "instead of ",
    "rather than ",
    "forget about ",
    "forget ",
    "ignore ",
    "drop ",
    "scrap ",
    "不用",
    "别用",
    "不要再用",
];
/// Words that end the thing named in the sentence.
const OF_ANYTHING: &[&str] = &[
    "no longer",
    "not any more",
    "don't have to",
    "do not have to",
    "don't need to",
    "do not need to",
    "need not",
    "不再",
    "不必",
    "不需要",
];
/// Words that allow something forbidden.
const ALLOWING: &[&str] = &[
    "you may ",
    "you can now ",
    "you're allowed to ",
    "you are allowed to ",
    "feel free to ",
    "it is fine to ",
    "it's fine to ",
    "it is ok to ",
    "it's ok to ",
    "go ahead and ",
    "可以",
    "允许",
];
/// Words that forbid.
const FORBIDDING: &[&str] = &[
    "never", "do not", "don't", "must not", "mustn't", "may not", "cannot", "can't", "不要", "不得", "不能", "禁止",
    "别",
];
/// Words that bind and say nothing of what.
const BINDING: &[&str] = &[
    "never", "always", "must", "not", "don", "dont", "please", "should", "shall", "need", "have", "the", "and", "you",
    "now", "from", "this", "that", "any", "all", "for", "with", "only", "just", "will", "can", "may", "are", "any",
    "more", "again",
];

/// The same in Chinese.
const CHINESE_BINDING: &[&str] =
    &["禁止", "不要", "不得", "不能", "必须", "总是", "可以", "允许", "不再", "不必", "不需要", "现在", "请", "别"];

/// Whether later text takes a demand back: a string of it ([`revokes`]), the same thing in words, or what it forbids is
/// allowed. Linear in the later text.
pub(super) fn is_taken_back(demand: &str, strings: &[&str], later: &[&str]) -> bool {
    // A demand with several strings may be taken back in a part only.
    match strings {
        [] => {}
        [string] if later.iter().any(|text| revokes(text, string)) => return true,
        [_] => {}
        _ => return false,
    }
    let demanded = content(demand);
    let is_ban = FORBIDDING.iter().any(|word| demand.to_lowercase().contains(word));
    !demanded.is_empty()
        && later.iter().any(|text| {
            sentences(text)
                .into_iter()
                .any(|range| ends(&text[range].to_lowercase().replace('’', "'"), &demanded, is_ban))
        })
}

/// Whether a sentence in small letters ends a demand of these words.
fn ends(sentence: &str, demanded: &HashSet<String>, is_ban: bool) -> bool {
    let is_negated =
        ["don't forget", "do not forget", "never forget", "别忘"].iter().any(|words| sentence.contains(words));
    let holds_all = |words: &HashSet<String>| demanded.is_subset(words);
    if is_ban {
        // A permission is not a duty; a thing that was forbidden again is not allowed.
        let is_allowed = ALLOWING.iter().any(|words| sentence.contains(words));
        return is_allowed && !FORBIDDING.iter().any(|word| sentence.contains(word)) && holds_all(&content(sentence));
    }
    if OF_ANYTHING.iter().any(|words| sentence.contains(words)) {
        return holds_all(&content(sentence));
    }
    let Some((at, words)) = OF_WHAT_FOLLOWS.iter().find_map(|words| Some((sentence.find(words)?, words))) else {
        return false;
    };
    let (front, behind) = (&sentence[..at], &sentence[at + words.len()..]);
    let (kept, ended) = (content(front), content(behind));
    let is_of_it = !is_negated && !ended.is_empty() && ended.is_subset(demanded);
    match *words {
        // The rest of it says the same of something else.
        "instead of " | "rather than " => is_of_it && kept.intersection(demanded).next().is_some(),
        _ => is_of_it && ended.len() * 2 >= demanded.len(),
    }
}

/// The words of a text that say what it is about.
fn content(text: &str) -> HashSet<String> {
    // Chinese has no gaps between words: without these the signs on both sides of them would count as one.
    let text = CHINESE_BINDING.iter().fold(text.to_owned(), |text, word| text.replace(word, " "));
    let mut found = words(&text);
    found.retain(|word| !BINDING.iter().any(|binding| binding.chars().take(5).eq(word.chars())));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_back() {
        let check = |demand: &str, strings: &[&str], later: &str, expect: bool| {
            assert_eq!(is_taken_back(demand, strings, &[later]), expect, "{demand} {later}");
        };
        let ban = "Never touch the public API.";
        check(ban, &[], "Fine. You may touch the public API now.", true);
        check(ban, &[], "You may touch the API.", false);
        check(ban, &[], "You may not touch the public API, ever.", false);
        check(ban, &[], "The public API is small.", false);
        check(ban, &[], "Can you touch up the public docs?", false);
        let rule = "Always write comments in German.";
        check(rule, &[], "Write the comments in English instead of German.", true);
        check(rule, &[], "Buy bread instead of German beer.", false);
        check(rule, &[], "You don't need to write comments in German any more.", true);
        check(rule, &[], "No longer write comments in French.", false);
        check(rule, &[], "Forget the German comments.", true);
        check(rule, &[], "Don't forget the German comments.", false);
        check(rule, &[], "Forget German for a moment, what is 2 + 2?", false);
        let port = "You must keep port 48213.";
        check(port, &["48213"], "Use port 49090 instead of 48213.", true);
        check(port, &["48213"], "Is it port 48213?", false);
        check("Use port 48213 and ticket LEX-77.", &["48213", "LEX-77"], "Use 49090 instead of 48213.", false);
        check("禁止修改公共接口。", &[], "现在可以修改公共接口。", true);
        check("禁止修改公共接口。", &[], "公共接口很小。", false);
    }
}
