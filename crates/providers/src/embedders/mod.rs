//! Embedders, and the one function that makes one out of settings.
//!
//! The static table of `epitome-embeddings` needs nothing. fastembed runs neural models on this machine (feature
//! `fastembed`), [`OpenAiEmbedder`] asks a service (feature `http`); both are slow enough that [`CachedEmbedder`] goes in
//! front of them.

mod cached;
mod choice;
mod error;
#[cfg(feature = "fastembed")]
mod fastembed;
#[cfg(feature = "http")]
mod openai;
mod settings;

pub use cached::{CacheSettings, CachedEmbedder};
pub use choice::EmbedderChoice;
pub use error::EmbedderError;
#[cfg(feature = "fastembed")]
pub use fastembed::FastembedEmbedder;
#[cfg(feature = "http")]
pub use openai::OpenAiEmbedder;
pub use settings::{FastembedPooling, FastembedSettings, OpenAiSettings};

/// `vector` with the length 1; zeros stay zeros.
#[cfg(any(feature = "fastembed", feature = "http"))]
fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number = (f64::from(*number) / length) as f32);
    }
}

/// At most `max_bytes` of `text`, cut between characters.
#[cfg(any(feature = "fastembed", feature = "http"))]
fn beginning(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}
