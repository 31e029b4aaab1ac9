//! The model summarizer: a chat model writes, rules check what it wrote and add what must not be lost.

mod answer;
mod ask;
mod cache;
mod check;
mod compacted;
mod fallback;
mod fence;
mod finish;
mod gate;
mod language;
mod parts;
mod progress;
mod prompts;
mod service;
mod settings;
mod shorten;
mod source;
mod transcript;
mod verify;
mod wording;
mod write;

use std::sync::Arc;

use epitome_strategy::{ModelBackoff, SummarizeError, Summarizer, Summary, SummaryTask, async_trait};

pub use fallback::FallbackSummarizer;
pub use progress::{ModelProgress, ModelStep};
pub use prompts::PromptError;
pub use settings::{ModelSettings, SummaryForm};

use crate::chat::{ChatModel, Compaction};
use cache::Cache;
use compacted::CompactionConversation;
use gate::Gate;
use progress::Progress;
use prompts::Prompts;
use service::Service;

/// The kind of summaries that a model writes, and of those that its provider's own compaction gives.
const BY_MODEL: &str = "llm";
const BY_PROVIDER: &str = "provider";

/// Has summaries written by a chat model.
///
/// The model reads the messages as a transcript, long texts cut to their ends and to lines that report errors, fenced off
/// as data. What does not fit one request is summarised in parts, side by side, and merged. An earlier summary among the
/// messages is brought up to date instead of being summarised again.
///
/// An answer is used whatever its headings and its form. Only an empty one, a short one, one that was cut off, a refusal, a
/// call of a tool, and one in another language are no summaries: the model is asked once more, with the reason, and a second
/// such answer is an error. Rules hold the text against the session's log ([`SummaryCheck`](epitome_strategy::SummaryCheck)):
/// strings that the session does not hold are marked, and lines that state a file or a command otherwise than the newest
/// calls are corrected. The rules, never the model, add what the text lacks: what the user demanded, and changed
/// files. The result never exceeds the request's tokens by the task's counter.
///
/// Clones share the cache, the bound on requests that are under way at once, and what they learn of the service: the window
/// that a refusal names, and that it answers no request ([`ChatError::fails_all`](crate::chat::ChatError::fails_all)), in
/// which case nothing is asked for a while. One that is made for a session ([`Summarizer::for_session`]) does not ask a model
/// again that refused the session, or gave two answers that cannot be used, until the session's memory says otherwise. The
/// future errs where the model fails, and where its answers cannot be used; nothing is retried that the model itself has
/// retried.
#[derive(Debug, Clone)]
pub struct ModelSummarizer {
    model: Arc<dyn ChatModel>,
    settings: Arc<ModelSettings>,
    prompts: Arc<Prompts>,
    cache: Arc<Cache>,
    gate: Arc<Gate>,
    service: Arc<Service>,
    progress: Option<Progress>,
    /// Whether the model is the conversation's own, and the question is put at its end.
    in_conversation: bool,
    /// The session's memory of models that gave no summary, where this is for one session.
    backoff: Option<ModelBackoff>,
    /// The provider's own compaction, where it is asked instead of the model.
    compaction: Option<Arc<dyn Compaction>>,
    /// The summarizer's kind in reports.
    kind: &'static str,
}

impl ModelSummarizer {
    /// A summarizer that asks `model`. Errors with everything that is wrong with the folder of prompts.
    pub fn new(model: Arc<dyn ChatModel>, settings: ModelSettings) -> Result<Self, Vec<PromptError>> {
        Ok(Self {
            model,
            prompts: Arc::new(Prompts::load(settings.prompts.as_deref())?),
            cache: Arc::new(Cache::new(settings.cache_entries, settings.cache_folder.as_deref())),
            gate: Arc::new(Gate::new(settings.parallel)),
            service: Arc::new(Service::new(settings.rest_after_failure)),
            settings: Arc::new(settings),
            progress: None,
            in_conversation: false,
            backoff: None,
            compaction: None,
            kind: BY_MODEL,
        })
    }

    /// A summarizer for one session whose own model writes the hand-off: `model` puts the `user` text of what it is asked
    /// behind the session's own request, as a further message of the user, and leaves the `system` text out. It writes
    /// hand-offs only ([`SummaryRequest::is_handoff`](epitome_strategy::SummaryRequest::is_handoff)): other summaries tell of
    /// a part of the session, and the model sees all of it. Errors with everything that is wrong with the folder of prompts.
    pub fn in_conversation(model: Arc<dyn ChatModel>, settings: ModelSettings) -> Result<Self, Vec<PromptError>> {
        // An answer from one conversation says nothing about another.
        let settings = ModelSettings { cache_entries: 0, cache_folder: None, ..settings };
        Ok(Self { in_conversation: true, ..Self::new(model, settings)? })
    }

    /// A summarizer that has the messages compacted by their provider, and shares everything with this one: the cache,
    /// the bound on requests, what is learnt of the service. The provider gets the messages of a summary as a
    /// conversation, whole, with the system prompt and the tools of their session, and the requirements of a hand-off
    /// as its instructions; the result is checked and completed like any answer of a model. It errs where the provider
    /// offers no compaction, which is asked for once, and where the conversation is too long for it.
    #[must_use]
    pub fn by_compaction(&self, compaction: Arc<dyn Compaction>) -> Self {
        Self { compaction: Some(compaction), kind: BY_PROVIDER, ..self.clone() }
    }

    /// The same as [`in_conversation`](Self::in_conversation), where `model` does not put the question at the end of
    /// the session's request, but has its provider compact the request by these instructions.
    pub fn in_compaction(model: Arc<dyn ChatModel>, settings: ModelSettings) -> Result<Self, Vec<PromptError>> {
        Ok(Self { kind: BY_PROVIDER, ..Self::in_conversation(model, settings)? })
    }

    /// The same summarizer, which reports every step to `progress`. It is called in between requests and must not wait.
    #[must_use]
    pub fn with_progress(mut self, progress: Arc<dyn Fn(ModelProgress) + Send + Sync>) -> Self {
        self.progress = Some(Progress(progress));
        self
    }

    /// The model, or the compaction, that is asked; of a compaction without the conversation that it is asked to compact.
    fn service_identity(&self) -> String {
        let identity =
            self.compaction.as_ref().map_or_else(|| self.model.identity(), |compaction| compaction.identity());
        format!("{} {identity}", self.kind)
    }
}

#[async_trait]
impl Summarizer for ModelSummarizer {
    /// `llm`, or `provider` where a provider's own compaction is asked.
    fn kind(&self) -> &str {
        self.kind
    }

    async fn summarize(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        let Some(compaction) = &self.compaction else { return write::write(self, task).await };
        let model = Arc::new(CompactionConversation::new(compaction, task, self.settings.redact_secrets));
        write::write(&Self { model, in_conversation: true, ..self.clone() }, task).await
    }

    fn for_session(&self, backoff: &ModelBackoff) -> Option<Arc<dyn Summarizer>> {
        Some(Arc::new(Self { backoff: Some(backoff.clone()), ..self.clone() }))
    }
}
