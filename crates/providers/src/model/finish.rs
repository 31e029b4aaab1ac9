//! The summary out of a model's text: held against the session, with the additions by rule, cut to the budget.

use epitome_strategy::cut::beginnings;
use epitome_strategy::text::sentence_end;
use epitome_strategy::{SummaryCheck, SummaryTask, TokenCounter, Tokens};

use super::answer::heading_name;
use super::verify::{Findings, SessionRecord, TypedSentence, state_of};
use super::wording::{CHANGED_FILES, SAID};

/// The share of a summary, as a divisor, for what a person said and the model left out, and again for the changed files.
const SAID_PART: Tokens = 4;
const FILES_PART: Tokens = 6;
/// Below this many tokens a summary has no sections, and nothing is added to it.
pub(super) const BRIEF_BELOW: Tokens = 160;

/// The tokens that are left for the model's text of a summary of `limit` tokens, when everything is added that there is.
pub(super) fn room_for_text(task: &SummaryTask<'_>, record: &SessionRecord, limit: Tokens) -> Tokens {
    let tokens: Tokens = file_lines(record, "", task, limit).iter().map(|line| task.counter.count(line) + 1).sum();
    limit.saturating_sub(tokens).max(limit / 2)
}

/// The summary: the model's text, with wrong states corrected and unknown strings marked, and the additions, of at most
/// `limit` tokens together; and what was found. Empty where nothing fits.
pub(super) fn finish(
    task: &SummaryTask<'_>,
    text: &str,
    record: &SessionRecord,
    limit: Tokens,
) -> (String, SummaryCheck) {
    // Text that does not fit anyway states nothing.
    let written = cut(text, limit, task.counter);
    let (verified, Findings { strings, unknown, corrected }) = record.verify(&written, task);
    let text = fit_to_limit(task, &verified, record, limit);
    let left_out = texts(record.missing_sentences(&text));
    let added = texts(record.missing_sentences(&written)).into_iter().filter(|said| !left_out.contains(said)).collect();
    let mut check = SummaryCheck {
        strings,
        unknown,
        demands: record.demands(),
        added_demands: added,
        left_out,
        corrected,
        ..SummaryCheck::default()
    };
    let was_told = record.files(&written).map(|(_, is_told)| is_told);
    for ((file, is_told), was_told) in record.files(&text).zip(was_told) {
        check.files += 1;
        match (was_told, is_told) {
            (false, true) => check.added_files.push(file.path.clone()),
            (_, false) => check.left_out.push(file.path.clone()),
            (true, true) => {}
        }
    }
    (text, check)
}

/// A text with the additions, of at most `limit` tokens together: the text gives where both have no room.
fn fit_to_limit(task: &SummaryTask<'_>, text: &str, record: &SessionRecord, limit: Tokens) -> String {
    let mut room = limit;
    while room > 0 && limit >= BRIEF_BELOW {
        let whole = with_missing(cut(text, room, task.counter), record, task, limit);
        let excess = task.counter.count(&whole).saturating_sub(limit);
        if excess == 0 {
            return whole;
        }
        room -= room.min(excess.max(room / 16));
    }
    cut(text, limit, task.counter)
}

/// A text with what the log has and the text does not: each kind in a section of its own, within its part of `limit`.
fn with_missing(text: String, record: &SessionRecord, task: &SummaryTask<'_>, limit: Tokens) -> String {
    let sections = [
        (SAID, said_lines(&record.missing_sentences(&text), task, limit / SAID_PART)),
        (CHANGED_FILES, file_lines(record, &text, task, limit)),
    ];
    let missing = sections.into_iter().filter(|(_, lines)| !lines.is_empty());
    missing.fold(text, |text, ([english, chinese], lines)| {
        add_lines(text, task.language.pick(english, chinese), &lines.join("\n"))
    })
}

/// Adds lines at the end of the section of that name, which the model may have taken over from an earlier summary; else in a
/// new section at the end of the text.
fn add_lines(mut text: String, name: &str, lines: &str) -> String {
    let mut place = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        match heading_name(line) {
            Some(other) if other == name => place = Some(at + line.len()),
            Some(_) if place.is_some() => break,
            Some(_) => {}
            None => place = place.map(|end| if line.trim().is_empty() { end } else { at + line.len() }),
        }
        at += line.len();
    }
    match place {
        Some(at) if text[..at].ends_with('\n') => text.insert_str(at, &format!("{lines}\n")),
        Some(at) => text.insert_str(at, &format!("\n{lines}")),
        None => text.push_str(&format!("\n\n## {name}\n{lines}")),
    }
    text
}

/// Sentences word for word, as many as `most` tokens hold, in the order in which they were said: a later one may take an
/// earlier one back.
fn said_lines(said: &[&TypedSentence], task: &SummaryTask<'_>, most: Tokens) -> Vec<String> {
    let lines = said.iter().rev().map(|said| {
        let later = said.later.as_ref().map_or(String::new(), |later| {
            let after = task.language.pick(" Later: “", " 之后：“");
            format!("{after}{later}”")
        });
        format!("- “{}”{later}", said.text)
    });
    // The newest demands are in force: where there is no room for all, they come first.
    let mut kept = fitting(lines, task, most);
    kept.reverse();
    kept
}

/// The changed files that a text does not name, with their states, the newest first; the line behind the last one says how
/// many are left out.
fn file_lines(record: &SessionRecord, text: &str, task: &SummaryTask<'_>, limit: Tokens) -> Vec<String> {
    let missing = || record.files(text).filter(|(_, is_named)| !is_named);
    let lines = missing().map(|(file, _)| format!("- {}: {}", file.path, state_of(file, task.language)));
    let mut kept = fitting(lines, task, limit / FILES_PART);
    let left_out = missing().count() - kept.len();
    if left_out > 0 && !kept.is_empty() {
        kept.push(task.language.pick(format!("- … and {left_out} more"), format!("- … 另有 {left_out} 个")));
    }
    kept
}

/// Those of `lines` that `most` tokens hold, each where it still fits.
fn fitting(lines: impl Iterator<Item = String>, task: &SummaryTask<'_>, most: Tokens) -> Vec<String> {
    let mut left = most;
    lines
        .filter(|line| {
            let rest = left.checked_sub(task.counter.count(line) + 1);
            left = rest.unwrap_or(left);
            rest.is_some()
        })
        .collect()
}

fn texts(said: Vec<&TypedSentence>) -> Vec<String> {
    said.into_iter().map(|said| said.text.clone()).collect()
}

/// A text of at most `limit` tokens: the beginnings of its sections, of a text in which these do not fit the beginning. Linear
/// in the text for each of a few steps.
pub(super) fn cut(text: &str, limit: Tokens, counter: &dyn TokenCounter) -> String {
    // Text far beyond the budget is not worth counting.
    let mut text = text[..sentence_end(text, text.len().min(64 * (limit as usize + 1)))].to_owned();
    let mut tokens = counter.count(&text);
    while tokens > limit {
        let kept = beginnings(&text, limit - limit.div_ceil(20), tokens, 0);
        let parts: Vec<&str> =
            kept.iter().map(|part| text[part.start as usize..part.end as usize].trim_end()).collect();
        let shorter = parts.join("\n");
        // Sections of a few words each, or none: the beginning stays.
        let bytes = text.len() as u64 * u64::from(limit) / u64::from(tokens);
        text = match counter.count(&shorter) < tokens {
            true => shorter,
            false => text[..sentence_end(&text, (bytes as usize).min(text.len() - 1))].to_owned(),
        };
        tokens = counter.count(&text);
    }
    text.trim_end().to_owned()
}
