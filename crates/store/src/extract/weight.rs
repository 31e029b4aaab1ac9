//! The weight of a cue word on its own.

use epitome_strategy::{Cue, Lexicon};

/// Cue words that say too little on their own.
const WEAK: &[&str] = &[
    "only",
    "instead of",
    "must",
    "ensure that",
    "avoid",
    "therefore",
    "choosing",
    "chose",
    "chosen",
    "i'll use",
    "i will use",
    "going with",
    "go with",
    "let's use",
    "let's go with",
    "conclusion",
    "instead we",
    "decision",
    "i want",
    "note that",
    "please note",
    "the plan is",
    "the approach is",
    "只能",
    "一定",
    "始终",
    "避免",
    "因此",
    "选择",
    "采用",
    "改用",
    "原因是",
    "结论",
    "决策",
    "我想要",
    "我希望",
    "注意",
    "备注",
    "最好是",
    "不要",
    "确保",
];

/// Words that ask to remember, demand or prefer and can mean nothing else; longer words around them say as much.
const CLEAR: &[(Cue, &[&str])] = &[
    (
        Cue::Remember,
        &["remember", "keep in mind", "don't forget", "do not forget", "for the record", "记住", "请记得", "别忘"],
    ),
    (
        Cue::Instruction,
        &[
            "must not",
            "never",
            "always",
            "do not",
            "don't",
            "make sure",
            "be sure to",
            "under no circumstances",
            "必须",
            "不得",
            "务必",
            "禁止",
            "切勿",
            "请用",
            "不准",
        ],
    ),
    (
        Cue::Preference,
        &[
            "i prefer",
            "i'd prefer",
            "i would prefer",
            "i'd rather",
            "we prefer",
            "my preference",
            "please use",
            "我更喜欢",
            "偏好",
            "倾向于",
        ],
    ),
];

/// The words among them that only like; liking an activity is not a preference.
const LIKING: &[&str] = &["i like", "我喜欢"];

/// The weight of a weak word.
const WEAK_WEIGHT: f64 = 0.3;

/// The words of a cue that have one meaning only; none for cues that are judged in another way.
fn clear(cue: Cue) -> Option<&'static [&'static str]> {
    CLEAR.iter().find(|(of, _)| *of == cue).map(|(_, words)| *words)
}

/// The weight of a cue word in a memory, up to 1; `word` in lower case. The words that ship mark text to keep in a
/// context: many of them hold for the task at hand ("if", "each", "at most"), and those are `None` here. A word of the
/// configuration has the full weight. Linear in the words of the cue that ship.
pub(super) fn weight(cue: Cue, word: &str) -> Option<f64> {
    let Some(clear) = clear(cue) else { return Some(if WEAK.contains(&word) { WEAK_WEIGHT } else { 1.0 }) };
    if clear.iter().any(|clear| word.contains(clear)) || LIKING.contains(&word) {
        Some(1.0)
    } else if WEAK.iter().any(|weak| word.contains(weak)) {
        Some(WEAK_WEIGHT)
    } else if Lexicon::standard().words(cue).any(|shipped| shipped == word) {
        None
    } else {
        Some(1.0)
    }
}

/// Where in a cue word that which is clear begins, in bytes: `never` in `should never`; 0 where nothing is.
pub(super) fn clear_start(cue: Cue, word: &str) -> usize {
    clear(cue).unwrap_or_default().iter().filter_map(|clear| word.find(clear)).min().unwrap_or(0)
}
