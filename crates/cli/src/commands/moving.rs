//! `epitome move`: a session continues in another agent.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use epitome::formats::{Format, MovedSession, NewSession, recorded_folder, write_moved};

use super::compact::compact_one;
use crate::args::{CompactArgs, InputArgs, MoveArgs, ViewArg};
use crate::failure::{CommandResult, Failure};
use crate::folders::{agent_variable, make_private};
use crate::paths::{is_standard, shell_word};
use crate::render::text::bytes;
use crate::replace::cannot_write;
use crate::session::{input, session_lookup};
use crate::setup::{claude_code_sessions, own_folder};
use crate::terminal::{note, print, standard, tell, warn};

/// The longest name of a project's folder that Claude Code (2.1.332) does not shorten by a hash of its own.
const LONGEST_NAME: usize = 200;

pub(crate) fn run(args: MoveArgs, quiet: bool) -> CommandResult {
    let input = InputArgs {
        file: session_lookup::file(&args.session)?,
        from: args.session.from,
        session: args.session.session.clone(),
        strict: args.strict,
        view: ViewArg::Compacted,
        side_chains: false,
    };
    let loaded = input::load(&input, quiet)?;
    let index = input::choose(&loaded, &input)?;
    if loaded.format == args.to {
        let failure = Failure::usage_text(format!("it is a session of {} already", args.to));
        return Err(failure.with_help("`epitome compact FILE --budget TOKENS -o FILE` compacts it where it is"));
    }
    let folder = project(&args, recorded_folder(&loaded), quiet)?;
    let compact = CompactArgs::new(input, args.to, args.budget, args.configuration.clone());
    let session = match compact_one(&compact, &loaded, index, !args.dry_run, quiet)? {
        Ok(session) => session,
        Err(code) => return Ok(code),
    };
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
    let place = NewSession { branch: branch(&folder), folder: folder.clone(), time };
    let moved = write_moved(&loaded, index, &session, args.to, &place).map_err(Failure::other)?;
    if !quiet {
        moved.left_out.iter().for_each(|what| warn(None, what));
        moved.replaced.iter().for_each(|what| tell(&format!("{what}\n")));
    }
    if args.strict && !moved.left_out.is_empty() {
        let failure =
            Failure::usage_text(format!("not all of it has a place in {}: {}", args.to, moved.left_out.join("; ")));
        return Err(failure.with_help("without --strict it is left out; nothing was written"));
    }
    deliver(&args, Path::new(&folder), &moved, quiet)
}

