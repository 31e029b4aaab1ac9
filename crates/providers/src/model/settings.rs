//! Settings of the model summarizer: plain data.

use std::path::PathBuf;
use std::time::Duration;

use epitome_strategy::{Tokens, named};

use super::prompts::{PromptError, Prompts};

/// The form of a model's summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SummaryForm {
    /// Sections under headings: goal, constraints, state, decisions, findings, failed, open, next step.
    #[default]
    Sections,
    /// A JSON object (topic, entities, actions, open), which becomes sections of those names: shorter, and easier for a
    /// small model.
    Json,
}

named! { SummaryForm { Sections = "sections", Json = "json" } }

/// The settings of a [`ModelSummarizer`](super::ModelSummarizer).
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    /// The form of the summary.
    pub form: SummaryForm,
    /// A folder whose files `en/NAME.md` and `zh/NAME.md` take the place of the prompts of those names.
    pub prompts: Option<PathBuf>,
    /// Requests that are under way at once, of all clones and summaries together. At least 1.
    pub parallel: usize,
    /// Tokens of the session that one request holds at most, however large the model's window is.
    pub part_tokens: Tokens,
    /// Tokens to which a tool's result is cut before the model reads it; half of it for a string in a call's arguments,
    /// three times as much for texts of people and the model. Less where the whole would not fit into one request.
    pub result_tokens: Tokens,
    /// Tokens that the model may think before it answers; 0 for a model that does not.
    pub reasoning_tokens: Tokens,
    /// Share of the window that is left free because the model counts with another tokenizer.
    pub margin: f64,
    /// Answers that are kept in memory, so that the same part of a session is not asked twice.
    pub cache_entries: usize,
    /// A folder in which answers are kept as well, 16 times as many: it serves many runs. They hold what the sessions say.
    pub cache_folder: Option<PathBuf>,
    /// Whether an answer that was kept is counted with what it took when it was given: for a comparison, which is the same each
    /// time. Without it, it takes nothing.
    pub counts_known: bool,
    /// Whether a summary is held against the session's log and completed by rules; without it the text stays as the model wrote
    /// it, and is only cut where it is too long.
    pub checks: bool,
    /// Whether the model reads no secrets: see [`epitome_strategy::secrets`].
    pub redact_secrets: bool,
    /// The time for which a service that cannot be reached, or that refuses key or model, is not asked again: until
    /// then every request fails at once for the same reason. Zero asks it each time.
    pub rest_after_failure: Duration,
}

impl ModelSettings {
    /// Everything that is wrong with the folder of prompts.
    pub fn check(&self) -> Result<(), Vec<PromptError>> {
        Prompts::load(self.prompts.as_deref()).map(drop)
    }
}

impl Default for ModelSettings {
    /// Sections, the prompts that ship, 4 requests at once, 100,000 tokens a request, a margin of 0.2, 256 answers in memory and
    /// none on disk, checked summaries, a minute of rest after a failure.
    fn default() -> Self {
        Self {
            form: SummaryForm::Sections,
            prompts: None,
            parallel: 4,
            part_tokens: 100_000,
            result_tokens: 1_200,
            reasoning_tokens: 0,
            margin: 0.2,
            cache_entries: 256,
            cache_folder: None,
            counts_known: false,
            checks: true,
            redact_secrets: true,
            rest_after_failure: Duration::from_secs(60),
        }
    }
}
