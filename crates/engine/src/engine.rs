//! The engine: drafts a compaction, commits it, and reports it. How a chain runs is in `run.rs`.

use std::sync::Arc;
use std::time::Instant;

use epitome_session::{EntryKey, Epoch, EpochOrigin, Language, Session, units};
use epitome_strategy::{
    Archive, Cancellation, Embedder, Goal, Lexicon, Protection, SummarizeError, Summarizer, TaskDetector, TaskKind,
    TokenCounter, Tokens, Verdict,
};
use thiserror::Error;

use crate::block_on::panic_message;
use crate::context::Context;
use crate::draft::Draft;
use crate::guard::{self, Guard, Guards, Refusal};
use crate::language::language;
use crate::least::{floor_of, not_worthwhile, staying, stopped};
use crate::ledger::{Ledger, Sent};
use crate::protect::{is_pinned, protections};
use crate::quality::{Attempt, Judge, MinQuality, Quality, Whole};
use crate::receipts;
use crate::report::{Mode, Report, Status, Timings, microseconds, saved_ratio};
use crate::request::{Chain, Chains, Pins, Request, SummaryRole, WithoutSummary};
use crate::run::{Run, Runner, Written};
use crate::select::{Select, Selected, routed};
use crate::tournament::{one_or_retries, tournament};
use crate::working::Working;

/// The engine: services, chains and pins. It keeps no session; one engine serves many.
#[derive(Debug, Clone)]
pub struct Engine {
    /// Counts tokens; budgets are met by its figures.
    pub counter: Arc<dyn TokenCounter>,
    /// Tells what kind of task a session is.
    pub detector: Arc<dyn TaskDetector>,
    /// The cue words that detector and strategies go by.
    pub lexicon: Arc<Lexicon>,
    /// Turns texts into vectors; without one, strategies that need them decline.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Writes summaries; without one, requests for summaries are refused and the chain goes on.
    pub summarizer: Option<Arc<dyn Summarizer>>,
    /// What becomes of a compaction whose summary cannot be written.
    pub without_summary: WithoutSummary,
    /// Whose side summaries stand on.
    pub summary_role: SummaryRole,
    /// Whether the texts that the engine writes (headings, notices, marks) name the archive's handles. Reports name them in
    /// any case. To a model that has no tool to recall what left, a handle is noise.
    pub handles: bool,
    /// The chains by kind of task.
    pub chains: Chains,
    /// How a verdict becomes a choice of a chain.
    pub select: Select,
    /// What must stay verbatim.
    pub pins: Pins,
    /// The least that a compaction must keep, and what follows where it does not.
    pub quality: MinQuality,
    /// Which reasoning is sent to the model, and so counted.
    pub sent: Sent,
    /// For tests of the tests.
    #[doc(hidden)]
    pub guards: Guards,
}

/// Why the engine could not work at all. Everything else is a [`Report`].
#[derive(Debug, Error)]
pub enum EngineError {
    /// The archive did not take what the engine itself had to remove.
    #[error("nothing was changed: {0}")]
    Refused(String),
    /// There is no summary, and [`Engine::without_summary`] says that nothing is to be done without one.
    #[error("nothing was changed: there is no summary: {0}")]
    NoSummary(SummarizeError),
    /// The draft was made from another state of the session.
    #[error("the draft is stale: the session has changed since it was made; make a new one")]
    Stale,
    /// It was given up by [`Request::cancellation`].
    #[error("nothing was changed: the compaction was given up")]
    Cancelled,
    /// So much has arrived since the draft was made that its result would not fit.
    #[error("the draft leaves {tokens} tokens with what has arrived since, more than {limit}; make a new one")]
    Outgrown {
        /// Tokens that there would be.
        tokens: Tokens,
        /// Tokens that there may be.
        limit: Tokens,
    },
}

impl Engine {
    /// An engine that counts with `counter` and has no chain yet.
    pub fn new(counter: Arc<dyn TokenCounter>, detector: Arc<dyn TaskDetector>) -> Self {
        Self {
            counter,
            detector,
            lexicon: Lexicon::standard(),
            embedder: None,
            summarizer: None,
            without_summary: WithoutSummary::default(),
            summary_role: SummaryRole::default(),
            handles: false,
            chains: Chains::default(),
            select: Select::default(),
            pins: Pins::default(),
            quality: MinQuality::default(),
            sent: Sent::all(),
            guards: Guards::default(),
        }
    }

