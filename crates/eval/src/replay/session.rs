//! One session under one policy, turn by turn.

use std::time::Instant;

use epitome::engine::{Ledger, Status, Watch, block_on};
use epitome::session::{Entry, EntryKey, Epoch, Message, Origin, Role, Session, SummaryUsage, Trigger};
use epitome::{Budget, MemoryArchive, Request};
use serde::{Deserialize, Serialize};

use super::observer::ReplayObserver;
use super::own::AgentCompaction;
use super::policy::{EngineSetup, Policy, PolicyKind};
use super::prompt::Prompt;
use super::recording::{Recording, is_empty, is_said};
use crate::EvalError;
use crate::cases::cut::tokens_of;
use epitome::config::{Price, Prices, TokenUsage};

/// One call of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its tokens.
    #[serde(flatten)]
    pub spent: TokenUsage,
    /// Its price in dollars.
    pub money: f64,
    /// Whether the request is larger than the window less the answer's reserve: no provider would have accepted it.
    pub impossible: bool,
}

/// One compaction, or an attempt without a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplayEpoch {
    /// The number of the turn before which it was made, from 0.
    pub turn: u32,
    /// Its trigger.
    pub trigger: Trigger,
    /// How it ended.
    pub status: Status,
    /// The chain.
    pub chain: Vec<String>,
    /// Tokens of the messages before.
    pub tokens_before: u64,
    /// Tokens of the messages after.
    pub tokens_after: u64,
    /// Tokens already sent that are no longer at the beginning of the prompt.
    pub cache_loss_tokens: u64,
    /// The tokens that a model read and wrote for its summary.
    pub summary: TokenUsage,
    /// The price of these, in dollars.
    pub summary_money: f64,
    /// How long it took, in microseconds; 0 for one of the recording.
    pub micros: u64,
}

impl ReplayEpoch {
    /// Returns the tokens after as a share of those before.
    pub fn kept_share(&self) -> f64 {
        self.tokens_after as f64 / self.tokens_before.max(1) as f64
    }
}

/// The model, which all policies share.
#[derive(Debug, Clone)]
pub struct Model {
    /// Its name in the price table.
    pub name: String,
    /// Its prices.
    pub price: Price,
    /// Those of other models, which may write summaries.
    pub prices: Prices,
    /// Its window and the answer's reserve, which make requests impossible.
    pub budget: Budget,
}

impl Model {
    /// Returns the tokens of summaries, and their price: that of the models that wrote them, where the table has it, else that
    /// of this one.
    fn summaries(&self, usage: &SummaryUsage) -> (TokenUsage, f64) {
        let (mut tokens, mut money) = (TokenUsage::default(), 0.0);
        for usage in usage.models() {
            let of_model = TokenUsage::from(usage);
            tokens.add(&of_model);
            money += of_model.money(self.prices.of_request(&usage.model).unwrap_or(&self.price));
        }
        (tokens, money)
    }
}

/// The result of a session under a policy.
#[derive(Debug, Default)]
pub(crate) struct ReplayOutcome {
    pub(crate) turns: Vec<Turn>,
    pub(crate) epochs: Vec<ReplayEpoch>,
    pub(crate) micros: u64,
}

/// The state of a replay between two messages.
struct Replay<'a, 'o> {
    recording: &'a Recording<'a>,
    model: &'a Model,
    session: Session,
    /// Tokens of each message of the log.
    tokens: Vec<u64>,
    prompt: Prompt,
    observer: Option<&'o mut (dyn ReplayObserver + 'o)>,
    outcome: ReplayOutcome,
    last_request: Option<i64>,
    own: Option<&'a AgentCompaction>,
    by_engine: Option<EngineReplay<'a>>,
}

/// The state of a policy with this engine.
struct EngineReplay<'a> {
    runs: &'a EngineSetup,
    budget: Budget,
    ledger: Ledger,
    archive: MemoryArchive,
    watch: Watch,
}

