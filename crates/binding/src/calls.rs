//! All that a package does, behind one function of text and bytes.

mod answer;
mod ask;
mod fitters;
mod sessions;
mod table;
mod words;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use epitome_fit::Fitter;

pub use answer::Answer;
pub use ask::ask;

use crate::{Compacted, Failure, Parts};
use table::Table;
use words::{EngineWords, Handle, read};

/// What a package holds between its calls: engines, fitters and results, each under a number that the package gives back
/// when it is done with it. Threads may share it.
#[derive(Debug, Default)]
pub struct Calls {
    engines: Table<Parts>,
    fitters: Table<Fitter>,
    results: Table<Compacted>,
}

impl Calls {
    /// Carries out the call of that name. `words` is a JSON object with what the call takes, `data` what it works on: the
    /// text of a session, a list of messages as JSON, the state of a fitter.
    ///
    /// A defect that ends a call does not end the process where panics unwind; it is told like any other failure.
    pub fn answer(&self, name: &str, words: &str, data: Vec<u8>) -> Answer {
        // What a call holds of the tables is behind locks, and whole between any two statements.
        let done = catch_unwind(AssertUnwindSafe(|| self.carry_out(name, words, data)));
        match done {
            Ok(Ok(answer)) => answer,
            Ok(Err(failure)) => Answer::of_failure(&failure),
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                Answer::of_failure(&Failure::other(format!("a defect of this package ended the call: {text}")))
            }
        }
    }

    fn carry_out(&self, name: &str, words: &str, data: Vec<u8>) -> Result<Answer, Failure> {
        match name {
            "engine" => self.make_engine(words),
            "free-engine" => Ok(Answer::json(&self.engines.free(read::<Handle>(words)?.handle))),
            "fitter" => self.make_fitter(words),
            "fitter-from-state" => self.make_fitter_from_state(words, &data),
            "free-fitter" => Ok(Answer::json(&self.fitters.free(read::<Handle>(words)?.handle))),
            "fit" => self.fit(words, &data),
            "fitter-retrieve" => self.fitter_retrieve(words),
            "fitter-size" => self.fitter_size(words),
            "fitter-copy" => self.fitter_copy(words),
            "fitter-state" => self.fitter_state(words),
            "compact" => self.compact(words, data),
            "preview" => self.preview(words, data),
            "free-result" => Ok(Answer::json(&self.results.free(read::<Handle>(words)?.handle))),
            "result-retrieve" => self.result_retrieve(words),
            "version" => Ok(Answer::json(&env!("CARGO_PKG_VERSION"))),
            other => ask(other, words, data, |engine| self.parts(engine)),
        }
    }

    fn make_engine(&self, words: &str) -> Result<Answer, Failure> {
        Ok(Answer::json(&self.engines.keep(read::<EngineWords>(words)?.build()?)))
    }

    /// The engine of that number.
    fn parts(&self, engine: u32) -> Result<Arc<Parts>, Failure> {
        self.engines.get(engine).ok_or_else(|| Failure::other("this engine was closed; make another one"))
    }
}
