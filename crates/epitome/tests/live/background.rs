//! Compactions that are prepared while the session continues, and hand-offs by the session's own model.

use std::sync::{Arc, Mutex};

use epitome::engine::block_on;
use epitome::live::{
    BackgroundExecutor, Conversation, ConversationQuestion, LiveSession, MaintainOutcome, Preparation, PreparationState,
};
use epitome::providers::chat::{ChatAnswer, ChatError, ChatErrorKind, Stop};
use epitome::strategy::{BoxFuture, async_trait};

use super::support::{Scripted, live, model, runtime, talk, user, with_summarizer, words};

/// A window of 2,000 tokens of which all are usable: soft 1,600, hard 1,900, target 1,000.
const WINDOW: &str = "[budget]\nwindow = 2000\nreserve_output = 0\nsoft = 0.8\ntarget = 0.5\n";

/// Work that runs when the test asks for it.
#[derive(Debug, Default)]
struct Later(Mutex<Vec<Work>>);

struct Work(BoxFuture<'static, ()>);

impl std::fmt::Debug for Work {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Work")
    }
}

impl BackgroundExecutor for Later {
    fn run(&self, work: BoxFuture<'static, ()>) {
        self.0.lock().unwrap().push(Work(work));
    }
}

impl Later {
    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn go_on(&self) {
        let work = std::mem::take(&mut *self.0.lock().unwrap());
        work.into_iter().for_each(|work| block_on(work.0));
    }
}

fn prepared(toml: &str) -> (LiveSession, Arc<Later>) {
    let mut live = with_summarizer(toml, &Arc::<Scripted>::default());
    let later = Arc::<Later>::default();
    live.prepare_in(Arc::clone(&later) as Arc<dyn BackgroundExecutor>, Preparation::default());
    (live, later)
}

fn maintain(live: &mut LiveSession) -> &'static str {
    match block_on(live.maintain()).unwrap() {
        MaintainOutcome::Nothing(_) => "nothing",
        MaintainOutcome::Preparing(_) => "preparing",
        MaintainOutcome::NotWorthwhile(..) => "not min_saving",
        MaintainOutcome::Compacted(_) => "compacted",
        MaintainOutcome::Refused(_) | MaintainOutcome::NewSession(_) => "refused",
    }
}

fn state(live: &LiveSession) -> PreparationState {
    live.preparation().unwrap().state()
}

const SUMMARY: &str = super::support::SMALL;

#[test]
fn it_is_prepared_at_the_soft_threshold_and_made_at_the_hard_one() {
    let (mut live, later) = prepared(SUMMARY);
    talk(&mut live, 1_500);
    assert_eq!((maintain(&mut live), later.len()), ("nothing", 0));
    talk(&mut live, 1_600);
    let prefix = live.session().view().len();
    assert_eq!((maintain(&mut live), later.len(), state(&live)), ("preparing", 1, PreparationState::UnderWay));
    live.push(user("What arrives meanwhile.")).unwrap();
    assert_eq!((maintain(&mut live), later.len()), ("preparing", 1), "at most one in flight");
    assert_eq!(live.session().journal().len(), 0, "nothing is changed yet");
    later.go_on();
    assert_eq!(state(&live), PreparationState::Ready);
    assert_eq!((maintain(&mut live), later.len()), ("preparing", 0), "there is room yet");
    talk(&mut live, 1_900);
    let arrived: Vec<String> = live.session().view()[prefix..].iter().map(|entry| entry.message.plain_text()).collect();
    assert_eq!(maintain(&mut live), "compacted");
    let view: Vec<String> = live.session().view().iter().map(|entry| entry.message.plain_text()).collect();
    assert!(view.len() < prefix && view.iter().any(|text| text.contains("messages in short")), "{view:?}");
    assert_eq!(view[view.len() - arrived.len()..], arrived[..], "what arrived meanwhile stays as it came");
    assert!(live.tokens() <= 1_900);
    let epoch = &live.session().journal()[0];
    assert_eq!((epoch.tokens_after, epoch.log_length as usize), (Some(live.tokens()), live.session().log().len()));
    assert_eq!(live.tokens(), live.engine().ledger(live.session()).total(), "the running total is a recount");
    // The removed text can be brought back, and the compaction can be undone.
    let handle = epoch.edits.iter().find_map(|edit| edit.recall.clone()).unwrap();
    assert!(live.recall(&handle).unwrap().is_some());
    live.undo(0).unwrap();
    assert_eq!(live.session().view().len(), prefix + arrived.len());
}

#[test]
fn a_preparation_under_way_is_waited_for_when_there_is_no_room() {
    let (mut live, later) = prepared(SUMMARY);
    talk(&mut live, 1_600);
    assert_eq!(maintain(&mut live), "preparing");
    talk(&mut live, 1_900);
    let running = std::thread::spawn(move || later.go_on());
    assert_eq!(maintain(&mut live), "compacted");
    running.join().unwrap();
    assert_eq!(live.metrics().counters().summary_input_tokens, 500, "one was written");
}

#[test]
fn what_is_stale_is_thrown_away() {
    let (mut live, later) = prepared(SUMMARY);
    talk(&mut live, 1_600);
    assert_eq!(maintain(&mut live), "preparing");
    later.go_on();
    // The session shrinks: a person compacted it.
    block_on(live.compact(&Default::default())).unwrap();
    let shrunk = live.tokens();
    talk(&mut live, 1_620);
    assert!(shrunk < 1_600);
    live.forget_failure();
    talk(&mut live, 1_900);
    assert_eq!(maintain(&mut live), "compacted");
    assert_eq!(live.session().journal().len(), 2);
    let later_epoch = &live.session().journal()[1];
    assert!(later_epoch.edits.len() < 10 && live.tokens() <= 1_900);
}

