//! The readers of all formats.

use crate::format::Format;
use crate::reader::FormatReader;
use crate::{agents, dialogues, wire};

/// The readers in the order in which they are tried: formats with marks of their own before the general ones.
pub(crate) fn readers() -> impl DoubleEndedIterator<Item = &'static FormatReader> {
    [wire::AGENT_READERS, agents::READERS, dialogues::READERS, wire::READERS].into_iter().flatten()
}

/// Whether a format is read piece by piece from its text, which may hold what no value does. Others would lose that part.
pub(crate) fn is_read_by_piece(format: Format) -> bool {
    wire::READERS.iter().chain(wire::AGENT_READERS).any(|reader| reader.format == format)
}

/// Whether the reader of a format parses every line anyway and reports the damaged ones itself: the agents' own do.
pub(crate) fn reports_damaged_lines(format: Format) -> bool {
    wire::AGENT_READERS.iter().any(|reader| reader.format == format)
}
