//! Set-up of agents: what is written into their folders, and taken back.
//!
//! `agent` has the agents, `place` where they are set up, and a file for each makes its `plan`: whole files of our own, and
//! values at places of files that are the person's. `document` puts a value into such a text and takes it back, and keeps
//! every other byte, with `json` and `toml` for the syntaxes. `change` works out what a plan, or its undo, changes, and
//! `foreign` what it must not; `record` is what was changed, so that it can be taken back; `write` writes all of it or
//! nothing. `program` names this program in files, and `version` is an agent's.

mod agent;
mod change;
mod claude_code;
mod codex;
mod codex_provider;
mod document;
mod foreign;
mod json;
mod opencode;
mod pi;
mod place;
mod plan;
mod program;
mod record;
mod toml;
mod version;
mod write;

pub(crate) use agent::{Agent, Scope};
pub(crate) use change::{Changes, FileChange};
pub(crate) use place::{Place, claude_code_sessions, own_folder};
pub(crate) use record::recorded;
pub(crate) use write::write;
