//! What fills a context, for a person.

use std::fmt::Write as _;
use std::path::Path;

use epitome::context::{ContextWarning, Departure, Fullness, NextCompaction, Part, PartKind, Removed, ReportedUsage};
use epitome::engine::{Status, Urgency};
use epitome::session::{EditKind, EpochOrigin, Trigger};

use crate::context_output::ContextOutput;
use crate::paths::display_name;
use crate::render::bar::bar;
use crate::render::report::cost_words;
use crate::render::style::{BAD, FAINT, GOOD, NAME, PLAIN, STRONG, Style, WARN, without_styles};
use crate::render::table::{Cell, Column, Table};
use crate::render::text::{columns, first_words, heading, number, paragraph, percent, plural};
use crate::window::WindowSource;

/// Columns of the bar that shows how full the context is.
const FULL_BAR: usize = 48;

/// Columns of a part's bar.
const PART_BAR: usize = 16;

/// Tools and files that are named of a part.
const ITEMS: usize = 3;

/// Columns of an item's name.
const ITEM: usize = 40;

/// Columns of an item's name where there is little room.
const NARROW_ITEM: usize = 12;

/// What would leave that is listed.
const DEPARTURES: usize = 8;

/// Large messages that are named: the largest.
const LARGE: usize = 5;

/// What has left that is listed: the newest.
const REMOVED: usize = 8;

/// What fills a context: what is said of it at one moment and while it is watched.
pub(crate) struct Filling<'a> {
    /// The session's file; `-` for standard input.
    pub(crate) file: &'a Path,
    /// The file's format.
    pub(crate) format: &'static str,
    /// The model that the session names last.
    pub(crate) model: Option<&'a str>,
    /// What the window is known by.
    pub(crate) window: &'a WindowSource,
    /// Messages in the context.
    pub(crate) messages: usize,
    /// How full it is.
    pub(crate) fullness: &'a Fullness,
    /// Tokens of the messages, as they are counted here.
    pub(crate) tokens: u32,
    /// What the provider counted.
    pub(crate) usage: Option<&'a ReportedUsage>,
    /// What deserves a look.
    pub(crate) warnings: &'a [ContextWarning],
    /// What it is made of, the largest part first.
    pub(crate) parts: &'a [Part],
}

/// The page, in at most `width` columns.
pub(crate) fn page(output: &ContextOutput, width: usize) -> String {
    let report = &output.report;
    let mut out = filled(
        &Filling {
            file: &output.file,
            format: output.format,
            model: output.model.as_deref(),
            window: &output.window,
            messages: report.messages,
            fullness: &report.fullness,
            tokens: report.contents.tokens,
            usage: report.usage.as_ref(),
            warnings: &report.warnings,
            parts: &report.contents.parts,
        },
        width,
    );
    next(&mut out, &report.next, &report.fullness, width);
    removed(&mut out, output, width);
    out
}

/// How full the context is, and of what, in at most `width` columns.
pub(crate) fn filled(filling: &Filling<'_>, width: usize) -> String {
    let mut out = String::new();
    head(&mut out, filling);
    fullness(&mut out, filling, width);
    warnings(&mut out, filling.warnings, width);
    parts(&mut out, filling.parts, width);
    out
}

fn head(out: &mut String, filling: &Filling<'_>) {
    let mut about = vec![filling.format.to_owned()];
    about.extend(filling.model.map(|model| first_words(model, ITEM)));
    about.push(plural(filling.messages, "message"));
    let _ = writeln!(out, "{STRONG}{}{STRONG:#}  {FAINT}{}{FAINT:#}", display_name(filling.file), about.join(", "));
}

/// The colour of a bar.
fn style_of(urgency: Urgency) -> Style {
    match urgency {
        Urgency::None => GOOD,
        Urgency::Soft => WARN,
        Urgency::Hard => BAD,
    }
}

/// How full the context is: `41 %`.
pub(crate) fn share_words(fullness: &Fullness) -> String {
    percent(fullness.check.current_tokens.into(), fullness.check.usable_tokens.into())
}

