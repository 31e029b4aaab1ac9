//! What is shown of a session at one moment, and what has changed since the last.

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use epitome::context::{ContextWarning, Fullness, Part, ReportedUsage, ViewCounts, parts};
use epitome::follow::FollowedSession;
use epitome::formats::RecordedModel;
use epitome::session::MessageId;
use epitome::strategy::Registry;
use epitome::{Budget, Session};
use serde::Serialize;

use crate::args::WindowArgs;
use crate::failure::Failure;
use crate::window::{Window, WindowSource};

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
    /// What the provider counted for the newest request; null where the recording does not say.
    pub(crate) usage: Option<ReportedUsage>,
    /// The parts of the context, the largest first.
    pub(crate) parts: Vec<Part>,
    /// What deserves a look now.
    pub(crate) warnings: Vec<ContextWarning>,
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
}

/// What a session is measured with.
struct Measures {
    model: RecordedModel,
    window: Window,
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
        let (measures, past) = before.map(|it| (it.measures, it.past)).unzip();
        let mut measures = match measures.filter(|measures| measures.model == read.model) {
            Some(measures) => measures,
            None => self.measures(read)?,
        };
        let counts = measures.counts.count(session);
        let tokens = counts.iter().map(|tokens| tokens.total).fold(0, u32::saturating_add);
        let Measures { budget, window, .. } = &measures;
        let fullness = window.fullness(measures.counts.ledger(), session, tokens, budget);
        let now = PreviousSnapshot::read(session);
        let event = match &past {
            None if is_first => SnapshotEvent::Start,
            None => SnapshotEvent::OtherSession,
            // What is undone stays in the journal, and is not in force any more.
            Some(past) if past.epochs.0 == now.epochs.0 && past.epochs.1 > now.epochs.1 => SnapshotEvent::Undo,
            Some(past) if past.epochs != now.epochs => SnapshotEvent::Compaction,
            Some(_) => SnapshotEvent::Messages,
        };
        let counter = &**measures.counts.ledger().counter();
        let warnings = ContextWarning::find(session, &counts, counter, fullness.check.usable_tokens);
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
            fullness,
            counted_tokens: tokens,
            usage: ReportedUsage::read(session),
            parts: parts(session, &counts, counter),
            warnings,
        };
        self.followed = Some(Followed { file: read.path().to_owned(), measures, past: now });
        Ok(frame)
    }

    /// What the session is measured with: its model may have changed since the last reading.
    fn measures(&self, read: &FollowedSession) -> Result<Measures, Failure> {
        let window = Window::new(self.args, &read.model, self.registry)?;
        let (engine, budget) = window.engine(&read.session);
        Ok(Measures { model: read.model.clone(), counts: ViewCounts::new(&engine), window, budget })
    }
}