    /// Counts the view of a session. Linear in the view.
    pub fn ledger(&self, session: &Session) -> Ledger {
        Ledger::new(Arc::clone(&self.counter), self.sent.clone(), session)
    }

    /// The same for work that may be given up: [`EngineError::Cancelled`] then.
    pub fn ledger_unless(&self, cancellation: &Cancellation, session: &Session) -> Result<Ledger, EngineError> {
        Ledger::unless(cancellation, Arc::clone(&self.counter), self.sent.clone(), session)
            .ok_or(EngineError::Cancelled)
    }

    /// What protects each message of a session's view, in order. Linear in the view.
    pub fn protections(&self, session: &Session) -> Vec<Protection> {
        let entries = session.view();
        let marked: Vec<bool> = entries.iter().map(|entry| is_pinned(entry, &self.pins)).collect();
        let units = units(entries);
        let protections = protections(entries, &marked, &units, &self.pins, None);
        units.iter().zip(protections).flat_map(|(unit, it)| unit.entries.clone().map(move |_| it)).collect()
    }

    /// What kind of task a session is. Linear in the view.
    pub fn detect(&self, session: &Session, ledger: &Ledger) -> Verdict {
        let working = working(session, ledger, &self.pins);
        let never = Cancellation::never();
        let context = self.context(session, language(session.view()), &never);
        self.verdict(&working, &context)
    }

