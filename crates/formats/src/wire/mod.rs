//! Formats that are read and written: providers' requests, and agents' files with their own compaction records.

use crate::input::Reader;

/// The readers of agents' JSON lines, which carry unmistakable marks: tried before all others.
pub(crate) const AGENT_READERS: &[Reader] = &[];

/// The readers of providers' requests, the most general shapes: tried after all others.
pub(crate) const READERS: &[Reader] = &[];
