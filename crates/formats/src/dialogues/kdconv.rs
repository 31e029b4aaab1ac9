//! KdConv: two people about films or journeys; the speakers alternate and have no names.

use super::turn;
use crate::agents::fields::{first_object, items};
use crate::agents::log::{Log, gather};
use crate::error::{ReadError, Warning};
use crate::format::Format;
use crate::input::Probe;
use crate::loaded::LoadedSession;
use crate::reader::FormatReader;

pub(super) const READER: FormatReader = FormatReader { format: Format::KdConv, fits, read };

fn fits(probe: &Probe<'_>) -> bool {
    first_object(&probe.document).is_some_and(|dialogue| {
        first_object(&dialogue["messages"])
            .is_some_and(|message| message["message"].is_string() && message["role"].is_null())
    })
}

fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let sessions = items(&probe.document).iter().enumerate().map(|(number, dialogue)| {
        let mut log = Log::default();
        for (place, said) in items(&dialogue["messages"]).iter().enumerate() {
            log.push(turn("", place % 2 == 0, said["message"].as_str().unwrap_or("")));
        }
        (number.to_string(), log.finish(number.to_string()))
    });
    gather(Format::KdConv, sessions, warnings)
}