    /// The detector's verdict; one that panics knows nothing.
    fn verdict(&self, working: &Working, context: &Context<'_>) -> Verdict {
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

    /// Works out a compaction without changing the session. What it would remove is archived already, so that the
    /// summary and the marks can name it. Linear in the view for each strategy of the chain.
    ///
    /// Work that [`Request::cancellation`] gives up ends between two of its steps, or inside one that takes long.
    pub async fn draft(
        &self,
        session: &Session,
        ledger: &Ledger,
        archive: &mut dyn Archive,
        request: &Request,
    ) -> Result<Draft, EngineError> {
        let started = Instant::now();
        let language = language(session.view());
        let context = Context {
            memories: &request.memories,
            observer: request.observer.as_deref(),
            unsent_messages: request.unsent_messages,
            ..self.context(session, language, &request.cancellation)
        };
        let mut start = working(session, ledger, &self.pins);
        start.keep_recent(&self.pins, request.target);
        let detecting = Instant::now();
        let selected = self.selected(session, request, || self.verdict(&start, &context));
        let timings = Timings { detect_us: microseconds(detecting), ..Timings::default() };
        let kind = selected.kind;
        let mode = if request.chain.is_some() { Mode::Fixed } else { request.mode };
        let fits = guard::idempotence(start.total, request.target).filter(|_| self.guards.on(Guard::Idempotence));
        // Nobody is asked, and no model paid, where too little can come of it.
        let is_vain = is_vain(&start, &self.pins, request).then_some(Status::NoChange);
        if let Some(status) = fits.or(is_vain) {
            let run = Runner::new(start.clone(), &context, archive).into_run();
            let chain = request.chain.as_ref().unwrap_or_else(|| self.chain(session, kind));
            let draft = self.finish(session, &start, run, request, (status, mode, selected, chain.ids(), None));
            return Ok(draft.timed(started, timings));
        }
        let goal = self.goal(session, &start, request, kind, language);
        let whole = Whole::of(session, &start.entries);
        let judge = Judge::new(&start, &whole, &context, &self.pins, goal.limit, self.quality);
        let refused = |refusal: Refusal| match refusal {
            Refusal::Stopped(error) => EngineError::NoSummary(error),
            Refusal::Cancelled => EngineError::Cancelled,
            refusal => EngineError::Refused(refusal.to_string()),
        };
        let candidates = self.candidates(session, kind);
        let attempt = match (&request.chain, mode) {
            (None, Mode::Tournament) => tournament(&judge, candidates, &goal),
            (chosen, _) => {
                let chain = chosen.clone().unwrap_or_else(|| self.chain(session, kind).clone());
                one_or_retries(&judge, archive, chain, candidates, &goal).await
            }
        };
        let mut attempt = attempt.map_err(refused)?;
        // What was worked out after it was given up is not whole.
        context.go_on().map_err(refused)?;
        if judge.rolls_back(&attempt, request.trigger) {
            attempt.status = Status::RolledBack;
        } else if attempt.status.is_compaction() {
            attempt.archive_into(archive).map_err(|error| EngineError::Refused(error.to_string()))?;
        }
        let Attempt { chain, run, status, quality, judged_us, .. } = attempt;
        let draft = self.finish(session, &start, run, request, (status, mode, selected, chain.ids(), quality));
        Ok(draft.timed(started, Timings { quality_us: judged_us, ..timings }))
    }

    /// The kind of task to choose a chain by: the caller's, else what the selector makes of the verdict.
    fn selected(&self, session: &Session, request: &Request, detect: impl FnOnce() -> Verdict) -> Selected {
        let mut selected = match request.task {
            Some(kind) => {
                let verdict = Verdict { kind, confidence: 1.0, evidence: vec!["given by the caller".to_owned()] };
                self.select.choose(&[], verdict)
            }
            None => self.select.choose(session.journal(), routed(detect(), session.log())),
        };
        let cycle = session.cycle() + 1;
        if request.chain.is_none() && self.chains.at(selected.kind, cycle, &self.select).1 {
            let line = format!("compaction {cycle} of this session: the later chain of {}", selected.kind);
            selected.verdict.evidence.push(line);
        }
        selected
    }

    /// The chain of a kind of task for the next compaction of a session.
    fn chain(&self, session: &Session, kind: TaskKind) -> &Chain {
        self.chains.at(kind, session.cycle() + 1, &self.select).0
    }

    pub(crate) fn context<'a>(
        &'a self,
        session: &'a Session,
        language: Language,
        cancellation: &'a Cancellation,
    ) -> Context<'a> {
        Context {
            counter: &*self.counter,
            pins: &self.pins,
            language,
            summary_role: self.summary_role,
            handles: self.handles,
            lexicon: &self.lexicon,
            guards: self.guards,
            epoch: session.next_epoch(),
            session,
            cancellation,
            summarizer: self.summarizer.as_deref(),
            without_summary: self.without_summary,
            embedder: self.embedder.as_deref(),
            memories: &[],
            observer: None,
            unsent_messages: 0,
        }
    }

    /// The chains that differ, the one of `kind` first.
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

    fn goal(&self, session: &Session, start: &Working, request: &Request, task: TaskKind, language: Language) -> Goal {
        let newest = crate::focus::newest(&start.entries);
        let is_open = newest.as_ref().is_some_and(|newest| newest.is_open);
        let limit = request.limit.max(request.target);
        Goal {
            current: start.total,
            target: request.target,
            limit,
            window: request.window.unwrap_or(limit),
            task,
            cycle: session.cycle() + 1,
            focus: request.focus.clone().or_else(|| newest.map(|newest| newest.text)),
            focus_given: request.focus.is_some() || is_open,
            first_unsent_unit: None, // set for each plan: its position changes with the view
            language,
        }
    }

    /// Turns a run into a draft: the epoch, and the report with a receipt for every message.
    fn finish(
        &self,
        session: &Session,
        start: &Working,
        run: Run,
        request: &Request,
        (status, mode, selected, chain, quality): (Status, Mode, Selected, Vec<String>, Option<Quality>),
    ) -> Draft {
        let working = &run.working;
        let compacted = status.is_compaction();
        let layout = start.layout_as(&self.pins, working);
        let first_changed = working.first_change().filter(|_| compacted);
        let sent = start.entries.len().saturating_sub(request.unsent_messages as usize);
        let lost = first_changed
            .map_or(0, |first| start.tokens.get(first..sent).unwrap_or_default().iter().map(|entry| entry.total).sum());
        let summary = shown_summary(&run.summaries, working, session.next_epoch()).filter(|_| compacted);
        let stays = staying(start, &layout, request.target);
        let tokens_after = if compacted { working.total } else { start.total };
        let report = Report {
            status,
            budget: request.limit.max(request.target),
            tokens_before: start.total,
            tokens_after,
            saved_ratio: saved_ratio(start.total, tokens_after),
            floor: (status == Status::Infeasible).then(|| floor_of(working, &self.pins)),
            stays,
            stopped: match status {
                Status::NoChange if run.steps.is_empty() && is_vain(start, &self.pins, request) => {
                    Some(not_worthwhile(start, &self.pins, stays, request.worthwhile))
                }
                Status::Compacted | Status::Hollow => stopped(working, &self.pins, request.target),
                Status::NoChange => stopped(start, &self.pins, request.target),
                Status::Infeasible | Status::RolledBack => None,
            },
            messages_before: start.entries.len() as u32,
            messages_after: if compacted { working.entries.len() } else { start.entries.len() } as u32,
            task: selected.verdict,
            mode,
            chain,
            cycle: session.cycle() + u32::from(compacted),
            trigger: request.trigger,
            first_changed_message: first_changed.map(|first| first as u32),
            cache_loss_tokens: lost,
            edits: if compacted { receipts::edits(start, working, session.next_epoch()) } else { Vec::new() },
            messages: receipts::messages(start, &layout, if compacted { &working.edits } else { &[] }),
            steps: run.steps,
            quality,
            recent: working.recent(start, &self.pins),
            flushed_memories: 0,
            summary: summary.map(|written| written.text.clone()),
            summary_by: summary.and_then(|written| written.by_strategy.clone()),
            summarizer: run.summarizer,
            counter: self.counter.name().to_owned(),
            timings: Timings::default(),
        };
        let epoch = compacted.then(|| Epoch {
            id: session.next_epoch(),
            origin: EpochOrigin::Engine,
            trigger: request.trigger,
            log_length: session.log().len() as u32,
            tokens_before: Some(start.total),
            tokens_after: Some(working.total),
            edits: working.edits.clone(),
            synthetics: working.synthetics.clone(),
            choice: Some(selected.choice),
            summarizer: report.summarizer.record().map(Arc::new),
            undone: false,
        });
        let changed = |index: &usize| {
            let entry = &working.entries[*index];
            entry.is_edited() || matches!(entry.key, EntryKey::Synthetic { .. })
        };
        let counts = (0..working.entries.len())
            .filter(changed)
            .map(|index| (working.entries[index].key, working.tokens[index].clone()))
            .collect();
        Draft { report, epoch, counts, made_from: session.state_hash() }
    }
}

