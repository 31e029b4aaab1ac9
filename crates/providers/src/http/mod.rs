//! Calls to services that speak JSON over HTTP: one client, one policy for trying again, one kind of error.
//!
//! It works under any executor: the requests run on a small runtime of its own, and the caller only waits for the answer.
//! Dropping the future ends the request. Without the cargo feature `http` only the settings for trying again are there.

#[cfg(feature = "http")]
mod client;
#[cfg(feature = "http")]
mod error;
#[cfg(feature = "http")]
mod key;
#[cfg(feature = "http")]
mod resolve;
mod retry;

#[cfg(feature = "http")]
pub use client::{Header, HttpClient, HttpSettings, KeyHeader};
#[cfg(feature = "http")]
pub use error::HttpError;
#[cfg(feature = "http")]
pub(crate) use error::beginning;
#[cfg(feature = "http")]
pub use key::ApiKey;
pub use retry::RetryPolicy;
