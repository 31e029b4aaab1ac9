//! Lists of messages, fitted call after call.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use epitome::engine::Floor;
use epitome::formats::{Wire, check_message};
use epitome::live::Overflow;
use epitome::strategy::{ArchivedContent, Cancellation, HostChanges, Named};
use epitome::wire::Outline;
use epitome::{Engine, Runtime};

use crate::archive::Archives;
use crate::conversation::{
    Conversation, Decider, Decisions, FitOutcome, Host, MatchedRequest, PreparedRequest, RawRequest, compact_as_asked,
    prepare, prepare_fast, shrink,
};
use crate::fitted::{FitPiece, FitRemoval, FitStatus, Fitted};
use crate::pieces::{changed_rows, pieces};
use crate::request::{Composition, FitRequest, trimmed};
use crate::{FitError, FitOptions};

/// The share of the memory that is for single messages: one part in this many.
const OF_ITEMS: usize = 4;

/// A conversation that one call at a time works on.
pub(crate) type SharedConversation = Arc<Mutex<Conversation>>;

/// Fits lists of messages into a budget, call after call, with the same decisions at the same places.
///
/// Each call brings the whole list, as a request of the provider would. The conversation is recognised by what the list begins
/// with: earlier decisions are repeated byte for byte, and a new one is made only where the budget requires it.
/// A list that parts from what was seen keeps the decisions of what it has in common with it. Lists of several providers' forms
/// may share a fitter: decisions that were made for one form do not count for another.
///
/// It may be shared by threads. Calls for one conversation wait for each other, those for different ones do not. It is not
/// [`Clone`], because two clones could be one memory or two: share it in an [`Arc`] for one, and take
/// [`copy`](Self::copy) for two.
#[derive(Debug)]
pub struct Fitter {
    own: Wire,
    /// The form that a request named first.
    first_named: OnceLock<Wire>,
    pub(crate) options: FitOptions,
    pub(crate) runtime: Runtime,
    engine: Engine,
    decider: Decider,
    pub(crate) memory: Decisions<SharedConversation>,
    pub(crate) archive: Archives,
    /// The one owner of the archive.
    pub(crate) owner: Arc<str>,
}

/// A host that waits until it has an answer.
struct WaitingHost(Cancellation);

impl Host for WaitingHost {
    fn cancellation(&self) -> Cancellation {
        self.0.clone()
    }
}

impl Fitter {
    /// Makes a fitter for lists in the form of `profile`, or in the one that a request names, with the strategies and settings
    /// of `runtime` and the budget of `options`.
    pub fn new(runtime: &Runtime, profile: Wire, options: FitOptions) -> Self {
        Self::with_engine(epitome::engine_of(runtime), runtime, profile, options)
    }

    /// The same with an engine that the host made.
    pub fn with_engine(engine: Engine, runtime: &Runtime, profile: Wire, options: FitOptions) -> Self {
        let of_items = options.memory_bytes / OF_ITEMS;
        let mut decider = Decider::new(runtime.clone(), engine.clone(), options.secret, of_items);
        decider.tell_provenance();
        Self {
            own: profile,
            first_named: OnceLock::new(),
            runtime: runtime.clone(),
            decider,
            memory: Decisions::new(options.conversations, options.memory_bytes - of_items),
            archive: Archives::new(options.archive_bytes),
            owner: Arc::from(""),
            engine,
            options,
        }
    }

    /// A copy of this fitter that makes the same decisions from here on, with a memory of its own. Linear in what is
    /// remembered.
    pub fn copy(&self) -> Self {
        let copy = Self::with_engine(self.engine.clone(), &self.runtime, self.profile(), self.options.clone());
        for (shared, end) in self.memory.all() {
            copy.memory.keep_branch(lock(&shared).copy(), end);
        }
        let archived = self.archive.all(&self.owner);
        copy.archive.keep(&copy.owner, archived);
        copy
    }

    /// Decides what to send in place of a list.
    ///
    /// Where nothing is due the call looks at the bytes of the list, and reads and counts the messages that are new in it;
    /// where a compaction is due it reads the whole list.
    ///
    /// # Errors
    ///
    /// A message, the system prompt or the tools cannot be read. A list that cannot be made to fit is not an error: the
    /// result says so, see [`FitStatus::Infeasible`].
    pub fn fit(&self, request: &FitRequest<'_>) -> Result<Fitted, FitError> {
        let (incoming, before) = self.read(request)?;
        let shared = self.memory.find(&incoming.chain).unwrap_or_default();
        let mut known = lock(&shared);
        if let Some(reported) = request.reported_tokens {
            known.reported.learn(reported);
        }
        let host = WaitingHost(request.cancellation.clone());
        let asked = request.asked.as_ref().map(|asked| {
            let (decider, memory) = (&self.decider, &self.memory);
            match compact_as_asked(decider, memory, &incoming, &shared, &mut known, asked, &host) {
                Ok(made) => (made.outcome.to_string(), made.prepared),
                Err(code) => (format!("Not made: it is not possible now ({code}). Go on."), None),
            }
        });
        let (asked, compacted) = asked.map_or((None, None), |(told, prepared)| (Some(told), prepared));
        let prepared = match compacted {
            Some(prepared) => prepared,
            None => match prepare_fast(&self.decider, &incoming, &mut known) {
                Some(prepared) => {
                    self.memory.keep(&shared, &mut known, incoming.end());
                    prepared
                }
                None => prepare(&self.decider, &self.memory, &incoming, &shared, &mut known, &host),
            },
        };
        drop(known);
        Ok(Fitted { asked, ..self.tell(&incoming, before, prepared)? })
    }

