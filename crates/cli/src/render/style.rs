//! The few styles in use. Writers take them off where the output is not a terminal or `NO_COLOR` is set.

use anstyle::{AnsiColor, Style};

/// The important part of a line.
pub(crate) const STRONG: Style = Style::new().bold();
/// Labels, and what may be skipped.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Within bounds.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Near a bound.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// Out of bounds.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// Names.
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
