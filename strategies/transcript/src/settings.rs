//! What can be set of the strategy.

use epitome_strategy::settings;

settings! {
    /// Settings of `transcript`.
    pub struct Settings {
        /// Tokens of the longest typed message that stays whole; of a longer one the demands stay, and lines that are
        /// worth it.
        short_message: u32 = 300, in 20..=100_000, unit "tokens";
        /// Share of what the goal leaves beside protected messages that typed messages may take; where they need more, the
        /// oldest become lines of the transcript.
        typed_share: f64 = 0.6, in 0.0..=1.0;
        /// Share of what the goal leaves beside protected messages that the newest step may take before its outputs and
        /// arguments are cut.
        newest_share: f64 = 0.45, in 0.05..=1.0;
        /// Share of what the goal leaves beside protected messages that a summary which the agent or a model wrote may take
        /// before its sections are shortened.
        summary_share: f64 = 0.5, in 0.0..=1.0;
        /// Share of what the goal leaves beside protected messages that the newest units keep as they are.
        tail_share: f64 = 0.15, in 0.0..=1.0, is common;
        /// Tokens that the lines in place of one run of steps may take at most; the newest units keep what that leaves of the
        /// room. 0 is as many as the goal leaves.
        max_summary_tokens: u32 = 0, in 0..=1_000_000, unit "tokens", is common;
    }
}
