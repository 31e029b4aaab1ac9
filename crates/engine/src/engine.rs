//! The engine: drafts a compaction and commits it. `run.rs` runs a chain, `conclude.rs` makes its result.

use std::borrow::Cow;
use std::sync::Arc;

use epitome_session::{Language, Session, Trigger, units};
use epitome_strategy::cut::Focus;
use epitome_strategy::secrets::redact;
use epitome_strategy::{
    Archive, Cancellation, Clock, Embedder, Goal, Lexicon, Protection, SummarizeError, Summarizer, TaskDetector,
    TaskKind, TokenCounter, Tokens, Verdict,
};
use thiserror::Error;

use crate::block_on::panic_message;
use crate::by_hand::{ByHandError, select_by_hand};
use crate::calibration::calibrated;
use crate::conclude::{conclude, saves_too_little};
use crate::context::Context;
use crate::draft::Draft;
use crate::guard::{self, EditRefusal, Guard, Guards};
use crate::language::language;
use crate::ledger::{Ledger, ReasoningFilter};
use crate::loaded::Loaded;
use crate::protect::{is_pinned, protections};
use crate::quality::{Attempt, Judge, MinQuality, OriginalMessages};
use crate::report::{Mode, Report, Timings};
use crate::request::{Chain, Chains, Pins, Request, SummaryRole, WithoutSummary};
use crate::run::ChainRunner;
use crate::select::{SelectSettings, SelectedKind, route_verdict};
use crate::status::Status;
use crate::tournament::{one_or_retries, tournament};
use crate::working::WorkingView;

/// The engine: services, chains and pins. It holds no session; one engine serves many.
#[derive(Debug, Clone)]
pub struct Engine {
    /// Counts tokens, or chooses who does for a session, see [`counter_of`](Self::counter_of); budgets are met by its figures.
    pub counter: Arc<dyn TokenCounter>,
    /// Detects a session's kind of task.
    pub detector: Arc<dyn TaskDetector>,
    /// The cue words of the detector and the strategies.
    pub lexicon: Arc<Lexicon>,
    /// Turns texts into vectors; without one, strategies that need them decline.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Writes summaries; without one, requests for summaries are refused and the chain continues.
    pub summarizer: Option<Arc<dyn Summarizer>>,
    /// What follows where a summary cannot be written.
    pub without_summary: WithoutSummary,
    /// The role of summaries.
    pub summary_role: SummaryRole,
    /// Tokens that one summary may take at most; `None` leaves it to the strategies: see [`Goal::longest_summary`].
    pub max_summary_tokens: Option<Tokens>,
    /// Whether the texts that the engine writes (headings, notices, marks) name the archive's handles. Reports name
    /// them in any case. For a model without a tool to recall the archived text, a handle is noise.
    pub handles: bool,
    /// Whether the texts that the engine writes leave secrets out: see [`epitome_strategy::secrets`].
    pub redact_secrets: bool,
    /// The chains by kind of task.
    pub chains: Chains,
    /// How the chain is chosen from a verdict.
    pub select: SelectSettings,
    /// What must stay verbatim.
    pub pins: Pins,
    /// Whether the step `refill` gives back what the chain took out beyond the target. Comparisons of strategies leave it out.
    pub refill: bool,
    /// Whether the last text of a compaction tells the state of the work. Comparisons of strategies leave it out.
    pub tells_state: bool,
    /// The least that a compaction must keep, and what follows where it keeps less.
    pub quality: MinQuality,
    /// Which reasoning is sent to the model, and therefore counted.
    pub sent: ReasoningFilter,
    /// Times the phases of a compaction for its report; nothing else depends on it.
    pub clock: Clock,
    /// Which guards are on; tests switch single ones off.
    #[doc(hidden)]
    pub guards: Guards,
}

