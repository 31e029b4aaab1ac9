//! A session that is watched, for a person.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;

use crate::render::context::{Filling, filled, nearness_words, share_words};
use crate::render::style::{FAINT, WARN, without_styles};
use crate::render::text::{clip, columns, first_words, number, plural};
use crate::terminal;
use crate::window::snapshot::{ContextSnapshot, SnapshotEvent};

/// A panel on a terminal, drawn again over itself.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// Lines of the last drawing.
    lines: usize,
}

impl Screen {
    /// Draws a frame over the one before.
    pub(crate) fn show(&mut self, frame: &ContextSnapshot) -> io::Result<()> {
        let size = terminal_size::terminal_size();
        let (width, height) =
            size.map_or((80, 24), |(width, height)| (usize::from(width.0).max(1), usize::from(height.0).max(2)));
        let drawn = panel(frame, width);
        // A line that wraps, or is pushed out at the top, could not be drawn over any more.
        let shown: Vec<String> = drawn.lines().take(height - 1).map(|line| fitted(line, width)).collect();
        let over = std::mem::replace(&mut self.lines, shown.len());
        terminal::print_over(over, &format!("{}\n", shown.join("\n")))
    }
}

/// A frame as a panel in about `width` columns: the upper half of the page of `context`.
pub(crate) fn panel(frame: &ContextSnapshot, width: usize) -> String {
    let mut out = filled(
        &Filling {
            file: &frame.file,
            format: frame.format,
            model: frame.model.as_deref(),
            window: &frame.window,
            messages: frame.messages,
            fullness: &frame.fullness,
            tokens: frame.counted_tokens,
            usage: frame.usage.as_ref(),
            warnings: &frame.warnings,
            parts: &frame.parts,
        },
        width,
    );
    if frame.compactions > 0 {
        let _ = writeln!(out, "\n{FAINT}{} in force{FAINT:#}", plural(frame.compactions as usize, "compaction"));
    }
    out
}

/// A line with style codes in at most `width` columns: one that is too long loses its end and its styles.
fn fitted(line: &str, width: usize) -> String {
    let plain = without_styles(line);
    if columns(&plain) <= width { line.to_owned() } else { clip(&plain, width).into_owned() }
}

/// A frame as one line, with a line for each warning that is not in `told`.
pub(crate) fn line(frame: &ContextSnapshot, told: &mut HashSet<String>) -> String {
    let fullness = &frame.fullness;
    let what = match frame.event {
        SnapshotEvent::Start => format!("{}: ", frame.file.display()),
        SnapshotEvent::OtherSession => format!("another session, {}: ", frame.file.display()),
        SnapshotEvent::Compaction => "compacted: ".to_owned(),
        SnapshotEvent::Undo => "compaction undone: ".to_owned(),
        SnapshotEvent::Messages => String::new(),
    };
    if frame.event == SnapshotEvent::OtherSession {
        told.clear();
    }
    let mut out = format!(
        "{what}{} full, {} of {} tokens; {}\n",
        share_words(fullness),
        number(fullness.check.current_tokens),
        number(fullness.check.usable_tokens),
        nearness_words(fullness),
    );
    for warning in frame.warnings.iter().map(ToString::to_string) {
        if told.insert(warning.clone()) {
            let _ = writeln!(out, "{WARN}warning{WARN:#}: {}", first_words(&warning, 400));
        }
    }
    out
}
