//! A session that an agent is still writing: its file found, and read as it grows.
//!
//! [`SessionSource`] reads a file, or the newest session of a folder, and reads it again where it has changed: of a file
//! that Claude Code, Codex or Pi appends to only the addition. [`place_of`] finds the files of an agent by the agent's
//! name, and a session by its id; [`newest_files`] lists the files of a folder; [`read_session_file`] reads along what a file goes on
//! from in others.

mod agents;
mod folder;
mod growth;
mod problem;
mod rollouts;
mod source;

pub use agents::{AGENTS, AgentFolder, SessionPlace, UnknownPlace, place_of};
pub use folder::newest_files;
pub use problem::ReadProblem;
pub use rollouts::read_session_file;
pub use source::{FollowedSession, SessionSource};