/// When a compaction is near, in a sentence.
pub(crate) fn nearness_words(fullness: &Fullness) -> String {
    let check = &fullness.check;
    let Some(threshold) = check.threshold_tokens else {
        return "no number of tokens calls for a compaction".to_owned();
    };
    let threshold = number(threshold);
    match (check.urgency, check.trigger) {
        (Urgency::None, None) => {
            let left = fullness.tokens_left().map(number).unwrap_or_default();
            format!("a compaction is suggested from {threshold} tokens on: {left} more")
        }
        (_, Some(Trigger::Rounds)) => "a compaction is suggested: as many rounds as the configuration says".to_owned(),
        (_, Some(Trigger::Marker)) => "a compaction is suggested: the model asked for one".to_owned(),
        (Urgency::Hard, Some(_)) => format!("a compaction is due: {threshold} tokens are reached"),
        (_, Some(_)) => format!("a compaction is suggested: {threshold} tokens are reached"),
        (_, None) => format!("past {threshold} tokens, but too little has come since the last compaction for another"),
    }
}

/// What the window is known by, in words.
pub(crate) fn window_words(fullness: &Fullness, source: &WindowSource) -> String {
    let size = number(fullness.window_tokens);
    let window = match source {
        WindowSource::Budget => return "as --budget says".to_owned(),
        WindowSource::Window => format!("window {size}, as --window says"),
        WindowSource::Model(name) => format!("window {size}, that of {}", first_words(name, ITEM)),
        WindowSource::Configuration => format!("window {size}, as the configuration says"),
        WindowSource::Recording => format!("window {size}, as the session records"),
        WindowSource::Default(Some(name)) => {
            format!("window {size} assumed, {} is not a known model: --window sets it", first_words(name, ITEM))
        }
        WindowSource::Default(None) => {
            format!("window {size} assumed, the session names no model: --model or --window sets it")
        }
    };
    let mut taken = format!("{} kept free for the answer", number(fullness.reserve_output_tokens));
    if fullness.tool_definition_tokens > 0 {
        let _ = write!(taken, ", {} for the tool definitions", number(fullness.tool_definition_tokens));
    }
    format!("{window}; {taken}")
}

fn fullness(out: &mut String, filling: &Filling<'_>, width: usize) {
    let &Filling { fullness, tokens: ours, .. } = filling;
    let check = &fullness.check;
    let style = style_of(check.urgency);
    let drawn = bar(check.current_tokens.into(), check.usable_tokens.into(), FULL_BAR, style);
    let is_reported = check.current_tokens > ours;
    let about = if fullness.exact || is_reported { "" } else { "about " };
    let by =
        if is_reported { format!(", as the provider counts; {} as counted here", number(ours)) } else { String::new() };
    let _ = writeln!(out, "  {drawn}  {STRONG}{}{STRONG:#} full", share_words(fullness));
    let _ = writeln!(
        out,
        "  {about}{STRONG}{}{STRONG:#} of the {} tokens that the messages may take{by}",
        number(check.current_tokens),
        number(check.usable_tokens)
    );
    paragraph(out, &window_words(fullness, filling.window), FAINT, width);
    let near = nearness_words(fullness);
    paragraph(out, &near, if check.urgency == Urgency::None { PLAIN } else { style }, width);
    if let Some(usage) = filling.usage {
        let style = if usage.is_near_the_window(fullness) { WARN } else { FAINT };
        let ours = ours.saturating_add(fullness.tool_definition_tokens);
        paragraph(out, &usage_words(usage, fullness, ours), style, width);
    }
}

/// What the provider counted, in a sentence, beside `ours`, the tokens that are counted here.
fn usage_words(usage: &ReportedUsage, fullness: &Fullness, ours: u32) -> String {
    let since = match usage.messages_since {
        0 => String::new(),
        count => format!("; {} since", plural(count, "message")),
    };
    let ours = u64::from(ours);
    // Recordings of most agents have neither their system prompt nor their tools.
    let why = if usage.tokens > ours + ours / 10 {
        ": the file does not record all that is sent, and models count differently"
    } else {
        ""
    };
    format!(
        "the provider counted {} tokens in the newest request and its answer, {} of the window{why}{since}",
        number(usage.tokens),
        percent(usage.tokens, fullness.window_tokens.into())
    )
}

