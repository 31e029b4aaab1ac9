//! What a set-up changes, and what its undo does, worked out before anything is written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::document::{Syntax, ValueRecord};
use super::foreign::{foreign_value, refuse_foreign};
use super::plan::{OtherValue, Plan, PlannedContent, PlannedFile, PlannedValue};
use super::record::{FileRecord, Record, hash_of};
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
        changes.record = (!records.is_empty()).then_some(Record { files: records, folders });
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
        changes.record = (!kept.is_empty()).then(|| Record { files: kept, folders: record.folders.clone() });
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
        let record = |existed, hashes, values| FileRecord { path: path.clone(), existed, hashes, values };
        match &file.content {
            PlannedContent::Whole(text) => {
                let hash = hash_of(text);
                let own = earlier.map(|record| record.hashes.as_slice()).unwrap_or_default();
                let now = current.map(hash_of).filter(|now| *now != hash);
                if now.as_ref().is_some_and(|now| !own.contains(now)) {
                    return Err(not_ours(path, earlier.is_some()));
                }
                // The record is written before the file, which may still be as the set-up before this one left it.
                let hashes =
                    if own.first() == Some(&hash) { own.to_vec() } else { [hash].into_iter().chain(now).collect() };
                Ok((Some(text.clone()), Some(record(false, hashes, Vec::new()))))
            }
            PlannedContent::Values(syntax, values) => {
                let (text, put) = self.with_values(path, *syntax, current.unwrap_or_default(), values, earlier)?;
                let existed = current.is_some() && earlier.is_none_or(|earlier| earlier.existed);
                let text = (existed || !syntax.is_empty(&text)).then_some(text);
                let has_put = !put.is_empty();
                Ok((text, has_put.then(|| record(existed, Vec::new(), put))))
            }
        }
    }

    /// A text with planned values, and those that were put into it. What an earlier set-up put there and is still wanted
    /// stays where it is; what else it put is taken back, and is still recorded: the record is written before the file.
    fn with_values(
        &mut self,
        path: &Path,
        syntax: Syntax,
        text: &str,
        values: &[PlannedValue],
        earlier: Option<&FileRecord>,
    ) -> Result<(String, Vec<ValueRecord>), Failure> {
        let refused = |problem: String| refusal(path, &problem);
        let mut text = text.to_owned();
        let (mut kept, mut replaced): (Vec<ValueRecord>, Vec<ValueRecord>) = (Vec::new(), Vec::new());
        for record in earlier.iter().flat_map(|record| record.values.iter().rev()) {
            let is_wanted = values.iter().any(|value| value.keys == record.keys && value.value == record.value);
            let is_there = record.is_in(&text).map_err(refused)?;
            if is_wanted && is_there || kept.iter().any(|kept| kept.keys == record.keys) {
                kept.insert(0, record.clone());
            } else if let Some(without) = self.without_value(path, &text, record)? {
                text = without;
                replaced.insert(0, record.clone());
            }
        }
        let mut put = [replaced, kept].concat();
        for value in values {
            let there = syntax.value(&text, &value.keys).map_err(refused)?;
            if there.as_ref() == Some(&value.value) {
                continue;
            }
            if there.is_some() && value.other == OtherValue::Keep {
                let (name, path) = (value.keys.join("."), path.display());
                self.note(format!("`{name}` in {path} is yours, and stays"));
                continue;
            }
            if let Some(there) = there.as_ref().filter(|_| value.other == OtherValue::Refuse) {
                return Err(foreign_value(path, &value.keys, there, earlier));
            }
            let (changed, record) = syntax.put(&text, &value.keys, &value.value).map_err(refused)?;
            text = changed;
            put.push(record);
        }
        Ok((text, put))
    }

    /// The text of a file without what a record says. What the person changed since stays.
    fn taken_back(&mut self, record: &FileRecord, current: Option<&str>) -> Result<Option<String>, Failure> {
        let Some(text) = current else { return Ok(None) };
        if record.hashes.contains(&hash_of(text)) {
            return Ok(None);
        }
        if !record.hashes.is_empty() {
            self.edited.push(record.path.clone());
        }
        let mut text = text.to_owned();
        for value in record.values.iter().rev() {
            text = self.without_value(&record.path, &text, value)?.unwrap_or(text);
        }
        let is_empty = record.values.iter().any(|value| value.syntax.is_empty(&text));
        Ok((record.existed || !is_empty).then_some(text))
    }

    /// A text without a value that was put into it; `None` where it is not there, with a note where the person changed it.
    fn without_value(&mut self, path: &Path, text: &str, record: &ValueRecord) -> Result<Option<String>, Failure> {
        let refused = |problem: String| refusal(path, &problem);
        let without = record.take_back(text).map_err(refused)?;
        // A set-up that ended before it came to this file has put nothing there.
        if without.is_none() && !record.is_as_before(text).map_err(refused)? {
            let (name, path) = (record.keys.join("."), path.display());
            self.note(format!("`{name}` in {path} was changed since, and stays"));
        }
        Ok(without)
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// A file of this program that is there with another text: edited since a set-up wrote it, or not written by one.
fn not_ours(path: &Path, is_recorded: bool) -> Failure {
    let path = path.display();
    if is_recorded {
        return Failure::usage_text(format!("{path} was written by epitome, and edited since"))
            .with_help("move it away to have it written anew, and run this again; nothing was changed");
    }
    Failure::usage_text(format!("{path} is there, and it is not what epitome wrote"))
        .with_help("move it away where it is not needed, and run this again")
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
