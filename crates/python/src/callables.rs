//! What a host writes in Python: strategies, a summarizer, an embedder, a listener. Each is a callable that
//! `epitome_context/_callables.py` has wrapped: plain values in, plain values out, coroutines already run.

mod embedder;
mod listener;
mod raised;
mod strategies;
mod summarizer;

pub(crate) use embedder::PythonEmbedder;
pub(crate) use listener::listener;
pub(crate) use raised::Raised;
pub(crate) use strategies::{PythonStrategy, registration};
pub(crate) use summarizer::PythonSummarizer;
