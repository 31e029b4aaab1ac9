//! The answers of `epitome fit --stdio`.

use std::fs::metadata;
use std::io;
use std::path::Path;

use epitome::context::{ContextStatus, Fullness};
use epitome::formats::{ReadOptions, read};
use epitome::live::Overflow;
use epitome::strategy::ArchivedContent;
use epitome::{Runtime, Session};
use epitome_fit::{Beside, FitRequest, FitStatus};
use epitome_mcp::{Call, LogIndex, SessionPast, tools};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::fitters::Fitters;
use super::kept::KeptDecisions;
use super::question::{AskedQuestion, Op, Question, Refusal};
use crate::brief::brief;
use crate::failure::Failure;
use crate::paths::is_standard;
use crate::session::input::bytes;

/// Tokens of the text of `brief` where the question gives none.
const BRIEF_TOKENS: u32 = 4_000;

/// Tokens of the text of `brief` at least, where it is a part of a context: with less of it little can be told.
const LEAST_BRIEF: u32 = 2_000;
/// It has at least one token in so many of that context, whatever stays beside it.
const LEAST_OF_CONTEXT: u32 = 20;

/// What answers.
#[derive(Debug)]
pub(super) struct Answers {
    runtime: Runtime,
    fitters: Fitters,
}

impl Answers {
    /// Answers by a runtime; what was decided is kept in a folder where there is one.
    pub(super) fn new(runtime: Runtime, kept: Option<KeptDecisions>) -> Self {
        Self { runtime, fitters: Fitters::new(kept) }
    }

