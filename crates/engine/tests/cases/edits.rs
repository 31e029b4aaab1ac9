//! Edits of plans, as the view shows them and the report tells them.

use std::ops::Range;

use epitome_engine::{EditReport, Outcome};
use epitome_session::{EditKind, Session};
use epitome_strategy::{Archive, ArchivedContent, Edit, SummaryText};
use epitome_testkit::session;

use super::support::{WORK, chain, compact, engine, expect, reason, request, shown, without_handles};

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
    assert_eq!(archive.get(edit.recall.as_ref().unwrap()).unwrap(), Some(ArchivedContent::Text(text)));
    assert_eq!((edit.edit, &*edit.strategy), (EditKind::Excerpt, "script"));
    let reason = reason();
    assert_eq!((&edit.reason.code, &edit.reason.detail), (&reason.code, &reason.detail));
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
         user: [Summary of 3 earlier messages; search_history finds what they said · recall #]⏎the parser was read
         user: go on
         assistant: (call c2) {}
         tool: (result c2) ok",
    );
    assert_eq!(report.summary.as_deref(), Some("the parser was read"));
    let outcomes: Vec<Outcome> = report.messages[2..5].iter().map(|receipt| receipt.outcome).collect();
    assert_eq!(outcomes, [Outcome::Summarized; 3]);
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
            ArchivedContent::Text(text) => text.to_string(),
            ArchivedContent::Messages(messages) => format!("{:?}", messages[0].blocks[0].content),
        }
    };
    let thoughts: Vec<String> = report.edits.iter().filter(|it| &*it.strategy == "thinking").map(archived).collect();
    let holds = |(thought, text): (&String, &str)| thought.contains(text);
    assert_eq!(thoughts.len(), 2);
    assert!(thoughts.iter().zip(["first thought", "second thought"]).all(holds), "{thoughts:?}");
}

#[test]
fn edits_end_where_the_target_is_met() {
    let mut session = session(WORK);
    let stub = |message| Edit::Excerpt { message, block: 0, keep: vec![], reason: reason() };
    let drop = Edit::Drop { units: vec![3], reason: reason() };
    let before = engine().ledger(&session).total();
    let (report, _) = compact(&engine(), &mut session, &request(before - 100, chain(vec![stub(3), drop])));
    assert_eq!(report.edits.len(), 1, "{}", shown(&session));
    assert_eq!((&*report.steps[0].strategy, report.steps[0].edits, report.steps.len()), ("script", 1, 1));
}

#[test]
fn a_gap_that_its_mark_would_fill_stays() {
    let mut session = session(WORK);
    let text = session.view()[3].message.blocks[0].excerptable().unwrap().clone();
    let (half, length) = (text.find("line 21").unwrap() as u32, text.len() as u32);
    let edit = Edit::Excerpt { message: 3, block: 0, keep: vec![0..100, 104..half], reason: reason() };
    let before = engine().ledger(&session).total();
    compact(&engine(), &mut session, &request(before - 50, chain(vec![edit])));
    let excerpt = session.view()[3].excerpt(0).unwrap();
    assert_eq!((excerpt.kept.ranges(), excerpt.marks.len()), (&[0..half][..], 1), "of {length} bytes");
}

#[test]
fn handles_are_named_where_somebody_can_use_them() {
    let check = |handles: bool, expect: &str| {
        let mut engine = engine();
        engine.handles = handles;
        let mut session = session(WORK);
        let summary = SummaryText::Ready("the parser was read".to_owned());
        let edits = vec![
            Edit::Excerpt { message: 3, block: 0, keep: vec![], reason: reason() },
            Edit::Summarize { units: vec![3], summary, reason: reason() },
        ];
        let before = engine.ledger(&session).total();
        let mut request = request(before - 170, chain(edits));
        request.limit = before;
        let (report, _) = compact(&engine, &mut session, &request);
        assert!(shown(&session).contains(expect), "{}", shown(&session));
        assert_eq!(shown(&session).contains("recall"), handles, "{}", shown(&session));
        assert!(report.edits.iter().all(|edit| edit.recall.is_some()), "reports name them in any case");
    };
    check(true, "[… 40 lines, 198 tokens elided · recall #]");
    check(false, "(result c1) [… 40 lines, 198 tokens elided]\n");
}
