//! How a session stands against its budget.

use epitome_engine::{Budget, Check, Engine, Triggers, Watch};
use epitome_session::Session;
use epitome_strategy::Tokens;
use serde::Serialize;

use super::report::ReportedUsage;

/// How full a session's context is, and whether a compaction is due.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ContextFullness))]
pub struct Fullness {
    /// Whether a compaction is due, and the reason.
    #[serde(flatten)]
    pub check: Check,
    /// The model's window.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub window_tokens: Tokens,
    /// Tokens that are kept free for the answer.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub reserve_output_tokens: Tokens,
    /// Tokens of the tool definitions.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tool_definition_tokens: Tokens,
    /// The token counter.
    pub counter: String,
    /// Whether the figures are the provider's own, and not estimates.
    pub exact: bool,
}

impl Fullness {
    /// How full the context of a session is whose view has `tokens` tokens; `budget` has those of the tool definitions.
    /// Linear in the messages since the newest compaction.
    pub fn measure(engine: &Engine, session: &Session, tokens: Tokens, budget: &Budget, triggers: &Triggers) -> Self {
        let mut watch = Watch::new(triggers.clone());
        session.log().iter().skip(newest_compaction(session)).for_each(|message| watch.push(message));
        Self::new(engine, watch.check(budget, tokens, session.newest_tokens_after()), budget)
    }

    /// The same, by what the provider counted where the session records that of its newest request and it is more: most
    /// recordings have neither the system prompt nor the tools, and models count differently.
    pub fn measure_reported(
        engine: &Engine,
        session: &Session,
        tokens: Tokens,
        budget: &Budget,
        triggers: &Triggers,
    ) -> Self {
        let reported = ReportedUsage::read(session).map_or(0, |usage| usage.fill(engine, session, budget));
        let fullness = Self::measure(engine, session, tokens.max(reported), budget, triggers);
        Self { exact: fullness.exact && reported <= tokens, ..fullness }
    }

    /// The fullness that a check against `budget` has found. Constant time.
    pub fn new(engine: &Engine, check: Check, budget: &Budget) -> Self {
        Self {
            check,
            window_tokens: budget.window,
            reserve_output_tokens: budget.reserve_output,
            tool_definition_tokens: budget.tool_definitions,
            counter: engine.counter.name().to_owned(),
            exact: engine.counter.is_exact(),
        }
    }

    /// Tokens that may still come before a compaction is suggested; 0 where one is, `None` where no number of tokens calls
    /// for one. Constant time.
    pub fn tokens_left(&self) -> Option<Tokens> {
        self.check.threshold_tokens.map(|threshold| threshold.saturating_sub(self.check.current_tokens))
    }
}

/// How many messages a session's log had when its newest compaction in force was made; 0 where there is none.
pub(crate) fn newest_compaction(session: &Session) -> usize {
    session.journal().iter().rfind(|epoch| epoch.is_compaction()).map_or(0, |epoch| epoch.log_length as usize)
}