/// Puts the file where it belongs, and prints the line that resumes it.
fn deliver(args: &MoveArgs, folder: &Path, moved: &MovedSession, quiet: bool) -> CommandResult {
    let found = found_at(args.to, folder, moved);
    let size = bytes(moved.bytes.len());
    let Some(output) = &args.output else {
        let path = found?;
        let line = resuming(args.to, folder, &path, &moved.id);
        if args.dry_run {
            print(&format!("would write {size} to {}\nto be resumed by: {line}\n", path.display()))?;
            return Ok(ExitCode::SUCCESS);
        }
        let write = || path.parent().map_or(Ok(()), make_private).and_then(|()| write_new(&path, &moved.bytes));
        write().map_err(|error| cannot_write(&path, error))?;
        if !quiet {
            tell(&format!("{size} written to {}; it is resumed by:\n", path.display()));
        }
        print(&format!("{line}\n"))?;
        return Ok(ExitCode::SUCCESS);
    };
    if is_standard(output) {
        standard(&moved.bytes)?;
    } else {
        write_new(output, &moved.bytes).map_err(|error| cannot_write(output, error))?;
    }
    if args.to == Format::Pi && !is_standard(output) {
        let path = std::path::absolute(output)?;
        print(&format!("{}\n", resuming(args.to, folder, &path, &moved.id)))?;
    } else if let Some(path) = found.ok().filter(|_| !quiet) {
        let line = resuming(args.to, folder, &path, &moved.id);
        tell(&format!("{} finds it at {}, and resumes it there by: {line}\n", args.to, path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// The project's folder: the one that is asked for, else the session's own, else the current one.
fn project(args: &MoveArgs, recorded: Option<String>, quiet: bool) -> Result<String, Failure> {
    let unusable = |path: &Path, error: io::Error| {
        Failure::usage(anyhow::Error::new(error).context(format!("cannot use the folder {}", path.display())))
    };
    let chosen = match (&args.cwd, recorded.map(PathBuf::from)) {
        (Some(asked), _) if !asked.is_dir() => {
            return Err(Failure::usage_text(format!("--cwd {} is not a folder", asked.display())));
        }
        (Some(asked), _) => asked.clone(),
        (None, Some(recorded)) if recorded.is_dir() => recorded,
        (None, recorded) => {
            let current = std::env::current_dir().map_err(|error| unusable(Path::new("."), error))?;
            if let Some(recorded) = recorded.filter(|_| !quiet) {
                let (recorded, current) = (recorded.display(), current.display());
                note(&format!("the session's folder {recorded} is not here: it goes on in {current}"));
            }
            current
        }
    };
    // Agents name a folder by its path without links.
    let resolve = if cfg!(windows) { std::path::absolute } else { fs::canonicalize };
    let folder = resolve(&chosen).map_err(|error| unusable(&chosen, error))?;
    let named = folder.to_str().map(str::to_owned);
    named.ok_or_else(|| Failure::usage_text(format!("the folder's name is not UTF-8: {}", folder.display())))
}

/// The branch that is checked out in a folder; empty where there is none, or no git.
fn branch(folder: &str) -> String {
    let asked = Command::new("git").args(["-C", folder, "branch", "--show-current"]).stdin(Stdio::null()).output();
    let printed = asked.ok().filter(|asked| asked.status.success()).map(|asked| asked.stdout).unwrap_or_default();
    String::from_utf8_lossy(&printed).trim().to_owned()
}

/// Where an agent looks for a session of the project in a folder. Source: Claude Code 2.1.332, Codex 0.171.0, Pi 1.5.2.
fn found_at(agent: Format, folder: &Path, moved: &MovedSession) -> Result<PathBuf, Failure> {
    let MovedSession { id, started, .. } = moved;
    let (day, clock) = (started.get(..10).unwrap_or_default(), started.replace([':', '.'], "-"));
    match agent {
        Format::ClaudeCode => {
            let sessions = claude_code_sessions(folder)?;
            if sessions.file_name().is_some_and(|name| name.len() > LONGEST_NAME) {
                let failure =
                    Failure::usage_text(format!("the path of {} is too long for Claude Code", folder.display()));
                return Err(failure.with_help("name the file with -o, or a folder with a shorter path with --cwd"));
            }
            Ok(sessions.join(format!("{id}.jsonl")))
        }
        Format::Codex => {
            let name = format!("rollout-{}-{id}.jsonl", clock.get(..19).unwrap_or_default());
            Ok(own_folder("CODEX_HOME", ".codex")?.join("sessions").join(day.replace('-', "/")).join(name))
        }
        _ => {
            let path = folder.to_string_lossy();
            let path = path.strip_prefix(['/', '\\']).unwrap_or(&path).replace(['/', '\\', ':'], "-");
            let sessions = match agent_variable("PI_CODING_AGENT_SESSION_DIR") {
                Some(folder) => folder,
                None => own_folder("PI_CODING_AGENT_DIR", ".pi/agent")?.join("sessions").join(format!("--{path}--")),
            };
            Ok(sessions.join(format!("{clock}_{id}.jsonl")))
        }
    }
}

/// The line of a shell that resumes a session.
fn resuming(agent: Format, folder: &Path, file: &Path, id: &str) -> String {
    let is_here = std::env::current_dir().and_then(fs::canonicalize).is_ok_and(|current| current == folder);
    let go = if is_here { String::new() } else { format!("cd {} && ", shell_word(&folder.to_string_lossy())) };
    match agent {
        Format::ClaudeCode => format!("{go}claude --resume {id}"),
        Format::Codex => format!("{go}codex resume {id}"),
        _ => format!("{go}pi --session {}", shell_word(&file.to_string_lossy())),
    }
}

/// Writes a file that only its owner can read, where there is none.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    // A part of a session is none.
    written.inspect_err(|_| drop(fs::remove_file(path)))
}
