//! The calls of `epitome fit --stdio`: those of the packages for other languages, each a line.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use epitome::Config;
use epitome::formats::Wire;
use epitome_binding::{Failure, Parts, Reply, call_fitter, engine_config, query, read_options};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::fitters::Fitters;
use super::kept::KeptDecisions;
use crate::paths::is_standard;
use crate::session::input::bytes;

/// The call that a line makes without a name, and that which brings back what left; others only look.
const FIT: &str = "fit";
const RETRIEVE: &str = "fitter-retrieve";

/// What a line has beside the options of its call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Envelope<'a> {
    /// The name of the call; `fit` without one.
    call: Option<String>,
    /// Whether a line says that the call is being worked on, before its answer.
    alive: bool,
    /// Whether the answer has the report of the fitting.
    report: bool,
    /// The options of the engine, over those of the configuration.
    engine: Map<String, Value>,
    /// The options of the fitter.
    fitter: Map<String, Value>,
    /// What the call works on: messages as JSON, the text of a session, or the path of a file with one.
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    content: Option<String>,
    file: Option<PathBuf>,
}

impl Envelope<'_> {
    /// The names of its fields.
    const NAMES: [&'static str; 8] = ["call", "alive", "report", "engine", "fitter", "messages", "content", "file"];

    /// Takes the options of the fitter and of its engine that stand among those of a call that fits: a budget, or a model's window,
    /// is all that most lists need.
    fn take_budget(&mut self, options: &mut BTreeMap<String, &RawValue>) -> Result<(), Failure> {
        for name in ["budget", "model", "window", "reserveOutput"] {
            let Some(value) = options.remove(name) else { continue };
            let (of, known) =
                if name == "budget" { ("fitter", &mut self.fitter) } else { ("engine", &mut self.engine) };
            if known.insert(name.to_owned(), read_options(value.get())?).is_some() {
                return Err(Failure::config(format!("`{name}` stands in the line and in `{of}`: leave one of them")));
            }
        }
        Ok(())
    }

    /// What the call works on.
    fn data(&mut self) -> Result<Vec<u8>, Failure> {
        match (self.messages, self.content.take(), &self.file) {
            (None, None, None) => Ok(Vec::new()),
            (Some(messages), None, None) => Ok(messages.get().into()),
            (None, Some(content), None) => Ok(content.into()),
            (None, None, Some(file)) => content_of(file),
            _ => Err(Failure::config("`messages`, `content` and `file` exclude each other: leave one of them")),
        }
    }
}

/// Carries out the calls of lines.
#[derive(Debug)]
pub(super) struct Calls {
    config: Config,
    engine: Arc<Parts>,
    fitters: Fitters,
}

impl Calls {
    /// By a configuration; what was decided is kept in a folder where there is one. The error says what is wrong with the
    /// configuration.
    pub(super) fn new(config: Config, kept: Option<KeptDecisions>) -> Result<Self, Failure> {
        let engine = Arc::new(Parts::new(&config, epitome::registry(), None, None)?);
        Ok(Self { config, engine, fitters: Fitters::new(kept) })
    }

