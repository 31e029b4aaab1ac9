//! `epitome compact`: fits a session into a budget.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use epitome::config::{Config, Source};
use epitome::engine::{Budget, Mode, QualityPart, ReasoningFilter, Timings, block_on};
use epitome::formats::{Format, LoadedFile, carries_reasoning, carry_over, is_bypassed, write_again};
use epitome::session::Trigger;
use epitome::strategy::{Registry, TokenCounter};
use epitome::{Engine, MemoryArchive, Message, Report, Request, Runtime, Session, Status};
use serde::Serialize;
use serde_json::json;

use crate::args::{CompactArgs, ViewArg};
use crate::chain::Choice;
use crate::counter::counter_of;
use crate::failure::{CommandResult, Failure, INFEASIBLE};
use crate::in_place::InPlaceOutcome;
use crate::memories::Memories;
use crate::output::Target;
use crate::render::report;
use crate::render::report::Subject;
use crate::render::table::{Column, Table};
use crate::render::text::{plural, width};
use crate::retry::{busy, record_again, until_taken};
use crate::summaries::{self, ProgressLine};
use crate::{configuration, emit, input, paths, terminal};

/// Exit code where the quality guard rolled back: nothing is wrong with the command or its input.
const ROLLED_BACK: u8 = 1;
/// The exit code of one that was made, and that keeps next to nothing of what the session held.
const HOLLOW: u8 = 1;

/// The number of times that a session is compacted anew because its file changed meanwhile in a way that the finished
/// work cannot be carried over: each time may cost money.
const MAX_COMPACTIONS: u32 = 3;

/// Everything that is settled before the input is read.
struct Job<'a> {
    args: &'a CompactArgs,
    runtime: Runtime,
    request: Request,
    quiet: bool,
    /// The times of the work before the input is read.
    timings: Timings,
    memories: Memories,
}

/// One session after its compaction.
struct CompactedSession {
    report: Report,
    /// The human report but for its last line; empty where it is not wanted.
    page: String,
    session: Session,
    /// The number of messages that came during the compaction.
    came: usize,
    /// The tokens of the session now, with the new messages.
    tokens: u32,
}

pub(crate) fn run(args: &CompactArgs, quiet: bool) -> CommandResult {
    let target = Target::new(args.target.output.as_deref(), Some(&args.input.file))?;
    let report_target = args.report.as_deref().map(|path| report_target(path, args)).transpose()?;
    let registry = epitome::registry();
    let configuring = Instant::now();
    let mut job = job(args, &registry, quiet)?;
    job.timings.configure_us = Some(microseconds(configuring));
    if args.all {
        return compact_all(&job, &target, report_target.as_ref());
    }
    // The session first: a report describes one that exists.
    let mut done = job.compact_into(&target)?;
    let refused = refused(&done.report);
    let is_hollow = done.report.status == Status::Hollow;
    let is_written = !args.preview && refused.is_none();
    if let Some(report_target) = &report_target {
        report_target.write(&line(&done.report)?).map_err(|failure| behind_session(failure, is_written))?;
    }
    if args.json {
        let told = terminal::standard(&line(&done.report)?).map_err(Failure::from);
        told.map_err(|failure| behind_session(failure, is_written))?;
    }
    if !done.page.is_empty() && done.report.status.is_compaction() {
        done.page.push_str(&report::timings(&done.report.timings, width()));
    }
    terminal::tell(&done.page);
    if !quiet && done.report.status == Status::Compacted {
        warn_of_lost_parts(&done.report);
    }
    if is_hollow {
        terminal::note("next to nothing is left of what was asked for and worked on: a larger budget keeps some of it");
        return Ok(ExitCode::from(HOLLOW));
    }
    let Some((code, why)) = refused else { return Ok(ExitCode::SUCCESS) };
    if quiet {
        terminal::note(&format!("{why}: the session was not written"));
    }
    Ok(ExitCode::from(code))
}

/// Tells of parts of the session that left whole: the figures alone look like those of a small loss.
fn warn_of_lost_parts(report: &Report) {
    let Some(quality) = &report.quality else { return };
    let name = |part: QualityPart| format!("{} {}", quality.part(part).held, part.as_str());
    let lost: Vec<String> = quality.lost_parts().into_iter().map(name).collect();
    if !lost.is_empty() {
        terminal::note(&format!("nothing is left of {}: a larger budget keeps some", lost.join(" and of ")));
    }
}

