//! What is shown of a session at one moment, and what has changed since the last.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use epitome::context::{ContextWarning, Fullness, Part, ReportedUsage, ViewCounts, first_words, parts};
use epitome::follow::FollowedSession;
use epitome::formats::RecordedModel;
use epitome::session::{EntryKey, MessageId, Origin, Role};
use epitome::strategy::{EntryTokens, Registry};
use epitome::{Budget, Engine, Session};
use serde::Serialize;

use crate::args::WindowArgs;
use crate::failure::Failure;
use crate::window::{Window, WindowSource};

/// The newest messages of a frame that follows none. Source: what a person looks at first.
const NEWEST: usize = 5;

/// The messages whose mean size says how many more there is room for. Source: a few steps with their results.
const PACE: usize = 20;

/// What has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SnapshotEvent {
    /// The session is shown for the first time.
    Start,
    /// Messages have come, or the newest has grown.
    Messages,
    /// A compaction was made.
    Compaction,
    /// A compaction was undone.
    Undo,
    /// The file holds another session now, or another past of the same one.
    OtherSession,
}

/// A session at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ContextSnapshot {
    /// What has happened.
    pub(crate) event: SnapshotEvent,
    /// When the file was changed, in milliseconds since 1970.
    pub(crate) at: Option<u64>,
    /// The session's file.
    pub(crate) file: PathBuf,
    /// The file's format.
    pub(crate) format: &'static str,
    /// The session's id, where it has one.
    pub(crate) session: Option<String>,
    /// The model that the session names last.
    pub(crate) model: Option<String>,
    /// What the window is known by.
    pub(crate) window: WindowSource,
    /// Messages in the context.
    pub(crate) messages: usize,
    /// Compactions in force.
    pub(crate) compactions: u32,
    /// How full the context is.
    pub(crate) fullness: Fullness,
    /// Tokens of the messages, as they are counted here.
    pub(crate) counted_tokens: u32,
    /// Tokens that may still come before a compaction is suggested; null where no number of tokens calls for one.
    pub(crate) tokens_left: Option<u32>,
    /// How many messages of the size of the newest ones that is.
    pub(crate) messages_left: Option<u32>,
    /// What the provider counted for the newest request; null where the recording does not say.
    pub(crate) usage: Option<ReportedUsage>,
    /// The parts of the context, the largest first.
    pub(crate) parts: Vec<Part>,
    /// The messages that have come, or at the start the newest.
    pub(crate) new: Vec<NewMessage>,
    /// What deserves a look now.
    pub(crate) warnings: Vec<ContextWarning>,
    /// What of it was not told before.
    #[serde(skip)]
    pub(crate) untold: Vec<String>,
}

/// A message that has come.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct NewMessage {
    /// The message's number in the full history, from 0.
    pub(crate) number: u32,
    /// The message's role.
    pub(crate) role: Role,
    /// The message's real author.
    pub(crate) origin: Origin,
    /// The tools that it calls, or whose result it is.
    pub(crate) tools: Vec<String>,
    /// The message's tokens.
    pub(crate) tokens: u32,
    /// The message's first words.
    pub(crate) words: String,
}

/// Follows one session after the other.
pub(crate) struct SnapshotWatcher<'a> {
    args: &'a WindowArgs,
    registry: &'a Registry,
    has_begun: bool,
    followed: Option<Followed>,
}

/// A session that is followed.
struct Followed {
    file: PathBuf,
    measures: Measures,
    past: PreviousSnapshot,
    /// The warnings that were told, by what they are about.
    told: HashSet<String>,
}

/// What a session is measured with.
struct Measures {
    model: RecordedModel,
    window: Window,
    engine: Engine,
    budget: Budget,
    counts: ViewCounts,
}

/// The past of a session as it was shown last.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PreviousSnapshot {
    id: Option<String>,
    messages: usize,
    newest: Option<MessageId>,
    /// Epochs in the journal, and how many of them are in force.
    epochs: (usize, usize),
}

impl PreviousSnapshot {
    fn read(session: &Session) -> Self {
        Self {
            id: session.id.as_deref().map(str::to_owned),
            messages: session.log().len(),
            newest: session.log().last().map(|message| message.id.clone()),
            epochs: (session.journal().len(), session.journal().iter().filter(|epoch| !epoch.undone).count()),
        }
    }

    /// Whether `session` is this one, grown.
    fn continues_in(&self, session: &Session) -> bool {
        let newest = self.messages.checked_sub(1).and_then(|at| session.log().get(at)).map(|message| &message.id);
        self.messages <= session.log().len()
            && newest == self.newest.as_ref()
            && self.epochs.0 <= session.journal().len()
            && (self.id.is_none() || self.id.as_deref() == session.id.as_deref())
    }
}

impl<'a> SnapshotWatcher<'a> {
    pub(crate) fn new(args: &'a WindowArgs, registry: &'a Registry) -> Self {
        Self { args, registry, has_begun: false, followed: None }
    }

