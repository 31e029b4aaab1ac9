//! `epitome statusline`: one line that says what an agent's context holds.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use epitome::Session;
use epitome::context::ContextStatus;
use epitome::formats::{Format, ReadError, ReadOptions, RecordedModel, read, recorded_model};
use serde::Deserialize;

use crate::args::WindowArgs;
use crate::failure::{CommandResult, Failure};
use crate::render::bar::bar;
use crate::render::context::part_name;
use crate::render::style::{BAD, FAINT, GOOD, WARN};
use crate::render::text::{number, percent, plural};
use crate::session::input::bytes;
use crate::terminal;
use crate::window::Window;

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
    std::io::stdin().lock().read_to_string(&mut input).map_err(|error| {
        Failure::usage(anyhow::Error::new(error).context("cannot read what the agent said on standard input"))
    })?;
    // An array is not taken for the fields in order.
    let object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&input);
    let input = object.and_then(StatusInput::deserialize).map_err(|error| {
        let error = anyhow::Error::new(error).context("what the agent said on standard input is not understood");
        Failure::usage(error).with_help("this command is called by Claude Code, as the command of its status line")
    })?;
    // A session that has said nothing has no file yet: its share is not known, as where the agent names no file.
    let missing = input.transcript_path.as_ref().filter(|path| !path.exists());
    if let Some(path) = missing {
        terminal::note(&format!(
            "there is no {}: how full the context is by its messages is not known",
            path.display()
        ));
    }
    // Or it has an empty one, or one without a message. The format is the agent's:
    // such a file does not show it.
    let options = ReadOptions { format: Some(Format::ClaudeCode), ..ReadOptions::default() };
    let (session, model) = match &input.transcript_path {
        Some(path) if path.exists() => match read(bytes(path)?, options) {
            Ok(loaded) => {
                let model = recorded_model(loaded.format, &loaded.bytes);
                (loaded.sessions.into_iter().next().map(|first| first.session), model)
            }
            // Malformed is a file of the agent's in which no line is a message.
            Err(ReadError::Empty | ReadError::Malformed { .. }) => (None, RecordedModel::default()),
            Err(error) => return Err(Failure::usage(error)),
        },
        _ => (None, RecordedModel::default()),
    };
    let is_there = input.transcript_path.is_some() && missing.is_none();
    let session = is_there.then(|| session.unwrap_or_default());
    let line = line(session.as_ref(), &model, &input.context_window.unwrap_or_default())?;
    // The agent shows colours, though this is not a terminal to its programs.
    terminal::print_for_host(&format!("{line}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// The provider's figure, of the whole window, leads where the agent tells it; the figure of the messages is that of
/// `epitome context`. Without a session there is no figure of messages.
fn line(session: Option<&Session>, model: &RecordedModel, window: &WindowInput) -> Result<String, Failure> {
    let args = WindowArgs { window: window.context_window_size.filter(|size| *size > 0), ..WindowArgs::default() };
    let own_window = Window::new(&args, model, &epitome::registry())?;
    let reported = window.used_percentage.map(|share| share.max(0.0));
    let Some(session) = session else {
        let budget = own_window.engine(&Session::new()).1;
        let window = number(budget.window);
        return Ok(match reported {
            Some(share) => format!("{} {share:.0} % of {window}", share_bar(share)),
            None => format!("window {window}"),
        });
    };
    let (engine, budget) = own_window.engine(session);
    let status = ContextStatus::measure(session, &engine, &budget, |ledger| {
        own_window.fullness(ledger, session, ledger.total(), &budget)
    });
    let check = &status.fullness.check;
    let words = |tokens: u32| {
        format!("{} of {}", percent(tokens.into(), check.usable_tokens.into()), number(check.usable_tokens))
    };
    // Where the agent does not tell the provider's figure, its session may.
    let of_messages = words(if reported.is_some() { status.counted_tokens } else { check.current_tokens });
    let drawn = share_bar(reported.unwrap_or(check.share * 100.0));
    let mut text = match reported {
        Some(share) => format!("{drawn} {share:.0} % of {}, messages {of_messages}", number(budget.window)),
        None => format!("{drawn} {of_messages}"),
    };
    for part in status.parts.iter().take(PARTS) {
        text += &format!(" {FAINT}·{FAINT:#} {} {}", part_name(part.part), number(part.tokens));
    }
    if status.removed.messages > 0 {
        let left = plural(status.removed.messages as usize, "message");
        text += &format!(" {FAINT}·{FAINT:#} {left} left, search_history finds them");
    }
    Ok(text)
}

/// A bar that is full at 100 percent, and coloured by how near that is.
fn share_bar(share: f64) -> String {
    let style = if share >= FULL {
        BAD
    } else if share >= NEAR {
        WARN
    } else {
        GOOD
    };
    bar(share.min(100.0).round() as u64, 100, BAR, style)
}
