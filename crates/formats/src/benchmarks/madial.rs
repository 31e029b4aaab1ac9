//! MADial: a child and an assistant; a line of text per turn, with the speaker in front.

use serde_json::Value;

use super::sets::turn;
use crate::json::value::{id, items};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::records::{first_record, records};
use crate::recording::session_builder::{SessionBuilder, gather};

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    first_record(probe).is_some_and(|record| {
        items(&record["dialogue"])
            .first()
            .and_then(Value::as_str)
            .is_some_and(|line| line.trim_start().starts_with('<'))
    })
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let mut sessions = Vec::new();
    for (number, record) in records(probe, warnings).enumerate() {
        let own = id(&record["id"]);
        let name = if own.is_empty() { number.to_string() } else { own };
        let mut log = SessionBuilder::new(&name);
        for line in items(&record["dialogue"]) {
            if let Some((speaker, said)) = line.as_str().and_then(split_speaker) {
                let mut message = turn("", speaker != "Assistant", said);
                message.name = Some(speaker.into());
                log.push(message);
            }
        }
        sessions.push((name.clone(), log.finish(name)));
    }
    gather(Format::Madial, sessions, warnings)
}

/// Speaker and words of `<Bart>:"…"`; the marks of beginning and end have neither. Some lines lack the closing quote.
fn split_speaker(line: &str) -> Option<(&str, &str)> {
    let (speaker, said) = line.trim().strip_prefix('<')?.split_once('>')?;
    let said = said.trim_start_matches([':', '：']).trim();
    let said = said.strip_prefix('"').unwrap_or(said);
    let said = said.strip_suffix('"').unwrap_or(said);
    (!said.is_empty()).then_some((speaker, said))
}
