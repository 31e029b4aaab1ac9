//! Sessions in tables: one in each row, as text or as lists of structures.

#[cfg(feature = "parquet")]
mod parquet;
mod shape;

pub use shape::session_text;

#[cfg(feature = "parquet")]
pub(crate) use parquet::{LakeRow, each_block};

/// The bytes that a Parquet file begins with.
pub(crate) const PARQUET: &[u8] = b"PAR1";
