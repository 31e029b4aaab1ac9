//! The report of a compaction for a person.

pub(crate) mod verdict;

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use epitome::config::SummaryModel;
use epitome::engine::{ByHandReport, EditReport, Mode, Outcome, Report, Status, SummarizerReport, Timings};
use epitome::formats::Format;
use epitome::session::{Block, Content, EditKind, Entry, MessageRange, Session};
use epitome::strategy::{ModelUsage, SummaryCheck};

use self::verdict::{infeasible, rolled_back, write_beginning, write_quality};
use crate::chain::Choice;
use crate::render::bar::bar;
use crate::render::style::{BAD, FAINT, GOOD, NAME, PLAIN, STRONG, Style, WARN};
use crate::render::table::{Cell, Column, Table};
use crate::render::text::{columns, duration, first_words, labelled, number, paragraph, percent, plural};

/// The number of largest savings in the list.
const SAVINGS: usize = 8;

/// Columns of the labels on the left.
const LABEL: usize = 9;

/// The subject of a report, beside its own fields.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    /// The file, and the session in it.
    pub(crate) name: &'a str,
    /// The arguments by which `epitome restore` reads the session afterwards, for a shell; `None` where what was read
    /// cannot be read again.
    pub(crate) restorable: Option<String>,
    /// The session as it was before.
    pub(crate) session: &'a Session,
    /// The format that is written, where it has no place for reasoning of the session.
    pub(crate) without_reasoning: Option<Format>,
    /// The grounds for the chain.
    pub(crate) choice: Choice,
    /// The model that writes summaries, where one does.
    pub(crate) model: Option<&'a SummaryModel>,
    /// Whether nothing is written.
    pub(crate) preview: bool,
    /// The duration of the command.
    pub(crate) elapsed: Duration,
}

/// The report, in at most `width` columns.
pub(crate) fn render(report: &Report, subject: &Subject<'_>, width: usize) -> String {
    let mut out = String::new();
    headline(&mut out, report, subject);
    bars(&mut out, report, width);
    if let Some(stopped) = &report.stopped {
        out.push('\n');
        paragraph(&mut out, stopped, PLAIN, width);
    }
    if let Some(told) = &report.by_hand {
        by_hand(&mut out, told, width);
    }
    if report.status == Status::NoChange {
        return out;
    }
    out.push('\n');
    circumstances(&mut out, report, subject, width);
    steps(&mut out, report, width);
    if let Some(floor) = report.floor.as_ref().filter(|_| report.status == Status::Infeasible) {
        infeasible(&mut out, report, floor, width);
        return out;
    }
    if report.status == Status::RolledBack && report.stopped.is_some() {
        return out;
    }
    if let Some(quality) = report.quality.as_ref().filter(|_| report.status == Status::RolledBack) {
        rolled_back(&mut out, quality, width);
        return out;
    }
    savings(&mut out, report, subject.session, width);
    receipts(&mut out, report, width);
    if let Some(quality) = &report.quality {
        write_quality(&mut out, quality, width);
        write_beginning(&mut out, subject.session, width);
    }
    if let Some(session) = subject.restorable.as_ref().filter(|_| report.edits.iter().any(|edit| edit.recall.is_some()))
    {
        // Not wrapped: it is there to be copied, and a quoted name may have two spaces.
        let line = format!("epitome restore {session} --handle HANDLE prints the removed text");
        let _ = writeln!(out, "  {FAINT}{:<LABEL$}{FAINT:#}{line}", "recall");
    }
    out
}

/// What was kept and dropped by hand.
fn by_hand(out: &mut String, told: &ByHandReport, width: usize) {
    let list = |ranges: &[MessageRange]| ranges.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut line = |label: &str, text: String| {
        if !text.is_empty() {
            write_labelled(out, label, &text, width);
        }
    };
    line("kept", list(&told.kept));
    line("dropped", list(&told.dropped));
    for stayed in &told.stayed {
        line("stays", format!("{}: {}", stayed.messages, stayed.why));
    }
    if !told.gone.is_empty() {
        line("gone", format!("{} had left the context before", list(&told.gone)));
    }
}

