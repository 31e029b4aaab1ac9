//! Session formats of agents and providers: recognised from their content, read into a session, written back.
//!
//! Reading gives the log with every message ever said and a journal of the compactions that the recording holds, so that
//! the full view and the view that the model saw are both there. Writing gives untouched records back byte for byte.
//!
//! Each agent and each wire format has a folder, with `read.rs`, `write.rs` and further files as needed; `readers.rs`
//! is the table of them. Beside the folders are the parts that several formats share: `recording` for those that are
//! only read, `agent_file` for agents' files that are written back, `requests`, `render` and `validate` for providers'
//! requests, `blocks`, `json` and `time` for all.

mod agent_file;
mod aider;
mod anthropic;
mod blocks;
mod branches;
mod check;
mod claude_code;
mod cline;
mod codex;
mod copilot;
mod deerflow;
mod error;
mod follow;
mod foreign;
mod foreign_requests;
mod format;
mod gemini;
mod gemini_cli;
mod gzip;
mod inherited;
mod input;
mod json;
mod kinds;
mod langgraph;
mod loaded;
mod media;
mod message;
mod mini_swe_agent;
mod model;
mod openai_chat;
mod openai_responses;
mod opencode;
mod openhands;
mod pi;
mod qwen;
mod read;
mod reader;
mod readers;
mod recording;
mod render;
mod replacement;
mod requests;
mod swe_agent;
mod time;
mod validate;
mod write;

#[cfg(test)]
mod tests;

pub use check::{MessageError, check_message};
pub use epitome_wire::Wire;
pub use epitome_wire::json::{defined_tools, mend};
pub use error::{ReadError, Warning};
pub use follow::Follower;
pub use format::{Format, usual_model};
pub use gzip::{GzipReader, MAX_MEMBERS};
pub use inherited::{FileName, FindFile};
pub use loaded::{LoadedFile, LoadedSession};
pub use message::{read_message, write_messages};
pub use model::{RecordedModel, recorded_model};
pub use read::{MAX_DECOMPRESSED, ReadOptions, read, read_with_inherited, request_limits};
pub use render::{RenderedRequest, Source, carries_reasoning, render};
pub use validate::{Violation, validate};
pub use write::{
    MovedSession, NewSession, WriteError, carry_over, is_bypassed, recorded_folder, write, write_again, write_moved,
    write_rows,
};
