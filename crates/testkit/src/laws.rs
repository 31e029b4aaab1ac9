//! The engine's guarantees as laws of its results, checked from the outside: nothing here uses the engine's own guards.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use epitome_engine::{Engine, Ledger, MemoryArchive, Outcome, Report, Request, Status, block_on};
use epitome_session::{Change, Content, Entry, EntryKey, Message, MessageId, Origin, Role, Session, UnitKind, units};
use epitome_strategy::{Archive, Archived};

/// A law that a result broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The law's name, as in the list of guarantees.
    pub law: &'static str,
    /// How.
    pub how: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.law, self.how)
    }
}

/// Compacts `session` and checks every law of the result; returns the report and what was broken. The session is left
/// compacted.
pub fn compact_and_check(
    engine: &Engine,
    session: &mut Session,
    archive: &mut MemoryArchive,
    request: &Request,
) -> (Option<Report>, Vec<Broken>) {
    let before = session.clone();
    let mut ledger = engine.ledger(session);
    let tokens_before = ledger.total();
    let compacted = block_on(engine.compact(session, &mut ledger, archive, request));
    let report = match compacted {
        Ok(report) => report,
        Err(error) => return (None, vec![Broken { law: "failure", how: error.to_string() }]),
    };
    let mut laws = Laws { engine, before: &before, after: session, report: &report, broken: Vec::new() };
    laws.check(archive, &ledger, request, tokens_before);
    let broken = laws.broken;
    (Some(report), broken)
}

struct Laws<'a> {
    engine: &'a Engine,
    before: &'a Session,
    after: &'a Session,
    report: &'a Report,
    broken: Vec<Broken>,
}

