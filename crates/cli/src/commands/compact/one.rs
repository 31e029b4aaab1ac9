//! One session: compacted, and written while its file may grow.

use std::time::Instant;

use epitome::engine::{EngineError, Timings, block_on};
use epitome::formats::{LoadedFile, carries_reasoning, carry_over, is_bypassed, write_again};
use epitome::{MemoryArchive, Message, Report, Session, Status};

use super::job::{Job, microseconds};
use super::outcome::refused;
use crate::args::ViewArg;
use crate::chain::Choice;
use crate::failure::Failure;
use crate::render::report;
use crate::render::report::Subject;
use crate::render::text::{plural, width};
use crate::session::in_place::InPlaceOutcome;
use crate::session::input;
use crate::session::retry::{busy, record_again, until_taken};
use crate::summaries::ProgressLine;
use crate::{emit, paths, terminal};

/// The number of times that a session is compacted anew because its file changed meanwhile in a way that the finished
/// work cannot be carried over: each time may cost money.
const MAX_COMPACTIONS: u32 = 3;

/// One session after its compaction.
pub(super) struct CompactedSession {
    pub(super) report: Report,
    /// The human report but for its last line; empty where it is not wanted.
    pub(super) page: String,
    pub(super) session: Session,
    /// The number of messages that came during the compaction.
    came: usize,
    /// The tokens of the session now, with the new messages.
    tokens: u32,
}

