//! Re-fetches: an agent that sees only the compacted view calls a tool again before it goes on.

pub mod command;

mod calls;
mod references;
mod repeats;

use std::collections::HashSet;
use std::sync::Arc;

use epitome::Session;
use epitome::session::{Entry, EntryKey, Message};
use epitome_eval::replay::{Model, Policy, Recording, ReplayObserver, ReplayedSession};
use epitome_eval::{CaseId, EvalError};

pub use calls::ExtraCalls;
pub use references::ReferenceCounts;
pub use repeats::Repeats;

use calls::Fetches;
use references::References;
use repeats::FetchedOutputs;

/// Fetches for one message at most: an agent that has looked so often goes on without.
const MOST_FETCHES: usize = 10;

/// What a session under a policy lacked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Refetches {
    /// Repeated fetches of the recording.
    pub repeats: Repeats,
    /// Calls that refer to what precedes them.
    pub references: ReferenceCounts,
    /// The calls that were made again, where these are made.
    pub extra: ExtraCalls,
}

/// Replays a session under a policy. With `makes_calls` the agent calls a tool again where a recorded call needs a string
/// that a compaction took; without it such calls are only counted. Linear in the session, and in the view for each
/// compaction.
pub fn replay_with_fetches(
    session: &Session,
    policy: &Policy,
    model: &Model,
    makes_calls: bool,
) -> Result<(ReplayedSession, Refetches), EvalError> {
    let id = CaseId { file: String::new(), session: String::new(), cut_permille: 0, part: None };
    let mut observer = RefetchObserver::new(session, makes_calls)?;
    let row = Recording::new(session).replay(&id, "", policy, model, Some(&mut observer))?;
    let extra = observer.fetches.map(|fetches| fetches.made).unwrap_or_default();
    let found = Refetches { repeats: observer.outputs.found, references: observer.references.found, extra };
    Ok((row, found))
}

struct RefetchObserver<'a> {
    recording: &'a [Arc<Message>],
    outputs: FetchedOutputs,
    references: References,
    fetches: Option<Fetches>,
    /// Results that were fetched again for the recording's next message.
    fetched: HashSet<usize>,
}

impl<'a> RefetchObserver<'a> {
    fn new(session: &'a Session, makes_calls: bool) -> Result<Self, EvalError> {
        Ok(Self {
            recording: session.log(),
            outputs: FetchedOutputs::default(),
            references: References::new(session.log().iter().map(|message| &**message))?,
            fetches: makes_calls.then(Fetches::default),
            fetched: HashSet::new(),
        })
    }
}

impl ReplayObserver for RefetchObserver<'_> {
    fn added(&mut self, number: usize, key: EntryKey, message: &Message) {
        self.fetched.clear();
        self.references.push(number, message);
        if let Some(fetches) = &mut self.fetches {
            fetches.push(number, message);
        }
        self.outputs.push(key, message);
    }

    fn compacted(&mut self, view: &[Entry]) {
        self.outputs.compacted(view);
        self.references.compacted(view);
    }

    fn call_before(&mut self, message: &Message) -> Option<[Message; 2]> {
        let fetches = self.fetches.as_mut()?;
        loop {
            let missing = self.references.missing(message);
            let next = fetches.next(&missing, &self.fetched).filter(|_| self.fetched.len() < MOST_FETCHES);
            let Some(source) = next else {
                fetches.note_missing(&missing);
                return None;
            };
            self.fetched.insert(source);
            if let Some(made) = fetches.repeat(source, &self.recording[source]) {
                made.iter().for_each(|message| self.references.show(message));
                return Some(made);
            }
        }
    }
}
