//! CrossWOZ: a tourist and a guide with a goal.

use super::sets::{first_entry, turn};
use crate::json::value::{first_object, items};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::session_builder::{SessionBuilder, gather};

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let first = first_entry(&probe.document).and_then(|dialogue| first_object(&dialogue["messages"]));
    first.is_some_and(|message| {
        matches!(message["role"].as_str(), Some("usr" | "sys")) && message["content"].is_string()
    })
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let dialogues = probe.document.as_object().into_iter().flatten();
    let sessions = dialogues.map(|(name, dialogue)| {
        let mut log = SessionBuilder::new(name);
        for said in items(&dialogue["messages"]) {
            log.push(turn("", said["role"] == "usr", said["content"].as_str().unwrap_or("")));
        }
        (name.clone(), log.finish(name.clone()))
    });
    gather(Format::CrossWoz, sessions, warnings)
}
