//! What a sentence is worth, and as what.

use epitome_strategy::{Cue, Lexicon};

use super::binding::{binds_an_identifier, is_identifier};
use super::weight::{clear_start, weight};
use crate::memory::MemoryKind;

/// Who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Person,
    Model,
}

/// The words that may stand in front of a cue in a demand: "and please always run the tests".
const LEADS: &[&str] = &[
    "please",
    "and",
    "but",
    "also",
    "so",
    "then",
    "you",
    "should",
    "must",
    "need",
    "needs",
    "to",
    "ok",
    "okay",
    "yes",
    "no",
    "just",
    "again",
    "now",
    "however",
    "remember",
    "important",
    "note",
    "always",
    "never",
    "btw",
    "kindly",
    "we",
];

/// Who stands directly in front of a Chinese cue where somebody tells of something, and demands nothing.
const TELLING_CHINESE: &[&str] = &[
    "我", "他", "她", "它", "们", "也", "就", "都", "才", "还", "是", "会", "你", "您", "很", "以", "没", "可", "，我",
];

/// Words that open no demand although they look like it.
const IDIOMS: &[&str] = &[
    "don't worry",
    "don't feel",
    "don't get me wrong",
    "don't know",
    "don't think",
    "don't hesitate",
    "don't have",
    "don't be",
    "don't mind",
    "do not worry",
    "never mind",
    "never saw",
    "never thought",
    "never knew",
    "never had",
    "never been",
    "never felt",
    "never seen",
    "never heard",
    "never underestimate",
    "i like the idea",
    "i like how",
    "i like that",
    "i like your",
    "i like it",
    "i like this",
    "不要客气",
    "不要担心",
    "必须的",
    "always good",
    "always up",
    "always been",
    "always here",
    "always admired",
    "always nice",
    "always happy",
    "always a ",
    "always great",
    "always fun",
    "always wanted",
    "always loved",
    "我喜欢的",
    "turns out to be",
];

/// What people and teams do, where others doing it is only a story.
const DOING: &[&str] = &["decided", "agreed to", "agreed on", "settled on", "opted for", "决定", "约定", "选定"];

/// What makes an instruction a standing one.
const STANDING: &[&str] = &[
    "from now on",
    "in future",
    "in the future",
    "every time",
    "whenever",
    "each time",
    "going forward",
    "by default",
    "always",
    "never",
    "under no circumstances",
    "以后",
    "每次",
    "从现在",
    "今后",
    "永远",
    "切勿",
    "默认",
];

/// What people say of themselves that stays true.
const ABOUT_THEMSELVES: &[&str] = &[
    "my name is",
    "call me ",
    "i live in",
    "i work as",
    "i work at",
    "i work for",
    "i'm allergic",
    "i am allergic",
    "my birthday is",
    "my email is",
    "i was born",
    "i'm vegetarian",
    "i'm vegan",
    "i don't eat",
    "i usually use",
    "我叫",
    "我的名字",
    "我住在",
    "我的生日是",
    "过敏",
    "我是一名",
    "我是一个",
];

/// How a model starts what is not worth keeping.
const IDLE: &[&str] = &[
    "let me",
    "i'll",
    "i will",
    "now ",
    "next",
    "first",
    "great",
    "sure",
    "okay",
    "ok",
    "thanks",
    "thank",
    "sorry",
    "wait",
    "hmm",
    "if ",
    "would you",
    "feel free",
    "congrat",
    "wow",
    "that's",
    "glad",
    "actually",
    "so ",
    "but ",
    "maybe",
    "让我",
    "现在",
    "接下来",
    "首先",
    "如果",
    "希望",
    "谢谢",
    "好的",
    "当然",
];

