//! The kept lines of a run of units, as the records of a transcript.

use std::borrow::Cow;
use std::collections::HashMap;

use epitome_strategy::text::is_in_name;
use epitome_strategy::transcript::{Ending, LeftOutCalls, Record, Rows, Sign, Speaker};

use crate::passage::{Line, Passage, PassageKind};
use crate::source::Source;

/// Returns the records of the passages at `passages`, with the lines that are kept. Linear in the passages' lines.
pub fn records(source: &Source, passages: impl Iterator<Item = usize>, kept: &[bool]) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    // The record of each call of the run: results are placed with their calls.
    let mut calls: HashMap<u32, usize> = HashMap::new();
    // What was done is named before what was looked at.
    let (mut left_out, mut looked_at) = (LeftOutCalls::default(), LeftOutCalls::default());
    let mut is_unsaid = false;
    // Who said what is not shown, where the session names its speakers.
    let mut unsaid_by = None;
    for passage in passages.map(|passage| &source.passages[passage]) {
        let rows = rows(source, passage, kept);
        left_out += passage.calls_before.clone();
        is_unsaid |= passage.is_behind_unsaid;
        if let (PassageKind::Call, Some(action), true) = (passage.kind, passage.action, rows.is_empty()) {
            let action = &source.actions[action as usize];
            let calls = if action.acts() { &mut left_out } else { &mut looked_at };
            *calls += LeftOutCalls::new(action.ending, source.short_name(action).as_deref());
        }
        let call = passage.action.and_then(|action| calls.get(&action)).map(|record| &mut records[*record]);
        if rows.is_empty() {
            // The first line of a command is not all of it.
            if let (PassageKind::Argument, Sign::Plain, Some(Record::Call { head, .. })) =
                (passage.kind, sign_of(source, passage), call)
                && !head.ends_with('…')
            {
                head.push_str(" …");
            }
            if matches!(passage.kind, PassageKind::Commentary | PassageKind::Answer) {
                (is_unsaid, unsaid_by) = (true, passage.speaker.as_deref());
            }
            continue;
        }
        let opens = !(matches!(passage.kind, PassageKind::Argument | PassageKind::Output) && call.is_some());
        if opens {
            left_out += std::mem::take(&mut looked_at);
        }
        if opens && left_out.calls > 0 {
            records.push(Record::LeftOut(std::mem::take(&mut left_out)));
        }
        // Two messages of a person with nothing between them read as one, and a reply as one to what stands before it.
        let is_of_user = matches!(passage.kind, PassageKind::Typed | PassageKind::SpokenThroughTool);
        let is_behind_user = matches!(records.last(), Some(Record::Speech { speaker: Speaker::User, .. }));
        if std::mem::take(&mut is_unsaid) && is_of_user && is_behind_user {
            records.push(unsaid_by.take().map_or(Record::Unsaid, unsaid_record));
        }
        let call = passage.action.and_then(|action| calls.get(&action)).map(|record| &mut records[*record]);
        match (passage.kind, call) {
            (PassageKind::Call, _) => {
                let Some(action) = passage.action else { continue };
                calls.insert(action, records.len());
                records.push(call_record(source, action));
            }
            (PassageKind::Argument, Some(Record::Call { arguments, .. })) => {
                arguments.push((sign_of(source, passage), rows));
            }
            (PassageKind::Output, Some(Record::Call { ending, output, .. })) => {
                // The lines say how it went; a failure may be in one of those that were left out.
                *ending = ending.filter(|ending| *ending == Ending::Failed);
                append(output, rows);
            }
            (PassageKind::Output | PassageKind::Argument, _) => {
                records.push(Record::Speech { speaker: Speaker::Tool, rows })
            }
            (PassageKind::Typed | PassageKind::SpokenThroughTool, _) => {
                records.push(Record::Speech { speaker: Speaker::User, rows })
            }
            (PassageKind::Injected, _) => records.push(Record::Speech { speaker: Speaker::Harness, rows }),
            (PassageKind::Commentary | PassageKind::Answer, _) => {
                records.push(Record::Speech { speaker: Speaker::Assistant, rows })
            }
        }
    }
    left_out += looked_at;
    if left_out.calls > 0 && !records.is_empty() {
        records.push(Record::LeftOut(left_out));
    }
    records
}

