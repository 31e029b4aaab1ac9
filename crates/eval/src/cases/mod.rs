//! Cases: what is measured. A recorded session cut in two, or a folder of probes, with everything that is known before any
//! method runs: the strings that its future needs, its demands, its files.

pub(crate) mod atoms;
pub(crate) mod budget;
pub(crate) mod case;
pub(crate) mod cut;
pub(crate) mod edits;
pub(crate) mod files;
pub(crate) mod instructions;
pub mod lake;
pub(crate) mod left_out;
pub(crate) mod needed;
pub(crate) mod patterns;
pub mod probes;
pub(crate) mod recorded;
pub(crate) mod select;
pub(crate) mod text;
