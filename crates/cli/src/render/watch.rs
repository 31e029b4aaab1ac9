//! A session that is watched, for a person.

use std::fmt::Write as _;
use std::io;

use epitome::engine::Urgency;
use epitome::session::{Origin, Role};

use crate::render::bar::bar;
use crate::render::context::{nearness_words, part_name, share_words, style_of, usage_words, warning_lines};
use crate::render::style::{FAINT, NAME, STRONG, WARN, without_styles};
use crate::render::text::{clip, columns, first_words, number, percent, plural};
use crate::terminal;
use crate::window::snapshot::{ContextSnapshot, NewMessage, SnapshotEvent};

/// Columns of the bar.
const BAR: usize = 48;

/// Messages that a panel lists: the newest.
const MESSAGES: usize = 8;

/// Messages that a line names.
const IN_LINE: usize = 3;

/// Columns of a message's first words in a line.
const WORDS: usize = 60;

/// Columns of who said a message.
const SPEAKER: usize = 22;

/// Parts that a panel names.
const PARTS: usize = 6;

/// A panel on a terminal, drawn again over itself.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// Lines of the last drawing.
    lines: usize,
    /// The newest messages, from all frames of the session.
    newest: Vec<NewMessage>,
}

impl Screen {
    /// Draws a frame over the one before.
    pub(crate) fn show(&mut self, frame: &ContextSnapshot) -> io::Result<()> {
        if matches!(frame.event, SnapshotEvent::Start | SnapshotEvent::OtherSession) {
            self.newest.clear();
        }
        self.newest.extend(frame.new.iter().cloned());
        self.newest.drain(..self.newest.len().saturating_sub(MESSAGES));
        let size = terminal_size::terminal_size();
        let (width, height) =
            size.map_or((80, 24), |(width, height)| (usize::from(width.0).max(1), usize::from(height.0).max(2)));
        let drawn = panel_of(frame, &self.newest, width);
        // A line that is pushed out at the top could not be drawn over any more.
        let shown: Vec<&str> = drawn.lines().take(height - 1).collect();
        let over = std::mem::replace(&mut self.lines, shown.len());
        terminal::print_over(over, &format!("{}\n", shown.join("\n")))
    }
}

/// A frame as a panel in at most `width` columns.
pub(crate) fn panel(frame: &ContextSnapshot, width: usize) -> String {
    panel_of(frame, &frame.new, width)
}

fn panel_of(frame: &ContextSnapshot, newest: &[NewMessage], width: usize) -> String {
    let mut out = String::new();
    let mut push = |line: &str| {
        let _ = writeln!(out, "{}", fitted(line, width));
    };
    let model = frame.model.as_deref().map(|model| format!(", {}", first_words(model, WORDS))).unwrap_or_default();
    push(&format!("{STRONG}{}{STRONG:#}  {FAINT}{}{model}{FAINT:#}", frame.file.display(), frame.format));
    let fullness = &frame.fullness;
    let check = &fullness.check;
    let style = style_of(check.urgency);
    let drawn = bar(check.current_tokens.into(), check.usable_tokens.into(), BAR.min(width.saturating_sub(40)), style);
    let ours = frame.counted_tokens;
    let by = if check.current_tokens > ours { format!(", {} counted here", number(ours)) } else { String::new() };
    push(&format!(
        "  {drawn}  {STRONG}{}{STRONG:#}  {} of {} tokens{by}",
        share_words(fullness),
        number(check.current_tokens),
        number(check.usable_tokens)
    ));
    let pace = frame.messages_left.filter(|_| check.urgency == Urgency::None);
    let pace = pace.map(|count| format!(", about {} like the newest", plural(count as usize, "message")));
    push(&format!("  {style}{}{}{style:#}", nearness_words(fullness), pace.unwrap_or_default()));
    if let Some(usage) = &frame.usage {
        let style = if usage.is_near_the_window(fullness) { WARN } else { FAINT };
        let ours = ours.saturating_add(fullness.tool_definition_tokens);
        push(&format!("  {style}{}{style:#}", usage_words(usage, fullness, ours)));
    }
    if frame.compactions > 0 {
        push(&format!("  {FAINT}compacted {}{FAINT:#}", times_words(frame.compactions)));
    }
    let whole: u64 = frame.parts.iter().map(|part| u64::from(part.tokens)).sum();
    let parts = frame.parts.iter().take(PARTS);
    let parts: Vec<String> =
        parts.map(|part| format!("{} {}", part_name(part.part), percent(part.tokens.into(), whole))).collect();
    push(&format!("  {}", parts.join(" · ")));
    for message in newest.iter().rev().take(MESSAGES).rev() {
        push(&format!(
            "  {FAINT}#{:<5}{FAINT:#}{:>9}  {NAME}{:<SPEAKER$}{NAME:#}  {}",
            message.number,
            number(message.tokens),
            clip(&speaker(message), SPEAKER),
            message.words
        ));
    }
    for warning in warning_lines(&frame.warnings) {
        push(&format!("  {WARN}warning{WARN:#}: {}", first_words(&warning, width.saturating_sub(11))));
    }
    out
}

