//! Summaries: who writes them, what becomes of a compaction without one, and drafts whose summaries a person edits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use epitome_engine::{
    Draft, EditSummaryError, Engine, EngineError, MemoryArchive, Observer, Progress, Request, Status, WithoutSummary,
    block_on,
};
use epitome_session::Session;
use epitome_strategy::{
    Edit, ModelUsage, SummarizeError, Summarizer, Summary, SummaryRequest, SummaryTask, SummaryText, async_trait,
};
use epitome_testkit::session;

use super::support::{chain, compact, engine, expect, reason, request, shown};

/// Answers when all of so many summaries are asked for; fails for messages that say so.
#[derive(Debug)]
struct Together {
    expected: usize,
    asked: AtomicUsize,
}

impl Together {
    fn new(expected: usize) -> Arc<Self> {
        Arc::new(Self { expected, asked: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl Summarizer for Together {
    fn kind(&self) -> &str {
        "together"
    }

    async fn summarize(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        std::future::poll_fn(|context| {
            context.waker().wake_by_ref();
            if self.asked.load(Ordering::SeqCst) < self.expected { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        let text = task.messages[0].plain_text();
        if text.contains("unspeakable") {
            return Err(SummarizeError::new("no words for it", true));
        }
        let first: Vec<&str> = text.split(' ').take(2).collect();
        let fell_back = text.contains("rules").then(|| "the model was away".to_owned());
        Ok(Summary {
            text: format!("about {}", first.join(" ")),
            usage: ModelUsage { answers: 1, input_tokens: 10, output_tokens: 2, ..ModelUsage::default() }.into(),
            fell_back,
            ..Summary::default()
        })
    }
}

fn summary_of(units: &[u32]) -> Edit {
    let request = SummaryRequest::new(50, None);
    Edit::Summarize { units: units.to_vec(), summary: SummaryText::Request(request), reason: reason() }
}

const TALK: &str = "
user: the task
assistant: one word … x40
assistant: two word … x40
assistant: three word … x40
user: newest
";

/// Tokens of [`TALK`], of which each answer is more than 60.
fn talk_tokens() -> u32 {
    engine().ledger(&session(TALK)).total()
}

fn draft_with(engine: &Engine, session: &Session, request: &Request) -> Result<Draft, EngineError> {
    block_on(engine.draft(session, &engine.ledger(session), &mut MemoryArchive::new(), request))
}

#[test]
fn the_summaries_of_a_plan_are_written_at_once() {
    let mut engine = engine();
    let summarizer = Together::new(2);
    engine.summarizer = Some(summarizer.clone());
    let mut session = session(TALK);
    let request = request(100, chain(vec![summary_of(&[1]), summary_of(&[2, 3])]));
    let draft = draft_with(&engine, &session, &request).unwrap();
    assert_eq!((draft.report.summarizer.input_tokens, draft.report.summarizer.output_tokens), (20, 4));
    let paid = ModelUsage { answers: 2, input_tokens: 20, output_tokens: 4, ..ModelUsage::default() };
    assert_eq!(draft.report.summarizer.models.models(), std::slice::from_ref(&paid));
    let mut ledger = engine.ledger(&session);
    engine.commit(&mut session, &mut ledger, draft).unwrap();
    let recorded = session.journal()[0].summarizer.as_ref().unwrap();
    assert_eq!(recorded.models.models(), [paid], "the session keeps the bill");
    let view = shown(&session);
    assert!(view.contains("⏎about one word") && view.contains("⏎about two word"), "{view}");
}

/// Writes a hundred lines, whatever it is asked for.
#[derive(Debug)]
struct Talkative;

#[async_trait]
impl Summarizer for Talkative {
    fn kind(&self) -> &str {
        "talkative"
    }

    async fn summarize(&self, _: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        let text = format!("## Goal\n- read it\n## Files\n{}", "- a file\n".repeat(100));
        Ok(Summary { text, ..Summary::default() })
    }
}

#[test]
fn a_summary_is_no_longer_than_it_was_to_be() {
    let mut engine = engine();
    engine.summarizer = Some(Arc::new(Talkative));
    let request = request(talk_tokens() - 30, chain(vec![summary_of(&[1, 2, 3])]));
    let summary = draft_with(&engine, &session(TALK), &request).unwrap().report.summary.unwrap();
    assert!(summary.starts_with("## Goal\n- read it\n") && summary.contains("[… "), "{summary}");
    assert!(summary.len().div_ceil(4) <= 50, "{summary}");
}

#[test]
fn a_plan_with_two_summaries_of_one_unit_pays_once() {
    let mut engine = engine();
    let summarizer = Together::new(1);
    engine.summarizer = Some(summarizer.clone());
    let draft = draft_with(
        &engine,
        &session(TALK),
        &request(talk_tokens() - 30, chain(vec![summary_of(&[99]), summary_of(&[1]), summary_of(&[1, 2])])),
    );
    assert_eq!(summarizer.asked.load(Ordering::SeqCst), 1, "what is refused anyway is not written");
    assert_eq!(draft.unwrap().report.steps[0].refused, 1);
}

#[test]
fn without_a_summary_the_chain_goes_on_or_nothing_is_done() {
    let unspeakable = TALK.replace("one word", "unspeakable word");
    let mut engine = engine();
    engine.summarizer = Some(Together::new(1));
    let request = request(100, chain(vec![summary_of(&[1])]));
    let report = draft_with(&engine, &session(&unspeakable), &request).unwrap().report;
    assert_eq!(report.status, Status::Compacted, "the floor ends it");
    assert_eq!(report.steps[0].declined.as_deref(), Some("an edit has no summary: no words for it"));
    assert_eq!(report.summarizer.problem.as_deref(), Some("no words for it"));

    engine.without_summary = WithoutSummary::Stop;
    let Err(EngineError::NoSummary(error)) = draft_with(&engine, &session(&unspeakable), &request) else {
        panic!("the session is to stay as it was")
    };
    assert!(error.retryable);
    // The other summary of the plan was paid for all the same, and nothing else tells of it.
    let two = self::request(100, chain(vec![summary_of(&[1]), summary_of(&[2, 3])]));
    engine.summarizer = Some(Together::new(2));
    let Err(EngineError::NoSummary(error)) = draft_with(&engine, &session(&unspeakable), &two) else {
        panic!("the session is to stay as it was")
    };
    assert_eq!(error.usage.input_tokens(), 10);
    engine.summarizer = Some(Together::new(1));
    assert_eq!(draft_with(&engine, &session(TALK), &request).unwrap().report.status, Status::Compacted);
}

#[test]
fn the_report_shows_the_summary_that_was_asked_for() {
    let own = "» what was said, as it was said";
    let brought = Edit::Summarize { units: vec![1], summary: SummaryText::Ready(own.to_owned()), reason: reason() };
    let check = |edits: Vec<Edit>, expect: &str, is_brought: bool| {
        let mut engine = engine();
        engine.summarizer = Some(Together::new(1));
        let report = draft_with(&engine, &session(TALK), &request(talk_tokens() - 10, chain(edits))).unwrap().report;
        assert_eq!((report.summary.as_deref(), report.summary_by.is_some()), (Some(expect), is_brought));
    };
    check(vec![summary_of(&[3]), brought.clone()], "about three word", false);
    check(vec![brought], own, true);
}

#[test]
fn the_report_says_that_another_summarizer_stepped_in() {
    let mut engine = engine();
    engine.summarizer = Some(Together::new(1));
    let by_rules = TALK.replace("one word", "rules word");
    let report = draft_with(&engine, &session(&by_rules), &request(100, chain(vec![summary_of(&[1])]))).unwrap().report;
    assert!(report.summarizer.fell_back);
    assert_eq!(report.summarizer.problem.as_deref(), Some("the model was away"));
}

#[derive(Debug, Default)]
struct Diary(Mutex<Vec<String>>);

impl Observer for Diary {
    fn on(&self, progress: Progress<'_>) {
        let line = match progress {
            Progress::Strategy { id, .. } => format!("ask {id}"),
            Progress::Step(step) => format!("{}: {} edits", step.strategy, step.edits),
            Progress::Summaries { count, messages } => format!("{count} summaries of {messages}"),
            Progress::Summary { problem, .. } => format!("summary, {}", problem.unwrap_or("fine")),
        };
        self.0.lock().unwrap().push(line);
    }
}

#[test]
fn an_observer_is_told_what_happens() {
    let diary = Arc::new(Diary::default());
    let mut engine = engine();
    engine.summarizer = Some(Together::new(1));
    let mut request = request(talk_tokens() - 60, chain(vec![summary_of(&[1, 2])]));
    request.observer = Some(diary.clone());
    draft_with(&engine, &session(TALK), &request).unwrap();
    let told = diary.0.lock().unwrap().clone();
    assert_eq!(told, ["ask script", "1 summaries of 2", "summary, fine", "script: 1 edits"]);
}

#[test]
fn a_draft_is_edited_before_it_is_made() {
    let mut engine = engine();
    engine.summarizer = Some(Together::new(1));
    let mut session = session(TALK);
    let request = request(talk_tokens() - 60, chain(vec![summary_of(&[1, 2])]));
    let mut draft = draft_with(&engine, &session, &request).unwrap();
    let [summary] = &draft.summaries()[..] else { panic!("one summary") };
    assert_eq!(summary.text, "about one word");
    assert!(
        summary.heading.starts_with("[Summary of 2 earlier messages; search_history finds what they said · recall "),
        "{}",
        summary.heading
    );
    let number = summary.number;
    assert_eq!(
        summary.most_tokens,
        talk_tokens() - 60 - (draft.report.tokens_after - summary.tokens),
        "the budget is the bound"
    );

    let unchanged = draft.clone();
    let edit = |draft: &mut Draft, number, text: &str| draft.edit_summary(number, text, &*engine.counter);
    assert_eq!(edit(&mut draft, 9, "text"), Err(EditSummaryError::Unknown { number: 9, count: 1 }));
    assert_eq!(edit(&mut draft, number, " \n"), Err(EditSummaryError::Empty));
    assert!(matches!(edit(&mut draft, number, &"far too long ".repeat(90)), Err(EditSummaryError::TooLong { .. })));
    assert_eq!(draft, unchanged, "what is refused changes nothing");

    edit(&mut draft, number, "what I want it to know").unwrap();
    assert_eq!(draft.report.summary.as_deref(), Some("what I want it to know"));
    // It survives being stored, and what is committed is what was edited.
    let stored = serde_json::to_string(&draft).unwrap();
    let draft: Draft = serde_json::from_str(&stored).unwrap();
    let forged = stored.replace("what I want it to know", "what somebody else wants");
    let error = serde_json::from_str::<Draft>(&forged).unwrap_err();
    assert!(error.to_string().contains("was changed after it was made"), "{error}");
    let (after, saved) = (draft.report.tokens_after, draft.report.edits[0].tokens_saved);
    let mut ledger = engine.ledger(&session);
    let before = ledger.total();
    engine.commit(&mut session, &mut ledger, draft).unwrap();
    assert!(shown(&session).contains("⏎what I want it to know"), "{}", shown(&session));
    assert_eq!(ledger.total(), after);
    assert_eq!(engine.ledger(&session).total(), after, "the figures are those of a recount");
    assert_eq!(before - after, saved);
}

#[test]
fn a_summary_of_a_converted_file_counts_as_many_as_its_heading_says() {
    let mut session = session(
        "
user: the task
user(summary): [Summary of 49 earlier messages]
assistant: one word … x40
assistant: two word … x40
user: newest
",
    );
    let own = Edit::Summarize { units: vec![1, 2, 3], summary: SummaryText::Ready("» done".into()), reason: reason() };
    let tokens = engine().ledger(&session).total();
    compact(&engine(), &mut session, &request(tokens - 30, chain(vec![own])));
    expect(
        &session,
        "
        user: the task
        user: [Summary of 51 earlier messages; search_history finds what they said · recall #]⏎» done
        user: newest
    ",
    );
}
