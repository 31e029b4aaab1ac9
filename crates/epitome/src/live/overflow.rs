//! The provider has the last word: what to do when it refuses the session as too long.

use epitome_engine::{Report, Status};
use epitome_session::Trigger;
use epitome_strategy::Tokens;

use super::{Compaction, LiveError, LiveSession, Overflow};

/// How often a session is made smaller for one call of the model.
const MOST_ATTEMPTS: u32 = 3;

/// Tokens to get down to, as a share of what is left, where the provider does not say how much is too much.
const UNTOLD: f64 = 0.7;

/// Room that is left below a limit that the provider did name.
const MARGIN: f64 = 0.9;

/// What to do now.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    /// The compaction that was made.
    pub report: Report,
    /// Tokens that the view may take from here on, by the engine's counter.
    pub limit: Tokens,
    /// How many attempts are left if this one is refused too.
    pub attempts_left: u32,
}

impl LiveSession {
    /// To be called when the provider refused the session as too long: compacts harder than the budget asks. Then send the
    /// view again; an answer that is pushed ends it. The limit that was learnt stays in force for this session.
    ///
    /// # Errors
    ///
    /// After three refusals in a row, or where nothing more may leave: the session cannot be sent to this model.
    pub async fn overflowed(&mut self, overflow: Overflow) -> Result<Retry, LiveError> {
        self.watchers.metrics.overflow();
        self.overflows += 1;
        let tokens = self.ledger.total();
        if self.overflows > MOST_ATTEMPTS {
            let error = LiveError::StillTooLong { attempts: self.overflows, tokens };
            return Err(self.failed(error));
        }
        let limit = self.learn(overflow);
        let usable = self.budget.usable();
        let target = self.budget.target.tokens(usable).min((f64::from(limit) * MARGIN) as Tokens);
        let compaction = Compaction { trigger: Trigger::Overflow, target: Some(target), ..Compaction::default() };
        let report = self.compact(&compaction).await?;
        if report.status != Status::Compacted {
            let error = LiveError::StillTooLong { attempts: self.overflows, tokens };
            return Err(self.failed(error));
        }
        Ok(Retry { report, limit, attempts_left: MOST_ATTEMPTS - self.overflows })
    }

    /// Makes the budget what the provider said that it is; the tokens that the view may take, by the engine's counter.
    ///
    /// The provider's count of the same session tells how far the engine's is off.
    fn learn(&mut self, overflow: Overflow) -> Tokens {
        let sent = self.ledger.total().saturating_add(self.budget.tool_definitions);
        let off = overflow.actual.map_or(1.0, |actual| f64::from(actual.max(1)) / f64::from(sent.max(1)));
        let window = match overflow.limit {
            Some(limit) => (f64::from(limit) / off.max(1.0)) as Tokens,
            None => (f64::from(sent) * UNTOLD) as Tokens,
        };
        let window = window.min(self.budget.window);
        // The reserve is the host's wish for the answer; it must not take the whole of a window that shrank.
        self.budget.reserve_output = self.budget.reserve_output.min(window / 4);
        self.budget.window = window;
        self.budget.usable().min((f64::from(self.ledger.total()) * MARGIN) as Tokens)
    }
}
