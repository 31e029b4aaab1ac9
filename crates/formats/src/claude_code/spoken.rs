//! What a person says through the tools of Claude Code, as its records have it.
//!
//! Source: the agent's own writer, versions 2.0 to 2.1.332. A refused call is a result that failed; beside the text stands
//! `toolUseResult`, as "User rejected tool use" or as "Error: " with the text again, and in newer versions `toolDenialKind`. An
//! answered question has what the tool gave there, an object with `answers`. What a server's tool fails with is written like the
//! second of these, so its name decides there.

use epitome_session::speaker::{RejectionForm, spoken_range};
use epitome_session::{Content, Message, Role, TextRange, ToolResult};

use crate::json::{self, Object};

/// What stands beside the text of a call that a person refused.
const REJECTED: &str = "User rejected tool use";

/// Settles what a person said through the tools whose results a record holds: nothing, unless the record says so beside the
/// text. Where it says so, the tool's name and the text's form decide when the result enters the session.
pub(super) fn mark_spoken(read: &mut [Message], record: &Object<'_>) {
    let mut results: Vec<&mut Message> = read.iter_mut().filter(|message| message.role == Role::Tool).collect();
    // What stands beside the text is of one result.
    let is_alone = results.len() == 1;
    for block in results.iter_mut().flat_map(|message| &mut message.blocks) {
        let Content::ToolResult(result) = &block.content else { continue };
        block.typed = if !is_alone || !is_told(result, record) {
            Some(Vec::new())
        } else if result.is_error && is_certain(record) {
            // The agent's own word: the tool does not matter.
            Some(RejectionForm::CLAUDE_CODE.words(&result.text).map(TextRange::from).into_iter().collect())
        } else {
            None
        };
    }
}

/// Whether the record has a field that says that a person refused the call.
fn is_certain(record: &Object<'_>) -> bool {
    record.text("toolDenialKind").as_deref() == Some("user-rejected")
        || record.text("toolUseResult").as_deref() == Some(REJECTED)
}

/// Whether the record says beside a result's text that a person refused the call, or answered a question.
fn is_told(result: &ToolResult, record: &Object<'_>) -> bool {
    let beside = record.get("toolUseResult").unwrap_or_default().trim_start();
    if !result.is_error {
        // The form is looked for first: what stands beside other results may be a whole file.
        return spoken_range("AskUserQuestion", &result.text, false).is_some()
            && Object::parse(beside).is_some_and(|given| given.get("answers").is_some());
    }
    let Some(failure) = json::string(beside) else { return false };
    failure == REJECTED || failure.strip_prefix("Error: ").is_some_and(|text| text == &*result.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anthropic::blocks as anthropic;

    #[test]
    fn words_through_tools() {
        let check = |content: &str, beside: &str, expect: Option<&[&str]>| {
            let json = format!(r#"{{"type":"user",{beside}"message":{{"role":"user","content":[{content}]}}}}"#);
            let record = Object::parse(&json).unwrap_or_default();
            let content = record.object("message").unwrap_or_default();
            let mut read = anthropic::messages("user", content.get("content").unwrap_or_default());
            mark_spoken(&mut read, &record);
            let block = &read[0].blocks[0];
            let text = block.excerptable().map(|text| text.to_string()).unwrap_or_default();
            let said = block.typed.as_ref().map(|it| it.iter().map(|it| &text[std::ops::Range::from(*it)]).collect());
            let said: Option<Vec<&str>> = said;
            assert_eq!(said.as_deref(), expect, "{json}");
        };
        let refused =
            "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\\nno";
        let result = |text: &str, is_error: bool| {
            format!(r#"{{"type":"tool_result","tool_use_id":"a","is_error":{is_error},"content":"{text}"}}"#)
        };
        let told = r#"User has answered your questions: \"Port?\"=\"1\". You can now continue with"#;
        // `None`: tool and form decide.
        check(&result(refused, true), r#""toolUseResult":"User rejected tool use","#, Some(&["no"]));
        check(&result(refused, true), &format!(r#""toolUseResult":"Error: {refused}","#), None);
        let kind = r#""toolUseResult":"x","toolDenialKind":"user-rejected","#;
        check(&result(refused, true), &format!(r#""toolUseResult":"Error: {refused}",{}"#, &kind[20..]), Some(&["no"]));
        check(&result(told, false), r#""toolUseResult":{"questions":[],"answers":{"Port?":"1"}},"#, None);
        // Nothing beside the text says so.
        check(&result(refused, true), "", Some(&[]));
        check(&result(refused, true), r#""toolUseResult":"Error: another","#, Some(&[]));
        check(&result(refused, false), r#""toolUseResult":{"bytes":1,"result":"x"},"#, Some(&[]));
        check(&result(told, false), r#""toolUseResult":{"result":"x"},"#, Some(&[]));
        check(&result(told, false), r#""toolUseResult":"x","#, Some(&[]));
        let two = format!("{},{}", result(refused, true), result(refused, true));
        check(&two, r#""toolUseResult":"User rejected tool use","#, Some(&[]));
    }
}
