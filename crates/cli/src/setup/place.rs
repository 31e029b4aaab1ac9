//! Where an agent is set up, and the folders of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::version::Version;
use crate::failure::Failure;
use crate::folders::{agent_variable, home};

/// Where an agent is set up, and with what.
#[derive(Debug)]
pub(crate) struct Place {
    /// The project's folder; `None` for the person's own set-up.
    pub(crate) project: Option<PathBuf>,
    /// The program that the agent calls: this one.
    pub(crate) program: String,
    /// Whether the agent's model continues to write its summaries.
    pub(crate) model_summary: bool,
    /// The address of the service, without a slash at its end.
    pub(crate) service: String,
    /// The version of the agent's program, where it is found and says one.
    pub(crate) version: Option<Version>,
}

impl Place {
    /// Whether the agent is known to be older than a version.
    pub(super) fn is_before(&self, version: Version) -> bool {
        self.version.is_some_and(|own| own < version)
    }

    /// Refuses an agent that is known to be older than the first version with what the set-up relies on.
    pub(super) fn needs(&self, agent: &str, version: Version, what: &str) -> Result<(), Failure> {
        match self.version.filter(|own| *own < version) {
            None => Ok(()),
            Some(own) => {
                let failure = Failure::usage_text(format!("{agent} {own} does not {what}: {version} does"));
                Err(failure.with_help(format!("update {agent}, and run this again; nothing was changed")))
            }
        }
    }

    /// A folder below the project's, or below the person's own: the one that a variable names, or that below the home.
    pub(super) fn folder(&self, project: &str, name: &str, own: &str) -> Result<PathBuf, Failure> {
        match &self.project {
            Some(folder) => Ok(folder.join(project)),
            None => own_folder(name, own),
        }
    }
}

/// The folder of an agent that a variable names, where that is not the one below the person's home.
pub(crate) fn moved_folder(name: &str, below: &str) -> Option<PathBuf> {
    agent_variable(name).filter(|folder| home().is_none_or(|home| home.join(below) != *folder))
}

/// The folder that a variable names, or one below the person's home.
pub(crate) fn own_folder(name: &str, below: &str) -> Result<PathBuf, Failure> {
    if let Some(folder) = agent_variable(name) {
        return Ok(folder);
    }
    let missing = || Failure::usage_text("there is no home folder: the environment names none").with_help("set HOME");
    home().map(|home| home.join(below)).ok_or_else(missing)
}

/// The folder of the sessions that Claude Code keeps of the project in a folder.
pub(crate) fn claude_code_sessions(project: &Path) -> Result<PathBuf, Failure> {
    // A hyphen for each unit of UTF-16, as JavaScript counts.
    let units = project.to_string_lossy().encode_utf16().collect::<Vec<u16>>();
    let ascii = |unit: u16| u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from);
    let name: String = units.into_iter().map(ascii).collect();
    Ok(own_folder("CLAUDE_CONFIG_DIR", ".claude")?.join("projects").join(name))
}

/// How to start the service at an address.
pub(super) fn start_of_service(service: &str, provider: &str) -> String {
    let first = "start the service first".to_owned();
    let (which, listen) = match service.strip_prefix("http://").map(|address| (address, address.parse::<SocketAddr>()))
    {
        Some(("127.0.0.1:7777" | "localhost:7777", _)) => (first, String::new()),
        Some((_, Ok(address))) => (first, format!("--listen {address} ")),
        // Where a name leads to, and what stands in front of the service there, only the person knows.
        _ => (format!("start the service that {service} leads to first"), String::new()),
    };
    format!("{which}, and keep it running:\nepitome serve {listen}--upstream {provider}")
}
