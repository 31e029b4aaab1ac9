//! MemoryBank: a person and a companion over days.

use super::turn;
use crate::agents::fields::{first_entry, items};
use crate::agents::log::{Log, gather};
use crate::agents::time::parse_iso;
use crate::error::{ReadError, Warning};
use crate::format::Format;
use crate::input::Probe;
use crate::loaded::LoadedSession;
use crate::reader::FormatReader;

use serde_json::Value;

pub(super) const READER: FormatReader = FormatReader { format: Format::MemoryBank, fits, read };

fn fits(probe: &Probe<'_>) -> bool {
    let days = first_entry(&probe.document).and_then(|person| person["history"].as_object());
    days.is_some_and(|days| {
        days.values().take(8).any(|day| {
            items(day).first().is_some_and(|exchange| exchange["query"].is_string() || exchange["response"].is_string())
        })
    })
}

fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let people = probe.document.as_object().into_iter().flatten();
    let sessions = people.map(|(name, person)| (name.trim().to_owned(), session(name.trim(), person)));
    gather(Format::MemoryBank, sessions, warnings)
}

fn session(name: &str, person: &Value) -> Option<LoadedSession> {
    let mut log = Log::new(name);
    for (day, exchanges) in person["history"].as_object().into_iter().flatten() {
        for exchange in items(exchanges) {
            for (is_user, side) in [(true, "query"), (false, "response")] {
                let mut message = turn("", is_user, exchange[side].as_str().unwrap_or(""));
                message.timestamp = parse_iso(day);
                log.push(message);
            }
        }
    }
    log.finish(name)
}
