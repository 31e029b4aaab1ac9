//! The conclusion of a model: the sentence with the outcome.

use epitome_strategy::text::is_cjk;

use super::super::alone::Sentence;
use super::super::model::names_something;
use super::super::sentences::sentences;
use super::super::words::Words;

/// Columns of an outcome.
pub(super) const LONGEST: usize = 280;

/// What a conclusion starts with that says nothing of what came out.
static OPENING: Words = Words::of_section("work.opening");

/// The verbs of a fact.
static STATES: Words = Words::of_section("model.states");

/// What offers, asks for something, or tells what cannot be done for somebody.
static OFFERING: Words = Words::of_section("work.offering");

/// Marks in front of an answer on a line of its own.
const ANSWERS: &[&str] = &["final answer:", "answer:", "the final answer is", "答案：", "答案:"];

/// The beginnings of sentences that report an action or answer directly, also that something was not done.
const RESULTS: &[&str] = &[
    "yes, ",
    "no, ",
    "added",
    "fixed",
    "created",
    "updated",
    "implemented",
    "removed",
    "renamed",
    "changed",
    "i've ",
    "i have ",
    "i added",
    "i fixed",
    "i updated",
    "i created",
    "the fix",
    "the root cause",
    "the issue was",
    "committed",
    "the answer",
    "replaced",
    "moved",
    "applied",
    "extracted",
    "converted",
    "switched",
];
const REFUSING: &[&str] = &[
    "unable to",
    "could not",
    "couldn't",
    "not able to",
    "not possible",
    "failed to",
    "is not ",
    "does not",
    "blocked",
];

/// The words of a text that say what it is about, in lower case.
fn telling_words(text: &str) -> Vec<String> {
    let words =
        text.split(|char: char| !(char.is_alphanumeric() || char == '_')).filter(|word| word.chars().count() >= 4);
    words
        .map(str::to_lowercase)
        .filter(|word| {
            !matches!(
                word.as_str(),
                "what"
                    | "this"
                    | "that"
                    | "with"
                    | "from"
                    | "have"
                    | "does"
                    | "should"
                    | "could"
                    | "would"
                    | "there"
                    | "please"
            )
        })
        .collect()
}

/// The sentence of a model's conclusion that has the outcome: one that shares words with the request, names something
/// and comes early, and the next one in its line where there is room. Where nothing was done only sentences with names
/// count: the rest is talk.
pub(super) fn conclusion(text: &str, request: &str, is_talk: bool, most: usize) -> Option<(String, String)> {
    if let Some(answer) = marked_answer(text) {
        return Some((answer, String::new()));
    }
    let text =
        text.rsplit_once("<answer>").map_or(text, |(_, answer)| answer.split("</answer>").next().unwrap_or(answer));
    let plain = text.replace("**", "");
    let found = sentences(&plain);
    let tells = |sentence: &str| {
        let whole = Sentence::new(sentence);
        !whole.is_open()
            && !OPENING.iter().any(|start| whole.lower.starts_with(start))
            && !OFFERING.occur_in(&whole.lower)
            && is_long_enough(&whole)
            && !whole.prose().contains("=\"")
            && !whole.starts_with_a_verb()
            && !is_labelled(sentence)
            && !whole.text.starts_with(|char: char| char.is_ascii_digit())
            && whole.prose().split_whitespace().count() + whole.chinese >= 4
            && columns(sentence) <= most
    };
    let wanted: Vec<String> = telling_words(request);
    let worth = |(rank, sentence): (usize, &str)| {
        let whole = Sentence::new(sentence);
        let shared = telling_words(sentence).iter().filter(|word| wanted.contains(word)).count();
        let names = names_something(&whole);
        let refers = matches!(
            whole.words().next(),
            Some("this" | "it" | "that" | "these" | "those" | "they" | "he" | "she" | "both")
        );
        let is_result = is_result(&whole.lower) || REFUSING.iter().any(|part| whole.lower.contains(part));
        let worth = shared.min(4) as f64 * 0.5 + f64::from(u8::from(names)) + 0.5 * f64::from(u8::from(is_result))
            - 0.2 * rank as f64
            - f64::from(u8::from(refers));
        (worth, names)
    };
    // Languages whose verbs are not known here say something too, first of all at the start.
    let told = || found.iter().enumerate().filter(|(_, sentence)| tells(sentence));
    let stating: Vec<(usize, &&str)> =
        told().filter(|(_, sentence)| states(&Sentence::new(sentence))).take(10).collect();
    let told = if stating.is_empty() { told().take(1).collect() } else { stating };
    let judged = told.into_iter().enumerate().map(|(rank, (at, sentence))| (worth((rank, sentence)), at));
    let ((_, names), at) = judged.reduce(|best, next| if next.0.0 > best.0.0 { next } else { best })?;
    let shared = telling_words(found[at]).iter().filter(|word| wanted.contains(word)).count();
    if is_talk && !names && shared < 3 {
        return None;
    }
    // Items of a list are independent; the rest of the same line belongs to an item.
    let next = found.get(at + 1).filter(|next| {
        let end = found[at].as_ptr().addr() + found[at].len() - plain.as_ptr().addr();
        let start = next.as_ptr().addr() - plain.as_ptr().addr();
        plain.get(end..start).is_some_and(|between| !between.contains('\n'))
            && tells(next)
            && columns(found[at]) + columns(next) < most
    });
    Some((found[at].to_owned(), next.map_or(String::new(), |next| (*next).to_owned())))
}

