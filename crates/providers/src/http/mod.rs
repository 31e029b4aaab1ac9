//! Calls to services that speak JSON over HTTP: one client, one policy for trying again, one kind of error.
//!
//! It works under any executor: the requests run on a small runtime of its own, and the caller only waits for the answer.
//! Dropping the future ends the request.

mod client;
mod error;
mod key;
mod retry;

pub use client::{HttpClient, HttpSettings};
pub use error::HttpError;
pub use key::ApiKey;
pub use retry::RetryPolicy;
