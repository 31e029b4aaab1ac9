//! A session while it is going on: messages are pushed as they come, and it keeps itself within its budget.
//!
//! ```
//! use epitome::live::LiveSession;
//! use epitome::session::{Message, Origin, Role};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = epitome::Config::default().build(&epitome::registry())?;
//! let mut live = LiveSession::new(&runtime);
//! live.push(Message::text("1", Role::User, Origin::Typed, "Fix the build"))?;
//! // Before each call of the model:
//! epitome::engine::block_on(live.maintain())?;
//! let request = live.session().view(); // what to send
//! # assert_eq!(request.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! | when | call | cost |
//! |---|---|---|
//! | a message arrives | [`push`](LiveSession::push) | the message |
//! | is a compaction due? | [`check`](LiveSession::check) | constant |
//! | before each call of the model | [`maintain`](LiveSession::maintain) | constant, or a compaction |
//! | so that no call waits for a model | [`prepare_in`](LiveSession::prepare_in), [`answer_with`](LiveSession::answer_with), once | |
//! | by hand | [`compact`](LiveSession::compact); [`preview`](LiveSession::preview), edit, [`apply`](LiveSession::apply) | linear in the view |
//! | the provider says "too long" | [`overflowed`](LiveSession::handle_overflow), then send again | a compaction |
//! | the model asks for it | [`compact_as_asked`](LiveSession::compact_as_asked) | a compaction, or nothing |
//! | it was a mistake | [`undo`](LiveSession::undo) | linear in the log |
//! | a person types `/compact` | [`Command::parse`], [`run`](LiveSession::run) | that of the call |
//! | something is needed again | [`search`](LiveSession::search), [`recall`](LiveSession::recall), [`history`](LiveSession::history) | what is new since the last search; the item |

mod background;
mod bill;
mod command;
mod compact;
mod confirm;
mod context_report;
mod conversation;
mod error;
mod events;
mod history;
mod hosted;
mod maintain;
mod memories;
mod model_request;
mod overflow;
mod preparation;
mod search;
mod shared;

use std::path::Path;
use std::sync::Arc;

use epitome_config::{LiveSettings, Runtime};
use epitome_engine::{Budget, Chain, Check, Engine, Ledger, Mode, Urgency, Watch, calibration_requests_of, has_usage};
use epitome_formats::defined_tools;
use epitome_session::{EntryKey, Message, Role, Session};
use epitome_store::{FileMemories, MemoryStore, Scope, SessionArchive, SessionFile};
use epitome_strategy::{Archive, ArchivedContent, Cancellation, HostChanges, ModelBackoff, Strategy, Tokens};

pub use bill::SummaryBill;
pub use command::{Command, CommandError, CommandOutcome};
pub use compact::{Compaction, compaction_span, record_compaction};
pub use confirm::{Confirm, Confirmation};
pub use conversation::{Conversation, ConversationQuestion};
pub use epitome_providers::chat::Overflow;
pub use error::LiveError;
pub use events::{ContextTokens, Counters, Event, Listener, Metrics, TurnUsage};
pub use history::{HistoryEntry, history};
pub use hosted::{EpochViews, epoch_views};
pub use maintain::MaintainOutcome;
pub use memories::{memories_for, memories_of};
pub use model_request::{COMPACT_CONTEXT, ModelRequest, ModelRequestOutcome, RequiredContent};
pub use overflow::Retry;
pub use preparation::{BackgroundExecutor, Preparation, PreparationState};
pub use shared::SharedSession;

use crate::context::Fullness;
use conversation::ConversationModel;
use events::Listeners;
use preparation::BackgroundPreparation;

