//! What a compaction is to do, settled before any session is read.

use std::path::Path;
use std::time::Instant;

use epitome::config::{Config, Source};
use epitome::engine::{Budget, Mode, ReasoningFilter};
use epitome::formats::{Format, LoadedFile, carries_reasoning};
use epitome::session::Trigger;
use epitome::strategy::Registry;
use epitome::{Engine, Request, Runtime};
use serde::Serialize;

use crate::args::CompactArgs;
use crate::failure::Failure;
use crate::memories::Memories;
use crate::output::Target;
use crate::summaries::{self, ProgressLine};
use crate::{configuration, paths, terminal};

/// All that the arguments and the configuration say; nothing of it changes while sessions are read and written.
pub(super) struct Job<'a> {
    pub(super) args: &'a CompactArgs,
    pub(super) runtime: Runtime,
    pub(super) quiet: bool,
    /// Where the sessions go.
    pub(super) target: Target,
    pub(super) memories: Memories,
    /// How long the configuration took, in microseconds.
    pub(super) configure_us: u64,
    /// The request but for its budget, which depends on the session.
    request: Request,
    /// Where the report goes, where one is asked for.
    report_target: Option<Target>,
}

impl<'a> Job<'a> {
    /// The job that the arguments and their configuration describe. Reads no session.
    pub(super) fn new(args: &'a CompactArgs, quiet: bool) -> Result<Self, Failure> {
        let target = Target::new(args.target.output.as_deref(), Some(&args.input.file))?;
        let report_target = args.report.as_deref().map(|path| report_target(path, args)).transpose()?;
        let started = Instant::now();
        let registry = epitome::registry();
        let mut config = configuration::read_for_agent(&args.configuration, &registry)?;
        summaries::apply(&mut config, args)?;
        let runtime = configuration::build(&config, &registry)?;
        let request = request(args, &config, &runtime, &config.registry(&registry))?;
        let memories = Memories::open(&runtime, args.preview, quiet)?;
        let configure_us = microseconds(started);
        Ok(Self { args, runtime, quiet, target, memories, configure_us, request, report_target })
    }

    /// The request for a session whose tool definitions take `tool_definitions` tokens, and whose messages take `now`.
    pub(super) fn request(&self, tool_definitions: u32, now: u32) -> Request {
        let mut request = self.request.clone();
        if let Some(budget) = self.args.budget {
            let tokens = budget.tokens(now).max(1);
            (request.limit, request.target) = (tokens, tokens);
        } else if self.args.configuration.config.is_none() && !self.args.drop.is_empty() && request.window.is_none() {
            // Without any budget: what is dropped by hand leaves, and nothing else.
            (request.limit, request.target) = (now.max(1), now.max(1));
        } else {
            let budget = Budget { tool_definitions, ..self.runtime.budget.clone() };
            let usable = budget.usable();
            request.limit = budget.hard.tokens(usable).min(usable);
            request.target = budget.target.tokens(usable).min(request.limit);
            request.window = Some(budget.window);
        }
        request
    }

    /// The engine for the sessions of a file.
    pub(super) fn engine(&self, loaded: &LoadedFile, waiting: &ProgressLine) -> Engine {
        let progress = waiting.on_progress(self.runtime.summary_model(), self.quiet);
        let mut engine = epitome::engine_with_progress(&self.runtime, progress);
        // The budget is for the text that is sent: reasoning that the output has no place for costs nothing.
        let (from, to) = (loaded.format, self.format_of(loaded));
        engine.sent = ReasoningFilter::matching(move |block| carries_reasoning(Some(from), to, block));
        engine
    }

    /// The format to write: the one asked for, else the input's where that can be written.
    pub(super) fn format_of(&self, loaded: &LoadedFile) -> Format {
        self.args.to.unwrap_or(if loaded.format.is_writable() { loaded.format } else { Format::OpenaiChat })
    }

    /// The arguments by which `epitome restore` reads the session again, for a shell; `None` for one that was piped in, and
    /// for one that the output replaces.
    pub(super) fn restorable(&self) -> Option<String> {
        let input = &self.args.input;
        let is_replaced = self.target.is_input() && self.args.target.force;
        paths::reading_words(&input.file, input.from, input.session.as_deref()).filter(|_| !is_replaced)
    }

    /// Writes a report to where it is asked for: a file, standard output. The session goes first, for a report describes one
    /// that exists; `is_written` says whether there is one.
    pub(super) fn write_report(&self, report: &impl Serialize, is_written: bool) -> Result<(), Failure> {
        let mut json = serde_json::to_vec(report)?;
        json.push(b'\n');
        // Where the session is written already, a second try would compact that again.
        let failed = |failure: Failure| match is_written {
            true => failure.after("the session was written, and its report was not").with_help(
                "do not compact the written session again for its report; `epitome history` tells what was done",
            ),
            false => failure,
        };
        if let Some(target) = &self.report_target {
            target.write(&json).map_err(failed)?;
        }
        if self.args.json {
            terminal::standard(&json).map_err(|error| failed(error.into()))?;
        }
        Ok(())
    }
}

fn report_target(path: &Path, args: &CompactArgs) -> Result<Target, Failure> {
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

fn request(args: &CompactArgs, config: &Config, runtime: &Runtime, registry: &Registry) -> Result<Request, Failure> {
    let mut request = Request::to_budget(0); // `Job::request` sets it for each session
    request.trigger = Trigger::Manual;
    request.task = args.task;
    request.focus = args.focus.clone();
    (request.keep, request.drop) = (args.keep.clone(), args.drop.clone());
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

/// Microseconds since an instant.
pub(super) fn microseconds(since: Instant) -> u64 {
    since.elapsed().as_micros() as u64
}