impl Draft {
    /// The same with what it took since `started`: what is neither in `timings` nor before it is planning.
    fn timed(mut self, started: Instant, timings: Timings) -> Self {
        let others = timings.detect_us + timings.quality_us;
        self.report.timings = Timings { plan_us: microseconds(started).saturating_sub(others), ..timings };
        self
    }
}

/// Whether less may leave than what is worth a compaction. What must stay and is over the limit by itself is another matter:
/// that has to be said in any case. Linear in the units.
fn is_vain(start: &Working, pins: &Pins, request: &Request) -> bool {
    if request.worthwhile == 0 {
        return false;
    }
    let stays = staying(start, &start.layout(pins), request.target);
    start.total.saturating_sub(stays) < request.worthwhile && stays <= request.limit.max(request.target)
}

/// The newest summary that was asked for and is still shown; where there is none, the newest that a strategy brought.
fn shown_summary<'r>(summaries: &'r [Written], working: &Working, epoch: u32) -> Option<&'r Written> {
    let is_shown = |index: u32| {
        let key = EntryKey::Synthetic { epoch, index };
        working.entries.iter().any(|entry| entry.key == key)
    };
    let mut shown = summaries.iter().rev().filter(|written| is_shown(written.number)).peekable();
    let newest = shown.peek().copied();
    shown.find(|written| written.by_strategy.is_none()).or(newest)
}

/// The view of a session with the counts of a ledger; what the ledger does not know is counted.
pub(crate) fn working(session: &Session, ledger: &Ledger, pins: &Pins) -> Working {
    let tokens = session
        .view()
        .iter()
        .map(|entry| match ledger.of(entry.key) {
            Some(tokens) => tokens.clone(),
            None => ledger.measure(&entry.message),
        })
        .collect();
    Working::new(session, tokens, pins)
}