/// Where the time went, on a line of its own.
pub(crate) fn timings(timings: &Timings, width: usize) -> String {
    let mut out = String::new();
    let phases = timings.phases().map(|(name, time)| format!("{name} {}", duration(Duration::from_micros(time))));
    write_labelled(&mut out, "time", &phases.collect::<Vec<_>>().join(" · "), width);
    out
}

fn headline(out: &mut String, report: &Report, subject: &Subject<'_>) {
    let (words, style) = match (report.status, subject.preview) {
        (Status::NoChange, _) if report.stopped.is_some() => ("nothing could leave", WARN),
        (Status::NoChange, _) => ("fits, nothing to do", GOOD),
        (Status::Compacted, false) => ("compacted", GOOD),
        (Status::Compacted, true) => ("would be compacted", GOOD),
        (Status::NearEmpty, false) => {
            ("near-empty: it fits, but almost nothing of the task and the work on it is left", BAD)
        }
        (Status::NearEmpty, true) => {
            ("would be near-empty: almost nothing of the task and the work on it would be left", BAD)
        }
        (Status::Infeasible, _) => ("cannot fit", BAD),
        (Status::RolledBack, _) if report.stopped.is_some() => ("not made, every strategy of the chain declined", BAD),
        (Status::RolledBack, _) => ("rolled back, too much would be lost", BAD),
    };
    let took = duration(subject.elapsed);
    let _ = writeln!(out, "{STRONG}{}{STRONG:#}: {style}{words}{style:#} {FAINT}· {took}{FAINT:#}", subject.name);
}

/// A bar with its figure, and a note behind it whose end is strong.
struct BarRow {
    label: &'static str,
    tokens: u32,
    style: Style,
    note: String,
    strong: String,
}

fn bars(out: &mut String, report: &Report, width: usize) {
    let (before, after, budget) = (report.tokens_before, report.tokens_after, report.budget);
    let compacted = report.status.is_compaction();
    let messages = |count: u32| plural(count as usize, "message");
    let mut rows = vec![BarRow {
        label: if compacted { "before" } else { "tokens" },
        tokens: before,
        style: if before > budget { WARN } else { GOOD },
        note: messages(report.messages_before),
        strong: String::new(),
    }];
    if compacted {
        let saved = percent(report.tokens_saved().into(), before.into());
        rows.push(BarRow {
            label: "after",
            tokens: after,
            style: if after > budget { BAD } else { GOOD },
            note: messages(report.messages_after),
            strong: format!(", {saved} saved"),
        });
    }
    rows.push(BarRow { label: "budget", tokens: budget, style: FAINT, note: String::new(), strong: String::new() });
    let figure_width = rows.iter().map(|row| columns(&number(row.tokens))).max().unwrap_or(0);
    let note_width = rows.iter().map(|row| columns(&row.note) + columns(&row.strong)).max().unwrap_or(0);
    let room = width.saturating_sub(LABEL + 2 + 2 + figure_width + 2 + note_width).min(60);
    for BarRow { label, tokens, style, note, strong } in rows {
        let drawn = bar(tokens.into(), before.max(budget).into(), room, style);
        let _ = write!(out, "  {FAINT}{label:<LABEL$}{FAINT:#}{drawn}  {:>figure_width$}", number(tokens));
        if !note.is_empty() {
            let _ = write!(out, "  {note}{STRONG}{strong}{STRONG:#}");
        }
        out.push('\n');
    }
}

