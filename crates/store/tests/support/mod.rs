//! A host that keeps a session in a file, as a server would, and plays with it.
#![allow(dead_code, reason = "each test uses what it needs")]

use std::path::Path;
use std::sync::Arc;

use epitome_engine::{Chain, Engine, MemoryArchive, Pins, Request, SignalDetector, block_on};
use epitome_harness::hostile::{self, Chaos, Dice};
use epitome_session::{Message, Session};
use epitome_store::{OpenedSession, SessionArchive, SessionFile};
use epitome_strategy::Archive;
use epitome_testkit::FakeCounter;

pub(crate) struct Host {
    pub(crate) session: Session,
    pub(crate) archive: SessionArchive,
    pub(crate) file: SessionFile,
    /// What an archive in memory would hold.
    pub(crate) reference: MemoryArchive,
    engine: Engine,
    chain: Chain,
    dice: Dice,
}

impl Host {
    /// A host of an empty session in a new file.
    pub(crate) fn new(path: &Path, seed: u64) -> Self {
        let session = Session::new();
        let mut archive = SessionArchive::new();
        let file = SessionFile::create(path, &session, &mut archive).unwrap();
        let mut engine = Engine::new(Arc::new(FakeCounter), Arc::new(SignalDetector));
        engine.pins = Pins { protected_tools: Vec::new(), ..Pins::default() };
        let chain = Chain(vec![Arc::new(Chaos { seed, panics: false })]);
        let reference = MemoryArchive::new();
        Self { session, archive, file, reference, engine, chain, dice: Dice::new(seed) }
    }

    pub(crate) fn push(&mut self, message: Message) {
        self.session.push(message);
        self.file.append(self.session.log().last().unwrap()).unwrap();
    }

    /// Compacts to a random share; whether that made an epoch.
    pub(crate) fn compact(&mut self) -> bool {
        let mut ledger = self.engine.ledger(&self.session);
        let budget = ledger.total() * (self.dice.below(90) as u32 + 5) / 100;
        let request = Request { chain: Some(self.chain.clone()), ..Request::to_budget(budget) };
        let compacted = self.engine.compact(&mut self.session, &mut ledger, &mut self.archive, &request);
        let done = block_on(compacted).unwrap().status.is_compaction();
        if done {
            for (handle, item) in self.archive.items() {
                assert_eq!(self.reference.put(item.clone()).unwrap(), *handle, "the same handles as in memory");
            }
            self.file.commit(&self.session, &mut self.archive).unwrap();
        }
        done
    }

    /// Undoes some epoch, where one can be undone.
    pub(crate) fn undo(&mut self) -> bool {
        let mut can = (0..self.session.next_epoch()).filter(|epoch| self.session.clone().undo(*epoch).is_ok());
        let Some(epoch) = can.next() else { return false };
        drop(can);
        self.session.undo(epoch).unwrap();
        self.file.undo(epoch).unwrap();
        true
    }

    /// Messages of hostile sessions, compactions and undos in turn; `after` sees the host after each.
    pub(crate) fn play(&mut self, seed: u64, rounds: usize, mut after: impl FnMut(&Self)) {
        let mut dice = Dice::new(!seed);
        for _ in 0..rounds {
            let messages = hostile::session(dice.bits(), 8);
            let late = hostile::missing_results(&self.session).into_iter().take(2);
            for message in messages.log().iter().map(|message| (**message).clone()).chain(late) {
                self.push(message);
                after(self);
            }
            if !dice.once_in(4) && self.compact() {
                after(self);
            }
            if dice.once_in(3) && self.undo() {
                after(self);
            }
        }
    }
}

/// What was read is the session, and of the archive what was committed.
pub(crate) fn assert_same(opened: &OpenedSession, session: &Session, archive: &SessionArchive, what: &str) {
    assert_eq!(opened.session.id, session.id, "{what}");
    assert_eq!(opened.session.tools, session.tools, "{what}");
    assert!(opened.session.log() == session.log(), "{what}: the log");
    assert!(opened.session.journal() == session.journal(), "{what}: the journal");
    assert!(opened.session.view() == session.view(), "{what}: the view");
    let mut archive = archive.clone();
    archive.discard_pending();
    assert!(opened.archive.items().eq(archive.items()), "{what}: the archive");
    assert_eq!(opened.archive.pending(), 0, "{what}");
}
