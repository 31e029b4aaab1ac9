//! Fitters, one for each form and budget that is asked for.

use epitome::formats::Wire;
use epitome::{Budget, Runtime};
use epitome_fit::{FitOptions, Fitter};

use super::question::{Question, Refusal};

/// Fitters that are kept: a person's agents use a model or two at a time. The one used least recently is forgotten with
/// its conversations, each of which costs one compaction then.
const MOST: usize = 8;

/// Bytes that one fitter may remember of conversations, and of what left them. All together are as much as one fitter of a
/// service has by default.
const MEMORY_BYTES: usize = 8 * 1024 * 1024;
const ARCHIVE_BYTES: usize = 8 * 1024 * 1024;

/// Fitters, the one used last at the end.
#[derive(Debug, Default)]
pub(super) struct Fitters(Vec<(Wire, Budget, Fitter)>);

impl Fitters {
    /// The fitter for a question, made where there is none yet.
    pub(super) fn fitter(&mut self, question: &Question, runtime: &Runtime) -> Result<&Fitter, Refusal> {
        let (profile, mut options) = (question.profile()?, options(question, runtime)?);
        options.memory_bytes = MEMORY_BYTES;
        options.archive_bytes = ARCHIVE_BYTES;
        let is_it = |kept: &(Wire, Budget, Fitter)| kept.0 == profile && kept.1 == options.budget;
        let fitter = match self.0.iter().position(is_it) {
            Some(at) => self.0.remove(at),
            None => {
                if self.0.len() == MOST {
                    self.0.remove(0);
                }
                (profile, options.budget.clone(), Fitter::new(runtime, profile, options))
            }
        };
        self.0.push(fitter);
        let newest = self.0.last().map(|(_, _, fitter)| fitter);
        newest.ok_or_else(|| Refusal { code: "fault", message: "no fitter".to_owned(), help: None })
    }

    /// All that there are.
    pub(super) fn all(&self) -> impl Iterator<Item = &Fitter> {
        self.0.iter().map(|(_, _, fitter)| fitter)
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
