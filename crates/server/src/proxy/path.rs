//! What the path of a request says.

use epitome::formats::Format;

/// The format of the requests that a path takes, where the proxy knows it.
pub(crate) fn format_of(path: &str) -> Option<Format> {
    let path = path.trim_end_matches('/');
    if path.ends_with("/chat/completions") {
        Some(Format::OpenaiChat)
    } else if path.ends_with("/responses") {
        Some(Format::OpenaiResponses)
    } else if path.ends_with("/messages") {
        Some(Format::Anthropic)
    } else {
        gemini_model(path).map(|_| Format::Gemini)
    }
}

/// The model that a request for Gemini's contents names: its path is `…/models/MODEL:generateContent`, or
/// `:streamGenerateContent`.
pub(crate) fn gemini_model(path: &str) -> Option<&str> {
    let (model, method) = path.rsplit_once('/')?.1.rsplit_once(':')?;
    matches!(method, "generateContent" | "streamGenerateContent").then_some(model)
}
