//! A line brings its head: what it stands under or refers to, so that it does not read as a part of something else. A line that
//! only leads to the next one brings that, and a call the line that says how it ended.

use std::collections::HashSet;

use epitome_strategy::speech::refers_back;
use epitome_strategy::tools::ToolKind;
use epitome_strategy::transcript::Sign;

use crate::fields::heads_of_fields;
use crate::passage::{Passage, PassageKind};
use crate::source::Source;
use crate::worth::Worth;

/// Tokens of the longest line that a line of the model's brings: about a line of prose. What a person typed comes whatever it
/// costs.
const LONGEST_BROUGHT: u32 = 60;

const NONE: u32 = u32::MAX;
/// The most lines that lead to one another: a heading, a sentence, the fence of a block.
const MOST_LEADS: u8 = 3;
/// Levels of an outline: headings of Markdown by their signs of number, a heading that is nothing but bold words, plain
/// lines, and below them the items of lists by their indentation.
const BOLD: usize = 7;
const PLAIN: usize = 8;

/// For each line the line that it stands under, and the line that it brings.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    above: Vec<u32>,
    brought: Vec<u32>,
}

impl Heads {
    /// Finds the heads and the brought lines among those that are `open` to the choice. Linear.
    pub(crate) fn new(source: &Source, worth: &Worth, open: &[bool]) -> Self {
        let mut heads = Self { above: vec![NONE; source.lines.len()], brought: vec![NONE; source.lines.len()] };
        let set = |of: &mut Vec<u32>, line: u32, other: u32| {
            if open[line as usize] && open[other as usize] {
                of[line as usize] = other;
            }
        };
        for action in &source.actions {
            if let Some(outcome) = action.outcome {
                set(&mut heads.brought, action.head, outcome);
            }
        }
        for (call, line) in first_changes(source) {
            if heads.brought_by(call).is_none() && worth.tokens[line as usize] <= LONGEST_BROUGHT {
                set(&mut heads.brought, call, line);
            }
        }
        for passage in &source.passages {
            if is_speech(passage.kind) {
                let mut leads = 0;
                for line in passage.lines.clone().rev().skip(1) {
                    let leads_on = leads_to_next(source.lines[line as usize].text()) && leads < MOST_LEADS;
                    leads = if leads_on { leads + 1 } else { 0 };
                    let is_typed = matches!(passage.kind, PassageKind::Typed | PassageKind::SpokenThroughTool);
                    if leads_on && (is_typed || worth.tokens[line as usize + 1] <= LONGEST_BROUGHT) {
                        set(&mut heads.brought, line, line + 1);
                    }
                }
            }
            if passage.kind == PassageKind::Output {
                let lines = passage.lines.clone().map(|number| (number, &source.lines[number as usize]));
                for (line, head) in heads_of_fields(lines.map(|(number, line)| (number, line.text(), line.starts_line)))
                {
                    set(&mut heads.above, line, head);
                }
            }
            if has_outline(source, passage) {
                let mut outline = Outline::default();
                let mut head = None;
                for number in passage.lines.clone() {
                    let line = &source.lines[number as usize];
                    if line.starts_line {
                        head = outline.place(number, line.text());
                    }
                    head.into_iter().for_each(|head| set(&mut heads.above, number, head));
                }
            }
            // "That caused it" says nothing, or something else, without the sentence before it. One step: where every line says
            // "it", the first would cost all of them.
            if matches!(passage.kind, PassageKind::Commentary | PassageKind::Answer) {
                for line in passage.lines.clone().skip(1) {
                    let text = source.lines[line as usize].text().trim();
                    let is_free = heads.above(line).is_none() && heads.above(line - 1).is_none();
                    // A question refers to what follows it as often.
                    if is_free && refers_back(text) && !text.ends_with(['?', '？']) {
                        set(&mut heads.above, line, line - 1);
                    }
                }
            }
        }
        heads
    }

    /// Returns the line that a line stands under.
    pub(crate) fn above(&self, line: u32) -> Option<u32> {
        self.above.get(line as usize).copied().filter(|above| *above != NONE)
    }

