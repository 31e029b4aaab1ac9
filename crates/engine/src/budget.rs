//! The budget: one object for the host and the engine, all figures in tokens.

use epitome_session::Trigger;
use epitome_strategy::Tokens;
use serde::{Deserialize, Serialize};

/// A threshold: a share of the usable window, or tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Threshold {
    /// Absolute tokens.
    Tokens(Tokens),
    /// A share of the usable window, from 0 to 1.
    Share(f64),
}

impl Threshold {
    /// Returns a threshold that is never reached.
    pub const NEVER: Self = Self::Tokens(Tokens::MAX);

    /// Returns the threshold in tokens, for a window of which `usable` tokens are usable.
    pub fn tokens(self, usable: Tokens) -> Tokens {
        match self {
            Self::Tokens(tokens) => tokens,
            Self::Share(share) => (f64::from(usable) * share.clamp(0.0, 1.0)) as Tokens,
        }
    }
}

/// The default soft threshold and target, as shares of the usable window: of the pairs that were replayed, one with which a
/// conversation costs 3 to 34 % less than with any of four agents' own compactions, in windows from 64,000 to 200,000. Source: the
/// table in docs/evidence.md, by `tools/figures/run --price`.
pub const DEFAULT_SOFT: f64 = 0.5;
/// See [`DEFAULT_SOFT`].
pub const DEFAULT_TARGET: f64 = 0.18;

/// How much context there is, and when and how far to compact.
///
/// Trigger and target lie far apart by default: each compaction breaks the provider's prompt cache, so it is better to
/// compact rarely and in one batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// The model's context window.
    pub window: Tokens,
    /// Tokens that are kept free for the answer.
    pub reserve_output: Tokens,
    /// Tokens of the tool definitions, which are sent with every request.
    pub tool_definitions: Tokens,
    /// The soft threshold: from here on a compaction is suggested.
    pub soft: Threshold,
    /// The hard threshold: from here on a compaction is due.
    pub hard: Threshold,
    /// What a compaction should reduce the view to.
    pub target: Threshold,
}

impl Default for Budget {
    /// A window of 200,000 tokens, [`DEFAULT_SOFT`] and [`DEFAULT_TARGET`].
    fn default() -> Self {
        Self {
            window: 200_000,
            reserve_output: 16_000,
            tool_definitions: 0,
            soft: Threshold::Share(DEFAULT_SOFT),
            hard: Threshold::Share(0.95),
            target: Threshold::Share(DEFAULT_TARGET),
        }
    }
}

/// How urgent a compaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Urgency {
    /// Not at all.
    None,
    /// Suggested.
    Soft,
    /// Due.
    Hard,
}

/// The answer to "should this be compacted?".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Check {
    /// Whether a threshold is reached.
    pub should_compact: bool,
    /// Tokens of the messages now.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub current_tokens: Tokens,
    /// The threshold that was reached, or the soft one; `None` where no number of tokens calls for a compaction.
    #[cfg_attr(feature = "schema", schema(value_type = Option<u32>, required))]
    pub threshold_tokens: Option<Tokens>,
    /// Tokens that messages may take: the window less the answer's reserve and the tool definitions.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub usable_tokens: Tokens,
    /// `current_tokens` as a share of `usable_tokens`.
    pub share: f64,
    /// How urgent it is.
    pub urgency: Urgency,
    /// The trigger that calls for it.
    #[cfg_attr(feature = "schema", schema(required))]
    pub trigger: Option<Trigger>,
    /// Whether the compaction that is suggested waits for the end of a piece of work.
    #[serde(default)]
    pub waits: bool,
    /// The limit of the provider's, beside tokens, that the session is over, in words; absent where it keeps all that are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub over: Option<String>,
}

impl Budget {
    /// Returns the tokens that messages may take.
    pub fn usable(&self) -> Tokens {
        self.window.saturating_sub(self.reserve_output).saturating_sub(self.tool_definitions)
    }

    /// Returns whether `current` tokens of messages call for a compaction, in a session that was never compacted.
    /// Constant time.
    pub fn check(&self, current: Tokens) -> Check {
        self.check_since(current, None)
    }

    /// Returns the same for a session whose newest compaction left `after` tokens. Constant time.
    ///
    /// A compaction that could not get below the soft threshold is not suggested again at once: each one breaks the
    /// provider's prompt cache, so it waits until half of the room up to the hard threshold is used.
    pub fn check_since(&self, current: Tokens, after: Option<Tokens>) -> Check {
        self.check_at(current, self.soft.tokens(self.usable()), after)
    }

    /// Returns the same with `soft` tokens as the soft threshold. Constant time.
    pub(crate) fn check_at(&self, current: Tokens, soft: Tokens, after: Option<Tokens>) -> Check {
        let usable = self.usable();
        let hard = self.hard.tokens(usable);
        let soft = after.map_or(soft, |after| soft.max(after.saturating_add(hard.saturating_sub(after) / 2)));
        let urgency = match current {
            _ if current >= hard => Urgency::Hard,
            _ if current >= soft => Urgency::Soft,
            _ => Urgency::None,
        };
        Check {
            should_compact: urgency != Urgency::None,
            current_tokens: current,
            threshold_tokens: Some(if urgency == Urgency::Hard { hard } else { soft })
                .filter(|tokens| Threshold::Tokens(*tokens) != Threshold::NEVER),
            usable_tokens: usable,
            share: if usable == 0 { f64::from(u8::from(current > 0)) } else { f64::from(current) / f64::from(usable) },
            urgency,
            trigger: match urgency {
                Urgency::None => None,
                Urgency::Soft => Some(Trigger::Soft),
                Urgency::Hard => Some(Trigger::Hard),
            },
            waits: false,
            over: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds() {
        let soft = Threshold::Share(0.8);
        let budget = Budget { window: 1_100, reserve_output: 80, tool_definitions: 20, soft, ..Budget::default() };
        let check = |current, urgency, threshold| {
            let check = budget.check(current);
            assert_eq!((check.urgency, check.threshold_tokens), (urgency, Some(threshold)), "{current}");
            assert_eq!(check.should_compact, urgency != Urgency::None);
        };
        check(799, Urgency::None, 800);
        check(800, Urgency::Soft, 800);
        check(950, Urgency::Hard, 950);
        let after = |current, after| budget.check_since(current, Some(after)).urgency;
        assert_eq!(after(800, 500), Urgency::Soft, "the target was met: the threshold is what it was");
        assert_eq!(after(850, 850), Urgency::None, "a compaction that got no further is not asked for again");
        assert_eq!(after(900, 850), Urgency::Soft);
        assert_eq!(after(950, 949), Urgency::Hard);
        let never = Budget { soft: Threshold::NEVER, hard: Threshold::NEVER, ..budget.clone() };
        assert_eq!(never.check(2_000_000).threshold_tokens, None);
        let no_room = Budget { window: 50, ..budget.clone() };
        assert_eq!(no_room.check(1).urgency, Urgency::Hard);
    }
}
