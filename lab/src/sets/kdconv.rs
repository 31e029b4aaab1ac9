//! KdConv: two people about films or journeys; the speakers alternate and have no names.

use serde_json::Value;

use super::turns::{Named, first_object, items, push, session, str_of, turn};

pub(super) fn fits(document: &Value) -> bool {
    let first = first_object(document).and_then(|dialogue| first_object(&dialogue["messages"]));
    first.is_some_and(|message| message["message"].is_string() && message["role"].is_null())
}

pub(super) fn read(document: &Value) -> Vec<Named> {
    let read_one = |(number, dialogue): (usize, &Value)| {
        let mut log = session("");
        for (place, said) in items(&dialogue["messages"]).iter().enumerate() {
            push(&mut log, turn("", place % 2 == 0, str_of(&said["message"])));
        }
        (number.to_string(), log)
    };
    items(document).iter().enumerate().map(read_one).collect()
}
