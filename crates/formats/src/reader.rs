//! What a reader of a format is.

use crate::error::{ReadError, Warning};
use crate::format::Format;
use crate::input::Probe;
use crate::loaded::LoadedSession;

/// A reader of one format: an element of the tables of readers.
pub(crate) struct FormatReader {
    /// The format.
    pub format: Format,
    /// Whether the input is of this format. Cheap: looks at the probe only.
    pub fits: fn(&Probe<'_>) -> bool,
    /// Reads it.
    pub read: fn(&Probe<'_>, &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError>,
}