impl Laws<'_> {
    fn check(&mut self, archive: &MemoryArchive, ledger: &Ledger, request: &Request, tokens_before: u32) {
        self.counting(ledger, tokens_before);
        self.budget(request);
        self.conservation();
        let fitted = tokens_before <= request.target;
        self.law("idempotence", !fitted || self.report.status == Status::NoChange, || {
            "what fits was touched".to_owned()
        });
        if self.report.status != Status::Compacted {
            let same = self.before.view() == self.after.view();
            self.law("idempotence", same, || "the view changed although nothing was to be changed".to_owned());
            return;
        }
        self.pairing();
        self.pins();
        self.progress();
        self.thinking();
        self.archived(archive);
        self.provider();
        self.repeated(archive, request);
        self.undone();
    }

    fn law(&mut self, law: &'static str, holds: bool, how: impl FnOnce() -> String) {
        if !holds {
            self.broken.push(Broken { law, how: how() });
        }
    }

    /// 1: calls and results directly after each other; a call may be open at the end only.
    fn pairing(&mut self) {
        let entries = self.after.view();
        let mut at = 0;
        while at < entries.len() {
            let message = &entries[at].message;
            self.law("pairing", message.role != Role::Tool, || format!("result {} has no call", message.id));
            let mut open: Vec<&str> = message.calls().map(|(_, call)| call.id.as_ref()).collect();
            at += 1;
            while at < entries.len() && entries[at].message.role == Role::Tool && !open.is_empty() {
                let id = result_id(&entries[at].message);
                let Some(index) = open.iter().position(|open| Some(*open) == id) else { break };
                open.remove(index);
                at += 1;
            }
            let last = entries[at..].iter().all(|entry| entry.message.role == Role::System);
            self.law("pairing", open.is_empty() || last, || format!("calls {open:?} of {} are unanswered", message.id));
        }
    }

    /// 2 and 3: what is protected stays byte-identical, and so do open calls and the newest genuine user message.
    fn pins(&mut self) {
        let shown: HashMap<EntryKey, &Arc<Message>> =
            self.after.view().iter().map(|entry| (entry.key, &entry.message)).collect();
        let entries = self.before.view();
        let typed = |entry: &&Entry| entry.message.is_typed();
        let mut must_stay: Vec<(&'static str, &Entry)> = Vec::new();
        must_stay
            .extend(entries.iter().filter(|entry| entry.message.role == Role::System).map(|entry| ("pins", entry)));
        must_stay.extend(entries.iter().find(typed).map(|entry| ("pins", entry)));
        must_stay.extend(entries.iter().rev().find(typed).map(|entry| ("open-calls", entry)));
        must_stay.extend(entries.iter().filter(|entry| entry.message.pinned).map(|entry| ("pins", entry)));
        let all = units(entries);
        if let Some(last) = all.iter().rev().find(|unit| unit.kind != UnitKind::System)
            && !last.closed
        {
            must_stay.extend(entries[last.entries.clone()].iter().map(|entry| ("open-calls", entry)));
        }
        for (law, entry) in must_stay {
            let same = shown.get(&entry.key).is_some_and(|message| **message == entry.message);
            let empty = entry.message.role != Role::System && is_blank(&entry.message);
            self.law(law, same || empty, || format!("{} changed or left", entry.message.id));
        }
    }

    /// 4: every message has one receipt that tells the truth, and the log is either shown or removed by one epoch.
    fn conservation(&mut self) {
        let ids: Vec<&MessageId> = self.before.view().iter().map(|entry| &entry.message.id).collect();
        let receipts: Vec<&MessageId> = self.report.messages.iter().map(|receipt| &receipt.id).collect();
        self.law("conservation", ids == receipts, || "receipts are not one per message, in order".to_owned());
        let shown: HashMap<&MessageId, &Entry> =
            self.after.view().iter().map(|entry| (&entry.message.id, entry)).collect();
        for receipt in &self.report.messages {
            let stays = shown.contains_key(&receipt.id);
            let left = matches!(receipt.outcome, Outcome::Dropped | Outcome::Summarized);
            self.law("conservation", stays != left, || format!("{} is {:?}", receipt.id, receipt.outcome));
        }
        self.law("conservation", self.before.log() == self.after.log(), || "the log was rewritten".to_owned());
        let keys: HashSet<EntryKey> = self.after.view().iter().map(|entry| entry.key).collect();
        for index in 0..self.after.log().len() as u32 {
            let key = EntryKey::Log(index);
            let removals: usize = self
                .after
                .journal()
                .iter()
                .filter(|epoch| !epoch.undone)
                .flat_map(|epoch| epoch.changes())
                .filter(|change| matches!(change, Change::Remove { entry } if *entry == key))
                .count();
            let accounted = removals + usize::from(keys.contains(&key));
            self.law("conservation", accounted == 1, || format!("message {index} is accounted for {accounted} times"));
        }
    }

    /// 5: every edit of a strategy saves tokens.
    fn progress(&mut self) {
        for edit in &self.report.edits {
            let own = matches!(&*edit.strategy, "repair" | "thinking");
            self.law("progress", own || edit.tokens_saved > 0, || {
                format!("an edit of {} saves nothing", edit.strategy)
            });
        }
        let repaired = self.report.steps.iter().any(|step| &*step.strategy == "repair");
        let lower = self.report.tokens_after < self.report.tokens_before || repaired;
        self.law("progress", lower, || "the result is not smaller".to_owned());
        for step in self.report.steps.iter().filter(|step| !matches!(&*step.strategy, "repair" | "thinking")) {
            let grew = step.tokens_after > step.tokens_before + 32; // a message put in front may cost a few
            self.law("progress", !grew, || format!("{} made the view larger", step.strategy));
        }
    }

    /// 6: the running totals are what a recount gives.
    fn counting(&mut self, ledger: &Ledger, tokens_before: u32) {
        let recount = self.engine.ledger(self.after).total();
        self.law("counting", ledger.total() == recount, || format!("{} is {recount} recounted", ledger.total()));
        let reported = self.report.tokens_after;
        self.law("counting", reported == recount, || format!("{reported} reported, {recount} recounted"));
        self.law("counting", self.report.tokens_before == tokens_before, || "the tokens before are wrong".to_owned());
    }

    /// 7: at or under the limit, or a floor that really exceeds it.
    fn budget(&mut self, request: &Request) {
        let tokens = self.engine.ledger(self.after).total();
        match self.report.status {
            Status::NoChange => self.law("budget", tokens <= request.limit, || format!("{tokens} was left alone")),
            Status::Compacted => {
                self.law("budget", tokens <= request.limit, || format!("{tokens} tokens for {}", request.limit));
            }
            Status::Infeasible => {
                let floor = self.report.floor.as_ref().map_or(0, |floor| floor.tokens);
                self.law("budget", floor > request.limit, || format!("a floor of {floor} for {}", request.limit));
                let parts: u32 = self.report.floor.iter().flat_map(|floor| &floor.parts).map(|part| part.tokens).sum();
                self.law("budget", parts == floor, || format!("parts of {parts} make a floor of {floor}"));
            }
        }
    }

    /// 8: behind the first change no signed thinking stays, but that of the newest step and of what is pinned.
    fn thinking(&mut self) {
        let Some(first) = self.report.first_changed_message else { return };
        let all = units(self.after.view());
        let newest = all.iter().rposition(|unit| unit.kind == UnitKind::Step);
        let unchanged: HashSet<EntryKey> = self.before.view()[..first as usize].iter().map(|entry| entry.key).collect();
        let mut partial = Vec::new();
        for (index, unit) in all.iter().enumerate() {
            for entry in &self.after.view()[unit.entries.clone()] {
                let pinned = entry.message.pinned || entry.message.calls().any(|(_, call)| &*call.name == "Skill");
                let exempt = Some(index) == newest || pinned || !unit.closed || unchanged.contains(&entry.key);
                if entry.message.has_signed_thinking() && !exempt {
                    partial.push(entry.message.id.clone());
                }
            }
        }
        self.law("thinking", partial.is_empty(), || format!("{partial:?} think behind the first change"));
    }

    /// 9: whatever left is in the archive.
    fn archived(&mut self, archive: &MemoryArchive) {
        for edit in &self.report.edits {
            let item = edit.recall.as_ref().and_then(|handle| archive.get(handle).ok().flatten());
            self.law("archive-first", item.is_some(), || format!("an edit of {} is not archived", edit.strategy));
            let Some(Archived::Messages(messages)) = item else { continue };
            let archived: Vec<&MessageId> = messages.iter().map(|message| &message.id).collect();
            let listed: Vec<&MessageId> = edit.messages.iter().collect();
            self.law("archive-first", archived == listed, || format!("{listed:?} left, {archived:?} are archived"));
        }
    }

    /// 10: the same again gives the same; what was compacted fits and is left alone.
    fn repeated(&mut self, archive: &MemoryArchive, request: &Request) {
        let mut again = self.before.clone();
        let mut ledger = self.engine.ledger(&again);
        let mut scratch = archive.clone();
        let report = block_on(self.engine.compact(&mut again, &mut ledger, &mut scratch, request));
        let same = report.is_ok_and(|report| report.edits == self.report.edits) && again.view() == self.after.view();
        self.law("determinism", same, || "a second run gave something else".to_owned());
        if self.report.tokens_after <= request.target {
            let mut twice = self.after.clone();
            let report = block_on(self.engine.compact(&mut twice, &mut ledger, &mut scratch, request));
            let left_alone = report.is_ok_and(|report| report.status == Status::NoChange);
            self.law("idempotence", left_alone && twice.view() == self.after.view(), || {
                "compacting again changed something".to_owned()
            });
        }
    }

    /// 11: undoing gives the earlier view back, also after a message has arrived.
    fn undone(&mut self) {
        let mut undone = self.after.clone();
        let epoch = undone.next_epoch() - 1;
        let newer = Message::text("newer", Role::User, Origin::Typed, "something newer");
        undone.push(newer.clone());
        let mut expected = self.before.clone();
        expected.push(newer);
        let restored = undone.undo(epoch).is_ok() && undone.view() == expected.view();
        self.law("undo", restored, || "the earlier view did not come back".to_owned());
    }

    /// 12: the conversation starts with a user's message.
    fn provider(&mut self) {
        let first = self.after.view().iter().find(|entry| entry.message.role != Role::System);
        let fine = first.is_none_or(|entry| entry.message.role == Role::User);
        self.law("provider", fine, || "the first message is not a user's".to_owned());
    }
}

fn result_id(message: &Message) -> Option<&str> {
    message.blocks.iter().find_map(|block| Some(block.as_result()?.call_id.as_ref()))
}

fn is_blank(message: &Message) -> bool {
    message.blocks.iter().all(|block| match &block.content {
        Content::Text { text } => text.trim().is_empty(),
        Content::Gone => true,
        _ => false,
    })
}