fn warnings(out: &mut String, warnings: &[ContextWarning], width: usize) {
    for text in warning_lines(warnings) {
        let text = first_words(&text, width.saturating_sub(12));
        let _ = writeln!(out, "  {WARN}warning{WARN:#}: {text}");
    }
}

/// The warnings as a person reads them: of the large messages the largest, and how many there are more.
fn warning_lines(warnings: &[ContextWarning]) -> Vec<String> {
    let mut sizes: Vec<(u32, u32)> = warnings
        .iter()
        .filter_map(|warning| match warning {
            ContextWarning::LargeMessage { tokens, position, .. } => Some((*tokens, *position)),
            _ => None,
        })
        .collect();
    sizes.sort_unstable_by_key(|(tokens, position)| (std::cmp::Reverse(*tokens), *position));
    let more = sizes.split_off(sizes.len().min(LARGE));
    let is_named = |warning: &&ContextWarning| match warning {
        ContextWarning::LargeMessage { position, .. } => sizes.iter().any(|(_, named)| named == position),
        _ => true,
    };
    let mut lines: Vec<String> = warnings.iter().filter(is_named).map(ToString::to_string).collect();
    if !more.is_empty() {
        let line = format!(
            "{} more large {}; --json lists all",
            more.len(),
            if more.len() == 1 { "message" } else { "messages" }
        );
        lines.insert(sizes.len(), line);
    }
    lines
}

/// A part, as a person calls it.
pub(crate) fn part_name(part: PartKind) -> &'static str {
    match part {
        PartKind::SystemPrompt => "system prompt",
        PartKind::ToolDefinitions => "tool definitions",
        PartKind::Instructions => "added by the agent",
        PartKind::Task => "the task",
        PartKind::User => "the user",
        PartKind::Assistant => "the model's text",
        PartKind::Thinking => "thinking",
        PartKind::ToolCalls => "tool calls",
        PartKind::ToolResults => "tool results",
        PartKind::FilesRead => "files read",
        PartKind::Images => "images",
        PartKind::Summaries => "summaries",
        PartKind::Other => "other",
    }
}

fn parts(out: &mut String, parts: &[Part], width: usize) {
    heading(out, "What fills it");
    if parts.is_empty() {
        paragraph(out, "Nothing: it has no messages.", PLAIN, width);
        return;
    }
    let whole = parts.iter().map(|part| u64::from(part.tokens)).sum();
    let mut table = Table::new(&[Column::Left, Column::Right, Column::Right], &[]);
    for part in parts {
        table.row([
            Cell::styled(part_name(part.part), NAME),
            number(part.tokens).into(),
            part_share(part.tokens, whole).into(),
        ]);
    }
    let rows = table.render(width);
    let used = rows.lines().map(|row| columns(&without_styles(row)));
    let room = width.saturating_sub(used.max().unwrap_or(0) + PART_BAR + 4);
    for (row, part) in rows.lines().zip(parts) {
        let _ = write!(out, "{row}  {}", bar(part.tokens.into(), whole, PART_BAR, NAME));
        let items = items(part, room);
        if !items.is_empty() {
            let _ = write!(out, "  {FAINT}{items}{FAINT:#}");
        }
        out.push('\n');
    }
}

/// A part's share of the whole: `41 %`, and `< 0.1 %` where it is not worth a figure.
fn part_share(tokens: u32, whole: u64) -> String {
    if u64::from(tokens) * 2_000 < whole { "< 0.1 %".to_owned() } else { percent(tokens.into(), whole) }
}

/// The largest items of a part in at most `room` columns: `Bash 12,034 · Read 310 · 4 more`; empty where not even one fits.
fn items(part: &Part, room: usize) -> String {
    for shown in (1..=ITEMS.min(part.items.len())).rev() {
        let more = part.items.len() - shown;
        let rest = if more > 0 { format!(" · {more} more") } else { String::new() };
        // The last way to make room is to cut the one name that is left.
        let widths = if shown == 1 { (NARROW_ITEM..=ITEM).rev().step_by(4).collect() } else { vec![ITEM] };
        for width in widths {
            let named = part.items.iter().take(shown).map(|item| {
                format!("{} {}", last_columns(&first_words(&item.name, ITEM * 4), width), number(item.tokens))
            });
            let line = named.collect::<Vec<_>>().join(" · ") + &rest;
            if columns(&line) <= room {
                return line;
            }
        }
    }
    String::new()
}

