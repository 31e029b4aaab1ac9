//! Looking at a live session's context.

use std::sync::Arc;

use epitome_engine::MemoryArchive;
use epitome_providers::RuleSummarizer;
use epitome_session::Trigger;

use super::{Compaction, LiveSession};
use crate::context::{
    Contents, ContextReport, ContextWarning, Fullness, NextCompaction, Removed, ReportedUsage, counts,
};

impl LiveSession {
    /// How full the context is, by what the provider counted of the newest request where the messages record that and it
    /// is more than the counter's count. [`check`](Self::check) and [`maintain`](Self::maintain) go by the counter: a
    /// compaction cannot make smaller what is not among the messages. Linear in the messages since that request, and in
    /// the log where none is recorded.
    pub fn fullness(&self) -> Fullness {
        let (ledger, session) = (&self.ledger, &self.session);
        Fullness::measure_watched(ledger, session, ledger.total(), &self.budget, &self.watch)
            .for_model(self.model.as_deref())
    }

    /// What fills the context, how full it is, what a compaction made now would take out and why, and what has left. The
    /// compaction is the one that is due, or where none is, one by hand; it is worked out and not made, and no model is
    /// asked for its summaries: the rules write them. Costs a preview, and the log.
    pub async fn report_context(&self) -> ContextReport {
        let tokens = counts(&self.session, &self.ledger);
        let check = self.check();
        let trigger = check.trigger.unwrap_or(if check.waits { Trigger::Soft } else { Trigger::Manual });
        let compaction = Compaction { trigger, ..Compaction::default() };
        let mut engine = self.engine.clone();
        engine.summarizer = engine.summarizer.map(|_| Arc::new(RuleSummarizer) as _);
        let request = self.request(&compaction);
        let drafted = engine.draft(&self.session, &self.ledger, &mut MemoryArchive::new(), &request).await;
        let counter = &**self.ledger.counter();
        let next = match drafted {
            Ok(draft) => NextCompaction::read(&draft, &self.session, &tokens, counter),
            Err(error) => {
                NextCompaction::without_draft(compaction.trigger, error.to_string(), &self.session, self.ledger.total())
            }
        };
        ContextReport {
            messages: self.session.view().len(),
            log_messages: self.session.log().len(),
            warnings: ContextWarning::find(&self.session, &tokens, counter, check.usable_tokens),
            fullness: self.fullness(),
            contents: Contents::measure(&self.engine, &self.session, &self.ledger),
            usage: ReportedUsage::read(&self.session),
            next,
            removed: Removed::measure(&self.session, counter),
            summaries: self.summary_usage(),
        }
    }
}
