//! Recordings that serve measurements only: those of evaluation harnesses, and sets of dialogues. Each dialogue is a
//! session; the material of the measurement (questions, goals, states) is left out.

use crate::format::Format;
use crate::reader::FormatReader;
use crate::reader::ReaderInput::Values;

mod crosswoz;
mod harness;
mod intercode;
mod kdconv;
mod locomo;
mod longmemeval;
mod madial;
mod memorybank;
mod sets;
mod who_and_when;

/// The readers. No file fits two of them, so the order only decides which is tried first.
pub(crate) const READERS: &[FormatReader] = &[
    FormatReader::new(Format::WhoAndWhen, Values, who_and_when::fits, who_and_when::read),
    FormatReader::new(Format::TauBench, Values, harness::fits_tau_bench, harness::read_tau_bench),
    FormatReader::new(Format::OpenaiChat, Values, harness::fits_spider2, harness::read_spider2),
    FormatReader::new(Format::OpenaiChat, Values, harness::fits_webdancer, harness::read_webdancer),
    FormatReader::new(Format::Intercode, Values, intercode::fits, intercode::read),
    FormatReader::new(Format::Locomo, Values, locomo::fits, locomo::read),
    FormatReader::new(Format::LongMemEval, Values, longmemeval::fits, longmemeval::read),
    FormatReader::new(Format::MemoryBank, Values, memorybank::fits, memorybank::read),
    FormatReader::new(Format::Madial, Values, madial::fits, madial::read),
    FormatReader::new(Format::CrossWoz, Values, crosswoz::fits, crosswoz::read),
    FormatReader::new(Format::KdConv, Values, kdconv::fits, kdconv::read),
];

#[cfg(test)]
mod tests;
