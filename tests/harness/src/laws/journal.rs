//! Does the journal hold: undo, late results, storing?

use std::collections::{HashMap, HashSet};

use epitome_engine::Ledger;
use epitome_session::{Change, EntryKey, Epoch, Message, Origin, Position, Role, Session, UndoError};

use super::validity::unpaired_calls;
use super::{Laws, result_id};
use crate::hostile::missing_results;

/// How many late results are tried: enough for every hostile session.
const MOST_LATE: usize = 50;

impl Laws<'_> {
    /// A result that arrives after its call was answered, or after the call has left, breaks no pair; when all missing
    /// results have come, every call has its own.
    pub(super) fn late_results(&mut self) {
        let (mut session, mut ledger) = (self.after.clone(), self.ledger_after.clone());
        if !unpaired_calls(session.view()).is_empty() {
            return; // told by the law of pairing
        }
        let late: Vec<Message> = missing_results(&session).into_iter().take(MOST_LATE).collect();
        for message in &late {
            let id = result_id(message).unwrap_or_default();
            push(&mut session, &mut ledger, message.clone());
            for problem in unpaired_calls(session.view()).into_iter().filter(|problem| problem.starts_with("result")) {
                self.law("late-results", false, || format!("after the late result of `{id}`: {problem}"));
            }
            self.recounted(&ledger, &session, "after a late result");
        }
        for problem in unpaired_calls(session.view()).into_iter().filter(|_| late.len() < MOST_LATE) {
            self.law("late-results", false, || format!("after all late results: {problem}"));
        }
    }

    /// Undoing an epoch gives the view without it, messages that have arrived since included; it is refused exactly
    /// while a later epoch depends on it.
    pub(super) fn undone(&mut self) {
        let (mut session, mut ledger) = (self.after.clone(), self.ledger_after.clone());
        let mut expected = self.before.clone();
        let newer = Message::text("newer", Role::User, Origin::Typed, "something newer");
        for message in missing_results(&session).into_iter().take(MOST_LATE).chain([newer]) {
            expected.push(message.clone());
            push(&mut session, &mut ledger, message);
        }
        let newest = session.next_epoch() - 1;
        for epoch in session.journal().iter().filter(|epoch| !epoch.undone) {
            let mut undone = session.clone();
            let result = undone.undo(epoch.id);
            let covering = covering(&session, epoch);
            let refused = matches!(&result, Err(UndoError::Covered { later, .. }) if Some(*later) == covering);
            self.law("undo", result.is_ok() == covering.is_none() && (refused || result.is_ok()), || {
                format!("undoing {} gave {result:?}, {covering:?} stands on it", epoch.id)
            });
            if result.is_err() {
                continue;
            }
            let without = replay_journal(&session, Some(epoch.id));
            self.law("undo", undone.view() == without.view(), || {
                format!("without {} the view is another: {}", epoch.id, difference(&undone, &without))
            });
            self.law("undo", epoch.id != newest || undone.view() == expected.view(), || {
                format!("the earlier view did not come back: {}", difference(&undone, &expected))
            });
            let mut resynced = ledger.clone();
            resynced.resync(&undone);
            self.recounted(&resynced, &undone, "after an undo");
        }
    }

    /// A session that is stored and loaded is the same, and continues the same.
    pub(super) fn stored(&mut self) {
        let mut session = self.after.clone();
        let replayed = replay_journal(&session, None);
        self.law("stored", replayed.view() == session.view(), || {
            format!("replaying the journal: {}", difference(&session, &replayed))
        });
        let loaded = serde_json::to_string(&session).and_then(|json| serde_json::from_str::<Session>(&json));
        let Ok(mut loaded) = loaded else {
            return self.law("stored", false, || format!("{loaded:?}"));
        };
        let same = loaded.log() == session.log() && loaded.journal() == session.journal();
        self.law("stored", same && loaded.view() == session.view(), || difference(&session, &loaded));
        let again = session.log().last().map(|message| (**message).clone());
        for message in missing_results(&session).into_iter().take(MOST_LATE).chain(again) {
            session.push(message.clone());
            loaded.push(message);
        }
        self.law("stored", loaded.view() == session.view(), || format!("going on: {}", difference(&session, &loaded)));
        let last = session.next_epoch() - 1;
        let undone = (session.undo(last), loaded.undo(last));
        self.law("stored", undone.0 == undone.1 && loaded.view() == session.view(), || {
            format!("undoing: {}", difference(&session, &loaded))
        });
    }
}

fn push(session: &mut Session, ledger: &mut Ledger, message: Message) {
    let key = session.push(message);
    ledger.push(session, key);
}

/// Returns the session with each message pushed and each epoch committed anew, `without` one of them: an empty epoch
/// takes its number.
fn replay_journal(session: &Session, without: Option<u32>) -> Session {
    let mut replayed = Session::new();
    let mut log = session.log().iter().enumerate().peekable();
    for epoch in session.journal() {
        while let Some((_, message)) = log.next_if(|(index, _)| *index < epoch.log_length as usize) {
            replayed.push((**message).clone());
        }
        let left_out = epoch.undone || Some(epoch.id) == without;
        replayed.commit(if left_out {
            Epoch { edits: Vec::new(), synthetics: Vec::new(), kept: Vec::new(), released: Vec::new(), ..epoch.clone() }
        } else {
            epoch.clone()
        });
    }
    log.for_each(|(_, message)| {
        replayed.push((**message).clone());
    });
    replayed
}

/// Returns the first later epoch in force that changes what `target` changed or added, or something in front of
/// thinking that left because of it.
fn covering(session: &Session, target: &Epoch) -> Option<u32> {
    let mut places: HashMap<EntryKey, Position> =
        session.full_view().iter().map(|entry| (entry.key, entry.position)).collect();
    for epoch in session.journal() {
        let added = epoch.synthetics.iter().enumerate();
        places.extend(
            added.map(|(index, it)| (EntryKey::Synthetic { epoch: epoch.id, index: index as u32 }, it.position)),
        );
    }
    let added = (0..target.synthetics.len() as u32).map(|index| EntryKey::Synthetic { epoch: target.id, index });
    let touched: HashSet<EntryKey> = target.changes().map(Change::entry).chain(added).collect();
    let stripped = target.changes().filter(|change| matches!(change, Change::Strip { mark: None, .. }));
    let last = stripped.filter_map(|change| places.get(&change.entry())).max();
    let mut later = session.journal().iter().filter(|epoch| epoch.id > target.id && !epoch.undone);
    later
        .find(|epoch| {
            epoch.changes().map(Change::entry).any(|entry| {
                let in_front = last.is_some_and(|last| places.get(&entry).is_some_and(|place| place <= last));
                touched.contains(&entry) || in_front
            })
        })
        .map(|epoch| epoch.id)
}

/// Returns where two views differ first, for a person.
fn difference(one: &Session, other: &Session) -> String {
    let (one, other) = (one.view(), other.view());
    let at = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    format!("of {} and {} messages, at {at}: {:?} and {:?}", one.len(), other.len(), one.get(at), other.get(at))
}