/// What a sentence is and what it is worth; `None` where it holds nothing to remember. Linear in the sentence.
pub(super) fn judged(sentence: &str, speaker: Speaker, lexicon: &Lexicon) -> Option<(MemoryKind, f64)> {
    if sentence.trim_end_matches(['"', '”', '」', '*']).ends_with(['?', '？', '吗', ':', '：']) {
        return None;
    }
    let lower = sentence.to_lowercase();
    let person = speaker == Speaker::Person;
    let idle = !person && IDLE.iter().any(|start| lower.starts_with(start));
    let mut best: Option<(MemoryKind, f64)> = None;
    let mut offer = |kind, worth: f64| {
        if best.is_none_or(|(_, known)| worth > known) {
            best = Some((kind, worth));
        }
    };
    for found in lexicon.find(sentence) {
        // As long as in the sentence: cue words are of Latin letters and Chinese.
        let word = sentence[found.range.clone()].to_ascii_lowercase();
        let Some(full) = weight(found.cue, &word) else { continue };
        // A cue may be longer than what is clear in it: what stands in front of that is judged.
        let start = found.range.start + clear_start(found.cue, &word);
        let from_here = sentence[start..].to_lowercase();
        if IDIOMS.iter().any(|idiom| from_here.starts_with(idiom)) {
            continue;
        }
        let before = &sentence[..start];
        match found.cue {
            Cue::Remember if person && demands(before) => offer(MemoryKind::Fact, 4.5 * full),
            Cue::Preference if person => offer(MemoryKind::Preference, if is_liking(&word) { 1.6 } else { 3.8 * full }),
            Cue::Instruction if person && demands(before) => offer(MemoryKind::Instruction, 2.6 * full),
            Cue::Decision if !idle => {
                let full = if is_decided(sentence, before, &word, speaker) { full } else { 0.3 };
                offer(MemoryKind::Decision, if person { 2.8 } else { 2.2 } * full);
            }
            _ => {}
        }
    }
    if person && ABOUT_THEMSELVES.iter().any(|start| lower.contains(start)) {
        offer(MemoryKind::Fact, 2.8);
    }
    if !idle && binds_an_identifier(sentence, person) {
        offer(MemoryKind::Identifier, if person { 3.0 } else { 1.4 });
    }
    let (kind, mut worth) = best?;
    let can_stand = matches!(kind, MemoryKind::Instruction | MemoryKind::Fact | MemoryKind::Preference);
    if person && can_stand && STANDING.iter().any(|words| lower.contains(words)) {
        worth += 1.5;
    }
    if kind != MemoryKind::Preference && sentence.split_whitespace().any(is_identifier) {
        worth += 0.5;
    }
    Some((kind, worth))
}

fn is_liking(word: &str) -> bool {
    matches!(word, "i like" | "我喜欢")
}

/// Whether what stands in front of a cue lets it be a demand: nothing, or what demands start with. A sign or a saying that
/// is quoted demands nothing.
fn demands(before: &str) -> bool {
    let before = before.trim_end().to_lowercase();
    if TELLING_CHINESE.iter().any(|word| before.ends_with(word)) || before.ends_with(['"', '“', '「', '\'', '‘']) {
        return false;
    }
    // "I'll dim the lights, and make sure that it is warm" goes on telling.
    let tells = |start: &str| before.starts_with(start);
    if before.ends_with(" and") && ["i ", "i'", "we'", "he ", "she ", "they "].iter().any(|start| tells(start)) {
        return false;
    }
    // What stands in front of a comma or a colon is another clause.
    let clause = before.rsplit([',', ';', ':', '，', '；', '：']).next().unwrap_or_default();
    let mut words = clause.split_whitespace().map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()));
    let leads = words.clone().all(|word| word.is_empty() || !word.is_ascii() || LEADS.contains(&word));
    leads && !matches!(words.next_back(), Some("you" | "we" | "to" | "so"))
}

/// Whether a cue of a decision tells of one: of one's own, taken, and in the words of who found it out.
fn is_decided(sentence: &str, before: &str, word: &str, speaker: Speaker) -> bool {
    let before = before.trim_end().to_lowercase();
    let open = ["haven't", "hasn't", "not", "how", "what", "if", "yet", "没", "没有", "的", "出"];
    if open.iter().any(|word| before.ends_with(word)) {
        return false;
    }
    match word {
        "root cause" => speaker == Speaker::Model && sentence.split_whitespace().count() >= 8,
        "turns out" | "it turns out" | "in conclusion" => speaker == Speaker::Model,
        _ => !DOING.contains(&word) || is_ours(&before),
    }
}

/// Whether those who speak do what the cue says, or it is said of nobody.
fn is_ours(before: &str) -> bool {
    let before = before.to_lowercase();
    let mut words = before.split(|char: char| !char.is_alphanumeric() && char != '\'').filter(|word| !word.is_empty());
    let ours = ["i", "we", "i've", "we've", "i'd", "we'd", "team", "user", "was", "been"];
    let chinese = ["我", "咱", "团队", "大家", "用户"];
    before.trim().is_empty() || words.any(|word| ours.contains(&word)) || chinese.iter().any(|who| before.contains(who))
}
