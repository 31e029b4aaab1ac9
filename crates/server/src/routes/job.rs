//! Shared by the compactions of a request: the request as it came, and its options.

use std::sync::Arc;

use epitome::engine::{Budget, Chain, Draft, EngineError, Ledger, Mode, block_on};
use epitome::formats::{LoadedFile, write, write_rows};
use epitome::live::{compaction_span, record_compaction};
use epitome::session::Trigger;
use epitome::strategy::{Cancellation, HostChanges, TaskKind, UnknownName};
use epitome::{Engine, MemoryArchive, Registry, Report, Request, Runtime, Session};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::http::{ApiError, Problem, provider_format, read_request};
use crate::state::{Core, suited};
use crate::worker_pool::WorkFailure;

/// A request as a provider would get it, and its budget.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Subject {
    /// The request in a provider's format, or the bare list of its messages. It comes back in the same format, with every
    /// byte that nothing changed.
    #[schema(value_type = Object)]
    pub(crate) request: Box<RawValue>,
    /// `openai-chat`, `openai-responses`, `anthropic` or `gemini`; recognised from the request without it.
    pub(crate) format: Option<String>,
    /// Tokens that the messages may take.
    pub(crate) budget: Option<u32>,
    /// The model's window, in place of the configuration's.
    pub(crate) window: Option<u32>,
    /// The model: its window and reserve, in place of the configuration's. The request's own model where there is neither
    /// this, nor a window, nor a budget, and the configuration leaves it open.
    pub(crate) model: Option<String>,
    /// Tokens to get down to, where that is less than `budget` or than the configuration's target.
    pub(crate) target: Option<u32>,
    /// The subject to keep in focus; the newest user message without it.
    pub(crate) focus: Option<String>,
    /// `code`, `analysis`, `conversation`, `mixed` or `unknown`, where the caller knows better than the detector.
    pub(crate) task: Option<String>,
    /// Strategies in the order in which they are asked, or the name of one of the configuration's chains.
    pub(crate) chain: Option<Vec<String>>,
    /// `fixed`, `adaptive` or `tournament`.
    pub(crate) mode: Option<String>,
    /// Settings for this call alone, over the configuration's: keys with their section (`budget.target`), or names such as
    /// `keep_recent_messages`.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub(crate) settings: Map<String, Value>,
    /// For `/v1/compact` only: the `draft` of a preview of this request. Exactly that compaction is made; what else is asked
    /// for does not count.
    #[schema(value_type = Option<Object>)]
    pub(crate) draft: Option<Draft>,
    /// With `draft`: texts in place of summaries of the draft, by their number.
    #[serde(default)]
    pub(crate) summaries: Vec<EditedSummary>,
}

/// A text in place of a summary.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditedSummary {
    /// The summary's number in the preview.
    pub(crate) number: u32,
    /// The text; smaller than what the summary replaces.
    pub(crate) text: String,
}

impl Subject {
    /// Refuses a draft where none can be made.
    pub(crate) fn without_draft(self) -> Result<Self, ApiError> {
        if self.draft.is_none() && self.summaries.is_empty() {
            return Ok(self);
        }
        Err(Problem::BadRequest.with("`draft` and `summaries` are for /v1/compact").with_help("leave them out here"))
    }
}

/// A request that was read, with what works on it.
pub(crate) struct Job {
    /// The service's runtime, or the one that the settings of the call make.
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) loaded: LoadedFile,
    pub(crate) engine: Engine,
    pub(crate) ledger: Ledger,
    pub(crate) budget: Budget,
    /// The model that the messages are for, where one is named.
    pub(crate) model: Option<String>,
    pub(crate) request: Request,
}

/// The field of a provider's request that says how much room there is.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RequestFields {
    #[serde(default)]
    pub(crate) model: Option<String>,
}

