//! The part of a rollout that a fork takes over (`reference.rs` of codex-rs/rollout, by `RolloutReferenceItem`).

use std::borrow::Cow;

use crate::json::{self, Object};

/// The records in front of the turn of the typed message with a number, counted from 0; all where there are fewer. Turns that
/// were rolled back do not count. The events of typed messages count, and where there are none, the user's messages.
pub(super) fn without_turns(mut records: String, number: usize) -> String {
    let (mut events, mut messages, mut begun) = (Vec::new(), Vec::new(), None);
    let mut start = 0;
    for line in records.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let Some((record, payload)) =
            Object::parse(line.trim()).and_then(|record| Some((record.text("type")?, record.object("payload")?)))
        else {
            continue;
        };
        let kind = payload.text("type").unwrap_or_default();
        match (&*record, &*kind) {
            ("event_msg", "task_started" | "turn_started") => begun = Some(at),
            ("event_msg", "task_complete" | "turn_complete" | "turn_aborted") => begun = None,
            ("event_msg", "user_message") => events.push(begun.unwrap_or(at)),
            ("event_msg", "item_completed") => {
                let item = payload.object("item").and_then(|item| item.text("type"));
                events.extend((item.as_deref() == Some("UserMessage")).then_some(begun.unwrap_or(at)));
            }
            ("event_msg", "thread_rolled_back") => {
                let count = payload.number::<usize>("num_turns").unwrap_or(0);
                for turns in [&mut events, &mut messages] {
                    turns.truncate(turns.len().saturating_sub(count));
                }
            }
            ("response_item", "message") if payload.text("role").as_deref() == Some("user") => {
                messages.push(begun.unwrap_or(at));
            }
            _ => {}
        }
    }
    let turns = if events.is_empty() { messages } else { events };
    if let Some(end) = turns.get(number) {
        records.truncate(*end);
    }
    records
}

/// The records without the developer's messages of these texts, which are not told to a helper; also where a compaction holds
/// them.
pub(super) fn without_texts(records: &str, texts: &[Cow<'_, str>]) -> String {
    let is_told = |item: &str| {
        let Some(item) = Object::parse(item) else { return true };
        let is_developer =
            item.text("type").as_deref() == Some("message") && item.text("role").as_deref() == Some("developer");
        let parts = item.list("content").unwrap_or_default();
        let [part] = parts[..] else { return true };
        let text = Object::parse(part).and_then(|part| part.text("text"));
        !is_developer || text.is_none_or(|text| !texts.contains(&text))
    };
    let kept = |line: &'_ str| -> Option<String> {
        let Some((record, payload)) =
            Object::parse(line.trim()).and_then(|record| record.object("payload").map(|payload| (record, payload)))
        else {
            return Some(line.to_owned());
        };
        match record.text("type").as_deref() {
            Some("response_item") if record.get("payload").is_some_and(|item| !is_told(item)) => None,
            Some("compacted") => {
                let Some(items) = payload.list("replacement_history") else { return Some(line.to_owned()) };
                let items: Vec<String> = items.into_iter().filter(|item| is_told(item)).map(str::to_owned).collect();
                let payload = payload.with(&[("replacement_history", Some(&json::join(&items)))]);
                Some(record.with(&[("payload", Some(&payload))]) + "\n")
            }
            _ => Some(line.to_owned()),
        }
    };
    records.split_inclusive('\n').filter_map(kept).collect()
}
