//! The agents, and what each is set up with.

use std::path::PathBuf;

use clap::ValueEnum;

use super::place::{Place, moved_folder};
use super::plan::Plan;
use super::record::Record;
use super::version::Version;
use super::{claude_code, codex, opencode, pi};
use crate::failure::Failure;

/// An agent that can be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code: a plug-in with hooks and recall, and a status line
    ClaudeCode,
    /// Codex: its provider reached through the proxy, and recall
    Codex,
    /// opencode: a plug-in that fits each request, and recall
    Opencode,
    /// Pi: an extension that compacts in its place, and recall
    Pi,
}

/// Whose agent is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scope {
    /// The person's, everywhere
    User,
    /// That of the project in this folder
    Project,
}

impl Agent {
    /// The agent's name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Pi => "pi",
        }
    }

    /// The agent's folder, where a variable names another than that below the person's home.
    pub(crate) fn moved_folder(self) -> Option<PathBuf> {
        match self {
            Self::ClaudeCode => moved_folder("CLAUDE_CONFIG_DIR", ".claude"),
            Self::Codex => moved_folder("CODEX_HOME", ".codex"),
            Self::Opencode => moved_folder("XDG_CONFIG_HOME", ".config"),
            Self::Pi => moved_folder("PI_CODING_AGENT_DIR", ".pi/agent"),
        }
    }

    /// The version of the agent's program, where it is found and says one.
    pub(crate) fn version(self) -> Option<Version> {
        match self {
            Self::ClaudeCode => Version::of("claude"),
            Self::Codex | Self::Opencode | Self::Pi => Version::of(self.name()),
        }
    }

    /// Whether the agent reaches its provider through the service.
    pub(crate) fn has_service(self) -> bool {
        self == Self::Codex
    }

    /// What is to be in the agent's folders; `earlier` is what a set-up before this one changed.
    pub(crate) fn plan(self, place: &Place, earlier: Option<&Record>) -> Result<Plan, Failure> {
        match self {
            Self::ClaudeCode => claude_code::plan(place),
            Self::Codex => codex::plan(place, earlier),
            Self::Opencode => opencode::plan(place),
            Self::Pi => pi::plan(place),
        }
    }
}
