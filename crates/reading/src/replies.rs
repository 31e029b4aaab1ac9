//! Short replies of people, with the lines of the model that they answer: "yes" says nothing without its question, and "2"
//! nothing without the second option.

use epitome_strategy::Tokens;
use epitome_strategy::speech;

use crate::passage::{Passage, PassageKind};
use crate::source::Source;
use crate::worth::Worth;

/// Tokens of the longest typed message that counts as a reply. Longer ones say themselves what they are about.
pub const SHORT_REPLY: Tokens = 16;

/// How many lines before the end of the model's text its question may be: the options of one often follow it.
const LAST_LINES: usize = 12;

/// The most options of one question that a reply brings.
const MOST_OPTIONS: usize = 3;

/// Returns the lines that each short reply answers, of the passages for which `is_shown` holds, the newest reply first:
/// the model's question, and the options that the reply names. Linear.
pub fn answered_lines(source: &Source, worth: &Worth, is_shown: impl Fn(&Passage) -> bool) -> Vec<Vec<u32>> {
    let mut answered = Vec::new();
    let mut spoken: Vec<u32> = Vec::new();
    for messages in source.passages.chunk_by(|one, other| one.message == other.message) {
        let lines_of = |is_kind: &dyn Fn(PassageKind) -> bool| -> Vec<u32> {
            let own = messages.iter().filter(|passage| is_kind(passage.kind));
            own.flat_map(|passage| passage.lines.clone()).collect()
        };
        let typed = lines_of(&|kind| kind == PassageKind::Typed);
        if typed.is_empty() {
            // What a harness says between the two changes nothing.
            if messages.iter().any(|passage| passage.kind != PassageKind::Injected) {
                spoken = lines_of(&|kind| matches!(kind, PassageKind::Answer | PassageKind::Commentary));
            }
            continue;
        }
        let said = std::mem::take(&mut spoken);
        let is_short = typed.iter().map(|line| worth.tokens[*line as usize]).sum::<Tokens>() <= SHORT_REPLY;
        let is_shown = messages.iter().any(|passage| passage.kind == PassageKind::Typed && is_shown(passage));
        if is_short && is_shown && !said.is_empty() {
            let reply: String = typed.iter().map(|line| source.lines[*line as usize].text()).collect();
            answered.push(lines_for(source, &reply, &said));
        }
    }
    answered.reverse();
    answered
}

/// Returns which lines of the model's text a reply answers.
fn lines_for(source: &Source, reply: &str, said: &[u32]) -> Vec<u32> {
    let text = |line: &u32| source.lines[*line as usize].text();
    let asks = |line: &&u32| text(line).contains(['?', '？']) && speech::asks(text(line));
    let question = said.iter().rev().take(LAST_LINES).find(asks).or(said.last());
    let labels = labels(reply);
    let is_named = |line: &&u32| label_of(text(line)).is_some_and(|label| labels.contains(&label));
    let mut lines: Vec<u32> = said.iter().rev().filter(is_named).take(MOST_OPTIONS).copied().collect();
    lines.extend(question.filter(|line| !lines.contains(line)));
    lines
}

/// Returns the labels of options that a reply names: `2`, `#2`, `B`.
fn labels(reply: &str) -> Vec<String> {
    let words: Vec<&str> = reply.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut labels: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_alone = words.len() < 3 || words[..at].last().is_some_and(|word| word.eq_ignore_ascii_case("option"));
        let is_letter = word.len() == 1 && word.starts_with(|char: char| char.is_ascii_alphabetic());
        let is_number = word.len() < 3 && word.bytes().all(|byte| byte.is_ascii_digit());
        if is_number || (is_letter && (is_alone || word.starts_with(|char: char| char.is_ascii_uppercase()))) {
            labels.push(word.to_ascii_lowercase());
        }
    }
    labels
}

/// Returns the label of a line that is an option: `1. …`, `**B)** …`, `### Option 2: …`.
fn label_of(line: &str) -> Option<String> {
    let line = line.trim_start_matches(|char: char| char.is_whitespace() || "-*#>•".contains(char));
    let line = match line.split_once(' ') {
        Some((first, rest)) if first.eq_ignore_ascii_case("option") => rest,
        _ => line,
    };
    let end = line.find(|char: char| !char.is_ascii_alphanumeric())?;
    let (label, rest) = line.split_at(end);
    let is_label = label.len() == 1 || (label.len() == 2 && label.parse::<u8>().is_ok());
    let ends = rest.starts_with([')', '.', ':', '*', '、']) || rest.starts_with(" —") || rest.starts_with(" - ");
    (is_label && ends).then(|| label.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reply_names() {
        let check = |reply: &str, expect: &[&str]| assert_eq!(labels(reply), expect, "{reply}");
        check("1", &["1"]);
        check("b", &["b"]);
        check("A. is fine, ensure we log", &["a"]);
        check("let's fix #3 too", &["3"]);
        check("option c please", &["c"]);
        check("yes, write it", &[]);
        check("create a draft PR", &[]);
    }

    #[test]
    fn the_label_of_an_option() {
        let check = |line: &str, expect: Option<&str>| assert_eq!(label_of(line).as_deref(), expect, "{line}");
        check("1. the first", Some("1"));
        check("**B)** two documents", Some("b"));
        check("   - **C:** both", Some("c"));
        check("### Option 2: a queue", Some("2"));
        check("12) twelve", Some("12"));
        check("A queue is simpler.", None);
        check("100. far down", None);
    }
}