    /// Decides what to send after the provider refused the result of [`fit`](Self::fit) as too long: makes it smaller
    /// than was due. A limit that the provider named counts for the conversation from here on.
    ///
    /// # Errors
    ///
    /// The errors of [`fit`](Self::fit). Where nothing more may leave, the result is [`FitStatus::Infeasible`].
    pub fn fit_after(&self, request: &FitRequest<'_>, overflow: Overflow) -> Result<Fitted, FitError> {
        let (incoming, before) = self.read(request)?;
        let shared = self.memory.find(&incoming.chain).unwrap_or_default();
        let mut known = lock(&shared);
        let cancellation = &request.cancellation;
        let shrunk = shrink(&self.decider, &self.memory, &incoming, &shared, &mut known, overflow, cancellation);
        drop(known);
        match shrunk {
            Some(prepared) => self.tell(&incoming, before, prepared),
            None => Ok(Fitted { status: FitStatus::Infeasible, detail: Some("infeasible"), ..self.fit(request)? }),
        }
    }

    /// The text that left the context under a handle; `None` where the handle is unknown or its text was forgotten.
    /// Handles are hashes of their content, and are looked up in all conversations of this fitter: treat one as permission
    /// to read the text.
    pub fn retrieve(&self, handle: &str) -> Option<ArchivedContent> {
        self.archive.find(&self.owner, handle.trim()).map(|hit| hit.item)
    }

    /// The form of its lists where a request names none: the one that a request named first, until then the one that it was
    /// made for.
    pub fn profile(&self) -> Wire {
        self.first_named.get().copied().unwrap_or(self.own)
    }

    /// The options that this fitter was made with.
    pub fn options(&self) -> &FitOptions {
        &self.options
    }

    /// Conversations that are remembered, and the bytes of them and of what can be retrieved, near enough.
    pub fn size(&self) -> (usize, usize) {
        let (conversations, bytes) = self.memory.size();
        (conversations, bytes + self.archive.size().1)
    }

    /// Reads the new messages of a list. Returns them with the number of messages that precede the list in the request
    /// made for it.
    fn read(&self, request: &FitRequest<'_>) -> Result<(MatchedRequest, usize), FitError> {
        let profile = match request.profile {
            Some(named) => {
                self.first_named.get_or_init(|| named);
                named
            }
            None => self.profile(),
        };
        let Composition { body, outline, before } = Composition::new(profile, request)?;
        let host = Some(self.options.host).filter(|host| *host != HostChanges::Any).map(|host| host.name().as_bytes());
        let keys = [request.key.as_bytes()].into_iter().chain(host);
        let seed = self.decider.seed(&self.owner, profile, keys);
        let unread = RawRequest::at(&self.decider, Arc::clone(&self.owner), profile, seed, body, outline);
        let new: Vec<usize> = unread.new_numbers().filter_map(|number| number.checked_sub(before)).collect();
        // Nothing is read before each message is known to be one: a list in one of them would move all others.
        for index in &new {
            let checked = check_message(profile, trimmed(request.messages[*index]));
            checked.map_err(|error| FitError::Message { index: *index, problem: error.to_string() })?;
        }
        let mut incoming = match unread.learn(&self.decider) {
            Ok(incoming) => incoming,
            Err(_) => return Err(FitError::List { format: profile.as_str() }),
        };
        incoming.budget = self.options.budget.clone();
        incoming.hidden_tokens = request.hidden_tokens();
        incoming.host = self.options.host;
        incoming.is_last = self.options.is_last;
        Ok((incoming, before))
    }

