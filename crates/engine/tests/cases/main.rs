//! What the engine does, case by case: a conversation as text goes in, and the view as text comes out.
#![allow(clippy::unwrap_used, clippy::panic)]

mod arrivals;
mod by_hand;
mod cancellation;
mod edits;
mod floor;
mod gaps;
mod hosts;
mod instructions;
mod memories;
mod order;
mod pictures;
mod prefix;
mod quality;
mod recent;
mod room;
mod runs;
mod secrets;
mod selection;
mod state;
mod summaries;
mod support;
mod thinking;
mod vectors;
