//! What Gemini CLI saves of its model's context, as contents of the provider's form: `{history, authType}` of `/chat save`
//! (`logger.ts`, 0.61.0; an older list of contents alone is a request of Gemini's), and `clientHistory` of the checkpoint in
//! front of a tool that changes a file, whose `history` is the screen's (`checkpointUtils.ts`).

use epitome_session::{Origin, Role};
use serde_json::Value;

use crate::gemini::blocks;
use crate::json::value::{first_object, items};
use crate::reader::{Format, LoadedSession, ReadError};
use crate::recording::session_builder::SessionBuilder;

/// The saved contents in a document.
pub(super) fn contents(document: &Value) -> Option<&[Value]> {
    let list = ["clientHistory", "history"].map(|name| &document[name]).into_iter().find(|list| list.is_array())?;
    let is_content =
        |content: &Value| matches!(content["role"].as_str(), Some("user" | "model")) && content["parts"].is_array();
    first_object(list).is_some_and(is_content).then(|| items(list))
}

pub(super) fn read(contents: &[Value]) -> Result<Vec<LoadedSession>, ReadError> {
    let mut log = SessionBuilder::default();
    for content in contents {
        let role = content["role"].as_str().unwrap_or("");
        for mut message in blocks::messages(role, &content["parts"].to_string()) {
            if message.role == Role::User && is_session_context(&message.plain_text()) {
                message.origin = Origin::Injected;
            }
            log.push(message);
        }
    }
    log.finish_alone(Format::GeminiCli, "0", "no content of `history` has readable `parts`")
}

/// Whether a text is what the client itself says at the beginning of each session (`environmentContext.ts`; older versions
/// had no mark around it).
pub(crate) fn is_session_context(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("<session_context>") || text.starts_with("This is the Gemini CLI. We are setting up the context")
}
