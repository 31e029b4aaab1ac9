//! Sentences of people and of the model, and their values.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use epitome_strategy::text::{ends_sentence, floor_boundary, is_cjk};

use super::lines::{columns, exact_words};

/// Starts of sentences in which a model says what it is about to do, or nothing.
const BOILERPLATE: &[&str] = &[
    "let me",
    "let's",
    "i'll",
    "i will",
    "i'm going to",
    "i am going to",
    "i need to",
    "i should",
    "i can see",
    "i see",
    "now let",
    "now i",
    "now,",
    "next,",
    "next i",
    "first, let",
    "first, i",
    "great",
    "perfect",
    "excellent",
    "good",
    "ok",
    "okay",
    "sure",
    "alright",
    "done",
    "looking at",
    "here's",
    "here is",
    "here are",
    "got it",
    "thanks",
    "thank you",
    "you're right",
    "if i",
    "then i",
    "but i",
    "i want to",
    "i have to",
    "i could",
    "maybe",
    "hmm",
    "wait",
    "actually, let",
    "all right",
    "understood",
    "feel free",
    "is there anything",
    "if you have",
    "would you like",
    "happy to",
    "glad to",
    "i hope",
    "of course",
    "certainly",
    "no problem",
    "you're welcome",
    "sorry",
    "让我",
    "现在我",
    "接下来",
    "好的",
    "我来",
    "我将",
    "我会",
    "我先",
    "首先",
    "当然",
    "没问题",
    "不客气",
    "如果你",
    "如果您",
    "希望",
    "谢谢",
    "很高兴",
];

/// Words of sentences that state a finding, a decision, an outcome.
const FINDING: &[&str] = &[
    "because",
    "root cause",
    "the cause",
    "the problem",
    "the issue",
    "the bug",
    "turns out",
    "found",
    "fixed",
    "works",
    "pass",
    "decide",
    "decision",
    "instead",
    "means",
    "conclu",
    "therefore",
    "confirmed",
    "verified",
    "cannot",
    "requires",
    "should",
    "implemented",
    "added",
    "removed",
    "renamed",
    "changed",
    "created",
    "updated",
    "replaced",
    "fails",
    "failed",
    "missing",
    "expects",
    "depends",
    "default",
    "recommend",
    "agreed",
    "summary",
    "total",
    "result",
    "原因",
    "问题",
    "发现",
    "决定",
    "因此",
    "所以",
    "结论",
    "修复",
    "确认",
    "改为",
    "已经",
    "完成",
    "必须",
    "需要",
    "应该",
    "建议",
    "导致",
    "实现",
    "新增",
    "删除",
    "失败",
    "成功",
    "结果",
    "默认",
];

/// Words of sentences that hold for the rest of the conversation.
const STANDING: &[&str] = &[
    "must",
    "never",
    "always",
    "do not",
    "don't",
    "only",
    "make sure",
    "ensure",
    "avoid",
    "必须",
    "不要",
    "务必",
    "禁止",
    "一定",
    "只能",
    "切勿",
    "不得",
    "始终",
    "永远",
];

/// The sentences of a text, in order: fenced code and quoted injections left out, marks of lists and headings taken off.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let (mut in_code, mut injected) = (false, None::<&str>);
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if let Some(tag) = injected {
            if line.contains(tag) {
                injected = None;
            }
            continue;
        }
        injected = INJECTED
            .iter()
            .find(|(open, close)| line.starts_with(open) && !line.contains(close))
            .map(|(_, close)| *close);
        let is_tag = INJECTED.iter().any(|(open, _)| line.starts_with(open));
        // A tag on its own line only frames what follows.
        let is_frame = line.starts_with('<') && line.ends_with('>') && !line.contains(' ');
        if in_code || is_tag || is_frame || line.starts_with('|') || line.starts_with('>') {
            continue;
        }
        split(without_marks(line), &mut sentences);
    }
    sentences
}

/// Blocks that runtimes put into typed messages.
const INJECTED: &[(&str, &str)] = &[
    ("<system-reminder>", "</system-reminder>"),
    ("<environment_context>", "</environment_context>"),
    ("<local-command", "</local-command"),
    ("<command-", "</command-"),
    ("<task-notification>", "</task-notification>"),
];

