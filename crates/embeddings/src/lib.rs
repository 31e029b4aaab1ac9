//! The embedder that is always there: no model to fetch, no native library, no network, no waiting.
//!
//! [`StaticEmbedder`] looks up one row for each word piece in a table that is compiled in and adds the rows up. A text is a
//! bag of pieces to it: it knows that "cat" and "kitten" are near, and nothing of "not". `docs/embeddings.md` has the
//! measurements; `tools/distill` the recipe that makes the table.

mod lexical;
mod pieces;
mod scripts;
mod static_embedder;
mod table;

pub use static_embedder::StaticEmbedder;