fn circumstances(out: &mut String, report: &Report, subject: &Subject<'_>, width: usize) {
    let choice = &subject.choice;
    let task = &report.task;
    let evidence = if task.evidence.is_empty() { String::new() } else { format!(": {}", task.evidence.join("; ")) };
    write_labelled(out, "task", &format!("{} ({:.2}){evidence}", task.kind, task.confidence), width);
    let first = report.quality.as_ref().and_then(|quality| quality.tried.first());
    let is_retry = report.mode != Mode::Tournament && first.is_some_and(|first| first.chain != report.chain);
    let why = choice.why(task);
    let why = if is_retry { format!("tried after the one {why}, which kept too little") } else { why };
    write_labelled(out, "chain", &format!("{} ({why})", report.chain.join(" → ")), width);
    let cycle = if report.cycle > 1 { format!(", compaction {} of this session", report.cycle) } else { String::new() };
    let without = subject.without_reasoning.map_or_else(String::new, |format| {
        format!("; {format} has no place for some of the reasoning, which is not counted")
    });
    write_labelled(out, "counted", &format!("by {}{cycle}{without}", report.counter), width);
    let first = report.first_changed_message.and_then(|first| subject.session.view().get(first as usize));
    if let Some(first) = first.map(numbered) {
        let loss = format!(
            "message {first} is the first that changed; {} already-sent tokens from there on leave the prompt cache",
            number(report.cache_loss_tokens)
        );
        write_labelled(out, "cache", &loss, width);
    }
    if let Some(summary) = &report.summary {
        let words = first_words(summary, width.saturating_sub(LABEL + 30));
        let author = match &report.summary_by {
            Some(strategy) => strategy.as_str(),
            None if report.summarizer.fell_back && report.summarizer.checks.is_empty() => {
                "rules, in place of the model"
            }
            None if report.summarizer.fell_back && report.summarizer.kind == "provider" => {
                "the model, in place of its provider's compaction"
            }
            None => &report.summarizer.kind,
        };
        write_labelled(out, "summary", &format!("by {author}: {words}"), width);
    }
    if let Some(model) = subject.model {
        write_labelled(out, "model", &describe_model(&report.summarizer, model), width);
    }
    for check in &report.summarizer.checks {
        write_labelled(out, "checked", &checked(check), width);
    }
}

/// The findings of checking a model's summary against the session.
fn checked(check: &SummaryCheck) -> String {
    let SummaryCheck { strings, unknown, demands, added_demands, files, added_files, left_out, corrected, asked_again } =
        check;
    let known = strings.saturating_sub(unknown.len() as u32);
    let mut text = format!("{} of {} strings stand in the session", number(known), number(*strings));
    let mut tell = |what: &str, items: &[String]| {
        if !items.is_empty() {
            let shown: Vec<&str> = items.iter().take(5).map(String::as_str).collect();
            let more = items.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _ = write!(text, "; {what}: {}{more}", shown.join(" · "));
        }
    };
    tell("marked as unverified", unknown);
    tell(&format!("of {} demands added by rules", number(*demands)), added_demands);
    tell(&format!("of {} changed files added by rules", number(*files)), added_files);
    tell("no room for", left_out);
    tell("states corrected by the log", corrected);
    if let Some(reason) = asked_again {
        let _ = write!(text, "; asked again because {reason}");
    }
    text
}

/// The requests to the model that writes summaries, their cost, and the reason where it failed.
fn describe_model(summarizer: &SummarizerReport, model: &SummaryModel) -> String {
    let cost = match (summarizer.models.models(), &summarizer.problem) {
        ([], None) => "no summary was asked for, or its answers were known".to_owned(),
        ([], Some(_)) => "no tokens".to_owned(),
        ([usage], _) if *usage.model == *model.model => cost_words(usage),
        (all, _) => {
            let each = all.iter().map(|usage| format!("{}: {}", usage.model, cost_words(usage)));
            each.collect::<Vec<_>>().join("; ")
        }
    };
    let problem = match &summarizer.problem {
        Some(problem) if summarizer.fell_back && !summarizer.checks.is_empty() && summarizer.kind == "provider" => {
            format!("; the model stepped in: {problem}")
        }
        Some(problem) if summarizer.fell_back && !summarizer.checks.is_empty() => {
            format!("; not asked first: {problem}")
        }
        Some(problem) if summarizer.fell_back => format!("; the rules stepped in: {problem}"),
        Some(problem) => format!("; no summary: {problem}"),
        None => String::new(),
    };
    format!("{model}: {cost}{problem}")
}

