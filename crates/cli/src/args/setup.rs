//! The arguments of `setup`, `hook` and `statusline`.

use clap::{Args, ValueEnum};

use crate::setup::{Agent, Scope};

#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// The agent
    #[arg(value_enum)]
    pub(crate) agent: Agent,
    /// Take back what a set-up changed, and nothing else
    #[arg(long)]
    pub(crate) undo: bool,
    /// Show the changes and make none
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Make the changes without asking
    #[arg(short, long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Whose agent: the person's, or that of the project in this folder
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    /// Leave compactions to the agent's model, and add exact words to its summary (claude-code)
    #[arg(long)]
    pub(crate) model_summary: bool,
    /// The address of the service, for agents that reach their provider through it [default: http://127.0.0.1:7777]
    #[arg(long, value_name = "URL", conflicts_with = "undo")]
    pub(crate) service: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The agent that calls
    #[arg(value_enum)]
    pub(crate) agent: HookAgent,
    /// What happens there
    #[arg(value_enum)]
    pub(crate) event: HookEvent,
}

/// An agent that calls programs when something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookAgent {
    /// Claude Code
    ClaudeCode,
}

/// An event in an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookEvent {
    /// Before its model writes a summary: prints the demands that the summary has to repeat
    PreCompact,
    /// After a compaction: prints exact words of what left, to be added to the context
    SessionStart,
    /// In place of its model's summary: prints the messages after a compaction, or why the model is to compact
    Compact,
}
