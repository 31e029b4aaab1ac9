//! The records of a file of JSON lines; a file of one line looks like a single document.

use serde_json::Value;

use crate::error::Warning;
use crate::input::{Probe, Shape};

/// Every record of the input, in order. A line that cannot be parsed (nested too deeply, for one) is passed over with a
/// warning. Linear; one record is in memory at a time.
pub(crate) fn records<'p>(
    probe: &'p Probe<'_>,
    warnings: &'p mut Vec<Warning>,
) -> impl Iterator<Item = std::borrow::Cow<'p, Value>> {
    use std::borrow::Cow;
    let lines = match &probe.shape {
        Shape::Lines(lines) => lines.as_slice(),
        Shape::Document(_) | Shape::Text(_) => &[],
    };
    let document = (!probe.document.is_null()).then_some(Cow::Borrowed(&probe.document));
    let parsed = lines.iter().filter_map(move |line| match serde_json::from_str(line.json) {
        Ok(value) => Some(Cow::Owned(value)),
        Err(error) => {
            let message = format!("passed over: {error}");
            warnings.push(Warning { line: Some(line.number), message });
            None
        }
    });
    document.into_iter().chain(parsed)
}

/// The first record that is an object: what recognition looks at.
pub(crate) fn first_record<'p>(probe: &'p Probe<'_>) -> Option<&'p Value> {
    std::iter::once(&probe.document).chain(&probe.heads).take(9).find(|value| value.is_object())
}
