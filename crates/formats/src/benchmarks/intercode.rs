//! InterCode: a question, and the queries tried for it with what each returned.

use epitome_session::{Arguments, Message, Origin, Role};
use serde_json::{Value, json};

use super::sets::first_entry;
use crate::json::value::{items, text_of};
use crate::reader::{Format, LoadedSession, Probe, ReadError, Warning};
use crate::recording::content::Payload;
use crate::recording::session_builder::{Answer, SessionBuilder, gather};

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    first_entry(&probe.document)
        .is_some_and(|run| run["turn_history"]["actions"].is_array() && run["turn_history"]["observations"].is_array())
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let runs = probe.document.as_object().into_iter().flatten();
    let sessions = runs.map(|(name, run)| (name.clone(), session(name, run)));
    gather(Format::Intercode, sessions, warnings)
}

fn session(name: &str, run: &Value) -> Option<LoadedSession> {
    let mut log = SessionBuilder::new(name);
    log.push_text("", Role::User, Origin::Typed, &text_of(&run["query"]), None);
    let history = &run["turn_history"];
    let observations = items(&history["observations"]);
    for (number, action) in items(&history["actions"]).iter().enumerate() {
        let id = format!("sql-{number}");
        let query = Arguments::Json(json!({ "query": text_of(action) }).to_string().into());
        let call = log.call(&id, "sql", query);
        log.push(Message::new("", Role::Assistant, Origin::Model, vec![call]));
        if let Some(observation) = observations.get(number) {
            let answer = Answer {
                call_id: &id,
                name: None,
                payload: Payload { text: text_of(observation), attachments: Vec::new() },
                is_error: history["valid_action"][number] == Value::Bool(false),
            };
            let result = log.answer("", answer, None);
            log.push(result);
        }
    }
    log.finish(name)
}
