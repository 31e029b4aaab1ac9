//! Another summarizer where the model fails.

use std::sync::Arc;

use epitome_strategy::{ModelBackoff, SummarizeError, Summarizer, Summary, SummaryTask, async_trait};

use super::ModelSummarizer;

/// Asks `first`, and where that fails `second`, which is usually [`RuleSummarizer`](crate::RuleSummarizer).
///
/// The summary then says in [`Summary::fell_back`] why, all reasons of a chain of such, and counts what the first one has cost. Where both fail the error
/// names both reasons.
#[derive(Debug, Clone)]
pub struct FallbackSummarizer {
    /// The summarizer that is asked first.
    pub first: ModelSummarizer,
    /// The summarizer that is asked where the first one fails.
    pub second: Arc<dyn Summarizer>,
}

#[async_trait]
impl Summarizer for FallbackSummarizer {
    /// The first one's.
    fn kind(&self) -> &str {
        self.first.kind()
    }

    async fn summarize(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        let mut failure = match self.first.summarize(task).await {
            Ok(summary) => return Ok(summary),
            Err(failure) => failure,
        };
        let mut usage = std::mem::take(&mut failure.usage);
        match self.second.summarize(task).await {
            Ok(mut summary) => {
                usage.add(&summary.usage);
                summary.usage = usage;
                // The second may have fallen back as well.
                summary.fell_back = Some(match summary.fell_back.take() {
                    Some(also) if also != failure.message => format!("{}; {also}", failure.message),
                    _ => failure.message,
                });
                Ok(summary)
            }
            Err(second) => {
                usage.add(&second.usage);
                Err(SummarizeError {
                    message: format!("{}; {}: {}", failure.message, self.second.kind(), second.message),
                    retryable: failure.retryable || second.retryable,
                    usage,
                })
            }
        }
    }
    fn for_session(&self, backoff: &ModelBackoff) -> Option<Arc<dyn Summarizer>> {
        let first = ModelSummarizer { backoff: Some(backoff.clone()), ..self.first.clone() };
        let second = self.second.for_session(backoff).unwrap_or_else(|| Arc::clone(&self.second));
        Some(Arc::new(Self { first, second }))
    }
}
