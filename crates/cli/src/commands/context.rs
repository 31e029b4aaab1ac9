//! `epitome context`: what fills a session's context, what would leave it next, and what has left.

use std::process::ExitCode;

use epitome::engine::block_on;
use epitome::formats::RecordedModel;
use epitome::live::LiveSession;

use crate::args::ContextArgs;
use crate::context_output::ContextOutput;
use crate::failure::CommandResult;
use crate::paths::reading_words;
use crate::render::context::page;
use crate::render::text::width;
use crate::session::session_lookup::FoundSession;
use crate::terminal;
use crate::window::Window;

pub(crate) fn run(args: &ContextArgs, quiet: bool) -> CommandResult {
    let registry = epitome::registry();
    // A wrong configuration is told before the session is read.
    Window::new(&args.window, &RecordedModel::default(), &registry)?;
    let found = FoundSession::read(&args.session, quiet)?;
    let window = Window::new(&args.window, &found.model, &registry)?;
    let (engine, budget) = window.engine(&found.session);
    let id = found.session.id.as_deref().map(str::to_owned);
    let mut live = LiveSession::with_engine(engine, &window.runtime, found.session);
    live.set_budget(budget);
    let mut report = block_on(live.report_context());
    report.fullness = window.fullness(live.ledger(), live.session(), report.contents.tokens, live.budget());
    let output = ContextOutput {
        reading: reading_words(&found.file, args.session.from, args.session.session.as_deref()),
        file: found.file,
        format: found.format,
        session: id,
        model: found.model.name,
        window: window.source,
        report,
    };
    if args.json {
        terminal::print_json(&output)?;
    } else {
        terminal::print(&page(&output, width()))?;
    }
    Ok(ExitCode::SUCCESS)
}
