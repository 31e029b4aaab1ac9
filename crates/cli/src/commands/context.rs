//! `epitome context`: what fills a session's context, what would leave it next, and what has left.

use std::process::ExitCode;

use epitome::engine::block_on;
use epitome::formats::RecordedModel;
use epitome::live::LiveSession;

use crate::args::ContextArgs;
use crate::context_output::ContextOutput;
use crate::failure::CommandResult;
use crate::found::FoundSession;
use crate::paths::reading_words;
use crate::render::context::page;
use crate::render::text::width;
use crate::room::Room;
use crate::terminal;

pub(crate) fn run(args: &ContextArgs, quiet: bool) -> CommandResult {
    let registry = epitome::registry();
    // A wrong configuration is told before the session is read.
    Room::new(&args.room, &RecordedModel::default(), &registry)?;
    let found = FoundSession::read(&args.session, quiet)?;
    let room = Room::new(&args.room, &found.model, &registry)?;
    let (engine, budget) = room.engine(&found.session);
    let id = found.session.id.as_deref().map(str::to_owned);
    let mut live = LiveSession::with_engine(engine, &room.runtime, found.session);
    live.set_budget(budget);
    let mut report = block_on(live.report_context());
    report.fullness = room.fullness(live.engine(), live.session(), report.contents.tokens, live.budget());
    let output = ContextOutput {
        reading: reading_words(&found.file, args.session.from, args.session.session.as_deref()),
        file: found.file,
        format: found.format,
        session: id,
        model: found.model.name,
        window: room.source,
        report,
    };
    if args.json {
        let mut text = serde_json::to_string_pretty(&output)?;
        text.push('\n');
        terminal::standard(text.as_bytes())?;
    } else {
        terminal::print(&page(&output, width()))?;
    }
    Ok(ExitCode::SUCCESS)
}
