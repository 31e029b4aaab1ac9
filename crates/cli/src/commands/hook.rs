//! `epitome hook`: answers to an agent that calls when something happens in it.

mod agent_message;
mod claude_code;
mod demands;
mod entries;
mod kept;
mod messages;
mod transcript;

use std::io::Read as _;

use crate::args::{HookAgent, HookArgs, HookEvent};
use crate::failure::{CommandResult, Failure};
use crate::terminal;
use std::process::ExitCode;

/// The exit code of any failure. The agent takes 2, the code of bad input elsewhere, for an order to stop what it does.
const FAILED: u8 = 1;

/// What the program says first, on standard error. Who calls it takes a program that does not say it for one that hangs.
const SIGN_OF_LIFE: &str = "epitome is at work\n";

pub(crate) fn run(args: &HookArgs) -> CommandResult {
    terminal::tell(SIGN_OF_LIFE);
    let mut input = String::new();
    std::io::stdin().lock().read_to_string(&mut input).map_err(|error| {
        let error = anyhow::Error::new(error).context("cannot read what the agent said on standard input");
        Failure::usage(error).with_exit_code(FAILED)
    })?;
    let answer = match (args.agent, args.event) {
        (HookAgent::ClaudeCode, HookEvent::PreCompact) => claude_code::demands_to_keep(&input),
        (HookAgent::ClaudeCode, HookEvent::SessionStart) => claude_code::words_of_what_left(&input),
        (HookAgent::ClaudeCode, HookEvent::Compact) => messages::compact(&input),
    };
    let text = answer.map_err(|failure| failure.with_exit_code(FAILED))?;
    if !text.is_empty() {
        terminal::standard(format!("{text}\n").as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}
