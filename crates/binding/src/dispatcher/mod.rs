//! Every call of a package, behind one function of text and bytes.

mod fitters;
pub(crate) mod options;
mod query;
pub(crate) mod read_options;
pub(crate) mod replies;
mod reply;
mod sessions;
mod table;
pub(crate) mod values;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use epitome::Config;
use epitome_fit::Fitter;
use serde_json::json;

pub use fitters::{call_fitter, make_fitter};
pub use query::query;
pub use reply::Reply;
pub use sessions::compact;

use crate::{Compacted, Failure, Parts, engine_config};
use options::Handle;
use read_options::read_options;
use table::Table;

/// Carries out the calls of a package. It holds what the package keeps between them: engines, fitters and results, each under
/// a number that the package frees when it is done with it. Threads may share it.
#[derive(Debug, Default)]
pub struct Dispatcher {
    engines: Table<Parts>,
    fitters: Table<Fitter>,
    results: Table<Compacted>,
}

impl Dispatcher {
    /// Carries out the call of that name. `options` is a JSON object with the call's options, `data` what it works on: the
    /// text of a session, a list of messages as JSON, the state of a fitter.
    ///
    /// A defect that ends a call does not end the process where panics unwind; it is reported as an ordinary failure.
    pub fn call(&self, name: &str, options: &str, data: Vec<u8>) -> Reply {
        // What a call holds of the tables is behind locks, and whole between any two statements.
        let done = catch_unwind(AssertUnwindSafe(|| self.carry_out(name, options, data)));
        match done {
            Ok(Ok(answer)) => answer,
            Ok(Err(failure)) => Reply::of_failure(&failure),
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                Reply::of_failure(&Failure::other(format!("a defect of this package ended the call: {text}")))
            }
        }
    }

    fn carry_out(&self, name: &str, options: &str, data: Vec<u8>) -> Result<Reply, Failure> {
        match name {
            "engine" => self.make_engine(options),
            "free-engine" => Ok(Reply::json(&self.engines.free(read_options::<Handle>(options)?.handle))),
            "fitter" => self.keep_fitter(make_fitter(options, None, |engine| self.parts(engine))?),
            "fitter-from-state" => self.keep_fitter(make_fitter(options, Some(&data), |engine| self.parts(engine))?),
            "free-fitter" => Ok(Reply::json(&self.fitters.free(read_options::<Handle>(options)?.handle))),
            "fitter-copy" => self.keep_fitter(self.fitter(read_options::<Handle>(options)?.handle)?.copy()),
            "fit" | "fitter-retrieve" | "fitter-size" | "fitter-state" => {
                call_fitter(name, options, &data, |handle| self.fitter(handle))
            }
            "compact" => self.keep_result(compact(options, data, false, |engine| self.parts(engine))?),
            "preview" => Ok(Reply::json(&compact(options, data, true, |engine| self.parts(engine))?.report)),
            "free-result" => Ok(Reply::json(&self.results.free(read_options::<Handle>(options)?.handle))),
            "result-retrieve" => self.result_retrieve(options),
            "version" => Ok(Reply::json(&env!("CARGO_PKG_VERSION"))),
            // A package has what left a session in the session itself.
            other => query(other, options, data, |engine| self.parts(engine), |_| None),
        }
    }

    fn make_engine(&self, options: &str) -> Result<Reply, Failure> {
        let registry = epitome::registry();
        let config = engine_config(options, Config::default(), "null", &registry)?;
        Ok(Reply::json(&self.engines.keep(Parts::new(&config, registry, None, None)?)))
    }

    /// The number and the format of a fitter.
    fn keep_fitter(&self, fitter: Fitter) -> Result<Reply, Failure> {
        let format = fitter.profile().as_str();
        Ok(Reply::json(&json!({ "handle": self.fitters.keep(fitter), "format": format })))
    }

    fn fitter(&self, handle: u32) -> Result<Arc<Fitter>, Failure> {
        self.fitters.get(handle).ok_or_else(|| Failure::other("this fitter was closed; make another one"))
    }

    /// The engine of that number.
    fn parts(&self, engine: u32) -> Result<Arc<Parts>, Failure> {
        self.engines.get(engine).ok_or_else(|| Failure::other("this engine was closed; make another one"))
    }
}
