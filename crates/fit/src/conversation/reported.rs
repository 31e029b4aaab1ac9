//! What the provider counts for the requests of a conversation, against what is counted here.

use epitome::engine::{Budget, Threshold};
use epitome::strategy::Tokens;
use serde::{Deserialize, Serialize};

use super::prepared::TokenCounts;

/// How many requests are remembered: their median shrugs off one whose answer came for another request.
const REMEMBERED: usize = 9;

/// The shares of what is counted here that a provider's counts may be. Beyond them something else was counted.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.5..=2.5;

/// What the provider counted for the newest requests, as shares of what was counted here: whole requests are compared, tools
/// and what stands around messages included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportedShares {
    /// The model of these requests: another counts differently.
    model: Option<String>,
    shares: Vec<f64>,
    /// Tokens that were counted here of the newest request, which no figure has come for yet.
    sent: Option<Tokens>,
}

impl ReportedShares {
    /// Remembers that a request of so many tokens, by the count here, goes to a model.
    pub(super) fn note_sent(&mut self, model: Option<&str>, tokens: Tokens) {
        if self.model.as_deref() != model {
            *self = Self { model: model.map(str::to_owned), ..Self::default() };
        }
        self.sent = Some(tokens).filter(|tokens| *tokens > 0);
    }

    /// Takes the provider's figure for the request that was sent last, all of its input tokens.
    pub fn learn(&mut self, reported: u64) {
        let share = self.sent.take().map(|sent| reported as f64 / f64::from(sent));
        if let Some(share) = share.filter(|share| PLAUSIBLE.contains(share)) {
            self.shares.push(share);
            let old = self.shares.len().saturating_sub(REMEMBERED);
            self.shares.drain(..old);
        }
    }

    /// The share that counts: the median, 1 where nothing was reported for the model.
    fn share(&self, model: Option<&str>) -> f64 {
        let mut sorted = self.shares.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().filter(|_| self.model.as_deref() == model).unwrap_or(1.0)
    }

    /// A budget of a provider's tokens as one of the tokens that are counted here.
    pub(super) fn own_budget(&self, model: Option<&str>, budget: Budget) -> Budget {
        let share = self.share(model);
        let own = |tokens: Tokens| (f64::from(tokens) / share) as Tokens;
        let threshold = |threshold: Threshold| match threshold {
            Threshold::Tokens(tokens) => Threshold::Tokens(own(tokens)),
            Threshold::Share(_) => threshold,
        };
        Budget {
            window: own(budget.window),
            reserve_output: own(budget.reserve_output),
            tool_definitions: budget.tool_definitions,
            soft: threshold(budget.soft),
            hard: threshold(budget.hard),
            target: threshold(budget.target),
        }
    }

    /// Returns token counts that were made here as the provider's.
    pub(super) fn as_reported(&self, model: Option<&str>, counts: TokenCounts) -> TokenCounts {
        let share = self.share(model);
        let reported = |tokens: Tokens| (f64::from(tokens) * share).round() as Tokens;
        TokenCounts {
            tokens_before: reported(counts.tokens_before),
            tokens_after: reported(counts.tokens_after),
            usable: reported(counts.usable),
            ..counts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_the_newest_shares_counts() {
        let check = |counts: &[(u32, u64)], expect: f64| {
            let mut shares = ReportedShares::default();
            for (sent, reported) in counts {
                shares.note_sent(Some("m"), *sent);
                shares.learn(*reported);
                shares.learn(7 * *reported); // a figure for nothing
            }
            assert_eq!(shares.share(Some("m")), expect, "{counts:?}");
            assert_eq!(shares.share(Some("other")), 1.0);
        };
        check(&[], 1.0);
        check(&[(1_000, 1_500)], 1.5);
        check(&[(1_000, 1_500), (1_000, 90_000), (0, 10), (1_000, 10)], 1.5);
        check(&[(1_000, 1_500), (1_000, 1_250), (1_000, 2_000)], 1.5);
        let newest: Vec<(u32, u64)> = (0..30).map(|step| (1_000, if step < 21 { 2_000 } else { 1_250 })).collect();
        check(&newest, 1.25);
    }

    #[test]
    fn a_budget_is_of_the_providers_tokens() {
        let mut shares = ReportedShares::default();
        shares.note_sent(None, 1_000);
        shares.learn(1_250);
        let budget =
            Budget { window: 100_000, reserve_output: 10_000, soft: Threshold::Tokens(5_000), ..Budget::default() };
        let own = shares.own_budget(None, budget.clone());
        assert_eq!((own.window, own.reserve_output, own.soft), (80_000, 8_000, Threshold::Tokens(4_000)));
        assert_eq!(shares.own_budget(Some("m"), budget.clone()), budget);
        let counts = TokenCounts { tokens_before: 400, tokens_after: 80, epochs: 3, usable: 72_000 };
        let told = shares.as_reported(None, counts);
        assert_eq!((told.tokens_before, told.tokens_after, told.epochs, told.usable), (500, 100, 3, 90_000));
    }
}
