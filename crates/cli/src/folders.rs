//! Folders of the person who runs the command.

use std::io;
use std::path::{Path, PathBuf};

/// The folder that an environment variable names; `None` where it is not set, or not absolute.
pub(crate) fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The folder that an agent's variable names; `None` where it is not set, or empty. A relative one counts from the folder in
/// which the command runs, as it does for the agent and for the search of its sessions.
pub(crate) fn agent_variable(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
    // Without a slash at its end: one folder has one name.
    std::path::absolute(value).ok().map(|path| path.components().collect())
}

/// The person's home.
pub(crate) fn home() -> Option<PathBuf> {
    variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" })
}

/// The folder where programs keep a user's data.
pub(crate) fn data() -> Option<PathBuf> {
    variable("XDG_DATA_HOME").or_else(|| {
        if cfg!(windows) {
            variable("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            Some(home()?.join("Library/Application Support"))
        } else {
            Some(home()?.join(".local/share"))
        }
    })
}

/// The folder where programs find what a user sets.
pub(crate) fn settings() -> Option<PathBuf> {
    variable("XDG_CONFIG_HOME").or_else(|| {
        if cfg!(windows) {
            variable("APPDATA")
        } else if cfg!(target_os = "macos") {
            Some(home()?.join("Library/Application Support"))
        } else {
            Some(home()?.join(".config"))
        }
    })
}

/// Makes a folder that only its owner can read, and those above it that are missing.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
