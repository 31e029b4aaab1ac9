//! What the packages for other languages share.
//!
//! A package in Python, or for Node and browsers, takes objects of its language, makes JSON text of them, and gives objects
//! back. What lies between is here, without anything of one language: [`Parts`] is a configuration that was built,
//! [`Compacted`] a session that was compacted, [`Failure`] the reason why a call failed.
//!
//! [`Dispatcher`] has all of it behind one function that takes and gives text and bytes, for languages that reach Rust through a
//! narrow door: `crates/node` and `crates/wasm` are that function in two covers. [`query`], [`call_fitter`], [`make_fitter`] and
//! [`compact`] are its parts, for a package that holds its objects itself.

mod compacted;
pub(crate) mod dispatcher;
mod failure;
mod fit_status;
mod input;
mod look;
mod parts;
mod settings;
#[cfg(test)]
mod tests;

pub use compacted::{Compacted, content_json, write_session};
pub use dispatcher::options::{CompactOptions, search_query};
pub use dispatcher::read_options::read_options;
pub use dispatcher::{Dispatcher, Reply, call_fitter, compact, make_fitter, query};
pub use failure::Failure;
pub use input::{Input, choose, format_of, load, load_next, profile_of, provider_of};
pub use look::{Inspection, measure_fullness};
pub use parts::{MakeSummarizer, Parts};
pub use settings::engine_config;
