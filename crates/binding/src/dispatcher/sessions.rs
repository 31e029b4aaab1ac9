//! Dispatcher that compact whole sessions.

use std::ops::Deref;

use serde_json::json;

use super::options::{CompactOptions, RetrieveOptions};
use super::read_options::read_options;
use super::{Dispatcher, Reply};
use crate::{Compacted, Failure, Parts, content_json};

/// Compacts a session as `options` say, or with `only_preview` works out what would be done. `parts` gives the engine of the
/// number in the options. A session that cannot fit is an error but in a preview.
pub fn compact<P: Deref<Target = Parts>>(
    options: &str,
    data: Vec<u8>,
    only_preview: bool,
    parts: impl Fn(u32) -> Result<P, Failure>,
) -> Result<Compacted, Failure> {
    let options: CompactOptions = read_options(options)?;
    let parts = parts(options.engine)?;
    let compacted = Compacted::new(&parts, data, &options, only_preview)?;
    match Failure::of_report(&compacted.report).filter(|_| !only_preview) {
        Some(failure) => Err(failure),
        None => Ok(compacted),
    }
}

impl Compacted {
    /// Returns the report of it, the tokens of each message before, the format of the session after it, which
    /// is beside as bytes unless it is only a preview, what was passed over; and the number under which it is kept.
    ///
    /// # Errors
    ///
    /// The format cannot hold the session.
    pub fn reply(&self, handle: Option<u32>, only_preview: bool) -> Result<Reply, Failure> {
        let (bytes, left_out) = (!only_preview).then(|| self.write()).transpose()?.unzip();
        let warnings: Vec<String> = self.warnings().into_iter().chain(left_out.into_iter().flatten()).collect();
        let value = json!({
            "report": self.report, "sizes": self.sizes, "format": self.to.as_str(), "warnings": warnings, "handle": handle,
        });
        Ok(Reply { bytes, ..Reply::json(&value) })
    }
}

impl Dispatcher {
    /// Keeps what left under a number, which the answer has.
    pub(super) fn keep_result(&self, compacted: Compacted) -> Result<Reply, Failure> {
        let (handle, compacted) = self.results.keep_shared(compacted);
        compacted.reply(Some(handle), false).inspect_err(|_| {
            self.results.free(handle);
        })
    }

    pub(super) fn result_retrieve(&self, options: &str) -> Result<Reply, Failure> {
        let options: RetrieveOptions = read_options(options)?;
        let gone = || Failure::other("this result was closed; compact again");
        let compacted = self.results.get(options.handle).ok_or_else(gone)?;
        match compacted.retrieve(&options.of)? {
            None => Ok(Reply::json(&())),
            Some(content) => Ok(Reply::of_json(content_json(&content, compacted.to)?)),
        }
    }
}
