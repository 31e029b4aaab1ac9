//! All that a package does, behind one function of text and bytes.

mod answer;
mod fitters;
mod sessions;
mod table;
mod words;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use epitome::formats::Format;
use epitome_fit::Fitter;
use serde::Serialize;
use serde_json::json;

pub use answer::Answer;

use crate::{Compacted, Failure, Parts};
use table::Table;
use words::{Counter, EngineHandle, EngineWords, Handle, Refusal, read};

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
            "inspect" => self.inspect(words, data),
            "check" => self.check(words, data),
            "count" => self.count(words, data),
            "count-text" => self.count_text(words, &data),
            "search" => self.search(words, data),
            "convert" => self.convert(words, data),
            "validate" => self.validate(words, data),
            "strategies" => self.strategies(words),
            "formats" => Ok(Answer::json(&formats())),
            "context-overflow" => context_overflow(words, data),
            "version" => Ok(Answer::json(&env!("CARGO_PKG_VERSION"))),
            other => Err(Failure::other(format!(
                "there is no call `{other}`: the parts of this package are of two versions"
            ))),
        }
    }

    fn make_engine(&self, words: &str) -> Result<Answer, Failure> {
        Ok(Answer::json(&self.engines.keep(read::<EngineWords>(words)?.build()?)))
    }

    fn strategies(&self, words: &str) -> Result<Answer, Failure> {
        let parts = self.parts(read::<EngineHandle>(words)?.engine)?;
        let metas: Vec<_> = parts.registry.iter().map(|registration| &registration.meta).collect();
        Ok(Answer::json(&metas))
    }

    fn count_text(&self, words: &str, data: &[u8]) -> Result<Answer, Failure> {
        let text = String::from_utf8_lossy(data);
        let tokens = match read::<Counter>(words)? {
            Counter { engine: Some(engine), counter: None } => self.parts(engine)?.runtime.counter.count(&text),
            Counter { counter: Some(name), .. } => {
                epitome::tokens::by_name(&name).map_err(|error| Failure::config(error.to_string()))?.count(&text)
            }
            Counter { engine: None, counter: None } => return Err(Failure::config("`counter` is missing")),
        };
        Ok(Answer::json(&tokens))
    }

    /// The engine of that number.
    fn parts(&self, engine: u32) -> Result<Arc<Parts>, Failure> {
        self.engines.get(engine).ok_or_else(|| Failure::other("this engine was closed; make another one"))
    }
}

/// A format of sessions.
#[derive(Debug, Serialize)]
struct FormatEntry {
    name: &'static str,
    about: &'static str,
    writable: bool,
}

fn formats() -> Vec<FormatEntry> {
    let entry = |(format, name, about): &(Format, &'static str, &'static str)| FormatEntry {
        name,
        about,
        writable: format.is_writable(),
    };
    Format::ALL.iter().map(entry).collect()
}

fn context_overflow(words: &str, data: Vec<u8>) -> Result<Answer, Failure> {
    let Refusal { status } = read(words)?;
    let body = String::from_utf8_lossy(&data);
    let found = epitome::providers::chat::is_context_overflow(status, &body);
    Ok(Answer::json(&found.map(|it| json!({ "limit": it.limit, "actual": it.actual }))))
}
