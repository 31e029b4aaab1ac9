//! Where agents keep their sessions.

use std::env;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::folder::newest_files;

/// Where an agent keeps its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentFolder {
    /// The agent's name: that of its format.
    pub agent: &'static str,
    /// The environment variable that moves the agent's folder, where the agent has one.
    pub variable: Option<&'static str>,
    /// The agent's folder in the home directory, where the variable is not set.
    pub home: &'static str,
    /// The folder of the sessions in it.
    pub sessions: &'static str,
}

/// The agents whose sessions are found by name. Source: the agents' own documentation and folders.
pub const AGENTS: [AgentFolder; 6] = [
    AgentFolder { agent: "claude-code", variable: Some("CLAUDE_CONFIG_DIR"), home: ".claude", sessions: "projects" },
    AgentFolder { agent: "codex", variable: Some("CODEX_HOME"), home: ".codex", sessions: "sessions" },
    AgentFolder { agent: "pi", variable: Some("PI_CODING_AGENT_DIR"), home: ".pi/agent", sessions: "sessions" },
    AgentFolder { agent: "gemini-cli", variable: None, home: ".gemini", sessions: "tmp" },
    AgentFolder { agent: "qwen-code", variable: Some("QWEN_HOME"), home: ".qwen", sessions: "projects" },
    AgentFolder { agent: "copilot-cli", variable: None, home: ".copilot", sessions: "session-state" },
];

/// The least characters of an id by which a session is found. Source: the first group of a UUID.
const LEAST_ID: usize = 8;

impl AgentFolder {
    /// The folder of the agent's sessions under this environment; `None` where there is neither the variable nor a home.
    fn path(&self, variable: &dyn Fn(&str) -> Option<PathBuf>, home: Option<&Path>) -> Option<PathBuf> {
        let own = self.variable.and_then(variable).or_else(|| Some(home?.join(self.home)))?;
        Some(own.join(self.sessions))
    }
}

/// The place of a session that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPlace {
    /// The file, or the folder whose newest session is meant.
    pub path: PathBuf,
    /// The agent that keeps its sessions there, where that is known.
    pub agent: Option<&'static str>,
}

/// Why no session was found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnknownPlace {
    /// The agent keeps its sessions in a folder that does not exist.
    #[error("{agent} has no sessions: {} is not there", folder.display())]
    NoSessions {
        /// The agent.
        agent: &'static str,
        /// The folder.
        folder: PathBuf,
    },
    /// The name is neither a path, nor an agent, nor the id of a session.
    #[error("`{0}` is not a file, a folder, an agent, or the id of an agent's session")]
    Unknown(String),
    /// No known agent has sessions here.
    #[error("no agent has kept a session here")]
    NoAgent,
}

/// Returns where the session is that `name` means: a path that exists; the newest session of the agent of that name; the
/// session whose file's name contains that id (8 characters or more) in the folder of any agent. Without a name, the folder
/// of the agent that wrote to a session last. Reads the names of the agents' files where `name` is not a path.
///
/// # Errors
///
/// There is no such session.
pub fn place_of(name: Option<&str>) -> Result<SessionPlace, UnknownPlace> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    place_in(name, &variable, env::home_dir().as_deref())
}

