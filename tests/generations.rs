//! What a person demanded stays through compaction after compaction where a strategy has summaries written: five keep what one would,
//! and what one had no room for comes back when there is room, for its messages are read again.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use epitome_config::Config;
use epitome_engine::{MemoryArchive, Request, block_on};
use epitome_providers::RuleSummarizer;
use epitome_session::{Arguments, Block, Content, Message, Origin, Role, Session, ToolCall, ToolResult};
use epitome_strategy::Tokens;

/// Adds a turn: a demand, and a step that prints what nobody needs.
fn add_turn(session: &mut Session, turn: usize) {
    let typed = format!("Service gauge_{turn} must always listen on port {}.", 48_000 + turn);
    session.push(Message::text("", Role::User, Origin::Typed, typed));
    let id: Arc<str> = format!("c{turn}").into();
    let arguments = Arguments::Json(format!("{{\"command\":\"show gauge_{turn}\"}}").into());
    let call = Content::ToolCall(ToolCall { id: Arc::clone(&id), name: "Bash".into(), arguments });
    session.push(Message::new("", Role::Assistant, Origin::Model, vec![Block::new(call)]));
    let text: String = (0..40).map(|line| format!("{turn}.{line}: gauge_{turn} waits for row_{line}\n")).collect();
    let (text, attachments) = (text.into(), Vec::new());
    let result = Content::ToolResult(ToolResult { call_id: id, name: None, text, attachments, is_error: false });
    session.push(Message::new("", Role::Tool, Origin::ToolOutput, vec![Block::new(result)]));
    session.push(Message::text("", Role::Assistant, Origin::Model, format!("The gauge of turn {turn} waits.")));
}

/// Compacts with one strategy to `budget`, and returns how many of the first `turns` demands the model sees.
fn compact(strategy: &str, session: &mut Session, budget: Tokens, turns: usize) -> usize {
    let registry = epitome_builtin::registry();
    let runtime = Config::default().build(&registry).unwrap();
    let chain = runtime.chain(&[strategy.to_owned()], &registry).unwrap();
    let counter = Arc::clone(&runtime.counter);
    let engine = runtime.engine(counter, Some(Arc::new(RuleSummarizer)));
    let request = Request { chain: Some(chain), ..Request::to_budget(budget) };
    let mut ledger = engine.ledger(session);
    block_on(engine.compact(session, &mut ledger, &mut MemoryArchive::new(), &request)).unwrap();
    let seen: String = session.view().iter().map(|entry| entry.message.plain_text()).collect();
    (0..turns).filter(|turn| seen.contains(&format!("port {}.", 48_000 + turn))).count()
}

const STRATEGIES: [&str; 4] = ["sliding-window", "summary", "incremental-summary", "structured-extraction"];

const TURNS: usize = 60;

#[test]
fn the_fifth_summary_has_what_one_would_have() {
    for strategy in STRATEGIES {
        let mut at_once = Session::new();
        (0..TURNS).for_each(|turn| add_turn(&mut at_once, turn));
        let expect = compact(strategy, &mut at_once, 4_000, TURNS);

        let (mut session, mut seen) = (Session::new(), 0);
        for turn in 0..TURNS {
            add_turn(&mut session, turn);
            if turn % 12 == 11 {
                seen = compact(strategy, &mut session, 4_000, TURNS);
            }
        }
        assert!(session.journal().len() >= 5, "{strategy}");
        assert!(expect > 10 && seen * 10 >= expect * 9, "{strategy}: {seen} demands after five, {expect} after one");
    }
}

#[test]
fn what_a_summary_had_no_room_for_comes_back() {
    // Not `incremental-summary`: a chunk's summary stays as it is.
    let mut told = Vec::new();
    for strategy in ["sliding-window", "summary", "structured-extraction"] {
        let mut session = Session::new();
        (0..TURNS / 2).for_each(|turn| add_turn(&mut session, turn));
        let before = compact(strategy, &mut session, 450, TURNS / 2);
        (TURNS / 2..TURNS).for_each(|turn| add_turn(&mut session, turn));
        let after = compact(strategy, &mut session, 6_000, TURNS / 2);
        told.push((strategy, before, after));
    }
    assert!(
        told.iter().all(|(_, before, after)| *after >= before + 5),
        "demands with little room, and with more: {told:?}"
    );
}