    /// Returns the line that is taken with a line.
    pub(crate) fn brought_by(&self, line: u32) -> Option<u32> {
        self.brought.get(line as usize).copied().filter(|brought| *brought != NONE)
    }
}

/// Returns for the line of each edit the first line that it put in: the file alone does not tell what was changed. Linear.
fn first_changes(source: &Source) -> Vec<(u32, u32)> {
    let mut changes: Vec<(u32, u32)> = Vec::new();
    // The text of the newest edit that is replaced.
    let mut replaced: HashSet<&str> = HashSet::new();
    let mut of_call = NONE;
    for passage in source.passages.iter().filter(|passage| passage.kind == PassageKind::Argument) {
        let Some(action) = passage.action.map(|action| &source.actions[action as usize]) else { continue };
        if action.kind != ToolKind::Edit || action.has_failed() {
            continue;
        }
        if std::mem::replace(&mut of_call, action.head) != action.head {
            replaced.clear();
        }
        for line in passage.lines.clone() {
            let known = &source.lines[line as usize];
            match known.sign {
                Sign::Old => drop(replaced.insert(known.text())),
                Sign::New if !replaced.contains(known.text()) => {
                    if changes.last().is_none_or(|(call, _)| *call != action.head) {
                        changes.push((action.head, line));
                    }
                }
                Sign::New | Sign::Plain => {}
            }
        }
    }
    changes
}

fn is_speech(kind: PassageKind) -> bool {
    matches!(
        kind,
        PassageKind::Typed
            | PassageKind::SpokenThroughTool
            | PassageKind::Injected
            | PassageKind::Commentary
            | PassageKind::Answer
    )
}

/// The lines that the next one may stand under, with their levels, the outermost first.
#[derive(Default)]
struct Outline {
    open: Vec<(usize, u32)>,
    is_code: bool,
}

impl Outline {
    /// Returns the line that `text`, the next one, stands under.
    fn place(&mut self, number: u32, text: &str) -> Option<u32> {
        let words = text.trim_start();
        let is_fence = words.starts_with("```");
        self.is_code ^= is_fence;
        if is_fence || self.is_code || words.is_empty() {
            return self.open.iter().rev().find(|(level, _)| *level < PLAIN).map(|(_, line)| *line);
        }
        let indentation = text.len() - words.len();
        let level = match heading_level(words) {
            _ if indentation > 0 || is_item(words) => PLAIN + 1 + indentation,
            Some(level) => level,
            None => PLAIN,
        };
        self.open.retain(|(outer, _)| *outer < level);
        let above = self.open.last().map(|(_, line)| *line);
        if level != PLAIN || leads_to_next(words) {
            self.open.push((level, number));
        }
        above
    }
}

/// Whether the lines of a passage have an outline: the model's texts, and documents in Markdown that a call names.
fn has_outline(source: &Source, passage: &Passage) -> bool {
    match (passage.kind, passage.action) {
        (PassageKind::Commentary | PassageKind::Answer, _) => true,
        (PassageKind::Argument | PassageKind::Output, Some(action)) => {
            let request = source.request(&source.actions[action as usize]);
            let mut words = request.split(|char: char| char.is_whitespace() || matches!(char, '"' | '\'' | ';' | ','));
            words.any(|word| word.ends_with(".md") || word.ends_with(".mdx"))
        }
        _ => false,
    }
}

/// Returns the level of a heading of Markdown: a line behind signs of number, or nothing but bold words.
fn heading_level(line: &str) -> Option<usize> {
    let signs = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..BOLD).contains(&signs) && line[signs..].starts_with(' ') {
        return Some(signs);
    }
    let bold = line.trim_end().strip_prefix("**").and_then(|line| line.strip_suffix("**"));
    bold.filter(|words| !words.contains("**")).map(|_| BOLD)
}

/// Whether a line is an item of a list.
fn is_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let mark =
        if digits == 0 { line.strip_prefix(['-', '*', '•', '+']) } else { line[digits..].strip_prefix(['.', ')']) };
    digits <= 3 && mark.is_some_and(|rest| rest.starts_with(' '))
}

