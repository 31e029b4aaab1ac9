//! What can be set of the strategy.

use epitome_strategy::settings;

settings! {
    /// Settings of `transcript`.
    pub struct Settings {
        /// Share of what the goal leaves beside protected messages that the newest units keep as they are.
        tail_share: f64 = 0.15, in 0.0..=1.0, is common;
    }
    constants {
        /// Tokens of the longest typed message that stays whole; of a longer one the demands stay, and lines that are
        /// worth it.
        short_message: u32 = 300;
        /// Share of what the goal leaves beside protected messages that typed messages may take; where they need more, the
        /// oldest become lines of the transcript.
        typed_share: f64 = 0.6;
        /// Share of what the goal leaves beside protected messages that the newest step may take before its outputs and
        /// arguments are cut.
        newest_share: f64 = 0.45;
        /// The same where demands need the rest: with more room, a step that stays whole takes none of what demands had with less.
        least_newest_share: f64 = 0.25;
        /// Share of what the goal leaves beside protected messages that a summary which the agent or a model wrote may take
        /// before its sections are shortened.
        summary_share: f64 = 0.5;
    }
}