/// Whether a sentence is an item under a heading that names its subject: "Arrival: 01:00". Labels that announce a
/// result do not count.
fn is_labelled(sentence: &str) -> bool {
    const TELLING: &[&str] = &[
        "cause",
        "fix",
        "bug",
        "issue",
        "problem",
        "reason",
        "result",
        "conclusion",
        "answer",
        "important",
        "verdict",
        "原因",
        "结论",
    ];
    sentence.split_once(": ").is_some_and(|(label, _)| {
        let lower = label.to_lowercase();
        label.split_whitespace().count() <= 3
            && !label.contains('`')
            && !RESULTS.iter().any(|start| lower.starts_with(start.trim()))
            && !TELLING.iter().any(|word| lower.contains(word))
    })
}

/// Whether a sentence states a fact or an action; a heading and an item of a list do not.
fn states(sentence: &Sentence<'_>) -> bool {
    if sentence.is_chinese() {
        return true;
    }
    let starts_small = sentence.text.starts_with(|char: char| char.is_ascii_lowercase());
    !starts_small
        && !sentence.words().next().is_some_and(|word| word.len() > 5 && word.ends_with("ing"))
        && sentence.words().take(14).any(|word| {
            STATES.contains(&word)
                || word.len() > 4 && word.ends_with("ed")
                || matches!(word, "will" | "now" | "can" | "should" | "need" | "needs" | "unable")
        })
}

/// The largest number of sentences of a report that become memories of their own.
const MOST_REPORTED: usize = 4;
/// The worth of each.
pub(super) const REPORTED: f64 = 1.95;

/// The sentences of a report that say what was changed in a file which they name: "`parser.py`: Modified the loop".
pub(super) fn changes_of_files(report: &str) -> Vec<String> {
    let changes = report.lines().map(|line| line.replace("**", "")).filter(|line| {
        let named = line.split('`').skip(1).step_by(2).any(|code| code.contains(['.', '/', '_']));
        named && line.split_whitespace().count() >= 6 && line.chars().count() <= LONGEST && !line.ends_with([':', '?'])
    });
    changes.take(MOST_REPORTED).collect()
}

/// The report of a model beside a call, as agents write that end with one: the sentences about its actions.
pub(super) fn report(text: &str) -> Option<String> {
    const DONE: &[&str] = &[
        "i fixed ",
        "i've fixed ",
        "i have fixed ",
        "i've implemented ",
        "i have implemented ",
        "i implemented ",
        "the fix ",
        "the issue was ",
        "the problem was ",
        "the root cause ",
        "the issue is ",
        "the problem is ",
        "the bug is ",
        "this happens because ",
        "modified ",
        "i modified ",
        "i have modified ",
        "i've modified ",
        "i changed ",
        "i have updated ",
        "i updated ",
        "fixed ",
        "updated ",
        "added ",
        "implemented ",
        "changed ",
        "replaced ",
    ];
    let done = sentences(text).into_iter().filter(|sentence| {
        let lower = sentence.trim_start_matches("THOUGHT:").trim_start().to_lowercase();
        // "`parser.py`: Modified the loop": an action on a file.
        let behind =
            lower.strip_prefix('`').and_then(|rest| rest.split_once("`: ")).map_or(lower.as_str(), |(_, rest)| rest);
        DONE.iter().any(|start| behind.starts_with(start))
    });
    let report = done.collect::<Vec<_>>().join("\n");
    (!report.is_empty()).then_some(report)
}

fn columns(text: &str) -> usize {
    text.chars().map(|char| 1 + usize::from(is_cjk(char))).sum()
}

fn is_long_enough(sentence: &Sentence<'_>) -> bool {
    if sentence.is_chinese() { sentence.chinese >= 4 } else { sentence.words().count() >= 5 }
}

/// The answer behind a mark that says that it is one.
fn marked_answer(text: &str) -> Option<String> {
    if let Some((_, rest)) = text.rsplit_once("<answer>")
        && let Some((answer, _)) = rest.split_once("</answer>")
    {
        let answer = answer.trim();
        let is_short = !answer.is_empty() && !answer.contains('\n') && columns(answer) <= LONGEST;
        return is_short.then(|| answer.to_owned());
    }
    let lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(40);
    lines.into_iter().find_map(|line| {
        let line = line.trim_start_matches(['*', '#', ' ']);
        let mark =
            ANSWERS.iter().find(|mark| line.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark)))?;
        let answer = line[mark.len()..].trim_matches(['*', ' ', ':']).trim();
        (!answer.is_empty() && columns(answer) <= LONGEST).then(|| answer.to_owned())
    })
}

/// Whether a text in lower case starts with an action, or answers directly.
pub(super) fn is_result(lower: &str) -> bool {
    RESULTS.iter().any(|start| lower.starts_with(start))
}