impl Job<'_> {
    /// Compacts the session that the arguments choose and writes it to the target, unless nothing is to be written. An
    /// input that grows meanwhile, and is the target, is compacted with its new messages.
    pub(super) fn compact_and_write(&self) -> Result<CompactedSession, Failure> {
        let (args, target, file) = (self.args, &self.target, &self.args.input.file);
        let mut earlier: Option<(LoadedFile, CompactedSession)> = None;
        let (mut compactions, mut bypassed, mut flushed) = (0, false, 0);
        let (done, index, taken) = until_taken(file, || {
            let (bytes, original) = input::bytes_for(file, target)?;
            // The warnings about the file were given when it was first read.
            let reading = Instant::now();
            let loaded = input::load_bytes(bytes, &args.input, self.quiet || earlier.is_some())?;
            let read_us = microseconds(reading);
            let index = input::choose(&loaded, &args.input)?;
            let carried = earlier.take().and_then(|(earlier, done)| self.carry_over(&earlier, done, &loaded, index));
            let mut done = match carried {
                Some(done) => done,
                None if compactions == MAX_COMPACTIONS => return Err(busy(file)),
                None => {
                    compactions += 1;
                    self.compact(&loaded, index)?
                }
            };
            done.report.timings.read_us = Some(read_us);
            if args.preview || refused(&done.report).is_some() {
                return Ok(Some((done, index, InPlaceOutcome::Whole)));
            }
            if done.report.status.is_compaction() {
                // Facts that another attempt has stored are not new any more.
                flushed += self.memories.flush(&done.session, &self.runtime)?;
                done.report.flushed_memories = flushed;
            }
            let writing = Instant::now();
            let mut bytes = self.rendered(&loaded, index, &done)?;
            if original.is_some() && *bytes == *loaded.bytes && is_bypassed(&loaded) {
                // It fits, but the agent would not resume from what fits.
                bytes = write_again(&loaded, index).map_err(Failure::other)?;
                bypassed = true;
            }
            let taken = target.take(&bytes, &loaded.bytes, original.as_ref(), args.target.force)?;
            done.report.timings.write_us = Some(microseconds(writing));
            if taken == InPlaceOutcome::Changed {
                earlier = Some((loaded, done));
                return Ok(None);
            }
            Ok(Some((done, index, taken)))
        })?;
        if taken == InPlaceOutcome::Behind {
            record_again(&args.input, target, index)?;
        }
        if bypassed && !self.quiet {
            terminal::note(
                "the agent had gone on from before the compaction in its file: the compacted view is recorded again",
            );
        }
        if flushed > 0 && !self.quiet {
            terminal::note(&format!("{} kept in the file of [live] memory_file", plural(flushed as usize, "new fact")));
        }
        if done.came > 0 && !self.quiet {
            let came = plural(done.came, "message");
            terminal::note(&format!(
                "{came} came while it was compacted: what came follows, and is not in these figures"
            ));
        }
        Ok(done)
    }

    /// The compaction of a session that was read earlier, applied to the session as its file has it now; `None` where
    /// the file did more than grow, or is larger now than the budget.
    fn carry_over(
        &self,
        earlier: &LoadedFile,
        done: CompactedSession,
        loaded: &LoadedFile,
        index: usize,
    ) -> Option<CompactedSession> {
        let session = carry_over(earlier, index, &done.session, loaded)?;
        let engine = self.engine(loaded, &ProgressLine::default());
        let limit = done.report.budget;
        // Only the new messages are counted, because the file may grow meanwhile.
        let mut new = Session::new();
        for message in &session.log()[done.session.log().len()..] {
            new.push(Message::clone(message));
        }
        let tokens = done.tokens.saturating_add(engine.ledger(&new).total());
        let came = done.came + new.log().len();
        (tokens <= limit).then_some(CompactedSession { session, came, tokens, ..done })
    }

    /// Compacts one session of a file; with `--preview` it stays as it was.
    pub(super) fn compact(&self, loaded: &LoadedFile, index: usize) -> Result<CompactedSession, Failure> {
        let started = Instant::now();
        let source = &loaded.sessions[index];
        let mut session = input::select_view(&source.session, self.args.input.view);
        let waiting = ProgressLine::default();
        let engine = self.engine(loaded, &waiting);
        let counting = Instant::now();
        let mut ledger = engine.ledger(&session);
        let count_us = Some(microseconds(counting));
        let mut request =
            self.request(epitome::context::tool_definition_tokens(&**ledger.counter(), &session), ledger.total());
        request.memories = self.memories.of(&session, &self.runtime, request.focus.as_deref())?;
        let mut archive = MemoryArchive::new();
        let draft = block_on(engine.draft(&session, &ledger, &mut archive, &request));
        let draft = draft.map_err(|error| match error {
            EngineError::ByHand(error) => Failure::usage(error)
                .with_help("`epitome inspect` and `epitome search` print the numbers of messages; nothing was written"),
            error => Failure::other(error),
        })?;
        drop(waiting);
        let mut report = draft.report.clone();
        report.timings = Timings { configure_us: Some(self.configure_us), count_us, ..report.timings };
        let page = if self.quiet || self.args.json {
            String::new()
        } else {
            let name = name(self, loaded, index);
            let choice = Choice::new(&self.runtime, report.mode, session.cycle() + 1);
            let (preview, elapsed) = (self.args.preview, started.elapsed());
            let model = self.runtime.summary_model();
            let restorable = self.restorable();
            let (from, to) = (loaded.format, self.format_of(loaded));
            let mut blocks = session.view().iter().flat_map(|entry| &entry.message.blocks);
            let without_reasoning = blocks.any(|block| !carries_reasoning(Some(from), to, block)).then_some(to);
            let session = &session;
            let subject =
                Subject { name: &name, restorable, session, without_reasoning, choice, model, preview, elapsed };
            report::render(&report, &subject, width())
        };
        // What is kept by hand is recorded with a compaction, in the files that have a place for it.
        if !self.args.preview && report.status.is_compaction() {
            engine.commit(&mut session, &mut ledger, draft).map_err(Failure::other)?;
        }
        let tokens = report.tokens_after;
        Ok(CompactedSession { report, page, session, came: 0, tokens })
    }

    /// The session as bytes: the input's own where nothing was changed.
    fn rendered(&self, loaded: &LoadedFile, index: usize, done: &CompactedSession) -> Result<Vec<u8>, Failure> {
        let as_it_was = self.args.to.is_none_or(|format| format == loaded.format)
            && self.args.input.view == ViewArg::Compacted
            && loaded.sessions.len() == 1
            && done.report.status == Status::NoChange;
        if as_it_was {
            return Ok(loaded.bytes.to_vec());
        }
        emit::write_session(loaded, index, &done.session, self.format_of(loaded), self.quiet)
    }
}

/// The session's name in the report.
fn name(job: &Job<'_>, loaded: &LoadedFile, index: usize) -> String {
    let file = paths::display_name(&job.args.input.file);
    let session =
        if loaded.sessions.len() > 1 { format!(", session {}", loaded.sessions[index].name) } else { String::new() };
    format!("{file}{session} ({})", loaded.format)
}