/// What a model took for summaries: `1,234 tokens read (1,000 cached), 56 written in 2 answers`.
pub(crate) fn cost_words(usage: &ModelUsage) -> String {
    let cached = match usage.cached_tokens {
        0 => String::new(),
        cached => format!(" ({} cached)", number(cached)),
    };
    let answers = if usage.answers > 1 { format!(" in {} answers", number(usage.answers)) } else { String::new() };
    format!("{} tokens read{cached}, {} written{answers}", number(usage.input_tokens), number(usage.output_tokens))
}

fn write_labelled(out: &mut String, label: &str, text: &str, width: usize) {
    labelled(out, label, LABEL, text, width);
}

fn steps(out: &mut String, report: &Report, width: usize) {
    if report.steps.is_empty() {
        return;
    }
    let setting = [
        Column::Left,
        Column::Right,
        Column::Right,
        Column::Right,
        Column::Right,
        Column::Right,
        Column::Right,
        Column::Flexible,
    ];
    let mut table = Table::new(&setting, &["step", "before", "after", "saved", "edits", "refused", "time", ""]);
    for step in &report.steps {
        // What the repair takes out could not have been sent.
        let saved = match &*step.strategy {
            "repair" => 0,
            _ => step.tokens_before.saturating_sub(step.tokens_after),
        };
        let some = |count: u32| if count == 0 { Cell::styled("–", FAINT) } else { number(count).into() };
        table.row([
            Cell::styled(step.strategy.to_string(), NAME),
            number(step.tokens_before).into(),
            number(step.tokens_after).into(),
            if saved == 0 { some(0) } else { Cell::styled(number(saved), GOOD) },
            some(step.edits),
            some(step.refused),
            duration(Duration::from_micros(step.duration_us)).into(),
            Cell::styled(step.declined.clone().unwrap_or_default(), FAINT),
        ]);
    }
    let table = table.render(width);
    let _ = write!(out, "\n{table}");
    // Text that is too long for the table follows in full below it: the user has to act on the reason of a failed
    // strategy.
    for (step, row) in report.steps.iter().zip(table.lines().skip(1)) {
        if let Some(why) = step.declined.as_ref().filter(|why| !row.contains(why.as_str())) {
            paragraph(out, &format!("{}: {why}", step.strategy), FAINT, width);
        }
    }
}

fn savings(out: &mut String, report: &Report, session: &Session, width: usize) {
    // Edits that follow from others and save nothing, such as thinking that is never sent, would hide them.
    let (free, mut edits): (Vec<&EditReport>, Vec<&EditReport>) =
        report.edits.iter().partition(|edit| edit.tokens_saved == 0 && &*edit.reason.code == "thinking-behind-edit");
    if !free.is_empty() && edits.is_empty() {
        out.push('\n');
    }
    if !edits.is_empty() {
        largest(out, &mut edits, session, width);
    }
    if !free.is_empty() {
        let thinking = plural(free.len(), "edit");
        let _ = writeln!(out, "  {FAINT}… and {thinking} that took thinking away and saved nothing{FAINT:#}");
    }
}

/// The edits that saved most, and how many others there are.
fn largest(out: &mut String, edits: &mut [&EditReport], session: &Session, width: usize) {
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.tokens_saved));
    let names = Names::new(session);
    let setting = [Column::Right, Column::Left, Column::Flexible, Column::Flexible, Column::Left];
    let mut table = Table::new(&setting, &["saved", "edit", "message", "why", "recall"]);
    for edit in edits.iter().take(SAVINGS) {
        let kind = match edit.edit {
            EditKind::Drop => "drop",
            EditKind::Summarize => "summarize",
            EditKind::Excerpt => "excerpt",
            EditKind::Trim => "trim",
        };
        let detail = if edit.reason.detail.is_empty() { String::new() } else { format!(": {}", edit.reason.detail) };
        table.row([
            number(edit.tokens_saved).into(),
            Cell::styled(kind, NAME),
            names.describe(edit).into(),
            format!("{}{detail}", edit.reason.code).into(),
            Cell::styled(edit.recall.as_deref().unwrap_or(""), FAINT),
        ]);
    }
    out.push('\n');
    out.push_str(&table.render(width));
    if edits.len() > SAVINGS {
        let (rest, saved) = edits[SAVINGS..]
            .iter()
            .fold((0usize, 0u64), |(count, saved), edit| (count + 1, saved + u64::from(edit.tokens_saved)));
        let _ = writeln!(out, "  {FAINT}… and {}, {} tokens{FAINT:#}", plural(rest, "smaller edit"), number(saved));
    }
}

