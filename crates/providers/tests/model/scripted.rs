//! A model that answers as a test tells it to, and tasks out of fixtures.

use std::fmt;
use std::sync::{Arc, Mutex};

use epitome_engine::block_on;
use epitome_providers::chat::{ChatAnswer, ChatError, ChatErrorKind, ChatModel, ChatRequest, Stop};
use epitome_providers::model::{ModelSettings, ModelSummarizer};
use epitome_strategy::session::Session;
use epitome_strategy::{
    Language, Message, SummarizeError, Summarizer, Summary, SummaryRequest, SummaryTask, TokenCounter, Tokens,
    async_trait,
};
use epitome_testkit::{FakeCounter, session};

pub(crate) type Answer = Result<ChatAnswer, ChatError>;

type Script = dyn Fn(&ChatRequest, usize) -> Answer + Send + Sync;

/// Answers with what a function makes of the request and its number.
pub(crate) struct Scripted {
    pub(crate) window: Tokens,
    answer: Box<Script>,
    asked: Mutex<Vec<ChatRequest>>,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Scripted")
    }
}

impl Scripted {
    pub(crate) fn new(
        window: Tokens,
        answer: impl Fn(&ChatRequest, usize) -> Answer + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { window, answer: Box::new(answer), asked: Mutex::default() })
    }

    /// What it was asked so far.
    pub(crate) fn requests(&self) -> Vec<ChatRequest> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn window(&self) -> Tokens {
        self.window
    }

    async fn complete(&self, request: &ChatRequest) -> Answer {
        let number = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(request.clone());
            asked.len()
        };
        // Others get a turn in between, as they do while a service works.
        let mut waited = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut waited, true) {
                return std::task::Poll::Ready(());
            }
            context.waker().wake_by_ref();
            std::task::Poll::Pending
        })
        .await;
        (self.answer)(request, number)
    }
}

/// A summary as a model should write it.
pub(crate) const GOOD: &str = "## Goal
- The user wants the lexer to accept nested brackets, and the time that it takes in README.md.

## Constraints
- The public API must never be touched.

## State
- The agent changed next_token in src/lexer.rs; `cargo test` passes with 3 tests.

## Decisions
- none yet

## Findings
- Lexer::next dropped the depth counter at line 41; that was the cause.

## Failed
- error[E0308]: mismatched types, fixed

## Open
- The agent has to write the time to README.md.

## Next step
- Measure the time.";

pub(crate) fn said(text: &str, stop: Stop) -> Answer {
    Ok(ChatAnswer { text: text.to_owned(), stop, input_tokens: 100, cached_tokens: 0, output_tokens: 10 })
}

pub(crate) fn good() -> Answer {
    said(GOOD, Stop::End)
}

pub(crate) fn error(kind: ChatErrorKind) -> Answer {
    Err(ChatError::new(kind, format!("{kind:?}")))
}

/// A session that [`GOOD`] could be about.
pub(crate) const FIXING: &str = r#"
user: Make the lexer accept nested brackets. Never touch the public API. Report the time it takes in README.md.
assistant: Let me look at the lexer first.
call Read c1 {"file_path":"src/lexer.rs"}
result c1: fn next() {} … x50
call Bash c2 {"command":"cd /repo && cargo test --test deep_nesting"}
result c2 error:
  running 3 tests
  error[E0308]: mismatched types
   --> src/lexer.rs:41
  test result: FAILED. 2 passed; 1 failed
assistant: The root cause is that Lexer::next drops the depth counter at line 41.
call Edit c3 {"file_path":"src/lexer.rs","old_string":"x","new_string":"pub fn next_token() {\n}"}
result c3: done
call Bash c4 {"command":"cargo test"}
result c4: test result: ok. 3 passed; 0 failed
assistant: Nested brackets work now: next_token counts the depth. … x40
"#;

/// What is to be summarised.
pub(crate) struct Case {
    pub(crate) messages: Vec<Arc<Message>>,
    /// Its tool definitions hold every string of [`GOOD`], which so is about any messages.
    pub(crate) session: Session,
    pub(crate) request: SummaryRequest,
    pub(crate) language: Language,
    pub(crate) counter: Arc<dyn TokenCounter>,
}

impl Case {
    pub(crate) fn new(fixture: &str) -> Self {
        Self::with_messages(session(fixture).view().iter().map(|entry| Arc::clone(&entry.message)).collect())
    }

    pub(crate) fn with_messages(messages: Vec<Arc<Message>>) -> Self {
        let mut known = Session::new();
        known.tools = Some(Arc::from(GOOD));
        Self {
            messages,
            session: known,
            request: SummaryRequest::new(800, None),
            language: Language::English,
            counter: Arc::new(FakeCounter),
        }
    }

    pub(crate) fn max_tokens(mut self, max_tokens: Tokens) -> Self {
        self.request.max_tokens = max_tokens;
        self
    }

    pub(crate) fn task(&self) -> SummaryTask<'_> {
        SummaryTask {
            messages: &self.messages,
            session: Some(&self.session),
            request: &self.request,
            language: self.language,
            counter: &*self.counter,
        }
    }

    /// The summary by `summarizer`; it fits, whatever the model wrote.
    pub(crate) fn write(&self, summarizer: &ModelSummarizer) -> Result<Summary, SummarizeError> {
        let task = self.task();
        let written = block_on(summarizer.summarize(&task));
        if let Ok(summary) = &written {
            let tokens = self.counter.count(&summary.text);
            assert!(tokens <= self.request.max_tokens, "{tokens} tokens:\n{}", summary.text);
            assert!(!summary.text.trim().is_empty());
        }
        written
    }

    /// The same by `model` with the settings that ship.
    pub(crate) fn ask(&self, model: &Arc<Scripted>) -> Result<Summary, SummarizeError> {
        self.write(&summarizer(model))
    }
}

pub(crate) fn summarizer(model: &Arc<Scripted>) -> ModelSummarizer {
    with(model, ModelSettings::default())
}

pub(crate) fn with(model: &Arc<Scripted>, settings: ModelSettings) -> ModelSummarizer {
    ModelSummarizer::new(Arc::clone(model) as Arc<dyn ChatModel>, settings).unwrap()
}

/// What stands between the marks of that kind, in order.
pub(crate) fn fenced<'t>(prompt: &'t str, kind: &str) -> Vec<&'t str> {
    let mut found = Vec::new();
    let mut rest = prompt;
    let open = format!("\n<{kind}-");
    while let Some(at) = rest.find(&open) {
        let mark = &rest[at + 1..at + open.len() + 9];
        let close = format!("\n</{}", &mark[1..]);
        let inside = &rest[at + open.len() + 10..];
        let end = inside.find(&close).unwrap();
        found.push(&inside[..end]);
        rest = &inside[end..];
    }
    found
}
