//! Thresholds of a budget: the one that is never reached, fitting them to a window, and saying them in words.

use epitome_engine::{Budget, DEFAULT_SOFT, DEFAULT_TARGET, HIGHEST_TARGET, Threshold};
use epitome_strategy::Tokens;

/// How far the defaults lie below one another.
pub(crate) const TARGET_OF_SOFT: f64 = DEFAULT_TARGET / DEFAULT_SOFT;
/// The lowest soft threshold above a target that does not lower it.
pub(crate) const SOFT_OF_TARGET: f64 = 1.0 / HIGHEST_TARGET;
/// The default soft threshold below the hard one.
pub(crate) const SOFT_OF_HARD: f64 = DEFAULT_SOFT / 0.95;

/// A threshold at `factor` of another, in the same unit as far as a share can say it.
pub(crate) fn scale(threshold: Threshold, factor: f64, usable: Tokens) -> Threshold {
    match threshold {
        Threshold::Share(share) if share * factor >= 0.01 => Threshold::Share(share * factor),
        threshold => Threshold::Tokens(((f64::from(threshold.tokens(usable)) * factor) as Tokens).max(2)),
    }
}

/// `budget` for a window of `window` tokens of which `reserve_output` are kept free. Shares stay; thresholds in tokens that
/// the window has no room for come down in proportion, so that `target < soft <= hard <= usable` holds as before.
pub(crate) fn fit_to_window(budget: &Budget, window: Tokens, reserve_output: Tokens) -> Budget {
    let mut fitted = Budget { window, reserve_output, ..budget.clone() };
    let usable = fitted.usable();
    let in_tokens = |threshold: Threshold| match threshold {
        Threshold::Tokens(tokens) if tokens != Tokens::MAX => Some(tokens),
        Threshold::Tokens(_) | Threshold::Share(_) => None,
    };
    let highest = [fitted.target, fitted.soft, fitted.hard].into_iter().filter_map(in_tokens).max().unwrap_or(0);
    let factor = if highest > usable { f64::from(usable) / f64::from(highest) } else { 1.0 };
    let share = |tokens: Tokens| (f64::from(tokens) * factor) as Tokens;
    for threshold in [&mut fitted.target, &mut fitted.soft, &mut fitted.hard] {
        if let Some(tokens) = in_tokens(*threshold) {
            *threshold = Threshold::Tokens(share(tokens));
        }
    }
    // Beside a share, a threshold in tokens may now be on the wrong side of it.
    let (soft, hard) = (fitted.soft.tokens(usable), fitted.hard.tokens(usable));
    if soft > hard {
        fitted.soft = fitted.hard;
    }
    if fitted.target.tokens(usable) >= soft.min(hard) {
        fitted.target = Threshold::Tokens((f64::from(soft.min(hard)) * TARGET_OF_SOFT) as Tokens);
    }
    fitted
}

/// A threshold in words: a share with its tokens, or tokens.
pub(crate) fn describe(threshold: Threshold, usable: u32) -> String {
    match threshold {
        Threshold::Tokens(tokens) => format!("{tokens} tokens"),
        Threshold::Share(share) => format!("{share} of {usable}, {} tokens", threshold.tokens(usable)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_in_tokens_come_down_where_the_window_has_no_room() {
        let tokens = Threshold::Tokens;
        let budget = Budget { target: tokens(7_500), soft: tokens(15_000), hard: tokens(20_000), ..Budget::default() };
        let thresholds = |budget: Budget| (budget.target, budget.soft, budget.hard);
        let large = fit_to_window(&budget, 100_000, 4_000);
        assert_eq!((large.window, large.usable(), thresholds(large)), (100_000, 96_000, thresholds(budget.clone())));
        let small = fit_to_window(&budget, 12_000, 2_000);
        assert_eq!(thresholds(small), (tokens(3_750), tokens(7_500), tokens(10_000)));
        let mixed = fit_to_window(&Budget { target: tokens(7_500), ..Budget::default() }, 8_000, 2_000);
        assert_eq!(mixed.target, tokens(1_080), "below the soft threshold of 3,000");
        let shares = fit_to_window(&Budget::default(), 8_000, 2_000);
        assert_eq!(thresholds(shares), thresholds(Budget::default()));
    }
}
