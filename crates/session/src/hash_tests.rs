#![allow(clippy::unwrap_used)]
use serde_json::{Value, json};

use crate::{EntryKey, Epoch, Message, Origin, Position, Role, Session, SyntheticMessage, Trigger};

/// A session with something in every field.
fn session() -> Session {
    let thinking = json!({"type": "thinking", "text": "t", "signature": "s", "redacted": true});
    let call = json!({"type": "tool-call", "id": "c", "name": "run", "arguments": {"kind": "json", "text": "{}"}});
    let free = json!({"type": "tool-call", "id": "d", "name": "run", "arguments": {"kind": "text", "text": "{}"}});
    let media = |kind: &str| json!({"type": "media", "mime": "image/png", "source": {"kind": kind, "value": "data"}});
    let missing = json!({"type": "media", "mime": "image/png", "source": {"kind": "missing"}});
    let opaque = json!({"type": "opaque", "kind": "k", "json": "{}", "dialect": "pi"});
    let block = |content: &Value| json!({"content": content, "raw": {"dialect": "anthropic", "json": "{}"}});
    let blocks = [thinking, call, free, media("base64"), media("url"), missing, opaque, json!({"type": "gone"})];
    let result = json!({"type": "tool-result", "call_id": "c", "name": "run", "text": "a longer text of a tool",
        "attachments": [{"mime": "image/png", "source": {"kind": "url", "value": "x"}}], "is_error": true});
    let messages = json!([
        {"id": "a", "role": "user", "origin": "typed", "name": "n", "timestamp": 5, "pinned": true, "records": [0, 1],
            "blocks": [{"content": {"type": "text", "text": "hello"}}],
            "text_calls": [{"name": "bash", "block": 0, "start": 1, "end": 2}]},
        {"id": "b", "role": "assistant", "origin": "model", "blocks": blocks.iter().map(block).collect::<Vec<_>>(),
            "usage": {"input": 1, "cache_read": 2, "cache_write": 3, "output": 4}},
        {"id": "c", "role": "tool", "origin": "tool", "blocks": [block(&result)]},
        {"id": "d", "role": "user", "origin": "injected", "blocks": []},
    ]);
    let reason = json!({"code": "old", "detail": "why", "score": 0.5, "evidence": ["e", "f"]});
    let edit = |kind: &str, changes: Value| {
        json!({"kind": kind, "strategy": "s", "reason": reason, "recall": "h", "tokens_saved": 3, "changes": changes,
            "into": 0})
    };
    let excerpt = json!({"kept": [{"start": 1, "end": 3}, {"start": 5, "end": 7}], "marks": ["…", "-", "+"],
        "attachments": "gone"});
    let edits = [
        edit("summarize", json!([{"change": "remove", "entry": {"log": 0}}])),
        edit("excerpt", json!([{"change": "excerpt", "entry": {"log": 2}, "block": 0, "excerpt": excerpt}])),
        edit(
            "trim",
            json!([{"change": "trim", "entry": {"log": 1}, "block": 1, "arguments": "{}"},
            {"change": "strip", "entry": {"synthetic": {"epoch": 0, "index": 0}}, "block": 0}]),
        ),
    ];
    let position = json!({"index": 0, "rank": "summary", "epoch": 0, "sequence": 0});
    let summary = json!({"id": "s", "role": "user", "origin": "summary",
        "blocks": [{"content": {"type": "text", "text": "so far"}}]});
    let choice = json!({"detected": "code", "confidence": 0.75, "chosen": "mixed"});
    let epoch = json!({"id": 0, "origin": "engine", "trigger": "soft", "log_length": 4, "tokens_before": 9,
        "tokens_after": 5, "edits": edits, "synthetics": [{"position": position, "message": summary}],
        "choice": choice, "undone": false});
    let session = json!({"id": "session", "tools": "[]", "log": messages, "journal": [epoch]});
    serde_json::from_value(session).unwrap()
}

/// Values of another kind for every enumeration that a session holds.
const NAMES: [&str; 17] = [
    "system",
    "user",
    "model",
    "tool",
    "instructions",
    "openai-chat",
    "pi",
    "text",
    "json",
    "url",
    "base64",
    "drop",
    "trim",
    "manual",
    "recorded",
    "answer",
    "log",
];

/// The values that differ from this one in one thing, and where.
fn changed(value: &Value, path: &str, add: &mut dyn FnMut(String, Value)) {
    match value {
        Value::Null => {}
        Value::Bool(is) => add(path.to_owned(), (!is).into()),
        Value::Number(number) => match number.as_u64() {
            Some(number) => add(path.to_owned(), (number + 1).into()),
            None => add(path.to_owned(), (number.as_f64().unwrap() + 0.125).into()),
        },
        Value::String(text) => {
            add(path.to_owned(), format!("{text}x").into());
            NAMES.iter().filter(|name| *name != text).for_each(|name| add(path.to_owned(), (*name).into()));
        }
        Value::Array(items) => {
            for index in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(index);
                add(format!("{path}[-{index}]"), fewer.into());
                if index > 0 && items[index] != items[index - 1] {
                    let mut swapped = items.clone();
                    swapped.swap(index, index - 1);
                    add(format!("{path}[~{index}]"), swapped.into());
                }
                changed(&items[index], &format!("{path}[{index}]"), &mut |path, item| {
                    let mut items = items.clone();
                    items[index] = item;
                    add(path, items.into());
                });
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let mut fewer = fields.clone();
                fewer.remove(name);
                add(format!("{path}.-{name}"), fewer.into());
                changed(field, &format!("{path}.{name}"), &mut |path, value| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), value);
                    add(path, fields.into());
                });
            }
        }
    }
}

