//! Summarizers.
//!
//! [`RuleSummarizer`] writes summaries without a model: no network, no waiting, the same text for the same messages.

mod rules;

pub use rules::RuleSummarizer;