/// Why the engine could not work at all. Every other outcome is a [`Report`].
#[derive(Debug, Error)]
pub enum EngineError {
    /// The archive refused an item that the engine itself had to remove.
    #[error("nothing was changed: {0}")]
    Refused(String),
    /// The summary could not be written, and [`Engine::without_summary`] forbids a compaction without it.
    #[error("nothing was changed: there is no summary: {0}")]
    NoSummary(SummarizeError),
    /// The draft was made from another state of the session.
    #[error("the draft is stale: the session has changed since it was made; make a new one")]
    Stale,
    /// [`Request::keep`] or [`Request::drop`] cannot be followed.
    #[error("nothing was changed: {0}")]
    ByHand(#[from] ByHandError),
    /// [`Request::cancellation`] was requested.
    #[error("nothing was changed: the compaction was cancelled")]
    Cancelled,
    /// The result would not fit any more, because of the messages that arrived since the draft was made.
    #[error("the draft leaves {tokens} tokens with what has arrived since, more than {limit}; make a new one")]
    Outgrown {
        /// Tokens of the result.
        tokens: Tokens,
        /// The most tokens that the result may have.
        limit: Tokens,
    },
}

impl Engine {
    /// Returns an engine that counts with `counter` and has no chain yet.
    pub fn new(counter: Arc<dyn TokenCounter>, detector: Arc<dyn TaskDetector>) -> Self {
        Self {
            counter,
            detector,
            lexicon: Lexicon::standard(),
            embedder: None,
            summarizer: None,
            without_summary: WithoutSummary::default(),
            summary_role: SummaryRole::default(),
            max_summary_tokens: None,
            handles: false,
            redact_secrets: true,
            chains: Chains::default(),
            select: SelectSettings::default(),
            pins: Pins::default(),
            refill: false,
            tells_state: false,
            quality: MinQuality::default(),
            sent: ReasoningFilter::all(),
            clock: Clock::default(),
            guards: Guards::default(),
        }
    }

    /// Returns the counter for a session: [`counter`](Self::counter), which may choose by the session's model, corrected by
    /// what the provider counted for its newest requests. Counts what at most 128 requests grew by.
    pub fn counter_of(&self, session: &Session) -> Arc<dyn TokenCounter> {
        match self.counter.of_model(session.model.as_deref()) {
            Some(base) => calibrated(base, session),
            None => Arc::clone(&self.counter),
        }
    }

    /// Counts the view of a session and returns the ledger. Linear in the view.
    pub fn ledger(&self, session: &Session) -> Ledger {
        Ledger::new(self.counter_of(session), self.sent.clone(), session)
    }

    /// Returns a ledger that counts as the session's does and holds nothing.
    pub fn empty_ledger(&self, session: &Session) -> Ledger {
        Ledger::new(self.counter_of(session), self.sent.clone(), &Session::new())
    }

    /// Counts as [`ledger`](Self::ledger) does; [`EngineError::Cancelled`] where the work is given up.
    pub fn ledger_unless(&self, cancellation: &Cancellation, session: &Session) -> Result<Ledger, EngineError> {
        Ledger::count_unless_cancelled(cancellation, self.counter_of(session), self.sent.clone(), session)
            .ok_or(EngineError::Cancelled)
    }

    /// Returns a text that is made of a session as it may be written: without secrets, unless these are to stay. Linear.
    pub fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.redact_secrets { redact(text) } else { Cow::Borrowed(text) }
    }

    /// Returns the protection of each message of a session's view, in order. Linear in the view.
    pub fn protections(&self, session: &Session) -> Vec<Protection> {
        let entries = session.view();
        let marked: Vec<bool> = entries.iter().map(|entry| is_pinned(entry, &self.pins)).collect();
        let units = units(entries);
        let protections = protections(entries, &marked, &Loaded::read(entries), &units, &self.pins, None);
        units.iter().zip(protections).flat_map(|(unit, it)| unit.entries.clone().map(move |_| it)).collect()
    }

    /// Returns the kind of task of a session. Linear in the view.
    pub fn detect(&self, session: &Session, ledger: &Ledger) -> Verdict {
        let working = working(session, ledger, &self.pins);
        let never = Cancellation::never();
        let context = self.context(session, ledger, language(session.view()), &never);
        self.verdict(&working, &context)
    }

