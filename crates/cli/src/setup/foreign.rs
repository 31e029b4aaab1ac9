//! What stands under a name of epitome's and is not epitome's: it is never overwritten.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::plan::Plan;
use super::record::{FileRecord, Record};
use crate::failure::Failure;

/// Refuses a folder with one of epitome's names that another program or person made: it has files that are not planned, and no earlier set-up
/// wrote into it.
pub(super) fn refuse_foreign(folder: &Path, plan: &Plan, earlier: Option<&Record>) -> Result<(), Failure> {
    let is_recorded = earlier.is_some_and(|record| record.files.iter().any(|file| file.path.starts_with(folder)));
    let is_planned = |path: &Path| plan.files.iter().any(|file| file.path.starts_with(path));
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let Some(foreign) = entries.into_iter().find(|path| !is_recorded && !is_planned(path)) else { return Ok(()) };
    let (folder, name) = (folder.display(), foreign.file_name().unwrap_or_default().display());
    let failure = Failure::usage_text(format!("{folder} is there, with `{name}`, and epitome did not write it"));
    Err(failure.with_help("give it another name, or move it away, and run this again; nothing was changed"))
}

/// A value under a name of epitome's that epitome did not write, or not so. Of what it holds only what tells it apart is
/// shown: settings may hold keys.
pub(super) fn foreign_value(path: &Path, keys: &[String], there: &Value, earlier: Option<&FileRecord>) -> Failure {
    let mut written = earlier.iter().flat_map(|record| &record.values);
    let is_edited = written.any(|put| put.keys == *keys && put.before.is_none());
    let whose = if is_edited { "was written by epitome, and edited since" } else { "is not what epitome wrote" };
    let telling = ["command", "base_url", "url", "name"];
    let shown = telling.iter().find_map(|key| Some(format!(" ({key} = {})", there.get(key)?)));
    let (name, path) = (keys.join("."), path.display());
    Failure::usage_text(format!("`[{name}]` in {path} {whose}{}", shown.unwrap_or_default()))
        .with_help("give it another name, or remove it, and run this again; nothing was changed")
}
