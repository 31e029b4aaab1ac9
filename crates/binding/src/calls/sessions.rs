//! Calls that compact whole sessions.

use std::ops::Deref;

use serde_json::json;

use super::read::read;
use super::words::{CompactWords, Retrieval};
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
    let compacted = Compacted::new(&parts, input, &words.checked()?, only_preview)?;
    match Failure::of_report(&compacted.report).filter(|_| !only_preview) {
        Some(failure) => Err(failure),
        None => Ok(compacted),
    }
}

impl Compacted {
    /// What there is to say of it: the report, the tokens of each message before, the format of the session after it, which
    /// is beside as bytes unless it is only a preview, what was passed over; and the number under which it is kept.
    ///
    /// # Errors
    ///
    /// The format cannot hold the session.
    pub fn answer(&self, handle: Option<u32>, only_preview: bool) -> Result<Answer, Failure> {
        let (bytes, left_out) = (!only_preview).then(|| self.write()).transpose()?.unzip();
        let warnings: Vec<String> = self.warnings().into_iter().chain(left_out.into_iter().flatten()).collect();
        let told = json!({
            "report": self.report, "sizes": self.sizes, "format": self.to.as_str(), "warnings": warnings, "handle": handle,
        });
        Ok(Answer { bytes, ..Answer::json(&told) })
    }
}

impl Calls {
    /// Keeps what left under a number, which the answer has.
    pub(super) fn keep_result(&self, compacted: Compacted) -> Result<Answer, Failure> {
        let (handle, compacted) = self.results.keep_shared(compacted);
        compacted.answer(Some(handle), false).inspect_err(|_| {
            self.results.free(handle);
        })
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
