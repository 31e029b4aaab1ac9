//! What OpenCode's records have in their fields: files, signatures, counts of tokens.

use epitome_session::{Media, Usage};
use serde_json::Value;

use crate::json::value::non_empty_str;
use crate::recording::content::from_url;

/// An attached file. Texts and folders are not sent as files: their content follows as a synthetic text.
pub(super) fn file(part: &Value) -> Option<Media> {
    let mime = part["mime"].as_str().unwrap_or("");
    let is_text = mime.starts_with("text/") || mime == "application/x-directory";
    (!is_text).then(|| from_url(part["url"].as_str(), Some(mime)))
}

/// The signature or the encrypted form of a reasoning part, whichever provider it came from.
pub(super) fn signature(metadata: &Value) -> Option<&str> {
    let providers = metadata.as_object()?.values();
    providers
        .flat_map(|provider| [&provider["signature"], &provider["reasoningEncryptedContent"]])
        .find_map(non_empty_str)
}

/// Input is recorded without the tokens from the cache. Versions differ on whether output includes reasoning; the total
/// shows it.
pub(super) fn usage(tokens: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let (cache_read, cache_write) = (count(&tokens["cache"]["read"]), count(&tokens["cache"]["write"]));
    let input = tokens["input"].as_u64()?.saturating_add(cache_read).saturating_add(cache_write);
    let output = match tokens["total"].as_u64() {
        Some(total) if total >= input => total - input,
        _ => count(&tokens["output"]),
    };
    (input > 0).then_some(Usage { input, cache_read, cache_write, output })
}
