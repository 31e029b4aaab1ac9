//! All that a package does, behind one function of text and bytes.

mod answer;
mod ask;
mod fitters;
pub(crate) mod read;
mod sessions;
mod table;
pub(crate) mod takes;
pub(crate) mod told;
pub(crate) mod words;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use epitome::Config;
use epitome_fit::Fitter;
use serde_json::json;

pub use answer::Answer;
pub use ask::ask;
pub use fitters::{ask_fitter, make_fitter};
pub use sessions::compact;
pub use words::{compact_words, query_of};

use crate::{Compacted, Failure, Parts, engine_config};
use read::read;
use table::Table;
use words::Handle;

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
            "fitter" => self.keep_fitter(make_fitter(words, None, |engine| self.parts(engine))?),
            "fitter-from-state" => self.keep_fitter(make_fitter(words, Some(&data), |engine| self.parts(engine))?),
            "free-fitter" => Ok(Answer::json(&self.fitters.free(read::<Handle>(words)?.handle))),
            "fitter-copy" => self.keep_fitter(self.fitter(read::<Handle>(words)?.handle)?.copy()),
            "fit" | "fitter-retrieve" | "fitter-size" | "fitter-state" => {
                ask_fitter(name, words, &data, |handle| self.fitter(handle))
            }
            "compact" => self.keep_result(compact(words, data, false, |engine| self.parts(engine))?),
            "preview" => Ok(Answer::json(&compact(words, data, true, |engine| self.parts(engine))?.report)),
            "free-result" => Ok(Answer::json(&self.results.free(read::<Handle>(words)?.handle))),
            "result-retrieve" => self.result_retrieve(words),
            "version" => Ok(Answer::json(&env!("CARGO_PKG_VERSION"))),
            // A package has what left a session in the session itself.
            other => ask(other, words, data, |engine| self.parts(engine), |_| None),
        }
    }

    fn make_engine(&self, words: &str) -> Result<Answer, Failure> {
        let registry = epitome::registry();
        let config = engine_config(words, Config::default(), "null", &registry)?;
        Ok(Answer::json(&self.engines.keep(Parts::new(&config, registry, None, None)?)))
    }

    /// The number and the format of a fitter.
    fn keep_fitter(&self, fitter: Fitter) -> Result<Answer, Failure> {
        let format = fitter.profile().as_str();
        Ok(Answer::json(&json!({ "handle": self.fitters.keep(fitter), "format": format })))
    }

    fn fitter(&self, handle: u32) -> Result<Arc<Fitter>, Failure> {
        self.fitters.get(handle).ok_or_else(|| Failure::other("this fitter was closed; make another one"))
    }

    /// The engine of that number.
    fn parts(&self, engine: u32) -> Result<Arc<Parts>, Failure> {
        self.engines.get(engine).ok_or_else(|| Failure::other("this engine was closed; make another one"))
    }
}
