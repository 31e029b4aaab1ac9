//! The findings of checking a compaction's summaries against the conversation, in figures: the log holds no text.

use epitome::session::Epoch;

/// The figures of all summaries of a request's new compactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SummaryFigures {
    /// Whether the rules, or another model, wrote in place of the model that was asked.
    pub(crate) fell_back: bool,
    /// Summaries that the model was asked for once more.
    pub(crate) asked_again: usize,
    /// Strings that the conversation does not hold, and that were marked.
    pub(crate) unverified: usize,
    /// Demands that the model left out and rules added.
    pub(crate) added_demands: usize,
    /// Changed files that the model left out and rules added.
    pub(crate) added_files: usize,
    /// Demands and files for which there was no room.
    pub(crate) left_out: usize,
}

impl SummaryFigures {
    /// The figures of some compactions; `None` where no model was asked for their summaries.
    pub(crate) fn sum(epochs: &[Epoch]) -> Option<Self> {
        let mut records = epochs.iter().filter_map(|epoch| epoch.summarizer.as_ref()).peekable();
        records.peek()?;
        let mut sum = Self::default();
        for record in records {
            sum.fell_back |= record.fell_back;
            for check in &record.checks {
                sum.asked_again += usize::from(check.asked_again.is_some());
                sum.unverified += check.unknown.len();
                sum.added_demands += check.added_demands.len();
                sum.added_files += check.added_files.len();
                sum.left_out += check.left_out.len();
            }
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use epitome::session::{SummarizerRecord, SummaryCheck, SummaryUsage, Trigger};

    use super::*;

    #[test]
    fn figures_add_up() {
        let epoch = |summarizer: Option<SummarizerRecord>| Epoch {
            summarizer: summarizer.map(Arc::new),
            ..Epoch::recorded(Trigger::Hard, [], Vec::new())
        };
        let record = |fell_back, checks| SummarizerRecord {
            kind: Arc::from("llm"),
            fell_back,
            problem: None,
            checks,
            models: SummaryUsage::default(),
            written: Vec::new(),
        };
        let words = |count: usize| vec!["word".to_owned(); count];
        let check = |unverified, asked_again: bool| SummaryCheck {
            unknown: words(unverified),
            added_demands: words(2),
            added_files: words(3),
            left_out: words(1),
            asked_again: asked_again.then(String::new),
            ..SummaryCheck::default()
        };
        assert_eq!(SummaryFigures::sum(&[epoch(None)]), None);
        let epochs = [
            epoch(None),
            epoch(Some(record(false, vec![check(4, true), check(1, false)]))),
            epoch(Some(record(true, Vec::new()))),
        ];
        let expect = SummaryFigures {
            fell_back: true,
            asked_again: 1,
            unverified: 5,
            added_demands: 4,
            added_files: 6,
            left_out: 2,
        };
        assert_eq!(SummaryFigures::sum(&epochs), Some(expect));
    }
}
