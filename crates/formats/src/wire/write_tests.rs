#![allow(clippy::unwrap_used)]
use std::sync::Arc;

use epitome_session::{
    Arguments, Block, Change, Content, EditKind, EntryKey, Epoch, EpochOrigin, Excerpt, Kept, Message, Position,
    Synthetic, Trigger, units,
};

use super::*;
use crate::wire::corpus_tests::files;
use crate::{LoadedSession, ReadOptions, read};

fn load(bytes: &[u8]) -> Loaded {
    read(bytes.to_vec(), ReadOptions::default()).unwrap()
}

/// A compaction by hand: the first half of the units becomes a summary, the longest result that is left an excerpt, the
/// longest call that is left is trimmed.
fn compact(session: &mut Session, summary: &str) {
    let view = session.view().to_vec();
    let all = units(&view);
    let half = all.iter().take(all.len() / 2).filter(|unit| unit.closed && unit.kind != epitome_session::UnitKind::System);
    let removed: Vec<usize> = half.flat_map(|unit| unit.entries.clone()).collect();
    let mut changes: Vec<Change> = removed.iter().map(|index| Change::Remove { entry: view[*index].key }).collect();
    let left = || (0..view.len()).filter(|index| !removed.contains(index));
    let result_length = |index: &usize| view[*index].message.blocks.first().and_then(Block::as_result).map_or(0, |it| it.text.len());
    if let Some(longest) = left().filter(|index| !view[*index].is_edited()).max_by_key(result_length)
        && let Some(result) = view[longest].original.blocks.first().and_then(Block::as_result)
        && result.text.len() > 20
    {
        let end = (10..).find(|at| result.text.is_char_boundary(*at)).unwrap() as u32;
        let kept = Kept::new(&result.text, std::slice::from_ref(&(0..end))).unwrap();
        let marks = vec![Arc::from("[… rest elided · recall e3f9]")];
        changes.push(Change::Excerpt { entry: view[longest].key, block: 0, excerpt: Excerpt { kept, marks } });
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
        synthetics.push(Synthetic { position, message });
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
fn check_agent_file(name: &str, loaded: &Loaded) {
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

    let mut undone = twice.sessions[0].session.clone();
    undone.undo(undone.next_epoch() - 1).unwrap();
    let back = load(&write(&twice, 0, &undone, twice.format).unwrap());
    assert_eq!(back.sessions[0].session.view(), session.view(), "{name}: an undo");

    // Without what the mark says, the written records alone give the same view: what the agent itself will read.
    let text = String::from_utf8(written).unwrap();
    let log = format!("\"log\":{},\"undone\"", session.log().len());
    assert!(text.contains(&log), "{name}");
    let foreign = load(text.replace(&log, "\"log\":1,\"undone\"").as_bytes());
    assert_eq!(foreign.warnings.len(), loaded.warnings.len() + 1, "{name}: {:?}", foreign.warnings);
    let foreign = seen(foreign.sessions[0].session.view());
    let expect: Vec<_> = seen(session.view());
    assert_eq!(foreign.len(), expect.len(), "{name}");
    let roles = |seen: &[(Role, Vec<Content>)]| seen.iter().take(8).map(|it| shown(it).chars().take(60).collect::<String>()).collect::<Vec<_>>();
    if roles(&foreign) != roles(&expect) { panic!("{name}: {:#?}\n{:#?}", roles(&foreign), roles(&expect)); }
    for (index, (read, wrote)) in foreign.iter().zip(&expect).enumerate() {
        assert_eq!(shown(read), shown(wrote), "{name}, message {index}");
    }
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
