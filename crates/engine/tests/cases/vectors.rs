//! Vectors: what strategies that work with them are given, and what happens when the embedder fails.

#![allow(clippy::panic)]

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use epitome_engine::{Chain, Engine, Report, Request, Status};
use epitome_session::Session;
use epitome_strategy::{
    Edit, EmbedError, Embedder, Embeddings, Goal, Lossiness, Meta, Plan, PlanError, RequiredServices, Strategy,
    Vectors, View, async_trait,
};
use epitome_testkit::{FakeEmbedder, session};

use super::support::{Script, compact, engine, expect, reason, request};

/// Drops the unit that is least near to the question, and remembers the vectors that it was given.
#[derive(Debug)]
struct LeastNear {
    needs: bool,
    seen: Mutex<Vec<Result<Vectors, String>>>,
}

impl Strategy for LeastNear {
    fn meta(&self) -> &Meta {
        const META: Meta = Meta {
            id: "least-near",
            summary: "",
            docs: "",
            lossiness: Lossiness::Whole,
            needs: RequiredServices { embeddings: true, model: false },
            since: "0.1.0",
        };
        const WITHOUT: Meta = Meta { needs: RequiredServices { embeddings: false, model: false }, ..META };
        if self.needs { &META } else { &WITHOUT }
    }

    fn plan(&self, view: &View<'_>, _: &Goal) -> Result<Plan, PlanError> {
        let given = view.vectors();
        self.seen.lock().unwrap().push(given.cloned().map_err(str::to_owned));
        let vectors = match given {
            Ok(vectors) => vectors,
            Err(reason) => return Ok(Plan::decline(reason)),
        };
        let focus = vectors.focus.as_ref().unwrap();
        let near = |unit: &usize| Embeddings::similarity(vectors.units.row(*unit).unwrap(), focus);
        let free = (0..view.units().len()).filter(|unit| view.protection(*unit).may_leave());
        let least = free.min_by(|left, right| near(left).total_cmp(&near(right)));
        Ok(Plan::from_edits(
            least.map(|unit| Edit::Drop { units: vec![unit as u32], reason: reason() }).into_iter().collect(),
            "nothing may leave",
        ))
    }
}

const TALK: &str = "
system: S
user: start
assistant: beans and carrots … x20
assistant: trains and planes … x20
assistant: carrots and soup … x20
user: which carrots
";

/// Compacts the talk by 60 tokens with the embedder; the strategy behind the one under test drops the soup.
fn run(embedder: Option<Arc<dyn Embedder>>, needs: bool) -> (Session, Report, Vec<Result<Vectors, String>>) {
    let mut session = session(TALK);
    let strategy = Arc::new(LeastNear { needs, seen: Mutex::default() });
    let soup = Script("script", vec![Edit::Drop { units: vec![4], reason: reason() }]);
    let chain = Chain(vec![strategy.clone(), Arc::new(soup)]);
    let engine = Engine { embedder, ..engine() };
    let before = engine.ledger(&session).total();
    let (report, _) = compact(&engine, &mut session, &request(before - 60, Some(chain)));
    let seen = strategy.seen.lock().unwrap().clone();
    (session, report, seen)
}

#[test]
fn a_strategy_that_needs_vectors_is_given_them() {
    let (session, report, seen) = run(Some(Arc::new(FakeEmbedder)), true);
    expect(
        &session,
        "system: S
         user: start
         assistant: beans and carrots beans and ca …  and carrots beans and carrots
         user: [1 earlier message left the context; search_history finds what they said · recall #]
         assistant: carrots and soup carrots and s … rots and soup carrots and soup
         user: which carrots",
    );
    let [Ok(vectors)] = seen.as_slice() else { unreachable!("asked once: {seen:?}") };
    assert_eq!((vectors.units.len(), vectors.units.dimensions()), (6, 256));
    assert_eq!(vectors.units.row(1), Some(&*FakeEmbedder::vector("start")));
    assert_eq!(vectors.focus, Some(FakeEmbedder::vector("which carrots")));
    assert_eq!(
        report.steps.iter().map(|step| (&*step.strategy, step.edits)).collect::<Vec<_>>(),
        [(report.steps[0].strategy.as_ref(), 1), ("notices", 0)]
    );
    // One that does not need them is given none: they cost.
    let (_, _, seen) = run(Some(Arc::new(FakeEmbedder)), false);
    assert_eq!(seen, [Err("no embedder is configured".to_owned())]);
}

/// How an embedder goes wrong.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Fails,
    Panics,
    PanicsLater,
    TooFew,
    NotANumber,
}

