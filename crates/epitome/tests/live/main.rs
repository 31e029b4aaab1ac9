//! Sessions that are going on, case by case.
#![allow(clippy::unwrap_used, clippy::panic)]

mod background;
mod by_hand;
mod commands;
mod control;
mod events;
mod faults;
mod files;
mod full_disk;
mod hosted;
mod memories;
mod roles;
mod search;
mod shared;
mod support;
mod triggers;
