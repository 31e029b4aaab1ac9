//! Formats that are read and written: providers' requests, and agents' files with their own compaction records.

use crate::input::Reader;

/// The readers, in the order in which they are tried.
pub(crate) const READERS: &[Reader] = &[];
