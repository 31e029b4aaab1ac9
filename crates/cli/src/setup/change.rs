//! What a set-up changes, and what its undo does, worked out before anything is written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::document::Syntax;
use super::foreign::{foreign_value, refuse_foreign};
use super::plan::{OtherValue, Plan, PlannedContent, PlannedFile, PlannedValue};
use super::record::{FileRecord, Patch, Record, ValueRecord, hash_of};
use crate::failure::Failure;

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its text now; `None` where it is not there.
    pub(crate) before: Option<String>,
    /// Its text then; `None` where it goes.
    pub(crate) after: Option<String>,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) struct Changes {
    /// The changes, in their order.
    pub(crate) files: Vec<FileChange>,
    /// The record to keep; `None` where there is nothing to take back then.
    pub(crate) record: Option<Record>,
    /// Folders that go where they are empty, the outermost first.
    pub(crate) folders: Vec<PathBuf>,
    /// What stays as it is against the plan, and why, a line each.
    pub(crate) notes: Vec<String>,
    /// Files that were written whole and edited since: they stay, and so does their record.
    pub(crate) edited: Vec<PathBuf>,
}

impl Changes {
    /// What a plan changes, given the record of an earlier set-up. Reads the files, and writes none.
    pub(crate) fn of_plan(plan: &Plan, earlier: Option<&Record>) -> Result<Self, Failure> {
        for folder in &plan.folders {
            refuse_foreign(folder, plan, earlier)?;
        }
        let mut changes = Self::none(Vec::new());
        let mut records = Vec::new();
        let recorded = |path: &Path| earlier.and_then(|record| record.files.iter().find(|file| file.path == path));
        let mut folders = earlier.map(|record| record.folders.clone()).unwrap_or_default();
        for file in &plan.files {
            for folder in missing_folders(&file.path) {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
            let current = text_of(&file.path)?;
            let (after, record) = changes.planned(file, current.as_deref(), recorded(&file.path))?;
            records.extend(record);
            changes.add(&file.path, current, after);
        }
        // What an earlier version wrote and this one does not want.
        for old in earlier.iter().flat_map(|record| &record.files) {
            if !plan.files.iter().any(|file| file.path == old.path) {
                let known = changes.files.len();
                changes.take_back_file(old)?;
                // It is taken back after the record is written, and where the process ends in between, next time.
                if changes.files.len() > known || changes.edited.contains(&old.path) {
                    records.push(old.clone());
                }
            }
        }
        changes.record = (!records.is_empty()).then(|| Record::new(records, folders));
        Ok(changes)
    }

    /// What takes a set-up back. Reads the files, and writes none.
    pub(crate) fn of_undo(record: &Record) -> Result<Self, Failure> {
        let mut changes = Self::none(record.folders.clone());
        for file in record.files.iter().rev() {
            changes.take_back_file(file)?;
        }
        // What stays can be taken back later, when the person has decided on it.
        let kept: Vec<FileRecord> =
            record.files.iter().filter(|file| changes.edited.contains(&file.path)).cloned().collect();
        changes.record = (!kept.is_empty()).then(|| Record::new(kept, record.folders.clone()));
        Ok(changes)
    }

    /// The text of a file as it is without what an earlier set-up put into it; `None` where there is then no file.
    pub(crate) fn text_without(path: &Path, earlier: Option<&Record>) -> Result<Option<String>, Failure> {
        let current = text_of(path)?;
        match earlier.and_then(|record| record.files.iter().find(|file| file.path == path)) {
            Some(record) => Self::none(Vec::new()).taken_back(record, current.as_deref()),
            None => Ok(current),
        }
    }

    fn none(folders: Vec<PathBuf>) -> Self {
        Self { files: Vec::new(), record: None, folders, notes: Vec::new(), edited: Vec::new() }
    }

    fn add(&mut self, path: &Path, before: Option<String>, after: Option<String>) {
        if before != after {
            self.files.push(FileChange { path: path.to_owned(), before, after });
        }
    }

    fn take_back_file(&mut self, record: &FileRecord) -> Result<(), Failure> {
        let current = text_of(&record.path)?;
        let after = self.taken_back(record, current.as_deref())?;
        self.add(&record.path, current, after);
        Ok(())
    }

    /// The text that a file is to have, and what is to be recorded of it.
    fn planned(
        &mut self,
        file: &PlannedFile,
        current: Option<&str>,
        earlier: Option<&FileRecord>,
    ) -> Result<(Option<String>, Option<FileRecord>), Failure> {
        let path = &file.path;
        match &file.content {
            PlannedContent::Whole(text) => {
                let is_ours = current.is_none_or(|current| {
                    current == text || earlier.is_some_and(|record| record.record_of(current).is_some())
                });
                if !is_ours {
                    let path = path.display();
                    return Err(match earlier {
                        Some(_) => Failure::usage_text(format!("{path} was written by epitome, and edited since"))
                            .with_help("move it away to have it written anew, and run this again; nothing was changed"),
                        None => Failure::usage_text(format!("{path} is there, and it is not what epitome wrote"))
                            .with_help("move it away where it is not needed, and run this again"),
                    });
                }
                let record = match earlier {
                    Some(earlier) if earlier.after == hash_of(text) => earlier.clone(),
                    _ => record_of(path, None, text).behind(earlier, current),
                };
                Ok((Some(text.clone()), Some(record)))
            }
            PlannedContent::Values(syntax, values) => {
                let refused = |problem: String| refusal(path, &problem);
                let text = current.unwrap_or_default();
                if let Some(earlier) = earlier.filter(|_| current.is_some())
                    && all_there(*syntax, text, values, earlier).map_err(refused)?
                {
                    return Ok((current.map(str::to_owned), Some(earlier.clone())));
                }
                let base = match earlier {
                    Some(earlier) => self.taken_back(earlier, current)?,
                    None => current.map(str::to_owned),
                };
                let (after, put, patches) =
                    self.with_values(path, *syntax, base.as_deref().unwrap_or_default(), values, earlier)?;
                if put.is_empty() {
                    return Ok((base, None));
                }
                let record = record_of(path, base.as_deref(), &after).behind(earlier, current);
                Ok((Some(after), Some(FileRecord { values: Some((*syntax, put)), patches, ..record })))
            }
        }
    }

    /// A text with planned values, those that were put into it, and what takes each of them out again.
    fn with_values(
        &mut self,
        path: &Path,
        syntax: Syntax,
        text: &str,
        values: &[PlannedValue],
        earlier: Option<&FileRecord>,
    ) -> Result<(String, Vec<ValueRecord>, Vec<Patch>), Failure> {
        let refused = |problem: String| refusal(path, &problem);
        let mut text = text.to_owned();
        let (mut put, mut patches) = (Vec::new(), Vec::new());
        for value in values {
            let there = syntax.value(&text, &value.keys).map_err(refused)?;
            if there.as_ref() == Some(&value.value) {
                continue;
            }
            if there.is_some() && value.other == OtherValue::Keep {
                let (name, path) = (value.keys.join("."), path.display());
                self.notes.push(format!("`{name}` in {path} is yours, and stays"));
                continue;
            }
            if let Some(there) = there.as_ref().filter(|_| value.other == OtherValue::Refuse) {
                return Err(foreign_value(path, &value.keys, there, earlier));
            }
            let before = syntax.own_text(&text, &value.keys).map_err(refused)?;
            if there.is_some() && before.is_none() {
                return Err(refused(format!("`{}` is a table", value.keys.join("."))));
            }
            let (changed, made) = syntax.with(&text, &value.keys, &value.value).map_err(refused)?;
            patches.extend(Patch::between(&text, &changed));
            text = changed;
            put.push(ValueRecord { keys: value.keys.clone(), before, after: value.value.clone(), made });
        }
        Ok((text, put, patches))
    }

    /// The text of a file without what a record says. What the person changed since stays.
    fn taken_back(&mut self, record: &FileRecord, current: Option<&str>) -> Result<Option<String>, Failure> {
        let path = record.path.display();
        let Some(text) = current else { return Ok(None) };
        if let Some(written) = record.record_of(text) {
            let before = Patch::undo(&written.patches, text);
            let before = before.ok_or_else(|| refusal(&record.path, "its record is damaged"))?;
            return Ok(written.existed.then_some(before));
        }
        let Some((syntax, values)) = &record.values else {
            self.edited.push(record.path.clone());
            return Ok(current.map(str::to_owned));
        };
        let refused = |problem: String| refusal(&record.path, &problem);
        let mut text = text.to_owned();
        for value in values.iter().rev() {
            if syntax.value(&text, &value.keys).map_err(refused)?.as_ref() != Some(&value.after) {
                // A set-up that ended before it came to this file has put nothing there.
                if syntax.own_text(&text, &value.keys).map_err(refused)? == value.before {
                    continue;
                }
                self.notes.push(format!("`{}` in {path} was changed since, and stays", value.keys.join(".")));
                continue;
            }
            text = match &value.before {
                Some(before) => syntax.with_own_text(&text, &value.keys, before).map_err(refused)?,
                None => syntax.without(&text, &value.keys, value.made).map_err(refused)?,
            };
        }
        Ok((record.existed || !syntax.is_empty(&text)).then_some(text))
    }
}

/// Whether a file has all planned values as an earlier set-up left them: put by it, or left to the person.
fn all_there(syntax: Syntax, text: &str, values: &[PlannedValue], earlier: &FileRecord) -> Result<bool, String> {
    let Some((_, put)) = &earlier.values else { return Ok(false) };
    for value in values {
        let found = syntax.value(text, &value.keys)?;
        let is_ours = put.iter().any(|put| put.keys == value.keys && put.after == value.value);
        let is_theirs = !put.iter().any(|put| put.keys == value.keys);
        let is_there = found.as_ref() == Some(&value.value) && (is_ours || is_theirs)
            || found.is_some() && is_theirs && value.other == OtherValue::Keep;
        if !is_there {
            return Ok(false);
        }
    }
    Ok(put.iter().all(|put| values.iter().any(|value| value.keys == put.keys)))
}

/// The record of a file that gets this text, without what makes the text before of it.
fn record_of(path: &Path, before: Option<&str>, after: &str) -> FileRecord {
    FileRecord {
        path: path.to_owned(),
        existed: before.is_some(),
        after: hash_of(after),
        patches: Vec::new(),
        previous: None,
        values: None,
    }
}

/// The text of a file; `None` where there is none.
pub(super) fn text_of(path: &Path) -> Result<Option<String>, Failure> {
    match epitome_shelf::read_plain(path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                Err(refusal(path, &format!("byte {at} is not UTF-8")))
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(path).is_ok() {
                return Err(refusal(path, "it is a link to nothing"));
            }
            Ok(None)
        }
        Err(error) => {
            let error = anyhow::Error::new(error).context(format!("cannot read {}", path.display()));
            Err(Failure::usage(error).with_help("nothing was changed"))
        }
    }
}

/// A file that is not understood is not touched.
pub(super) fn refusal(path: &Path, problem: &str) -> Failure {
    Failure::usage_text(format!("{} is left as it is: {problem}", path.display()))
        .with_help("mend the file and run this again; nothing was changed")
}

/// The folders that a file needs and that are not there, the outermost first.
pub(super) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}
