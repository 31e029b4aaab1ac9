//! Recordings of agents that are read and not written back.

use crate::input::Reader;

/// The readers, in the order in which they are tried.
pub(crate) const READERS: &[Reader] = &[];
