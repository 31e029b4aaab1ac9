#![allow(clippy::unwrap_used)]
use std::collections::HashSet;
use std::sync::Arc;

use epitome_session::{
    Block, Change, Content, EditKind, Entry, EntryKey, Epoch, EpochOrigin, Excerpt, KeptRanges, Message, Origin,
    Position, Role, SyntheticMessage, ToolResult, Trigger, units,
};

use super::*;
use crate::render::Wire;
use crate::tests::corpus::files;
use crate::tests::samples::samples;
use crate::{LoadedSession, ReadOptions, read};

pub(crate) fn load(bytes: &[u8]) -> LoadedFile {
    read(bytes.to_vec(), ReadOptions::default()).unwrap()
}

/// A compaction by hand: the first half of the units becomes a summary, the longest result that is left an excerpt, the
/// longest call that is left is trimmed.
pub(crate) fn compact(session: &mut Session, summary: &str) {
    let view = session.view().to_vec();
    let all = units(&view);
    let half =
        all.iter().take(all.len() / 2).filter(|unit| unit.closed && unit.kind != epitome_session::UnitKind::System);
    let removed: Vec<usize> = half.flat_map(|unit| unit.entries.clone()).collect();
    let mut changes: Vec<Change> = removed.iter().map(|index| Change::Remove { entry: view[*index].key }).collect();
    let left = || (0..view.len()).filter(|index| !removed.contains(index));
    let result_length =
        |index: &usize| view[*index].message.blocks.first().and_then(Block::as_result).map_or(0, |it| it.text.len());
    if let Some(longest) = left().filter(|index| !view[*index].is_edited()).max_by_key(result_length)
        && let Some(result) = view[longest].original.blocks.first().and_then(Block::as_result)
        && result.text.len() > 20
    {
        let end = (10..).find(|at| result.text.is_char_boundary(*at)).unwrap() as u32;
        let kept = KeptRanges::new(&result.text, std::slice::from_ref(&(0..end))).unwrap();
        let marks = vec![Arc::from("[… rest elided · recall e3f9]")];
        changes.push(Change::Excerpt {
            entry: view[longest].key,
            block: 0,
            excerpt: Excerpt { kept, marks, attachments: None },
        });
    }
    let call_length = |index: &usize| view[*index].message.calls().map(|(_, call)| call.arguments.text().len()).max();
    if let Some(longest) = left().max_by_key(call_length)
        && let Some((block, _)) = view[longest].message.calls().next()
    {
        let arguments = Arc::from(r#"{"trimmed":"yes"}"#);
        changes.push(Change::Trim { entry: view[longest].key, block: block as u32, arguments });
    }
    let mut synthetics = Vec::new();
    if let Some(first) = removed.first() {
        let position = Position::before(view[*first].position, session.next_epoch(), 0);
        let message = Arc::new(Message::text("", Role::User, Origin::Summary, summary));
        synthetics.push(SyntheticMessage { position, message });
    }
    let epoch = Epoch::recorded_edits(Trigger::Manual, EditKind::Summarize, changes, synthetics);
    session.commit(Epoch { origin: EpochOrigin::Engine, tokens_before: Some(9000), tokens_after: Some(400), ..epoch });
}

/// What a provider sees of a view: roles and contents.
fn seen(view: &[Entry]) -> Vec<(Role, Vec<Content>)> {
    let contents = |entry: &Entry| entry.message.blocks.iter().map(|block| block.content.clone()).collect();
    view.iter().map(|entry| (entry.message.role, contents(entry))).collect()
}

const AGENTS: [Format; 3] = [Format::ClaudeCode, Format::Codex, Format::Pi];

/// Writes, reads, and compares; then once more with a second compaction, and with an undo.
fn check_agent_file(name: &str, loaded: &LoadedFile) {
    let before = loaded.bytes.len();
    let mut session = loaded.sessions[0].session.clone();
    compact(&mut session, "Summary: the first half.");
    let written = write(loaded, 0, &session, loaded.format).unwrap();
    assert_eq!(&written[..before], &*loaded.bytes, "{name}: what was there stays");
    assert_eq!(write(loaded, 0, &session, loaded.format).unwrap(), written, "{name}: deterministic");
    let again = load(&written);
    assert!(again.warnings.len() <= loaded.warnings.len(), "{name}: {:?}", again.warnings);
    assert_eq!(again.format, loaded.format);
    let reread = &again.sessions[0].session;
    assert_eq!(reread.view(), session.view(), "{name}: the same compacted view");
    assert_eq!(reread.full_view(), loaded.sessions[0].session.full_view(), "{name}: the same full view");
    assert_eq!(write(&again, 0, reread, again.format).unwrap(), written, "{name}: nothing is added twice");

    let mut second = reread.clone();
    compact(&mut second, "Summary: once more.");
    let twice = load(&write(&again, 0, &second, again.format).unwrap());
    assert_eq!(twice.sessions[0].session.view(), second.view(), "{name}: a second compaction");
    assert_eq!(twice.sessions[0].session.full_view(), loaded.sessions[0].session.full_view(), "{name}");

    let mut regretted = session.clone();
    compact(&mut regretted, "Summary: a mistake.");
    regretted.undo(regretted.next_epoch() - 1).unwrap();
    let kept = load(&write(loaded, 0, &regretted, loaded.format).unwrap());
    assert_eq!(kept.sessions[0].session.view(), session.view(), "{name}: undone before it was written");

    let bare = second.without_journal();
    let whole = load(&write(&again, 0, &bare, again.format).unwrap());
    assert_eq!(whole.sessions[0].session.view(), bare.view(), "{name}: the whole session again");
    let mut afresh = bare;
    compact(&mut afresh, "Summary: afresh.");
    compact(&mut afresh, "Summary: and over the summary.");
    let rewritten = load(&write(&again, 0, &afresh, again.format).unwrap());
    assert!(rewritten.warnings.len() <= loaded.warnings.len(), "{name}: {:?}", rewritten.warnings);
    assert_eq!(seen(rewritten.sessions[0].session.view()), seen(afresh.view()), "{name}: compacted afresh");

    for profile in Wire::ALL {
        let source = Source::new(&again, 0).unwrap();
        let rendered = render(second.view(), profile, None, Some(&source));
        assert_eq!(crate::validate(&rendered.json, profile), [], "{name}: {profile:?}");
    }

    let mut undone = twice.sessions[0].session.clone();
    undone.undo(undone.next_epoch() - 1).unwrap();
    let back = load(&write(&twice, 0, &undone, twice.format).unwrap());
    assert_eq!(back.sessions[0].session.view(), session.view(), "{name}: an undo");

    // Without what the mark says, the written records alone give the same view: what the agent itself will read.
    assert_records_alone(name, &written, loaded.warnings.len() + 1, &session);

    check_line_meanwhile(name, loaded, &session, &written[before..]);
}

/// Holds what the records of a file say without their marks against a session's view.
fn assert_records_alone(name: &str, written: &[u8], warnings: usize, session: &Session) {
    let text = std::str::from_utf8(written).unwrap();
    let known = [session.log().len(), session.log().len() - 1].map(|log| format!("\"log\":{log},\"beginning\""));
    assert!(text.contains(&known[0]), "{name}");
    let foreign = known.iter().fold(text.to_owned(), |text, log| text.replace(log, "\"log\":1,\"beginning\""));
    let loaded = load(foreign.as_bytes());
    assert_eq!(loaded.warnings.len(), warnings, "{name}: {:?}", loaded.warnings);
    let foreign = seen(loaded.sessions[0].session.view());
    let mut expect: Vec<_> = seen(session.view());
    if loaded.format == Format::Codex {
        answer_open_calls(&mut expect);
    }
    assert_eq!(foreign.len(), expect.len(), "{name}");
    for (index, (read, wrote)) in foreign.iter().zip(&expect).enumerate() {
        assert_eq!(shown(read), shown(wrote), "{name}, message {index}");
    }
}

/// Answers the calls that have no result although something follows: Codex sends what stands in its record, and its
/// provider takes no call without a result.
fn answer_open_calls(view: &mut Vec<(Role, Vec<Content>)>) {
    let result = |content: &Content| match content {
        Content::ToolResult(result) => Some(result.call_id.clone()),
        _ => None,
    };
    let answered: HashSet<_> = view.iter().flat_map(|(_, contents)| contents).filter_map(result).collect();
    for index in (0..view.len().saturating_sub(1)).rev() {
        let is_result = |(role, _): &&(Role, Vec<Content>)| *role == Role::Tool;
        let behind = index + 1 + view[index + 1..].iter().take_while(is_result).count();
        let open = view[index].1.iter().filter_map(|content| match content {
            Content::ToolCall(call) if behind < view.len() && !answered.contains(&call.id) => Some(call.id.clone()),
            _ => None,
        });
        let text: Arc<str> = "[No result was recorded for this call.]".into();
        let answer =
            |call_id| ToolResult { call_id, name: None, text: text.clone(), attachments: Vec::new(), is_error: false };
        let answers: Vec<_> = open.map(|id| (Role::Tool, vec![Content::ToolResult(answer(id))])).collect();
        view.splice(behind..behind, answers);
    }
}

/// A record in which an agent's user says one more thing.
fn record(format: Format) -> &'static str {
    match format {
        Format::Codex => {
            r#"{"timestamp":"2027-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"one more"}]}}"#
        }
        Format::Pi => {
            r#"{"type":"message","id":"more","message":{"role":"user","content":[{"type":"text","text":"one more"}],"timestamp":0}}"#
        }
        _ => r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"one more"},"uuid":"more"}"#,
    }
}