/// A session that is going on, with its budget, its archive, and where it is kept.
///
/// One task at a time works on it: the methods take `&mut self`.
#[derive(Debug)]
pub struct LiveSession {
    engine: Engine,
    session: Session,
    ledger: Ledger,
    archive: SessionArchive,
    budget: Budget,
    /// The model that the settings name.
    model: Option<String>,
    watch: Watch,
    settings: LiveSettings,
    mode: Mode,
    fixed: Option<Chain>,
    clearing: Option<Arc<dyn Strategy>>,
    /// Requests whose usage the messages record.
    requests: usize,
    /// Messages of the log when old results were last looked at.
    cleared: usize,
    file: Option<SessionFile>,
    memories: Option<(Arc<dyn MemoryStore>, Scope)>,
    /// Messages of the log that memories were taken from.
    flushed: usize,
    confirm: Option<Arc<dyn Confirm>>,
    listeners: Listeners,
    /// The number of the provider's refusals since it last answered.
    overflows: u32,
    /// The search index: a search adds the messages since the last one.
    index: epitome_recall::Index,
    /// The window that the host gave; the budget's is smaller where the provider named a limit.
    window: Tokens,
    /// Gives up compactions that are under way.
    cancellation: Cancellation,
    /// The way to ask the session's own model for hand-offs.
    conversation: Option<ConversationModel>,
    /// Where compactions are prepared before they are due.
    ahead: Option<BackgroundPreparation>,
    /// The models that gave no summary of the session.
    backoff: ModelBackoff,
    /// What models took for its summaries.
    bill: SummaryBill,
    /// The changes that the host can make.
    host: HostChanges,
}

impl LiveSession {
    /// An empty session in memory.
    pub fn new(runtime: &Runtime) -> Self {
        Self::with_session(runtime, Session::new())
    }

    /// A session that exists already, such as a recorded one. Counts its view: linear.
    pub fn with_session(runtime: &Runtime, session: Session) -> Self {
        Self::with_engine(crate::engine_of(runtime), runtime, session)
    }

    /// The same with an engine that the host made; budget, triggers and settings are those of `runtime`.
    pub fn with_engine(engine: Engine, runtime: &Runtime, session: Session) -> Self {
        let mut watch = Watch::new(runtime.triggers.clone());
        let newest = crate::context::newest_compaction(&session);
        session.log().iter().skip(newest).for_each(|message| watch.push(message));
        let mut live = Self {
            ledger: engine.ledger(&session),
            engine,
            flushed: newest,
            requests: session.log().iter().filter(|message| has_usage(message)).count(),
            bill: SummaryBill::recorded(&session),
            session,
            archive: SessionArchive::new(),
            budget: runtime.budget.clone(),
            model: runtime.model.clone(),
            watch,
            settings: runtime.live.clone(),
            mode: runtime.mode,
            fixed: runtime.fixed.clone(),
            clearing: runtime.clearing.clone(),
            cleared: 0,
            file: None,
            memories: None,
            confirm: None,
            listeners: Listeners::default(),
            overflows: 0,
            index: epitome_recall::Index::new(),
            window: runtime.budget.window,
            cancellation: Cancellation::never(),
            conversation: None,
            ahead: None,
            backoff: ModelBackoff::default(),
            host: HostChanges::Any,
        };
        live.count_tools();
        live.note_newest();
        live
    }

    /// Restores the growth since the newest compaction, and since the last undo: both hold also when the session is
    /// read again. The journal does not have the time of an undo, so all messages since the compaction count as growth.
    /// Linear in these.
    fn note_newest(&mut self) {
        let Some(newest) = self.session.journal().iter().rfind(|epoch| epoch.trigger.is_compaction()) else {
            return;
        };
        if !newest.undone {
            newest.tokens_after.into_iter().for_each(|after| self.watch.record_resumed(newest.trigger, after));
            return;
        }
        let since = (newest.log_length..self.session.log().len() as u32).map(EntryKey::Log);
        let grown: Tokens = since.filter_map(|key| self.ledger.entry(key)).map(|entry| entry.total).sum();
        self.watch.record_failure(self.ledger.total().saturating_sub(grown), Urgency::Soft);
    }

    /// Opens a session that was kept in a file, and keeps it there from now on. An incomplete write at the file's end
    /// is cut off: the session is as it was after the last call that returned.
    ///
    /// # Errors
    ///
    /// The file is not there, is in use by another process, or is damaged.
    pub fn open(runtime: &Runtime, path: impl AsRef<Path>) -> Result<Self, LiveError> {
        Self::open_with_engine(crate::engine_of(runtime), runtime, path)
    }

