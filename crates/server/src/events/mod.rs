//! What happens to sessions, told to those who watch.
//!
//! A session that is worked on has an [`Announcer`]; those who watch it have a [`Subscription`] each. Progress is told at
//! once, outcomes only when they are stored: who hears that a compaction is done finds it done.

mod announcer;
mod hub;
mod socket;
mod stream;

pub(crate) use announcer::Announcer;
pub(crate) use hub::Hub;
pub(crate) use socket::{socket, token_of};
pub(crate) use stream::stream;

// The routes' descriptions for the OpenAPI document.
pub(crate) use socket::__path_socket;
pub(crate) use stream::__path_stream;
