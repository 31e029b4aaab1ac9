//! What a set-up changed, kept so that it can be taken back.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use epitome_shelf::{PendingFile, Privacy};
use serde::{Deserialize, Serialize};

use super::document::ValueRecord;
use crate::failure::Failure;
use crate::folders;

/// What a set-up of one agent changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The files, in the order in which they were written.
    pub(crate) files: Vec<FileRecord>,
    /// The folders that were made for them, the outermost first.
    pub(crate) folders: Vec<PathBuf>,
}

/// What was changed in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    /// The file.
    pub(crate) path: PathBuf,
    /// Whether it was there before.
    pub(crate) existed: bool,
    /// The hashes of the text of a file that was written whole, and of the one that the set-up before left there; none of
    /// others.
    pub(crate) hashes: Vec<String>,
    /// The values that were put into a file of the person's, behind those of the set-up before that were taken back for them.
    /// Nothing else of the file is here: settings may hold keys, and a second copy of them belongs nowhere.
    pub(crate) values: Vec<ValueRecord>,
}

/// The hash by which a text is known again.
pub(crate) fn hash_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

impl Record {
    /// The record in a file; `None` where there is no file.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        let text = match epitome_shelf::read_plain_text(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(serde_json::from_str(&text)?))
    }

    /// Writes it to a file that only the owner can read.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        folders::make_private(path.parent().unwrap_or(Path::new(".")))?;
        let pending = PendingFile::new(path, Privacy::Owner)?;
        pending.file().write_all(&serde_json::to_vec_pretty(self)?)?;
        pending.file().sync_all()?;
        pending.replace().map(drop)
    }
}

/// The file of the record of an agent's set-up: of the person, or of the project in a folder. `moved` is the agent's folder
/// where a variable names it: each such folder is set up for itself.
fn place(agent: &str, project: Option<&Path>, moved: Option<&Path>) -> Option<PathBuf> {
    let hash = |folder: &Path| hash_of(&folder.to_string_lossy())[..12].to_owned();
    let name = match (project, moved) {
        (Some(folder), _) => format!("{agent}-{}.json", hash(folder)),
        (None, Some(folder)) => format!("{agent}-at-{}.json", hash(folder)),
        (None, None) => format!("{agent}.json"),
    };
    Some(folders::data()?.join("epitome/setup").join(name))
}

/// The place of the record of a set-up, and the record where there is one.
pub(crate) fn recorded(
    agent: &str,
    project: Option<&Path>,
    moved: Option<&Path>,
) -> Result<(PathBuf, Option<Record>), Failure> {
    let no_folder = || Failure::usage_text("there is no data folder: the environment names none").with_help("set HOME");
    let path = place(agent, project, moved).ok_or_else(no_folder)?;
    let record = Record::read(&path).map_err(|error| {
        let error = anyhow::Error::new(error).context(format!("cannot read {}", path.display()));
        Failure::usage(error).with_help("it says what a set-up changed; nothing was changed now")
    })?;
    Ok((path, record))
}
