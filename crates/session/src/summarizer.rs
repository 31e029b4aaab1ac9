//! What an epoch records of its summaries: who wrote them, what models took for them, and the results of checking them against
//! the log.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The result of checking a model's summary against the session's log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SummaryCheck {
    /// Paths, identifiers, numbers and commands of the summary that were looked up in the session.
    pub strings: u32,
    /// Those of them that the session does not contain. The summary marks each as unverified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Demands of the user in the messages that the summary covers.
    pub demands: u32,
    /// Those of them that the model had left out and that rules added word for word; also sentences of the newest request
    /// whose exact strings it had left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_demands: Vec<String>,
    /// Files that calls changed in the messages that the summary covers.
    pub files: u32,
    /// Those of them that the model had left out and that rules added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added_files: Vec<String>,
    /// Demands and files for which neither the model nor the rules had room.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Lines, as the model wrote them, whose state of a file or a command the log contradicts. The summary has the log's, or
    /// a mark behind a deletion that the log does not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corrected: Vec<String>,
    /// What was wrong with the model's first answer, where the model was asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub asked_again: Option<String>,
}

/// The outcome of the summaries of a compaction for which a model was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SummarizerRecord {
    /// The configured summarizer, as reports name it: `llm`.
    pub kind: Arc<str>,
    /// Whether another summarizer replaced it.
    pub fell_back: bool,
    /// Why another one did, or why there is no summary; the first such problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub problem: Option<String>,
    /// The results of checking each summary that a model wrote against the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<SummaryCheck>,
    /// What each model took that answered, also for answers that could not be used.
    #[serde(default, skip_serializing_if = "SummaryUsage::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<ModelUsage>))]
    pub models: SummaryUsage,
    /// The numbers, among the epoch's additions, of the summaries that were requested and written, by the model or in its
    /// place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<u32>,
}

/// What one model took for summaries, by the figures of its service.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ModelUsage {
    /// The model as its service calls it; empty where the summarizer does not say.
    pub model: Arc<str>,
    /// The requests that it answered, also those whose answer could not be used.
    pub answers: u64,
    /// Tokens that it read, cached ones included.
    pub input_tokens: u64,
    /// Of these, the tokens that came from the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What models took for summaries: each model once, in the order in which they answered; empty where none did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SummaryUsage(Vec<ModelUsage>);

impl SummaryUsage {
    /// Whether no model answered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what each model took.
    pub fn models(&self) -> &[ModelUsage] {
        &self.0
    }

    /// Returns the tokens that all of them read, cached ones included.
    pub fn input_tokens(&self) -> u64 {
        self.0.iter().map(|usage| usage.input_tokens).sum()
    }

    /// Returns how many of these came from the provider's cache.
    pub fn cached_tokens(&self) -> u64 {
        self.0.iter().map(|usage| usage.cached_tokens).sum()
    }

    /// Returns the tokens that all of them wrote.
    pub fn output_tokens(&self) -> u64 {
        self.0.iter().map(|usage| usage.output_tokens).sum()
    }

    /// Adds what was taken elsewhere.
    pub fn add(&mut self, more: &Self) {
        for usage in &more.0 {
            match self.0.iter_mut().find(|known| known.model == usage.model) {
                Some(known) => {
                    known.answers += usage.answers;
                    known.input_tokens += usage.input_tokens;
                    known.cached_tokens += usage.cached_tokens;
                    known.output_tokens += usage.output_tokens;
                }
                None => self.0.push(usage.clone()),
            }
        }
    }
}

impl From<ModelUsage> for SummaryUsage {
    /// Nothing where the model answered nothing.
    fn from(usage: ModelUsage) -> Self {
        Self(if usage.answers > 0 { vec![usage] } else { Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_is_there_once() {
        let usage = |model: &str, answers, input_tokens| {
            let (cached_tokens, output_tokens) = (input_tokens / 2, 1);
            SummaryUsage::from(ModelUsage { model: model.into(), answers, input_tokens, cached_tokens, output_tokens })
        };
        let mut sum = SummaryUsage::default();
        for more in [usage("large", 1, 10), usage("small", 2, 100), usage("large", 3, 1_000), usage("silent", 0, 7)] {
            sum.add(&more);
        }
        let told: Vec<(&str, u64, u64)> =
            sum.models().iter().map(|it| (&*it.model, it.answers, it.input_tokens)).collect();
        assert_eq!(told, [("large", 4, 1_010), ("small", 2, 100)]);
        assert_eq!((sum.input_tokens(), sum.cached_tokens(), sum.output_tokens()), (1_110, 555, 3));
    }
}
