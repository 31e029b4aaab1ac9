//! `epitome serve --install`: the system's manager of services starts the service, and `--uninstall` takes that back.

use std::net::{SocketAddr, TcpStream};
use std::process::{Command, ExitCode};
use std::time::Duration;

use super::setup::still_active;
use crate::args::ServeArgs;
use crate::failure::{CommandResult, Failure};
use crate::folders;
use crate::setup::{Agent, Call, Changes, Manager, Start, record_place, recorded, write};
use crate::terminal;

/// The name of the record of what was written.
const NAME: &str = "service";

/// How long a service may take to listen, and how often that is looked at.
const LISTENS: (Duration, u32) = (Duration::from_millis(100), 50);

/// The variables that say where this program finds its files.
const PLACES: [&str; 2] = ["XDG_DATA_HOME", "XDG_CONFIG_HOME"];

/// Writes the description of the service with the arguments of this call, and has it started.
pub(super) fn install(args: &ServeArgs, quiet: bool) -> CommandResult {
    let (record_path, record) = recorded(NAME, None, None)?;
    let variables = [
        ("--token-variable", &args.token_variable, "--token-file FILE"),
        ("--item-key-variable", &args.item_key_variable, "--item-key-file FILE"),
        ("--store-variable", &args.store_variable, "--store ADDRESS"),
    ];
    if let Some((option, _, instead)) = variables.into_iter().find(|(_, name, _)| name.is_some()) {
        let failure = Failure::usage_text(format!("--install: {option} names a variable of this shell"));
        return Err(failure.with_help(format!("a service that starts by itself has none: {instead}")));
    }
    if args.listen.port() == 0 {
        let failure = Failure::usage_text("--install: port 0 is another one each time");
        return Err(failure.with_help("--listen ADDRESS:PORT names one that agents can be given"));
    }
    let manager = manager()?;
    let words = words()?;
    let folder = text(std::env::current_dir()?.into_os_string(), "the folder")?;
    let places = PLACES.iter().filter_map(|name| Some(((*name).to_owned(), folders::variable(name)?)));
    let places = places.map(|(name, path)| Ok((name, text(path.into_os_string(), "a folder")?)));
    let places = places.collect::<Result<Vec<_>, Failure>>()?;
    let plan = manager.plan(&Start { words: &words, folder: &folder, variables: &places })?;
    let changes = Changes::of_plan(&plan, record.as_ref())?;
    write(&changes, &record_path)?;
    let Some(file) = plan.files.first().map(|file| file.path.clone()) else { return Ok(ExitCode::SUCCESS) };
    let shown = file.display();
    let undo = "epitome serve --uninstall takes it back";
    call(manager, &manager.starting(&file))
        .map_err(|failure| failure.with_help(format!("{shown} is written; {undo}")))?;
    if !listens(args.listen) {
        let address = args.listen;
        let failure =
            Failure::other(anyhow::Error::msg(format!("the service was started, and nothing answers at {address}")));
        return Err(failure.with_help(format!("its log says why: {}; {undo}", manager.log())));
    }
    if !quiet {
        let address = args.listen;
        terminal::tell(&format!(
            "the service answers at http://{address}, and starts whenever you log in ({shown}); {undo}\n"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Stops the service, and removes its description.
pub(super) fn uninstall(quiet: bool) -> CommandResult {
    let (record_path, record) = recorded(NAME, None, None)?;
    let Some(record) = record else {
        terminal::tell("the service is not installed: there is nothing to take back\n");
        return Ok(ExitCode::SUCCESS);
    };
    let changes = Changes::of_undo(&record)?;
    if !changes.edited.is_empty() {
        return Err(still_active(NAME, &changes.edited));
    }
    let manager = manager()?;
    call(manager, &manager.stopping())?;
    write(&changes, &record_path)?;
    call(manager, &manager.forgetting())?;
    if !quiet {
        terminal::tell("the service is stopped, and starts no more by itself\n");
        if is_set_up(Agent::Codex) {
            terminal::note(
                "Codex reaches its provider through the service: epitome setup codex --undo gives it its own",
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the service was installed, and is.
pub(super) fn is_installed() -> bool {
    recorded(NAME, None, None).is_ok_and(|(_, record)| record.is_some())
}

fn is_set_up(agent: Agent) -> bool {
    record_place(agent.name(), None, agent.moved_folder().as_deref()).is_some_and(|path| path.exists())
}

fn manager() -> Result<Manager, Failure> {
    Manager::on(std::env::var_os("PATH")).ok_or_else(|| {
        let failure = Failure::usage_text("neither systemctl nor launchctl is here: nothing can start the service");
        failure
            .with_help("have what starts your programs run `epitome serve` with these arguments; nothing was changed")
    })
}

/// The words that start this program as it was started now, without the wish to be installed.
fn words() -> Result<Vec<String>, Failure> {
    let program = std::env::current_exe()?.into_os_string();
    let arguments = std::env::args_os().skip(1).filter(|word| word != "--install");
    std::iter::once(program).chain(arguments).map(|word| text(word, "an argument")).collect()
}

fn text(word: std::ffi::OsString, what: &str) -> Result<String, Failure> {
    word.into_string().map_err(|word| {
        let failure = Failure::usage_text(format!("--install: {what} is not UTF-8: {}", word.display()));
        failure.with_help("a description of a service cannot name it; nothing was changed")
    })
}

/// Calls a manager's program, one call after the other.
fn call(manager: Manager, calls: &[Call]) -> Result<(), Failure> {
    for call in calls {
        let line = format!("{} {}", manager.program(), call.arguments.join(" "));
        let failed = |problem: String| Failure::other(anyhow::Error::msg(format!("{line}: {problem}")));
        let ran = Command::new(manager.program()).args(&call.arguments).output();
        match ran {
            Ok(output) if output.status.success() || !call.is_needed => {}
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                return Err(failed(if said.is_empty() { output.status.to_string() } else { said }));
            }
            Err(error) => return Err(failed(error.to_string())),
        }
    }
    Ok(())
}

/// Whether something listens at an address, or does soon.
fn listens(address: SocketAddr) -> bool {
    let (pause, times) = LISTENS;
    (0..times).any(|time| {
        if time > 0 {
            std::thread::sleep(pause);
        }
        TcpStream::connect_timeout(&address, pause).is_ok()
    })
}
