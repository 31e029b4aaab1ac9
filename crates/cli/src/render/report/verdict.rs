//! The report's part on content that cannot fit, and on the quality of a compaction.

use std::fmt::Write;

use epitome::engine::{Floor, KeptShare, Quality, QualityPart, Report};
use epitome::session::{Entry, EntryKey, Origin, Session};

use super::{LABEL, write_labelled};
use crate::render::style::{BAD, FAINT, NAME, STRONG};
use crate::render::table::{Cell, Column, Table};
use crate::render::text::{first_words, number, paragraph, percent, plural, wrap};

/// The number of examples of lost content that are shown of each part.
const LOST: usize = 3;

pub(super) fn infeasible(out: &mut String, report: &Report, floor: &Floor, width: usize) {
    let over = format!(
        "at least {} tokens must stay and the budget is {}; of the {} tokens:",
        number(floor.tokens),
        number(report.budget),
        number(report.tokens_before)
    );
    out.push('\n');
    paragraph(out, &over, BAD, width);
    let columns = [Column::Left, Column::Right, Column::Right, Column::Right, Column::Flexible];
    let mut table = Table::new(&columns, &["part", "as is", "at least", "", ""]);
    for part in &floor.parts {
        table.row([
            Cell::styled(part.part.clone(), NAME),
            number(part.tokens_before).into(),
            number(part.tokens).into(),
            plural(part.messages as usize, "message").into(),
            Cell::styled(way_out(&part.part), FAINT),
        ]);
    }
    out.push_str(&table.render(width));
    let whole = whole_from(floor).filter(|whole| *whole > floor.tokens);
    let whole = whole.map_or_else(String::new, |whole| {
        format!(" (from {} on the task and the newest message stay whole)", number(whole))
    });
    let help = format!(
        "raise the budget to {} or more{whole}, or let parts go as said above; no session was written",
        number(floor.tokens)
    );
    write_help(out, &help, width);
}

/// The budget from which on the parts that are cut down only here stay as they are; `None` where there are none.
fn whole_from(floor: &Floor) -> Option<u32> {
    let yielding = floor.parts.iter().filter(|part| matches!(part.part.as_str(), "original-task" | "newest-user"));
    yielding
        .map(|part| part.tokens_before.saturating_sub(part.tokens))
        .reduce(u32::saturating_add)
        .map(|cut| floor.tokens.saturating_add(cut))
}

fn write_help(out: &mut String, help: &str, width: usize) {
    let mut lines = wrap(help, width.saturating_sub(8)).into_iter();
    let _ = writeln!(out, "  {STRONG}help{STRONG:#}: {}", lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(out, "        {line}");
    }
}

/// The change that would let a part of the floor leave.
fn way_out(part: &str) -> &'static str {
    match part {
        "system" => "never changed: shorten it in the agent",
        "original-task" => "[pins] original_task = false lets it go",
        "newest-user" => "cut last, not left out",
        "pinned" => "[pins] markers, or the host's own pins",
        "protected-tool" => "[pins] protected_tools",
        "recent-round" => "[pins] last_rounds = 0 lets it go",
        "recent-message" => "[pins] keep_recent = 0 lets it go",
        "open" => "a call without a result always stays",
        "newest-step" => "the newest step can be cut, not left out",
        "notice" => "in place of all that may leave",
        _ => "",
    }
}

/// The parts of the figures that the session has something of.
fn parts(quality: &Quality) -> impl Iterator<Item = (QualityPart, &KeptShare)> {
    QualityPart::ALL.into_iter().map(|part| (part, quality.part(part))).filter(|(_, kept)| kept.held > 0)
}

pub(super) fn write_quality(out: &mut String, quality: &Quality, width: usize) {
    figures(out, quality, width);
    if !quality.below.is_empty() {
        write_labelled(out, "too few", &shortfalls(quality), width);
    }
    write_tries(out, quality, width);
}

