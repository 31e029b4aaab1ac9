//! What a host writes in Python: strategies, a summarizer, an embedder, a listener. Each is a callable that
//! `epitome_context/_callables.py` has wrapped: plain values in, plain values out, coroutines already run.

mod embedder;
mod listener;
mod pending_exceptions;
mod strategies;
mod summarizer;

pub(crate) use embedder::PythonEmbedder;
pub(crate) use listener::listener;
pub(crate) use pending_exceptions::PendingExceptions;
pub(crate) use strategies::{PythonStrategy, registration};
pub(crate) use summarizer::PythonSummarizer;
