//! InterCode: a question, and the queries tried for it with what each returned.

use epitome::Session;
use epitome::session::{Arguments, Block, Content, Message, Origin, Role, ToolCall, ToolResult};
use serde_json::{Value, json};

use super::turns::{Named, first_entry, items, push, session, text_of, turn};

pub(super) fn fits(document: &Value) -> bool {
    first_entry(document)
        .is_some_and(|run| run["turn_history"]["actions"].is_array() && run["turn_history"]["observations"].is_array())
}

pub(super) fn read(document: &Value) -> Vec<Named> {
    let runs = document.as_object().into_iter().flatten();
    runs.map(|(name, run)| (name.clone(), of_run(name, run))).collect()
}

fn of_run(name: &str, run: &Value) -> Session {
    let mut log = session(name);
    push(&mut log, turn("", true, &text_of(&run["query"])));
    let history = &run["turn_history"];
    let observations = items(&history["observations"]);
    for (number, action) in items(&history["actions"]).iter().enumerate() {
        let id = format!("sql-{number}");
        let arguments = Arguments::Json(json!({ "query": text_of(action) }).to_string().into());
        let call = ToolCall { id: id.as_str().into(), name: "sql".into(), arguments };
        log.push(Message::new("", Role::Assistant, Origin::Model, vec![Block::new(Content::ToolCall(call))]));
        if let Some(observation) = observations.get(number) {
            log.push(Message::result(
                "",
                ToolResult {
                    call_id: id.into(),
                    name: Some("sql".into()),
                    text: text_of(observation).into(),
                    attachments: Vec::new(),
                    is_error: history["valid_action"][number] == Value::Bool(false),
                },
            ));
        }
    }
    log
}
