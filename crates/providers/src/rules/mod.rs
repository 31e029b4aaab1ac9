//! The rule summarizer: lines that say something, the most valuable ones that fit.

mod collect;
mod collector;
pub(crate) mod command_line;
mod commands;
mod earlier;
pub(crate) mod files;
mod fill;
mod languages;
pub(crate) mod lines;
mod speech;
mod tasks;
pub(crate) mod wording;
mod work;

use epitome_strategy::text::counted;
use epitome_strategy::{SummarizeError, Summarizer, Summary, SummaryTask, async_trait};

/// Writes summaries by rules, without a model.
///
/// It collects lines from the messages: the user's requests and the standing instructions in them, which files were
/// read and changed and how, which commands ran and how they ended, the model's conclusions, the languages of the code,
/// errors and whether a later run succeeded, open tasks, and the lines of earlier summaries. Each
/// line has a value; the most valuable ones that fit `max_tokens` are written, in sections, in the order of the
/// conversation. Lines that match the request's focus go first. Quotations are verbatim and never cut inside a word.
///
/// The result never exceeds `max_tokens` by the task's counter; the future is ready at once. It errs only where not even
/// one line fits, or where the messages say nothing. Linear in the messages.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleSummarizer;

impl RuleSummarizer {
    /// The summary of `task`, at once.
    pub fn write(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        let lines = collect::lines(task);
        let text = fill::fill(lines, task);
        if text.is_empty() {
            let message = format!(
                "no line about {} fits {} tokens",
                counted(task.messages.len(), "message"),
                task.request.max_tokens
            );
            return Err(SummarizeError::new(message, false));
        }
        Ok(Summary { text, ..Summary::default() })
    }
}

#[async_trait]
impl Summarizer for RuleSummarizer {
    fn kind(&self) -> &str {
        "rules"
    }

    async fn summarize(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        self.write(task)
    }
}

#[cfg(test)]
mod tests;