/// A line that the agent writes while the session is compacted: before anything is written, and between the last look at
/// the file and the write.
fn check_line_meanwhile(name: &str, loaded: &LoadedFile, session: &Session, addition: &[u8]) {
    let mut content = loaded.bytes.to_vec();
    if content.last() != Some(&b'\n') {
        content.push(b'\n');
    }
    // Without a parent it follows what is there; one that is null begins the conversation anew.
    content.extend_from_slice(record(loaded.format).replace(r#""parentUuid":null,"#, "").as_bytes());
    content.push(b'\n');
    let later = load(&content);
    let carried = carry_over(loaded, 0, session, &later).unwrap();
    let (newest, rest) = carried.view().split_last().unwrap();
    assert_eq!((newest.message.plain_text().as_str(), rest), ("one more", session.view()), "{name}: it follows");
    let written = load(&write(&later, 0, &carried, later.format).unwrap());
    assert_eq!(written.sessions[0].session.view(), carried.view(), "{name}: carried over");
    assert!(carry_over(&later, 0, &carried, loaded).is_none(), "{name}: a file that lost a line did not go on");
    assert!(carry_over(loaded, 0, session, &written).is_none(), "{name}: it was compacted by another");

    content.extend_from_slice(addition);
    let behind = load(&content);
    assert_eq!(behind.warnings, later.warnings, "{name}");
    assert_eq!(behind.sessions[0].session.view(), carried.view(), "{name}: it slipped in between");
    let again = write_again(&behind, 0).unwrap();
    assert_eq!(&again[..content.len()], content, "{name}: what was there stays");
    assert_eq!(load(&again).sessions[0].session.view(), carried.view(), "{name}: recorded again");
    assert_records_alone(name, &again, loaded.warnings.len() + 2, &carried);
}

/// A message without what the formats do not repeat: the tool's name in a result.
fn shown(message: &(Role, Vec<Content>)) -> String {
    let block = |content: &Content| match content {
        Content::ToolResult(result) => format!("{} {} {}", result.call_id, result.text, result.attachments.len()),
        other => format!("{other:?}"),
    };
    format!("{:?} {:?}", message.0, message.1.iter().map(block).collect::<Vec<_>>())
}

#[test]
fn an_agent_that_went_on_from_before_a_compaction_gets_it_again() {
    for (name, sample) in samples() {
        let loaded = crate::tests::load(&sample);
        let ids = |content: &str| -> Vec<String> {
            let lines = content.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
            lines.filter_map(|line| line["uuid"].as_str().or(line["id"].as_str()).map(str::to_owned)).collect()
        };
        let mut session = loaded.sessions[0].session.clone();
        compact(&mut session, "Summary: the first half.");
        let written = String::from_utf8(write(&loaded, 0, &session, loaded.format).unwrap()).unwrap();
        let parent = |id: Option<&String>| format!("\":\"{}\"", id.map_or("", String::as_str));
        let going_on = |id: Option<&String>| {
            let record = record(loaded.format).replace("parentUuid\":null", &format!("parentUuid{}", parent(id)));
            let record = record.replace("\"id\":", &format!("\"parentId{},\"id\":", parent(id)));
            load(format!("{written}{record}\n").as_bytes())
        };
        let has_chain = matches!(name, "claude" | "pi");
        assert!(!is_bypassed(&loaded) && !is_bypassed(&load(written.as_bytes())), "{name}");
        assert!(!is_bypassed(&going_on(ids(&written).last())), "{name}: it knows the compaction");
        let bypassed = going_on(ids(&sample).last());
        assert_eq!(is_bypassed(&bypassed), has_chain, "{name}");
        if name == "pi" {
            assert_eq!(bypassed.sessions[0].session.cycle(), session.cycle(), "nobody went back");
        }
        let again = load(&write_again(&bypassed, 0).unwrap());
        assert!(!is_bypassed(&again), "{name}: with it again");
        assert_eq!(again.sessions[0].session.view(), bypassed.sessions[0].session.view(), "{name}");
    }
}

#[test]
fn agent_files_are_compacted_and_read_back() {
    for (name, sample) in samples() {
        let loaded = crate::tests::load(&sample);
        let journal = loaded.sessions[0].session.journal();
        assert_eq!((journal.len(), journal[0].synthetics.len()), (1, 1), "{name}");
        check_agent_file(name, &loaded);
    }
}

#[test]
fn recorded_agent_files_are_compacted_and_read_back() {
    for (name, loaded) in files().iter().filter(|(_, loaded)| AGENTS.contains(&loaded.format)) {
        check_agent_file(name, loaded);
    }
}

#[test]
fn recorded_files_come_back_as_they_were() {
    for (name, loaded) in files().into_iter().filter(|(_, loaded)| loaded.format.is_writable()) {
        let mut all = Vec::new();
        for (index, LoadedSession { session, .. }) in loaded.sessions.iter().enumerate() {
            all.extend(write(&loaded, index, session, loaded.format).unwrap());
        }
        if loaded.sessions.len() == 1 {
            assert!(all == *loaded.bytes, "{name}");
        } else {
            let count = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
            assert!(count(&all) >= loaded.sessions.len(), "{name}: a session a line or more");
        }
    }
}

/// Removes the entries at `removed` from the view and puts a summary where the first of them stood.
pub(crate) fn drop_entries(session: &mut Session, removed: &[usize], summary: &str) {
    let view = session.view().to_vec();
    let keys: Vec<EntryKey> = removed.iter().map(|index| view[*index].key).collect();
    let position = Position::before(view[removed[0]].position, session.next_epoch(), 0);
    let message = Arc::new(Message::text("", Role::User, Origin::Summary, summary));
    session.commit(Epoch::recorded(Trigger::Manual, keys, vec![SyntheticMessage { position, message }]));
}

pub(crate) fn written(input: &str, removed: &[usize]) -> String {
    let loaded = crate::tests::load(input);
    let mut session = loaded.sessions[0].session.clone();
    drop_entries(&mut session, removed, "so far");
    let bytes = write(&loaded, 0, &session, loaded.format).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_request_keeps_its_fields_its_white_space_and_its_untouched_messages() {
    let input = r#"{ "model" : "gpt-5",
  "messages" : [
    {"role": "system",  "content": "s"},
    {"content": "a", "role": "user"},
    {"role": "assistant", "content": "b", "custom": 1},
      {"role": "user", "content": "c"}
  ], "temperature": 0.10 }
"#;
    let expect = r#"{ "model" : "gpt-5",
  "messages" : [
    {"role": "system",  "content": "s"},
    {"role":"user","content":"so far"},
      {"role": "user", "content": "c"}
  ], "temperature": 0.10 }
"#;
    assert_eq!(written(input, &[1, 2]), expect);
    // A server whose template may want its messages to take turns gets turns, as it did.
    let local = written(&input.replace("gpt-5", "gemma-3"), &[1, 2]);
    assert!(local.contains(r#"{"role":"user","content":"so far\n\nc"}"#), "{local}");
    let in_a_row = input.replace("gpt-5", "gemma-3").replace(r#""role": "assistant""#, r#""role": "user""#);
    assert!(written(&in_a_row, &[1, 2]).contains(r#"{"role":"user","content":"so far"}"#));

    let input = "{\"role\":\"user\", \"content\":\"a\"}\n{\"role\":\"assistant\", \"content\":\"b\"}\n{\"role\":\"user\", \"content\":\"c\"}\n";
    assert_eq!(
        written(input, &[0]),
        "{\"role\":\"user\",\"content\":\"so far\"}\n{\"role\":\"assistant\", \"content\":\"b\"}\n{\"role\":\"user\", \"content\":\"c\"}\n"
    );

    let input = r#"{"system":"s","max_tokens":5,"messages":[{"role":"user","content":"a"}, {"role":"assistant","content": "b"}, {"role":"user","content": [ {"type":"text","text":"c","cache_control":{"type":"ephemeral"}} ]}]}"#;
    let expect = r#"{"system":"s","max_tokens":5,"messages":[{"role":"user","content":"so far"}, {"role":"assistant","content": "b"}, {"role":"user","content": [ {"type":"text","text":"c","cache_control":{"type":"ephemeral"}} ]}]}"#;
    assert_eq!(written(input, &[1]), expect);

    let input = r#"{"instructions":"s","input":[{"type":"message","role":"user","content":"a"},{"type":"reasoning","id":"r","summary":[]},{"type":"message","role":"assistant", "content":[{"type":"output_text","text":"b"}]}],"store":false}"#;
    let expect = r#"{"instructions":"s","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"so far"}]},{"type":"reasoning","id":"r","summary":[]},{"type":"message","role":"assistant", "content":[{"type":"output_text","text":"b"}]}],"store":false}"#;
    assert_eq!(written(input, &[1]), expect);
}

#[test]
fn of_a_message_with_results_and_text_only_what_is_left_is_written() {
    let input = r#"[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"out"},{"type":"text","text":"and more"}]},{"role":"assistant","content":"b"}]"#;
    let text = written(input, &[3]);
    assert!(!text.contains("and more") && text.contains("so far"), "{text}");
    assert_eq!(crate::validate(&text, Wire::Anthropic), []);
    let loaded = crate::tests::load(input);
    let mut session = loaded.sessions[0].session.clone();
    session.commit(Epoch::recorded(Trigger::Manual, [session.view()[3].key], Vec::new()));
    let bytes = write(&loaded, 0, &session, Format::Anthropic).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), input.replace(r#",{"type":"text","text":"and more"}"#, "").as_str());
}

#[test]
fn an_edited_message_keeps_its_other_fields() {
    let input = r#"[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":\"long long\"}"}}],"vendor":{"x":1}},{"role":"tool","tool_call_id":"1","name":"f","content":"a long result","vendor":2}]"#;
    let loaded = crate::tests::load(input);
    let mut session = loaded.sessions[0].session.clone();
    let view = session.view().to_vec();
    let excerpt = Excerpt {
        kept: KeptRanges::new("a long result", &[0..6]).unwrap(),
        marks: vec!["…".into()],
        attachments: None,
    };
    let changes = vec![
        Change::Excerpt { entry: view[2].key, block: 0, excerpt },
        Change::Trim { entry: view[1].key, block: 0, arguments: r#"{"a":"l…"}"#.into() },
    ];
    session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Excerpt, changes, Vec::new()));
    let text = String::from_utf8(write(&loaded, 0, &session, Format::OpenaiChat).unwrap()).unwrap();
    assert_eq!(
        text,
        r#"[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":\"l…\"}"}}],"vendor":{"x":1}},{"role":"tool","tool_call_id":"1","name":"f","content":"a long…","vendor":2}]"#
    );
}

#[test]
fn texts_that_become_one_message_stay_a_text() {
    const SUMMARY: &str = "[Summary of 2 earlier messages]\n» Done.";
    let user = |content: &str| format!(r#"{{"role":"user","content":{content}}}"#);
    let model = r#"{"role":"assistant","content":"x"}"#;
    let check = |contents: [&str; 3], removed: &[usize], expect: &[String], read: &[&str]| {
        let [first, second, third] = contents.map(user);
        let list = |items: &[String]| format!(r#"{{"model":"deepseek-v3.2","messages":[{}]}}"#, items.join(","));
        let all = list(&[first, model.into(), second, model.into(), third]);
        let loaded = crate::tests::load(&all);
        let mut session = loaded.sessions[0].session.clone();
        drop_entries(&mut session, removed, SUMMARY);
        let written = write(&loaded, 0, &session, Format::OpenaiChat).unwrap();
        assert_eq!(String::from_utf8(written.clone()).unwrap(), list(expect));
        // The texts are told apart when they are read, and stay as they are where others change.
        let again = load(&written);
        assert_eq!(crate::tests::view(again.sessions[0].session.view()), read);
        let mut second = again.sessions[0].session.clone();
        let at = second.view().iter().position(|entry| entry.message.origin == Origin::Summary).unwrap();
        drop_entries(&mut second, &[at], SUMMARY);
        let second = write(&again, 0, &second, Format::OpenaiChat).unwrap();
        let value = |json: &[u8]| serde_json::from_slice::<serde_json::Value>(json).unwrap();
        assert_eq!(value(&second), value(&written));
    };
    let summary = r"[Summary of 2 earlier messages]\n» Done.";
    let (is_summary, is_model) = (format!("user/Summary: {SUMMARY}"), "assistant/Model: x");
    // The bytes in front of the summary are those that came.
    check(
        [r#""a \u00e4\/b""#, "\"b\"", "\"c\""],
        &[1, 2],
        &[user(&format!(r#""a \u00e4\/b\n\n{summary}""#)), model.into(), user("\"c\"")],
        &["user/Typed: a ä/b", &is_summary, is_model, "user/Typed: c"],
    );
    check(
        ["\"a\"", "\"b\"", "\"c\""],
        &[0, 1],
        &[user(&format!(r#""{summary}\n\n[Now]\nb""#)), model.into(), user("\"c\"")],
        &[&is_summary, "user/Typed: b", is_model, "user/Typed: c"],
    );
    check(
        ["\"a\"", "\"b\"", "\"c\""],
        &[1, 2, 3],
        &[user(&format!(r#""a\n\n{summary}\n\n[Now]\nc""#))],
        &["user/Typed: a", &is_summary, "user/Typed: c"],
    );
    // What came in parts stays in parts.
    let input = r#"{"model":"deepseek-v3.2","messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":"x"},{"role":"user","content":"b"},{"role":"assistant","content":"y"}]}"#;
    let parts = r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"so far"}]},{"role":"assistant","content":"y"}"#;
    assert!(written(input, &[1, 2]).contains(parts));
}

#[test]
fn a_call_keeps_the_shape_in_which_it_came() {
    let ollama = r#"{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"function":{"index":0,"name":"f","arguments":{"a":"long long"}}}]}"#;
    let mistral = r#"{"role":"assistant","content":"","tool_calls":[{"id":"abcDEF000","function":{"name":"f","arguments":{"a":"long long"}},"index":0}]}"#;
    let openai = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":\"long long\"}"}}]}"#;
    let check = |call: &str, result: &str| {
        let input = format!(r#"[{{"role":"user","content":"a"}},{call},{result},{{"role":"user","content":"b"}}]"#);
        let loaded = crate::tests::load(&input);
        let mut session = loaded.sessions[0].session.clone();
        let (block, _) = session.view()[1].message.calls().next().unwrap();
        let arguments = r#"{"a":"l…"}"#.into();
        let changes = vec![Change::Trim { entry: session.view()[1].key, block: block as u32, arguments }];
        session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Trim, changes, Vec::new()));
        let written = String::from_utf8(write(&loaded, 0, &session, Format::OpenaiChat).unwrap()).unwrap();
        let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        let mut written = value(&written);
        let mut expect = value(&input.replace("long long", "l…"));
        // No text of the model's beside its calls is null in what is written anew.
        for message in [&mut written[1], &mut expect[1]] {
            assert!(message["content"].is_null() || message["content"] == "", "{message}");
            message["content"] = serde_json::Value::Null;
        }
        assert_eq!(written, expect);
    };
    check(ollama, r#"{"role":"tool","tool_name":"f","content":"out"}"#);
    check(mistral, r#"{"role":"tool","name":"f","tool_call_id":"abcDEF000","content":"out"}"#);
    check(openai, r#"{"role":"tool","tool_call_id":"1","content":"out"}"#);
}

#[test]
fn reasoning_among_the_parts_stays_there() {
    let thought = r#"{"type":"thinking","thinking":[{"type":"text","text":"hm"},{"type":"reference","reference_ids":[1]}],"closed":true}"#;
    let said = format!(
        r#"{{"role":"assistant", "content":[{thought},{{"type":"text","text":"x"}},{{"type":"reference","reference_ids":[1]}}]}}"#
    );
    let input = format!(
        r#"{{"model":"magistral","messages":[{{"role":"user","content":"a"}},{{"role":"assistant","content":"b"}},{{"role":"user","content":"c"}},{said},{{"role":"user","content":"d"}}]}}"#
    );
    let loaded = crate::tests::load(&input);
    let expect = "assistant/Model: thinking(hm) | x | opaque(reference)";
    assert_eq!(crate::tests::view(loaded.sessions[0].session.view())[3], expect);
    assert!(written(&input, &[1]).contains(&said), "it is not changed");
    let check = |block: u32, expect: &str| {
        let mut session = loaded.sessions[0].session.clone();
        let excerpt = Excerpt { kept: KeptRanges::default(), marks: vec!["…".into()], attachments: None };
        let changes = vec![Change::Excerpt { entry: session.view()[3].key, block, excerpt }];
        session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Excerpt, changes, Vec::new()));
        let cut = String::from_utf8(write(&loaded, 0, &session, Format::OpenaiChat).unwrap()).unwrap();
        assert!(cut.contains(expect) && !cut.contains("reasoning_content"), "{cut}");
    };
    check(1, thought);
    check(0, r#"{"type":"thinking","thinking":[{"type":"text","text":"…"}],"closed":true}"#);
}

#[test]
fn a_cut_stands_in_place_of_what_a_result_was_read_from() {
    let found = r#"{"type":"search_result","source":"https://x","title":"t","content":[{"type":"text","text":"a long result"}],"citations":{"enabled":true}}"#;
    let paper =
        r#"{"type":"document","title":"t","source":{"type":"text","media_type":"text/plain","data":"a long result"}}"#;
    let chapters =
        r#"{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a long result"}]}}"#;
    let picture = r#"{"type":"image","source":{"type":"url","url":"https://p"}}"#;
    let input = |content: &str| {
        format!(
            r#"[{{"role":"user","content":"a"}},{{"role":"assistant","content":[{{"type":"tool_use","id":"t","name":"f","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":{content},"cache_control":{{"type":"ephemeral"}}}}]}}]"#
        )
    };
    let check = |content: &str, text: &str, kept: std::ops::Range<u32>, expect: &str| {
        let input = input(content);
        let loaded = crate::tests::load(&input);
        let mut session = loaded.sessions[0].session.clone();
        assert_eq!(&*session.view()[2].message.blocks[0].as_result().unwrap().text, text, "{content}");
        let kept = KeptRanges::new(text, &[kept]).unwrap();
        let excerpt = Excerpt { kept, marks: vec!["…".into()], attachments: None };
        let changes = vec![Change::Excerpt { entry: session.view()[2].key, block: 0, excerpt }];
        session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Excerpt, changes, Vec::new()));
        for written in [write(&loaded, 0, &session, Format::Anthropic), write_rows(&loaded, 0, &session)] {
            let written: serde_json::Value = serde_json::from_slice(&written.unwrap()).unwrap();
            let result = &written[2]["content"][0];
            assert_eq!(result["content"], serde_json::from_str::<serde_json::Value>(expect).unwrap(), "{content}");
            assert!(result["cache_control"].is_object());
        }
    };
    let cut = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let whole = "t\nhttps://x\na long result";
    check(&format!("[{found}]"), whole, 0..11, &format!("[{}]", cut("t\\nhttps://x…")));
    check(&format!("[{paper}]"), "t\na long result", 0..8, &format!("[{}]", cut("t\\na long…")));
    check(&format!("[{chapters}]"), "a long result", 0..6, &format!("[{}]", cut("a long…")));
    let between = format!("[{picture},{found},{picture},{}]", cut("b"));
    check(&between, &format!("{whole}\nb"), 0..11, &format!(r"[{picture},{},{picture}]", cut("t\\nhttps://x…")));
}

#[test]
fn a_broken_pairing_is_repaired_and_nothing_else_is_touched() {
    let check = |input: &str, expect: &str| {
        let loaded = crate::tests::load(input);
        let bytes = write(&loaded, 0, &loaded.sessions[0].session, loaded.format).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), expect);
    };
    let odd = r#" [{"role":"assistant","content":"first"},  {"role":"user","content":""}]  "#;
    check(odd, odd);
    check(
        r#"[{"role":"user","content":"a"}, {"role":"tool","tool_call_id":"9","content":"x"}, {"role":"user","content":"b"}]"#,
        r#"[{"role":"user","content":"a"}, {"role":"user","content":"b"}]"#,
    );
}

#[test]
fn one_of_several_sessions_is_written_alone() {
    let input = "{\"id\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}\n{\"id\":\"y\",\"messages\": [{\"role\":\"user\",\"content\":\"b\"},{\"role\":\"assistant\",\"content\":\"c\"}]}\n";
    let loaded = crate::tests::load(input);
    let both: Vec<u8> = (0..2)
        .flat_map(|index| write(&loaded, index, &loaded.sessions[index].session, loaded.format).unwrap())
        .collect();
    assert_eq!(String::from_utf8(both).unwrap(), input);
    let mut session = loaded.sessions[1].session.clone();
    drop_entries(&mut session, &[0], "so far");
    let bytes = write(&loaded, 1, &session, loaded.format).unwrap();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        "{\"id\":\"y\",\"messages\": [{\"role\":\"user\",\"content\":\"so far\"},{\"role\":\"assistant\",\"content\":\"c\"}]}\n"
    );
    let error = write(&loaded, 2, &session, loaded.format).unwrap_err();
    assert_eq!(error, WriteError::NoSuchSession { index: 2, count: 2 });
    assert_eq!(write(&loaded, 0, &session, Format::Aider).unwrap_err(), WriteError::NotWritable(Format::Aider));
}

const CHAT: &str = r#"[{"role":"system","content":"rules"},{"role":"user","content":"a"},{"role":"assistant","content":"look","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{ \"x\": 1 }"}}]},{"role":"tool","tool_call_id":"1","content":"out"},{"role":"user","content":"b"}]"#;

#[test]
fn a_session_from_elsewhere_becomes_an_agent_file() {
    let loaded = crate::tests::load(CHAT);
    for to in AGENTS {
        let mut session = loaded.sessions[0].session.clone();
        let bytes = write(&loaded, 0, &session, to).unwrap();
        assert_eq!(write(&loaded, 0, &session, to).unwrap(), bytes, "deterministic");
        let again = load(&bytes);
        assert_eq!((again.format, again.warnings.len()), (to, 0));
        // Claude Code and Pi bring their own system prompt.
        let skip = usize::from(to != Format::Codex);
        let expect = &crate::tests::view(session.view())[skip..];
        assert_eq!(crate::tests::view(again.sessions[0].session.view()), expect, "{to}");

        drop_entries(&mut session, &[1, 2, 3], "so far");
        let again = load(&write(&loaded, 0, &session, to).unwrap());
        let expect: Vec<String> = crate::tests::view(session.view())[skip..].to_vec();
        let view = crate::tests::view(again.sessions[0].session.view());
        // A rollout has no summaries but encrypted ones: there it is a user's message.
        let view: Vec<String> = view.iter().map(|it| it.replace("Typed: so far", "Summary: so far")).collect();
        assert_eq!(view, expect, "{to}");
    }
}

#[test]
fn every_format_becomes_every_request_and_back() {
    let loaded = crate::tests::load(CHAT);
    let expect = crate::tests::view(loaded.sessions[0].session.view());
    for to in [Format::OpenaiChat, Format::OpenaiResponses, Format::Anthropic] {
        let there = load(&write(&loaded, 0, &loaded.sessions[0].session, to).unwrap());
        assert_eq!(there.format, to);
        assert_eq!(crate::tests::view(there.sessions[0].session.view()), expect, "{to}");
        let back = load(&write(&there, 0, &there.sessions[0].session, Format::OpenaiChat).unwrap());
        assert_eq!(crate::tests::view(back.sessions[0].session.view()), expect, "{to} and back");
    }
}
