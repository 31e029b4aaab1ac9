//! Strategies written in Python. They see and say what a strategy in another process does (docs/external-strategies.md),
//! without the process.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use epitome::providers::process;
use epitome::strategy::adapter::from_messages;
use epitome::strategy::{
    Goal, Lossiness, Message, Meta, Plan, PlanError, Registration, RequiredServices, Strategy, View,
};
use pyo3::prelude::*;

use super::pending_exceptions::{PendingExceptions, with_python};
use crate::json_text::text_of;
use crate::objects::{object_from, object_of};

/// The page of every such strategy.
const DOCS: &str = "# A strategy in Python\n\n## What it does\n\nWhat its class or function says.\n";

/// A strategy of the host, as the Python side hands it over.
#[derive(FromPyObject)]
pub(crate) struct PythonStrategy {
    id: String,
    summary: String,
    /// Whether it takes messages and gives messages back; else it takes a view and gives a plan.
    over_messages: bool,
    call: Py<PyAny>,
}

/// The registration of a strategy that is written in Python.
pub(crate) fn registration(given: PythonStrategy, raised: &Arc<PendingExceptions>) -> Registration {
    let meta = Meta {
        id: kept_text(&given.id),
        summary: kept_text(&given.summary),
        docs: DOCS,
        lossiness: Lossiness::Whole,
        needs: RequiredServices::NONE,
        since: env!("CARGO_PKG_VERSION"),
    };
    let (call, raised) = (given.call, Arc::clone(raised));
    if !given.over_messages {
        return Registration::ready(Arc::new(Planner { meta, call, raised }));
    }
    let function = move |messages: Vec<Message>, goal: &Goal| -> Result<Vec<Message>, String> {
        let answer = with_python(&raised, |py| {
            let (messages, goal) = (object_from(py, &messages)?, object_from(py, goal)?);
            text_of(&call.bind(py).call1((messages, goal))?, "messages")
        });
        let answer = answer.map_err(|problem| format!("`{}` {problem}", meta.id))?;
        serde_json::from_slice(&answer).map_err(|error| format!("`{}` gave no messages: {error}", meta.id))
    };
    Registration::ready(from_messages(meta, function))
}

/// A strategy that plans.
#[derive(Debug)]
struct Planner {
    meta: Meta,
    call: Py<PyAny>,
    raised: Arc<PendingExceptions>,
}

impl Strategy for Planner {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        if goal.is_met() {
            return Ok(Plan::decline("the goal is met"));
        }
        let failed = |problem: String| PlanError(format!("`{}` {problem}", self.meta.id));
        let request = process::request(view, goal).map_err(|error| failed(error.to_string()))?;
        let answer = with_python(&self.raised, |py| {
            let request = object_of(py, &request)?;
            let (view, goal) = (request.get_item("view")?, request.get_item("goal")?);
            text_of(&self.call.bind(py).call1((view, goal))?, "plan")
        });
        answer.and_then(|answer| process::plan(&answer)).map_err(failed)
    }
}

/// A text for the life of the process, each text once: what a [`Meta`] is made of.
fn kept_text(text: &str) -> &'static str {
    static KEPT: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(text) {
        return known;
    }
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    kept.insert(text);
    text
}
