//! A summarizer written in Python.

use std::sync::Arc;

use epitome::Session;
use epitome::formats::{Wire, render};
use epitome::strategy::{Message, ModelUsage, SummarizeError, Summarizer, Summary, SummaryTask, async_trait};
use pyo3::prelude::*;
use serde_json::{Value, json};

use super::pending_exceptions::{PendingExceptions, with_python};
use crate::json_text::WholeText;
use crate::objects::object_from;

/// Asks a callable for the text, and another summarizer where that gives none.
#[derive(Debug)]
pub(crate) struct PythonSummarizer {
    /// What is asked.
    pub(crate) call: Py<PyAny>,
    /// Who writes the summary where the callable fails; `None` where nothing is to be done then.
    pub(crate) second: Option<Arc<dyn Summarizer>>,
    /// Keeps what the callable raises.
    pub(crate) raised: Arc<PendingExceptions>,
}

/// What a callable gives: the text, and the tokens that a model read and wrote for it.
type Written = (WholeText, u64, u64);

impl PythonSummarizer {
    fn ask(&self, task: &SummaryTask<'_>) -> Result<Summary, String> {
        let asked = json!({
            "messages": messages_of(task.messages)?,
            "max_tokens": task.request.max_tokens,
            "focus": task.request.focus,
            "is_handoff": task.request.is_handoff(),
            "language": task.language,
        });
        let (WholeText(text), input_tokens, output_tokens) = with_python(&self.raised, |py| {
            self.call.bind(py).call1((object_from(py, &asked)?,))?.extract::<Written>()
        })?;
        if text.trim().is_empty() {
            return Err("gave an empty text".to_owned());
        }
        // A callable that asks no model says that none read or wrote anything.
        let answers = u64::from(input_tokens + output_tokens > 0);
        let usage = ModelUsage { model: Arc::from(""), answers, input_tokens, cached_tokens: 0, output_tokens };
        Ok(Summary { text, usage: usage.into(), ..Summary::default() })
    }
}

#[async_trait]
impl Summarizer for PythonSummarizer {
    fn kind(&self) -> &str {
        "python"
    }

    async fn summarize(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        let problem = match self.ask(task) {
            Ok(summary) => return Ok(summary),
            Err(problem) => format!("the summarizer {problem}"),
        };
        match &self.second {
            None => Err(SummarizeError::new(problem, false)),
            Some(second) => {
                let summary = second.summarize(task).await?;
                Ok(Summary { fell_back: Some(problem), ..summary })
            }
        }
    }
}

/// Messages as OpenAI's chat completions have them: the form that every client of a model takes.
fn messages_of(messages: &[Arc<Message>]) -> Result<Value, String> {
    let mut session = Session::new();
    for message in messages {
        session.push(Message { records: Vec::new(), ..Message::clone(message) });
    }
    let rendered = render(session.view(), Wire::OpenaiChat, None, None);
    let mut request: Value = serde_json::from_str(&rendered.json).map_err(|error| error.to_string())?;
    Ok(request["messages"].take())
}
