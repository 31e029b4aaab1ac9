//! The words of an attachment whose record does not have them: made of its fields as 2.1.332 makes them (its table from kinds
//! to messages). Of the standing texts about modes and tools, which differ between versions, only the beginning is here.

use serde_json::Value;

use crate::json::value::{items, text_of};

/// A kind and a text of it; a kind may have several. In braces stands the way to a field, or a list's field, a bar, and what
/// each item is. Without its last field a text says nothing.
const TEXTS: &[(&str, &str)] = &[
    ("agent_listing_delta", "Available agent types for the Agent tool:\n{addedLines}"),
    ("agent_listing_delta", "The following agent types are no longer available:\n{removedTypes}"),
    ("agent_mention", "The user has expressed a desire to invoke the agent \"{agentType}\"."),
    ("async_hook_response", "{response.systemMessage}"),
    ("async_hook_response", "{response.hookSpecificOutput.additionalContext}"),
    ("at_mention_reference", "The user @-mentioned {mentions}"),
    ("auto_mode", "{type}: work without stopping for clarifying questions."),
    ("auto_mode_exit", "{type}: you have exited auto mode."),
    ("budget_usd", "USD budget: ${used}/${total}; ${remaining} remaining"),
    ("compact_file_reference", "Note: {filename} was read before the last conversation was summarized."),
    ("date_change", "The date has changed. Today's date is now {newDate}."),
    ("deferred_tools_delta", "The following deferred tools are now available via ToolSearch:\n{addedLines}"),
    ("deferred_tools_delta", "The following tools are no longer available:\n{removedNames}"),
    ("diagnostics", "The following new diagnostic issues were detected:\n{files|{uri}:\n{diagnostics.message}}"),
    ("directory", "Result of listing {path}:\n{content}"),
    ("dynamic_skill", "New skills discovered, now available via the Skill tool:\n{skillNames}"),
    ("edited_text_file", "Note: {filename} changed on disk since you last read it. The changes:\n{snippet}"),
    ("file", "Called the Read tool with the following input: {filename}"),
    ("file", "Result of calling the Read tool:\n{content.file.content}"),
    ("file", "Result of calling the Read tool:\n{content.file.cells.source}"),
    ("hook_additional_context", "{hookName} hook additional context: {content}"),
    ("hook_blocking_error", "{hookName} hook blocking error: {blockingError.blockingError}"),
    ("hook_stopped_continuation", "{hookName} hook stopped continuation: {message}"),
    ("hook_success", "{hookName} hook success: {content}"),
    ("invoked_skills", "Skills invoked in this session:\n\n{skills|### Skill: {name}\nPath: {path}\n\n{content}\n}"),
    ("mcp_instructions_delta", "# MCP Server Instructions\n\n{addedBlocks}"),
    ("mcp_instructions_delta", "The following MCP servers have disconnected:\n{removedNames}"),
    ("mcp_resource", "Full contents of resource {uri}:\n{content.contents.text}"),
    ("nested_memory", "Contents of {content.path}:\n\n{content.content}"),
    ("opened_file_in_ide", "The user opened the file {filename} in the IDE."),
    ("output_style", "{style} output style is active."),
    ("output_token_usage", "Output tokens: turn {turn}, session {session}"),
    ("pdf_reference", "PDF file: {filename}. You have not seen it."),
    ("plan_file_reference", "A plan file exists from plan mode at: {planFilePath}\n\nPlan contents:\n\n{planContent}"),
    ("plan_mode", "{type}: make no edits, but in the plan file {planFilePath}."),
    ("plan_mode_exit", "{type}: you have exited plan mode. You can now make edits, run tools, and take actions."),
    ("plan_mode_reentry", "{type}: a plan file exists at {planFilePath}."),
    ("relevant_memories", "{memories|Contents of {path}:\n\n{content}}"),
    ("selected_lines_in_ide", "The user selected the lines {lineStart} to {lineEnd} from {filename}:\n{content}"),
    ("skill_listing", "The following skills are available for use with the Skill tool:\n\n{content}"),
    ("task_reminder", "Here are the existing tasks:\n\n{content|#{id}. [{status}] {subject}}"),
    ("task_status", "Task \"{description}\" ({taskId}) {outputFilePath} {deltaSummary}: {status}"),
    ("team_context", "You are a teammate in this session's agent team, of the name {agentName}."),
    ("teammate_mailbox", "{messages|<teammate-message teammate_id=\"{from}\">\n{text}\n</teammate-message>}"),
    ("todo_reminder", "Here are the existing contents of your todo list:\n\n{content|[{status}] {content}}"),
    ("token_usage", "Token usage: {used}/{total}; {remaining} remaining"),
    ("ultrathink_effort", "{type}: the user asks for deeper reasoning on this turn."),
];

/// The fields that hold the text of other kinds.
const USUAL: [&str; 7] = ["content", "text", "snippet", "message", "lines", "summary", "context"];

/// The texts of an attachment; none where it says nothing. `None` for a kind that is not known, and has none of the usual
/// fields.
pub(super) fn texts(mut attachment: Value) -> Option<Vec<String>> {
    number_lines(&mut attachment);
    let mut known = TEXTS.iter().filter(|(kind, _)| attachment["type"] == *kind).peekable();
    if known.peek().is_some() {
        return Some(known.filter_map(|(_, text)| filled(text, &attachment)).collect());
    }
    let usual = USUAL.iter().filter_map(|field| attachment.get(*field)).flat_map(strings);
    let text = usual.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| vec![text])
}

/// A text with the fields of `value`; `None` where the last of them is empty.
fn filled(mut text: &str, value: &Value) -> Option<String> {
    let (mut filled, mut is_empty) = (String::new(), false);
    while let Some((before, behind)) = text.split_once('{') {
        let end = closing(behind)?;
        let field = match behind[..end].split_once('|') {
            Some((list, item)) => {
                let items = items(&value[list]).iter().filter_map(|it| self::filled(item, it));
                items.collect::<Vec<_>>().join("\n")
            }
            None => leaf(&behind[..end], value),
        };
        is_empty = field.is_empty();
        filled.extend([before, &field]);
        text = &behind[end + 1..];
    }
    (!is_empty).then(|| filled + text)
}

/// Where the brace that was opened in front of `text` is closed.
fn closing(text: &str) -> Option<usize> {
    let mut open = 1;
    text.find(|char| {
        open += i32::from(char == '{') - i32::from(char == '}');
        open == 0
    })
}

/// The text of the field at `path`: of each item, where the path leads through a list.
fn leaf(path: &str, value: &Value) -> String {
    if let Value::Array(items) = value {
        return items.iter().map(|item| leaf(path, item)).collect::<Vec<_>>().join("\n");
    }
    match path.split_once('.') {
        Some((name, rest)) => leaf(rest, &value[name]),
        None => match &value[path] {
            Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join("\n"),
            other => text_of(other),
        },
    }
}

/// All strings in a value, but for those that say what kind it is of.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| *name != "type").flat_map(|(_, it)| strings(it)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Numbers the lines of a file, as the Read tool shows them.
fn number_lines(attachment: &mut Value) {
    let first = attachment.pointer("/content/file/startLine").and_then(Value::as_u64).unwrap_or(1);
    if let Some(Value::String(text)) = attachment.pointer_mut("/content/file/content") {
        let lines: Vec<_> = text.split('\n').zip(first..).map(|(line, number)| format!("{number}\t{line}")).collect();
        *text = lines.join("\n");
    }
}
