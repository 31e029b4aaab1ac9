//! Fitters, one for each form and budget that is asked for.

use epitome::formats::Wire;
use epitome::{Budget, Runtime};
use epitome_fit::{FitOptions, Fitter};

use super::kept::KeptDecisions;
use super::question::{Question, Refusal};
use crate::terminal;

/// Fitters that are kept: a person's agents use a model or two at a time. The one used least recently is forgotten with
/// its conversations, each of which costs one compaction then.
const MOST: usize = 8;

/// Bytes that one fitter may remember of conversations, and of what left them. All together are as much as one fitter of a
/// service has by default.
const MEMORY_BYTES: usize = 8 * 1024 * 1024;
const ARCHIVE_BYTES: usize = 8 * 1024 * 1024;

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
    profile: Wire,
    budget: Budget,
    /// The session, where each has a fitter of its own; otherwise empty.
    session: String,
    fitter: Fitter,
}

impl Fitters {
    /// No fitters yet.
    pub(super) fn new(kept: Option<KeptDecisions>) -> Self {
        Self { made: Vec::new(), kept }
    }

    /// Keeps what the fitter used last has decided. Where that cannot be written, standard error says why: the session costs a
    /// compaction when it is taken up again.
    pub(super) fn keep_newest(&self) {
        let (Some(kept), Some(newest)) = (&self.kept, self.made.last()) else { return };
        let state = newest.fitter.state().map_err(|error| error.to_string());
        let written = state
            .and_then(|state| kept.write(&newest.session, newest.profile, &state).map_err(|error| error.to_string()));
        if let Err(problem) = written {
            terminal::note(&format!("what was decided cannot be kept: {problem}"));
        }
    }

    /// A fitter with the decisions that were kept of a session, or a new one. Where they cannot be used, standard error says why.
    fn take_up(&self, session: &str, runtime: &Runtime, profile: Wire, options: FitOptions) -> Fitter {
        let kept = self.kept.as_ref().map_or(Ok(None), |kept| kept.read(session, profile));
        let known = match kept.map_err(|error| error.to_string()) {
            Ok(Some(state)) => Fitter::from_state(&state, runtime, Some(profile), options.clone())
                .map(Some)
                .map_err(|error| error.to_string()),
            Ok(None) => Ok(None),
            Err(problem) => Err(problem),
        };
        let known = known.unwrap_or_else(|problem| {
            terminal::note(&format!("what was decided before is not used: {problem}"));
            None
        });
        known.unwrap_or_else(|| Fitter::new(runtime, profile, options))
    }

    /// The fitter for a question, made where there is none yet.
    pub(super) fn fitter(&mut self, question: &Question, runtime: &Runtime) -> Result<&Fitter, Refusal> {
        let (profile, mut options) = (question.profile()?, options(question, runtime)?);
        options.memory_bytes = MEMORY_BYTES;
        options.archive_bytes = ARCHIVE_BYTES;
        let session = if self.kept.is_some() { question.session.as_str() } else { "" };
        let is_session = |made: &MadeFitter| made.profile == profile && made.session == session;
        let is_it = |made: &MadeFitter| is_session(made) && made.budget == options.budget;
        let fitter = match self.made.iter().position(is_it) {
            Some(at) => self.made.remove(at),
            None => {
                // A session that goes on with another model has one past.
                if self.kept.is_some() {
                    self.made.retain(|made| !is_session(made));
                }
                if self.made.len() == MOST {
                    self.made.remove(0);
                }
                let budget = options.budget.clone();
                let fitter = self.take_up(session, runtime, profile, options);
                MadeFitter { profile, budget, session: session.to_owned(), fitter }
            }
        };
        self.made.push(fitter);
        let newest = self.made.last().map(|made| &made.fitter);
        newest.ok_or_else(|| Refusal { code: "fault", message: "no fitter".to_owned(), help: None })
    }

    /// All that there are.
    pub(super) fn all(&self) -> impl Iterator<Item = &Fitter> {
        self.made.iter().map(|made| &made.fitter)
    }
}

/// The budget that a question asks for.
fn options(question: &Question, runtime: &Runtime) -> Result<FitOptions, Refusal> {
    let given = [question.budget.is_some(), question.window.is_some(), question.model.is_some()];
    if given.iter().filter(|given| **given).count() > 1 {
        return Err(Refusal::bad("`budget`, `window` and `model` exclude each other", "leave one of them"));
    }
    if question.reserve.is_some() && question.window.is_none() {
        return Err(Refusal::bad("`reserve` is a part of `window`", "give `window` with it"));
    }
    match (question.budget, question.window, &question.model) {
        (Some(0), ..) => Err(Refusal::bad("`budget` is 0", "give 1 token or more")),
        (Some(tokens), ..) => Ok(FitOptions::within(tokens)),
        (None, Some(window), _) => {
            let reserve = question.reserve.unwrap_or_else(|| runtime.budget.reserve_output.min(window / 2));
            if reserve >= window {
                return Err(Refusal::bad(
                    format!("`reserve` {reserve} leaves nothing of `window` {window}"),
                    "give less",
                ));
            }
            Ok(FitOptions::for_budget(Budget { window, reserve_output: reserve, ..runtime.budget.clone() }))
        }
        (None, None, Some(model)) => {
            let budget =
                runtime.budget_for(model).map_err(|error| Refusal::bad(error.to_string(), "or give `window`"))?;
            Ok(FitOptions::for_budget(budget))
        }
        (None, None, None) => Ok(FitOptions::for_budget(runtime.budget.clone())),
    }
}
