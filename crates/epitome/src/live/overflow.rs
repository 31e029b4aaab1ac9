//! The provider has the last word: what to do when it refuses the session as too long.

use epitome_engine::{Budget, Report};
use epitome_session::Trigger;
use epitome_strategy::Tokens;

use super::hosted::with_window;
use super::{Compaction, LiveError, LiveSession, Overflow};

/// The number of attempts to make a session smaller for one call of the model.
const MOST_ATTEMPTS: u32 = 3;

/// The target as a share of the tokens sent, where the provider does not give its limit.
const UNTOLD: f64 = 0.7;

/// Room that is left below a limit that the provider did name.
const MARGIN: f64 = 0.9;

/// The next step after a refusal.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    /// The compaction that was made.
    pub report: Report,
    /// Tokens that the view may take from here on, by the engine's counter.
    pub limit: Tokens,
    /// The number of attempts left if this one is refused too.
    pub attempts_left: u32,
}

impl LiveSession {
    /// To be called when the provider refused the session as too long: compacts harder than the budget asks. Then send the
    /// view again; an answer that is pushed ends it. A limit that the provider named stays in force for this session.
    ///
    /// # Errors
    ///
    /// After three refusals in a row, or where nothing more may leave: the session cannot be sent to this model.
    pub async fn handle_overflow(&mut self, overflow: Overflow) -> Result<Retry, LiveError> {
        self.listeners.metrics.overflow();
        let tokens = self.ledger.total();
        if self.overflows >= MOST_ATTEMPTS {
            let error = LiveError::StillTooLong { attempts: self.overflows + 1, tokens };
            return Err(self.record_failure(error, Trigger::Overflow));
        }
        let before = self.budget.clone();
        let most = match self.learned_budget(overflow) {
            Some(budget) => {
                self.budget = budget;
                self.budget.usable().min((f64::from(tokens) * MARGIN) as Tokens)
            }
            None => (f64::from(tokens) * UNTOLD) as Tokens,
        };
        let target = self.budget.target.tokens(self.budget.usable()).min(most);
        let compaction = Compaction { trigger: Trigger::Overflow, target: Some(target), ..Compaction::default() };
        let report = match self.compact(&compaction).await {
            Ok(report) => report,
            Err(error) => {
                self.budget = before;
                return Err(error);
            }
        };
        self.overflows += 1;
        if !report.status.is_compaction() {
            let error = LiveError::StillTooLong { attempts: self.overflows, tokens };
            return Err(self.record_failure(error, Trigger::Overflow));
        }
        Ok(Retry { report, limit: most, attempts_left: MOST_ATTEMPTS - self.overflows })
    }

    /// The budget that the provider's figures give, where it named its limit.
    ///
    /// The provider's count of the same session shows the error of the engine's count.
    fn learned_budget(&self, overflow: Overflow) -> Option<Budget> {
        let limit = overflow.limit?;
        let sent = self.ledger.total().saturating_add(self.budget.tool_definitions);
        let off = overflow.actual.map_or(1.0, |actual| f64::from(actual.max(1)) / f64::from(sent.max(1)));
        let window = ((f64::from(limit) / off.max(1.0)) as Tokens).min(self.budget.window);
        Some(with_window(&self.budget, window))
    }
}
