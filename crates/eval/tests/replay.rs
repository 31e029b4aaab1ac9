//! Replays of small sessions whose money can be worked out by hand, and what holds for every replay.
#![allow(clippy::unwrap_used, clippy::panic)]

use epitome::Budget;
use epitome::engine::Status;
use epitome::session::{EntryKey, Position, Session, SyntheticMessage};
use epitome::session::{Epoch, Message, Origin, Role, Trigger};
use epitome_eval::replay::{
    Model, NEVER, Policy, Price, Prices, RECORDED, Recording, ReplayPlan, ReplayedSession, TokenUsage, policies, totals,
};
use epitome_eval::{CaseId, Filter};

/// A price whose parts can be told apart in a sum.
fn price() -> Price {
    Price {
        input: 1.0,
        cached_input: Some(0.1),
        cache_write: Some(1.25),
        output: 5.0,
        cache_minimum: 10,
        cache_lifetime: Some(300),
        source: String::new(),
    }
}

fn model(window: u32) -> Model {
    let budget = Budget { window, reserve_output: 0, ..Budget::default() };
    Model { name: "example".to_owned(), price: price(), prices: Prices::shipped().unwrap(), budget }
}

fn said(role: Role, text: &str, at: i64) -> Message {
    let origin = if role == Role::User { Origin::Typed } else { Origin::Model };
    let mut message = Message::text("", role, origin, text);
    message.timestamp = Some(at * 1_000);
    message
}

/// Twelve words of one token each; with the frame of a message 16.
const TWELVE: &str = "one two three four five six seven eight nine ten eleven twelve";

fn under(session: &Session, policy: &str, model: &Model) -> ReplayedSession {
    let policy = Policy::parse(policy, Some(model.budget.window), &epitome::registry()).unwrap();
    row(session, &policy, model)
}

fn row(session: &Session, policy: &Policy, model: &Model) -> ReplayedSession {
    let id = CaseId { file: "a.json".into(), session: "a".into(), cut_permille: 0, part: None };
    Recording::new(session).replay(&id, "openai-chat", policy, model, None).unwrap()
}

fn session_of(messages: Vec<Message>) -> Session {
    let mut session = Session::new();
    messages.into_iter().for_each(|message| {
        session.push(message);
    });
    session
}

#[test]
fn money_by_hand() {
    let talk = |pause: i64| {
        session_of(vec![
            said(Role::User, TWELVE, 0),
            said(Role::Assistant, TWELVE, 10),
            said(Role::User, TWELVE, 20),
            said(Role::Assistant, TWELVE, 10 + pause),
        ])
    };
    let spent =
        |input, cached, uncached, cache_writes| TokenUsage { input, cached, uncached, cache_writes, output: 16 };
    let check = |session: &Session, price: Price, expect: [(TokenUsage, f64); 2]| {
        let model = Model { price, ..model(1_000) };
        let row = under(session, NEVER, &model);
        assert_eq!(row.turns.len(), 2);
        for (turn, (spent, micros)) in row.turns.iter().zip(expect) {
            assert_eq!(turn.spent, spent);
            assert!((turn.money * 1e6 - micros).abs() < 1e-9, "{} µ$, not {micros}", turn.money * 1e6);
        }
    };
    // First 16 tokens are written at 1.25 and 16 answered at 5; then 16 are read at 0.1 and 32 written.
    check(&talk(30), price(), [(spent(16, 0, 16, 16), 20.0 + 80.0), (spent(48, 16, 32, 32), 1.6 + 40.0 + 80.0)]);
    // The cache has died.
    check(&talk(301), price(), [(spent(16, 0, 16, 16), 100.0), (spent(48, 0, 48, 48), 60.0 + 80.0)]);
    // What was sent first is too short to be cached.
    let long = Price { cache_minimum: 20, ..price() };
    check(&talk(30), long, [(spent(16, 0, 16, 0), 16.0 + 80.0), (spent(48, 0, 48, 48), 60.0 + 80.0)]);
    // No cache at all.
    let none = Price { cached_input: None, cache_write: None, ..price() };
    check(&talk(30), none, [(spent(16, 0, 16, 0), 16.0 + 80.0), (spent(48, 0, 48, 0), 48.0 + 80.0)]);
}

