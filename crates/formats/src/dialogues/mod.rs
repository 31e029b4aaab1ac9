//! Sets of dialogues.

use crate::input::Reader;

/// The readers, in the order in which they are tried.
pub(crate) const READERS: &[Reader] = &[];