    /// Expresses the result by the numbers of the list's messages.
    fn tell(&self, incoming: &MatchedRequest, before: usize, prepared: PreparedRequest) -> Result<Fitted, FitError> {
        self.archive.keep(&self.owner, prepared.archived);
        let came = messages_at(&incoming.body, &incoming.list)?;
        let is_as_it_came = matches!(prepared.outcome, FitOutcome::Passed | FitOutcome::Bypassed)
            || prepared.body.as_ptr() == incoming.body.as_ptr();
        let (found, system) = if is_as_it_came {
            let all = (!came.is_empty()).then_some(FitPiece::Keep { start: 0, end: came.len() });
            (all.into_iter().collect(), None)
        } else {
            let outline = Outline::read(&prepared.body, incoming.wire).map_err(|_| FitError::Result)?;
            let sent = messages_at(&prepared.body, &outline.items)?;
            let system = outline.system.filter(|_| !incoming.has_system_beside());
            let system = system.and_then(|at| String::from_utf8(prepared.body[at].to_vec()).ok());
            let pieces = match self.options.host {
                HostChanges::Texts => changed_rows(&came, &sent),
                _ => pieces(&came, &sent, prepared.provenance.as_deref()),
            };
            (pieces, system)
        };
        let counts = prepared.counts.ok_or(FitError::List { format: incoming.wire.as_str() })?;
        let status = match counts.tokens_after > counts.usable {
            true => FitStatus::Infeasible,
            false => status_of(prepared.outcome, is_as_it_came),
        };
        let edits = prepared.epochs.iter().flat_map(|epoch| &epoch.edits);
        let strategies: BTreeSet<Arc<str>> = edits.map(|edit| Arc::clone(&edit.strategy)).collect();
        let in_list = |numbers: &[usize]| numbers.iter().filter_map(|number| number.checked_sub(before)).collect();
        let provenance = prepared.provenance.as_deref();
        let removals = provenance.into_iter().flat_map(|it| &it.removals).map(|removal| FitRemoval {
            handle: Arc::clone(&removal.handle),
            messages: in_list(&removal.messages),
            reason: removal.reason.clone(),
        });
        let ids = provenance.filter(|_| prepared.report.is_some()).into_iter().flat_map(|it| &it.ids);
        let ids = ids.map(|(id, number)| (Arc::clone(id), number.and_then(|number| number.checked_sub(before))));
        Ok(Fitted {
            status,
            pieces: found.into_iter().filter_map(|piece| in_list_of(piece, before)).collect(),
            profile: incoming.wire,
            messages: came.len() - before,
            system,
            tokens_before: counts.tokens_before,
            tokens_after: counts.tokens_after,
            budget: counts.usable,
            compactions: counts.epochs,
            detail: prepared.detail,
            floor: prepared.floor.filter(|_| status == FitStatus::Infeasible).map(|floor| Floor::clone(&floor)),
            strategies: strategies.into_iter().collect(),
            removals: removals.collect(),
            read: incoming.read,
            quality: prepared.quality.as_deref().cloned(),
            report: prepared.report,
            asked: None,
            ids: ids.collect(),
        })
    }
}

/// The status of a list that fits.
fn status_of(outcome: FitOutcome, is_as_it_came: bool) -> FitStatus {
    match outcome {
        FitOutcome::Compacted | FitOutcome::OverflowRetried => FitStatus::Compacted,
        FitOutcome::Replayed => FitStatus::Replayed,
        // A new decision could not be carried out; earlier ones were.
        FitOutcome::FailedOpen if !is_as_it_came => FitStatus::Replayed,
        FitOutcome::Passed | FitOutcome::Bypassed | FitOutcome::FailedOpen => FitStatus::Unchanged,
    }
}

/// A piece of a request by the numbers of the list, `before` messages behind its own; `None` if none of it comes from the list.
fn in_list_of(piece: FitPiece, before: usize) -> Option<FitPiece> {
    match piece {
        FitPiece::Keep { start, end } => {
            let (start, end) = (start.saturating_sub(before), end.saturating_sub(before));
            (start < end).then_some(FitPiece::Keep { start, end })
        }
        FitPiece::Edit { index, message, texts } => Some(match index.checked_sub(before) {
            Some(index) => FitPiece::Edit { index, message, texts },
            None => FitPiece::Insert { message, reason: None, replaces: Vec::new() },
        }),
        FitPiece::Insert { message, reason, replaces } => {
            let replaces = replaces.into_iter().filter_map(|number| number.checked_sub(before)).collect();
            Some(FitPiece::Insert { message, reason, replaces })
        }
    }
}

fn messages_at<'a>(body: &'a Bytes, places: &[std::ops::Range<usize>]) -> Result<Vec<&'a str>, FitError> {
    let text = std::str::from_utf8(body).map_err(|_| FitError::Result)?;
    places.iter().map(|at| text.get(at.clone()).ok_or(FitError::Result)).collect()
}

/// Decides once what to send in place of a list: a [`Fitter`] that is used for one call.
///
/// # Errors
///
/// The errors of [`Fitter::fit`].
pub fn fit(
    runtime: &Runtime,
    profile: Wire,
    options: FitOptions,
    request: &FitRequest<'_>,
) -> Result<Fitted, FitError> {
    Fitter::new(runtime, profile, options).fit(request)
}

pub(crate) fn lock(shared: &SharedConversation) -> MutexGuard<'_, Conversation> {
    // A call that panicked left the decisions from before it, or those from after it: both are valid.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_sends_earlier_decisions_again_is_a_replay() {
        assert_eq!(status_of(FitOutcome::FailedOpen, false), FitStatus::Replayed);
        assert_eq!(status_of(FitOutcome::FailedOpen, true), FitStatus::Unchanged);
    }
}
