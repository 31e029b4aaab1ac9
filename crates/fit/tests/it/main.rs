//! A fitter as hosts use it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod asked;
mod growing;
mod hosts;
mod input;
mod lists;
mod parting;
mod state;
mod told;
