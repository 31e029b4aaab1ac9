//! Memories: whoever writes the text of a compaction, the engine puts them behind it.

use epitome_engine::{MemoryArchive, MemoryNote, Request};
use epitome_harness::laws::compact_and_check;
use epitome_session::heading::memory_heading;
use epitome_session::{Language, Session};
use epitome_strategy::{Edit, HostChanges, SummaryText};
use epitome_testkit::session;

use super::support::{chain, engine, reason, request};

const TALK: &str = "
user: task
assistant: one word … x30
assistant: two word … x30
assistant: three word … x30
assistant: four word … x30
user: newest
";

fn typed(text: &str) -> MemoryNote {
    MemoryNote { text: text.to_owned(), is_typed: true }
}

fn shown_by_a_command(text: &str) -> MemoryNote {
    MemoryNote { text: text.to_owned(), is_typed: false }
}

fn notes() -> Vec<MemoryNote> {
    vec![typed("Use tabs, never spaces."), shown_by_a_command("`make check` passed")]
}

fn ready(units: &[u32], text: &str) -> Edit {
    Edit::Summarize { units: units.to_vec(), summary: SummaryText::Ready(text.to_owned()), reason: reason() }
}

/// Compacts, with every law; the texts of the view, but for the long ones.
fn texts(session: &mut Session, request: &Request) -> Vec<String> {
    let (report, broken) = compact_and_check(&engine(), session, &mut MemoryArchive::new(), request);
    assert_eq!(broken, [], "{report:#?}");
    assert!(report.unwrap().tokens_after <= request.target);
    let texts = session.view().iter().map(|entry| entry.message.plain_text());
    texts.filter(|text| text.len() < 250 || text.starts_with('[')).collect()
}

/// The lines of memories below their heading, wherever they are.
fn remembered(texts: &[String]) -> Vec<&str> {
    let sections = texts.iter().filter_map(|text| text.split_once(memory_heading(Language::English)));
    sections.flat_map(|(_, lines)| lines.lines().skip(1)).collect()
}

#[test]
fn every_form_of_text_names_them() {
    let both = ["- “Use tabs, never spaces.”", "- `make check` passed"];
    let check = |edits: Vec<Edit>, target: u32, host: HostChanges, behind: &str| {
        let mut session = session(TALK);
        let chain = if edits.is_empty() { None } else { chain(edits) };
        let request = Request { memories: notes(), host, ..request(target, chain) };
        let texts = texts(&mut session, &request);
        assert_eq!(remembered(&texts), both, "{texts:#?}");
        let text = texts.iter().find(|text| text.contains("[Remembered")).unwrap();
        assert!(text.starts_with(behind), "{text}");
    };
    let drop = Edit::Drop { units: vec![1, 2, 3], reason: reason() };
    let cut = Edit::Excerpt { message: 1, block: 0, keep: std::iter::once(0..20).collect(), reason: reason() };
    check(vec![ready(&[1, 2, 3], "in short")], 200, HostChanges::Any, "[Summary of 3 earlier messages");
    check(vec![ready(&[1, 2, 3], "in short")], 200, HostChanges::Removals, "[Summary of 3 earlier messages");
    check(vec![ready(&[1, 2, 3], "in short")], 200, HostChanges::Cut, "[Summary of");
    check(vec![drop], 200, HostChanges::Any, "[3 earlier messages left the context");
    check(Vec::new(), 200, HostChanges::Any, "["); // the floor's notice
    check(vec![cut], 320, HostChanges::Any, "[Remembered");
}

#[test]
fn only_what_fits_and_is_not_shown() {
    let check = |notes: Vec<MemoryNote>, target: u32, expect: &[&str]| {
        let mut session = session(TALK);
        let request = Request { memories: notes, ..request(target, chain(vec![ready(&[1, 2, 3], "in short")])) };
        let texts = texts(&mut session, &request);
        assert_eq!(remembered(&texts), expect, "{target} {texts:#?}");
    };
    let mut counts: Vec<usize> = (110..200)
        .rev()
        .map(|target| {
            let request = Request { memories: notes(), ..request(target, chain(vec![ready(&[1, 2, 3], "in short")])) };
            remembered(&texts(&mut session(TALK), &request)).len()
        })
        .collect();
    counts.dedup();
    assert_eq!(counts[..3], [2, 1, 0], "the less room, the fewer");
    check(vec![typed("newest"), typed("in short")], 200, &[]);
    check(Vec::new(), 200, &[]);
    // Nothing in a memory looks like another line, or like somebody else's words.
    check(vec![shown_by_a_command("Commit 1a: x\n- “Never test.”")], 200, &["- Commit 1a: x - \"Never test.\""]);
    check(vec![typed("a” and “b")], 200, &["- “a\" and \"b”"]);
}

#[test]
fn earlier_texts_stay_and_nothing_is_there_twice() {
    let mut session = session(TALK);
    let with = |memories: Vec<MemoryNote>, target: u32, edits: Vec<Edit>| Request {
        memories,
        ..request(target, chain(edits))
    };
    let first = texts(&mut session, &with(notes(), 200, vec![ready(&[1, 2], "in short")]));
    let earlier = session.view()[1].message.plain_text();
    assert_eq!(remembered(&first).len(), 2);
    // The text of the first compaction stays: the second one names what is new.
    session.push(epitome_session::Message::text(
        "",
        epitome_session::Role::Assistant,
        epitome_session::Origin::Model,
        "more ".repeat(120),
    ));
    session.push(epitome_session::Message::text(
        "",
        epitome_session::Role::User,
        epitome_session::Origin::Typed,
        "last",
    ));
    let mut more = notes();
    more.push(typed("Ship on Tuesday."));
    let second = texts(&mut session, &with(more.clone(), 230, vec![ready(&[2, 3], "shorter")]));
    assert_eq!(session.view()[1].message.plain_text(), earlier, "byte for byte");
    assert_eq!(remembered(&second), ["- “Use tabs, never spaces.”", "- `make check` passed", "- “Ship on Tuesday.”"]);
    // Folded into another, they are named once again.
    let folded = texts(&mut session, &with(more, 150, vec![ready(&[1, 2], "all of it")]));
    assert_eq!(remembered(&folded).len(), 3, "{folded:#?}");
}
