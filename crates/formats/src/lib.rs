//! Session formats of agents and providers: recognised from their content, read into a session, written back.
//!
//! Reading gives the log with every message ever said and a journal of the compactions that the recording holds, so that
//! the full view and the view that the model saw are both there. Writing gives untouched records back byte for byte.

mod agents;
mod dialogues;
mod error;
mod follow;
mod format;
mod input;
mod loaded;
mod read;
mod reader;
mod readers;
mod wire;

pub use error::{ReadError, Warning};
pub use follow::Follower;
pub use format::Format;
pub use loaded::{LoadedFile, LoadedSession};
pub use read::{MAX_DECOMPRESSED, ReadOptions, read};
pub use wire::{
    Profile, RenderedRequest, Source, Violation, WriteError, carries_reasoning, carry_over, is_bypassed, render,
    validate, write, write_again,
};