/// Whether a line leads to what follows it: it ends with a colon, whatever its emphasis, or opens a block of code.
fn leads_to_next(line: &str) -> bool {
    let line = line.trim();
    line.trim_end_matches(['*', '_', '`']).ends_with([':', '：'])
        || line.strip_prefix("```").is_some_and(|language| !language.is_empty() && !language.contains('`'))
}

#[cfg(test)]
mod tests {
    use epitome_strategy::{Language, View};
    use epitome_testkit::{FakeCounter, session};

    use super::*;
    use crate::summaries::SummaryForm;

    #[test]
    fn what_leads_to_the_next_line() {
        let check = |line: &str, expect: bool| assert_eq!(leads_to_next(line), expect, "{line}");
        check("There are three rules:", true);
        check("**Rules:** ", true);
        check("规则如下：", true);
        check("```rust", true);
        check("The port is 8417.", false);
        check("`a::b` is 12:30 o'clock", false);
        check("```", false);
        check("```one line```", false);
    }

    #[test]
    fn what_lines_stand_under() {
        let check = |text: &str, expect: &[Option<u32>]| {
            let mut outline = Outline::default();
            let placed: Vec<_> = (0..).zip(text.lines()).map(|(number, line)| outline.place(number, line)).collect();
            assert_eq!(placed, expect, "{text}");
        };
        check("One.\nTwo.", &[None, None]);
        check(
            "1. **Option 1:**\n   - HAT084\n   - $112\n2. **Option 2:**\n   - HAT290\n     at 14:00",
            &[None, Some(0), Some(0), None, Some(3), Some(4)],
        );
        check("Rules:\n- no floats\n- no commits\nThat is all.\n- so", &[None, Some(0), Some(0), None, None]);
        check("## Open\n- one\n- two\nWords.\n- three", &[None, Some(0), Some(0), Some(0), Some(0)]);
        check(
            "**Open**\nThese are:\n- one\nNext:\n**Done**\n1. two",
            &[None, Some(0), Some(1), Some(0), None, Some(4)],
        );
        check("**One**\nWords of it.\nMore.\n## Two\nWords.", &[None, Some(0), Some(0), None, Some(3)]);
        check("# A\n### B\nWords.\n# C\n### B\nWords.", &[None, Some(0), Some(1), None, Some(3), Some(4)]);
        check("See:\n```\nfn a() {\n    b()\n}\n```\nDone.", &[None; 7]);
        check("# See\n```\n# no heading\n```\nDone.", &[None, Some(0), Some(0), Some(0), Some(0)]);
    }

    #[test]
    fn an_edit_brings_its_first_change() {
        let edit = "call Edit e {\"file_path\":\"a.rs\",\"old_string\":\"one\\ntwo words\",\"new_string\":\"one\\nother words\"}";
        let write = "call Write w {\"file_path\":\"b.rs\",\"content\":\"use std::fs;\"}";
        let fixture =
            format!("user: go\nassistant: I edit.\n{edit}\nresult e: ok\nassistant: I write.\n{write}\nresult w: ok\n");
        let messages: Vec<_> = session(&fixture).log().to_vec();
        View::read_messages(&messages, &FakeCounter, Language::English, |view| {
            let source = Source::read(view, |_| SummaryForm::default());
            let text = |line: u32| source.lines[line as usize].text();
            let changes: Vec<_> =
                first_changes(&source).into_iter().map(|(call, line)| (text(call), text(line))).collect();
            assert_eq!(changes, [("Edit: a.rs", "other words")]);
        });
    }

    #[test]
    fn a_sentence_stands_with_the_one_that_it_refers_to() {
        let said = "user: why\nassistant:\n  The cache was strict.\n  That caused the fault.\n  It is old.\n  Is that all?\nuser: yes\n";
        let messages: Vec<_> = session(said).log().to_vec();
        View::read_messages(&messages, &FakeCounter, Language::English, |view| {
            let source = Source::read(view, |_| SummaryForm::default());
            let heads = Heads::new(&source, &Worth::new(view, &source), &vec![true; source.lines.len()]);
            let above: Vec<_> = (1..5).map(|line| heads.above(line)).collect();
            assert_eq!(above, [None, Some(1), None, None]);
        });
    }
}
