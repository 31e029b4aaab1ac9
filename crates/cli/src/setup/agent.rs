//! The agents, and what each is set up with.

use std::path::PathBuf;

use clap::ValueEnum;

use super::place::{Place, moved_folder, start_of_service};
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
    /// Aider: what to set by hand
    Aider,
    /// Cline: what to set by hand
    Cline,
    /// OpenHands: what to set by hand
    Openhands,
    /// Gemini CLI: what to set by hand
    #[value(alias = "gemini-cli")]
    Gemini,
    /// Any agent whose provider has a base address: what to set by hand
    Other,
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
            Self::Aider => "aider",
            Self::Cline => "cline",
            Self::Openhands => "openhands",
            Self::Gemini => "gemini",
            Self::Other => "other",
        }
    }

    /// The agent's folder, where a variable names another than that below the person's home.
    pub(crate) fn moved_folder(self) -> Option<PathBuf> {
        match self {
            Self::ClaudeCode => moved_folder("CLAUDE_CONFIG_DIR", ".claude"),
            Self::Codex => moved_folder("CODEX_HOME", ".codex"),
            Self::Opencode => moved_folder("XDG_CONFIG_HOME", ".config"),
            Self::Pi => moved_folder("PI_CODING_AGENT_DIR", ".pi/agent"),
            Self::Aider | Self::Cline | Self::Openhands | Self::Gemini | Self::Other => None,
        }
    }

    /// The version of the agent's program, where it is found and says one.
    pub(crate) fn version(self) -> Option<Version> {
        match self {
            Self::ClaudeCode => Version::of("claude"),
            Self::Codex | Self::Opencode | Self::Pi => Version::of(self.name()),
            Self::Aider | Self::Cline | Self::Openhands | Self::Gemini | Self::Other => None,
        }
    }

    /// Whether the agent reaches its provider through the service.
    pub(crate) fn has_service(self) -> bool {
        !matches!(self, Self::ClaudeCode | Self::Opencode | Self::Pi)
    }

    /// What is to be in the agent's folders; `None` for agents that are set up by hand.
    /// `earlier` is what a set-up before this one changed.
    pub(crate) fn plan(self, place: &Place, earlier: Option<&Record>) -> Result<Option<Plan>, Failure> {
        match self {
            Self::ClaudeCode => claude_code::plan(place).map(Some),
            Self::Codex => codex::plan(place, earlier).map(Some),
            Self::Opencode => opencode::plan(place).map(Some),
            Self::Pi => pi::plan(place).map(Some),
            Self::Aider | Self::Cline | Self::Openhands | Self::Gemini | Self::Other => Ok(None),
        }
    }

    /// What a person sets by hand, so that the agent goes through the service.
    pub(crate) fn by_hand(self, service: &str) -> String {
        let lines = match self {
            Self::Aider => format!(
                "aider --openai-api-base {service}/v1          # with a model of OpenAI\n\
                 ANTHROPIC_API_BASE={service} aider             # with a model of Anthropic"
            ),
            Self::Cline => format!(
                "in the settings of the provider:\n\
                 Anthropic: check `Use custom base URL`, and set it to {service}\n\
                 OpenAI compatible: set `Base URL` to {service}/v1"
            ),
            Self::Openhands => format!("LLM_BASE_URL={service}/v1 openhands             # with a model of OpenAI"),
            Self::Gemini => format!(
                "GOOGLE_GEMINI_BASE_URL={service} gemini        # with GEMINI_API_KEY set\n\
                 and in ~/.gemini/settings.json, unless you chose the API key there already:\n\
                 {{\"security\": {{\"auth\": {{\"selectedType\": \"gemini-api-key\"}}}}}}"
            ),
            _ => format!(
                "the base address of its provider:\n\
                 OpenAI and compatible ones: {service}/v1  (many read it from OPENAI_BASE_URL)\n\
                 Anthropic: {service}  (many read it from ANTHROPIC_BASE_URL)"
            ),
        };
        let provider = match self {
            Self::Gemini => "https://generativelanguage.googleapis.com",
            _ => "ADDRESS-OF-THE-PROVIDER",
        };
        format!("{lines}\n{}", start_of_service(service, provider))
    }
}
