//! The engine's guarantees as laws of its results, checked from the outside: nothing here uses the engine's own guards.
//!
//! Each file has the laws of one question: is the view valid (`validity`), is it in order, and does it tell what left (`order`), does everything
//! stay that must (`stays`, `instructions`), is what a person says by hand done (`by_hand`), do receipts and figures add up (`accounts`), are shortened texts and the archive true
//! (`texts`), is the status right (`verdict`), are losses reported (`quality`), is the room used (`room`), can the host make the changes (`host`), does the journal hold (`journal`).

mod accounts;
mod by_hand;
mod host;
pub mod instructions;
mod journal;
mod json;
mod marks;
mod order;
mod quality;
mod room;
mod stays;
mod texts;
mod validity;
mod verdict;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use epitome_engine::{Engine, Ledger, MemoryArchive, Report, Request, Status, block_on};
use epitome_session::{Content, Entry, EntryKey, Epoch, Message, Session};
use epitome_strategy::{EntryTokens, TokenCounter};

/// A law that a result broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LawViolation {
    /// The law's name, as in the list of guarantees.
    pub law: &'static str,
    /// How the result broke it.
    pub how: String,
}

impl fmt::Display for LawViolation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.law, self.how)
    }
}

/// Compacts `session` and checks every law of the result; returns the report and the broken laws. The session stays
/// compacted.
///
/// The compaction is made about five times in all (drafted, repeated, undone).
pub fn compact_and_check(
    engine: &Engine,
    session: &mut Session,
    archive: &mut MemoryArchive,
    request: &Request,
) -> (Option<Report>, Vec<LawViolation>) {
    let mut ledger = engine.ledger(session);
    compact_and_check_with(engine, session, &mut ledger, archive, request, &mut Counts::default())
}

/// The counts of messages for the laws, by address: each message is counted once, however many views show it.
#[derive(Debug, Default)]
pub struct Counts(HashMap<*const Message, (Arc<Message>, EntryTokens)>);

/// Checks many compactions of one session: `ledger` is that of the session before, and is unchanged afterwards;
/// recounts of the laws are shared by all calls with the same `counts`. The engines must count alike.
pub fn compact_and_check_with(
    engine: &Engine,
    session: &mut Session,
    ledger: &mut Ledger,
    archive: &mut MemoryArchive,
    request: &Request,
    counts: &mut Counts,
) -> (Option<Report>, Vec<LawViolation>) {
    let before = session.clone();
    let ledger_before = ledger.clone();
    let compacted = block_on(engine.compact(session, ledger, archive, request));
    let report = match compacted {
        Ok(report) => report,
        Err(error) => return (None, vec![LawViolation { law: "failure", how: error.to_string() }]),
    };
    let shown = session.view().iter().map(|entry| (entry.key, entry)).collect();
    let mut laws = Laws {
        engine,
        counter: Arc::clone(ledger.counter()),
        request,
        archive,
        before: &before,
        ledger_before: &ledger_before,
        after: session,
        ledger_after: ledger,
        shown,
        report: &report,
        counts,
        broken: Vec::new(),
    };
    laws.check();
    let broken = laws.broken;
    (Some(report), broken)
}

/// One compaction and its properties from the outside.
struct Laws<'a> {
    engine: &'a Engine,
    /// Counts as the session's model does.
    counter: Arc<dyn TokenCounter>,
    request: &'a Request,
    archive: &'a MemoryArchive,
    before: &'a Session,
    ledger_before: &'a Ledger,
    after: &'a Session,
    ledger_after: &'a Ledger,
    /// The view after, by identity.
    shown: HashMap<EntryKey, &'a Entry>,
    report: &'a Report,
    counts: &'a mut Counts,
    broken: Vec<LawViolation>,
}

impl<'a> Laws<'a> {
    /// The request's target as the engine aims at it: the counter's margin below.
    fn target(&self) -> u32 {
        (f64::from(self.request.target) / (1.0 + self.counter.margin())) as u32
    }

    fn check(&mut self) {
        self.counting();
        self.budget();
        self.conservation();
        self.receipts();
        self.cache();
        self.quality();
        let fitted = self.ledger_before.total() <= self.target();
        self.law("idempotence", !fitted || self.report.status == Status::NoChange || self.is_dropped_by_hand(), || {
            "what fits was touched".to_owned()
        });
        if !self.report.status.is_compaction() {
            let same = self.before.view() == self.after.view() && self.before.journal() == self.after.journal();
            self.law("idempotence", same, || "the session changed although nothing was to be changed".to_owned());
            self.feasible_floor();
            return;
        }
        self.host();
        self.pairing();
        self.order();
        self.notices();
        self.room();
        self.pins();
        self.by_hand();
        self.instructions();
        self.progress();
        self.thinking();
        self.repaired();
        self.archived();
        self.excerpts();
        self.trims();
        self.only_edits();
        self.provider();
        self.repeated();
        self.stale_drafts();
        self.late_results();
        self.undone();
        self.stored();
    }

    /// Whether something left by hand, which it does also where the session fits.
    fn is_dropped_by_hand(&self) -> bool {
        self.report.edits.iter().any(|edit| &*edit.strategy == "by-hand")
    }

    fn law(&mut self, law: &'static str, holds: bool, how: impl FnOnce() -> String) {
        if !holds {
            self.broken.push(LawViolation { law, how: how() });
        }
    }

    /// Returns the epoch of the compaction, if it made one.
    fn epoch(&self) -> Option<&'a Epoch> {
        self.after.journal().last().filter(|_| self.report.status.is_compaction())
    }
}

/// Returns the call id of a result's message.
fn result_id(message: &Message) -> Option<&str> {
    message.blocks.iter().find_map(|block| Some(block.as_result()?.call_id.as_ref()))
}

/// Whether a message renders as nothing.
fn is_blank(message: &Message) -> bool {
    message.blocks.iter().all(|block| match &block.content {
        Content::Text { text } => text.trim().is_empty(),
        Content::Gone => true,
        _ => false,
    })
}
