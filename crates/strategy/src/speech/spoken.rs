//! What a person says through a tool.

use std::ops::Range;

/// Tools whose result is a person's answer. Tools that ask a model or a service are not among them, nor are those whose
/// result repeats the question (the answer is the next message).
const ASKING: &[&str] = &[
    "askuserquestion",
    "ask_user",
    "ask_user_question",
    "ask_user_input",
    "ask_human",
    "ask_followup_question",
    "request_user_input",
    "request_human_input",
    "get_user_input",
    "user_input",
    "human_input",
    "human",
    "question",
];

/// The text before a person's words in results, each with the text behind them, if any.
const FORMS: &[(&str, &[&str])] = &[
    // Claude Code, OpenCode
    ("User has answered your questions:", &[". You can now continue with"]),
    ("User has answered your question:", &[". You can now continue with"]),
    ("Your questions have been answered:", &[". You can now continue with"]),
    ("The user answered:", &[". Read the answers carefully"]),
    ("The user rejected permission to use this specific tool call with the following feedback:", &[]),
    // Copilot
    ("User selected:", &[]),
    ("User responded:", &[]),
    ("User response:", &[]),
    // Gemini and others
    ("User provided the following answers:", &[]),
    ("User answered:", &[]),
    ("User feedback:", &[]),
    ("Human response:", &[]),
];

/// The beginnings of results that report a refusal, or a plan that a person looked at.
const REFUSALS: &[&str] = &[
    "The user doesn't want to",
    "The user denied",
    "The user rejected",
    "The user provided",
    "The user has provided feedback",
    "The user approved",
    "The user cancelled",
    "The tool call is rejected",
    "The tool execution was rejected",
    "Tool execution rejected",
    "Tool call rejected",
    "User rejected",
    "User denied",
    "Rejected by user",
    "Permission to use",
    "Plan rejected",
    "Plan was rejected",
    "[Operation Cancelled]",
    "[request interrupted by user",
];

/// The text between such a beginning and the person's reason.
const REASONS: &[&str] = &[
    "the user said:",
    "user said:",
    "with reason:",
    "with the following reason:",
    "following feedback:",
    "with feedback:",
    "user feedback:",
    "feedback:",
    "user's message:",
    "reason given:",
    "reason:",
    "user provided:",
];

/// The text that a harness adds behind a person's reason.
const TAILS: &[&str] =
    &["\n\nNote: The user's next message may contain", "\n\nNote: The user has", "<environment_details>"];

/// Elements that contain a person's words in the result of a tool.
const ELEMENTS: &[(&str, &str)] =
    &[("<feedback>", "</feedback>"), ("<answer>", "</answer>"), ("<user_message>", "</user_message>")];

/// A harness's own reasons, where a person gave none.
const NO_REASON: &[&str] = &["User denied execution.", "Operation cancelled", "No reason", "The user wants to clarify"];

/// The last position, in bytes, where a reason may begin in a result: later text is the output of a program.
const HEAD: usize = 600;

/// Returns the byte range of a tool result that repeats what a person said: the reason of a rejection, or the answer to
/// a question of the agent, with the question where the text has both. `None` where a person said nothing in it.
/// Linear.
pub fn spoken_through_tool(tool: &str, text: &str) -> Option<Range<usize>> {
    let start = text.len() - text.trim_start().len();
    let body = &text[start..];
    let found = answer(body).or_else(|| reason(body)).or_else(|| {
        let is_answer = is_asking(tool) && !is_failure(body);
        is_answer.then(|| answers_in_json(body).unwrap_or(0..body.len()))
    })?;
    let range = trim_range(text, start + found.start..start + found.end)?;
    let words = &text[range.clone()];
    (!NO_REASON.iter().any(|reason| words.starts_with(reason))).then_some(range)
}

fn is_asking(tool: &str) -> bool {
    let name = tool.rsplit([':', '.', '/']).next().unwrap_or(tool).rsplit("__").next().unwrap_or(tool);
    ASKING.iter().any(|asking| name.eq_ignore_ascii_case(asking))
}

fn is_failure(body: &str) -> bool {
    body.is_empty()
        || ["<tool_use_error>", "Error", "error:", "The user doesn't want", "The user denied", "The user rejected"]
            .iter()
            .any(|start| body.starts_with(start))
}

/// Returns an answer behind one of the known beginnings.
fn answer(body: &str) -> Option<Range<usize>> {
    let (opening, tails) = FORMS.iter().find(|(opening, _)| body.starts_with(opening))?;
    let end = tails.iter().find_map(|tail| body.rfind(tail)).unwrap_or(body.len());
    (end > opening.len()).then_some(opening.len()..end)
}

/// Returns the reason of a refusal, or a remark on a plan.
fn reason(body: &str) -> Option<Range<usize>> {
    let head = &body[..body.floor_char_boundary(HEAD)];
    let is_refusal = REFUSALS.iter().any(|start| head.starts_with(start));
    let element = ELEMENTS.iter().find_map(|(opening, closing)| {
        let is_first = body.starts_with(opening);
        let start = head.find(opening).filter(|_| is_refusal || is_first)? + opening.len();
        Some(start..start + body[start..].rfind(closing)?)
    });
    if element.is_some() || !is_refusal {
        return element;
    }
    let lower = head.to_ascii_lowercase();
    let (_, start) = REASONS
        .iter()
        .filter_map(|mark| Some((lower.find(mark)?, mark.len())))
        .min_by_key(|(at, length)| {
            (*at, usize::MAX - length) // "with feedback:" before the "feedback:" in it
        })
        .map(|(at, length)| (at, at + length))?;
    let end = TAILS.iter().filter_map(|tail| body[start..].rfind(tail)).min().map_or(body.len(), |end| start + end);
    Some(start..end)
}

/// Returns the value of `answers` in a JSON object, as it is written.
fn answers_in_json(body: &str) -> Option<Range<usize>> {
    let start = body.starts_with('{').then(|| body.find("\"answers\""))?? + "\"answers\"".len();
    let start = start + body[start..].find(':')? + 1;
    let end = body.rfind('}')?;
    (start < end).then_some(start..end)
}

fn trim_range(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let part = text.get(range.clone())?;
    let start = range.start + (part.len() - part.trim_start().len());
    let part = part.trim();
    (!part.is_empty()).then(|| start..start + part.len())
}