/// The end of a name that is too long: of a path the end says more.
fn last_columns(name: &str, most: usize) -> String {
    let mut kept = String::new();
    for char in name.chars().rev() {
        if columns(&kept) + 2 > most {
            let tail: String = kept.chars().rev().collect();
            return format!("…{tail}");
        }
        kept.push(char);
    }
    name.to_owned()
}

fn next(out: &mut String, next: &NextCompaction, fullness: &Fullness, width: usize) {
    heading(out, "What would leave next");
    let plain = PLAIN;
    let is_due = fullness.check.trigger.is_some();
    let problem = next.problem.as_deref().map(|problem| first_words(problem, 400));
    let changed = match next.status {
        None => {
            let problem = problem.unwrap_or_default();
            return paragraph(out, &format!("A compaction could not be worked out: {problem}"), plain, width);
        }
        Some(Status::NoChange) => {
            let why = problem.unwrap_or_else(|| "there is too little that may leave".to_owned());
            return paragraph(out, &format!("Nothing: {why}"), plain, width);
        }
        Some(Status::Infeasible) => return floor(out, next, width),
        Some(Status::RolledBack) => {
            "A compaction would lose more than the configuration allows, and would not be made."
        }
        Some(Status::NearEmpty) => "A compaction would fit, but nothing in it would say what the session is about.",
        Some(Status::Compacted) => "",
    };
    let when = match (is_due, fullness.check.urgency) {
        (false, _) => "Nothing yet. A compaction made now",
        (true, Urgency::Hard) => "The compaction that is due",
        (true, Urgency::None | Urgency::Soft) => "The compaction that is suggested",
    };
    let line = match next.status {
        Some(Status::RolledBack) => changed.to_owned(),
        _ => format!(
            "{when} would keep {} of {} tokens ({} less), and {} as they are. {changed}",
            number(next.tokens_after),
            number(next.tokens_before),
            percent(u64::from(next.tokens_before.saturating_sub(next.tokens_after)), next.tokens_before.into()),
            plural(next.stay as usize, "message"),
        ),
    };
    paragraph(out, &line, plain, width);
    if let Some(problem) = problem {
        paragraph(out, &problem, FAINT, width);
    }
    let setting = [Column::Right, Column::Left, Column::Flexible, Column::Flexible];
    let mut table = Table::new(&setting, &["saves", "how", "what", "why"]);
    // What saves nothing goes along with the rest, such as reasoning that is not valid without it.
    let saving = || next.departures.iter().filter(|departure| departure.tokens_saved > 0);
    for departure in saving().take(DEPARTURES) {
        table.row([
            number(departure.tokens_saved).into(),
            Cell::styled(edit_words(departure.edit), NAME),
            departure_words(departure).into(),
            first_words(&departure.reason.detail, width).into(),
        ]);
    }
    out.push_str(&table.render(width));
    let rest: Vec<u32> = saving().skip(DEPARTURES).map(|departure| departure.tokens_saved).collect();
    if !rest.is_empty() {
        let saved = rest.iter().copied().fold(0, u32::saturating_add);
        let _ =
            writeln!(out, "  {FAINT}… and {} more, {} tokens; --json lists all{FAINT:#}", rest.len(), number(saved));
    }
}

fn floor(out: &mut String, next: &NextCompaction, width: usize) {
    let tokens = next.floor.as_ref().map_or(0, |floor| floor.tokens);
    let line = format!("Nothing: {} tokens must stay, and that is more than there is room for.", number(tokens));
    paragraph(out, &line, BAD, width);
    let mut table = Table::new(&[Column::Left, Column::Right, Column::Right], &[]);
    for part in next.floor.iter().flat_map(|floor| &floor.parts) {
        let messages = plural(part.messages as usize, "message");
        table.row([Cell::styled(part.part.replace('-', " "), NAME), number(part.tokens).into(), messages.into()]);
    }
    out.push_str(&table.render(width));
}