#[test]
fn a_session_that_shrinks_begins_another() {
    let preparation = Preparation::default();
    let later = Arc::<Later>::default();
    let begin = |tokens: u32| {
        let mut live = with_summarizer(SUMMARY, &Arc::<Scripted>::default());
        live.prepare_in(Arc::clone(&later) as Arc<dyn BackgroundExecutor>, preparation.clone());
        talk(&mut live, tokens);
        maintain(&mut live)
    };
    assert_eq!((begin(1_750), later.len()), ("preparing", 1));
    assert_eq!((begin(1_600), later.len()), ("preparing", 2), "the longer one is of no use to the shorter");
    later.go_on();
    assert_eq!(preparation.state(), PreparationState::Ready);
    preparation.discard();
    assert_eq!(preparation.state(), PreparationState::Idle);
}

#[test]
fn without_a_model_nothing_is_prepared() {
    let mut live = live(SUMMARY);
    let later = Arc::<Later>::default();
    live.prepare_in(Arc::clone(&later) as Arc<dyn BackgroundExecutor>, Preparation::default());
    talk(&mut live, 1_600);
    assert_eq!((maintain(&mut live), later.len()), ("compacted", 0));
}

#[test]
fn one_that_comes_to_nothing_waits_until_there_is_more() {
    let (mut live, later) = prepared(SUMMARY);
    talk(&mut live, 1_600);
    assert_eq!(maintain(&mut live), "preparing");
    later.0.lock().unwrap().clear(); // given up
    assert_eq!(state(&live), PreparationState::Failed);
    assert_eq!((maintain(&mut live), later.len()), ("preparing", 0), "not at once");
    live.push(user(&words(1))).unwrap();
    assert_eq!((maintain(&mut live), later.len()), ("preparing", 1));
}

/// A host that answers with a script.
#[derive(Debug)]
struct Host {
    answer: fn() -> Result<ChatAnswer, ChatError>,
    asked: Mutex<Vec<(usize, String)>>,
}

#[async_trait]
impl Conversation for Host {
    fn model(&self) -> &str {
        "agent"
    }

    async fn ask(&self, question: ConversationQuestion<'_>) -> Result<ChatAnswer, ChatError> {
        self.asked.lock().unwrap().push((question.view.len(), question.instruction.to_owned()));
        (self.answer)()
    }
}

const HANDOFF: &str = "## Goal\n- The parser is to read another line, and another, as the user said in every turn so far.\n\n\
    ## Constraints\n- none\n\n## State\n- The parser reads another line in each turn; nothing else was done by anybody.\n\n\
    ## Open\n- none\n\n## Next step\n- Read another line.";

#[test]
fn the_sessions_own_model_writes_the_hand_off() {
    let toml = format!(
        "{WINDOW}[summary]\nsummarizer = \"llm\"\n[channels.none]\nbase_url = \"http://127.0.0.1:1/v1\"\nmodels = [\"m\"]\ntries = 1\n"
    );
    let runtime = runtime(&toml);
    let check = |answer: fn() -> Result<ChatAnswer, ChatError>, is_own: bool| {
        let host = Arc::new(Host { answer, asked: Mutex::default() });
        let mut live = LiveSession::new(&runtime);
        assert!(live.answer_with(&runtime, Arc::clone(&host) as Arc<dyn Conversation>));
        live.push(user("Read the lines.")).unwrap();
        live.push(model("Yes.")).unwrap();
        talk(&mut live, 1_700);
        let shown = live.session().view().len();
        let report = block_on(live.compact(&Default::default())).unwrap();
        assert_eq!(host.asked.lock().unwrap()[0].0, shown, "all of what the model sees");
        assert_eq!(report.summarizer.fell_back, !is_own, "{:?}", report.summarizer);
        let text = live.session().view().iter().map(|entry| entry.message.plain_text()).collect::<String>();
        assert_eq!(text.contains("- Read another line."), is_own, "{text}");
        if is_own {
            let check = &report.summarizer.checks[0];
            assert_eq!((check.unknown.len(), report.summarizer.cached_tokens), (0, 70), "{check:?}");
        }
        live
    };
    let good = || {
        let text = HANDOFF.to_owned();
        Ok(ChatAnswer { text, stop: Stop::End, input_tokens: 100, cached_tokens: 70, output_tokens: 9 })
    };
    let mut live = check(good, true);
    // The next one brings it up to date; there is one at any time.
    talk(&mut live, 1_900);
    block_on(live.compact(&Default::default())).unwrap();
    let texts: Vec<String> = live.session().view().iter().map(|entry| entry.message.plain_text()).collect();
    let handoffs = texts.iter().filter(|text| text.contains("## Next step")).count();
    assert_eq!(handoffs, 1, "{texts:#?}");
    // Refused, or too long: the channel, which is not there, then the rules.
    check(|| Err(ChatError::new(ChatErrorKind::TooLong, "too long".to_owned())), false);
    check(
        || {
            Ok(ChatAnswer {
                text: String::new(),
                stop: Stop::ToolCall,
                input_tokens: 1,
                cached_tokens: 0,
                output_tokens: 1,
            })
        },
        false,
    );
}
