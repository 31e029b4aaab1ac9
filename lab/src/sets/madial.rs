//! MADial: a child and an assistant; a line of text per turn, with the speaker in front.

use serde_json::Value;

use super::turns::{Named, id, items, list, push, session, str_of, turn};

pub(super) fn fits(document: &Value) -> bool {
    let first = list(document).iter().take(9).find(|record| record.is_object());
    first.is_some_and(|record| {
        items(&record["dialogue"]).first().is_some_and(|line| str_of(line).trim_start().starts_with('<'))
    })
}

pub(super) fn read(document: &Value) -> Vec<Named> {
    let read_one = |(number, record): (usize, &Value)| {
        let own = id(&record["id"]);
        let name = if own.is_empty() { number.to_string() } else { own };
        let mut log = session(&name);
        for line in items(&record["dialogue"]) {
            if let Some((speaker, said)) = split_speaker(str_of(line)) {
                let mut message = turn("", speaker != "Assistant", said);
                message.name = Some(speaker.into());
                push(&mut log, message);
            }
        }
        (name, log)
    };
    list(document).iter().enumerate().map(read_one).collect()
}

/// Speaker and words of `<Bart>:"…"`; the marks of beginning and end have neither. Some lines lack the closing quote.
fn split_speaker(line: &str) -> Option<(&str, &str)> {
    let (speaker, said) = line.trim().strip_prefix('<')?.split_once('>')?;
    let said = said.trim_start_matches([':', '：']).trim();
    let said = said.strip_prefix('"').unwrap_or(said);
    let said = said.strip_suffix('"').unwrap_or(said);
    (!said.is_empty()).then_some((speaker, said))
}
