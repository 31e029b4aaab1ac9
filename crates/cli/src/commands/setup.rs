//! `epitome setup`: an agent's own files are changed so that it works with this program, and changed back.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;

use similar::TextDiff;

use crate::args::SetupArgs;
use crate::failure::{CommandResult, Failure};
use crate::render::style::{BAD, FAINT, GOOD, STRONG};
use crate::setup::{Agent, Changes, FileChange, Place, Scope, recorded, write};
use crate::terminal;

/// The address of the service where none is given: the one that `epitome serve` takes.
const SERVICE: &str = "http://127.0.0.1:7777";

/// The lines around a change that a person is shown.
const AROUND: usize = 3;

pub(crate) fn run(args: &SetupArgs, quiet: bool) -> CommandResult {
    let name = args.agent.name();
    let project = match args.scope {
        Scope::User => None,
        Scope::Project => Some(std::env::current_dir()?),
    };
    if args.service.is_some() && !args.agent.has_service() {
        let failure = Failure::usage_text(format!("--service: {name} does not reach its provider through the service"));
        return Err(failure.with_help("leave it out"));
    }
    let service = service(args.service.as_deref().unwrap_or(SERVICE))?;
    if args.model_summary && args.agent != Agent::ClaudeCode {
        let failure = Failure::usage_text(format!("--model-summary is for claude-code, not for {name}"));
        return Err(failure.with_help("leave it out"));
    }
    let (record_path, record) = recorded(name, project.as_deref(), args.agent.moved_folder().as_deref())?;
    let version = if args.undo { None } else { args.agent.version() };
    let place = Place { project, program: program()?, model_summary: args.model_summary, service, version };
    let (changes, advice) = if args.undo {
        let Some(record) = &record else {
            let whose = if args.scope == Scope::User { "" } else { " for this project" };
            terminal::tell(&format!("{name} is not set up{whose}: there is nothing to take back\n"));
            return Ok(ExitCode::SUCCESS);
        };
        (Changes::of_undo(record)?, Vec::new())
    } else {
        let plan = args.agent.plan(&place, record.as_ref())?;
        (Changes::of_plan(&plan, record.as_ref())?, plan.advice)
    };
    let words = "was written by epitome, and edited since: it stays; remove it where it is not needed";
    let left = changes.edited.iter().filter(|_| !args.undo).map(|path| format!("{} {words}", path.display()));
    left.chain(changes.notes.iter().cloned()).filter(|_| !quiet).for_each(|note| terminal::note(&note));
    let is_known = record == changes.record;
    let is_whole = !args.undo || changes.edited.is_empty();
    let outcome = if is_whole { Ok(ExitCode::SUCCESS) } else { Err(still_active(name, &changes.edited)) };
    if changes.files.is_empty() && is_known {
        if is_whole && !quiet {
            terminal::tell(&format!("{name} is set up already: nothing to change\n"));
        }
        return outcome;
    }
    // Who is asked has to see what for.
    if !quiet || !args.yes {
        terminal::print(&changes.files.iter().map(diff).collect::<String>())?;
    }
    if args.dry_run {
        terminal::tell("nothing was changed (--dry-run)\n");
        return outcome;
    }
    if !args.yes && !changes.files.is_empty() && !is_agreed()? {
        terminal::tell("nothing was changed\n");
        return Ok(ExitCode::SUCCESS);
    }
    write(&changes, &record_path)?;
    if is_whole && !quiet {
        let done = if args.undo { "set back" } else { "set up" };
        let undo = if args.undo { String::new() } else { format!("; {FAINT}--undo takes it back{FAINT:#}") };
        terminal::tell(&format!("{STRONG}{name} is {done}{STRONG:#}{undo}\n"));
        advice.iter().for_each(|line| terminal::tell(&format!("{line}\n")));
    }
    outcome
}

/// An undo leaves what the person edited, and the agent continues to load it.
fn still_active(name: &str, edited: &[PathBuf]) -> Failure {
    let files: Vec<String> = edited.iter().map(|path| path.display().to_string()).collect();
    let which = files.join(", ");
    let words = format!("the set-up of {name} is still active: written by epitome, edited since, and left: {which}");
    Failure::other(anyhow::Error::msg(words)).with_help("move or remove what is left, and run `--undo` again")
}

/// The path of this program: what a plug-in calls is the program that set it up.
fn program() -> Result<String, Failure> {
    let path = std::env::current_exe()?;
    path.into_os_string().into_string().map_err(|path| {
        let shown = path.display();
        let failure = Failure::usage_text(format!("this program's path is not UTF-8: {shown}"));
        failure.with_help("put it into another folder: files of settings cannot name this one")
    })
}

/// The service's address without a slash at its end.
fn service(address: &str) -> Result<String, Failure> {
    let plain = address.trim_end_matches('/');
    let host = plain.strip_prefix("http://").or_else(|| plain.strip_prefix("https://"));
    let is_one = host.is_some_and(|host| {
        !host.is_empty() && !host.contains(|c: char| "/\\?#@\"".contains(c) || c.is_whitespace() || c.is_control())
    });
    if is_one {
        return Ok(plain.to_owned());
    }
    let failure = Failure::usage_text(format!("--service: `{address}` is not the address of a service"));
    Err(failure.with_help("such as http://127.0.0.1:7777, without a path, a query or a name of a user"))
}

/// Asks the person. Where nobody can answer, the changes need `--yes`.
fn is_agreed() -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        let failure = Failure::usage_text("cannot ask for confirmation: standard input is not a terminal");
        return Err(failure.with_help("--yes makes the changes, --dry-run only shows them; nothing was changed"));
    }
    terminal::tell("make these changes? [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// A change as a person reads it.
fn diff(change: &FileChange) -> String {
    let path = change.path.display();
    let what = match (&change.before, &change.after) {
        (None, _) => "new",
        (_, None) => "removed",
        _ => "changed",
    };
    let before = change.before.as_deref().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let mut text = format!("{STRONG}{path}{STRONG:#} {FAINT}({what}){FAINT:#}\n");
    let compared = TextDiff::from_lines(before, after);
    for line in compared.unified_diff().context_radius(AROUND).missing_newline_hint(false).to_string().lines() {
        text += &match line.as_bytes().first() {
            Some(b'+') => format!("{GOOD}{line}{GOOD:#}\n"),
            Some(b'-') => format!("{BAD}{line}{BAD:#}\n"),
            Some(b'@') => format!("{FAINT}{line}{FAINT:#}\n"),
            _ => format!("{line}\n"),
        };
    }
    text + "\n"
}
