//! Calls that compact whole sessions.

use serde_json::json;

use super::words::{CompactWords, Retrieval, read};
use super::{Answer, Calls};
use crate::{Compacted, Failure, Input, content_json};

impl Calls {
    /// The session after it, as bytes; beside it the report, and the number under which what left is found.
    pub(super) fn compact(&self, words: &str, data: Vec<u8>) -> Result<Answer, Failure> {
        let words: CompactWords = read(words)?;
        let parts = self.parts(words.engine)?;
        let input = Input { bytes: data, is_objects: words.objects };
        let (place, words) = words.split()?;
        let compacted = Compacted::new(&parts, input, &place, &words, false)?;
        if let Some(failure) = Failure::of_report(&compacted.report) {
            return Err(failure);
        }
        let (bytes, warnings) = compacted.write()?;
        let warnings: Vec<String> = compacted.warnings().into_iter().chain(warnings).collect();
        let mut told = json!({
            "report": compacted.report, "sizes": compacted.sizes, "format": compacted.to.as_str(), "warnings": warnings,
        });
        told["handle"] = self.results.keep(compacted).into();
        Ok(Answer::json(&told).with_bytes(bytes))
    }

    pub(super) fn preview(&self, words: &str, data: Vec<u8>) -> Result<Answer, Failure> {
        let words: CompactWords = read(words)?;
        let parts = self.parts(words.engine)?;
        let input = Input { bytes: data, is_objects: words.objects };
        let (place, words) = words.split()?;
        Ok(Answer::json(&Compacted::new(&parts, input, &place, &words, true)?.report))
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
