//! The service over real HTTP, on a port of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod api;
mod limits;
mod proxy;
mod proxy_faults;
mod support;
