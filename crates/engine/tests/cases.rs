//! What the engine does, case by case: a conversation as text goes in, and the view as text comes out.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use epitome_engine::{
    Chain, Chains, EditReport, Engine, EngineError, MemoryArchive, Mode, Outcome, Report, Request, SignalDetector,
    Status,
};
use epitome_session::{Content, EditKind, EntryKey, Message, Origin, Role, Session};
use epitome_strategy::{
    Archive, Archived, Edit, Goal, Lossiness, Meta, Needs, Plan, PlanError, Reason, Strategy, SummaryText, View,
};
use epitome_testkit::{FakeCounter, session};

/// Returns the same plan each time; the budgets of the cases are met by the first.
#[derive(Debug)]
struct Script(&'static str, Vec<Edit>);

impl Strategy for Script {
    fn meta(&self) -> &Meta {
        const META: Meta = Meta {
            id: "script",
            summary: "",
            docs: "",
            lossiness: Lossiness::Whole,
            needs: Needs { embeddings: false, model: false },
            since: "0.1.0",
        };
        const OTHER: Meta = Meta { id: "other", ..META };
        if self.0 == "other" { &OTHER } else { &META }
    }

    fn plan(&self, _: &View<'_>, _: &Goal) -> Result<Plan, PlanError> {
        Ok(Plan::of(self.1.clone(), "nothing"))
    }
}

fn reason() -> Reason {
    Reason::new("a-case", "because")
}

fn chain(edits: Vec<Edit>) -> Option<Chain> {
    Some(Chain(vec![Arc::new(Script("script", edits))]))
}

fn engine() -> Engine {
    Engine::new(Arc::new(FakeCounter), Arc::new(SignalDetector))
}

/// Compacts; gives the report and the archive.
fn compact(engine: &Engine, session: &mut Session, request: &Request) -> (Report, MemoryArchive) {
    let mut archive = MemoryArchive::new();
    let mut ledger = engine.ledger(session);
    let report = epitome_engine::block_on(engine.compact(session, &mut ledger, &mut archive, request)).unwrap();
    (report, archive)
}

/// A budget that the chain's edits meet or miss by themselves: the floor leaves what is at or under the limit alone.
fn request(target: u32, chain: Option<Chain>) -> Request {
    Request { chain: chain.or(Some(Chain::default())), ..Request::to_budget(target) }
}

/// The view, one line a block; handles of the archive are shown as `#`, long texts by their ends.
fn shown(session: &Session) -> String {
    let mut text = String::new();
    for entry in session.view() {
        for block in &entry.message.blocks {
            let shown = match &block.content {
                Content::Text { text } => text.to_string(),
                Content::Thinking(thinking) => format!("(thinks) {}", thinking.text),
                Content::ToolCall(call) => format!("(call {}) {}", call.id, call.arguments.text()),
                Content::ToolResult(result) => format!("(result {}) {}", result.call_id, result.text),
                Content::Media(_) => "(media)".to_owned(),
                Content::Opaque(_) => "(unknown)".to_owned(),
                Content::Gone => continue,
            };
            let _ = writeln!(text, "{}: {}", entry.message.role.as_str(), abbreviated(&without_handles(&shown)));
        }
    }
    text
}

fn without_handles(text: &str) -> String {
    let mut parts = text.split("recall ");
    let mut joined = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|char: char| !char.is_ascii_hexdigit()).unwrap_or(part.len());
        let _ = write!(joined, "recall #{}", &part[end..]);
    }
    joined.replace('\n', "⏎")
}

fn abbreviated(text: &str) -> String {
    let count = text.chars().count();
    if count <= 110 {
        return text.to_owned();
    }
    let head: String = text.chars().take(30).collect();
    let tail: String = text.chars().skip(count - 30).collect();
    format!("{head} … {tail}")
}

#[track_caller]
fn expect(session: &Session, expect: &str) {
    let lines: Vec<&str> = expect.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let view = shown(session);
    assert_eq!(view.lines().collect::<Vec<_>>(), lines, "\nthe view:\n{view}");
}

