//! Writes the form of a transcript.

use super::{CALL, ESCAPE, Ending, FAILURES, LEFT_OUT, LeftOutCalls, OUTPUT, Record, Rows, Speaker, TIMES, sign_mark};

/// Returns the text of records, without a line feed at the end. Linear.
pub fn write(records: &[Record]) -> String {
    let mut text = String::new();
    for record in records {
        match record {
            Record::Speech { speaker, rows } => write_rows(&mut text, rows, speaker.mark(), ""),
            Record::LeftOut(LeftOutCalls { calls, failures }) => {
                text.push_str(CALL);
                text.push_str(LEFT_OUT);
                write_number(&mut text, *calls);
                if *failures > 0 {
                    text.push_str(FAILURES.0);
                    write_number(&mut text, *failures);
                    text.push_str(FAILURES.1);
                }
                text.push('\n');
            }
            Record::Unsaid => {
                text.push_str(Speaker::Assistant.mark());
                text.push_str(LEFT_OUT);
                text.push('\n');
            }
            Record::Call { name, head, ending, arguments, output } => {
                text.push_str(CALL);
                text.push_str(name);
                if !head.is_empty() {
                    text.push_str(": ");
                    text.push_str(head);
                }
                text.push_str(ending.map_or("", Ending::mark));
                text.push('\n');
                for (sign, rows) in arguments {
                    write_rows(&mut text, rows, sign_mark(*sign), sign_mark(*sign));
                }
                write_rows(&mut text, output, OUTPUT, "");
            }
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// Writes how many there are, where it is more than one.
fn write_number(text: &mut String, number: u32) {
    if number > 1 {
        text.push_str(TIMES);
        text.push_str(&number.to_string());
    }
}

/// Writes the rows: `first` in front of the first one, `further` in front of the others.
fn write_rows(text: &mut String, rows: &Rows, first: &str, further: &str) {
    for (index, row) in rows.rows.iter().enumerate() {
        if index == 0 {
            text.push_str(first);
        } else {
            text.push_str(further);
        }
        if index == 0 && row.gap_before {
            text.push_str(LEFT_OUT);
            text.push(' ');
        } else if index > 0 && further.is_empty() && is_mark(&row.text) {
            text.push(ESCAPE);
        }
        text.push_str(&row.text);
        if rows.rows.get(index + 1).map_or(rows.gap_behind, |next| next.gap_before) {
            text.push(' ');
            text.push_str(LEFT_OUT);
        }
        text.push('\n');
    }
}

/// Whether a line would open a record, with a mark behind it or without, or looks like an escaped line.
pub(super) fn is_mark(line: &str) -> bool {
    let inner = line.trim_start_matches(ESCAPE);
    Speaker::ALL
        .iter()
        .map(|speaker| speaker.mark())
        .chain([CALL])
        .any(|mark| inner.starts_with(mark) || inner == mark.trim_end())
}
