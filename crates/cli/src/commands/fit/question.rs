//! The questions of `epitome fit --stdio`.

use std::path::PathBuf;

use epitome::formats::Wire;
use epitome::live::ModelRequest;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A question, as a line has it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Question {
    /// Comes back with the answer.
    pub(super) id: Value,
    /// What is asked for.
    pub(super) op: Op,
    /// Whether a line says that the question is being worked on, before the answer: an answer may take a model's time, and who
    /// asks would not tell that from a program that hangs.
    pub(super) alive: bool,
    /// Tells sessions apart that begin alike.
    pub(super) session: String,
    /// The form of the messages.
    pub(super) format: Option<String>,
    /// The list.
    pub(super) messages: Option<Vec<Box<RawValue>>>,
    /// The system prompt beside the list, or its tokens.
    pub(super) system: Option<Box<RawValue>>,
    /// The definitions of tools, or their tokens.
    pub(super) tools: Option<Box<RawValue>>,
    /// The most tokens of a request.
    pub(super) budget: Option<u32>,
    /// The window of the model, in tokens; the thresholds are those of the configuration.
    pub(super) window: Option<u32>,
    /// What of the window is for the answer.
    pub(super) reserve: Option<u32>,
    /// A model whose window is known.
    pub(super) model: Option<String>,
    /// A compaction that the conversation's model asks for.
    pub(super) asked: Option<AskedQuestion>,
    /// The provider refused what was sent as too long.
    pub(super) overflow: Option<OverflowQuestion>,
    /// Whether the answer has the engine's report.
    pub(super) report: bool,
    /// The handle of `retrieve`.
    pub(super) handle: Option<String>,
    /// The tool of `ask`.
    pub(super) tool: Option<String>,
    /// Its arguments.
    pub(super) arguments: Map<String, Value>,
    /// A session's file, for `ask` and `brief`.
    pub(super) file: Option<PathBuf>,
    /// The content of one, in any format that is read.
    pub(super) content: Option<String>,
    /// The most tokens of the text of `brief`.
    pub(super) tokens: Option<u32>,
    /// In their place the tokens of the context that is compacted: text and `beside` are as much of it as the configuration's
    /// target says.
    pub(super) context: Option<u32>,
    /// The tokens of what stays in the context beside the text.
    pub(super) beside: u32,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Op {
    /// What to send in place of a list.
    #[default]
    Fit,
    /// What left under a handle.
    Retrieve,
    /// The tools that look things up, for a model.
    Tools,
    /// An answer of one of them.
    Ask,
    /// What matters of a session, as one text.
    Brief,
}

/// What a model gives with its call of `compact_context`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AskedQuestion {
    reason: String,
    next_step: String,
    keep: Vec<String>,
}

impl AskedQuestion {
    /// The compaction that is asked for. The error says which text of `keep` names nothing.
    pub(super) fn model_request(&self) -> Result<ModelRequest, Refusal> {
        let made = ModelRequest::from_texts(&self.reason, &self.next_step, &self.keep);
        made.map_err(|problem| Refusal::bad(format!("`asked`: {problem}"), "ask without it"))
    }
}

/// What a provider said of a request that was too long.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OverflowQuestion {
    /// The limit that it named.
    pub(super) limit: Option<u32>,
    /// The tokens that it counted.
    pub(super) actual: Option<u32>,
}

/// A question that cannot be answered.
#[derive(Debug)]
pub(super) struct Refusal {
    /// What went wrong, as a word for a program.
    pub(super) code: &'static str,
    /// The problem, in words.
    pub(super) message: String,
    /// The next step.
    pub(super) help: Option<String>,
}

impl Refusal {
    /// A question that is wrong.
    pub(super) fn bad(message: impl Into<String>, help: &str) -> Self {
        Self { code: "bad-request", message: message.into(), help: Some(help.to_owned()) }
    }
}

impl Question {
    /// The form of the messages.
    pub(super) fn profile(&self) -> Result<Wire, Refusal> {
        let forms = || Wire::ALL.map(|profile| profile.as_str()).join(", ");
        let Some(name) = &self.format else {
            return Err(Refusal::bad("`format` is missing", &format!("it is one of {}", forms())));
        };
        let found = Wire::ALL.into_iter().find(|profile| profile.as_str() == name);
        found.ok_or_else(|| {
            Refusal::bad(format!("`format`: there is no `{name}`"), &format!("it is one of {}", forms()))
        })
    }

    /// The messages, as texts.
    pub(super) fn list(&self) -> Result<Vec<&str>, Refusal> {
        let missing = || Refusal::bad("`messages` is missing", "give the list of messages, as the provider takes it");
        Ok(self.messages.as_ref().ok_or_else(missing)?.iter().map(|message| message.get()).collect())
    }
}
