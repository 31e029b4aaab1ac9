//! Requests of chat completions, and recordings of their messages.

use super::blocks;
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::requests::{candidates, is_chat_message, keys, read_sessions, with_role};

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    candidates(probe).any(|candidate| {
        keys(Format::OpenaiChat)
            .iter()
            .any(|key| candidate[*key].as_array().is_some_and(|list| list.iter().any(is_chat_message)))
            || is_chat_message(candidate)
    })
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    read_sessions(probe, Format::OpenaiChat, warnings, |envelope, reader| {
        for (number, (span, json)) in envelope.items.iter().enumerate() {
            match with_role(json) {
                Some(object) => {
                    let record = reader.record(span.clone());
                    blocks::messages(&object).into_iter().for_each(|message| reader.push(message, record, &object));
                }
                None => reader.warn_skipped(number),
            }
        }
    })
}
