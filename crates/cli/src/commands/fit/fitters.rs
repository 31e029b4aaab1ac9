//! Fitters, one for each engine and set of options that is asked for.

use std::sync::Arc;

use epitome_binding::{Failure, Parts, Reply, make_fitter};
use epitome_fit::Fitter;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::kept::KeptDecisions;
use crate::terminal;

/// Fitters that are kept: a person's agents use a model or two at a time. The one used least recently is forgotten with
/// its conversations, each of which costs one compaction then.
const MOST: usize = 8;

/// Bytes that one fitter may remember of conversations, and as many of what left them, unless its options say otherwise. All
/// together are as much as one fitter of a service has by default.
const BYTES: u32 = 8 * 1024 * 1024;

/// Fitters, the one used last at the end.
#[derive(Debug)]
pub(super) struct Fitters {
    made: Vec<MadeFitter>,
    /// Where decisions outlive this process. Each session has a fitter of its own then.
    kept: Option<KeptDecisions>,
}

/// A fitter, and what it is for.
#[derive(Debug)]
struct MadeFitter {
    /// The options of its engine and its own, as they were given.
    settings: [Map<String, Value>; 2],
    /// The session, where each has a fitter of its own; otherwise empty.
    session: String,
    fitter: Fitter,
}

impl Fitters {
    /// No fitters yet.
    pub(super) fn new(kept: Option<KeptDecisions>) -> Self {
        Self { made: Vec::new(), kept }
    }

    /// Keeps what the fitter used last has decided, where its answer tells of a compaction. Where that cannot be written,
    /// standard error says why: the session costs a compaction when it is taken up again.
    pub(super) fn keep_newest(&self, answer: &Reply) {
        #[derive(Deserialize)]
        struct Fitted<'a> {
            status: &'a str,
        }
        let (Some(kept), Some(newest)) = (&self.kept, self.made.last()) else { return };
        let status = serde_json::from_str::<Fitted<'_>>(&answer.json).map_or("", |fitted| fitted.status);
        if !["compacted", "near-empty"].contains(&status) {
            return;
        }
        let state = newest.fitter.state().map_err(|error| error.to_string());
        let written = state.and_then(|state| kept.write(&newest.session, &state).map_err(|error| error.to_string()));
        if let Err(problem) = written {
            terminal::note(&format!("what was decided cannot be kept: {problem}"));
        }
    }

    /// Returns the fitter of these options of an engine and its own. Where there is none yet, it is made with that engine and
    /// the decisions that were kept of the session; where these cannot be used, standard error says why.
    pub(super) fn fitter(
        &mut self,
        settings: [&Map<String, Value>; 2],
        session: &str,
        engine: impl Fn() -> Result<Arc<Parts>, Failure>,
    ) -> Result<&Fitter, Failure> {
        let session = if self.kept.is_some() { session } else { "" };
        let is_it = |made: &MadeFitter| made.session == session && made.settings.each_ref() == settings;
        let fitter = match self.made.iter().position(is_it) {
            Some(at) => self.made.remove(at),
            None => {
                let engine = engine()?;
                let fitter = self.make(settings[1], session, &engine)?;
                // A session that goes on with another model has one past.
                self.made.retain(|made| self.kept.is_none() || made.session != session);
                if self.made.len() == MOST {
                    self.made.remove(0);
                }
                MadeFitter { settings: settings.map(Map::clone), session: session.to_owned(), fitter }
            }
        };
        Ok(&self.made.push_mut(fitter).fitter)
    }

    fn make(&self, options: &Map<String, Value>, session: &str, engine: &Parts) -> Result<Fitter, Failure> {
        let mut options = options.clone();
        for name in ["memoryBytes", "archiveBytes"] {
            options.entry(name).or_insert_with(|| BYTES.into());
        }
        let options = Value::from(options).to_string();
        let make = |state: Option<&[u8]>| make_fitter(&options, state, |_| Ok(engine));
        let kept = self.kept.as_ref().map_or(Ok(None), |kept| kept.read(session));
        let known = kept.map_err(Failure::other).and_then(|state| state.map(|state| make(Some(&state))).transpose());
        match known {
            Ok(Some(fitter)) => Ok(fitter),
            Ok(None) => make(None),
            Err(problem) => {
                let fitter = make(None)?;
                terminal::note(&format!("what was decided before is not used: {problem}"));
                Ok(fitter)
            }
        }
    }

    /// Returns the fitter that has what left under a handle, or any where none has.
    pub(super) fn with(&self, handle: &str) -> Option<&Fitter> {
        let mut fitters = self.made.iter().map(|made| &made.fitter);
        fitters.clone().find(|fitter| fitter.retrieve(handle).is_some()).or_else(|| fitters.next())
    }
}
