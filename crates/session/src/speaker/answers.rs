//! What a person says through a tool: answers to an agent's questions, and the words with which a call was refused.
//!
//! A result is a tool's text, and anybody may have written that. What stands here is therefore narrow: the agents' own tools,
//! by their exact names, in the exact form that the agent gives an answer; and refusals, only in results of these tools that
//! failed.

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
#[derive(Debug, Clone, Copy)]
pub struct RejectionForm {
    /// How the result begins.
    opening: &'static str,
    /// What stands in front of the person's words.
    lead: &'static str,
    /// What the agent adds behind them.
    closing: &'static str,
    /// What stands in their place where the person gave none.
    without_words: &'static str,
    /// The agent's own tools, which fail in its words; a server's tool fails in its own.
    tools: &'static str,
}

impl RejectionForm {
    /// Claude Code. Source: the results of refused calls in its sessions, and the list of tools in its documentation.
    pub const CLAUDE_CODE: Self = Self {
        opening: "The user doesn't want to proceed with this tool use.",
        lead: "To tell you how to proceed, the user said:\n",
        closing: "\n\nNote: The user's next message may contain",
        without_words: "The user wants to clarify these questions.",
        tools: "Agent AskUserQuestion Bash BashOutput Edit EnterPlanMode EnterWorktree ExitPlanMode ExitWorktree Glob Grep \
                KillShell LS LSP Monitor MultiEdit NotebookEdit PowerShell Read Skill SlashCommand Task TaskCreate TaskOutput \
                TaskStop TaskUpdate TodoWrite WebFetch WebSearch Write",
    };

    /// opencode. Source: `CorrectedError` in `permission/index.ts`, and the folder `tool/`.
    pub const OPENCODE: Self = Self {
        opening: "The user rejected permission to use this specific tool call",
        lead: " with the following feedback: ",
        closing: "",
        without_words: "",
        tools: "apply_patch bash batch codesearch edit glob grep list lsp multiedit patch plan_enter plan_exit question read \
                skill task todoread todowrite webfetch websearch write",
    };

    /// Whether a tool of this name is the agent's own.
    pub fn is_of(&self, tool: &str) -> bool {
        self.tools.split(' ').any(|own| own == tool)
    }

    /// Returns the byte range of a person's words in the result of a refused call, without white space around it; `None`
    /// where a person gave none, or the text is another. Linear.
    pub fn words(&self, text: &str) -> Option<Range<usize>> {
        let start = text.starts_with(self.opening).then(|| text.find(self.lead))?? + self.lead.len();
        let words = &text[start..];
        if !self.without_words.is_empty() && words.starts_with(self.without_words) {
            return None;
        }
        let end = if self.closing.is_empty() { None } else { words.rfind(self.closing) };
        trimmed(text, start..start + end.unwrap_or(words.len()))
    }
}

/// Returns the byte range of a result that repeats what a person said, without white space around it: the answer to an agent's
/// question, with the question where the text has both, or the reason of a refusal. `None` where a person said nothing in it, or
/// where that is not certain. Linear.
///
/// Of refusals only Claude Code's count, whose tools have names of their own: other agents' readers know from the record.
pub fn spoken_range(tool: &str, text: &str, is_error: bool) -> Option<Range<usize>> {
    if is_error {
        return RejectionForm::CLAUDE_CODE.words(text).filter(|_| RejectionForm::CLAUDE_CODE.is_of(tool));
    }
    trimmed(text, answer(tool, text)?)
}

/// Returns a range without the white space around its text; `None` where there is nothing else.
fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let part = text.get(range.clone())?;
    let start = range.start + (part.len() - part.trim_start().len());
    let length = part.trim().len();
    (length > 0).then_some(start..start + length)
}

/// The tools of Cline, Roo Code and Kilo Code, whose results stand in texts of the user's side where the model calls in XML: a text
/// `[tool for 'what'] Result:`, and behind it what the tool gave (`pushToolResult` in `presentAssistantMessage.ts` and
/// `ToolResultUtils.ts`).
const IN_TEXT: &str = "access_mcp_resource apply_diff apply_patch ask_followup_question attempt_completion browser_action \
                       codebase_search condense delete_file edit_file execute_command fetch_instructions generate_image \
                       insert_content list_code_definition_names list_files load_mcp_documentation new_rule new_task \
                       plan_mode_respond read_file replace_in_file report_bug run_slash_command search_and_replace \
                       search_files skill summarize_task switch_mode update_todo_list use_mcp_tool web_fetch web_search \
                       write_to_file";

/// Those of them that give what somebody else wrote, from its first byte on.
const FOREIGN: &str = "access_mcp_resource browser_action read_file use_mcp_tool web_fetch web_search";

/// How these agents tell that a person refused or allowed a call, and what they said to it (`formatResponse`).
const VERDICTS: [&str; 2] = [
    "The user denied this operation and provided the following feedback:\n<feedback>",
    "The user approved this operation and provided the following context:\n<feedback>",
];

/// What was said besides, in a text of its own behind the tool's, or at the end of a command's that still runs.
const BESIDES: &str = "The user provided the following feedback:\n<feedback>";
const RUNNING: &str = "Command is still running in the user's terminal.";

/// Returns the tool whose result a text of the user's side begins, and where in the text its output begins. Linear.
pub(super) fn result_in_text(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix('[')?;
    let name = &rest[..rest.find(|letter: char| !(letter.is_ascii_lowercase() || letter == '_'))?];
    let behind = &rest[name.len()..];
    if !IN_TEXT.split(' ').any(|own| own == name) || !(behind.starts_with(']') || behind.starts_with(" for '")) {
        return None;
    }
    let end = text.find("] Result:")? + "] Result:".len();
    let line = &text[end..];
    (line.is_empty() || line.starts_with('\n') || line.starts_with(" (see image")).then_some((name, end))
}

/// Returns the byte range of what a person said in the text number `number` behind such a beginning, the text in it being number
/// 0; without white space around it. Linear.
pub(super) fn said_in_text(tool: &str, text: &str, number: usize) -> Option<Range<usize>> {
    let lead = text.len() - text.trim_start().len();
    let text = &text[lead..];
    let between = |start: usize| Some(start..start + text[start..].find("</feedback>")?);
    let verdict = || {
        let opening = VERDICTS.iter().find(|opening| text.starts_with(**opening))?;
        between(opening.len()).filter(|_| !FOREIGN.split(' ').any(|own| own == tool))
    };
    let besides = || {
        // A tool gives one text: what stands behind it is the agent's.
        let opening = text.starts_with(BESIDES) && number > 1;
        let is_running = tool == "execute_command" && text.starts_with(RUNNING);
        let is_last = is_running && text.trim_end().ends_with("</feedback>");
        let at = if opening { Some(0) } else { text.rfind(BESIDES).filter(|_| is_last) }?;
        between(at + BESIDES.len())
    };
    let said = answer(tool, text).or_else(verdict).or_else(besides)?;
    trimmed(text, said).map(|said| lead + said.start..lead + said.end)
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
