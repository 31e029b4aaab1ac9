//! What the path of a request says.

use epitome::formats::Format;
use reqwest::Url;

/// What the address of a request says of it, where its format has that there: Gemini's.
#[derive(Debug, Clone, Default)]
pub(crate) struct InAddress {
    /// The model that is asked.
    pub(crate) model: Option<String>,
    /// Whether the answer arrives as one JSON list, piece by piece: a stream that is not asked for as events (`alt=sse`).
    pub(crate) streams_a_list: bool,
}

impl InAddress {
    pub(crate) fn read(url: &Url) -> Self {
        let model = gemini_model(url.path()).map(str::to_owned);
        let is_stream = model.is_some() && url.path().trim_end_matches('/').ends_with(":streamGenerateContent");
        let has_events = url.query_pairs().any(|(name, value)| name == "alt" && value == "sse");
        Self { model, streams_a_list: is_stream && !has_events }
    }
}

/// The format of the requests that a path takes, where the proxy knows it. Providers have their interfaces below parts of
/// their own, so a path may begin with anything: what counts is what stands behind its version.
pub(crate) fn format_of(path: &str) -> Option<Format> {
    let path = path.trim_end_matches('/');
    if path.ends_with("/chat/completions") {
        Some(Format::OpenaiChat)
    } else if path.ends_with("/responses") {
        Some(Format::OpenaiResponses)
    } else if behind_version(path) == "messages" {
        // And not the messages of one of OpenAI's threads.
        Some(Format::Anthropic)
    } else {
        gemini_model(path).map(|_| Format::Gemini)
    }
}

/// The part of a path behind its last version; all of it where it has none.
pub(super) fn behind_version(path: &str) -> &str {
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
pub(super) fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// The model that a request for Gemini's contents names: its path is `…/models/MODEL:generateContent`, or
/// `:streamGenerateContent`.
pub(crate) fn gemini_model(path: &str) -> Option<&str> {
    let (model, method) = path.rsplit_once('/')?.1.rsplit_once(':')?;
    matches!(method, "generateContent" | "streamGenerateContent").then_some(model)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn formats_by_path() {
        let check = |path: &str, expect: Option<Format>| assert_eq!(format_of(path), expect, "{path}");
        check("/v1/chat/completions", Some(Format::OpenaiChat));
        check("/openai/deployments/d/chat/completions", Some(Format::OpenaiChat));
        check("/backend-api/codex/responses", Some(Format::OpenaiResponses));
        check("/v1/responses/r/cancel", None);
        check("/messages", Some(Format::Anthropic));
        check("/anthropic/v1/messages/", Some(Format::Anthropic));
        check("/v1/account/gateway/anthropic/v1/messages", Some(Format::Anthropic));
        check("/v1/threads/thread_ab/messages", None);
        check("/threads/thread_ab/messages", None);
        check("/v1/chat/completions/c/messages", None);
        check("/v1/projects/p/models/m:generateContent", Some(Format::Gemini));
    }

    #[test]
    fn what_an_address_says() {
        let check = |target: &str, model: Option<&str>, streams_a_list: bool| {
            let said = InAddress::read(&Url::parse(&format!("https://provider{target}")).unwrap());
            assert_eq!((said.model.as_deref(), said.streams_a_list), (model, streams_a_list), "{target}");
        };
        check("/v1/messages?alt=sse", None, false);
        check("/v1beta/models/m-1:generateContent", Some("m-1"), false);
        check("/v1beta/models/m-1:streamGenerateContent?alt=sse&key=k", Some("m-1"), false);
        check("/v1beta/models/m-1:streamGenerateContent?key=k", Some("m-1"), true);
        check("/v1beta/models/m-1:countTokens", None, false);
    }
}
