//! `epitome statusline`: one line that says what an agent's context holds.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use epitome::Session;
use epitome::formats::{Format, ReadError, ReadOptions, read};
use epitome_mcp::ContextStatus;
use serde::Deserialize;

use crate::configuration;
use crate::counter::counter_of;
use crate::failure::{CommandResult, Failure};
use crate::input::bytes;
use crate::render::bar::bar;
use crate::render::style::{BAD, FAINT, GOOD, WARN};
use crate::render::text::{number, plural};
use crate::terminal;

/// The width of the bar, in columns.
const BAR: usize = 10;

/// Shares of the window from which the bar warns: where compactions are suggested, and where agents make them.
const NEAR: f64 = 60.0;
const FULL: f64 = 80.0;

/// The parts that are named, the largest first.
const PARTS: usize = 3;

/// What the agent tells a status line, as far as it matters here.
#[derive(Debug, Deserialize)]
struct StatusInput {
    transcript_path: Option<PathBuf>,
    context_window: Option<WindowInput>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WindowInput {
    context_window_size: Option<u32>,
    /// Of the window, by the provider's figures, with the system prompt and the tools.
    used_percentage: Option<f64>,
}

pub(crate) fn run() -> CommandResult {
    let mut input = String::new();
    std::io::stdin().lock().read_to_string(&mut input)?;
    let input: StatusInput = serde_json::from_str(&input).map_err(|error| {
        let error = anyhow::Error::new(error).context("what the agent said on standard input is not understood");
        Failure::usage(error).with_help("this command is called by Claude Code, as the command of its status line")
    })?;
    // A session that has said nothing has no file yet, or an empty one, or one without a message. The format is the agent's:
    // such a file does not show it.
    let options = ReadOptions { format: Some(Format::ClaudeCode), ..ReadOptions::default() };
    let session = match &input.transcript_path {
        Some(path) if path.exists() => match read(bytes(path)?, options) {
            Ok(loaded) => loaded.sessions.into_iter().next().map(|first| first.session),
            // Malformed is a file of the agent's in which no line is a message.
            Err(ReadError::Empty | ReadError::Malformed { .. }) => None,
            Err(error) => return Err(Failure::usage(error)),
        },
        _ => None,
    };
    let mut line = line(&session.unwrap_or_default(), &input.context_window.unwrap_or_default())?;
    // The agent shows colours, though this is not a terminal to its programs.
    if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        line = anstream::adapter::strip_str(&line).to_string();
    }
    terminal::standard(format!("{line}\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn line(session: &Session, window: &WindowInput) -> Result<String, Failure> {
    let runtime = configuration::build_without_model(epitome::Config::default(), &epitome::registry())?;
    let engine = epitome::engine_with_counter(&runtime, counter_of(&runtime, session));
    let mut budget = runtime.budget.clone();
    if let Some(size) = window.context_window_size.filter(|size| *size > 0) {
        (budget.window, budget.reserve_output) = (size, 0);
    }
    let status = ContextStatus::measure(session, &engine, &budget);
    let share = window.used_percentage.unwrap_or(status.percent).clamp(0.0, 100.0);
    let style = if share >= FULL {
        BAD
    } else if share >= NEAR {
        WARN
    } else {
        GOOD
    };
    let drawn = bar(share.round() as u64, 100, BAR, style);
    let mut text = format!("{drawn} {share:.0} % of {}", number(budget.window));
    for part in status.parts.iter().take(PARTS) {
        text += &format!(" {FAINT}·{FAINT:#} {} {}", part.part, number(part.tokens));
    }
    if status.left.messages > 0 {
        let left = plural(status.left.messages as usize, "message");
        text += &format!(" {FAINT}·{FAINT:#} {left} left, search_history finds them");
    }
    Ok(text)
}