/// Where the figures begin, of a file that an earlier compaction was written into: it has the text of that compaction, and not
/// what the text is of.
pub(super) fn write_beginning(out: &mut String, session: &Session, width: usize) {
    let is_written = |entry: &&Entry| matches!(entry.message.origin, Origin::Summary | Origin::Notice);
    let is_all_there_is =
        |entry: &&Entry| matches!(entry.key, EntryKey::Log(_)) || session.originals(entry.key).is_empty();
    let count = session.view().iter().filter(is_written).filter(is_all_there_is).count();
    if count > 0 {
        let messages = plural(count, "message");
        let line = format!("begin with this file: {messages} of an earlier compaction in it, without what left then");
        write_labelled(out, "figures", &line, width);
    }
}

/// The shares of the content that is still there, and examples of what is not: what this compaction lost, and apart from
/// that what earlier ones did.
fn figures(out: &mut String, quality: &Quality, width: usize) {
    let figures: Vec<String> = parts(quality)
        .map(|(part, kept)| {
            let share = percent((kept.share * 10_000.0) as u64, 10_000);
            let earlier = match kept.held - kept.kept - kept.lost_now {
                0 => String::new(),
                earlier => format!(", {} lost earlier", number(earlier)),
            };
            format!("{} {share} ({} of {}{earlier})", part.as_str(), number(kept.kept), number(kept.held))
        })
        .collect();
    if figures.is_empty() {
        return;
    }
    write_labelled(out, "retained", &figures.join(" · "), width);
    write_examples(out, "lost", parts(quality).map(|(_, kept)| kept.lost.as_slice()), width);
    write_examples(out, "earlier", parts(quality).map(|(_, kept)| kept.lost_earlier.as_slice()), width);
}

/// The first few examples of each part.
fn write_examples<'q>(out: &mut String, label: &str, lost: impl Iterator<Item = &'q [String]>, width: usize) {
    let room = width.saturating_sub(LABEL + 2) / 2;
    let lost: Vec<String> = lost.flat_map(|lost| lost.iter().take(LOST)).map(|text| first_words(text, room)).collect();
    if !lost.is_empty() {
        write_labelled(out, label, &lost.join(" · "), width);
    }
}

/// What too little is kept of: `strings 0.41, [quality] min_strings asks for 0.6`.
pub(crate) fn shortfalls(quality: &Quality) -> String {
    let below = quality.below.iter().map(|below| {
        let part = below.part.as_str();
        format!("{part} {}, [quality] min_{part} asks for {}", below.share, below.least)
    });
    below.collect::<Vec<_>>().join("; ")
}

fn write_tries(out: &mut String, quality: &Quality, width: usize) {
    for (index, it) in quality.tried.iter().enumerate() {
        let came_to = match (&it.problem, it.share) {
            (Some(problem), _) => problem.clone(),
            (None, Some(share)) if it.below.is_empty() => format!("keeps {share} of all"),
            (None, Some(share)) => format!("keeps {share} of all: too little"),
            (None, None) => String::new(),
        };
        let label = if index == 0 { "tried" } else { "" };
        let chain = if it.chain.is_empty() { "the floor alone".to_owned() } else { it.chain.join(" → ") };
        write_labelled(out, label, &format!("{chain}: {came_to}"), width);
    }
}

pub(super) fn rolled_back(out: &mut String, quality: &Quality, width: usize) {
    out.push('\n');
    paragraph(out, &format!("too little would be kept: {}", shortfalls(quality)), BAD, width);
    figures(out, quality, width);
    write_tries(out, quality, width);
    let least = quality.below.iter().map(|below| format!("min_{}", below.part.as_str())).collect::<Vec<_>>().join(", ");
    let help = format!(
        "raise the budget, name another chain with --chain, or lower [quality] {least}; on_loss = \"retry\" takes the best \
         of what was tried; no session was written"
    );
    write_help(out, &help, width);
}
