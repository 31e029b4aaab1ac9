//! The tables that a file has under names of the user's: models, channels, agents.

use std::path::Path;

use epitome_providers::chat::ChannelKind;
use epitome_strategy::settings;

use crate::values::{Parameters, PresetNames, SummarizerChoice};

settings! {
    /// `[models.NAME]`: what is known of a model.
    pub struct ModelTable {
        /// The model's context window; 0 for the one that ships for its name.
        window: u32 = 0, in 0..=1_000_000_000, unit "tokens";
        /// Kept free for the model's answer; 0 for what ships for its name, else for `[budget] reserve_output`'s default.
        reserve_output: u32 = 0, in 0..=1_000_000_000, unit "tokens";
    }
}

settings! {
    /// `[channels.NAME]`: how a service with models is reached.
    pub struct ChannelTable {
        /// What the service speaks: `openai` for `/chat/completions`, as most servers do, or `anthropic` for its messages.
        kind: ChannelKind = ChannelKind::OpenAi, is common;
        /// What the service's addresses begin with, such as `http://localhost:11434/v1`; empty for OpenAI's or Anthropic's
        /// own.
        base_url: String = String::new(), is common;
        /// The environment variable that holds the key; empty for a service that wants none, and at OpenAI and Anthropic
        /// themselves for `OPENAI_API_KEY` and `ANTHROPIC_API_KEY`.
        key_variable: String = String::new(), is common;
        /// A file that holds the key and nothing else, in place of `key_variable`.
        key_file: String = String::new();
        /// The models that may be asked for, the usual one first; empty for any.
        models: Vec<String> = Vec::new(), is common;
        /// Whether the channel may be used for compaction.
        compaction: bool = true;
        /// Whether it is the one that is meant where several channels for compaction fit and none is named.
        default: bool = false;
        /// The longest wait for one try.
        timeout_seconds: u32 = 120, in 1..=3_600, unit "seconds";
        /// How often a request is tried, the first time included, where the service is busy or cannot be reached.
        tries: u32 = 3, in 1..=20, unit "tries";
        /// The longest wait between two tries. A service that asks for a longer one is not asked again.
        longest_wait_seconds: u32 = 30, in 0..=3_600, unit "seconds";
        /// Tokens that request and answer may take together; 0 for what is known of the model, and 32,768 where nothing
        /// is. Set it for a server that was started with a smaller context than its model has.
        window: u32 = 0, in 0..=1_000_000_000, unit "tokens";
        /// Parameters that every request carries beside its own, or in their place, such as `{ top_p = 0.9 }`.
        extra: Parameters = Parameters::default(), unit "table of parameters";
    }
}

/// The address of the service that a kind is named after, and the environment variable that usually holds its key.
fn own_service(kind: ChannelKind) -> (&'static str, &'static str) {
    match kind {
        ChannelKind::OpenAi => ("https://api.openai.com/v1", "OPENAI_API_KEY"),
        ChannelKind::Anthropic => ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    }
}

impl ChannelTable {
    /// Whether the key that the channel names exists: its variable is set, or its file exists; `None` where it names
    /// none.
    pub fn has_key(&self) -> Option<bool> {
        match (self.variable(), self.key_file.as_str()) {
            ("", "") => None,
            ("", file) => Some(Path::new(file).is_file()),
            (variable, _) => Some(std::env::var_os(variable).is_some_and(|key| !key.is_empty())),
        }
    }

    /// The environment variable that the key is read from, the usual one of the service included.
    pub(crate) fn variable(&self) -> &str {
        let is_own = self.base_url.is_empty() && self.key_file.is_empty();
        if self.key_variable.is_empty() && is_own { own_service(self.kind).1 } else { &self.key_variable }
    }

    /// The base of the service's addresses, the service's usual one where none is set.
    pub fn address(&self) -> &str {
        if self.base_url.is_empty() { own_service(self.kind).0 } else { &self.base_url }
    }
}

settings! {
    /// `[agents.NAME]`: what one agent does differently. What it does not set is as for all.
    pub struct AgentTable {
        /// Presets, over the values for all.
        preset: PresetNames = PresetNames::default();
        /// The model that the agent talks to, as `[budget] model`.
        runs_on: String = String::new();
        /// Its context window, as `[budget] window`; stands over what is known of the model.
        window: u32 = 200_000, in 100..=1_000_000_000, unit "tokens";
        /// A compaction is suggested from this share of the usable window on, as `[budget] soft`; at 0 the agent is never
        /// compacted by thresholds. The default holds where neither the file nor a preset sets `[budget] soft`.
        threshold_percent: u32 = 70, in 0..=100, unit "percent";
        /// The newest messages that stay whole, as `[pins] keep_recent`.
        keep_recent: u32 = 0, in 0..=1_000, unit "messages";
        /// The chain that is always used, by its name in `[chains]`; empty to go by the kind of task.
        chain: String = String::new();
        /// Whether its contexts name handles and the tool that searches, as `[marks] handles`: for an agent that has the
        /// tools of `/mcp`.
        handles: bool = false;
        /// Who writes its summaries, as `[summary] summarizer`.
        summarizer: SummarizerChoice = SummarizerChoice::Rules;
        /// The channel to the model that writes them, as `[summary] channel`.
        channel: String = String::new();
        /// The model that writes them, as `[summary] model`.
        model: String = String::new();
    }
}
