//! Anthropic's two forms of compaction, as they are asked for and answered.

use serde_json::{Map, Value, json};

use super::answer::with_cost;
use super::request::is_call_forced;
use crate::answer::{AnswerError, ChatAnswer, Stop, list};
use crate::within::{AskWithinError, Rewriting, parse};

/// The header that names the beta features in use.
const BETA_HEADER: &str = "anthropic-beta";

/// The longest instructions that the on-demand form takes, in characters: documentation of "Compaction on demand".
const MOST_INSTRUCTIONS: usize = 16_384;

/// The least trigger of the threshold form, in tokens: documentation of "Compaction at a token threshold".
const LEAST_TRIGGER: u32 = 50_000;

/// Tokens by another counter that are beyond the trigger by Anthropic's own: a fifth more. A conversation below the trigger
/// would be answered instead, and paid for.
const SURELY_BEYOND: u32 = LEAST_TRIGGER + LEAST_TRIGGER / 5;

/// Tokens that an answer is given at least: the limit covers what the model thinks before it writes.
const LEAST_ANSWER: u32 = 4_096;

/// Bytes of a refusal that are looked at.
const MOST_OF_REFUSAL: usize = 1_000;

/// The form in which a compaction is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionForm {
    /// The parameter `compaction`, for any conversation.
    OnDemand,
    /// The edit `compact_20260112` of `context_management`, with a pause behind it, for a long conversation.
    Threshold,
}

impl CompactionForm {
    /// Every form, the better one first.
    pub const ALL: [Self; 2] = [Self::OnDemand, Self::Threshold];

    /// The form's name in messages: the parameter's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::OnDemand => "compaction",
            Self::Threshold => "context_management",
        }
    }

    /// The header that a request has to carry, and its value; it joins what the header holds already.
    pub fn beta(self) -> (&'static str, &'static str) {
        match self {
            Self::OnDemand => (BETA_HEADER, "compact-2026-09-04"),
            Self::Threshold => (BETA_HEADER, "compact-2026-01-12"),
        }
    }

    /// Whether the form takes a conversation of `tokens` tokens.
    pub fn takes(self, tokens: u32) -> bool {
        match self {
            Self::OnDemand => true,
            Self::Threshold => tokens >= SURELY_BEYOND,
        }
    }

    /// Why it takes no such instructions, where it does not.
    pub fn refuses(self, instructions: &str) -> Option<String> {
        let chars = instructions.chars().count();
        let is_too_long = self == Self::OnDemand && chars > MOST_INSTRUCTIONS;
        is_too_long.then(|| format!("the instructions have {chars} characters, and it takes {MOST_INSTRUCTIONS}"))
    }

    /// The field of the request that asks for it.
    pub fn field(self, instructions: &str) -> (&'static str, Value) {
        let value = match self {
            Self::OnDemand => json!({ "type": "summarize", "instructions": instructions }),
            Self::Threshold => json!({ "edits": [{
                "type": "compact_20260112",
                "trigger": { "type": "input_tokens", "value": LEAST_TRIGGER },
                "pause_after_compaction": true,
                "instructions": instructions,
            }] }),
        };
        (self.name(), value)
    }
}

/// Tokens that a request for a summary of `max_tokens` allows.
pub fn answer_tokens(max_tokens: u32) -> u32 {
    max_tokens.max(LEAST_ANSWER)
}

/// Fields that neither form goes with, or that ask for an answer of another kind.
const IN_THE_WAY: [&str; 5] = ["stop_sequences", "output_format", "stream", "compaction", "context_management"];

/// `request`, a client's own, as one for its compaction in `form`: the same system prompt, tools and messages byte for byte.
/// The client's own edits of the context stay out of it. Linear in the request.
///
/// # Errors
///
/// It is not a JSON object, or has no messages.
pub fn compact_within(
    form: CompactionForm,
    request: &[u8],
    instructions: &str,
    max_tokens: u32,
) -> Result<Vec<u8>, AskWithinError> {
    let fields = parse(request)?;
    if !fields.get("messages").is_some_and(|list| list.starts_with('[')) {
        return Err(AskWithinError::NoMessages("messages"));
    }
    let mut asking = Rewriting::of(&fields);
    IN_THE_WAY.iter().for_each(|name| asking.remove(name));
    if is_call_forced(&fields) {
        asking.remove("tool_choice");
    }
    if let Some(config) = fields.get("output_config") {
        let mut config: Map<String, Value> = serde_json::from_str(config).unwrap_or_default();
        config.remove("format");
        config.remove("task_budget");
        asking.put("output_config", Value::Object(config).to_string());
    }
    let most = fields.get("max_tokens").and_then(|most| most.parse().ok()).unwrap_or(0);
    asking.put("max_tokens", answer_tokens(max_tokens).max(most).to_string());
    let (name, value) = form.field(instructions);
    asking.put(name, value.to_string());
    Ok(asking.finish())
}

/// Whether a refusal says that the service or the model does not offer this form of compaction, rather than that this
/// request failed. Linear in the body.
pub fn is_compaction_unknown(status: u16, body: &str) -> bool {
    // The rest may repeat the request, with any text in it.
    let body = body[..body.floor_char_boundary(MOST_OF_REFUSAL)].to_lowercase();
    let holds = |words: &[&str]| words.iter().any(|word| body.contains(word));
    match status {
        404 | 405 | 501 => true,
        400 | 422 => {
            holds(&["compact", "context_management", BETA_HEADER])
                && holds(&[
                    "extra inputs",
                    "extra fields",
                    "not permitted",
                    "not allowed",
                    "unknown",
                    "unrecogni",
                    "unexpected",
                    "not support",
                    "unsupported",
                    "not available",
                    "does not match any of the expected",
                ])
        }
        _ => false,
    }
}

/// The reading of an answer to a request for a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompactionReading {
    /// The summary, or an empty text without one, with the finish reason and the cost.
    Compacted(ChatAnswer),
    /// An answer to the conversation: the service did not look at the parameter. The text is left out; what it cost is
    /// not.
    Ignored(ChatAnswer),
}

/// Reads an answer. Linear in it.
///
/// # Errors
///
/// The answer has another shape than the format, or the window was full: the problem.
pub fn read_compaction(answer: &Value) -> Result<CompactionReading, AnswerError> {
    let content = list(answer, "content")?;
    // The newest block includes the content of the older ones.
    let block = content.iter().rfind(|block| block["type"] == "compaction");
    let text = block.and_then(|block| block["content"].as_str()).unwrap_or_default().trim().to_owned();
    let reason = answer["stop_reason"].as_str();
    let stop = match reason {
        _ if !text.is_empty() => Stop::End,
        Some("model_context_window_exceeded") => return Err(AnswerError::Full),
        Some("max_tokens") => Stop::Length,
        Some("tool_use" | "pause_turn") => Stop::ToolCall,
        Some("refusal") => Stop::Refused,
        _ => Stop::End,
    };
    let is_answer = content.iter().any(|block| matches!(block["type"].as_str(), Some("text" | "tool_use")));
    let answer = with_cost(&answer["usage"], text, stop);
    Ok(match block {
        None if is_answer => CompactionReading::Ignored(answer),
        _ => CompactionReading::Compacted(answer),
    })
}

#[cfg(test)]
#[path = "own_compaction_tests.rs"]
mod tests;
