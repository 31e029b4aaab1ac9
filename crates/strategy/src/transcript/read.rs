//! Reads the form of a transcript.

use epitome_session::Language;

use super::marks::{
    CALL, FAILURES, LEFT_OUT, NAMED, NAMES, OUTPUT, SIGNS, Sign, Speaker, TIMES, legend_start, opens_record, read_call,
    sign_mark,
};
use super::record::{LeftOutCalls, Record, Rows};

/// Whether a text, the engine's heading taken off, is a transcript. Constant time.
pub fn is_transcript(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    opens_record(first)
        || [Language::English, Language::Chinese].iter().any(|language| first.starts_with(legend_start(*language)))
}

/// The record that the following lines belong to.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Speech,
    Arguments,
    Output,
}

/// Returns the records of a transcript, the engine's heading taken off. Text in front of the first record is left out:
/// the line that explains the form. Linear.
pub fn read(text: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    let mut part = Part::Speech;
    for line in text.lines() {
        if line.strip_prefix(Speaker::Assistant.mark()) == Some(LEFT_OUT) {
            records.push(Record::Unsaid);
            part = Part::Speech;
            continue;
        }
        if line.starts_with(OUTPUT)
            && part == Part::Arguments
            && let Some(Record::Call { arguments, output, .. }) = records.last_mut()
        {
            read_line(line, arguments, output, &mut part);
            continue;
        }
        let speaker = Speaker::ALL.into_iter().find_map(|it| Some((it, line.strip_prefix(it.mark())?)));
        if let Some((speaker, said)) = speaker {
            let mut rows = Rows::default();
            rows.push(said, false);
            records.push(Record::Speech { speaker, rows });
            part = Part::Speech;
        } else if let Some(calls) = line.strip_prefix(CALL).and_then(read_left_out) {
            records.push(Record::LeftOut(calls));
            part = Part::Speech;
        } else if let Some(call) = line.strip_prefix(CALL) {
            let (name, head, ending) = read_call(call);
            let (name, head) = (name.to_owned(), head.to_owned());
            records.push(Record::Call { name, head, ending, arguments: Vec::new(), output: Rows::default() });
            part = Part::Arguments;
        } else {
            match records.last_mut() {
                Some(Record::Speech { speaker, rows }) => rows.push(&speaker.read_continuation(line), false),
                Some(Record::Call { arguments, output, .. }) => read_line(line, arguments, output, &mut part),
                Some(Record::LeftOut(_) | Record::Unsaid) | None => {}
            }
        }
    }
    records
}

/// Returns the calls that a line says were left out, the mark of a call taken off.
fn read_left_out(line: &str) -> Option<LeftOutCalls> {
    let number = |text: &str| if text.is_empty() { Some(1) } else { text.strip_prefix(TIMES)?.parse().ok() };
    let rest = line.strip_prefix(LEFT_OUT)?;
    let (counts, names) = rest.split_once(NAMED).unwrap_or((rest, ""));
    let names = names.split(NAMES).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    match counts.strip_suffix(FAILURES.1).and_then(|rest| rest.split_once(FAILURES.0)) {
        Some((calls, failures)) => Some(LeftOutCalls { calls: number(calls)?, failures: number(failures)?, names }),
        None => Some(LeftOutCalls { calls: number(counts)?, failures: 0, names }),
    }
}

/// Reads a line below a call.
fn read_line(line: &str, arguments: &mut Vec<(Sign, Rows)>, output: &mut Rows, part: &mut Part) {
    if *part == Part::Arguments {
        if let Some(first) = line.strip_prefix(OUTPUT) {
            *part = Part::Output;
            output.push(first, false);
            return;
        }
        if let Some((sign, text)) = SIGNS.into_iter().find_map(|sign| Some((sign, line.strip_prefix(sign_mark(sign))?)))
        {
            match arguments.last_mut() {
                Some((last, rows)) if *last == sign => rows.push(text, false),
                _ => {
                    let mut rows = Rows::default();
                    rows.push(text, false);
                    arguments.push((sign, rows));
                }
            }
            return;
        }
        // The line is not of the form, so the text was changed. It is kept as output of the tool.
        *part = Part::Output;
    }
    output.push(&Speaker::Tool.read_continuation(line), false);
}
