//! Storage of a live session: in memory, a file, or a store.

use std::path::Path;
use std::sync::Arc;

use epitome::Session;
use epitome::formats::Wire;
use epitome::live::{LiveSession, SharedSession};
use epitome_binding::{Input, choose, load, profile_of};

use crate::failure::Failure;
use crate::open_store::OpenStore;
use crate::parts::Parts;

/// Storage of a live session.
#[derive(Debug)]
pub(crate) enum SessionBackend {
    /// In memory, or in a file of its own.
    Alone(LiveSession),
    /// In a store.
    Shared(SharedSession, Arc<OpenStore>),
}

impl SessionBackend {
    /// The session of a store, where it is one.
    pub(crate) fn shared(&self) -> Option<&SharedSession> {
        match self {
            Self::Alone(_) => None,
            Self::Shared(shared, _) => Some(shared),
        }
    }

    /// Looks at it, or previews.
    pub(crate) fn look<T>(&mut self, work: impl FnOnce(&mut LiveSession) -> Result<T, Failure>) -> Result<T, Failure> {
        match self {
            Self::Alone(live) => work(live),
            Self::Shared(shared, store) => store.wait(async { work(shared.look().await?) }),
        }
    }

    /// Changes it; in a store whole or not at all.
    pub(crate) fn change<T>(
        &mut self,
        work: impl FnOnce(&mut LiveSession) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match self {
            Self::Alone(live) => work(live),
            Self::Shared(shared, store) => store.wait(shared.change(async |live: &mut LiveSession| work(live))),
        }
    }

    /// Keeps it in a new file from here on.
    pub(crate) fn keep_in(&mut self, path: &Path) -> Result<(), Failure> {
        match self {
            Self::Alone(live) => Ok(live.keep_in(path)?),
            Self::Shared(..) => Err(Failure::other("the session is kept in a store already: it goes into no file")),
        }
    }

    /// Reads it again where its store has another state of it; whether it has.
    pub(crate) fn reload(&mut self) -> Result<bool, Failure> {
        match self {
            Self::Alone(_) => Ok(false),
            Self::Shared(shared, store) => Ok(store.wait(shared.reload())?),
        }
    }

    /// The session that goes on in place of it, where it is.
    pub(crate) fn begin_successor(&mut self, parts: &Parts, session: Session) -> Result<Self, Failure> {
        match self {
            Self::Alone(_) => Ok(Self::Alone(live_of(parts, session))),
            Self::Shared(shared, store) => {
                let begun = store.wait(shared.begin_successor(live_of(parts, Session::new()), session))?;
                Ok(Self::Shared(begun, Arc::clone(store)))
            }
        }
    }
}

/// A session in memory, empty or one that is there already, and the format that its messages are given back in.
pub(crate) fn begin(
    parts: &Parts,
    input: Option<Input>,
    format: Option<&str>,
    session: Option<&str>,
) -> Result<(LiveSession, Wire), Failure> {
    let (recorded, profile) = match input {
        None => (Session::new(), profile_of(format, None)?),
        Some(input) => {
            let mut loaded = load(input, format)?;
            let index = choose(&loaded, session)?;
            let profile = profile_of(None, Some(loaded.format))?;
            (loaded.sessions.swap_remove(index).session, profile)
        }
    };
    Ok((live_of(parts, recorded), profile))
}

fn live_of(parts: &Parts, session: Session) -> LiveSession {
    LiveSession::with_engine(parts.engine(), &parts.runtime, session)
}
