//! Requests of interfaces that are not read, and are like those that are: each by marks that only its own form has. Texts are
//! not looked at.

use std::iter;

use serde_json::Value;

use crate::input::Probe;
use crate::json::value::items;
use crate::requests::candidates;

/// A form of requests that is not read.
#[derive(Debug)]
pub(crate) struct ForeignRequest {
    /// What a file of it is, for a person.
    pub name: &'static str,
    /// What to give in its place.
    pub hint: &'static str,
    /// Whether a request, one of its messages or one of its items has the marks of the form.
    has_marks: fn(&Value) -> bool,
}

pub(crate) const FOREIGN_REQUESTS: &[ForeignRequest] = &[
    // Steps, and the turns that came before them: ai.google.dev/gemini-api/docs/interactions. The calls are like those of
    // OpenAI's Responses, their results are not.
    ForeignRequest {
        name: "a request of Gemini's Interactions",
        hint: "write its steps as the `contents` of a request of `generateContent`",
        has_marks: |record| {
            let is_step =
                |step: &Value| matches!(step["type"].as_str(), Some("user_input" | "model_output" | "function_result"));
            let is_models = |turn: &Value| turn["role"] == "model" && turn.get("content").is_some();
            let is_thought = |part: &Value| part["type"] == "thought" && part["signature"].is_string();
            is_step(record)
                || is_thought(record)
                || items(&record["content"]).iter().any(|part| is_step(part) || is_thought(part))
                || items(&record["input"]).iter().any(is_models)
        },
    },
    // The members of a block are named by their kinds, without a `type`: docs.aws.amazon.com/bedrock/latest/APIReference/
    // API_runtime_ContentBlock.html.
    ForeignRequest {
        name: "a request of Amazon Bedrock's Converse",
        hint: "write its messages in Anthropic's form",
        has_marks: |record| {
            let is_block = |block: &Value| {
                block.get("type").is_none()
                    && (block["toolUse"]["toolUseId"].is_string()
                        || block["toolResult"]["toolUseId"].is_string()
                        || block["reasoningContent"].is_object()
                        || block["cachePoint"].is_object())
            };
            let is_untyped = |block: &Value| block.get("type").is_none() && block["text"].is_string();
            items(&record["content"]).iter().any(is_block)
                || (record["messages"].is_array()
                    && items(&record["system"]).iter().any(|it| is_block(it) || is_untyped(it)))
        },
    },
    // `ToolCallPart` and `ToolResultPart`: ai-sdk.dev/docs/reference/ai-sdk-core/model-message; `CoreMessage` of its versions before 5
    // has the same kinds.
    ForeignRequest {
        name: "a list of ModelMessages of Vercel's AI SDK",
        hint: "in TypeScript `epitome-context/ai` takes them as they are (docs/typescript.md); elsewhere write them as a list of \
               messages in OpenAI's or Anthropic's form",
        has_marks: |record| {
            let is_own = |part: &Value| match part["type"].as_str() {
                Some("tool-call" | "tool-result") => part["toolCallId"].is_string(),
                Some("tool-approval-request" | "tool-approval-response") => part["approvalId"].is_string(),
                _ => false,
            };
            record["role"].is_string() && items(&record["content"]).iter().any(is_own)
        },
    },
    // `UIMessage`: ai-sdk.dev/docs/reference/ai-sdk-core/ui-message.
    ForeignRequest {
        name: "a list of UIMessages of Vercel's AI SDK",
        hint: "make ModelMessages of them (`convertToModelMessages`), which `epitome-context/ai` takes (docs/typescript.md); \
               elsewhere write them as a list of messages in OpenAI's or Anthropic's form",
        has_marks: |record| {
            let is_own = |part: &Value| {
                let kind = part["type"].as_str().unwrap_or_default();
                kind == "step-start"
                    || (kind.starts_with("tool-") || kind == "dynamic-tool")
                        && part["toolCallId"].is_string()
                        && part["state"].is_string()
            };
            record["role"].is_string() && items(&record["parts"]).iter().any(is_own)
        },
    },
];

/// The form of the requests in a file, where it is one that is not read. Linear in what recognition looks at.
pub(crate) fn foreign_request(probe: &Probe<'_>) -> Option<&'static ForeignRequest> {
    const LISTS: [&str; 3] = ["messages", "input", "steps"];
    candidates(probe)
        .flat_map(|top| iter::once(top).chain(LISTS.into_iter().flat_map(|list| items(&top[list]))))
        .find_map(|record| FOREIGN_REQUESTS.iter().find(|form| (form.has_marks)(record)))
}

#[cfg(test)]
#[path = "tests/foreign_requests.rs"]
mod tests;
