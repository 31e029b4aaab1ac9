//! Changes are written, all or none.

use std::fs;
use std::io;
use std::path::Path;

use super::change::{Changes, FileChange, missing_folders};
use crate::failure::Failure;
use crate::replace::{cannot_write, replace};

/// Writes all changes, and the record to `record`. Where one fails, those before it are taken back.
pub(crate) fn write(changes: &Changes, record: &Path) -> Result<(), Failure> {
    let earlier = epitome_shelf::read_plain(record).ok();
    let missing = missing_folders(record);
    let made = || -> Result<(), (usize, Failure)> {
        // First of all: what is changed can be taken back, even where the process ends in between.
        if let Some(kept) = &changes.record {
            kept.write(record).map_err(|error| (0, cannot_write(record, error)))?;
        }
        for (done, change) in changes.files.iter().enumerate() {
            put(change).map_err(|error| (done, cannot_write(&change.path, error)))?;
        }
        Ok(())
    };
    if let Err((done, failure)) = made() {
        for change in changes.files[..done].iter().rev() {
            let back =
                FileChange { path: change.path.clone(), before: change.after.clone(), after: change.before.clone() };
            if let Err(error) = put(&back) {
                let path = change.path.display();
                return Err(failure.with_help(format!(
                    "{path} has its change already, and keeps it ({error}): --undo takes it back"
                )));
            }
        }
        let restored = match earlier {
            Some(bytes) => replace(record, &bytes, || Ok(true)),
            None if record.exists() => fs::remove_file(record),
            None => Ok(()),
        };
        remove_empty(changes.record.iter().flat_map(|record| record.folders.iter().rev()).map(AsRef::as_ref));
        remove_empty(missing.iter().rev().map(AsRef::as_ref));
        return Err(match restored {
            Ok(()) => failure.with_help("nothing was changed"),
            Err(error) => failure.with_help(format!("{} stays ({error})", record.display())),
        });
    }
    remove_empty(changes.folders.iter().rev().map(AsRef::as_ref));
    if changes.record.is_none() && record.exists() {
        fs::remove_file(record).map_err(|error| cannot_write(record, error))?;
        // The two that only epitome uses: `setup`, and `epitome` around it.
        remove_empty(record.ancestors().skip(1).take(2));
    }
    Ok(())
}

/// Removes folders of this program that are empty; others stay.
fn remove_empty<'a>(folders: impl Iterator<Item = &'a Path>) {
    for folder in folders {
        // A folder that somebody put a file into is not empty, and one that is gone needs no removal.
        let _ = fs::remove_dir(folder);
    }
}

/// Gives a file its new text, where it still has the one that was read.
fn put(change: &FileChange) -> io::Result<()> {
    let path = &change.path;
    let is_same = || match epitome_shelf::read_plain(path) {
        Ok(bytes) => Ok(change.before.as_ref().is_some_and(|before| before.as_bytes() == bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(change.before.is_none()),
        Err(error) => Err(error),
    };
    let changed = || io::Error::other("it was changed by another program meanwhile; run this again");
    match &change.after {
        None if is_same()? => fs::remove_file(path),
        None => Err(changed()),
        Some(text) => {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let mut was_same = true;
            replace(path, text.as_bytes(), || {
                was_same = is_same()?;
                Ok(was_same)
            })?;
            if was_same { Ok(()) } else { Err(changed()) }
        }
    }
}