/// Replays a recording under a policy. The cost of a turn is proportional to its new messages; that of a compaction to the
/// view.
pub(crate) fn replay<'o>(
    recording: &Recording<'_>,
    policy: &Policy,
    model: &Model,
    observer: Option<&'o mut (dyn ReplayObserver + 'o)>,
) -> Result<ReplayOutcome, EvalError> {
    let started = Instant::now();
    let mut session = Session::new();
    session.id.clone_from(&recording.session.id);
    session.tools.clone_from(&recording.session.tools);
    let by_engine = match &policy.how {
        PolicyKind::Engine(runs) => Some(EngineReplay {
            runs,
            budget: Budget { tool_definitions: recording.tools as u32, ..runs.budget.clone() },
            ledger: runs.engine.ledger(&session),
            archive: MemoryArchive::new(),
            watch: Watch::new(runs.triggers.clone()),
        }),
        PolicyKind::Never | PolicyKind::Recorded | PolicyKind::Own(_) => None,
    };
    let own = match &policy.how {
        PolicyKind::Own(own) => Some(own),
        PolicyKind::Never | PolicyKind::Recorded | PolicyKind::Engine(_) => None,
    };
    let mut replay = Replay {
        recording,
        model,
        session,
        tokens: Vec::new(),
        prompt: Prompt::default(),
        observer,
        outcome: ReplayOutcome::default(),
        last_request: None,
        own,
        by_engine,
    };
    let as_recorded = matches!(policy.how, PolicyKind::Recorded);
    let mut epochs = recording.session.journal().iter().filter(|epoch| as_recorded && !epoch.undone).peekable();
    let mut answering = false;
    for (number, message) in recording.messages.iter().enumerate() {
        while let Some(epoch) = epochs.next_if(|epoch| epoch.log_length as usize <= number) {
            replay.apply_written(epoch.clone(), "recorded", true);
        }
        if !as_recorded && !is_said(message) {
            continue;
        }
        let is_answer = message.role == Role::Assistant && !is_empty(message) && is_said(message);
        if is_answer && !answering && replay.prompt.len() > 0 {
            replay.compact_if_due()?;
            replay.call_again(message)?;
            replay.request(message.timestamp);
        }
        answering = is_answer || (answering && is_empty(message));
        replay.push(number, message, is_answer);
    }
    let mut outcome = replay.outcome;
    outcome.micros = started.elapsed().as_micros() as u64;
    Ok(outcome)
}

impl Replay<'_, '_> {
    fn push(&mut self, number: usize, message: &Message, is_answer: bool) {
        let tokens = self.recording.tokens[number];
        let key = self.append(message, tokens);
        if let Some(observer) = &mut self.observer {
            observer.added(number, key, message);
        }
        if is_answer {
            self.add_output(tokens);
        }
    }

    fn add_output(&mut self, tokens: u64) {
        if let Some(turn) = self.outcome.turns.last_mut() {
            turn.spent.output += tokens;
            turn.money = turn.spent.money(&self.model.price);
        }
    }

    /// Makes the calls that the observer asks for before a message of the recording: each is a turn of its own, and
    /// may make a compaction due.
    fn call_again(&mut self, message: &Message) -> Result<(), EvalError> {
        while let Some(made) = self.observer.as_mut().and_then(|observer| observer.call_before(message)) {
            self.request(message.timestamp);
            let tokens = made.each_ref().map(|message| u64::from(tokens_of(message)));
            self.add_output(tokens[0]);
            for (message, tokens) in made.iter().zip(tokens) {
                self.append(message, tokens);
            }
            self.compact_if_due()?;
        }
        Ok(())
    }

    fn tell_compacted(&mut self) {
        if let Some(observer) = &mut self.observer {
            observer.compacted(self.session.view());
        }
    }

    /// Adds a message to the session and to the prompt.
    fn append(&mut self, message: &Message, tokens: u64) -> EntryKey {
        let key = self.session.push(message.clone());
        self.tokens.push(tokens);
        if let Some(engine) = &mut self.by_engine {
            engine.ledger.push(&self.session, key);
            engine.watch.push(message);
        }
        match self.session.view().last() {
            Some(entry) if entry.key == key && self.session.view().len() == self.prompt.len() + 1 => {
                self.prompt.append(entry, tokens);
            }
            // A late result changes the middle of the view.
            _ => {
                self.changed();
            }
        }
        key
    }

    /// Replaces a view that changed in its middle; returns the tokens that the cache lost.
    fn changed(&mut self) -> u64 {
        let of_log = &self.tokens;
        let tokens = |entry: &Entry| match entry.key {
            EntryKey::Log(index) if !entry.is_edited() => of_log[index as usize],
            _ if is_empty(&entry.message) => 0,
            _ => u64::from(tokens_of(&entry.message)),
        };
        self.prompt.replace(self.session.view(), tokens)
    }