/// A line without the marks of Markdown's headings and lists.
fn without_marks(line: &str) -> &str {
    // `# Title` is a heading, `#5442` is a number.
    let line = match line.trim_start_matches('#') {
        title if title.starts_with(' ') => title.trim_start(),
        _ => line,
    };
    let line = ["- ", "* ", "• ", "[ ] ", "[x] ", "✅ ", "THOUGHT: ", "Thought: "]
        .iter()
        .fold(line, |line, mark| line.strip_prefix(mark).unwrap_or(line));
    let number = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=2).contains(&number) && (line[number..].starts_with(". ") || line[number..].starts_with(") ")) {
        return line[number + 2..].trim();
    }
    line
}

fn split<'t>(line: &'t str, sentences: &mut Vec<&'t str>) {
    let mut start = 0;
    for (at, char) in line.char_indices() {
        if char.is_ascii_alphanumeric() || char == ' ' || !ends_sentence(char) {
            continue;
        }
        let end = at + char.len_utf8();
        let next = line[end..].chars().next();
        let is_wide = char > '\u{7f}';
        let is_mark = char == '…' && line[..at].ends_with('[');
        if is_mark || !(is_wide || next.is_none_or(char::is_whitespace)) {
            continue;
        }
        // `e.g. x` and `1. x` are not ends: a sentence has some length, and does not end in a bare number of a list.
        let word = line[start..at].rsplit(|char: char| char.is_whitespace() || char == '"').next().unwrap_or("");
        let is_number =
            char == '.' && !word.is_empty() && word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
        if (columns(&line[start..end]) >= 12 && !is_number) || is_wide {
            push(&line[start..end], sentences);
            start = end;
        }
    }
    push(&line[start..], sentences);
}

/// Adds a sentence, unless it is empty or holds the mark of an elision: half a sentence says the wrong thing.
fn push<'t>(sentence: &'t str, sentences: &mut Vec<&'t str>) {
    let sentence = sentence.trim();
    if !sentence.is_empty() && !sentence.contains("[… ") {
        sentences.push(sentence);
    }
}

static STANDING_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| any_of(STANDING));
static FINDING_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| any_of(FINDING));

/// An automaton that finds any of a program's own words, in upper or lower case.
fn any_of(words: &[&str]) -> AhoCorasick {
    let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(words);
    automaton.unwrap_or_else(|error| unreachable!("a handful of words: {error}"))
}

/// Whether a sentence holds for the rest of the conversation. Linear.
pub(crate) fn is_standing(sentence: &str) -> bool {
    let is_edge = |char: Option<char>| char.is_none_or(|char| !char.is_alphanumeric() || is_cjk(char));
    STANDING_WORDS.find_overlapping_iter(sentence).any(|found| {
        let is_ascii = STANDING[found.pattern().as_usize()].is_ascii();
        let (before, after) = (&sentence[..found.start()], &sentence[found.end()..]);
        !is_ascii || (is_edge(before.chars().next_back()) && is_edge(after.chars().next()))
    })
}

/// Whether a sentence states a finding, a decision, an outcome. Linear.
pub(crate) fn is_finding(sentence: &str) -> bool {
    FINDING_WORDS.is_match(sentence)
}

/// Whether a model's sentence only announces the next step, or says nothing.
pub(crate) fn is_boilerplate(sentence: &str) -> bool {
    // A heading, or a line that only introduces what follows it.
    if columns(sentence) < 16 || sentence.ends_with([':', '：']) {
        return true;
    }
    let lower = lower_start(sentence);
    let starts = |start: &str| {
        let Some(rest) = lower.strip_prefix(start) else { return false };
        // `good` counts, `goodness` does not; `done` alone counts, `done in a.rs` does not.
        rest.chars().next().is_none_or(|char| !char.is_alphanumeric() || is_cjk(char))
    };
    BOILERPLATE.iter().any(|start| start.as_bytes().first() == lower.as_bytes().first() && starts(start))
}

/// The beginning of a sentence in lower case, from its first letter or digit on: longer than any start that is looked for.
fn lower_start(sentence: &str) -> String {
    const LONGEST: usize = 48;
    let words = sentence.trim_start_matches(|char: char| !char.is_alphanumeric());
    words[..floor_boundary(words, LONGEST.min(words.len()))].to_ascii_lowercase()
}

