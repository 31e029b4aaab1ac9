//! `epitome watch`: a running agent's session, followed as it grows.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use epitome::follow::{ReadProblem, SessionSource};
use epitome::formats::RecordedModel;

use crate::args::WatchArgs;
use crate::failure::{CommandResult, Failure};
use crate::paths::is_standard;
use crate::render::text::width;
use crate::render::watch::{Screen, line, panel};
use crate::session::session_lookup::place;
use crate::terminal;
use crate::window::Window;
use crate::window::snapshot::{ContextSnapshot, SnapshotWatcher};

/// How often the file is looked at. Source: a person sees no difference, and asking the system for a file's length and
/// time costs microseconds; it works on every file system, which notices of changes do not.
const INTERVAL: Duration = Duration::from_millis(500);

/// Every how many looks a folder is searched for a newer session. Source: a session that begins is seen within five
/// seconds, and a folder of ten thousand files is not listed twice a second.
const SEARCH_EVERY: usize = 10;

/// The endings of a session's file that may be written later.
const ENDINGS: [&str; 2] = ["json", "jsonl"];

/// Shows a frame.
type Show<'a> = dyn FnMut(&ContextSnapshot) -> io::Result<()> + 'a;

pub(crate) fn run(args: &WatchArgs, quiet: bool) -> CommandResult {
    let registry = epitome::registry();
    // A wrong configuration is told before anything is waited for.
    Window::new(&args.window, &RecordedModel::default(), &registry)?;
    let path = match &args.session.place {
        Some(path) if is_standard(path) => {
            let failure = Failure::usage_text("standard input is read to its end, and cannot be watched");
            return Err(failure.with_help("name the session's file, or show it once: epitome context -"));
        }
        Some(path) if !args.once && is_file_to_come(path) => path.clone(),
        _ => place(&args.session)?.path,
    };
    let mut source = SessionSource::new(path, args.session.from, args.session.session.clone());
    let mut watcher = SnapshotWatcher::new(&args.window, &registry);
    let is_terminal = terminal::is_screen();
    let (mut screen, mut told) = (Screen::default(), HashSet::new());
    let mut show = |frame: &ContextSnapshot| match (args.json, is_terminal, args.once) {
        (true, ..) => print_json(frame),
        (false, true, false) => screen.show(frame),
        (false, _, true) => terminal::print(&panel(frame, width())),
        (false, false, false) => terminal::print(&line(frame, &mut told)),
    };
    if args.once {
        source.refresh().map_err(Failure::usage)?;
        if let Some(read) = source.current() {
            read.missing.iter().filter(|_| !quiet).for_each(|missing| terminal::note(missing));
            show(&watcher.frame(read)?)?;
        }
    } else {
        let (interrupted, interrupts) = channel();
        // The channel closes when the loop has ended: then nobody needs to be told.
        let interrupt = move || interrupted.send(()).unwrap_or_default();
        ctrlc::set_handler(interrupt).map_err(Failure::other)?;
        let mut wait = || interrupts.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout);
        let mut tell = |text: &str| {
            if !quiet {
                terminal::note(text);
            }
        };
        follow(&mut source, &mut watcher, &mut show, &mut tell, &mut wait)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows each change of a session, and tells once what keeps it from being read. `wait` waits for the time of the next
/// look; `false` ends it.
fn follow(
    source: &mut SessionSource,
    watcher: &mut SnapshotWatcher<'_>,
    show: &mut Show<'_>,
    tell: &mut dyn FnMut(&str),
    wait: &mut dyn FnMut() -> bool,
) -> Result<(), Failure> {
    let (mut told, mut told_missing): (Option<ReadProblem>, _) = (None, None);
    for look in 0usize.. {
        let looked = if look.is_multiple_of(SEARCH_EVERY) { source.refresh() } else { source.refresh_current() };
        match looked {
            Ok(is_changed) => {
                told = None;
                if let Some(read) = source.current().filter(|_| is_changed) {
                    read.missing.iter().filter(|_| read.missing != told_missing).for_each(|missing| tell(missing));
                    told_missing.clone_from(&read.missing);
                    show(&watcher.frame(read)?)?;
                }
            }
            // No change of the file is likely to mend this.
            Err(problem @ ReadProblem::Unchosen(_)) if source.current().is_none() => {
                return Err(Failure::usage(problem));
            }
            Err(problem) => {
                if told.as_ref() != Some(&problem) {
                    tell(&waiting(&problem));
                }
                told = Some(problem);
            }
        }
        if !wait() {
            break;
        }
    }
    Ok(())
}

/// What is told while a session cannot be read.
fn waiting(problem: &ReadProblem) -> String {
    match problem {
        ReadProblem::Missing(what) => format!("{what} is not there: waiting for it"),
        ReadProblem::Unchosen(why) | ReadProblem::Unreadable(why) => format!("{why}: waiting for a change"),
    }
}

/// Whether a path names a session's file that does not exist yet.
fn is_file_to_come(path: &Path) -> bool {
    let has_ending = path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
    has_ending && !path.exists()
}

fn print_json(frame: &ContextSnapshot) -> io::Result<()> {
    let mut text = serde_json::to_string(frame)?;
    text.push('\n');
    terminal::standard(text.as_bytes())
}
