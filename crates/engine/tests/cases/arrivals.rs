//! Huge results are cut before they are sent.

use epitome_engine::MemoryArchive;
use epitome_strategy::{Archive, ArchivedContent};
use epitome_testkit::session;

use super::support::{engine, shown};

/// Pushes the conversation and cuts arrivals above 200 tokens; what it came to: results cut, and the view.
fn check(text: &str, expect: Option<u32>, parts: &[&str]) {
    let engine = engine();
    let mut session = session(text);
    let before = session.view().to_vec();
    let mut ledger = engine.ledger(&session);
    let mut archive = MemoryArchive::new();
    let arrival = engine.cut_arrivals(&mut session, &mut ledger, &mut archive, 200).unwrap();
    assert_eq!(arrival.map(|arrival| arrival.results), expect, "{}", shown(&session));
    let view = shown(&session);
    for part in parts {
        assert!(view.contains(part), "{part} in {view}");
    }
    assert_eq!(ledger.total(), engine.ledger(&session).total(), "the total is that of a recount");
    assert_eq!(session.cycle(), 0, "it is not a compaction of the session");
    let Some(arrival) = arrival else {
        assert_eq!(session.view(), before);
        return;
    };
    assert!(arrival.tokens_after < arrival.tokens_before && arrival.tokens_after == ledger.total());
    let edit = session.journal()[0].edits[0].clone();
    let whole = archive.get(edit.recall.as_ref().unwrap()).unwrap();
    assert!(matches!(whole, Some(ArchivedContent::Text(text)) if text.contains("line 450 of a giant")));
    let again = engine.cut_arrivals(&mut session, &mut ledger, &mut archive, 200).unwrap();
    assert_eq!(again, None, "what is cut is not cut again");
    session.undo(arrival.epoch).unwrap();
    assert_eq!(session.view(), before);
}

const GIANT: &str = "line {n} of a giant … x900 lines";

#[test]
fn a_huge_result_is_cut_when_its_step_is_whole() {
    let step = |rest: &str| format!("\nuser: task\ncall Bash c1 {{}}\ncall Bash c2 {{}}\nresult c1: {GIANT}\n{rest}");
    check(&step("result c2: small"), Some(1), &["line 1 of a giant", "line 900 of a giant", "small"]);
    let failed = step("result c2: small").replace("result c1:", "result c1 error:");
    check(&failed, Some(1), &["line 900 of a giant"]);
    check(&step(""), None, &[]);
    check(&step("result c2: small\nassistant: done"), None, &[]);
    check("\nuser: task\ncall Bash c1 {}\nresult c1: small", None, &[]);
    check(&format!("\nuser: task\ncall Skill c1 {{}}\nresult c1: {GIANT}"), None, &[]);
    check(&format!("\nuser: {GIANT}"), None, &[]);
}