/// A line with style codes in at most `width` columns: one that is too long loses its end and its styles.
fn fitted(line: &str, width: usize) -> String {
    let plain = without_styles(line);
    if columns(&plain) <= width { line.to_owned() } else { clip(&plain, width).into_owned() }
}

/// A frame as one line, with a line for each new warning.
pub(crate) fn line(frame: &ContextSnapshot) -> String {
    let fullness = &frame.fullness;
    let check = &fullness.check;
    let what = match frame.event {
        SnapshotEvent::Start => format!("{}: ", frame.file.display()),
        SnapshotEvent::OtherSession => format!("another session, {}: ", frame.file.display()),
        SnapshotEvent::Compaction => "compacted: ".to_owned(),
        SnapshotEvent::Undo => "compaction undone: ".to_owned(),
        SnapshotEvent::Messages => String::new(),
    };
    let mut out = format!(
        "{what}{} full, {} of {} tokens; {}",
        share_words(fullness),
        number(check.current_tokens),
        number(check.usable_tokens),
        nearness_words(fullness),
    );
    for message in frame.new.iter().rev().take(IN_LINE).rev() {
        let _ = write!(out, " · #{} {} {}", message.number, speaker(message), number(message.tokens));
    }
    if frame.new.len() > IN_LINE && frame.event == SnapshotEvent::Messages {
        let _ = write!(out, " ({} in all)", plural(frame.new.len(), "new message"));
    }
    out.push('\n');
    for warning in &frame.untold {
        let _ = writeln!(out, "{WARN}warning{WARN:#}: {}", first_words(warning, 400));
    }
    out
}

fn times_words(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

/// Who said a message: `result of Bash`, `model, calls Read`.
fn speaker(message: &NewMessage) -> String {
    let tools: Vec<String> = message.tools.iter().take(2).map(|tool| first_words(tool, 24)).collect();
    let tools = match message.tools.len() {
        0..=2 => tools.join(", "),
        more => format!("{} and {} more", tools.join(", "), more - 2),
    };
    match (message.role, message.origin) {
        (_, Origin::Summary | Origin::Notice) => "summary".to_owned(),
        (Role::System, _) => "system prompt".to_owned(),
        (Role::User, Origin::Typed) => "user".to_owned(),
        (Role::User, Origin::ToolOutput) => "result".to_owned(),
        (Role::User, _) => "agent".to_owned(),
        (Role::Assistant, _) if tools.is_empty() => "model".to_owned(),
        (Role::Assistant, _) => format!("model, calls {tools}"),
        (Role::Tool, _) if tools.is_empty() => "result".to_owned(),
        (Role::Tool, _) => format!("result of {tools}"),
    }
}
