//! What a person says through a tool: answers to an agent's questions, and the words with which a call was refused.
//!
//! A result is a tool's text, and anybody may have written that. What stands here is therefore narrow: the agents' own tools,
//! by their exact names, in the exact form that the agent gives an answer; and refusals, only in results that failed, of tools
//! that no server brought.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::value::RawValue;

/// A form in which an agent writes a person's words into a result.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Behind an opening, up to the last closing where there is one.
    Between(&'static str, &'static str),
    /// An element, at the beginning or behind a sentence that the agent puts in front of it.
    Element(&'static str, &'static str, &'static str),
    /// A field of a JSON object, as it is written.
    Field(&'static str),
}

use Form::{Between, Element, Field};

/// The tools with which agents ask a person, and the forms of the answers. The names of tools that servers bring have the
/// server's name in front, or are not these.
const QUESTIONS: &[(&str, &[Form])] = &[
    // Claude Code: what the tool gives for the model; Kimi CLI has the name with answers in JSON.
    (
        "AskUserQuestion",
        &[
            Between("User has answered your questions: ", ". You can now continue with"),
            Between("Your questions have been answered: ", ". You can now continue with"),
            Between("The user answered: ", ". Read the answers carefully"),
            Field("answers"),
        ],
    ),
    // opencode: `tool/question.ts`.
    ("question", &[Between("User has answered your questions: ", ". You can now continue with")]),
    // Codex: `request_user_input`.
    ("request_user_input", &[Field("answers")]),
    // Gemini CLI: `tools/ask-user.ts`; Copilot CLI: events of its sessions.
    ("ask_user", &[Field("answers"), Between("User selected: ", ""), Between("User responded: ", "")]),
    // Gemini CLI: `tools/exit-plan-mode.ts`.
    ("exit_plan_mode", &[Between("Plan rejected. User feedback: ", "\n\nThe plan is stored at: ")]),
    // Cline and Roo Code: `formatResponse` and the tools' handlers.
    ("ask_followup_question", &[Element("", "<answer>", "</answer>")]),
    ("plan_mode_respond", &[Element("", "<user_message>", "</user_message>")]),
    ("attempt_completion", &[Element("The user has provided feedback on the results.", "<feedback>", "</feedback>")]),
];

/// A form in which an agent tells the model that a person refused a call, and why.
struct Refusal {
    /// How the result begins.
    opening: &'static str,
    /// What stands in front of the person's words.
    lead: &'static str,
    /// What the agent adds behind them.
    closing: &'static str,
    /// What stands in their place where the person gave none.
    without_words: &'static str,
    /// Whether a tool of this name is a server's: what it fails with is its own text.
    is_of_server: fn(&str) -> bool,
}

const REFUSALS: &[Refusal] = &[
    // Claude Code: the results of refused calls in its sessions. Its tools of servers are `mcp__SERVER__TOOL`.
    Refusal {
        opening: "The user doesn't want to proceed with this tool use.",
        lead: "To tell you how to proceed, the user said:\n",
        closing: "\n\nNote: The user's next message may contain",
        without_words: "The user wants to clarify these questions.",
        is_of_server: |tool| tool.starts_with("mcp__"),
    },
    // opencode: `CorrectedError` in `permission/index.ts`. Its tools of servers are `SERVER_TOOL`.
    Refusal {
        opening: "The user rejected permission to use this specific tool call",
        lead: " with the following feedback: ",
        closing: "",
        without_words: "",
        is_of_server: |tool| tool.contains('_'),
    },
];

/// Returns the byte range of a result that repeats what a person said, without white space around it: the answer to an agent's
/// question, with the question where the text has both, or the reason of a refusal. `None` where a person said nothing in it, or
/// where that is not certain. Linear.
pub fn spoken_range(tool: &str, text: &str, is_error: bool) -> Option<Range<usize>> {
    let found = if is_error { refusal(tool, text)? } else { answer(tool, text)? };
    let part = text.get(found.clone())?;
    let start = found.start + (part.len() - part.trim_start().len());
    let length = part.trim().len();
    (length > 0).then_some(start..start + length)
}

/// Whether an agent's own tool of this name asks a person.
pub(super) fn is_question(tool: &str) -> bool {
    QUESTIONS.iter().any(|(name, _)| *name == tool)
}

fn answer(tool: &str, text: &str) -> Option<Range<usize>> {
    let (_, forms) = QUESTIONS.iter().find(|(name, _)| *name == tool)?;
    forms.iter().find_map(|form| match *form {
        Between(opening, closing) => {
            let start = text.starts_with(opening).then_some(opening.len())?;
            let end = if closing.is_empty() { None } else { text[start..].rfind(closing) };
            Some(start..end.map_or(text.len(), |end| start + end))
        }
        Element(lead, opening, closing) => {
            let start = text.trim_start().starts_with(if lead.is_empty() { opening } else { lead });
            let start = start.then(|| text.find(opening))?? + opening.len();
            Some(start..start + text[start..].rfind(closing)?)
        }
        Field(name) => {
            let object: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            let value = object.get(name)?.get();
            let start = (value.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
            Some(start..start + value.len())
        }
    })
}

fn refusal(tool: &str, text: &str) -> Option<Range<usize>> {
    let form = REFUSALS.iter().find(|form| text.starts_with(form.opening) && !(form.is_of_server)(tool))?;
    let start = text.find(form.lead)? + form.lead.len();
    let words = &text[start..];
    if !form.without_words.is_empty() && words.starts_with(form.without_words) {
        return None;
    }
    let end = if form.closing.is_empty() { None } else { words.rfind(form.closing) };
    Some(start..start + end.unwrap_or(words.len()))
}