/// The failure to write a report: where its session is written already, a second try would compact that again.
fn behind_session(failure: Failure, is_written: bool) -> Failure {
    match is_written {
        true => failure.after("the session was written, and its report was not").with_help(
            "do not compact the written session again for its report; `epitome history` tells what was done",
        ),
        false => failure,
    }
}

/// Microseconds since an instant.
fn microseconds(since: Instant) -> u64 {
    since.elapsed().as_micros() as u64
}

/// The exit code of a compaction that was not made, and why it was not.
fn refused(report: &Report) -> Option<(u8, String)> {
    match report.status {
        Status::NoChange | Status::Compacted | Status::Hollow => None,
        Status::Infeasible => Some((INFEASIBLE, format!("cannot fit {}", plural(report.budget as usize, "token")))),
        Status::RolledBack => {
            let below = report.quality.iter().flat_map(|quality| &quality.below);
            let below: Vec<String> = below
                .map(|it| {
                    format!(
                        "{} {} where [quality] min_{} asks for {}",
                        it.part.as_str(),
                        it.share,
                        it.part.as_str(),
                        it.least
                    )
                })
                .collect();
            Some((ROLLED_BACK, format!("rolled back, too little would be kept ({})", below.join(", "))))
        }
    }
}

fn report_target(path: &std::path::Path, args: &CompactArgs) -> Result<Target, Failure> {
    if paths::is_standard(path) {
        let failure = Failure::usage_text("--report takes a file, standard output is for the session");
        return Err(failure.with_help("--preview --json prints the report and no session"));
    }
    let target = Target::new(Some(path), Some(&args.input.file))?;
    if matches!(target, Target::File { is_input: true, .. }) || args.target.output.as_deref() == Some(path) {
        let failure = Failure::usage_text(format!("--report names {}, which is a session's file", path.display()));
        return Err(failure.with_help("name another file"));
    }
    target.check()?;
    Ok(target)
}

fn job<'a>(args: &'a CompactArgs, registry: &Registry, quiet: bool) -> Result<Job<'a>, Failure> {
    let mut config = configuration::read_for_agent(&args.configuration, registry)?;
    summaries::apply(&mut config, args)?;
    let runtime = configuration::build(&config, registry)?;
    let mut request = request(args, &config, &runtime, &config.registry(registry))?;
    let memories = Memories::open(&runtime, args.preview, quiet)?;
    request.memories = memories.recent()?;
    Ok(Job { args, runtime, request, quiet, timings: Timings::default(), memories })
}

fn request(args: &CompactArgs, config: &Config, runtime: &Runtime, registry: &Registry) -> Result<Request, Failure> {
    let mut request = Request::to_budget(0); // what it is, `Job::request` tells for each session
    request.trigger = Trigger::Manual;
    request.task = args.task;
    request.focus = args.focus.clone();
    if config.source("budget.window") != Source::Default {
        request.window = Some(runtime.budget.window);
    }
    request.mode = args.mode.unwrap_or(if args.task.is_some() { Mode::Adaptive } else { runtime.mode });
    if let Some(names) = &args.chain {
        if args.mode.is_some_and(|mode| mode != Mode::Fixed) {
            let failure = Failure::usage_text("--chain names the chain: no other --mode than fixed goes with it");
            return Err(failure.with_help("leave one of them out"));
        }
        let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
        let chain = runtime.chain(&names, registry);
        let chain = chain.map_err(|problem| Failure::usage_text(format!("--chain: {problem}")))?;
        request.chain = Some(chain);
        request.mode = Mode::Fixed;
    } else if request.mode == Mode::Fixed {
        request.chain = Some(runtime.fixed.clone().ok_or_else(|| {
            Failure::usage_text("--mode fixed needs a chain")
                .with_help("name one with --chain a,b,c, or with [select] chain in the configuration")
        })?);
    }
    Ok(request)
}