impl Job {
    /// Reads the request. Linear in it.
    pub(crate) fn new(core: &Core, subject: &Subject, cancellation: &Cancellation) -> Result<Self, ApiError> {
        let format = subject.format.as_deref().map(provider_format).transpose()?;
        let mut loaded = read_request(subject.request.get().as_bytes().to_vec(), format, core.settings.limits.parts)?;
        let runtime = call_runtime(&core.runtime, &core.registry, &subject.settings)?;
        let engine = match &runtime {
            Some(runtime) => suited(epitome::engine_of(runtime), loaded.format),
            None => suited(core.engine.clone(), loaded.format),
        };
        let runtime = runtime.map_or_else(|| Arc::clone(&core.runtime), Arc::new);
        if let Some(model) = &subject.model {
            loaded.sessions[0].session.model = Some(Arc::from(model.as_str()));
        }
        let session = &loaded.sessions[0].session;
        let ledger = engine.ledger_unless(cancellation, session).map_err(not_compacted)?;
        let wishes: RequestFields = serde_json::from_str(subject.request.get()).unwrap_or_default();
        let tools = session.tools.as_deref().map_or(0, |tools| ledger.counter().count(tools));
        let budget = Budget { tool_definitions: tools, ..budget_of(core, &runtime, subject, wishes.model.as_deref())? };
        let mut request = request_of(core, &runtime, subject, &budget)?;
        request.cancellation = cancellation.clone();
        let model = subject.model.clone().or(wishes.model).or_else(|| runtime.model.clone());
        Ok(Self { runtime, loaded, engine, ledger, budget, model, request })
    }

    pub(crate) fn session(&self) -> &Session {
        &self.loaded.sessions[0].session
    }

    /// Works the compaction out.
    pub(crate) fn draft(&self, archive: &mut MemoryArchive) -> Result<Draft, ApiError> {
        let span = compaction_span(self.request.trigger, self.ledger.total());
        let draft = self.engine.draft(self.session(), &self.ledger, archive, &self.request);
        let draft = span.in_scope(|| block_on(draft)).map_err(not_compacted)?;
        record_compaction(&span, &draft.report);
        Ok(draft)
    }

    /// Makes the compaction: the request as it is now, as JSON.
    ///
    /// # Errors
    ///
    /// [`MakeError::Row`] where the rows of a host that keeps them would have to change otherwise than by a shorter text.
    pub(crate) fn make(&self, draft: Draft) -> Result<Box<RawValue>, MakeError> {
        let mut session = self.session().clone();
        let mut ledger = self.ledger.clone();
        self.engine.commit(&mut session, &mut ledger, draft).map_err(|error| {
            let help = "the draft belongs to the request that it was made from: preview this one and send its draft";
            Problem::StaleDraft.with(error.to_string()).with_help(help)
        })?;
        if self.request.host == HostChanges::Any {
            return Ok(request_json(&self.loaded, &session)?);
        }
        let rows = write_rows(&self.loaded, 0, &session).map_err(|error| MakeError::Row(error.to_string()))?;
        Ok(raw_of(rows)?)
    }
}

/// Why a compaction that was worked out is not made.
pub(crate) enum MakeError {
    /// The rows cannot take it, and why.
    Row(String),
    /// Everything else.
    Api(ApiError),
}