/// What a named speaker said, of which nothing is shown.
fn unsaid_record(speaker: &str) -> Record {
    let mut rows = Rows::default();
    rows.push(&format!("{speaker}:"), false);
    rows.leave_out();
    Record::Speech { speaker: Speaker::Assistant, rows }
}

fn call_record(source: &Source, action: u32) -> Record {
    let action = &source.actions[action as usize];
    Record::Call {
        name: action.name.to_string(),
        head: source.request(action).to_owned(),
        ending: action.ending,
        arguments: Vec::new(),
        output: Rows::default(),
    }
}

fn sign_of(source: &Source, passage: &Passage) -> Sign {
    source.lines[passage.lines.start as usize].sign
}

fn append(output: &mut Rows, rows: Rows) {
    for (text, gap) in rows.iter() {
        output.push(text, gap);
    }
    if rows.has_gap_behind() {
        output.leave_out();
    }
}

/// Bytes left out of a line behind which its next piece is a row of its own: it may speak of something else, as the records of
/// a list in one line do.
const FAR: usize = 600;

/// Returns the kept lines of a passage; neighbouring pieces of one line are one row. Where a piece that was left out begins
/// or ends inside a name, `…` stands directly at the rest of that name: a part of a path or a hash reads as another one.
fn rows(source: &Source, passage: &Passage, kept: &[bool]) -> Rows {
    let mut rows = Rows::default();
    let mut row = String::new();
    let mut row_gap = false;
    // Where the piece before ends, of the same text.
    let mut row_end = 0;
    let mut gap = false;
    // Whether the row's line ends in what was left out.
    let mut is_other_line = false;
    for index in passage.lines.clone() {
        let line: &Line = &source.lines[index as usize];
        if !kept[index as usize] {
            (gap, is_other_line) = (true, is_other_line || line.starts_line);
            continue;
        }
        let gap_here = std::mem::take(&mut gap) || line.gap_before;
        let is_left_out = |other: u32| passage.lines.contains(&other) && !kept[other as usize];
        let starts_in_name =
            !line.starts_line && is_left_out(index.wrapping_sub(1)) && is_in_name(&line.source, line.range.start);
        let ends_in_name = is_left_out(index + 1)
            && !source.lines[index as usize + 1].starts_line
            && is_in_name(&line.source, line.range.end);
        let text = match (starts_in_name, ends_in_name) {
            (false, false) => Cow::Borrowed(line.text()),
            (true, false) => Cow::Owned(format!("…{}", line.text())),
            (false, true) => Cow::Owned(format!("{}…", line.text())),
            (true, true) => Cow::Owned(format!("…{}…", line.text())),
        };
        let left_out = line.range.start.saturating_sub(std::mem::replace(&mut row_end, line.range.end));
        let is_other_line = std::mem::take(&mut is_other_line) || line.starts_line;
        if !is_other_line && !row.is_empty() && left_out <= FAR {
            // A part of a line behind one that was left out.
            if gap_here {
                row.truncate(row.trim_end().len());
                row.push_str(" … ");
            }
            row.push_str(&text);
            continue;
        }
        if !row.is_empty() {
            rows.push(row.trim_end(), row_gap);
            row.clear();
        }
        row_gap = gap_here;
        // A number is shown where it does not follow from the one before: a search prints the places of what it found, and behind
        // lines that were left out the place has to be found again.
        let is_first = rows.is_empty();
        if let Some(speaker) = passage.speaker.as_ref().filter(|_| is_first) {
            row.push_str(speaker);
            row.push_str(": ");
        }
        if let Some(number) = line.number().filter(|_| gap_here || is_first || !line.continues) {
            row.push_str(number);
            row.push_str(": ");
        }
        row.push_str(&text);
    }
    if !row.is_empty() {
        rows.push(row.trim_end(), row_gap);
        if gap || passage.gap_behind {
            rows.leave_out();
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use epitome_strategy::session::{Content, Message};
    use epitome_strategy::{Language, View};
    use epitome_testkit::{FakeCounter, session};

    use super::*;
    use crate::summaries::SummaryForm;

    #[test]
    fn numbers_are_shown_where_they_do_not_follow() {
        let check = |text: &str, expect: &[&str]| {
            let said = "assistant: I look.\ncall Bash b {\"command\":\"x\"}\nresult b: ok\n";
            let mut messages: Vec<_> = session(said).log().to_vec();
            let Some(message) = messages.last_mut() else { return };
            let Content::ToolResult(mut result) = message.blocks[0].content.clone() else { return };
            result.text = text.into();
            *message = Arc::new(Message::result("", result));
            View::read_messages(&messages, &FakeCounter, Language::English, |view| {
                let source = Source::read(view, |_| SummaryForm::default());
                let output = source.passages.iter().find(|passage| passage.kind == PassageKind::Output);
                let rows =
                    output.map(|output| rows(&source, output, &vec![true; source.lines.len()])).unwrap_or_default();
                assert_eq!(rows.iter().map(|(text, _)| text.to_owned()).collect::<Vec<_>>(), expect);
            });
        };
        check("12:let a;\n340:let b;", &["12: let a;", "340: let b;"]);
        check("    12\tlet a;\n    13\n    14\tlet b;", &["12: let a;", "let b;"]);
        check("404: Not Found\n405: No Method\n500: Fault", &["404: Not Found", "No Method", "500: Fault"]);
        check("count\n-------\n     42\n(1 row)", &["count", "     42", "(1 row)"]);
    }

    #[test]
    fn parts_of_a_line() {
        // The rows of a text in pieces of these lengths, of which some are kept.
        let check = |text: &str, pieces: &[(usize, bool)], expect: &[&str]| {
            let source_text: Arc<str> = Arc::from(text);
            let mut source = Source::default();
            let mut at = 0;
            for (length, _) in pieces {
                source.lines.push(Line {
                    source: Arc::clone(&source_text),
                    range: at..at + length,
                    number: None,
                    continues: false,
                    sign: Sign::Plain,
                    starts_line: at == 0 || text[..at].ends_with('\n'),
                    gap_before: false,
                    demand: 0.0,
                    passage: 0,
                });
                at += length;
            }
            let passage = Passage {
                kind: PassageKind::Output,
                speaker: None,
                unit: 0,
                message: 0,
                at: None,
                lines: 0..pieces.len() as u32,
                action: None,
                gap_behind: false,
                calls_before: LeftOutCalls::default(),
                is_behind_unsaid: false,
            };
            let kept: Vec<bool> = pieces.iter().map(|(_, kept)| *kept).collect();
            let rows = rows(&source, &passage, &kept);
            assert_eq!(rows.iter().map(|(text, _)| text.to_owned()).collect::<Vec<_>>(), expect);
        };
        let path = "/srv/app/config.toml";
        check(path, &[(10, true), (10, true)], &["/srv/app/config.toml"]);
        check(path, &[(10, true), (10, false)], &["/srv/app/c…"]);
        check(path, &[(10, false), (10, true)], &["…onfig.toml"]);
        check("{\"a\":1},{\"b\":2}", &[(8, true), (7, false)], &["{\"a\":1},"]);
        check("a word and another", &[(7, true), (11, false)], &["a word"]);
        // What is far behind is not a part of the same sentence.
        let near = format!("one, {}two", "x ".repeat(100));
        check(&near, &[(5, true), (200, false), (3, true)], &["one, … two"]);
        let far = format!("one, {}two", "x ".repeat(400));
        check(&far, &[(5, true), (800, false), (3, true)], &["one,", "two"]);
        // Nor is the rest of another line.
        check("# End\nOne. Two.", &[(6, true), (5, false), (4, true)], &["# End", "Two."]);
    }
}