/// Starts of sentences that people say to be polite, in lower case.
const PHATIC: &[&str] = &[
    "hey",
    "hi",
    "hello",
    "wow",
    "yeah",
    "yes",
    "yep",
    "no worries",
    "thanks",
    "thank you",
    "cool",
    "awesome",
    "great",
    "nice",
    "haha",
    "aww",
    "sounds",
    "that's great",
    "that's awesome",
    "that sounds",
    "glad",
    "good to",
    "congrats",
    "you're welcome",
    "bye",
    "take care",
    "你好",
    "您好",
    "谢谢",
    "不用谢",
    "不客气",
    "没问题",
    "好的",
    "是的",
    "是啊",
    "哇",
    "再见",
    "哈哈",
    "嗯",
    "太好了",
    "真是",
    "看来",
    "听起来",
    "感谢",
];

/// The worth of a sentence of a conversation: facts with names, numbers and some length more than politeness and
/// questions; from -2 to 4.
pub(crate) fn conversational(sentence: &str) -> f32 {
    let lower = lower_start(sentence);
    let is_phatic = PHATIC.iter().any(|start| {
        lower
            .strip_prefix(start)
            .is_some_and(|rest| !start.is_ascii() || !rest.starts_with(|char: char| char.is_alphanumeric()))
    });
    let is_question = sentence.ends_with(['?', '？']);
    let names = sentence
        .split_whitespace()
        .skip(1)
        .filter(|word| word.starts_with(|char: char| char.is_uppercase()) && *word != "I" && !word.starts_with("I'"))
        .count()
        + sentence.matches('《').count()
        + usize::from(sentence.bytes().any(|byte| byte.is_ascii_digit()));
    let length = columns(sentence) as f32 / 40.0;
    (0.5 * names as f32).min(2.0) + length.min(2.0)
        - if is_phatic { 2.0 } else { 0.0 }
        - if is_question { 1.0 } else { 0.0 }
}

/// Whether a sentence is a request to another person, by its beginning: in a conversation, `must` and `only` alone do
/// not make one.
pub(crate) fn is_imperative(sentence: &str) -> bool {
    const STARTS: &[&str] = &[
        "please",
        "always",
        "never",
        "don't",
        "do not",
        "make sure",
        "remember",
        "you must",
        "avoid",
        "only",
        "请",
        "不要",
        "务必",
        "必须",
        "一定要",
        "记住",
        "禁止",
        "别",
    ];
    let starts = |start: &&str| sentence.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    STARTS.iter().any(starts)
}

/// The worth of exact strings and figures in a sentence, at most 3.
pub(crate) fn exactness(sentence: &str) -> f32 {
    (exact_words(sentence).take(4).count() as f32 * 0.75).min(3.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_texts() {
        let check = |text: &str, expect: &[&str]| assert_eq!(sentences(text), expect);
        check("Fix the parser in a.rs v1.2 now. Then run it!", &["Fix the parser in a.rs v1.2 now.", "Then run it!"]);
        check("## Plan\n- do one\n2. do two\n```rust\nlet x;\n```\nend", &["Plan", "do one", "do two", "end"]);
        check("第一句。第二句！", &["第一句。", "第二句！"]);
        check("This is kept. [… 811 tokens elided · recall 41bb] of it. The end.", &["This is kept.", "The end."]);
        check("a\n<system-reminder>\nnoise\n</system-reminder>\nb", &["a", "b"]);
    }

    #[test]
    fn kinds_of_sentences() {
        let check = |sentence: &str, standing: bool, boilerplate: bool| {
            assert_eq!((is_standing(sentence), is_boilerplate(sentence)), (standing, boilerplate), "{sentence}");
        };
        check("Never push to main.", true, false);
        check("The commonly used mustard sauce.", false, false);
        check("提交前必须运行测试，谢谢大家。", true, false);
        check("Let me look at the file first.", false, true);
        check("Goodness of fit is measured by r.", false, false);
        check("好的，我来看一下这个文件。", false, true);
        check("Here is what changed:", false, true);
    }
}
