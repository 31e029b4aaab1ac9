//! Calls that compact whole sessions.

use std::ops::Deref;

use serde_json::json;

use super::words::{CompactWords, Retrieval, read};
use super::{Answer, Calls};
use crate::{Compacted, Failure, Input, Parts, content_json};

/// Compacts a session as `words` say, or with `only_preview` works out what would be done. `parts` gives the engine of the
/// number in the words. A session that cannot fit is an error but in a preview.
pub fn compact<P: Deref<Target = Parts>>(
    words: &str,
    data: Vec<u8>,
    only_preview: bool,
    parts: impl Fn(u32) -> Result<P, Failure>,
) -> Result<Compacted, Failure> {
    let words: CompactWords = read(words)?;
    let parts = parts(words.engine)?;
    let input = Input { bytes: data, is_objects: words.objects };
    let (place, words) = words.split()?;
    let compacted = Compacted::new(&parts, input, &place, &words, only_preview)?;
    match Failure::of_report(&compacted.report).filter(|_| !only_preview) {
        Some(failure) => Err(failure),
        None => Ok(compacted),
    }
}

impl Calls {
    /// The session after it, as bytes; beside it the report, and the number under which what left is found.
    pub(super) fn keep_result(&self, compacted: Compacted) -> Result<Answer, Failure> {
        let (bytes, warnings) = compacted.write()?;
        let warnings: Vec<String> = compacted.warnings().into_iter().chain(warnings).collect();
        let mut told = json!({
            "report": compacted.report, "sizes": compacted.sizes, "format": compacted.to.as_str(), "warnings": warnings,
        });
        told["handle"] = self.results.keep(compacted).into();
        Ok(Answer::json(&told).with_bytes(bytes))
    }

    pub(super) fn result_retrieve(&self, words: &str) -> Result<Answer, Failure> {
        let words: Retrieval = read(words)?;
        let gone = || Failure::other("this result was closed; compact again");
        let compacted = self.results.get(words.handle).ok_or_else(gone)?;
        match compacted.retrieve(&words.of)? {
            None => Ok(Answer::json(&())),
            Some(content) => Ok(Answer::of_json(content_json(&content, compacted.to)?)),
        }
    }
}
