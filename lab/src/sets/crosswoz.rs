//! CrossWOZ: a tourist and a guide with a goal.

use serde_json::Value;

use super::turns::{Named, first_entry, first_object, items, push, session, str_of, turn};

pub(super) fn fits(document: &Value) -> bool {
    let first = first_entry(document).and_then(|dialogue| first_object(&dialogue["messages"]));
    first.is_some_and(|message| matches!(str_of(&message["role"]), "usr" | "sys") && message["content"].is_string())
}

pub(super) fn read(document: &Value) -> Vec<Named> {
    let dialogues = document.as_object().into_iter().flatten();
    let read_one = |(name, dialogue): (&String, &Value)| {
        let mut log = session(name);
        for said in items(&dialogue["messages"]) {
            push(&mut log, turn("", said["role"] == "usr", str_of(&said["content"])));
        }
        (name.clone(), log)
    };
    dialogues.map(read_one).collect()
}
