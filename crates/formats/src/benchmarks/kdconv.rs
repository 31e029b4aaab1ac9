//! KdConv: two people about films or journeys; the speakers alternate and have no names.

use super::sets::turn;
use crate::json::value::{first_object, items};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::session_builder::{SessionBuilder, gather};

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    first_object(&probe.document).is_some_and(|dialogue| {
        first_object(&dialogue["messages"])
            .is_some_and(|message| message["message"].is_string() && message["role"].is_null())
    })
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let sessions = items(&probe.document).iter().enumerate().map(|(number, dialogue)| {
        let mut log = SessionBuilder::default();
        for (place, said) in items(&dialogue["messages"]).iter().enumerate() {
            log.push(turn("", place % 2 == 0, said["message"].as_str().unwrap_or("")));
        }
        (number.to_string(), log.finish(number.to_string()))
    });
    gather(Format::KdConv, sessions, warnings)
}