impl From<ApiError> for MakeError {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl From<MakeError> for ApiError {
    fn from(error: MakeError) -> Self {
        match error {
            MakeError::Row(problem) => Problem::NotCompacted.with(problem),
            MakeError::Api(error) => error,
        }
    }
}

/// The request with a session in place of its own, as JSON.
pub(crate) fn request_json(loaded: &LoadedFile, session: &Session) -> Result<Box<RawValue>, ApiError> {
    let bytes = write(loaded, 0, session, loaded.format).map_err(|error| {
        tracing::error!(%error, "a compacted request could not be written");
        ApiError::from(Problem::Internal)
    })?;
    raw_of(bytes)
}

fn raw_of(bytes: Vec<u8>) -> Result<Box<RawValue>, ApiError> {
    let text = String::from_utf8(bytes).map_err(|_| Problem::Internal)?;
    RawValue::from_string(text.trim().to_owned()).map_err(|error| {
        tracing::error!(%error, "a compacted request is not JSON");
        ApiError::from(Problem::Internal)
    })
}

/// The error for a compaction that failed.
fn not_compacted(error: EngineError) -> ApiError {
    if matches!(error, EngineError::Cancelled) {
        // The caller does not receive this: it is gone, or had a time-out before.
        return WorkFailure::TimedOut.into();
    }
    Problem::NotCompacted.with(error.to_string())
}

/// The budget that a caller gives, or the configuration's.
fn budget_of(core: &Core, runtime: &Runtime, subject: &Subject, own_model: Option<&str>) -> Result<Budget, ApiError> {
    let positive = |name: &str, value: Option<u32>| match value {
        Some(0) => Err(Problem::BadBudget.with(format!("`{name}` is 0"))),
        other => Ok(other),
    };
    positive("budget", subject.budget)?;
    positive("target", subject.target)?;
    let mut budget = match &subject.model {
        Some(model) => runtime.budget_for(model).map_err(|error| Problem::UnknownModel.with(error.to_string()))?,
        None => core.budget_of(runtime, own_model),
    };
    if let Some(window) = positive("window", subject.window)? {
        budget.window = window;
        budget.reserve_output = budget.reserve_output.min(window / 2);
    }
    Ok(budget)
}

fn request_of(core: &Core, runtime: &Runtime, subject: &Subject, budget: &Budget) -> Result<Request, ApiError> {
    let usable = budget.usable();
    let limit = subject.budget.unwrap_or_else(|| budget.hard.tokens(usable).min(usable));
    let target = subject.budget.unwrap_or_else(|| budget.target.tokens(usable).min(limit));
    let mut request = Request::to_budget(limit);
    request.target = subject.target.unwrap_or(target).min(limit);
    request.trigger = Trigger::Manual;
    request.window = subject.budget.is_none().then_some(budget.window);
    request.focus.clone_from(&subject.focus);
    request.mode = runtime.mode;
    request.chain.clone_from(&runtime.fixed);
    if let Some(name) = &subject.task {
        request.task = Some(task_named(name)?);
        (request.mode, request.chain) = (Mode::Adaptive, None);
    }
    if let Some(name) = &subject.mode {
        request.mode =
            name.parse().map_err(|error: UnknownName| Problem::UnknownMode.with(format!("`mode`: {error}")))?;
        if request.mode != Mode::Fixed {
            request.chain = None;
        }
    }
    if let Some(names) = &subject.chain {
        request.chain = Some(chain_of(runtime, &core.registry, names)?);
        request.mode = Mode::Fixed;
    }
    if request.mode == Mode::Fixed && request.chain.is_none() {
        return Err(Problem::NoChain.into());
    }
    Ok(request)
}

/// The runtime that the settings of one call make of another; `None` where there are none.
pub(crate) fn call_runtime(
    runtime: &Runtime,
    registry: &Registry,
    settings: &Map<String, Value>,
) -> Result<Option<Runtime>, ApiError> {
    if settings.is_empty() {
        return Ok(None);
    }
    let made = runtime.for_call(settings, registry);
    made.map(Some).map_err(|errors| {
        Problem::BadSettings
            .with(errors.to_string())
            .with_help("`settings` has keys of the configuration that say how to compact")
    })
}

/// The kind of task that a caller names.
pub(crate) fn task_named(name: &str) -> Result<TaskKind, ApiError> {
    name.parse().map_err(|error: UnknownName| Problem::UnknownTask.with(format!("`task`: {error}")))
}

/// The chain for the given names: strategies, or one of the configuration's chains.
pub(crate) fn chain_of(runtime: &Runtime, registry: &Registry, names: &[String]) -> Result<Chain, ApiError> {
    let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
    runtime.chain(&names, registry).map_err(|problem| Problem::UnknownChain.with(problem))
}

/// Tells the metrics, and keeps what left for the tenant to retrieve.
pub(crate) fn account(core: &Core, tenant: &Arc<str>, report: &Report, archive: &MemoryArchive) {
    core.metrics.compaction(report.status.as_str(), report.tokens_before.saturating_sub(report.tokens_after));
    if report.status.is_compaction() {
        core.archives.keep(tenant, archive.items().map(|(handle, item)| (Arc::clone(handle), item.clone())));
    }
}
