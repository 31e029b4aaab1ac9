//! Blocks of code in the text of a model.

use std::ops::Range;

/// Returns the length of the line at the end of `text` that opens a block of code, and of nothing else. Around a call in plain
/// text it belongs to the call.
pub(crate) fn opening_fence(text: &str) -> usize {
    let line = text.trim_end();
    let start = line.rfind('\n').map_or(0, |at| at + 1);
    let is_fence =
        line[start..].trim_start().strip_prefix(FENCE).is_some_and(|language| !language.contains([' ', '`']));
    if is_fence { text.len() - start } else { 0 }
}

/// Returns the length of the line at the beginning of `text` that closes a block of code; 0 where there is none.
pub(crate) fn closing_fence(text: &str) -> usize {
    let rest = text.trim_start();
    let is_fence = rest.strip_prefix(FENCE).is_some_and(|rest| rest.is_empty() || rest.starts_with(['\n', '\r']));
    if is_fence { text.len() - rest.len() + FENCE.len() } else { 0 }
}

/// Returns the parts of a text in front of, between and behind its blocks of code. Linear.
pub(crate) fn outside_fences(text: &str) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut end, mut is_code) = (Vec::new(), 0, 0, false);
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with(FENCE) {
            if !is_code {
                parts.push(start..end);
            }
            (is_code, start) = (!is_code, end + line.len());
        }
        end += line.len();
    }
    if !is_code {
        parts.push(start..end);
    }
    parts
}

const FENCE: &str = "```";
