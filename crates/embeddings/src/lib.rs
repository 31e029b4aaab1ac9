//! The default embedder: it needs no model, native library, network or waiting.
//!
//! [`StaticEmbedder`] looks up one row for each word piece in a table that is compiled in, and adds the rows. It reads
//! a text as a bag of pieces: it knows that "cat" and "kitten" are near, and does not know what "not" means.
//! `docs/embeddings.md` has the measurements, `tools/distill` the recipe for the table.

mod lexical;
mod pieces;
mod scripts;
mod static_embedder;
mod table;

pub use static_embedder::StaticEmbedder;