    /// Returns the answer to a line, without its end; `None` for an empty line. `tell` gets what comes before it, where the
    /// line asks for that.
    pub(super) fn answer(
        &mut self,
        line: &[u8],
        tell: impl FnOnce(String) -> io::Result<()>,
    ) -> io::Result<Option<String>> {
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let fields = std::str::from_utf8(line).map_err(|error| error.to_string()).and_then(|text| {
            serde_json::from_str(text).map(|fields| (text, fields)).map_err(|error| error.to_string())
        });
        let (text, mut fields): (&str, BTreeMap<String, &RawValue>) = match fields {
            Ok(fields) => fields,
            Err(problem) => return Ok(Some(unreadable(format_args!("is not a JSON object: {problem}")))),
        };
        let id = fields.remove("id").map_or("null", RawValue::get);
        let mut envelope = match read_options::<Envelope<'_>>(text) {
            Ok(envelope) => envelope,
            Err(failure) => return Ok(Some(answer_line(id, &Reply::of_failure(&failure), false))),
        };
        fields.retain(|name, _| !Envelope::NAMES.contains(&name.as_str()));
        if envelope.alive {
            tell(format!(r#"{{"id":{id},"alive":true}}"#))?;
        }
        let is_fit = envelope.call.as_deref().is_none_or(|call| call == FIT);
        let taken = if is_fit { envelope.take_budget(&mut fields) } else { Ok(()) };
        let answer = taken.and_then(|()| self.carry_out(envelope, &fields));
        let answer = answer.unwrap_or_else(|failure| Reply::of_failure(&failure));
        Ok(Some(answer_line(id, &answer, is_fit)))
    }

    fn carry_out(&mut self, mut line: Envelope<'_>, options: &BTreeMap<String, &RawValue>) -> Result<Reply, Failure> {
        let data = line.data()?;
        let options_json = serde_json::to_string(options).map_err(Failure::other)?;
        let engine = || {
            if line.engine.is_empty() {
                return Ok(Arc::clone(&self.engine));
            }
            let (registry, own) = (epitome::registry(), Value::from(line.engine.clone()).to_string());
            let config = engine_config(&own, self.config.clone(), "null", &registry)?;
            Ok(Arc::new(Parts::new(&config, registry, None, None)?))
        };
        let text =
            |name: &str| options.get(name).and_then(|text| read_options::<String>(text.get()).ok()).unwrap_or_default();
        match line.call.as_deref().unwrap_or(FIT) {
            FIT => {
                // The packages tell it by the list. Read in another form, a list may seem to be empty.
                if !options.contains_key("format") && !line.fitter.contains_key("format") {
                    let forms = Wire::ALL.map(Wire::as_str).join(", ");
                    return Err(Failure::config(format!(
                        "`format` is missing: name the form of the list, one of {forms}"
                    )));
                }
                let fitter = self.fitters.fitter([&line.engine, &line.fitter], &text("key"), engine)?;
                let answer = call_fitter(FIT, &options_json, &data, |_| Ok(fitter))?;
                self.fitters.keep_newest(&answer);
                Ok(Reply { bytes: answer.bytes.filter(|_| line.report), ..answer })
            }
            RETRIEVE => {
                let fitter = self.fitters.with(&text("of"));
                let fitter = fitter.ok_or_else(|| Failure::other("nothing was fitted yet, so nothing has left"))?;
                call_fitter(RETRIEVE, &options_json, &data, |_| Ok(fitter))
            }
            name => {
                let archive = |handle: &str| self.fitters.with(handle).and_then(|fitter| fitter.retrieve(handle));
                query(name, &options_json, data, |_| engine(), archive)
            }
        }
    }
}

/// The content of a session's file. Standard input and pipes are refused: to read them would be to wait for their end, and
/// the lines come by one.
fn content_of(file: &Path) -> Result<Vec<u8>, Failure> {
    let is_stream = is_standard(file) || metadata(file).is_ok_and(|about| !about.is_file() && !about.is_dir());
    if is_stream {
        let problem = format!("`file`: `{}` is not a file: name one, or give its text as `content`", file.display());
        return Err(Failure::config(problem));
    }
    bytes(file).map_err(|failure| Failure::Format(failure.words().0))
}

/// The answer to a line that cannot be read.
pub(super) fn unreadable(problem: impl Display) -> String {
    answer_line("null", &Reply::of_failure(&Failure::Format(format!("the line {problem}"))), false)
}

/// An answer as a line, with what is beside it: JSON, such as the report of a fitting, or the text of a session.
fn answer_line(id: &str, Reply { is_failure, json, bytes }: &Reply, are_json: bool) -> String {
    let name = if *is_failure { "error" } else { "result" };
    let beside = bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes));
    let beside = beside.map_or_else(String::new, |text| match are_json {
        true => format!(r#","report":{text}"#),
        false => format!(r#","data":{}"#, Value::from(&*text)),
    });
    format!(r#"{{"id":{id},"{name}":{json}{beside}}}"#)
}