/// The same under an environment.
fn place_in(
    name: Option<&str>,
    variable: &dyn Fn(&str) -> Option<PathBuf>,
    home: Option<&Path>,
) -> Result<SessionPlace, UnknownPlace> {
    let folders = || AGENTS.iter().filter_map(|agent| Some((agent.agent, agent.path(variable, home)?)));
    let Some(name) = name else {
        let newest = folders().filter_map(|(agent, folder)| {
            let file = newest_files(&folder).ok()?.into_iter().next()?;
            let changed = file.metadata().ok()?.modified().ok()?;
            Some((changed, SessionPlace { path: folder, agent: Some(agent) }))
        });
        return newest.max_by_key(|(changed, _)| *changed).map(|(_, place)| place).ok_or(UnknownPlace::NoAgent);
    };
    if Path::new(name).exists() {
        return Ok(SessionPlace { path: PathBuf::from(name), agent: None });
    }
    if let Some((agent, folder)) = folders().find(|(agent, _)| *agent == name) {
        return match folder.is_dir() {
            true => Ok(SessionPlace { path: folder, agent: Some(agent) }),
            false => Err(UnknownPlace::NoSessions { agent, folder }),
        };
    }
    let has_id = |file: &PathBuf| {
        let own = file.file_stem().is_some_and(|stem| stem.to_string_lossy().contains(name));
        // Some agents give a session a folder with its id.
        own || file.parent().and_then(Path::file_name).is_some_and(|folder| folder.to_string_lossy().contains(name))
    };
    let is_id = name.len() >= LEAST_ID && !name.contains(['/', '\\', '.']);
    let found = folders().filter(|_| is_id).find_map(|(agent, folder)| {
        let path = newest_files(&folder).ok()?.into_iter().find(has_id)?;
        Some(SessionPlace { path, agent: Some(agent) })
    });
    found.ok_or_else(|| UnknownPlace::Unknown(name.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use super::*;

    /// A home with a session of each of three agents, the newest last: changed a minute after one another.
    fn home() -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        let files = [
            ".claude/projects/-home-me/1b2c3d4e-0000.jsonl",
            ".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-5f6a7b8c-1111.jsonl",
            ".copilot/session-state/9d8e7f60-2222/events.jsonl",
        ];
        for (minute, file) in files.iter().enumerate() {
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(60 * minute as u64);
            File::create(&path).unwrap().set_modified(at).unwrap();
        }
        home
    }

    #[test]
    fn a_session_is_found_by_path_agent_and_id() {
        let home = home();
        let moved = tempfile::tempdir().unwrap();
        fs::create_dir_all(moved.path().join("sessions")).unwrap();
        let check = |name: Option<&str>, expect: Result<&str, &str>| {
            let variable = |name: &str| (name == "PI_CODING_AGENT_DIR").then(|| moved.path().to_owned());
            let found = place_in(name, &variable, Some(home.path()));
            let folder = |path: &Path| path.display().to_string().replace(&home.path().display().to_string(), "~");
            let found = found.map(|place| format!("{} {}", place.agent.unwrap_or("-"), folder(&place.path)));
            let found = found.map(|it| it.replace(&moved.path().display().to_string(), "MOVED"));
            let found = found.map_err(|error| error.to_string().replace(&home.path().display().to_string(), "~"));
            assert_eq!(found.as_deref().map_err(String::as_str), expect, "{name:?}");
        };
        check(Some("claude-code"), Ok("claude-code ~/.claude/projects"));
        check(Some("pi"), Ok("pi MOVED/sessions"));
        check(Some("gemini-cli"), Err("gemini-cli has no sessions: ~/.gemini/tmp is not there"));
        check(
            Some("5f6a7b8c"),
            Ok("codex ~/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-5f6a7b8c-1111.jsonl"),
        );
        check(Some("9d8e7f60-2222"), Ok("copilot-cli ~/.copilot/session-state/9d8e7f60-2222/events.jsonl"));
        check(None, Ok("copilot-cli ~/.copilot/session-state"));
        let unknown = "is not a file, a folder, an agent, or the id of an agent's session";
        check(Some("rollout"), Err(&format!("`rollout` {unknown}")));
        check(Some("no/such.jsonl"), Err(&format!("`no/such.jsonl` {unknown}")));
        let file = home.path().join(".codex");
        check(Some(&file.display().to_string()), Ok("- ~/.codex"));
    }

    #[test]
    fn without_an_agent_there_is_nothing_to_find() {
        let empty = tempfile::tempdir().unwrap();
        let found = place_in(None, &|_| None, Some(empty.path()));
        assert_eq!(found, Err(UnknownPlace::NoAgent));
        assert_eq!(place_in(None, &|_| None, None), Err(UnknownPlace::NoAgent));
    }
}
