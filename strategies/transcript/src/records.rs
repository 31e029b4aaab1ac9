//! The kept lines of a run of units, as the records of a transcript.

use std::collections::HashMap;

use crate::arguments::Sign;
use crate::digest::{Ending, Record, Rows, Speaker};
use crate::source::{Kind, Line, Passage, Source};

/// Returns the records of the passages at `passages`, with the lines that are kept. Linear in the passages' lines.
pub(crate) fn records(source: &Source, passages: impl Iterator<Item = usize>, kept: &[bool]) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    // The record of each call of the run: results are placed with their calls.
    let mut calls: HashMap<u32, usize> = HashMap::new();
    for passage in passages.map(|passage| &source.passages[passage]) {
        let rows = rows(source, passage, kept);
        if rows.is_empty() {
            continue;
        }
        let call = passage.action.and_then(|action| calls.get(&action));
        match (passage.kind, call.map(|record| &mut records[*record])) {
            (Kind::Call, _) => {
                let Some(action) = passage.action else { continue };
                calls.insert(action, records.len());
                records.push(call_record(source, action));
            }
            (Kind::Argument, Some(Record::Call { arguments, .. })) => {
                arguments.push((sign_of(source, passage), rows));
            }
            (Kind::Output, Some(Record::Call { ending, output, .. })) => {
                // The lines say how it went; a failure may be in one of those that were left out.
                *ending = ending.filter(|ending| *ending == Ending::Failed);
                append(output, rows);
            }
            (Kind::Output | Kind::Argument, _) => records.push(Record::Speech { speaker: Speaker::Harness, rows }),
            (Kind::Typed | Kind::Told, _) => records.push(Record::Speech { speaker: Speaker::User, rows }),
            (Kind::Injected, _) => records.push(Record::Speech { speaker: Speaker::Harness, rows }),
            (Kind::Said | Kind::Answer, _) => records.push(Record::Speech { speaker: Speaker::Assistant, rows }),
        }
    }
    records
}

fn call_record(source: &Source, action: u32) -> Record {
    let action = &source.actions[action as usize];
    Record::Call {
        name: action.name.to_string(),
        head: source.asked(action).to_owned(),
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

/// Returns the kept lines of a passage; neighbouring pieces of one line are one row.
fn rows(source: &Source, passage: &Passage, kept: &[bool]) -> Rows {
    let mut rows = Rows::default();
    let mut row = String::new();
    let mut row_gap = false;
    let mut gap = false;
    for index in passage.lines.clone() {
        let line: &Line = &source.lines[index as usize];
        if !kept[index as usize] {
            gap = true;
            continue;
        }
        let gap_here = std::mem::take(&mut gap) || line.gap_before;
        if !line.starts_line && !row.is_empty() {
            // A part of a line behind one that was left out.
            row.push_str(if gap_here { " … " } else { "" });
            row.push_str(line.text());
            continue;
        }
        if !row.is_empty() {
            rows.push(row.trim_end(), row_gap);
            row.clear();
        }
        row_gap = gap_here;
        // A number is shown where lines were left out, so that the place can be found again.
        let is_first = rows.is_empty();
        if let Some(number) = line.number().filter(|_| gap_here || is_first) {
            row.push_str(number);
            row.push_str(": ");
        }
        row.push_str(line.text());
    }
    if !row.is_empty() {
        rows.push(row.trim_end(), row_gap);
        if gap || passage.gap_behind {
            rows.leave_out();
        }
    }
    rows
}
