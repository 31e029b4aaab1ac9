//! Is the status right, and is it the same each time?

use epitome_engine::{Draft, EngineError, Ledger, Report, Request, Status, Timings, block_on};
use epitome_session::{Message, Origin, Role, Session, Trigger};

use super::Laws;

impl Laws<'_> {
    /// The result is at or under the limit, or the reported floor exceeds it.
    pub(super) fn budget(&mut self) {
        let tokens = self.recount(self.after);
        let limit = self.request.limit.max(self.request.target);
        match self.report.status {
            Status::NoChange => self.law("budget", tokens <= limit, || format!("{tokens} was left alone")),
            Status::Compacted | Status::NearEmpty => {
                self.law("budget", tokens <= limit, || format!("{tokens} tokens for {limit}"))
            }
            Status::Infeasible => {
                let floor = self.report.floor.as_ref().map_or(0, |floor| floor.tokens);
                self.law("budget", floor > limit, || format!("a floor of {floor} for {limit}"));
                let parts: u32 = self.report.floor.iter().flat_map(|floor| &floor.parts).map(|part| part.tokens).sum();
                self.law("budget", parts == floor, || format!("parts of {parts} make a floor of {floor}"));
            }
            Status::RolledBack => {
                let goes_on = tokens <= limit || self.request.trigger == Trigger::Manual;
                self.law("budget", goes_on, || {
                    format!("{tokens} tokens for {limit} were rolled back with nobody there")
                });
            }
        }
    }

    /// A reported floor can be reached.
    pub(super) fn feasible_floor(&mut self) {
        let Some(floor) = self.report.floor.as_ref().map(|floor| floor.tokens) else { return };
        let request = Request { target: floor, limit: floor, ..self.request.clone() };
        let status = self.run_again(&mut self.before.clone(), self.ledger_before, &request).map(|report| report.status);
        let can_be_had =
            matches!(status, Ok(Status::Compacted | Status::NearEmpty | Status::NoChange | Status::RolledBack));
        self.law("floor", can_be_had, || format!("a budget of the floor's {floor} tokens ended as {status:?}"));
    }

    /// Drafting and committing equals compacting; repeating gives the same; a compacted session fits and stays
    /// unchanged.
    pub(super) fn repeated(&mut self) {
        let mut again = self.before.clone();
        let report = self.run_again(&mut again, self.ledger_before, self.request);
        let same = report.as_ref().is_ok_and(|report| without_timings(report) == without_timings(self.report));
        self.law("determinism", same && again.view() == self.after.view(), || {
            format!("a second run gave something else: {report:?}")
        });
        if self.report.tokens_after <= self.target() {
            let mut twice = self.after.clone();
            // What is dropped by hand again may be the text in the place of what was, or what need not stay any more.
            let without_drops = Request { drop: Vec::new(), ..self.request.clone() };
            let status = self.run_again(&mut twice, self.ledger_after, &without_drops).map(|report| report.status);
            let left_alone = matches!(status, Ok(Status::NoChange)) && twice.view() == self.after.view();
            self.law("idempotence", left_alone, || "compacting again changed something".to_owned());
        }
    }

    /// Drafts a compaction and commits it; the commit appends the draft's epoch.
    fn run_again(&mut self, session: &mut Session, ledger: &Ledger, request: &Request) -> Result<Report, EngineError> {
        let mut ledger = ledger.clone();
        let mut scratch = self.archive.clone();
        let draft = block_on(self.engine.draft(session, &ledger, &mut scratch, request))?;
        let drafted = draft.epoch().cloned();
        let epochs = session.journal().len();
        let report = self.engine.commit(session, &mut ledger, draft)?;
        let committed = session.journal().get(epochs).cloned();
        self.law("drafts", drafted == committed, || format!("{drafted:?} became {committed:?}"));
        self.recounted(&ledger, session, "after a draft was committed");
        Ok(report)
    }

    /// A draft is refused once the session has changed, whatever changed it.
    pub(super) fn stale_drafts(&mut self) {
        let mut scratch = self.archive.clone();
        let Ok(draft) = block_on(self.engine.draft(self.before, self.ledger_before, &mut scratch, self.request)) else {
            return;
        };
        let mut changed: Vec<(&str, Session)> = vec![("another commit", self.after.clone())];
        let mut pushed = self.before.clone();
        pushed.push(Message::text("newer", Role::User, Origin::Typed, "something newer"));
        changed.push(("a push", pushed));
        let mut undone = self.before.clone();
        if (0..undone.next_epoch()).rev().any(|epoch| undone.undo(epoch).is_ok()) {
            changed.push(("an undo", undone));
        }
        for (change, mut session) in changed {
            let before = session.view().to_vec();
            let mut ledger = self.ledger_before.clone();
            let result = self.engine.commit(&mut session, &mut ledger, draft.clone());
            let refused = matches!(result, Err(EngineError::Stale)) && session.view() == before;
            self.law("drafts", refused, || format!("a draft was taken after {change}"));
        }
        self.drafts_on_a_prefix(&draft);
    }

    /// A draft of the session as it was before newer messages arrived gives the result of that time with these messages
    /// behind it; it is refused where anything else has changed.
    fn drafts_on_a_prefix(&mut self, draft: &Draft) {
        let newer =
            [(Role::User, Origin::Typed, "something newer"), (Role::Assistant, Origin::Model, "and its answer")];
        let push = |session: &mut Session, ledger: &mut Ledger| {
            for (number, (role, origin, text)) in newer.into_iter().enumerate() {
                let key = session.push(Message::text(format!("newer-{number}"), role, origin, text));
                ledger.push(session, key);
            }
        };
        let (mut at_once, mut ledger) = (self.before.clone(), self.ledger_before.clone());
        let made = self.engine.commit(&mut at_once, &mut ledger, draft.clone());
        push(&mut at_once, &mut ledger);
        let (mut later, mut ledger) = (self.before.clone(), self.ledger_before.clone());
        push(&mut later, &mut ledger);
        let pushed = later.view().to_vec();
        let result = self.engine.commit_on_prefix(&mut later, &mut ledger, draft.clone(), u32::MAX);
        if draft.epoch().is_none() {
            let untouched = later.view() == pushed;
            self.law("drafts on a prefix", untouched, || format!("a draft that changes nothing: {result:?}"));
            return;
        }
        let same = made.is_ok() && result.is_ok() && later.view() == at_once.view();
        self.law("drafts on a prefix", same, || format!("{result:?}: {:?} is not {:?}", later.view(), at_once.view()));
        self.recounted(&ledger, &later, "after a draft on a prefix was committed");
        let epoch = later.next_epoch().saturating_sub(1);
        let undone = later.undo(epoch).is_ok() && later.view() == pushed;
        self.law("drafts on a prefix", undone, || format!("undoing it left {:?}", later.view()));
        let mut other = self.before.clone();
        if (0..other.next_epoch()).rev().any(|epoch| other.undo(epoch).is_ok()) {
            let mut ledger = self.ledger_before.clone();
            let result = self.engine.commit_on_prefix(&mut other, &mut ledger, draft.clone(), u32::MAX);
            self.law("drafts on a prefix", matches!(result, Err(EngineError::Stale)), || {
                format!("a draft was taken after an undo: {result:?}")
            });
        }
    }
}

/// Returns a report without its times.
fn without_timings(report: &Report) -> Report {
    let mut report = report.clone();
    report.steps.iter_mut().for_each(|step| step.duration_us = 0);
    report.timings = Timings::default();
    report
}
