//! InterCode: a question, and the queries tried for it with what each returned.

use epitome_session::{Arguments, Message, Origin, Role};
use serde_json::{Value, json};

use super::fields::{first_entry, items, shown};
use super::log::{Answer, Log, gather};
use super::parts::Payload;
use crate::error::{ReadError, Warning};
use crate::format::Format;
use crate::input::Probe;
use crate::loaded::LoadedSession;
use crate::reader::FormatReader;

pub(super) const READER: FormatReader = FormatReader { format: Format::Intercode, fits, read };

fn fits(probe: &Probe<'_>) -> bool {
    first_entry(&probe.document)
        .is_some_and(|run| run["turn_history"]["actions"].is_array() && run["turn_history"]["observations"].is_array())
}

fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let runs = probe.document.as_object().into_iter().flatten();
    let sessions = runs.map(|(name, run)| (name.clone(), session(name, run)));
    gather(Format::Intercode, sessions, warnings)
}

fn session(name: &str, run: &Value) -> Option<LoadedSession> {
    let mut log = Log::new(name);
    log.push_text("", Role::User, Origin::Typed, &shown(&run["query"]), None);
    let history = &run["turn_history"];
    let observations = items(&history["observations"]);
    for (number, action) in items(&history["actions"]).iter().enumerate() {
        let id = format!("sql-{number}");
        let query = Arguments::Json(json!({ "query": shown(action) }).to_string().into());
        let call = log.call(&id, "sql", query);
        log.push(Message::new("", Role::Assistant, Origin::Model, vec![call]));
        if let Some(observation) = observations.get(number) {
            let answer = Answer {
                call_id: &id,
                name: None,
                payload: Payload { text: shown(observation), attachments: Vec::new() },
                is_error: history["valid_action"][number] == Value::Bool(false),
            };
            let result = log.answer("", answer, None);
            log.push(result);
        }
    }
    log.finish(name)
}

#[cfg(test)]
#[path = "intercode_tests.rs"]
mod tests;
