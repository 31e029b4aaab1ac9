//! Writes the form of a transcript.

use crate::levels::{CONTINUATION, escaped, in_one_line};

use super::marks::{CALL, Ending, FAILURES, LEFT_OUT, NAMED, NAMES, OUTPUT, Speaker, TIMES, escape_of, sign_mark};
use super::record::{LeftOutCalls, Record, Rows};

/// Returns the text of records, without a line feed at the end. Linear.
pub fn write(records: &[Record]) -> String {
    let mut text = String::new();
    for record in records {
        match record {
            Record::Speech { speaker, rows } => {
                write_rows(&mut text, rows, speaker.mark(), speaker.continuation_mark(), true);
            }
            Record::LeftOut(LeftOutCalls { calls, failures, names }) => {
                text.push_str(CALL);
                text.push_str(LEFT_OUT);
                write_number(&mut text, *calls);
                if *failures > 0 {
                    text.push_str(FAILURES.0);
                    write_number(&mut text, *failures);
                    text.push_str(FAILURES.1);
                }
                if !names.is_empty() {
                    text.push_str(NAMED);
                    text.push_str(&names.join(NAMES));
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
                text.push_str(&in_one_line(name));
                if !head.is_empty() {
                    text.push_str(": ");
                    text.push_str(&in_one_line(head));
                }
                text.push_str(ending.map_or_else(|| escape_of(head), Ending::mark));
                text.push('\n');
                for (sign, rows) in arguments {
                    write_rows(&mut text, rows, sign_mark(*sign), sign_mark(*sign), false);
                }
                write_rows(&mut text, output, OUTPUT, CONTINUATION, true);
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

/// Writes the rows: `first` in front of the first one, `further` in front of the others, which are escaped where that is no
/// mark of its own.
fn write_rows(text: &mut String, rows: &Rows, first: &str, further: &str, is_escaped: bool) {
    for (index, row) in rows.rows.iter().enumerate() {
        text.push_str(if index == 0 { first } else { further });
        if index == 0 && row.gap_before {
            text.push_str(LEFT_OUT);
            text.push(' ');
        }
        match index > 0 && is_escaped {
            true => text.push_str(&escaped(&row.text)),
            false => text.push_str(&row.text),
        }
        if rows.rows.get(index + 1).map_or(rows.gap_behind, |next| next.gap_before) {
            text.push(' ');
            text.push_str(LEFT_OUT);
        }
        text.push('\n');
    }
}

impl Rows {
    /// Returns the lines as they stand in the form, with the marks of omissions, without those of the speaker. Linear.
    pub fn text(&self) -> String {
        let mut text = String::new();
        write_rows(&mut text, self, "", "", false);
        text.truncate(text.trim_end_matches('\n').len());
        text
    }
}