/// A message's number in the log; the id of one that a compaction wrote.
fn numbered(entry: &Entry) -> String {
    entry.key.number().map_or_else(|| entry.message.id.to_string(), |number| format!("#{number}"))
}

/// The messages of a view by id: their numbers, and who said them. Ids are long and mean little to a person.
struct Names<'a>(HashMap<&'a str, &'a Entry>);

impl<'a> Names<'a> {
    fn new(session: &'a Session) -> Self {
        Self(session.view().iter().map(|entry| (entry.message.id.as_str(), entry)).collect())
    }

    fn describe(&self, edit: &EditReport) -> String {
        let Some(first) = edit.messages.first() else { return String::new() };
        let found = self.0.get(first.as_str());
        let number = found.map_or_else(|| first.to_string(), |entry| numbered(entry));
        match found {
            Some(entry) if edit.messages.len() == 1 => format!("{number} {}", who(entry)),
            _ if edit.messages.len() == 1 => number,
            _ => format!("{} from {number}", plural(edit.messages.len(), "message")),
        }
    }
}

/// The role of an entry, with the tool's name where it is about one tool.
fn who(entry: &Entry) -> String {
    let message = &entry.message;
    let mut tools: Vec<&str> = message.blocks.iter().filter_map(tool_of).collect();
    tools.dedup();
    match tools.as_slice() {
        [tool] => format!("{} {tool}", message.role.as_str()),
        _ => message.role.as_str().to_owned(),
    }
}

fn tool_of(block: &Block) -> Option<&str> {
    match &block.content {
        Content::ToolResult(result) => result.name.as_deref(),
        Content::ToolCall(call) => Some(&call.name),
        Content::Text { .. } | Content::Thinking(_) | Content::Media(_) | Content::Opaque(_) | Content::Gone => None,
    }
}

fn receipts(out: &mut String, report: &Report, width: usize) {
    let counted = |outcome: Outcome| report.messages.iter().filter(|receipt| receipt.outcome == outcome).count();
    let outcomes = [
        (Outcome::Kept, "kept"),
        (Outcome::Pinned, "pinned"),
        (Outcome::Excerpted, "excerpted"),
        (Outcome::Trimmed, "trimmed"),
        (Outcome::Summarized, "summarized"),
        (Outcome::Dropped, "dropped"),
    ];
    let words: Vec<String> = outcomes
        .into_iter()
        .map(|(outcome, word)| (counted(outcome), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{} {word}", number(count as u64)))
        .collect();
    out.push('\n');
    write_labelled(out, "messages", &words.join(" · "), width);
    if let Some(repaired) = report.repaired {
        let parts = [
            (repaired.removed, "result", "without a call left"),
            (repaired.answered, "call", "without a result answered"),
            (repaired.empty, "message", "without content left"),
        ];
        let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
        let words: Vec<String> =
            parts.map(|(count, what, how)| format!("{} {how}", plural(count as usize, what))).collect();
        write_labelled(out, "repaired", &words.join(" · "), width);
    }
    if let Some(recent) = report.recent {
        let asked = plural(recent.asked as usize, "newest message");
        let words = match recent.kept.min(recent.asked) {
            kept if kept == recent.asked => format!("the {asked} of [pins] keep_recent stay whole"),
            kept => format!(
                "{kept} of the {asked} of [pins] keep_recent stay whole: the others take more than half of the room"
            ),
        };
        write_labelled(out, "newest", &words, width);
    }
}