    /// The frame of a session as it was read. Counts what is new; the rest costs the number of messages.
    pub(crate) fn frame(&mut self, read: &FollowedSession) -> Result<ContextSnapshot, Failure> {
        let session = &read.session;
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let before = self.followed.take().filter(|it| it.file == read.path() && it.past.continues_in(session));
        let (measures, past, mut told) = match before {
            Some(Followed { measures, past, told, .. }) => (Some(measures), Some(past), told),
            None => (None, None, HashSet::new()),
        };
        let mut measures = match measures.filter(|measures| measures.model == read.model) {
            Some(measures) => measures,
            None => self.measures(read)?,
        };
        let counts = measures.counts.count(session);
        let tokens = counts.iter().map(|tokens| tokens.total).fold(0, u32::saturating_add);
        let Measures { engine, budget, window, .. } = &measures;
        let fullness = window.fullness(engine, session, tokens, budget);
        let now = PreviousSnapshot::read(session);
        let event = match &past {
            None if is_first => SnapshotEvent::Start,
            None => SnapshotEvent::OtherSession,
            // What is undone stays in the journal, and is not in force any more.
            Some(past) if past.epochs.0 == now.epochs.0 && past.epochs.1 > now.epochs.1 => SnapshotEvent::Undo,
            Some(past) if past.epochs != now.epochs => SnapshotEvent::Compaction,
            Some(_) => SnapshotEvent::Messages,
        };
        let seen = past.map_or_else(|| now.messages.saturating_sub(NEWEST), |past| past.messages);
        let counter = &**measures.counts.counter();
        let warnings = ContextWarning::find(session, &counts, counter, fullness.check.usable_tokens);
        let is_untold = |warning: &&ContextWarning| told.insert(identity(warning));
        let untold = warnings.iter().filter(is_untold).map(ToString::to_string).collect();
        let modified = read.modified().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let frame = ContextSnapshot {
            event,
            at: modified.and_then(|since| u64::try_from(since.as_millis()).ok()),
            file: read.path().to_owned(),
            format: read.format,
            session: now.id.clone(),
            model: read.model.name.clone(),
            window: window.source.clone(),
            messages: session.view().len(),
            compactions: session.cycle(),
            tokens_left: fullness.tokens_left(),
            messages_left: fullness.tokens_left().and_then(|left| messages_left(left, &counts)),
            fullness,
            counted_tokens: tokens,
            usage: ReportedUsage::read(session),
            parts: parts(session, &counts, counter),
            new: new_messages(session, &counts, seen),
            warnings,
            untold,
        };
        self.followed = Some(Followed { file: read.path().to_owned(), measures, past: now, told });
        Ok(frame)
    }

    /// What the session is measured with: its model may have changed since the last reading.
    fn measures(&self, read: &FollowedSession) -> Result<Measures, Failure> {
        let window = Window::new(self.args, &read.model, self.registry)?;
        let (engine, budget) = window.engine(&read.session);
        Ok(Measures { model: read.model.clone(), counts: ViewCounts::new(&engine), window, engine, budget })
    }
}

/// What a warning is about: its figures change with every call of the same loop.
fn identity(warning: &ContextWarning) -> String {
    match warning {
        ContextWarning::RepeatedCall { tool, arguments, .. } => format!("{tool} {arguments}"),
        other => other.to_string(),
    }
}

/// How many messages of the mean size of the newest ones `left` tokens have room for; `None` where there are none.
fn messages_left(left: u32, counts: &[EntryTokens]) -> Option<u32> {
    let newest = &counts[counts.len().saturating_sub(PACE)..];
    let tokens: u64 = newest.iter().map(|tokens| u64::from(tokens.total)).sum();
    let count = newest.len() as u64;
    u32::try_from((u64::from(left) * count).checked_div(tokens)?).ok()
}

/// The messages of the log from number `seen` on, as the view shows them; those that have left it already are left out.
fn new_messages(session: &Session, counts: &[EntryTokens], seen: usize) -> Vec<NewMessage> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut new = Vec::new();
    for (entry, tokens) in session.view().iter().zip(counts) {
        let message = &entry.message;
        names.extend(message.calls().map(|(_, call)| (&*call.id, &*call.name)));
        let EntryKey::Log(number) = entry.key else { continue };
        if (number as usize) < seen {
            continue;
        }
        let calls = message.calls().map(|(_, call)| call.name.to_string());
        let text_calls = message.text_calls.iter().map(|call| call.name.to_string());
        let results = message.blocks.iter().filter_map(|block| block.as_result()).filter_map(|result| {
            let named = names.get(&*result.call_id).copied().or(result.name.as_deref());
            named.map(str::to_owned)
        });
        new.push(NewMessage {
            number,
            role: message.role,
            origin: message.origin,
            tools: calls.chain(text_calls).chain(results).collect(),
            tokens: tokens.total,
            words: first_words(message),
        });
    }
    new
}
