//! What a set-up changed, kept so that it can be taken back.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use epitome_shelf::{Draft, Privacy};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::document::Syntax;
use crate::failure::Failure;
use crate::folders;

/// The version of the records that are written and read.
const VERSION: u32 = 1;

/// What a set-up of one agent changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    version: u32,
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
    /// The hash of its text afterwards.
    pub(crate) after: String,
    /// What makes the text before of the text after, the last one first.
    pub(crate) patches: Vec<Patch>,
    /// What the set-up before this one had changed in it; `None` where there was none. The record is written before the
    /// files, so the file may still be as that one left it.
    pub(crate) previous: Option<Box<FileRecord>>,
    /// The values that were put into it, and its syntax; `None` where all of it was written.
    pub(crate) values: Option<(Syntax, Vec<ValueRecord>)>,
}

/// A value that was put at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ValueRecord {
    /// The place.
    pub(crate) keys: Vec<String>,
    /// What was there before, as the file had it: its own text, with its comments.
    pub(crate) before: Option<String>,
    /// What was put there.
    pub(crate) after: Value,
    /// How many tables were made around it.
    pub(crate) made: usize,
}

/// One stretch of a text that differs from another text. It holds nothing of what both have in common: settings may hold
/// keys, and a second copy of them belongs nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Patch {
    /// Where the stretch begins, in bytes.
    at: usize,
    /// Its length in the text after, in bytes.
    length: usize,
    /// What was there before.
    before: String,
}

impl Patch {
    /// What makes `before` of `after`: every stretch that differs, in the order of the text. Compared by characters, for a
    /// value that is put into a line must not take what else the line holds along. The cost is the length of the texts
    /// times the characters that differ.
    pub(crate) fn between(before: &str, after: &str) -> Vec<Self> {
        let mut at = 0;
        let mut patches: Vec<Self> = Vec::new();
        for change in TextDiff::from_chars(before, after).iter_all_changes() {
            let text = change.value();
            if change.tag() == ChangeTag::Equal {
                at += text.len();
                continue;
            }
            let is_next = |patch: &Self| patch.at + patch.length == at;
            if !patches.last().is_some_and(is_next) {
                patches.push(Self { at, length: 0, before: String::new() });
            }
            if let Some(patch) = patches.last_mut() {
                if change.tag() == ChangeTag::Delete {
                    patch.before += text;
                } else {
                    patch.length += text.len();
                    at += text.len();
                }
            }
        }
        patches
    }

    /// The text before these patches, the last of which is undone first; `None` where `after` is not the text that they
    /// were made of.
    pub(crate) fn undo(patches: &[Self], after: &str) -> Option<String> {
        patches.iter().rev().try_fold(after.to_owned(), |text, patch| {
            let head = text.get(..patch.at)?;
            let tail = text.get(patch.at.checked_add(patch.length)?..)?;
            Some(format!("{head}{}{tail}", patch.before))
        })
    }
}

/// The hash by which a text is known again.
pub(crate) fn hash_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

impl FileRecord {
    /// The record by which this text was written: this one, or the one before; `None` where the text was changed since.
    pub(crate) fn record_of(&self, text: &str) -> Option<&Self> {
        let hash = hash_of(text);
        [Some(self), self.previous.as_deref()].into_iter().flatten().find(|record| record.after == hash)
    }

    /// This record with the one before that wrote the text that the file has now.
    pub(crate) fn behind(mut self, earlier: Option<&Self>, current: Option<&str>) -> Self {
        let written = earlier.zip(current).and_then(|(earlier, current)| earlier.record_of(current));
        self.previous = written.map(|written| Box::new(Self { previous: None, ..written.clone() }));
        self
    }
}

impl Record {
    /// A record of these files.
    pub(crate) fn new(files: Vec<FileRecord>, folders: Vec<PathBuf>) -> Self {
        Self { version: VERSION, files, folders }
    }

    /// The record in a file; `None` where there is no file.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        let text = match epitome_shelf::read_plain_text(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let record: Self = serde_json::from_str(&text)?;
        match record.version {
            VERSION => Ok(Some(record)),
            other => Err(io::Error::other(format!("it is of version {other}, and this program reads {VERSION}"))),
        }
    }

    /// Writes it to a file that only the owner can read.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        folders::make_private(path.parent().unwrap_or(Path::new(".")))?;
        let draft = Draft::new(path, Privacy::Owner)?;
        draft.file().write_all(&serde_json::to_vec_pretty(self)?)?;
        draft.file().sync_all()?;
        draft.replace().map(drop)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_give_the_text_before() {
        let check = |before: &str, after: &str, kept: &[&str]| {
            let patches = Patch::between(before, after);
            assert_eq!(Patch::undo(&patches, after).as_deref(), Some(before), "{before:?} {after:?}");
            let texts: Vec<&str> = patches.iter().map(|patch| patch.before.as_str()).collect();
            assert_eq!(texts, kept, "{before:?} {after:?}");
        };
        check("", "new", &[""]);
        check("a\nb\n", "a\nx\nb\n", &[""]);
        check("a = 1\nsecret = 2\n", "a = 3\nsecret = 2\n", &["1"]);
        check("same", "same", &[]);
        check("gone", "", &["gone"]);
        check("é", "è", &["é"]);
        check("aé", "aéé", &[""]);
        check("abab", "ab", &["ab"]);
        check("{\"key\":\"secret\"}", "{\n  \"key\":\"secret\",\n  \"x\": 1\n}", &["", ""]);
        check("a = 1\nsecret = 2\nb = 1\n", "a = 3\nsecret = 2\nb = 3\n", &["1", "1"]);
        assert_eq!(Patch::undo(&Patch::between("long text", "longer text"), "x"), None);
    }
}