#[derive(Debug)]
struct Broken(Fault);

#[async_trait]
impl Embedder for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn dimensions(&self) -> usize {
        2
    }

    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let rows = |count: usize, value: f32| Ok(Embeddings::new(2, vec![value; 2 * count]));
        match self.0 {
            Fault::Fails => Err(EmbedError { message: "the server is away".to_owned(), retryable: true }),
            Fault::Panics => panic!("no idea"),
            Fault::PanicsLater => {
                let mut has_waited = false;
                poll_fn(|context| {
                    context.waker().wake_by_ref();
                    if std::mem::replace(&mut has_waited, true) { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
                panic!("no idea")
            }
            Fault::TooFew => rows(texts.len() - 1, 0.5),
            Fault::NotANumber => rows(texts.len(), f32::NAN),
        }
    }
}

#[test]
fn an_embedder_gone_wrong_is_a_declined_step() {
    let check = |embedder: Option<Arc<dyn Embedder>>, why: &str| {
        let (session, report, seen) = run(embedder, true);
        assert_eq!(seen, [Err(why.to_owned())], "asked once, without vectors");
        assert_eq!(report.steps[0].declined.as_deref(), Some(why));
        assert_eq!((&*report.steps[1].strategy, report.steps[1].edits), ("script", 1), "the chain goes on");
        assert_eq!(report.status, Status::Compacted);
        assert!(report.tokens_after <= report.budget, "{report:?}");
        assert!(!session.view().iter().any(|entry| entry.message.plain_text().contains("soup")));
    };
    let broken = |fault| Some(Arc::new(Broken(fault)) as Arc<dyn Embedder>);
    check(None, "no embedder is configured");
    check(broken(Fault::Fails), "the embedder failed: the server is away");
    check(broken(Fault::Panics), "the embedder panicked: no idea");
    check(broken(Fault::PanicsLater), "the embedder panicked: no idea");
    check(broken(Fault::TooFew), "the embedder gave 6 vectors for 7 texts");
    check(broken(Fault::NotANumber), "the embedder gave a number that is none");
}

#[test]
fn without_a_question_there_is_no_vector_of_one() {
    #[derive(Debug)]
    struct Sees;
    impl Strategy for Sees {
        fn meta(&self) -> &Meta {
            const META: Meta = Meta {
                id: "sees",
                summary: "",
                docs: "",
                lossiness: Lossiness::Whole,
                needs: RequiredServices { embeddings: true, model: false },
                since: "0.1.0",
            };
            &META
        }

        fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
            let vectors = view.vectors().map_err(|reason| PlanError(reason.to_owned()))?;
            Ok(Plan::decline(format!(
                "{} of {}, {:?} {:?}",
                vectors.units.len(),
                view.units().len(),
                goal.focus,
                vectors.focus
            )))
        }
    }
    let mut session = session("system: S\nassistant: word … x50\nassistant: last\n");
    let engine = Engine { embedder: Some(Arc::new(FakeEmbedder)), ..engine() };
    let request = Request { chain: Some(Chain(vec![Arc::new(Sees)])), ..Request::to_budget(50) };
    let (report, _) = compact(&engine, &mut session, &request);
    let declined = report.steps.iter().find(|step| &*step.strategy == "sees").and_then(|step| step.declined.clone());
    assert_eq!(declined.as_deref(), Some("3 of 3, None None"), "{report:?}");
}
