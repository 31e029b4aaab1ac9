//! MemoryBank: a person and a companion over days.

use serde_json::Value;

use super::turns::{Named, first_entry, items, push, session, str_of, time, turn};

pub(super) fn fits(document: &Value) -> bool {
    let days = first_entry(document).and_then(|person| person["history"].as_object());
    days.is_some_and(|days| {
        days.values().take(8).any(|day| {
            items(day).first().is_some_and(|exchange| exchange["query"].is_string() || exchange["response"].is_string())
        })
    })
}

pub(super) fn read(document: &Value) -> Vec<Named> {
    let people = document.as_object().into_iter().flatten();
    people.map(|(name, person)| (name.trim().to_owned(), of_person(name.trim(), person))).collect()
}

fn of_person(name: &str, person: &Value) -> epitome::Session {
    let mut log = session(name);
    for (day, exchanges) in person["history"].as_object().into_iter().flatten() {
        for exchange in items(exchanges) {
            for (is_user, side) in [(true, "query"), (false, "response")] {
                let mut message = turn("", is_user, str_of(&exchange[side]));
                message.timestamp = time(day);
                push(&mut log, message);
            }
        }
    }
    log
}
