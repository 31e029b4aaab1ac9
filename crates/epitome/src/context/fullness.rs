//! How a session stands against its budget.

use epitome_engine::{Budget, Check, Ledger, Triggers, Watch};
use epitome_session::Session;
use epitome_strategy::{TokenCounter, Tokens};
use epitome_tokens::has_vocabulary;
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
    /// Whether `current_tokens` is the counter's own count, and that one exact: for the model, where one is named.
    pub exact: bool,
}

impl Fullness {
    /// How full the context of a session is whose view has `tokens` tokens by `ledger`, by these alone: for a budget that is room for
    /// the messages and nothing else. `budget` has the tokens of the tool definitions. Linear in the messages since the
    /// newest compaction.
    pub fn measure(ledger: &Ledger, session: &Session, tokens: Tokens, budget: &Budget, triggers: &Triggers) -> Self {
        let watch = watch_of(session, triggers);
        let check = watch.check_session(budget, tokens, session);
        Self::new(&**ledger.counter(), check, budget)
    }

    /// The same of a model's window, by what the provider counted where the session records that of its newest request
    /// and it is more: most recordings have neither the system prompt nor the tools, and models count differently.
    pub fn measure_reported(
        ledger: &Ledger,
        session: &Session,
        tokens: Tokens,
        budget: &Budget,
        triggers: &Triggers,
    ) -> Self {
        Self::measure_watched(ledger, session, tokens, budget, &watch_of(session, triggers))
    }

    /// The same of a session that `watch` has followed. Linear in the messages since the newest request.
    pub(crate) fn measure_watched(
        ledger: &Ledger,
        session: &Session,
        tokens: Tokens,
        budget: &Budget,
        watch: &Watch,
    ) -> Self {
        let reported = ReportedUsage::read(session).map_or(0, |usage| usage.fill(ledger, session, budget));
        let tokens_now = tokens.max(reported);
        let check = watch.check_session(budget, tokens_now, session);
        let fullness = Self::new(&**ledger.counter(), check, budget);
        Self { exact: fullness.exact && reported <= tokens, ..fullness }
    }

    /// The same, for an explicitly named model: a vocabulary is exact for the models that have it, and an estimate for
    /// every other.
    #[must_use]
    pub fn for_model(self, model: Option<&str>) -> Self {
        let is_own = model.is_none_or(|model| has_vocabulary(&self.counter, model));
        Self { exact: self.exact && is_own, ..self }
    }

    /// The fullness that a check of tokens by `counter` against `budget` has found. Constant time.
    pub fn new(counter: &dyn TokenCounter, check: Check, budget: &Budget) -> Self {
        Self {
            check,
            window_tokens: budget.window,
            reserve_output_tokens: budget.reserve_output,
            tool_definition_tokens: budget.tool_definitions,
            counter: counter.name().to_owned(),
            exact: counter.is_exact(),
        }
    }

    /// Tokens that may still come before a compaction is suggested; 0 where one is, `None` where no number of tokens calls
    /// for one. Constant time.
    pub fn tokens_left(&self) -> Option<Tokens> {
        self.check.threshold_tokens.map(|threshold| threshold.saturating_sub(self.check.current_tokens))
    }
}

/// A watch that has followed a session since its newest compaction.
fn watch_of(session: &Session, triggers: &Triggers) -> Watch {
    let mut watch = Watch::new(triggers.clone());
    session.log().iter().skip(newest_compaction(session)).for_each(|message| watch.push(message));
    watch
}

/// How many messages a session's log had when its newest compaction in force was made; 0 where there is none.
pub(crate) fn newest_compaction(session: &Session) -> usize {
    session.journal().iter().rfind(|epoch| epoch.is_compaction()).map_or(0, |epoch| epoch.log_length as usize)
}
