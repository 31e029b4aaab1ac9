//! Sessions that are going on, case by case.
#![allow(clippy::unwrap_used, clippy::panic)]

mod control;
mod events;
mod faults;
mod files;
mod memories;
mod support;
mod triggers;
