//! `epitome history`: the compactions of a session.

use std::fmt::Write as _;
use std::process::ExitCode;

use epitome::live::{HistoryEntry, history};
use epitome::session::{EpochOrigin, Trigger};
use serde::Serialize;

use crate::args::HistoryArgs;
use crate::failure::CommandResult;
use crate::render::style::{FAINT, STRONG};
use crate::render::text::{first_words, labelled, number, plural, width};
use crate::session::recorded_session::RecordedSession;
use crate::{paths, terminal};

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct HistoryOutput<'a> {
    /// `epitome` for a file that it keeps a session in, else the agent's format.
    format: &'static str,
    /// The session's id, where it has one.
    session: Option<&'a str>,
    /// The compactions, the oldest first.
    compactions: &'a [HistoryEntry],
}

pub(crate) fn run(args: &HistoryArgs, quiet: bool) -> CommandResult {
    let kept = RecordedSession::read(&args.kept, quiet)?;
    let session = kept.session();
    let compactions = history(session);
    if args.json {
        let (format, session) = (kept.format(), session.id.as_deref());
        terminal::print_json(&HistoryOutput { format, session, compactions: &compactions })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = format!(
        "{STRONG}{}{STRONG:#}  {FAINT}{}, {}, {}{FAINT:#}\n",
        paths::display_name(&args.kept.file),
        kept.format(),
        plural(session.log().len(), "message"),
        plural(
            compactions.iter().filter(|entry| !matches!(entry.trigger, Trigger::TakenBack | Trigger::Kept)).count(),
            "compaction"
        ),
    );
    let width = width();
    compactions.iter().for_each(|entry| compaction(&mut page, entry, width));
    terminal::print(&page)?;
    if compactions.is_empty() && !quiet {
        terminal::tell("no compaction is recorded in it\n");
    }
    Ok(ExitCode::SUCCESS)
}

/// One compaction.
fn compaction(page: &mut String, entry: &HistoryEntry, width: usize) {
    let by = match (entry.origin, entry.trigger) {
        (_, Trigger::Arrival) => "cut on arrival".to_owned(),
        (_, Trigger::Clearing) => "old results cleared".to_owned(),
        (_, Trigger::Kept) => "by hand".to_owned(),
        (_, Trigger::TakenBack) => "by the person, in the agent".to_owned(),
        (EpochOrigin::Engine, Trigger::Recorded) => "by epitome".to_owned(),
        (EpochOrigin::Engine, trigger) => format!("by epitome, {}", started_by(trigger)),
        (EpochOrigin::Recorded, Trigger::Recorded) => "by the agent".to_owned(),
        (EpochOrigin::Recorded, trigger) => format!("by the agent, {}", started_by(trigger)),
    };
    let what = match entry.trigger {
        Trigger::TakenBack => "Taken back",
        Trigger::Kept => "Kept or released",
        _ => "Compaction",
    };
    let undone = if entry.undone { ", undone" } else { "" };
    let _ = writeln!(
        page,
        "\n{STRONG}{what} {}{STRONG:#}  {by}, after {}{undone}",
        entry.epoch,
        plural(entry.messages as usize, "message")
    );
    let tokens = |tokens: Option<u32>| tokens.map_or_else(|| "?".to_owned(), number);
    if entry.tokens_before.is_some() || entry.tokens_after.is_some() {
        row(page, "tokens", &format!("{} → {}", tokens(entry.tokens_before), tokens(entry.tokens_after)), width);
    }
    let edits: Vec<String> = entry.edits.iter().map(|(strategy, count)| format!("{strategy} {count}")).collect();
    if entry.origin == EpochOrigin::Engine {
        row(page, "edits", &edits.join(" · "), width);
    }
    row(page, "handles", &entry.recall.join(" "), width);
    for summary in &entry.summaries {
        row(page, "summary", &first_words(summary, width.saturating_sub(12)), width);
    }
}

/// The trigger of a compaction, in words.
fn started_by(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Manual => "manual",
        Trigger::Soft => "soft threshold",
        Trigger::Hard => "hard threshold",
        Trigger::RemainingShare => "share left",
        Trigger::Rounds => "rounds",
        Trigger::Marker => "marker",
        Trigger::Overflow => "overflow",
        Trigger::Arrival => "arrival",
        Trigger::Clearing => "clearing",
        Trigger::Recorded => "recorded",
        Trigger::TakenBack => "taken back",
        Trigger::Kept => "kept",
    }
}

/// A line with a name, and more where it is long.
fn row(page: &mut String, name: &str, text: &str, width: usize) {
    if !text.is_empty() {
        labelled(page, name, 10, text, width);
    }
}