const WORK: &str = "
system: S
user: fix the parser
call Read c1 {\"file_path\":\"a.rs\",\"limit\":1.50}
result c1: line {n} of the file … x40 lines
assistant: I see.
user: go on
call Bash c2 {}
result c2: ok
";

#[test]
fn an_excerpt_keeps_what_the_plan_keeps() {
    let mut session = session(WORK);
    let text = session.view()[3].message.blocks[0].excerptable().unwrap().clone();
    let (head, tail) = (text.find("line 2 ").unwrap() as u32, text.find("line 40").unwrap() as u32);
    let edit = Edit::Excerpt { message: 3, block: 0, keep: vec![0..head, tail..text.len() as u32], reason: reason() };
    let before = engine().ledger(&session).total();
    let (report, archive) = compact(&engine(), &mut session, &request(before - 100, chain(vec![edit])));
    expect(
        &session,
        r#"system: S
           user: fix the parser
           assistant: (call c1) {"file_path":"a.rs","limit":1.50}
           tool: (result c1) line 1 of the file⏎[… 38 lines, 188 tokens elided · recall #]⏎line 40 of the file
           assistant: I see.
           user: go on
           assistant: (call c2) {}
           tool: (result c2) ok"#,
    );
    let edit = &report.edits[0];
    assert_eq!(archive.get(edit.recall.as_ref().unwrap()).unwrap(), Some(Archived::Text(text)));
    assert_eq!((edit.edit, &*edit.strategy, &edit.reason), (EditKind::Excerpt, "script", &reason()));
    let outcomes: Vec<Outcome> = report.messages.iter().map(|receipt| receipt.outcome).collect();
    use Outcome::{Excerpted, Kept, Pinned};
    assert_eq!(outcomes, [Pinned, Pinned, Kept, Excerpted, Kept, Pinned, Kept, Kept]);
    assert_eq!(report.first_changed_message, Some(3));
}

#[test]
fn an_excerpt_of_an_excerpt_narrows_it() {
    let mut session = session(WORK);
    let text = |session: &Session| session.view()[3].message.blocks[0].excerptable().unwrap().to_string();
    let cut = |session: &mut Session, target: u32, keep: Vec<Range<usize>>| {
        let keep = keep.into_iter().map(|range| range.start as u32..range.end as u32).collect();
        let edit = Edit::Excerpt { message: 3, block: 0, keep, reason: reason() };
        compact(&engine(), session, &request(target, chain(vec![edit]))).0
    };
    let recorded = text(&session);
    let before = engine().ledger(&session).total();
    let first = cut(&mut session, before - 50, vec![0..recorded.find("line 21").unwrap()]);
    let shown = text(&session);
    let (second_line, last) = (shown.find("line 2 ").unwrap(), shown.find("line 20").unwrap());
    let second = cut(&mut session, first.tokens_after - 20, vec![0..second_line, last..shown.len()]);
    assert_eq!(
        without_handles(&text(&session)),
        "line 1 of the file⏎[… 18 lines, 88 tokens elided · recall #]⏎line 20 of the file⏎[… 20 lines, 100 tokens elided]"
    );
    assert_eq!(first.edits[0].recall, second.edits[0].recall, "the same text has the same handle");
}

#[test]
fn arguments_are_cut_string_by_string() {
    let fixture = r#"
user: task
call Write c1 {"file_path": "a.rs", "n": [1.0, 12345678901234567890123], "text": "0123456789012345678901234567890123456789012345678901234567890123456789"}
result c1: written
user: newest
"#;
    let mut session = session(fixture);
    let edit = Edit::Trim { message: 1, block: 0, max_chars: 10, reason: reason() };
    let before = engine().ledger(&session).total();
    let (report, _) = compact(&engine(), &mut session, &request(before - 1, chain(vec![edit])));
    expect(
        &session,
        r#"user: task
           assistant: (call c1) {"file_path": "a.rs" … haracters elided · recall #]"}
           tool: (result c1) written
           user: newest"#,
    );
    let call = session.view()[1].message.blocks[0].as_call().unwrap();
    let arguments = without_handles(call.arguments.text());
    let kept = r#""n": [1.0, 12345678901234567890123], "text": "0123456789[… 60 characters elided · recall #]"}"#;
    assert!(arguments.ends_with(kept), "{arguments}");
    assert_eq!(report.messages[1].outcome, Outcome::Trimmed);
}

#[test]
fn the_floor_cuts_a_giant_text_before_anything_leaves() {
    let mut session = session(
        "
user: task
call Read c1 {}
result c1: a small result
call Bash c2 {}
result c2: line {n} of a giant … x900 lines
assistant: done
user: newest
",
    );
    let (report, _) = compact(&engine(), &mut session, &request(1_000, None));
    assert_eq!(report.status, Status::Compacted);
    assert_eq!(report.edits.len(), 1);
    assert_eq!((report.edits[0].edit, &*report.edits[0].strategy), (EditKind::Excerpt, "floor"));
    assert_eq!(session.view().len(), 7, "{}", shown(&session));
    let result = session.view()[4].message.blocks[0].as_result().unwrap().text.clone();
    assert!(result.starts_with("line 1 of a giant\nline 2 ") && result.ends_with("line 900 of a giant"), "{result}");
    assert!(report.tokens_after > 700, "it is cut to what is needed: {}", report.tokens_after);
}

#[test]
fn the_floor_lets_the_oldest_leave_first() {
    let mut session = session(
        "
user: task
assistant: one word … x30
assistant: two word … x30
assistant: three word … x30
assistant: four word … x30
user: newest
",
    );
    let before = engine().ledger(&session).total();
    let (report, archive) = compact(&engine(), &mut session, &request(before - 40, None));
    let left = &report.edits[0];
    assert_eq!((&*left.strategy, &*left.reason.code), ("floor", "oldest-first"));
    let gone: Vec<Outcome> = report.messages.iter().map(|receipt| receipt.outcome).collect();
    assert!(gone[1] == Outcome::Summarized && gone[4] == Outcome::Kept, "{gone:?}");
    let newest_gone = gone.iter().rposition(|outcome| *outcome == Outcome::Summarized).unwrap();
    assert!(gone[1..=newest_gone].iter().all(|outcome| *outcome == Outcome::Summarized), "{gone:?}");
    let Some(Archived::Messages(messages)) = archive.get(left.recall.as_ref().unwrap()).unwrap() else {
        unreachable!("messages are archived")
    };
    assert_eq!(messages.len(), newest_gone);
}

#[test]
fn the_newest_step_shrinks_when_nothing_else_is_left() {
    let mut session = session(
        "
user: task
call Read c1 {}
result c1: line {n} of a giant … x900 lines
",
    );
    let (report, _) = compact(&engine(), &mut session, &request(300, None));
    assert_eq!((report.status, session.view().len()), (Status::Compacted, 3));
    assert!(report.tokens_after <= 300);
}

/// The conversation of which each part is there to be kept by one setting.
const PINNABLE: &str = "
user: the task word … x40
call Deploy d1 {}
result d1: deployed … x40
user: remember <Pin> this … x40
call Bash b1 {}
result b1: a log … x40
user(pinned): the host pinned it … x40
assistant: some answer … x40
user: newest
call Bash b2 {}
result b2: the end
";

#[test]
fn settings_say_what_stays() {
    let check = |change: &dyn Fn(&mut Engine), expect: &[&str]| {
        let mut engine = engine();
        engine.pins.protected_tools = Vec::new();
        engine.pins.markers = Vec::new();
        engine.pins.original_task = false;
        change(&mut engine);
        let mut session = session(PINNABLE);
        // A budget of nothing names what stays; at that floor it is met.
        let (report, _) = compact(&engine, &mut session, &request(1, None));
        assert_eq!(report.status, Status::Infeasible);
        let floor = report.floor.unwrap().tokens;
        let (report, _) = compact(&engine, &mut session, &request(floor, None));
        assert_eq!(report.status, Status::Compacted);
        let stays: Vec<String> = report
            .messages
            .iter()
            .filter(|receipt| matches!(receipt.outcome, Outcome::Kept | Outcome::Pinned))
            .map(|receipt| receipt.id.to_string())
            .collect();
        assert_eq!(stays, expect);
    };
    check(&|_| {}, &["m6", "m8", "m9", "m10"]);
    check(&|engine| engine.pins.original_task = true, &["m0", "m6", "m8", "m9", "m10"]);
    check(&|engine| engine.pins.protected_tools = vec!["Deploy".to_owned()], &["m1", "m2", "m6", "m8", "m9", "m10"]);
    check(&|engine| engine.pins.markers = vec!["<Pin>".to_owned()], &["m3", "m6", "m8", "m9", "m10"]);
    check(&|engine| engine.pins.last_rounds = 2, &["m6", "m7", "m8", "m9", "m10"]);
    check(&|engine| engine.pins.last_rounds = 3, &["m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"]);
}

#[test]
fn the_thinking_of_the_whole_loop_leaves() {
    let mut session = session(
        "
user: earlier
thinking signed: whole and untouched
assistant: answered
user: task
thinking signed: first thought
call Read c1 {}
result c1: line {n} … x60 lines
thinking signed: second thought
call Read c2 {}
result c2: line {n} … x60 lines
thinking signed: the newest thought
call Read c3 {}
result c3: ok
",
    );
    let edit = Edit::Excerpt { message: 6, block: 0, keep: vec![], reason: reason() };
    let before = engine().ledger(&session).total();
    let (report, archive) = compact(&engine(), &mut session, &request(before - 80, chain(vec![edit])));
    expect(
        &session,
        "user: earlier
         assistant: (thinks) whole and untouched
         assistant: answered
         user: task
         assistant: (call c1) {}
         tool: (result c1) line 1⏎line 2⏎line … ine 57⏎line 58⏎line 59⏎line 60
         assistant: (call c2) {}
         tool: (result c2) [… 60 lines, 118 tokens elided · recall #]
         assistant: (thinks) the newest thought
         assistant: (call c3) {}
         tool: (result c3) ok",
    );
    assert_eq!(report.first_changed_message, Some(3), "the first thought has left too");
    let archived = |edit: &EditReport| {
        let item = archive.get(edit.recall.as_ref().unwrap()).unwrap().unwrap();
        match item {
            Archived::Text(text) => text.to_string(),
            Archived::Messages(messages) => format!("{:?}", messages[0].blocks[0].content),
        }
    };
    let thoughts: Vec<String> = report.edits.iter().filter(|it| &*it.strategy == "thinking").map(archived).collect();
    let holds = |(thought, text): (&String, &str)| thought.contains(text);
    assert_eq!(thoughts.len(), 2);
    assert!(thoughts.iter().zip(["first thought", "second thought"]).all(holds), "{thoughts:?}");
}

#[test]
fn what_was_sent_and_is_changed_is_lost_to_the_cache() {
    let check = |unsent: u32, expect: u32| {
        let mut session = session(WORK);
        let before = engine().ledger(&session).total();
        let edit = Edit::Excerpt { message: 3, block: 0, keep: vec![], reason: reason() };
        let request = Request { unsent_messages: unsent, ..request(before - 100, chain(vec![edit])) };
        let (report, _) = compact(&engine(), &mut session, &request);
        assert_eq!((report.first_changed_message, report.cache_loss_tokens), (Some(3), expect), "{unsent}");
    };
    let ledger = engine().ledger(&session(WORK));
    let tokens = |range: Range<usize>| -> u32 {
        session(WORK).view()[range].iter().map(|entry| ledger.of(entry.key).unwrap().total).sum()
    };
    check(0, tokens(3..8));
    check(2, tokens(3..6));
    check(5, 0);
}

#[test]
fn the_tournament_takes_the_chain_that_keeps_most() {
    let fixture = "
user: task
call Read c1 {}
result c1: src/main.rs:{n} value_{n} … x60
call Read c2 {}
result c2: plain words only … x100
user: newest
";
    // One chain takes out the paths and values, the other the plain words.
    let drop = |unit| vec![Edit::Drop { units: vec![unit], reason: reason() }];
    let check = |code: Vec<Edit>, other: Vec<Edit>, expect: &str| {
        let mut engine = engine();
        let (one, other) =
            (Chain(vec![Arc::new(Script("script", code))]), Chain(vec![Arc::new(Script("other", other))]));
        let (conversation, analysis, unknown) = (one.clone(), one.clone(), one.clone());
        engine.chains = Chains { code: one, mixed: other, conversation, analysis, unknown };
        let mut session = session(fixture);
        let request = Request { mode: Mode::Tournament, ..Request::to_budget(700) };
        let (report, archive) = compact(&engine, &mut session, &request);
        assert_eq!(report.chain, [expect], "{}", shown(&session));
        assert!(shown(&session).contains("value_60"), "{}", shown(&session));
        assert!(archive.get(report.edits[0].recall.as_ref().unwrap()).unwrap().is_some());
    };
    check(drop(1), drop(2), "other");
    check(drop(2), drop(1), "script");
}

#[test]
fn a_draft_is_for_the_session_that_it_was_made_from() {
    let engine = engine();
    let compacted = |session: &mut Session, target: u32| compact(&engine, session, &request(target, None)).0;
    let check = |change: &dyn Fn(&mut Session), expect_stale: bool| {
        let mut session = session(WORK);
        compacted(&mut session, 240);
        let mut ledger = engine.ledger(&session);
        let mut archive = MemoryArchive::new();
        let request = request(150, None);
        let draft = engine.draft(&session, &ledger, &mut archive, &request);
        let draft = epitome_engine::block_on(draft).unwrap();
        assert_eq!(draft.report.status, Status::Compacted);
        let drafted = draft.epoch().cloned();
        change(&mut session);
        let before = session.clone();
        let result = engine.commit(&mut session, &mut ledger, draft);
        assert_eq!(matches!(result, Err(EngineError::Stale { .. })), expect_stale, "{result:?}");
        let added = &session.journal()[before.journal().len()..];
        assert_eq!(added.iter().collect::<Vec<_>>(), Vec::from_iter(drafted.as_ref().filter(|_| !expect_stale)));
        assert_eq!(session.view() == before.view(), expect_stale);
    };
    check(&|_| {}, false);
    let more = Message::text("", Role::User, Origin::Typed, "more");
    check(&|session| assert!(session.push(more.clone()) > EntryKey::Log(0)), true);
    check(&|session| session.undo(0).unwrap(), true);
    check(&|session| drop(compacted(session, 160)), true);
}

#[test]
fn a_summary_is_told_with_what_it_replaced() {
    let mut session = session(WORK);
    let summary = SummaryText::Ready("the parser was read".to_owned());
    let edit = Edit::Summarize { units: vec![2, 3], summary, reason: reason() };
    let before = engine().ledger(&session).total();
    let (report, _) = compact(&engine(), &mut session, &request(before - 100, chain(vec![edit])));
    expect(
        &session,
        "system: S
         user: fix the parser
         user: [Summary of 3 earlier messages · recall #]⏎the parser was read
         user: go on
         assistant: (call c2) {}
         tool: (result c2) ok",
    );
    assert_eq!(report.summary.as_deref(), Some("the parser was read"));
    let outcomes: Vec<Outcome> = report.messages[2..5].iter().map(|receipt| receipt.outcome).collect();
    assert_eq!(outcomes, [Outcome::Summarized; 3]);
}