/// What an edit does, as a person says it.
fn edit_words(edit: EditKind) -> &'static str {
    match edit {
        EditKind::Drop => "leaves",
        EditKind::Summarize => "summarised",
        EditKind::Excerpt => "shortened",
        EditKind::Trim => "arguments cut",
    }
}

/// The messages of a departure: `49 messages from #1, mostly tool results: Fix the …`.
fn departure_words(departure: &Departure) -> String {
    let place = match (departure.first, departure.last) {
        (Some(first), Some(last)) if first != last => {
            format!("{} #{first}–#{last}", plural(departure.messages as usize, "message"))
        }
        (Some(first), _) => format!("message #{first}"),
        (None, _) => plural(departure.messages as usize, "message"),
    };
    let mostly = departure.mostly.map(|part| match departure.messages {
        1 => format!(", {}", part_name(part)),
        _ => format!(", mostly {}", part_name(part)),
    });
    format!("{place}{}: {}", mostly.unwrap_or_default(), departure.words)
}

fn removed(out: &mut String, output: &ContextOutput, width: usize) {
    let removed = &output.report.removed;
    heading(out, "What has left");
    if removed.is_empty() {
        return paragraph(out, "Nothing.", PLAIN, width);
    }
    paragraph(out, &left_words(removed), PLAIN, width);
    for usage in output.report.summaries.models() {
        paragraph(out, &format!("summaries by {}: {}", usage.model, cost_words(usage)), FAINT, width);
    }
    let setting = [Column::Left, Column::Right, Column::Left, Column::Flexible];
    let mut table = Table::new(&setting, &["handle", "tokens", "by", "what"]);
    for item in removed.items.iter().rev().take(REMOVED) {
        let by = match item.origin {
            EpochOrigin::Engine => "epitome",
            EpochOrigin::Recorded => "the agent",
        };
        let count = match item.edit {
            EditKind::Drop | EditKind::Summarize => plural(item.messages as usize, "message"),
            EditKind::Excerpt | EditKind::Trim => format!("{} shortened", plural(item.messages as usize, "message")),
        };
        let from = item.first.map(|first| format!(" from #{first}")).unwrap_or_default();
        table.row([
            Cell::styled(item.handle.as_deref().unwrap_or("–"), STRONG),
            number(item.tokens).into(),
            by.into(),
            format!("{count}{from}: {}", item.words).into(),
        ]);
    }
    out.push_str(&table.render(width));
    if removed.items.len() > REMOVED {
        let _ = writeln!(out, "  {FAINT}… and {} earlier; --json lists all{FAINT:#}", removed.items.len() - REMOVED);
    }
    for line in recall_lines(output) {
        let _ = writeln!(out, "  {line}");
    }
}

/// What has left, in a sentence.
fn left_words(removed: &Removed) -> String {
    let whole = plural(removed.messages as usize, "message");
    let shortened = match removed.shortened {
        0 => String::new(),
        count => format!(", and {} shortened", plural(count as usize, "message")),
    };
    let by = match removed.compactions {
        0 => String::new(),
        count => format!(" by {}", plural(count as usize, "compaction")),
    };
    format!("{whole} of {} tokens{shortened}{by}. All of it is still in the file.", number(removed.tokens))
}

/// How what has left is got back.
fn recall_lines(output: &ContextOutput) -> Vec<String> {
    let Some(session) = &output.reading else { return Vec::new() };
    let newest = output.report.removed.items.iter().rev().find_map(|item| item.handle.as_deref());
    let restore = newest.map(|handle| {
        format!(
            "{NAME}epitome restore {session} --handle {handle}{NAME:#}  {FAINT}prints the text removed under a handle{FAINT:#}"
        )
    });
    let search = format!(
        "{NAME}epitome search {session} WORDS{NAME:#}  {FAINT}finds it by its words, in the context or out of it{FAINT:#}"
    );
    restore.into_iter().chain([search]).collect()
}
