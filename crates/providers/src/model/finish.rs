//! The summary out of a model's text: held against the session, with the additions by rule, cut to the budget.

use epitome_strategy::text::sentence_end;
use epitome_strategy::{SummaryCheck, SummaryTask, TokenCounter, Tokens};

use super::answer::{AnswerSection, Body};
use super::verify::{Findings, SessionRecord, TypedSentence};
use crate::rules::wording::{CHANGED_FILES, SAID};

/// What a person said and the model left out takes one part in so many of the summary, and so do the changed files.
const SAID_PART: Tokens = 4;
const FILES_PART: Tokens = 6;
/// Below this many tokens a summary has no sections, and nothing is added to it.
pub(super) const BRIEF_BELOW: Tokens = 160;
/// Tokens of the smallest section that a cut leaves beside others.
const LEAST_SECTION: Tokens = 24;

/// The tokens that are left for the model's text of a summary of `limit` tokens, when everything is added that there is.
pub(super) fn room_for_text(task: &SummaryTask<'_>, record: &SessionRecord, limit: Tokens) -> Tokens {
    let files = file_lines(record, "", task, limit);
    let tokens: Tokens = files.iter().map(|line| task.counter.count(line) + 1).sum();
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
    // Text far beyond the budget is not worth counting.
    let mut body = Body::read(&text[..sentence_end(text, text.len().min(64 * (limit as usize + 1)))]);
    // A model that copies this section from an earlier summary has an older one.
    body.sections.retain(|section| !CHANGED_FILES.contains(&section.name()));
    // Text that does not fit anyway states nothing.
    cut(&mut body, limit, task.counter);
    let written = body.write();
    let Findings { strings, unknown, corrected } = record.verify(&mut body, task);
    let text = fit_to_limit(task, body, record, limit);
    let left_out = texts(record.untold(&text));
    let added = texts(record.untold(&written)).into_iter().filter(|said| !left_out.contains(said)).collect();
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

/// The text of a body with the additions, of at most `limit` tokens together.
fn fit_to_limit(task: &SummaryTask<'_>, body: Body, record: &SessionRecord, limit: Tokens) -> String {
    let mut room = limit;
    loop {
        let mut fitted = body.clone();
        cut(&mut fitted, room, task.counter);
        let bare = fitted.write();
        if limit >= BRIEF_BELOW {
            add_missing(&mut fitted, &bare, record, task, limit);
        }
        let whole = fitted.write();
        let excess = task.counter.count(&whole).saturating_sub(limit);
        if excess == 0 && !bare.is_empty() {
            return whole;
        }
        if room == 0 {
            // The additions are too much for a tiny budget: they are left out.
            fitted = body;
            cut(&mut fitted, limit, task.counter);
            return fitted.write();
        }
        room -= room.min(excess.max(room / 16).max(1));
    }
}

/// Adds what the log has and a text does not: each kind in a section of its own, within its part of `limit`.
fn add_missing(body: &mut Body, text: &str, record: &SessionRecord, task: &SummaryTask<'_>, limit: Tokens) {
    let sections = [
        (SAID, said_lines(&record.untold(text), task, limit / SAID_PART)),
        (CHANGED_FILES, file_lines(record, text, task, limit)),
    ];
    for ([english, chinese], lines) in sections.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        let heading = task.language.pick(english, chinese);
        let copied = |section: &&mut AnswerSection| section.name() == heading;
        // A section that the model took over from an earlier summary has the older lines.
        if let Some(section) = body.sections.iter_mut().find(copied) {
            section.lines.retain(|line| !line.is_empty());
            section.lines.extend(lines);
            continue;
        }
        if let Some(last) = body.sections.last_mut() {
            last.lines.push(String::new());
        }
        body.sections.push(AnswerSection { heading: Some(format!("## {heading}")), lines });
    }
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

/// The changed files with their states: those that the text does not name first, the newest before the older; the line behind
/// the last one says how many are left out.
fn file_lines(record: &SessionRecord, text: &str, task: &SummaryTask<'_>, limit: Tokens) -> Vec<String> {
    let mut files: Vec<_> = record.files(text).collect();
    files.sort_by_key(|(_, is_named)| *is_named); // stable
    let lines = files.iter().map(|(file, _)| format!("- {}", file.line(task.language)));
    let mut kept = fitting(lines, task, limit / FILES_PART);
    let left_out = files.len() - kept.len();
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

/// Cuts a body to `limit` tokens: its longest sections give their last lines first, so that each keeps its beginning; where
/// that leaves too little of each, the last sections go. Linear in the body for each of a few steps.
fn cut(body: &mut Body, limit: Tokens, counter: &dyn TokenCounter) {
    let mut most = limit;
    // Counts of parts add up to about the count of the whole: the whole is counted at the end.
    while counter.count(&body.write()) > limit {
        let mut sizes: Vec<Tokens> = body.sections.iter().map(|section| counter.count(&section.write()) + 1).collect();
        while sizes.len() > 1 && level(&sizes, most) < LEAST_SECTION {
            sizes.truncate(sizes.len() - (sizes.len() / 16).max(1));
        }
        body.sections.truncate(sizes.len());
        let level = level(&sizes, most);
        for (section, size) in body.sections.iter_mut().zip(sizes) {
            if size > level {
                shorten(section, level, counter);
            }
        }
        body.sections.retain(|section| !section.lines.is_empty());
        most -= most.min((most / 20).max(1));
        if most == 0 {
            body.sections.clear();
        }
    }
}

/// The size to which all larger ones are to be cut, so that they make up `limit` together.
fn level(sizes: &[Tokens], limit: Tokens) -> Tokens {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let (mut left, mut count) = (limit, sorted.len() as Tokens);
    for size in sorted {
        if size > left / count {
            return left / count;
        }
        left -= size;
        count -= 1;
    }
    limit
}

/// Cuts a section to its first lines that fit, the last of them at the end of a sentence; to none where nothing does.
fn shorten(section: &mut AnswerSection, limit: Tokens, counter: &dyn TokenCounter) {
    let heading = section.heading.as_ref().map_or(0, |heading| counter.count(heading) + 1);
    let mut left = limit.saturating_sub(heading + 1);
    let mut kept: Vec<String> = Vec::new();
    for line in &section.lines {
        let tokens = counter.count(line) + 1;
        if tokens <= left {
            left -= tokens;
            kept.push(line.clone());
            continue;
        }
        // A line of which less than a third stays says the wrong thing.
        if left > 8 && left > tokens / 3 {
            let mut bytes = line.len() * left as usize / tokens.max(1) as usize;
            for _ in 0..8 {
                let start = line[..sentence_end(line, bytes)].trim_end();
                if counter.count(start) < left {
                    kept.extend((!start.is_empty()).then(|| start.to_owned()));
                    break;
                }
                bytes = bytes * 9 / 10;
            }
        }
        break;
    }
    section.lines = kept;
}
