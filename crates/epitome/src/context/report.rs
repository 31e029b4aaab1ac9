//! Everything about a context in one value.

use epitome_engine::{Budget, Ledger};
use epitome_session::{Session, SummaryUsage};
use epitome_strategy::Tokens;
use serde::Serialize;

use super::contents::Contents;
use super::departures::NextCompaction;
use super::fullness::{Fullness, newest_compaction};
use super::removed::Removed;
use super::warning::ContextWarning;

/// Everything about a session's context.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ContextReport {
    /// The number of messages in the context.
    pub messages: usize,
    /// The number of messages ever.
    pub log_messages: usize,
    /// How full it is.
    pub fullness: Fullness,
    /// What it is made of.
    pub contents: Contents,
    /// What the provider counted for the newest request; `null` where the recording does not say.
    #[cfg_attr(feature = "schema", schema(required))]
    pub usage: Option<ReportedUsage>,
    /// What deserves a look.
    pub warnings: Vec<ContextWarning>,
    /// What a compaction would do that were made now.
    pub next: NextCompaction,
    /// What has left.
    pub removed: Removed,
    /// What models took for the session's summaries.
    #[serde(skip_serializing_if = "SummaryUsage::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<epitome_session::ModelUsage>))]
    pub summaries: SummaryUsage,
}

/// The share of the window from which on a request is near it. Source: the default of the soft threshold, and what agents
/// compact at by themselves.
const NEAR: f64 = 0.8;

/// The provider's own count of the newest request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReportedUsage {
    /// Tokens of the request with its answer, system prompt and tools included, whether the recording has these or not.
    pub tokens: u64,
    /// Messages that have come since.
    pub messages_since: usize,
}

impl ReportedUsage {
    /// The usage of the newest request since the newest compaction; `None` where there is none. Linear in the messages
    /// since that request.
    pub fn read(session: &Session) -> Option<Self> {
        let log = session.log();
        let at = log.iter().rposition(|message| message.usage.is_some_and(|usage| usage.input > 0))?;
        let usage = log[at].usage.filter(|_| at >= newest_compaction(session))?;
        Some(Self { tokens: usage.input.saturating_add(usage.output), messages_since: log.len() - 1 - at })
    }

    /// The tokens that a session takes of what `budget` leaves to its messages, by this count: that of the request and its
    /// answer, and the ledger's of the messages that have come since. Linear in these messages.
    pub fn fill(&self, ledger: &Ledger, session: &Session, budget: &Budget) -> Tokens {
        let log = session.log();
        let newest = log.iter().skip(log.len().saturating_sub(self.messages_since));
        let since = newest.map(|message| ledger.measure(message).total).fold(0, Tokens::saturating_add);
        // The budget has taken the tools off already.
        let request = self.tokens.saturating_sub(budget.tool_definitions.into());
        Tokens::try_from(request).unwrap_or(Tokens::MAX).saturating_add(since)
    }

    /// The share of the model's window that the request and its answer took, from 0; 0 where there is no window.
    pub fn share(&self, fullness: &Fullness) -> f64 {
        if fullness.window_tokens == 0 { 0.0 } else { self.tokens as f64 / f64::from(fullness.window_tokens) }
    }

    /// Whether the request was nearly as large as the window, and the messages that are known say nothing of that: what else
    /// is sent with them, or the model's own way of counting, makes the difference. An agent compacts at such a size.
    pub fn is_near_the_window(&self, fullness: &Fullness) -> bool {
        self.share(fullness) >= NEAR && !fullness.check.should_compact
    }
}
