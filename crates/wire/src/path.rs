//! What the path and the query of a request say.

use crate::Wire;
use crate::request::Route;

impl Route {
    /// The route that a path is, with the interface of its requests, where they are known. Providers have their interfaces
    /// below parts of their own, so a path may begin with anything: what counts is what stands behind its version.
    pub fn of_path(path: &str) -> Option<(Self, Wire)> {
        let path = path.trim_end_matches('/');
        let behind = behind_version(path);
        Some(match () {
            () if path.ends_with("/chat/completions") => (Self::Conversation, Wire::OpenaiChat),
            () if path.ends_with("/responses") => (Self::Conversation, Wire::OpenaiResponses),
            () if path.ends_with("/responses/compact") => (Self::Compactions, Wire::OpenaiResponses),
            () if path.ends_with("/responses/input_tokens") => (Self::Counting, Wire::OpenaiResponses),
            // And not the messages of one of OpenAI's threads.
            () if behind == "messages" => (Self::Conversation, Wire::Anthropic),
            () if behind == "messages/count_tokens" => (Self::Counting, Wire::Anthropic),
            () => gemini_model(path).map(|_| (Self::Conversation, Wire::Gemini))?,
        })
    }
}

/// What the address of a request says of it, where its interface has that there: Gemini's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Address {
    /// The model that is asked.
    pub model: Option<String>,
    /// Whether the answer arrives as one JSON list, piece by piece: a stream that is not asked for as events (`alt=sse`).
    pub streams_a_list: bool,
}

impl Address {
    /// Reads a path and a query.
    pub fn read(path: &str, query: Option<&str>) -> Self {
        let path = path.trim_end_matches('/');
        let model = gemini_model(path).map(str::to_owned);
        let is_stream = model.is_some() && path.ends_with(":streamGenerateContent");
        let has_events = query.unwrap_or_default().split('&').any(|pair| pair == "alt=sse");
        Self { model, streams_a_list: is_stream && !has_events }
    }
}

/// The part of a path behind its last version; all of it where it has none.
fn behind_version(path: &str) -> &str {
    let path = path.trim_matches('/');
    let (mut at, mut behind) = (0, path);
    for part in path.split('/') {
        at += part.len() + 1;
        if is_version(part) {
            behind = path.get(at..).unwrap_or_default();
        }
    }
    behind
}

/// Whether a part of a path is a version: `v1`, `v1beta`.
pub fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// The model that a request for Gemini's contents names: its path is `…/models/MODEL:generateContent`, or
/// `:streamGenerateContent`.
fn gemini_model(path: &str) -> Option<&str> {
    let (model, method) = path.rsplit_once('/')?.1.rsplit_once(':')?;
    matches!(method, "generateContent" | "streamGenerateContent").then_some(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_by_path() {
        let check = |path: &str, expect: Option<(Route, Wire)>| assert_eq!(Route::of_path(path), expect, "{path}");
        let conversation = |wire| Some((Route::Conversation, wire));
        check("/v1/chat/completions", conversation(Wire::OpenaiChat));
        check("/openai/deployments/d/chat/completions", conversation(Wire::OpenaiChat));
        check("/backend-api/codex/responses", conversation(Wire::OpenaiResponses));
        check("/v1/responses/r/cancel", None);
        check("/v1/responses/compact", Some((Route::Compactions, Wire::OpenaiResponses)));
        check("/v1/responses/input_tokens/", Some((Route::Counting, Wire::OpenaiResponses)));
        check("/messages", conversation(Wire::Anthropic));
        check("/anthropic/v1/messages/", conversation(Wire::Anthropic));
        check("/v1/account/gateway/anthropic/v1/messages", conversation(Wire::Anthropic));
        check("/v1/messages/count_tokens", Some((Route::Counting, Wire::Anthropic)));
        check("/v1/threads/thread_ab/messages", None);
        check("/threads/thread_ab/messages", None);
        check("/v1/chat/completions/c/messages", None);
        check("/v1/projects/p/models/m:generateContent", conversation(Wire::Gemini));
        check("/v1beta/models/a-model:countTokens", None);
        check("/v1/models", None);
    }

    #[test]
    fn what_an_address_says() {
        let check = |path: &str, query: &str, model: Option<&str>, streams_a_list: bool| {
            let said = Address::read(path, Some(query));
            assert_eq!((said.model.as_deref(), said.streams_a_list), (model, streams_a_list), "{path}?{query}");
        };
        check("/v1/messages", "alt=sse", None, false);
        check("/v1beta/models/m-1:generateContent", "", Some("m-1"), false);
        check("/v1beta/models/m-1:streamGenerateContent", "alt=sse&key=k", Some("m-1"), false);
        check("/v1beta/models/m-1:streamGenerateContent/", "key=k", Some("m-1"), true);
        check("/v1beta/models/m-1:countTokens", "", None, false);
    }
}
