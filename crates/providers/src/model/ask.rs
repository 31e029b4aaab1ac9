//! Asking the model for one summary: out of the cache, through the gate, checked, and once more where it cannot be used.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use epitome_strategy::{ModelBackoff, ModelUsage, SummaryTask, SummaryUsage, Tokens, lock};

use super::cache::{AnswerCost, Cache, KnownAnswer, key};
use super::check::{AnswerRequirements, Problem, read_answer};
use super::fence::fenced;
use super::gate::Gate;
use super::progress::{ModelProgress, ModelStep, Progress};
use super::prompts::PromptTexts;
use super::service::Service;
use crate::chat::{ChatAnswer, ChatError, ChatErrorKind, ChatModel, ChatRequest};

/// Everything that the requests for one summary have in common.
pub(super) struct RequestContext<'s> {
    pub model: &'s dyn ChatModel,
    pub cache: &'s Cache,
    /// Whether what the cache knows is counted with what it took.
    pub counts_known: bool,
    pub gate: &'s Gate,
    pub service: &'s Service,
    pub progress: Option<&'s Progress>,
    pub task: &'s SummaryTask<'s>,
    pub texts: &'s PromptTexts,
    pub spent: TokensSpent,
    /// Why the last question was put once more, where it was.
    pub asked_again: Mutex<Option<String>>,
    /// The session's memory of models that gave no summary.
    pub backoff: Option<&'s ModelBackoff>,
    /// The key of that memory: the identity of the service, whatever the question is.
    pub service_identity: String,
}

/// The answers so far, and what was paid for them.
#[derive(Debug, Default)]
pub(super) struct TokensSpent {
    answers: AtomicU64,
    input: AtomicU64,
    cached: AtomicU64,
    output: AtomicU64,
}

impl TokensSpent {
    fn add(&self, cost: &AnswerCost) {
        self.answers.fetch_add(cost.answers, Ordering::Relaxed);
        self.input.fetch_add(cost.input, Ordering::Relaxed);
        self.cached.fetch_add(cost.cached, Ordering::Relaxed);
        self.output.fetch_add(cost.output, Ordering::Relaxed);
    }

    /// What `model` took.
    fn usage(&self, model: &str) -> ModelUsage {
        ModelUsage {
            model: model.into(),
            answers: self.answers.load(Ordering::Relaxed),
            input_tokens: self.input.load(Ordering::Relaxed),
            cached_tokens: self.cached.load(Ordering::Relaxed),
            output_tokens: self.output.load(Ordering::Relaxed),
        }
    }
}

impl AnswerCost {
    /// This cost with that of one more answer.
    fn and(self, answer: &ChatAnswer) -> Self {
        Self {
            answers: self.answers + 1,
            input: self.input + answer.input_tokens,
            cached: self.cached + answer.cached_tokens,
            output: self.output + answer.output_tokens,
        }
    }
}

/// One request for a summary.
pub(super) struct Question {
    /// Which part it is, from 1, and of how many.
    pub part: u32,
    pub of: u32,
    pub user: String,
    /// Words that the answer may have.
    pub words: u32,
    /// Tokens that the answer may take, reasoning included.
    pub answer_tokens: Tokens,
    pub expected: AnswerRequirements,
}

/// The reason why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AskFailure {
    /// The request is too long for the model; the most that it takes, where the service says so.
    TooLong { message: String, limit: Option<Tokens> },
    /// Anything else, for a person, and whether trying again later may help.
    Failed { message: String, retryable: bool },
}