    /// The answer to a line, without its end; `None` for an empty line. `tell` gets what comes before it, where the question
    /// asks for that.
    pub(super) fn answer(
        &mut self,
        line: &[u8],
        tell: impl FnOnce(String) -> io::Result<()>,
    ) -> io::Result<Option<String>> {
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let read = match line.trim_ascii_start().first() {
            // A list would be read as the fields in their order.
            Some(b'{') => serde_json::from_slice::<Question>(line).map_err(|error| error.to_string()),
            _ => Err("it is not a JSON object".to_owned()),
        };
        let question = match read {
            Ok(question) => question,
            Err(error) => {
                // Who asks may still want to know which question it was.
                let id = serde_json::from_slice::<Value>(line).map_or(Value::Null, |value| value["id"].clone());
                let message = format!("the line is not a question: {error}");
                return Ok(Some(refused(&id, &Refusal::bad(message, "a question is a JSON object on one line"))));
            }
        };
        let id = question.id.clone();
        if question.alive {
            tell(format!(r#"{{"id":{id},"alive":true}}"#))?;
        }
        Ok(Some(match self.result(&question) {
            Ok(result) => format!(r#"{{"id":{id},"result":{result}}}"#),
            Err(refusal) => refused(&id, &refusal),
        }))
    }

    /// The answer to a line that is longer than `longest` bytes.
    pub(super) fn too_long(&self, longest: u64) -> String {
        let message = format!("the line is longer than {longest} bytes");
        refused(&Value::Null, &Refusal { code: "too-long", message, help: None })
    }

    /// The result, as JSON.
    fn result(&mut self, question: &Question) -> Result<String, Refusal> {
        match question.op {
            Op::Fit => self.fit(question),
            Op::Retrieve => self.retrieve(question),
            Op::Tools => {
                let told = tools::tools(false, false);
                let told = told
                    .iter()
                    .map(|tool| json!({"name": tool.name, "description": tool.description, "parameters": tool.schema}));
                Ok(json!({"tools": told.collect::<Vec<Value>>()}).to_string())
            }
            Op::Ask => self.ask(question),
            Op::Brief => {
                let session = session_of(question)?;
                let tokens = self.brief_tokens(question)?;
                let told = brief(&session, &self.runtime, tokens);
                let told = told.map_err(|failure| Refusal::bad(failure.words().0, "give it more `tokens`"))?;
                let text = self.runtime.base_engine.redacted(&told.text);
                Ok(json!({"text": text, "messages": told.messages}).to_string())
            }
        }
    }

    fn fit(&mut self, question: &Question) -> Result<String, Refusal> {
        let list = question.list()?;
        let fitter = self.fitters.fitter(question, &self.runtime)?;
        let mut request = FitRequest::new(&list);
        request.key = &question.session;
        request.system = beside(question.system.as_deref());
        request.tools = beside(question.tools.as_deref());
        request.asked = question.asked.as_ref().map(AskedQuestion::model_request).transpose()?;
        let fitted = match &question.overflow {
            None => fitter.fit(&request),
            Some(told) => fitter.fit_after(&request, Overflow { limit: told.limit, actual: told.actual }),
        };
        let fitted = fitted.map_err(|error| Refusal::bad(error.to_string(), "send the list as it is"))?;
        if fitted.status == FitStatus::Compacted {
            self.fitters.keep_newest();
        }
        if question.report {
            return Ok(fitted.report_json());
        }
        serde_json::to_string(&fitted).map_err(|error| fault(&error))
    }

    fn retrieve(&self, question: &Question) -> Result<String, Refusal> {
        let missing = || Refusal::bad("`handle` is missing", "`removals` of an answer name handles");
        let handle = question.handle.as_deref().ok_or_else(missing)?;
        let found = self.fitters.all().find_map(|fitter| Some((fitter, fitter.retrieve(handle)?)));
        let Some((fitter, content)) = found else {
            let message = format!("nothing is kept under `{handle}`");
            return Err(Refusal { code: "unknown-handle", message, help: None });
        };
        match content {
            ArchivedContent::Text(text) => Ok(json!({"text": &*text}).to_string()),
            ArchivedContent::Messages(messages) => {
                let messages: Vec<epitome::Message> = messages.iter().map(|it| epitome::Message::clone(it)).collect();
                let written = epitome::formats::write_messages(fitter.profile(), &messages);
                let written = written.map_err(|error| fault(&error))?;
                Ok(format!(r#"{{"messages":[{}]}}"#, written.join(",")))
            }
        }
    }

    /// The most tokens of the text of `brief`.
    fn brief_tokens(&self, question: &Question) -> Result<u32, Refusal> {
        match (question.tokens, question.context) {
            (Some(_), Some(_)) => Err(Refusal::bad("`tokens` and `context` exclude each other", "leave one of them")),
            (Some(tokens), None) => Ok(tokens),
            (None, None) => Ok(BRIEF_TOKENS),
            (None, Some(context)) => {
                let target = self.runtime.budget.target.tokens(context).min(context);
                Ok(target.saturating_sub(question.beside).max(LEAST_BRIEF).max(context / LEAST_OF_CONTEXT))
            }
        }
    }

    fn status(&self, session: &Session) -> ContextStatus {
        let Runtime { budget, triggers, model, .. } = &self.runtime;
        let engine = epitome::engine_of(&self.runtime);
        ContextStatus::measure(session, &engine, budget, |ledger| {
            let tokens = ledger.total();
            Fullness::measure_reported(ledger, session, tokens, budget, triggers).for_model(model.as_deref())
        })
    }

    fn ask(&self, question: &Question) -> Result<String, Refusal> {
        let tool = question.tool.as_deref().unwrap_or_default();
        let call = match Call::read(tool, &question.arguments) {
            Ok(call) => call,
            // A model that asks wrongly is told so in the words for models.
            Err(problem) => return Ok(json!({"text": problem, "is_error": true}).to_string()),
        };
        let session = session_of(question)?;
        let mut index = LogIndex::default();
        let archive = |handle: &str| Ok(self.fitters.all().find_map(|fitter| fitter.retrieve(handle)));
        let status = || self.status(&session);
        let mut past = SessionPast { session: &session, index: &mut index, archive: &archive, status: &status };
        let answer = past.answer(&call);
        Ok(json!({"text": answer.text, "is_error": answer.is_refusal}).to_string())
    }
}

/// What is beside the list: JSON, or a number of tokens.
fn beside(given: Option<&RawValue>) -> Beside<'_> {
    match given.map(RawValue::get) {
        None | Some("null") => Beside::Nothing,
        Some(json) => json.parse().map_or(Beside::Json(json), Beside::Tokens),
    }
}

/// The session that a question is about: in a file, in the content of one, or in a list.
fn session_of(question: &Question) -> Result<Session, Refusal> {
    let (content, format) = match (&question.file, &question.content) {
        (Some(file), None) => (content_of(file)?, None),
        (None, Some(content)) => (content.clone().into_bytes(), None),
        (None, None) => {
            let profile = question.profile()?;
            let list = question.list()?.join(",");
            (format!(r#"{{"{}":[{list}]}}"#, profile.list_field()).into_bytes(), Some(profile.into()))
        }
        (Some(_), Some(_)) => return Err(Refusal::bad("`file` and `content` exclude each other", "leave one of them")),
    };
    let options = ReadOptions { format, ..ReadOptions::default() };
    let loaded = read(content, options)
        .map_err(|error| Refusal::bad(error.to_string(), "give a session in a format that is read"))?;
    let first = loaded.sessions.into_iter().next();
    Ok(first.map(|first| first.session).unwrap_or_default())
}

/// The content of a session's file. Standard input and pipes are refused: to read them would be to wait for their end, and the
/// questions come by one.
fn content_of(file: &Path) -> Result<Vec<u8>, Refusal> {
    let is_stream = is_standard(file) || metadata(file).is_ok_and(|about| !about.is_file() && !about.is_dir());
    if is_stream {
        let message = format!("`file`: `{}` is not a file", file.display());
        return Err(Refusal::bad(message, "name the file of a session, or give its text as `content`"));
    }
    bytes(file).map_err(refusal_of)
}

fn refusal_of(failure: Failure) -> Refusal {
    let (message, help) = failure.words();
    Refusal { code: "bad-request", message, help: help.map(str::to_owned) }
}

fn fault(error: &dyn std::fmt::Display) -> Refusal {
    Refusal { code: "fault", message: format!("this is a fault of epitome: {error}"), help: None }
}

fn refused(id: &Value, refusal: &Refusal) -> String {
    let mut error = json!({"code": refusal.code, "message": refusal.message});
    if let Some(help) = &refusal.help {
        error["help"] = help.as_str().into();
    }
    json!({"id": id, "error": error}).to_string()
}
