//! MemoryBank: a person and a companion over days.

use super::sets::{first_entry, turn};
use crate::json::value::items;
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::session_builder::{SessionBuilder, gather};
use crate::time;

use serde_json::Value;

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    let days = first_entry(&probe.document).and_then(|person| person["history"].as_object());
    days.is_some_and(|days| {
        days.values().take(8).any(|day| {
            items(day).first().is_some_and(|exchange| exchange["query"].is_string() || exchange["response"].is_string())
        })
    })
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let people = probe.document.as_object().into_iter().flatten();
    let sessions = people.map(|(name, person)| (name.trim().to_owned(), session(name.trim(), person)));
    gather(Format::MemoryBank, sessions, warnings)
}

fn session(name: &str, person: &Value) -> Option<LoadedSession> {
    let mut log = SessionBuilder::new(name);
    for (day, exchanges) in person["history"].as_object().into_iter().flatten() {
        for exchange in items(exchanges) {
            for (is_user, side) in [(true, "query"), (false, "response")] {
                let mut message = turn("", is_user, exchange[side].as_str().unwrap_or(""));
                message.timestamp = time::parse(day);
                log.push(message);
            }
        }
    }
    log.finish(name)
}
