//! Typed commands, and compactions whose callers have stopped waiting.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use epitome::Draft;
use epitome::engine::{Check, Status, block_on};
use epitome::live::{
    Command, CommandOutcome, Compaction, Confirm, Confirmation, Event, LiveError, LiveSession, MaintainOutcome,
};
use epitome::strategy::{BoxFuture, ModelUsage, SummarizeError, Summarizer, Summary, SummaryTask, async_trait};

use super::support::{SMALL, live, runtime, shown, talk};

fn run(live: &mut LiveSession, text: &str) -> Result<CommandOutcome, LiveError> {
    block_on(live.run(Command::parse(text).unwrap().unwrap()))
}

#[test]
fn commands_are_run() {
    let mut live = live(SMALL);
    talk(&mut live, 1_700);
    let before = shown(live.session());
    assert!(matches!(run(&mut live, "/undo"), Err(LiveError::NothingToUndo)));
    let CommandOutcome::Compacted(report) = run(&mut live, "/compact turn 3").unwrap() else { panic!("compacted") };
    assert_eq!(report.status, Status::Compacted);
    let CommandOutcome::History(history) = run(&mut live, "/history").unwrap() else { panic!("history") };
    let [entry] = &history[..] else { panic!("one compaction: {history:?}") };
    let recall = format!("/recall {}", entry.recall[0]);
    assert!(matches!(run(&mut live, &recall).unwrap(), CommandOutcome::Recalled(Some(_))));
    assert_eq!(run(&mut live, "/recall 00000000").unwrap(), CommandOutcome::Recalled(None));
    assert_eq!(run(&mut live, "/context").unwrap(), CommandOutcome::Context(live.context()));
    let CommandOutcome::Undone { epoch, tokens } = run(&mut live, "/undo").unwrap() else { panic!("undone") };
    assert_eq!((epoch, tokens), (entry.epoch, live.tokens()));
    assert_eq!(shown(live.session()), before);
    assert!(matches!(run(&mut live, "/undo"), Err(LiveError::NothingToUndo)), "what is undone is not undone again");
    assert!(matches!(run(&mut live, "/undo 7"), Err(LiveError::Undo(_))));
}

/// Says nothing when it is asked for the first time.
#[derive(Debug, Default)]
struct Slow(AtomicBool);

#[async_trait]
impl Summarizer for Slow {
    fn kind(&self) -> &str {
        "llm"
    }

    async fn summarize(&self, _task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        if !self.0.swap(true, Ordering::Relaxed) {
            return std::future::pending().await;
        }
        let text = "what was said so far".to_owned();
        Ok(Summary {
            text,
            usage: ModelUsage { answers: 1, input_tokens: 500, output_tokens: 20, ..ModelUsage::default() }.into(),
            ..Summary::default()
        })
    }
}

#[test]
fn a_compaction_that_is_given_up_has_an_end() {
    let check = |toml: &str, begin: for<'a> fn(&'a mut LiveSession) -> BoxFuture<'a, bool>| {
        let runtime = runtime(toml);
        let mut engine = epitome::engine_of(&runtime);
        engine.summarizer = Some(Arc::new(Slow::default()));
        let mut live = LiveSession::with_engine(engine, &runtime, epitome::Session::new());
        live.confirm_with(Arc::new(Agrees));
        talk(&mut live, 1_950);
        let before = live.session().state_hash();
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let told = Arc::clone(&events);
        live.subscribe(Arc::new(move |event| told.lock().unwrap().push(event.clone())));
        let mut compaction = begin(&mut live);
        let polled = compaction.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(polled, Poll::Pending, "it waits for the summary");
        drop(compaction);
        let names: Vec<&str> = events
            .lock()
            .unwrap()
            .drain(..)
            .map(|event| match event {
                Event::CompactionError { retryable, .. } => {
                    if retryable {
                        "given up"
                    } else {
                        "refused"
                    }
                }
                event => event.name(),
            })
            .collect();
        assert_eq!(names, ["compaction_start", "summary_start", "given up"]);
        assert_eq!((live.session().state_hash(), live.metrics().counters().failures), (before, 1));
        // The next one begins and ends as if nothing had been.
        assert!(block_on(begin(&mut live)));
        let ends = |event: &&Event| matches!(event, Event::CompactionDone { .. } | Event::CompactionError { .. });
        let events = events.lock().unwrap();
        let ends: Vec<&Event> = events.iter().filter(ends).collect();
        assert!(matches!(ends[..], [Event::CompactionDone { success: true, .. }]), "{ends:?}");
    };
    check(SMALL, |live| Box::pin(async { live.compact(&Compaction::default()).await.is_ok() }));
    check(SMALL, |live| Box::pin(async { matches!(live.maintain().await, Ok(MaintainOutcome::Compacted(_))) }));
    let asks = format!("{SMALL}[live]\nrequire_confirmation = true\n");
    check(&asks, |live| Box::pin(async { matches!(live.maintain().await, Ok(MaintainOutcome::Compacted(_))) }));
}

/// Agrees to everything.
#[derive(Debug)]
struct Agrees;

#[async_trait]
impl Confirm for Agrees {
    async fn confirm(&self, _draft: &Draft, _check: &Check) -> Confirmation {
        Confirmation::Make
    }
}