    /// Returns the detector's verdict; `unknown` where the detector panics.
    fn verdict(&self, working: &WorkingView, context: &Context<'_>) -> Verdict {
        let layout = working.layout(&self.pins);
        let view = working.view(&layout, context);
        let detected = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.detector.detect(&view)));
        detected.unwrap_or_else(|panic| {
            let evidence = vec![format!("the detector panicked: {}", panic_message(&*panic))];
            Verdict { kind: TaskKind::Unknown, confidence: 0.0, evidence }
        })
    }

    /// Compacts a session: [`draft`](Self::draft) and [`commit`](Self::commit).
    pub async fn compact(
        &self,
        session: &mut Session,
        ledger: &mut Ledger,
        archive: &mut dyn Archive,
        request: &Request,
    ) -> Result<Report, EngineError> {
        let draft = self.draft(session, ledger, archive, request).await?;
        self.commit(session, ledger, draft)
    }

    /// Makes the compaction that was drafted. Refused when the session has changed since. Linear in the view.
    pub fn commit(&self, session: &mut Session, ledger: &mut Ledger, draft: Draft) -> Result<Report, EngineError> {
        if draft.made_from != session.state_hash() {
            return Err(EngineError::Stale);
        }
        if let Some(epoch) = draft.epoch {
            session.commit(epoch);
            ledger.adopt(draft.counts, draft.report.tokens_after);
        }
        Ok(draft.report)
    }

    /// Works out a compaction without changing the session. The items that it would remove are archived already, so
    /// that the summary and the marks can name them. Linear in the view for each strategy of the chain.
    ///
    /// A requested [`Request::cancellation`] ends the work between two steps, or inside a long one.
    pub async fn draft(
        &self,
        session: &Session,
        ledger: &Ledger,
        archive: &mut dyn Archive,
        request: &Request,
    ) -> Result<Draft, EngineError> {
        let started = self.clock.now();
        let language = language(session.view());
        let newest = crate::focus::newest(session.view());
        let focus = Focus::new(request.focus.as_deref().or(newest.as_ref().map(|newest| newest.text.as_str())));
        let context = Context {
            focus: Some(&focus),
            memories: &request.memories,
            observer: request.observer.as_deref(),
            unsent_messages: request.unsent_messages,
            ..self.context(session, ledger, language, &request.cancellation)
        };
        let mut start = working(session, ledger, &self.pins);
        start.host = request.host;
        start.keep_recent(&self.pins, request.target);
        let chosen = select_by_hand(&mut start, &context, request)?;
        let context = Context { drops: &chosen.drops, ..context };
        let detecting = self.clock.now();
        let selected = self.select_kind(session, request, || self.verdict(&start, &context));
        let timings = Timings { detect_us: self.clock.microseconds_since(detecting), ..Timings::default() };
        let mode = if request.chain.is_some() { Mode::Fixed } else { request.mode };
        let is_over_limit = session.exceeded_limit().is_some();
        let fits = guard::idempotence(start.total, within(request.target, context.counter))
            .filter(|_| self.guards.on(Guard::Idempotence) && !is_over_limit);
        // No strategy is asked and no model paid where too little can be gained.
        let saves_too_little =
            (!is_over_limit && saves_too_little(&start, &self.pins, request)).then_some(Status::NoChange);
        let limit = request.limit.max(request.target);
        let attempt = match fits.or(saves_too_little) {
            Some(_) if !chosen.drops.is_empty() && start.total <= limit => {
                self.drop_alone(&context, &start, archive, request, selected.kind)?
            }
            Some(status) if chosen.drops.is_empty() => {
                let chain = request.chain.as_ref().unwrap_or_else(|| self.chain(session, selected.kind));
                Attempt::without_trial(chain, ChainRunner::new(start.clone(), &context, archive).into_run(), status)
            }
            _ => self.attempt(&context, &start, archive, request, selected.kind).await?,
        };
        let timings = Timings { quality_us: attempt.judged_us, ..timings };
        let draft = conclude(&context, &start, request, mode, selected, attempt, &chosen);
        Ok(draft.with_timings(self.clock.microseconds_since(started), timings))
    }

    /// Makes what a person drops of a session that is to stay as it is otherwise.
    fn drop_alone(
        &self,
        context: &Context<'_>,
        start: &WorkingView,
        archive: &mut dyn Archive,
        request: &Request,
        kind: TaskKind,
    ) -> Result<Attempt, EngineError> {
        let goal = goal(context, start, request, kind);
        let chain = request.chain.as_ref().unwrap_or_else(|| self.chain(context.session, kind));
        let whole = OriginalMessages::new(context.session, start.entries());
        let run = ChainRunner::new(start.clone(), context, archive).run_by_hand(&goal).map_err(refused)?;
        Ok(Judge::new(start, &whole, context, goal.limit, self.quality).attempt(chain, run, None))
    }

    /// Runs the chain for a kind of task, or the request's own, and others where the quality requires it; returns the
    /// chosen attempt.
    async fn attempt(
        &self,
        context: &Context<'_>,
        start: &WorkingView,
        archive: &mut dyn Archive,
        request: &Request,
        kind: TaskKind,
    ) -> Result<Attempt, EngineError> {
        let session = context.session;
        let goal = goal(context, start, request, kind);
        let whole = OriginalMessages::new(session, start.entries());
        let judge = Judge::new(start, &whole, context, goal.limit, self.quality);
        let candidates = self.candidates(session, kind);
        let attempt = match (&request.chain, request.mode) {
            (None, Mode::Tournament) => tournament(&judge, candidates, &goal),
            (chosen, _) => {
                let chain = chosen.clone().unwrap_or_else(|| self.chain(session, kind).clone());
                one_or_retries(&judge, archive, chain, candidates, &goal).await
            }
        };
        let mut attempt = attempt.map_err(refused)?;
        // The results of interrupted work are incomplete.
        context.check_cancelled().map_err(refused)?;
        // What the floor alone takes out is no answer to who asked for these strategies.
        let is_named = request.chain.is_some() && request.trigger == Trigger::Manual;
        let declined = attempt.run.declined.take().filter(|_| is_named && attempt.status.is_compaction());
        if declined.is_some() || judge.rolls_back(&attempt, request.trigger) {
            (attempt.status, attempt.run.declined) = (Status::RolledBack, declined);
        } else if attempt.status.is_compaction() {
            attempt.archive_into(archive).map_err(|error| EngineError::Refused(error.to_string()))?;
        }
        Ok(attempt)
    }

    /// Returns the kind of task that decides the chain: the caller's, else the selector's choice for the verdict.
    fn select_kind(&self, session: &Session, request: &Request, detect: impl FnOnce() -> Verdict) -> SelectedKind {
        let mut selected = match request.task {
            Some(kind) => {
                let verdict = Verdict { kind, confidence: 1.0, evidence: vec!["given by the caller".to_owned()] };
                self.select.choose(&[], verdict)
            }
            None => self.select.choose(session.journal(), route_verdict(detect(), session.log())),
        };
        let cycle = session.cycle() + 1;
        if request.chain.is_none() && self.chains.at(selected.kind, cycle, &self.select).1 {
            let line = format!("compaction {cycle} of this session: the later chain of {}", selected.kind);
            selected.verdict.evidence.push(line);
        }
        selected
    }

    /// Returns the chain of a kind of task for the next compaction of a session.
    fn chain(&self, session: &Session, kind: TaskKind) -> &Chain {
        self.chains.at(kind, session.cycle() + 1, &self.select).0
    }

    pub(crate) fn context<'a>(
        &'a self,
        session: &'a Session,
        ledger: &'a Ledger,
        language: Language,
        cancellation: &'a Cancellation,
    ) -> Context<'a> {
        Context {
            counter: &**ledger.counter(),
            pins: &self.pins,
            language,
            summary_role: self.summary_role,
            max_summary_tokens: self.max_summary_tokens,
            handles: self.handles,
            redacts: self.redact_secrets,
            lexicon: &self.lexicon,
            guards: self.guards,
            refill: self.refill,
            tells_state: self.tells_state,
            focus: None,
            epoch: session.next_epoch(),
            session,
            cancellation,
            summarizer: self.summarizer.as_deref(),
            without_summary: self.without_summary,
            embedder: self.embedder.as_deref(),
            memories: &[],
            drops: &[],
            observer: None,
            unsent_messages: 0,
            clock: &self.clock,
        }
    }

    /// Returns the distinct chains, the one of `kind` first.
    fn candidates(&self, session: &Session, kind: TaskKind) -> Vec<Chain> {
        let mut chains: Vec<Chain> = vec![self.chain(session, kind).clone()];
        for other in TaskKind::ALL {
            let chain = self.chain(session, other);
            if chains.iter().all(|known| known.ids() != chain.ids()) {
                chains.push(chain.clone());
            }
        }
        chains
    }
}