#[test]
fn never_is_a_plain_sum_and_the_rest_adds_up() {
    let mut session = Session::new();
    let mut plain = (0, 0);
    let mut history = 0;
    for round in 0..40 {
        let asked = format!("Round {round}. {}", TWELVE.repeat(1 + round % 5));
        let answer = format!("Answer {round}. {}", TWELVE.repeat(round % 3));
        for (role, text) in [(Role::User, &asked), (Role::Assistant, &answer)] {
            let message = said(role, text, i64::try_from(round).unwrap());
            let tokens =
                u64::from(epitome::engine::count_message(&epitome::tokens::ExactCounter::O200kBase, &message).total);
            if role == Role::Assistant {
                plain = (plain.0 + history, plain.1 + tokens);
            }
            history += tokens;
            session.push(message);
        }
    }
    let model = model(1_200);
    let all = policies(&["default".to_owned(), "classic".to_owned()], Some(1_200), &epitome::registry()).unwrap();
    let rows: Vec<ReplayedSession> = all.iter().map(|policy| row(&session, policy, &model)).collect();
    let totals = totals(&rows, &model.price);
    let of = |policy: &str| totals.iter().find(|total| total.policy == policy).unwrap();
    assert_eq!((of(NEVER).spent.input, of(NEVER).spent.output), plain);
    assert_eq!(of(NEVER).spent, of(RECORDED).spent, "the recording never compacted");
    assert!(of(NEVER).impossible_turns > 0);
    assert!(of(NEVER).impossible_money < of(NEVER).money);
    assert!(of("default").epochs > 1, "{:?}", of("default"));
    assert_eq!(of("default").impossible_turns, 0);
    assert!(of("default").spent.input < of(NEVER).spent.input);
    for row in &rows {
        for turn in &row.turns {
            assert_eq!(turn.spent.cached + turn.spent.uncached, turn.spent.input, "{}", row.policy);
            assert!(turn.spent.cache_writes <= turn.spent.uncached);
        }
        assert!(
            row.policy == NEVER || row.policy == RECORDED || row.turns.iter().all(|turn| turn.spent.input <= 1_200)
        );
        for epoch in row.epochs.iter().filter(|epoch| epoch.status == Status::Compacted) {
            assert!(epoch.tokens_after < epoch.tokens_before);
            let next = &row.turns[epoch.turn as usize].spent;
            assert_eq!(next.input, epoch.tokens_after, "what is sent next is what was left");
            let last = row.turns[epoch.turn as usize - 1].spent.input;
            assert_eq!(next.cached, last - epoch.cache_loss_tokens, "the cache loses what the epoch says");
        }
    }
}

#[test]
fn a_recorded_compaction_is_replayed_as_recorded() {
    let mut session =
        session_of(vec![said(Role::User, TWELVE, 0), said(Role::Assistant, TWELVE, 1), said(Role::User, TWELVE, 2)]);
    let summary = Message::text("s", Role::User, Origin::Summary, TWELVE);
    let synthetic = SyntheticMessage { position: Position::before(Position::log(0), 0, 0), message: summary.into() };
    session.commit(Epoch::recorded(Trigger::Manual, (0..2).map(EntryKey::Log), vec![synthetic]));
    session.push(said(Role::Assistant, TWELVE, 3));
    let row = under(&session, RECORDED, &model(1_000));
    let [epoch] = row.epochs.as_slice() else { panic!("{:?}", row.epochs) };
    assert_eq!((epoch.turn, epoch.tokens_before, epoch.tokens_after, epoch.cache_loss_tokens), (1, 48, 32, 16));
    // A model read the 48 tokens, 16 of them from the cache, and wrote the summary of 16.
    assert_eq!(epoch.summary, TokenUsage { input: 48, cached: 16, uncached: 32, cache_writes: 32, output: 16 });
    assert_eq!(row.turns[1].spent, TokenUsage { input: 32, cached: 0, uncached: 32, cache_writes: 32, output: 16 });
    let never = under(&session, NEVER, &model(1_000));
    assert!(never.epochs.is_empty());
    assert_eq!(never.turns[1].spent.input, 48);
}

#[test]
fn files_are_replayed_in_order_whatever_else_lies_there() {
    let folder = tempfile::tempdir().unwrap();
    let chat = |text: &str| {
        format!(r#"{{"messages":[{{"role":"user","content":"{text}"}},{{"role":"assistant","content":"Yes."}}]}}"#)
    };
    std::fs::write(folder.path().join("b.json"), chat("Is it so?")).unwrap();
    std::fs::write(folder.path().join("a.json"), chat("Is it?")).unwrap();
    std::fs::write(folder.path().join("note.md"), "no session").unwrap();
    let plan = ReplayPlan {
        paths: vec![folder.path().to_owned()],
        policies: policies(&[], None, &epitome::registry()).unwrap(),
        model: model(1_000),
        filter: Filter { min_tokens: 0, ..Filter::default() },
    };
    let run = plan.run(&|_, _| {}).unwrap();
    let rows: Vec<(&str, &str)> = run.rows.iter().map(|row| (row.file.as_str(), row.policy.as_str())).collect();
    assert_eq!(rows, [("a.json", NEVER), ("a.json", RECORDED), ("b.json", NEVER), ("b.json", RECORDED)]);
    assert_eq!(run.sessions, 2);
}