impl RequestContext<'_> {
    /// What the model took for the summary so far.
    pub(super) fn usage(&self) -> SummaryUsage {
        self.spent.usage(self.model.name()).into()
    }

    /// The summary that the model writes. It is kept.
    pub(super) async fn ask(&self, question: &Question) -> Result<String, AskFailure> {
        let Question { part, of, .. } = *question;
        let system = self.texts.get("system");
        let key = key(&[&self.model.identity(), system, &question.user], question.answer_tokens);
        if let Some(text) = self.cached_text(&key, question) {
            return Ok(text);
        }
        let _pass = self.gate.enter().await;
        // Somebody may have asked the same while this one waited.
        if let Some(text) = self.cached_text(&key, question) {
            return Ok(text);
        }
        if let Some(failure) = self.service.failure() {
            return Err(failure);
        }
        if self.backoff.is_some_and(|backoff| backoff.must_wait(&self.service_identity, self.session_length())) {
            let message =
                format!("`{}` gave no summary of this session before, and is not asked again yet", self.model.name());
            return Err(AskFailure::Failed { message, retryable: false });
        }
        self.tell(ModelStep::Started { part, of });
        let known = self.ask_twice(question).await?;
        self.cache.put(&key, &known);
        self.tell(ModelStep::Done { part, of, from_cache: false });
        Ok(known.text)
    }

    fn cached_text(&self, key: &super::cache::CacheKey, question: &Question) -> Option<String> {
        let known = self.cache.get(key)?;
        if self.counts_known {
            self.spent.add(&known.cost);
        }
        self.tell(ModelStep::Done { part: question.part, of: question.of, from_cache: true });
        Some(known.text)
    }

    /// Asks, and asks again with the reason where the answer is no summary.
    async fn ask_twice(&self, question: &Question) -> Result<KnownAnswer, AskFailure> {
        let language = self.task.language;
        let first = self.ask_once(question.user.clone(), question.answer_tokens).await?;
        let cost = AnswerCost::default().and(&first);
        let problem = match read_answer(&first, &question.expected, self.task) {
            Ok(text) => return Ok(KnownAnswer { text, cost }),
            Err(problem) => problem,
        };
        let reason = problem.say(language);
        self.tell(ModelStep::Retry { part: question.part, reason: reason.clone() });
        *lock(&self.asked_again) = Some(reason.clone());
        let second = match self.ask_once(self.retry_prompt(question, &first, problem), question.answer_tokens).await {
            Ok(second) => second,
            Err(AskFailure::Failed { message, retryable }) => {
                let message = format!("the model's summary cannot be used ({reason}), and asked again: {message}");
                return Err(AskFailure::Failed { message, retryable });
            }
            // A window that holds the first request only just does not hold the second.
            Err(failure) => return Err(failure),
        };
        let again = match read_answer(&second, &question.expected, self.task) {
            Ok(text) => return Ok(KnownAnswer { text, cost: cost.and(&second) }),
            Err(problem) => problem,
        };
        let model = self.model.name();
        let message =
            format!("the summary by `{model}` cannot be used: {reason}; asked again: {}", again.say(language));
        self.note_refusal();
        // A model that refuses twice will refuse again; any other answer may be better another time.
        Err(AskFailure::Failed { message, retryable: again != Problem::Refused })
    }

    async fn ask_once(&self, user: String, max_tokens: Tokens) -> Result<ChatAnswer, AskFailure> {
        let request = ChatRequest { system: self.texts.get("system").to_owned(), user, max_tokens };
        match self.model.complete(&request).await {
            Ok(answer) => {
                self.service.note_answer();
                self.spent.add(&AnswerCost::default().and(&answer));
                Ok(answer)
            }
            Err(error) => {
                let fails_all = error.fails_all;
                if error.kind == ChatErrorKind::Rejected && !fails_all {
                    self.note_refusal();
                }
                let failure = AskFailure::from(error);
                if fails_all {
                    self.service.note_failure(failure.clone());
                }
                Err(failure)
            }
        }
    }

    /// Has the session remember that the model gives no summary of it.
    fn note_refusal(&self) {
        if let Some(backoff) = self.backoff {
            backoff.record(&self.service_identity, self.session_length());
        }
    }

    /// Messages of the session, as far as it is known.
    fn session_length(&self) -> usize {
        self.task.session.map_or(self.task.messages.len(), |session| session.log().len())
    }

    /// The same question with the problem of the first answer.
    fn retry_prompt(&self, question: &Question, first: &ChatAnswer, problem: Problem) -> String {
        // Room was left for an answer of the length that was asked for; of a longer one the beginning is enough.
        let most = 4 * question.answer_tokens as usize;
        let answer = fenced("answer", &first.text[..first.text.floor_char_boundary(most)]);
        let words = if problem == Problem::CutOff { question.words * 2 / 3 } else { question.words };
        let problem = format!("- {}", problem.say(self.task.language));
        let values = [("answer", answer.as_str()), ("problem", &problem), ("words", &words.to_string())];
        format!("{}\n\n{}", question.user, self.texts.fill("retry", &values))
    }

    pub(super) fn tell(&self, step: ModelStep) {
        if let Some(progress) = self.progress {
            let ModelUsage { input_tokens, output_tokens, .. } = self.spent.usage("");
            (progress.0)(ModelProgress { step, input_tokens, output_tokens });
        }
    }
}

impl From<ChatError> for AskFailure {
    fn from(error: ChatError) -> Self {
        let failed = |retryable| Self::Failed { message: error.message.clone(), retryable };
        match error.kind {
            ChatErrorKind::TooLong => {
                Self::TooLong { limit: error.overflow.and_then(|overflow| overflow.limit), message: error.message }
            }
            // An answer that cannot be read may be better the next time.
            ChatErrorKind::Transient | ChatErrorKind::Unreadable => failed(true),
            ChatErrorKind::Rejected => failed(false),
        }
    }
}
