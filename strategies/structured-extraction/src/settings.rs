//! The settings.

use epitome_strategy::settings;

settings! {
    /// Settings of `structured-extraction`.
    pub struct Settings {
        /// Share of what the goal leaves beside protected messages that the newest units keep verbatim.
        tail_share: f64 = 0.3, in 0.0..=1.0;
        /// Share of a block that what the user typed may take.
        typed_share: f64 = 0.3, in 0.0..=1.0;
    }
    constants {
        /// Share of what the goal leaves beside protected messages that the newest step may take before its outputs are cut to
        /// their telling passages; 1 cuts nothing.
        newest_share: f64 = 0.45;
        /// Share of the target that the blocks may take together.
        block_share: f64 = 0.9;
        /// Tokens of the shortest run of old messages that becomes a block: one of less is not worth its headings.
        least_old_tokens: u32 = 400;
    }
}
