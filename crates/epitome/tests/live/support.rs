//! Shared by the cases: a runtime out of TOML, a talk that grows, a summarizer that records its inputs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use epitome::engine::block_on;
use epitome::live::{LiveError, LiveSession};
use epitome::session::heading::memory_heading;
use epitome::session::{Message, Origin, Role};
use epitome::strategy::{ModelUsage, SummarizeError, Summarizer, Summary, SummaryTask, async_trait};
use epitome::{Config, Runtime, Session};

/// A window of 2,000 tokens of which all are usable: soft 1,600, hard 1,900, target 1,000.
pub(crate) const SMALL: &str = "[budget]\nwindow = 2000\nreserve_output = 0\nsoft = 0.8\ntarget = 0.5\n[select]\nmode = \"fixed\"\nchain = \"plain\"\n[chains]\nplain = [\"summary\"]\n";

pub(crate) fn runtime(toml: &str) -> Runtime {
    let registry = epitome::registry();
    Config::parse(toml, "case.toml", &registry).unwrap().build(&registry).unwrap()
}

pub(crate) fn live(toml: &str) -> LiveSession {
    LiveSession::new(&runtime(toml))
}

pub(crate) fn user(text: &str) -> Message {
    Message::text("", Role::User, Origin::Typed, text)
}

pub(crate) fn model(text: &str) -> Message {
    Message::text("", Role::Assistant, Origin::Model, text)
}

/// About 100 tokens that tell turns apart.
pub(crate) fn words(turn: usize) -> String {
    format!("turn {turn}: {}", "the parser reads another line ".repeat(20))
}

/// Pushes questions and answers of 100 tokens each until the view has at least so many tokens.
pub(crate) fn talk(live: &mut LiveSession, tokens: u32) {
    let mut turn = live.session().log().len();
    while live.tokens() < tokens {
        live.push(if turn.is_multiple_of(2) { user(&words(turn)) } else { model(&words(turn)) }).unwrap();
        turn += 1;
    }
}

/// The texts of the view, each cut to its first words.
pub(crate) fn shown(session: &Session) -> Vec<String> {
    let first = |text: String| text.chars().take(24).collect::<String>().replace('\n', "⏎");
    session.view().iter().map(|entry| first(entry.message.plain_text())).collect()
}

pub(crate) fn compact(live: &mut LiveSession) -> Result<epitome::Report, LiveError> {
    block_on(live.compact(&Default::default()))
}

/// Answers with one line about the first message, or fails while the test says so.
#[derive(Debug, Default)]
pub(crate) struct Scripted {
    pub(crate) fails: Mutex<Option<SummarizeError>>,
    /// How many summaries were asked for.
    pub(crate) asked: AtomicUsize,
}

#[async_trait]
impl Summarizer for Scripted {
    fn kind(&self) -> &str {
        "llm"
    }

    async fn summarize(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let text = format!("{} messages in short", task.messages.len());
        match &*self.fails.lock().unwrap() {
            Some(error) => Err(error.clone()),
            None => Ok(Summary {
                text,
                usage: ModelUsage { answers: 1, input_tokens: 500, output_tokens: 20, ..ModelUsage::default() }.into(),
                ..Summary::default()
            }),
        }
    }
}

/// A session whose summaries are written by a script.
pub(crate) fn with_summarizer(toml: &str, summarizer: &Arc<Scripted>) -> LiveSession {
    let runtime = runtime(toml);
    let mut engine = epitome::engine_of(&runtime);
    engine.summarizer = Some(Arc::clone(summarizer) as Arc<dyn Summarizer>);
    LiveSession::with_engine(engine, &runtime, Session::new())
}

/// The lines below the headings of memories in the view, and how many headings there are.
pub(crate) fn remembered(session: &Session) -> (usize, String) {
    let heading = memory_heading(epitome::session::Language::English);
    let texts = session.view().iter().map(|entry| entry.message.plain_text());
    let sections: Vec<String> =
        texts.filter_map(|text| text.split_once(heading).map(|(_, lines)| lines.to_owned())).collect();
    (sections.len(), sections.concat())
}