#[test]
fn every_one_thing_that_changes_changes_the_hash() {
    let session = session();
    let json = serde_json::to_value(&session).unwrap();
    let mut seen = Vec::new();
    changed(&json, "", &mut |path, value| {
        // What is not a session any more says nothing, nor what reads as the same.
        let Ok(other) = serde_json::from_value::<Session>(value) else { return };
        if serde_json::to_value(&other).unwrap() == json {
            return;
        }
        let does_not_count = path == ".id" || path == ".-id" || path.ends_with("score");
        assert_eq!(other.state_hash() == session.state_hash(), does_not_count, "{path}");
        seen.push(path);
    });
    // Each field of the session above, so that the law is not one about a session without it.
    for field in [
        ".tools",
        ".log[0].id",
        ".log[0].role",
        ".log[0].origin",
        ".log[0].name",
        ".log[0].timestamp",
        ".log[0].pinned",
        ".log[0].records[1]",
        ".log[0].blocks[0].content.text",
        ".log[0].text_calls[0].end",
        ".log[1].usage.cache_read",
        ".log[1].blocks[0].content.signature",
        ".log[1].blocks[0].content.redacted",
        ".log[1].blocks[1].content.arguments.kind",
        ".log[1].blocks[1].content.name",
        ".log[1].blocks[3].content.source.kind",
        ".log[1].blocks[3].content.mime",
        ".log[1].blocks[6].content.dialect",
        ".log[1].blocks[6].raw.json",
        ".log[2].blocks[0].content.is_error",
        ".log[2].blocks[0].content.attachments[0].source.value",
        ".log[~1]",
        ".journal[0].trigger",
        ".journal[0].log_length",
        ".journal[0].undone",
        ".journal[0].choice.confidence",
        ".journal[0].edits[0].reason.detail",
        ".journal[0].edits[0].changes[0].entry.log",
        ".journal[0].edits[0].into",
        ".journal[0].edits[1].changes[0].excerpt.kept[0].end",
        ".journal[0].edits[1].changes[0].excerpt.marks[1]",
        ".journal[0].edits[2].changes[0].arguments",
        ".journal[0].edits[~1]",
        ".journal[0].-choice",
        ".journal[0].synthetics[0].message.blocks[0].content.text",
        ".journal[0].synthetics[0].position.index",
    ] {
        assert!(seen.iter().any(|path| path == field), "{field} was not changed: {seen:#?}");
    }
}

#[test]
fn a_session_that_is_read_again_has_the_hash_of_the_one_that_grew() {
    let again =
        |session: &Session| -> Session { serde_json::from_str(&serde_json::to_string(session).unwrap()).unwrap() };
    let mut session = Session::new();
    let mut hashes = vec![session.state_hash()];
    let mut check = |session: &Session| {
        assert_eq!(again(session).state_hash(), session.state_hash());
        assert_eq!(session.clone().state_hash(), session.state_hash());
        assert!(!hashes.contains(&session.state_hash()), "each state has its own");
        hashes.push(session.state_hash());
    };
    for round in 0..4 {
        for _ in 0..3 {
            session.push(Message::text("same", Role::User, Origin::Typed, format!("round {round}")));
            check(&session);
        }
        let entry = session.view()[0].key;
        let position = Position::before(session.view()[0].position, session.next_epoch(), 0);
        let message = Message::text("same", Role::User, Origin::Summary, "so far").into();
        session.commit(Epoch::recorded(Trigger::Manual, [entry], vec![SyntheticMessage { position, message }]));
        check(&session);
        if round % 2 == 0 {
            session.undo(session.next_epoch() - 1).unwrap();
            check(&session);
        }
    }
    assert!(session.journal().iter().any(|epoch| epoch.undone));
    let bare = session.without_journal();
    assert_eq!(again(&bare).state_hash(), bare.state_hash());
}

#[test]
fn sessions_that_removed_different_messages_differ() {
    let removing = |index: u32| {
        let mut session = Session::new();
        for text in ["a", "b", "c"] {
            session.push(Message::text("", Role::User, Origin::Typed, text));
        }
        session.commit(Epoch::recorded(Trigger::Manual, [EntryKey::Log(index)], Vec::new()));
        session.state_hash()
    };
    assert_ne!(removing(0), removing(1));
}
