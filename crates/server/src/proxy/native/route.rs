//! The routes of providers that the proxy looks into for its items, beside those of conversations.

use epitome::formats::Format;

use crate::proxy::path::behind_version;

/// The routes of a provider that may bring our items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::proxy) enum Route {
    /// The next answer of a conversation.
    Conversation,
    /// OpenAI's compactions.
    Compactions,
    /// The tokens of a conversation.
    Counting,
}

/// The route beside conversations that a path is, with the format of its messages.
pub(in crate::proxy) fn side_route(path: &str) -> Option<(Route, Format)> {
    let path = path.trim_end_matches('/');
    if path.ends_with("/responses/compact") {
        Some((Route::Compactions, Format::OpenaiResponses))
    } else if path.ends_with("/responses/input_tokens") {
        Some((Route::Counting, Format::OpenaiResponses))
    } else {
        (behind_version(path) == "messages/count_tokens").then_some((Route::Counting, Format::Anthropic))
    }
}
