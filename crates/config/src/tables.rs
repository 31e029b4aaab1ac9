//! The tables of the file: one declaration carries key, type, default, bounds, unit and documentation.

use epitome_engine::{Mode, Threshold};
use epitome_strategy::settings;

use crate::values::{CounterName, Limit, SelectMode, SummarizerChoice};

settings! {
    /// `[budget]`: how much context there is, and when and how far to compact.
    pub struct BudgetTable {
        /// The model's context window.
        window: u32 = 200_000, in 100..=1_000_000_000, unit "tokens";
        /// Kept free for the model's answer; without this key at most a quarter of the window. What is left of the window
        /// beside it and the tool definitions is the usable window, which shares refer to.
        reserve_output: u32 = 16_000, in 0..=1_000_000_000, unit "tokens";
        /// From here on a compaction is suggested.
        soft: Limit = Limit(Threshold::Share(0.8)), unit "share of the usable window, or tokens";
        /// From here on a compaction is due; no result of a compaction exceeds it.
        hard: Limit = Limit(Threshold::Share(0.95)), unit "share of the usable window, or tokens";
        /// What a compaction gets down to. Far below `soft`, because each compaction breaks the provider's prompt
        /// cache.
        target: Limit = Limit(Threshold::Share(0.5)), unit "share of the usable window, or tokens";
    }
}

settings! {
    /// `[counter]`: how tokens are counted.
    pub struct CounterTable {
        /// The counter: `o200k_base` and `cl100k_base` are exact for OpenAI's models, `weighted`, `two-ratio`, `halves`
        /// and `quarters` are estimates.
        name: CounterName = CounterName("o200k_base".to_owned());
        /// Whether the counter is corrected by what the provider reported for the requests of the session, where the
        /// session records that.
        calibrate: bool = false;
    }
}

settings! {
    /// `[pins]`: what stays verbatim beside the system prompt, open calls and the newest user message, which always do.
    pub struct PinsTable {
        /// Whether the first user message stays.
        original_task: bool = true;
        /// How many of the newest rounds stay whole; a round is a user message and everything up to the next one.
        last_rounds: u32 = 0, in 0..=10_000, unit "rounds";
        /// Tools whose calls and results stay.
        protected_tools: Vec<String> = vec!["Skill".to_owned()];
        /// Texts that pin the message they stand in.
        markers: Vec<String> = vec!["<Pin>".to_owned()];
    }
}

settings! {
    /// `[select]`: how the chain is chosen.
    pub struct SelectTable {
        /// `adaptive` takes the chain of the detected kind of task, `fixed` the one that `chain` names, `tournament` tries
        /// them all and takes the best result.
        mode: SelectMode = SelectMode(Mode::Adaptive);
        /// The chain of `mode = "fixed"`, by its name in `[chains]`.
        chain: String = String::new();
    }
}

settings! {
    /// `[summary]`: who writes the summaries that strategies ask for.
    pub struct SummaryTable {
        /// `rules` writes them without a model; with `off` a strategy that asks for one is refused, and the chain goes
        /// on.
        summarizer: SummarizerChoice = SummarizerChoice::Rules;
        /// Tokens that one summary may take at most: the default of every strategy's `max_summary_tokens`.
        max_tokens: u32 = 4_000, in 1..=1_000_000, unit "tokens";
    }
}
