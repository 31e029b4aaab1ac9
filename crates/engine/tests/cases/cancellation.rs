//! Cancelled work ends, and changes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use epitome_engine::{Chain, EngineError, MemoryArchive, Request, block_on};
use epitome_session::{Message, Origin, Role, Session};
use epitome_strategy::{
    Arguments, Block, Cancellation, Content, Edit, Goal, Lossiness, Meta, Plan, PlanError, RequiredServices, Strategy,
    TokenCounter, Tokens, ToolCall, ToolResult, View,
};

use epitome_testkit::FakeCounter;

use crate::support::{engine, reason};

/// Gives the compaction up while it plans, and plans all the same.
#[derive(Debug)]
struct Quits(Cancellation);

impl Strategy for Quits {
    fn meta(&self) -> &Meta {
        const META: Meta = Meta {
            id: "quits",
            summary: "",
            docs: "",
            lossiness: Lossiness::Whole,
            needs: RequiredServices { embeddings: false, model: false },
            since: "0.1.0",
        };
        &META
    }

    fn plan(&self, view: &View<'_>, _: &Goal) -> Result<Plan, PlanError> {
        assert!(!view.is_cancelled(), "it is not asked once nobody waits");
        self.0.request();
        assert!(view.is_cancelled(), "the view tells");
        let edit = Edit::Drop { units: vec![1], reason: reason() };
        Ok(Plan::from_edits(vec![edit], "nothing"))
    }
}

/// Counts; gives the work up at its `last` text, and tells how many came after that.
#[derive(Debug)]
struct Counts {
    cancellation: Cancellation,
    last: u32,
    counted: AtomicU32,
}

impl TokenCounter for Counts {
    fn name(&self) -> &str {
        FakeCounter.name()
    }

    fn count(&self, text: &str) -> Tokens {
        if self.counted.fetch_add(1, Ordering::Relaxed) == self.last {
            self.cancellation.request();
        }
        FakeCounter.count(text)
    }

    fn is_exact(&self) -> bool {
        true
    }
}

/// A conversation of so many long answers.
fn talk(answers: usize) -> Session {
    let mut session = Session::new();
    for number in 0..answers {
        session.push(Message::text("", Role::User, Origin::Typed, format!("question {number}")));
        session.push(Message::text("", Role::Assistant, Origin::Model, format!("answer {number} ").repeat(200)));
    }
    session.push(Message::text("", Role::User, Origin::Typed, "and now?"));
    session
}

#[test]
fn nothing_is_changed_by_what_is_given_up() {
    let check = |gives_up: fn(&Cancellation) -> Chain, is_given_up: bool| {
        let (engine, mut session, cancellation) = (engine(), talk(20), Cancellation::new());
        let mut ledger = engine.ledger(&session);
        let chain = Some(gives_up(&cancellation));
        let request = Request { chain, cancellation: cancellation.clone(), ..Request::to_budget(ledger.total() / 2) };
        let before = session.clone();
        let made = block_on(engine.compact(&mut session, &mut ledger, &mut MemoryArchive::new(), &request));
        assert_eq!(matches!(made, Err(EngineError::Cancelled)), is_given_up, "{made:?}");
        assert_eq!(session.view() == before.view(), is_given_up);
    };
    let quits = |cancellation: &Cancellation| Chain(vec![Arc::new(Quits(cancellation.clone()))]);
    check(quits, true);
    check(|_| Chain::default(), false);
    let before = |cancellation: &Cancellation| {
        cancellation.request();
        Chain(vec![Arc::new(Quits(cancellation.clone()))])
    };
    check(before, true);
}

/// One step of so many calls with long results, which may not leave: the floor has to cut them one by one.
fn step(calls: usize) -> Session {
    let mut session = Session::new();
    session.push(Message::text("", Role::User, Origin::Typed, "read them all"));
    let mut message = Message::text("", Role::Assistant, Origin::Model, "");
    message.blocks = (0..calls)
        .map(|call| {
            let (id, arguments) = (format!("c{call}").into(), Arguments::Json("{}".into()));
            Block::new(Content::ToolCall(ToolCall { id, name: "read".into(), arguments }))
        })
        .collect();
    session.push(message);
    for call in 0..calls {
        let (call_id, text) = (format!("c{call}").into(), format!("line {call} ").repeat(200).into());
        let result = ToolResult { call_id, name: None, text, attachments: Vec::new(), is_error: false };
        session.push(Message::result("", result));
    }
    session
}

#[test]
fn a_long_stage_ends_soon() {
    let session = step(500);
    let check = |share: Tokens, last: u32| {
        let mut engine = engine();
        let count = |last: u32, cancellation: &Cancellation| {
            Arc::new(Counts { cancellation: cancellation.clone(), last, counted: AtomicU32::new(0) })
        };
        // A compaction counts with the counter of the ledger, which has counted the session by then.
        let first = count(u32::MAX, &Cancellation::new());
        engine.counter = first.clone();
        let budget = engine.ledger(&session).total() / share;
        let last = first.counted.load(Ordering::Relaxed) + last;
        let cancellation = Cancellation::new();
        let counter = count(last, &cancellation);
        engine.counter = counter.clone();
        let ledger = engine.ledger(&session);
        let request = Request { chain: Some(Chain::default()), cancellation, ..Request::to_budget(budget) };
        let made = block_on(engine.draft(&session, &ledger, &mut MemoryArchive::new(), &request));
        assert!(matches!(made, Err(EngineError::Cancelled)), "{share} {last}: {made:?}");
        let after = counter.counted.load(Ordering::Relaxed) - last;
        assert!(after < 10, "{share} {last}: {after} texts were counted after it was given up");
    };
    for share in [2, 5] {
        check(share, 0);
        check(share, 100);
    }
}

#[test]
fn counting_can_be_given_up() {
    let (mut engine, session, cancellation) = (engine(), talk(2_000), Cancellation::new());
    let counter = Arc::new(Counts { cancellation: cancellation.clone(), last: 7, counted: AtomicU32::new(0) });
    engine.counter = counter.clone();
    assert!(matches!(engine.ledger_unless(&cancellation, &session), Err(EngineError::Cancelled)));
    assert!(counter.counted.load(Ordering::Relaxed) < 30);
    let ledger = engine.ledger_unless(&Cancellation::new(), &session).unwrap();
    assert_eq!(ledger.total(), engine.ledger(&session).total());
}
