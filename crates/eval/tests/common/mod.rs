//! Sessions and cases from lines.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use epitome::session::{Arguments, Block, Content, Message, Origin, Role, Session, ToolCall, ToolResult};
use epitome_eval::{Case, CaseId};

/// A session from lines: `S` system, `U` typed, `A` the model's text, `C tool {json}` a call, `R` its result, `M` a summary
/// that the agent recorded. `\n` stands
/// for a line break.
pub(crate) fn session(lines: &[&str]) -> Session {
    let mut session = Session::new();
    let mut open = String::new();
    for (number, line) in lines.iter().enumerate() {
        let (kind, text) = line.split_once(' ').unwrap();
        let text = text.replace("\\n", "\n");
        let id = format!("m{number}");
        session.push(match kind {
            "S" => Message::text(id, Role::System, Origin::Instructions, text),
            "U" => Message::text(id, Role::User, Origin::Typed, text),
            "M" => Message::text(id, Role::User, Origin::Summary, text),
            "A" => Message::text(id, Role::Assistant, Origin::Model, text),
            "C" => {
                let (name, json) = text.split_once(' ').unwrap();
                open = format!("call{number}");
                let arguments = Arguments::Json(json.replace('\n', "\\n").into());
                let call = ToolCall { id: open.as_str().into(), name: name.into(), arguments };
                Message::new(id, Role::Assistant, Origin::Model, vec![Block::new(Content::ToolCall(call))])
            }
            "R" => {
                let result = ToolResult {
                    call_id: open.as_str().into(),
                    name: None,
                    text: text.into(),
                    attachments: Vec::new(),
                    is_error: false,
                };
                Message::result(id, result)
            }
            other => panic!("no such kind: {other}"),
        });
    }
    session
}

pub(crate) fn id() -> CaseId {
    CaseId { file: "f".into(), session: "s".into(), cut_permille: 0, part: None }
}

/// The case of a prefix and a future.
pub(crate) fn case(prefix: &[&str], future: &[&str]) -> Case {
    let future = session(future);
    let future: Vec<&Message> = future.log().iter().map(|message| &**message).collect();
    Case::from_prefix(id(), "test", session(prefix), &future).unwrap()
}