    fn request(&mut self, at: Option<i64>) {
        let lifetime = self.model.price.cache_lifetime.map(|seconds| i64::from(seconds) * 1_000);
        let pause = at.zip(self.last_request).map(|(now, last)| now - last);
        // Where the recording has no times, agents are assumed to continue at once.
        let alive = pause.zip(lifetime).is_none_or(|(pause, lifetime)| pause <= lifetime);
        let tools = if self.outcome.turns.is_empty() { 0 } else { self.recording.tools };
        let input = self.prompt.total() + self.recording.tools;
        let spent = TokenUsage::request(&self.model.price, input, self.prompt.unchanged() + tools, alive, 0);
        let room = self.model.budget.window.saturating_sub(self.model.budget.reserve_output);
        let money = spent.money(&self.model.price);
        self.outcome.turns.push(Turn { spent, money, impossible: input > u64::from(room) });
        self.prompt.send();
        self.last_request = at.or(self.last_request);
    }

    /// Makes a compaction of which the result is known. A model read the view and wrote the summary, where there is one; the
    /// provider had the view in its cache where `is_cached`.
    fn apply_written(&mut self, epoch: Epoch, by: &str, is_cached: bool) {
        let before = (self.prompt.total(), self.prompt.unchanged());
        let trigger = epoch.trigger;
        let summaries = epoch.synthetics.iter().filter(|it| it.message.origin == Origin::Summary);
        let written: u64 = summaries.map(|it| u64::from(tokens_of(&it.message))).sum();
        self.session.commit(epoch);
        let cache_loss_tokens = self.changed();
        self.tell_compacted();
        let tools = self.recording.tools;
        let summary = match written {
            0 => TokenUsage::default(),
            _ => TokenUsage::request(&self.model.price, before.0 + tools, before.1 + tools, is_cached, written),
        };
        let summary = (summary, summary.money(&self.model.price));
        let made = self.epoch(trigger, Status::Compacted, before.0, cache_loss_tokens, summary);
        self.outcome.epochs.push(ReplayEpoch { chain: vec![by.to_owned()], ..made });
    }

    /// A compaction that was just made, or tried, with what was read and written for its summary and the price of that; without its chain and its time.
    fn epoch(
        &self,
        trigger: Trigger,
        status: Status,
        tokens_before: u64,
        cache_loss_tokens: u64,
        (summary, summary_money): (TokenUsage, f64),
    ) -> ReplayEpoch {
        ReplayEpoch {
            turn: self.outcome.turns.len() as u32,
            trigger,
            status,
            chain: Vec::new(),
            tokens_before,
            tokens_after: self.prompt.total(),
            cache_loss_tokens,
            summary,
            summary_money,
            micros: 0,
        }
    }

    /// Checks the budget, and compacts where it is due. Constant time where it is not.
    fn compact_if_due(&mut self) -> Result<(), EvalError> {
        if let Some(own) = self.own {
            let (window, number) = (self.model.budget.window, self.session.next_epoch());
            let is_full = self.prompt.total() + self.recording.tools >= own.threshold(window);
            if let Some(epoch) = is_full.then(|| own.epoch(self.session.view(), window, number)).flatten() {
                self.apply_written(epoch, own.agent, own.is_cached);
            }
            return Ok(());
        }
        let Some(engine) = &mut self.by_engine else { return Ok(()) };
        let usable = engine.budget.usable();
        let total = engine.ledger.total();
        let check = engine.watch.check_session(&engine.budget, total, &self.session);
        let Some(trigger) = check.trigger else { return Ok(()) };
        let limit = engine.budget.hard.tokens(usable).min(usable);
        let request = Request {
            target: engine.watch.target(&engine.budget).min(limit),
            limit,
            min_saving: engine.watch.min_saving(&engine.budget, total),
            window: Some(engine.budget.window),
            trigger,
            mode: engine.runs.mode,
            chain: engine.runs.chain.clone(),
            unsent_messages: self.prompt.unsent() as u32,
            ..Request::to_budget(limit)
        };
        let started = Instant::now();
        let compacting =
            engine.runs.engine.compact(&mut self.session, &mut engine.ledger, &mut engine.archive, &request);
        let report = block_on(compacting).map_err(|error| EvalError::Method(error.to_string()))?;
        let micros = started.elapsed().as_micros() as u64;
        engine.watch.record_compaction(&report);
        let tokens_before = self.prompt.total();
        let mut cache_loss_tokens = 0;
        if report.status.is_compaction() {
            cache_loss_tokens = self.changed();
            self.tell_compacted();
        }
        let summary = self.model.summaries(&report.summarizer.models);
        let made = self.epoch(trigger, report.status, tokens_before, cache_loss_tokens, summary);
        self.outcome.epochs.push(ReplayEpoch { chain: report.chain, micros, ..made });
        Ok(())
    }
}
