//! What the packages for other languages share.
//!
//! A package in Python, or for Node and browsers, takes objects of its language, makes JSON text of them, and gives objects
//! back. What lies between is here, without a word of any language: [`Parts`] is a configuration that was built,
//! [`Compacted`] a session that was compacted, [`Failure`] why a call came to nothing.
//!
//! [`Calls`] has all of it behind one function that takes and gives text and bytes, for languages that reach Rust through a
//! narrow door: `crates/node` and `crates/wasm` are that function in two covers. [`ask`], [`ask_fitter`], [`make_fitter`] and
//! [`compact`] are its parts, for a package that holds its objects itself.

pub(crate) mod calls;
mod compacted;
mod failure;
mod fit;
mod input;
mod look;
mod parts;
mod settings;
#[cfg(test)]
mod tests;
mod words;

pub use calls::read::read;
pub use calls::{Answer, Calls, ask, ask_fitter, compact, compact_words, make_fitter, query_of};
pub use compacted::{Compacted, content_json, write_session};
pub use failure::Failure;
pub use input::{Input, choose, format_of, load, load_next, profile_of, provider_of};
pub use look::{Inspection, measure_fullness};
pub use parts::{MakeSummarizer, Parts};
pub use settings::engine_config;
pub use words::{Share, Words};
