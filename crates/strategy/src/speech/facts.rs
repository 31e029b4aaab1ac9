//! Facts that people tell of themselves: who they are, what they have and cannot have, what they can spend.

use super::dates::names_a_date;

/// Bytes of a sentence that can be such a fact: longer ones tell a story.
const LONGEST: usize = 200;

/// Whose: with "is" or its like behind it, something is told.
const OWNERS: &[&str] = &["my", "our"];

/// What belongs to the talk and not to the person.
const OF_THE_TALK: &[&str] = &[
    "question",
    "questions",
    "concern",
    "concerns",
    "problem",
    "point",
    "guess",
    "understanding",
    "idea",
    "assumption",
    "impression",
    "bad",
    "mistake",
    "thinking",
    "thought",
    "thoughts",
    "suspicion",
    "hope",
    "fault",
    "code",
    "build",
    "test",
    "tests",
    "screen",
    "error",
    "feeling",
];

/// What binds a fact to its owner.
const BINDING: &[&str] = &[
    "is", "are", "was", "has", "have", "ends", "starts", "leaves", "arrives", "can't", "cannot", "won't", "doesn't",
    "don't", "needs", "likes", "hates", "loves", "lives", "works", "name's", "called", "expires", "closes", "opens",
    "prefers",
];

/// What somebody says of themselves with a verb of their own.
const HABITS: &[&str] = &[
    "live", "work", "own", "use", "wear", "drive", "speak", "study", "teach", "sleep", "suffer", "weigh", "grew",
    "moved", "can't", "cannot", "prefer", "rent", "commute", "smoke", "follow", "keep", "eat", "drink", "get", "take",
];

/// What follows "I can't" where something is wrong with the program and not with the person.
const WITH_A_PROGRAM: &[&str] = &[
    "see",
    "find",
    "open",
    "tell",
    "figure",
    "remember",
    "reproduce",
    "get",
    "access",
    "log",
    "connect",
    "recall",
    "think",
    "believe",
    "seem",
    "understand",
    "make",
    "build",
    "run",
    "really",
    "even",
    "use",
];

/// What follows "I'm" where it tells of the talk.
const OF_THE_MOMENT: &[&str] = &[
    "not",
    "sure",
    "afraid",
    "sorry",
    "happy",
    "glad",
    "done",
    "ready",
    "good",
    "fine",
    "confused",
    "curious",
    "aware",
    "still",
    "just",
    "also",
    "so",
    "back",
    "ok",
    "okay",
    "unsure",
    "guessing",
    "lost",
    "stuck",
    "in",
    "getting",
    "now",
    "all",
    "there",
    "here",
    "overwhelmed",
    "wrong",
    "right",
    "missing",
    "trying",
    "interested",
    "open",
    "able",
    "only",
    "really",
];

/// Whether a sentence in lower case tells a fact about the person, or a date that is to be kept. Linear.
pub(super) fn tells_a_fact(lower: &str) -> bool {
    if lower.len() > LONGEST {
        return false;
    }
    let plain = lower.replace('’', "'");
    let words: Vec<&str> = plain
        .split(|char: char| !(char.is_alphanumeric() || matches!(char, '\'' | '-')))
        .filter(|word| !word.is_empty())
        .collect();
    let words = match words.first() {
        Some(&("and" | "but" | "also" | "oh" | "well" | "yes" | "so" | "btw" | "hi" | "hello" | "sure" | "sorry")) => {
            &words[1..]
        }
        _ => &words[..],
    };
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let of_a_person = match word(0) {
        owner if OWNERS.contains(&owner) => {
            !OF_THE_TALK.contains(&word(1))
                && words.iter().skip(2).take(5).any(|word| BINDING.contains(word) || word.ends_with("'s"))
        }
        "i'm" | "we're" => is_standing(word(1)),
        "i" | "we" if matches!(word(1), "am" | "are") => is_standing(word(2)),
        "i" | "we" if matches!(word(1), "can't" | "cannot") => !WITH_A_PROGRAM.contains(&word(2)),
        "i" | "we" => {
            HABITS.contains(&word(1)) || word(1) == "have" && matches!(word(2), "a" | "an" | "no" | "two" | "three")
        }
        _ => false,
    };
    of_a_person || names_an_amount(lower) || names_an_ending(words) || names_a_date(lower)
}

fn is_standing(word: &str) -> bool {
    !word.is_empty() && !OF_THE_MOMENT.contains(&word) && (!word.ends_with("ing") || word == "being")
}

/// "$212", "350 euros": what somebody can spend, or what something may cost.
fn names_an_amount(lower: &str) -> bool {
    let follows = |at: usize, sign: char| {
        lower[at + sign.len_utf8()..].trim_start().starts_with(|char: char| char.is_ascii_digit())
    };
    let by_sign = lower.char_indices().any(|(at, char)| matches!(char, '$' | '€' | '£' | '¥') && follows(at, char));
    by_sign || {
        let words = lower.split(|char: char| !(char.is_alphanumeric() || matches!(char, '.' | ',')));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let is_number = |word: &str| word.starts_with(|char: char| char.is_ascii_digit());
        let is_unit = |word: &str| {
            ["dollars", "bucks", "euros", "euro", "usd", "eur", "pounds", "francs"]
                .contains(&word.trim_matches(['.', ',']))
        };
        words.windows(2).any(|two| is_number(two[0]) && is_unit(two[1]) || is_unit(two[0]) && is_number(two[1]))
    }
}

/// "the one ending 7719".
fn names_an_ending(words: &[&str]) -> bool {
    let is_number = |word: &str| word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_digit());
    words.windows(3).any(|three| {
        matches!(three[0], "ending" | "ends")
            && (is_number(three[1]) || matches!(three[1], "in" | "with") && is_number(three[2]))
    }) || matches!(words, [.., "ending" | "ends", last] if is_number(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_that_are_told() {
        let check = |text: &str, expect: bool| assert_eq!(tells_a_fact(text), expect, "{text}");
        check("our team lead is marta.", true);
        check("my dog's name is biscuit", true);
        check("i'm colour-blind.", true);
        check("we are a party of five", true);
        check("i have exactly $212 left", true);
        check("about 350 euros, please.", true);
        check("i live on the third floor", true);
        check("use the visa ending 7719", true);
        check("my question is whether it works", false);
        check("i'm getting an error", false);
        check("i can't see the button", false);
        check("i have seen it", false);
        check("my tests are red", false);
        check("", false);
    }
}