impl Job<'_> {
    /// Compacts the session that the arguments choose and writes it to `target`, unless nothing is to be written. An
    /// input that grows meanwhile, and is the target, is compacted with its new messages.
    fn compact_into(&self, target: &Target) -> Result<CompactedSession, Failure> {
        let (args, file) = (self.args, &self.args.input.file);
        let mut earlier: Option<(LoadedFile, CompactedSession)> = None;
        let (mut compactions, mut bypassed, mut flushed) = (0, false, 0);
        let (done, index, taken) = until_taken(file, || {
            let (bytes, original) = input::bytes_for(file, target)?;
            // The warnings about the file were given when it was first read.
            let reading = Instant::now();
            let loaded = input::load_bytes(bytes, &args.input, self.quiet || earlier.is_some())?;
            let read_us = microseconds(reading);
            let index = input::choose(&loaded, &args.input, ", or compact each with --all")?;
            let carried = earlier.take().and_then(|(earlier, done)| self.carry_over(&earlier, done, &loaded, index));
            let mut done = match carried {
                Some(done) => done,
                None if compactions == MAX_COMPACTIONS => return Err(busy(file)),
                None => {
                    compactions += 1;
                    self.compact(&loaded, index, target)?
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
            let mut bytes = rendered(self, &loaded, index, &done)?;
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
        let counter = counter_of(&self.runtime, &session);
        let engine = self.engine(counter, loaded, &ProgressLine::default());
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

    fn engine(&self, counter: Arc<dyn TokenCounter>, loaded: &LoadedFile, waiting: &ProgressLine) -> Engine {
        let progress = waiting.on_progress(self.runtime.summary_model(), self.quiet);
        let mut engine = epitome::engine_watched(&self.runtime, counter, progress);
        // The budget is for the text that is sent: reasoning that the output has no place for costs nothing.
        let (from, to) = (loaded.format, target_format(self.args, loaded));
        engine.sent = ReasoningFilter::matching(move |block| carries_reasoning(Some(from), to, block));
        engine
    }

    /// Compacts one session of a file; with `--preview` it stays as it was.
    fn compact(&self, loaded: &LoadedFile, index: usize, target: &Target) -> Result<CompactedSession, Failure> {
        let started = Instant::now();
        let source = &loaded.sessions[index];
        let mut session = input::select_view(&source.session, self.args.input.view);
        let counter = counter_of(&self.runtime, &session);
        let waiting = ProgressLine::default();
        let engine = self.engine(counter, loaded, &waiting);
        let counting = Instant::now();
        let mut ledger = engine.ledger(&session);
        let count_us = Some(microseconds(counting));
        let request = self.request(epitome::context::tool_definition_tokens(&engine, &session), ledger.total());
        let mut archive = MemoryArchive::new();
        let draft = block_on(engine.draft(&session, &ledger, &mut archive, &request)).map_err(Failure::other)?;
        drop(waiting);
        let mut report = draft.report.clone();
        let configure_us = self.timings.configure_us;
        report.timings = Timings { configure_us, count_us, ..report.timings };
        let page = if self.quiet || self.args.json || self.args.all {
            String::new()
        } else {
            let name = name(self.args, loaded, index);
            let choice = Choice::new(&self.runtime, report.mode, session.cycle() + 1);
            let (preview, elapsed) = (self.args.preview, started.elapsed());
            let model = self.runtime.summary_model();
            let restorable = restorable(self.args, target.is_input());
            let (from, to) = (loaded.format, target_format(self.args, loaded));
            let mut blocks = session.view().iter().flat_map(|entry| &entry.message.blocks);
            let without_reasoning = blocks.any(|block| !carries_reasoning(Some(from), to, block)).then_some(to);
            let session = &session;
            let subject =
                Subject { name: &name, restorable, session, without_reasoning, choice, model, preview, elapsed };
            report::render(&report, &subject, width())
        };
        if !self.args.preview {
            engine.commit(&mut session, &mut ledger, draft).map_err(Failure::other)?;
        }
        let tokens = report.tokens_after;
        Ok(CompactedSession { report, page, session, came: 0, tokens })
    }

    /// The request for a session whose tool definitions take `tool_definitions` tokens, and whose messages take `now`.
    fn request(&self, tool_definitions: u32, now: u32) -> Request {
        let mut request = self.request.clone();
        if let Some(budget) = self.args.budget {
            let tokens = budget.tokens(now).max(1);
            (request.limit, request.target) = (tokens, tokens);
        } else {
            let budget = Budget { tool_definitions, ..self.runtime.budget.clone() };
            let usable = budget.usable();
            request.limit = budget.hard.tokens(usable).min(usable);
            request.target = budget.target.tokens(usable).min(request.limit);
            request.window = Some(budget.window);
        }
        request
    }
}

/// The arguments by which `epitome restore` reads the session again, for a shell; `None` for one that was piped in, and
/// for one that the output replaces.
fn restorable(args: &CompactArgs, is_input: bool) -> Option<String> {
    let input = &args.input;
    let is_replaced = is_input && args.target.force;
    paths::reading_words(&input.file, input.from, input.session.as_deref()).filter(|_| !is_replaced)
}

/// The session's name in the report.
fn name(args: &CompactArgs, loaded: &LoadedFile, index: usize) -> String {
    let file = paths::display_name(&args.input.file);
    let session =
        if loaded.sessions.len() > 1 { format!(", session {}", loaded.sessions[index].name) } else { String::new() };
    format!("{file}{session} ({})", loaded.format)
}

/// The format to write: the one asked for, else the input's where that can be written.
fn target_format(args: &CompactArgs, loaded: &LoadedFile) -> Format {
    args.to.unwrap_or(if loaded.format.is_writable() { loaded.format } else { Format::OpenaiChat })
}

/// The session as bytes: the input's own where nothing was changed.
fn rendered(job: &Job<'_>, loaded: &LoadedFile, index: usize, done: &CompactedSession) -> Result<Vec<u8>, Failure> {
    let args = job.args;
    let as_it_was = args.to.is_none_or(|format| format == loaded.format)
        && args.input.view == ViewArg::Compacted
        && loaded.sessions.len() == 1
        && done.report.status == Status::NoChange;
    if as_it_was {
        return Ok(loaded.bytes.to_vec());
    }
    let format = target_format(args, loaded);
    emit::write_session(loaded, index, &done.session, format, job.quiet)
}

fn line(report: &impl Serialize) -> Result<Vec<u8>, Failure> {
    let mut json = serde_json::to_vec(report)?;
    json.push(b'\n');
    Ok(json)
}

/// Compacts every session, each to the budget. Those that cannot fit are left out, said so, and exit 3; those that were
/// rolled back exit 1, as do hollow ones, which are written.
fn compact_all(job: &Job<'_>, target: &Target, report_target: Option<&Target>) -> CommandResult {
    let profile = emit::profile_of_lines(job.args.to)?;
    let file = &job.args.input.file;
    let (bytes, original) = input::bytes_for(file, target)?;
    let reading = Instant::now();
    let loaded = &input::load_bytes(bytes, &job.args.input, job.quiet)?;
    let read_us = Some(microseconds(reading));
    let mut written = Vec::new();
    let mut reports = Vec::new();
    let setting = [Column::Flexible, Column::Left, Column::Right, Column::Right, Column::Right, Column::Left];
    let mut table = Table::new(&setting, &["session", "", "before", "after", "edits", "task"]);
    let (mut infeasible, mut rolled_back, mut hollow) = (0, 0, 0);
    for (index, source) in loaded.sessions.iter().enumerate() {
        let mut done = job.compact(loaded, index, target)?;
        done.report.timings.read_us = read_us;
        if !job.quiet {
            terminal::progress(index + 1, loaded.sessions.len());
        }
        table.row(report::line(&done.report, &source.name));
        hollow += usize::from(done.report.status == Status::Hollow);
        if done.report.status == Status::Infeasible {
            infeasible += 1;
        } else if done.report.status == Status::RolledBack {
            rolled_back += 1;
        } else if !job.args.preview {
            if done.report.status.is_compaction() {
                done.report.flushed_memories = job.memories.flush(&done.session, &job.runtime)?;
            }
            emit::line(&mut written, loaded, index, &done.session, profile, job.quiet)?;
        }
        reports.push(json!({ "session": source.name, "report": done.report }));
    }
    let json = line(&reports)?;
    // The sessions first: a report describes those that exist.
    let is_written = !job.args.preview && !written.is_empty();
    if is_written {
        let taken = target.take(&written, &loaded.bytes, original.as_ref(), job.args.target.force)?;
        if taken == InPlaceOutcome::Changed {
            return Err(busy(file));
        }
    }
    if let Some(report_target) = report_target {
        report_target.write(&json).map_err(|failure| behind_session(failure, is_written))?;
    }
    if job.args.json {
        let told = terminal::standard(&json).map_err(Failure::from);
        told.map_err(|failure| behind_session(failure, is_written))?;
    }
    if !job.quiet && !job.args.json {
        terminal::tell(&table.render(width()));
    }
    if rolled_back > 0 {
        let of = loaded.sessions.len();
        terminal::note(&format!("{rolled_back} of {of} sessions would have lost too much and were left out"));
    }
    if hollow > 0 {
        let of = loaded.sessions.len();
        terminal::note(&format!(
            "of {hollow} of {of} sessions next to nothing is left of what was asked for and worked on"
        ));
    }
    if infeasible == 0 {
        return Ok(match (rolled_back, hollow) {
            (0, 0) => ExitCode::SUCCESS,
            (0, _) => ExitCode::from(HOLLOW),
            _ => ExitCode::from(ROLLED_BACK),
        });
    }
    terminal::note(&format!("{infeasible} of {} sessions cannot fit and were left out", loaded.sessions.len()));
    Ok(ExitCode::from(INFEASIBLE))
}
