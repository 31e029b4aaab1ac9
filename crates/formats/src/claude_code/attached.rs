//! What the host puts into a request: files, rules, what hooks say, lists of tools, notes. Each is an `attachment` record, and
//! the agent makes a user's message of it that no person typed.
//!
//! Newer versions record the very words (`rendered`). For the others they are made of the fields, see [`worded`]. A kind that
//! is not known has its text in a field of a usual name, or is told in a warning.

use serde_json::Value;

use crate::claude_code::worded;
use crate::json::value::{non_empty_str, text_of};
use crate::json::{self, Object, ObjectWriter};

/// The kinds that no model is given: those of which 2.1.332 makes no message, and those of older versions that it passes over.
const NOT_SENT: &str = "advisor_stripped already_read_file async_hook_response_batch attention_budget audio_transcript \
    autocheckpointing background_task_status batching_reminder_sent command_permissions companion_intro \
    compaction_reminder context_efficiency context_tip credential_org current_session_memory deferred_tools_record \
    echo_activities edited_image_file fold_nudge goal_status goals hook_cancelled hook_deferred_tool \
    hook_error_during_execution hook_non_blocking_error hook_permission_decision hook_system_message \
    instruction_files_not_loaded max_turns_reached message_pdf_reads pen_mode_enter pen_mode_exit \
    progress_reminder_sent project_doc_reads projects_thread_ask prompt_as_file prompt_render_point prompt_snapshot \
    secondary_reminder_sent session_cron_carry structured_output task_progress teammate_shutdown_batch thinking_drop \
    thinking_reminder thinking_stripped todo tool_host_result_lines tool_offer_record tool_results_cut ultramemory \
    ultrawork_request verify_plan_reminder whole_texts_withdrawn withheld_memory";

/// The kinds by which the agent loads instructions: rules and memories, skills, modes, styles, what hooks and servers add.
const INSTRUCTIONS: &str = "auto_mode critical_system_reminder hook_additional_context hook_success invoked_skills \
    mcp_instructions_delta nested_memory output_style plan_mode plan_mode_reentry relevant_memories skill_content";

/// The kinds by which the agent tells of itself, its tools and modes, and the machine (2.1.332): another agent has its own.
const OWN: &str = "agent_listing_delta auto_mode auto_mode_exit budget_usd date date_change deferred_tools_delta \
    dynamic_skill environment mcp_instructions_delta model output_style output_token_usage plan_mode plan_mode_exit \
    plan_mode_reentry remote_session_change session_context skill_listing team_context token_usage ultrathink_effort";

/// The hooks of which the model hears that they succeeded, and what they printed (2.1.332).
const HEARD_HOOKS: [&str; 3] = ["SessionStart", "UserPromptSubmit", "UserPromptExpansion"];

/// What an attachment is to the model.
#[derive(Debug, PartialEq)]
pub(super) enum Attached {
    /// A user's message with this content, as JSON.
    Content(String),
    /// Nothing: its kind is not sent, or has nothing to say.
    NotSent,
    /// A kind that is not known, and has no text: its name.
    Unknown(String),
}

/// Whether a record has what the agent made of the attachment; of what holds media it has the role alone.
pub(super) fn is_rendered(record: &Object<'_>) -> bool {
    record.has("rendered") || record.has("renderedRole")
}

/// Whether the agent loads instructions by an attachment of this kind.
pub(super) fn is_instructions(kind: &str) -> bool {
    INSTRUCTIONS.split_whitespace().any(|it| it == kind)
}

/// Whether the agent tells of itself in a record.
pub(crate) fn tells_of_agent(record: &Object<'_>) -> bool {
    let kind = record.object("attachment").and_then(|attachment| attachment.text("type"));
    kind.is_some_and(|kind| OWN.split_whitespace().any(|it| it == kind))
}

/// Reads an `attachment` record that is no queued command.
pub(super) fn read(record: &Object<'_>) -> Attached {
    let rendered: Vec<String> =
        record.list("rendered").unwrap_or_default().into_iter().flat_map(rendered_blocks).collect();
    if !rendered.is_empty() {
        return Attached::Content(json::join(&rendered));
    }
    let attachment = record.value("attachment");
    let kind = text_of(&attachment["type"]);
    let is_heard = |event: &str| HEARD_HOOKS.contains(&event);
    if NOT_SENT.split_whitespace().any(|it| it == kind)
        || kind == "hook_success" && !attachment["hookEvent"].as_str().is_some_and(is_heard)
    {
        return Attached::NotSent;
    }
    if let Some(image) = image(&attachment["content"]) {
        return Attached::Content(json::join(&[image]));
    }
    match worded::texts(attachment) {
        Some(texts) if texts.is_empty() => Attached::NotSent,
        Some(texts) => Attached::Content(json::join(&texts.iter().map(|text| reminder(text)).collect::<Vec<_>>())),
        None => Attached::Unknown(kind),
    }
}

/// The blocks of a message that the agent made.
fn rendered_blocks(json: &str) -> Vec<String> {
    let content = Object::parse(json).and_then(|message| message.get("content")).unwrap_or_default();
    match (json::string(content), json::list(content)) {
        (Some(text), _) => vec![text_block(&text)],
        (None, Some(blocks)) => blocks.into_iter().map(str::to_owned).collect(),
        (None, None) => Vec::new(),
    }
}

/// A text as the agent hands it on. What it quotes cannot end it.
fn reminder(text: &str) -> String {
    let text = text.replace("</system-reminder", "&lt;/system-reminder");
    text_block(&format!("<system-reminder>\n{text}\n</system-reminder>"))
}

fn text_block(text: &str) -> String {
    ObjectWriter::new().text("type", "text").text("text", text).finish()
}

/// The block of an image file.
fn image(content: &Value) -> Option<String> {
    let data = non_empty_str(&content["file"]["base64"]).filter(|_| content["type"] == "image")?;
    let mime = non_empty_str(&content["file"]["type"])?;
    let source = ObjectWriter::new().text("type", "base64").text("media_type", mime).text("data", data).finish();
    Some(ObjectWriter::new().text("type", "image").raw("source", &source).finish())
}
