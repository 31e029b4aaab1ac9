//! Codex's file: one `compacted` record whose replacement history is the view.

use epitome_session::Message;

use super::agent::{Lines, first_time};
use super::{Target, on_users_side, split_summary};
use crate::wire::agents::mark::{FIELD, Mark};
use crate::wire::json::{self, Object, ObjectWriter};
use crate::wire::render::{self, Profile};
use crate::wire::time;

/// The file with the compaction behind it.
pub(super) fn append(target: &Target<'_>) -> Vec<u8> {
    let mut lines = Lines::after(&target.loaded.bytes, last_time(&target.loaded.bytes));
    for entry in target.new_messages() {
        for item in render::response_items(&entry.message) {
            push(&mut lines, "response_item", &item);
        }
    }
    if target.is_compacted() {
        let source = target.source.for_own_file();
        let parts = render::parts(&on_users_side(target.session.view()), Profile::OpenaiResponses, Some(&source));
        let items: Vec<String> = parts.items.into_iter().map(|part| part.json).collect();
        let mark = Mark::between(target.original, target.session).to_json();
        let summary = split_summary(target.session.view()).0.map(|entry| entry.message.plain_text());
        let payload = ObjectWriter::new()
            .text("message", &summary.unwrap_or_default())
            .raw("replacement_history", &json::join(&items))
            .raw(FIELD, &mark)
            .finish();
        push(&mut lines, "compacted", &payload);
    }
    lines.finish()
}

/// A new file that holds the view.
pub(super) fn create(target: &Target<'_>) -> Vec<u8> {
    let mut lines = Lines::after(b"", first_time(target.session));
    lines.mix(target.session.log().iter().map(|message| Message::plain_text(message)).collect::<String>().as_str());
    let parts = render::parts(&on_users_side(target.session.view()), Profile::OpenaiResponses, Some(target.source));
    let (id, time) = (lines.next_uuid(), lines.next_time());
    let instructions = parts.system.map(|text| ObjectWriter::new().raw("text", &text).finish());
    let payload = ObjectWriter::new()
        .text("id", &id)
        .text("timestamp", &time::format(time))
        .text("cwd", "/")
        .text("originator", "epitome")
        .text("cli_version", "0.0.0")
        .text("source", "cli")
        .maybe("base_instructions", instructions.as_deref())
        .finish();
    push(&mut lines, "session_meta", &payload);
    for part in parts.items {
        push(&mut lines, "response_item", &part.json);
    }
    lines.finish()
}

fn push(lines: &mut Lines, kind: &str, payload: &str) {
    let time = time::format(lines.next_time());
    let record = ObjectWriter::new().text("timestamp", &time).text("type", kind).raw("payload", payload).finish();
    lines.push(&record);
}

/// The time of the newest record that has one.
pub(super) fn last_time(bytes: &[u8]) -> i64 {
    let lines = bytes.rsplit(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let time = |line: &str| time::parse(&Object::parse(line.trim())?.text("timestamp")?);
    lines.into_iter().find_map(time).unwrap_or(0)
}
