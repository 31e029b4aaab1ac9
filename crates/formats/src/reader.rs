//! A reader of a format, with what it takes and gives.

pub(crate) use crate::error::{ReadError, Warning};
pub(crate) use crate::format::Format;
pub(crate) use crate::input::{Line, Probe, Shape};
use crate::kinds::Kinds;
pub(crate) use crate::loaded::LoadedSession;

type Fits = fn(&Probe<'_>) -> bool;
type Read = fn(&Probe<'_>, &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError>;

/// A reader of one format.
pub(crate) struct FormatReader {
    /// The format.
    pub format: Format,
    /// The input that the reader needs.
    pub input: ReaderInput,
    /// Whether the input is of this format. Cheap: looks at the probe only.
    pub fits: Fits,
    /// Reads the input.
    pub read: Read,
    /// The kinds of records that the input holds, where each has one.
    pub kinds: Option<&'static Kinds>,
}

impl FormatReader {
    pub(crate) const fn new(format: Format, input: ReaderInput, fits: Fits, read: Read) -> Self {
        Self { format, input, fits, read, kinds: None }
    }

    pub(crate) const fn of_kinds(self, kinds: &'static Kinds) -> Self {
        Self { kinds: Some(kinds), ..self }
    }
}

/// The input of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReaderInput {
    /// The text of each line: the reader parses them all, and reports the damaged ones itself.
    Records,
    /// The text of a request, piece by piece.
    Pieces,
    /// Parsed values, which cannot hold all JSON: a part may be nested too deeply, a number too large.
    Values,
}