fn refused(refusal: EditRefusal) -> EngineError {
    match refusal {
        EditRefusal::Stopped(error) => EngineError::NoSummary(error),
        EditRefusal::Cancelled => EngineError::Cancelled,
        refusal => EngineError::Refused(refusal.to_string()),
    }
}

/// Returns the view of a session with the counts of a ledger; entries that the ledger lacks are counted.
pub(crate) fn working(session: &Session, ledger: &Ledger, pins: &Pins) -> WorkingView {
    let tokens = session
        .view()
        .iter()
        .map(|entry| match ledger.entry(entry.key) {
            Some(tokens) => tokens.clone(),
            None => ledger.measure(&entry.message),
        })
        .collect();
    WorkingView::new(session, tokens, pins)
}

/// Returns the figure that `counter` may give for `most` tokens of the provider's, see [`TokenCounter::margin`].
fn within(most: Tokens, counter: &dyn TokenCounter) -> Tokens {
    (f64::from(most) / (1.0 + counter.margin().max(0.0))) as Tokens
}

/// Returns the goal that the strategies of a chain are asked to reach.
fn goal(context: &Context<'_>, start: &WorkingView, request: &Request, task: TaskKind) -> Goal {
    let newest = crate::focus::newest(start.entries());
    let is_open = newest.as_ref().is_some_and(|newest| newest.is_open);
    let limit = request.limit.max(request.target);
    Goal {
        current: start.total,
        target: within(request.target, context.counter),
        limit,
        window: request.window.unwrap_or(limit),
        max_summary_tokens: context.max_summary_tokens,
        task,
        cycle: context.session.cycle() + 1,
        focus: request.focus.clone().or_else(|| newest.map(|newest| newest.text)),
        focus_given: request.focus.is_some() || is_open,
        first_unsent_unit: None, // set for each plan: its position changes with the view
        language: context.language,
        host: request.host,
    }
}