    /// The same with an engine of the host's making, as [`with_engine`](Self::with_engine) takes one.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn open_with_engine(engine: Engine, runtime: &Runtime, path: impl AsRef<Path>) -> Result<Self, LiveError> {
        let (file, opened) = SessionFile::open(path.as_ref())?;
        if let Some(repaired) = &opened.repaired {
            tracing::warn!(%repaired, path = %path.as_ref().display(), "session file repaired");
        }
        let mut live = Self::with_engine(engine, runtime, opened.session);
        live.archive = opened.archive;
        live.file = Some(file);
        Ok(live)
    }

    /// A session that a host loaded from a store of its own, with its archive; the host stores what happens to it, see
    /// [`parts`](Self::parts). Counts its view: linear.
    pub fn resume(runtime: &Runtime, session: Session, archive: SessionArchive) -> Self {
        let mut live = Self::with_session(runtime, session);
        live.archive = archive;
        live
    }

    /// The session and its archive, for a host that stores them itself: new are the messages and epochs that log and
    /// journal have gained, and the archive's pending items.
    pub fn parts(&mut self) -> (&Session, &mut SessionArchive) {
        (&self.session, &mut self.archive)
    }

    /// Keeps the session in a new file from here on: each message, compaction and undo as it happens.
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be written.
    pub fn keep_in(&mut self, path: impl AsRef<Path>) -> Result<(), LiveError> {
        self.file = Some(SessionFile::create(path.as_ref(), &self.session, &mut self.archive)?);
        Ok(())
    }

    /// Waits until everything is on the disk. After a failed write it stores the whole session again, beside the old file
    /// and then in its place. Does nothing for a session that is kept in memory.
    pub fn save(&mut self) -> Result<(), LiveError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        match file.sync() {
            Ok(()) => Ok(()),
            Err(_) => Ok(file.rewrite(&self.session, &mut self.archive)?),
        }
    }

    /// Facts worth keeping go there before a compaction where the settings say so; those of `scope` come back into
    /// summaries. A store that several people's sessions share takes the scope of a session, and sessions with ids.
    pub fn remember_in(&mut self, memories: Arc<dyn MemoryStore>, scope: Scope) {
        self.memories = Some((memories, scope));
    }

    /// The same with the file in the settings; whether the settings name one.
    pub fn remember_in_file(&mut self, scope: Scope) -> Result<bool, LiveError> {
        let Some(path) = self.settings.memory_path() else { return Ok(false) };
        self.memories = Some((Arc::new(FileMemories::open(path)?), scope));
        Ok(true)
    }

    /// Is asked before a compaction that [`maintain`](Self::maintain) finds due, where the settings ask for confirmation.
    pub fn confirm_with(&mut self, confirm: Arc<dyn Confirm>) {
        self.confirm = Some(confirm);
    }

    /// From here on the session's own model writes the hand-offs, asked through `conversation`, where `runtime` has a model
    /// write summaries in the same conversation; where that gives none, `runtime`'s other summarizers do. Whether it does.
    pub fn answer_with(&mut self, runtime: &Runtime, conversation: Arc<dyn Conversation>) -> bool {
        if !runtime.asks_conversations() {
            return false;
        }
        self.conversation = Some(ConversationModel { runtime: Arc::new(runtime.clone()), conversation });
        true
    }

    /// Compactions that begin from here on are cancelled when this is requested: they return an error, and the session
    /// is as it was. For a host that has stopped waiting for them; a host that wants more of the session then sets
    /// another one.
    pub fn cancel_by(&mut self, cancellation: Cancellation) {
        self.cancellation = cancellation;
    }

    /// Adds a listener for events from here on.
    pub fn subscribe(&mut self, listener: Listener) {
        self.listeners.add(listener);
    }

    /// Counts into `metrics` from here on; several sessions may share one.
    pub fn count_into(&mut self, metrics: Arc<Metrics>) {
        self.listeners.metrics = metrics;
    }

    /// Counters since the start, for a metrics endpoint.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.listeners.metrics
    }

    /// The session: its view is what to send to the model.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The engine that works on it.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The counts of the view, by the counter that the session's model and its usage give.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Tokens of the view. Constant time.
    pub fn tokens(&self) -> u32 {
        self.ledger.total()
    }

    /// The budget in force.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The changes that the host can make from here on: compactions have no other, and where it cannot make every change,
    /// nothing is cut on arrival and nothing cleared below the thresholds.
    pub fn set_host(&mut self, host: HostChanges) {
        self.host = host;
    }

    /// Another budget from here on, as after a switch to another model; the tool definitions stay counted in. The next
    /// [`check`](Self::check) shows the share that the session takes of it.
    pub fn set_budget(&mut self, budget: Budget) {
        self.window = budget.window;
        self.budget = budget;
        self.count_tools();
        self.tell_tokens();
    }

    /// The tool definitions that are sent with every request, as JSON; they take a part of the window.
    pub fn set_tools(&mut self, tools: Option<&str>) -> Result<(), LiveError> {
        let tools = tools.and_then(defined_tools);
        if self.session.tools.as_deref() == tools {
            return Ok(());
        }
        self.session.tools = tools.map(Arc::from);
        self.count_tools();
        if let Some(file) = &mut self.file {
            file.set_tools(tools)?;
        }
        Ok(())
    }

    fn count_tools(&mut self) {
        let count = |tools: &Arc<str>| self.ledger.counter().count(tools);
        self.budget.tool_definitions = self.session.tools.as_ref().map_or(0, count);
    }

    /// Appends a message and stores it. A tool result that is larger than the settings allow is cut as soon as its step is
    /// whole, before it is ever sent. Costs the message; a cut also the number of the view's messages.
    pub fn push(&mut self, message: Message) -> Result<EntryKey, LiveError> {
        let key = self.session.push(message);
        self.ledger.push(&self.session, key);
        let Some(message) = self.session.log().last().map(Arc::clone) else { return Ok(key) };
        self.watch.push(&message);
        self.learn(&message);
        self.listeners.metrics.message();
        if message.role == Role::Assistant {
            self.overflows = 0; // the provider took the session
        }
        if let Some(file) = &mut self.file {
            file.append(&message)?;
        }
        self.cut_arrivals()?;
        self.tell_tokens();
        Ok(key)
    }

    /// Counts again where the session's counter learns of the request that a message answers: at ever fewer requests.
    fn learn(&mut self, message: &Message) {
        if !has_usage(message) {
            return;
        }
        self.requests += 1;
        if calibration_requests_of(self.requests) != calibration_requests_of(self.requests - 1) {
            self.ledger = self.engine.ledger(&self.session);
            self.count_tools();
        }
    }

    fn cut_arrivals(&mut self) -> Result<(), LiveError> {
        let most = self.settings.arrival_tokens.0.filter(|_| self.host == HostChanges::Any);
        let Some(most) = most else { return Ok(()) };
        let most = most.tokens(self.budget.usable());
        let is_output = self.session.view().last().is_some_and(|entry| entry.message.role != Role::Assistant);
        if !is_output || self.ledger.total() <= most {
            return Ok(());
        }
        let before = self.snapshot();
        let cut = self.engine.cut_arrivals(&mut self.session, &mut self.ledger, &mut self.archive, most)?;
        let Some(cut) = cut else { return Ok(()) };
        self.store_epoch(before)?;
        self.listeners.tell(&Event::ArrivalCut {
            epoch: cut.epoch,
            tokens_before: cut.tokens_before,
            tokens_after: cut.tokens_after,
        });
        Ok(())
    }

    /// Clears old results below the thresholds, where the settings say so and it saves enough; whether it did. A part of
    /// [`maintain`](Self::maintain). Constant time where no message has come since it was last asked, else linear in the
    /// view.
    ///
    /// # Errors
    ///
    /// Trouble with the archive or the file: the session is as it was.
    pub async fn clear_results(&mut self) -> Result<bool, LiveError> {
        let least = self.settings.clear_tokens.0.filter(|_| self.host == HostChanges::Any);
        let (Some(least), Some(strategy)) = (least, self.clearing.clone()) else {
            return Ok(false);
        };
        let least = least.tokens(self.budget.usable());
        let length = self.session.log().len();
        if std::mem::replace(&mut self.cleared, length) == length || self.ledger.total() <= least {
            return Ok(false);
        }
        let before = self.snapshot();
        let cleared =
            self.engine.clear(&mut self.session, &mut self.ledger, &mut self.archive, &*strategy, least).await?;
        let Some(cleared) = cleared else { return Ok(false) };
        self.store_epoch(before)?;
        self.listeners.tell(&Event::ResultsCleared {
            epoch: cleared.epoch,
            tokens_before: cleared.tokens_before,
            tokens_after: cleared.tokens_after,
        });
        self.tell_tokens();
        Ok(true)
    }

    /// The session as it is, to go back to if an epoch cannot be stored; `None` where it is kept in memory.
    fn snapshot(&self) -> Option<(Session, Ledger)> {
        self.file.is_some().then(|| (self.session.clone(), self.ledger.clone()))
    }

    /// Stores the newest epoch; where that fails, the session goes back to what it was `before` it.
    fn store_epoch(&mut self, before: Option<(Session, Ledger)>) -> Result<(), LiveError> {
        let (Some(file), Some(before)) = (&mut self.file, before) else { return Ok(()) };
        file.commit(&self.session, &mut self.archive).map_err(|error| {
            (self.session, self.ledger) = before;
            LiveError::Store(error)
        })
    }

    /// Whether a compaction is due, and the reason. Linear in the newest answer and its results.
    pub fn check(&self) -> Check {
        self.watch.check_session(&self.budget, self.ledger.total(), &self.session)
    }

    /// The fill of the context by the counter; [`fullness`](Self::fullness) has the provider's count. Constant time.
    pub fn context(&self) -> ContextTokens {
        // Asked of an empty session, the threshold is the one that suggests a compaction, also when this one is past it.
        let suggested = self.watch.check(&self.budget, 0, self.session.newest_tokens_after());
        let counted =
            Fullness::new(&**self.ledger.counter(), self.check(), &self.budget).for_model(self.model.as_deref());
        ContextTokens::new(&counted.check, suggested.threshold_tokens, !counted.exact)
    }

    /// What the provider counted for the calls of the present turn; `None` where it counted nothing. Linear in the turn.
    pub fn turn_usage(&self) -> Option<TurnUsage> {
        let turn = self.session.log().iter().rev().take_while(|message| !message.is_typed());
        turn.filter_map(|message| message.usage).fold(None, |sum, call| Some(sum.unwrap_or_default().and(call)))
    }

    fn tell_tokens(&self) {
        if self.listeners.has_watchers() {
            self.listeners.tell(&Event::TokenUpdate { context: self.context(), usage: self.turn_usage() });
        }
    }

    /// Takes a compaction, or a cut on arrival, back: the view is what it would be without it. Linear in the log.
    pub fn undo(&mut self, epoch: u32) -> Result<(), LiveError> {
        let before = self.session.clone();
        self.session.undo(epoch)?;
        if let Some(file) = &mut self.file
            && let Err(error) = file.undo(epoch)
        {
            self.session = before;
            return Err(error.into());
        }
        self.ledger.resync(&self.session);
        // An undone compaction is not made again at once, unless it is necessary.
        self.watch.record_failure(self.ledger.total(), Urgency::Soft);
        self.listeners.tell(&Event::Undone { epoch, tokens: self.ledger.total() });
        self.tell_tokens();
        Ok(())
    }

    /// Every compaction so far, the oldest first.
    pub fn history(&self) -> Vec<HistoryEntry> {
        history(&self.session)
    }

    /// The text that left the context under a handle, as marks, headings and found passages name it; `None` where the
    /// handle is unknown. A text that the archive does not have is looked for in the session itself, linear in it: what
    /// an agent's own compaction removed was never archived.
    pub fn recall(&self, handle: &str) -> Result<Option<ArchivedContent>, LiveError> {
        let archived = self.archive.get(handle.trim())?;
        Ok(archived.or_else(|| epitome_recall::find_by_handle(&self.session, handle)))
    }
}
