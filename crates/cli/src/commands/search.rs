//! `epitome search`: searches the log of a session, or of all sessions in a folder.

mod files;

use std::process::ExitCode;

use epitome::Session;
use epitome::recall::{Index, Page, Passage, Pool, Query, QueryProblem, SessionMatches};
use serde::Serialize;

use crate::args::SearchArgs;
use crate::failure::{CommandResult, Failure};
use crate::paths::{display_name, is_standard};
use crate::render::search::{Hit, HitLocation, page};
use crate::render::text::width;
use crate::terminal;

/// Exit code of a search that found nothing, as grep has it.
const NOTHING: u8 = 1;

/// The largest number of sessions in memory at once.
const AT_ONCE: usize = 32;

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct SearchOutput<'a> {
    passages: &'a [Hit],
    more: bool,
}

pub(crate) fn run(args: &SearchArgs, quiet: bool) -> CommandResult {
    let query = query_of(args)?;
    let file = &args.file;
    let is_folder = !is_standard(file) && file.is_dir();
    if is_folder && args.session.is_some() {
        let failure = Failure::usage_text(format!("{} is a folder: --session is of a file", display_name(file)));
        return Err(failure.with_help("name the file"));
    }
    let search = if is_folder { files::search_folder } else { files::search_file };
    let (hits, more) = search(args, file, &query, quiet)?;
    if args.json {
        terminal::print_json(&SearchOutput { passages: &hits, more })?;
    } else if hits.is_empty() {
        if !quiet {
            let what = if args.page > 1 { "nothing more matches" } else { "nothing matches" };
            terminal::tell(&format!("{what} in {}\n", display_name(&args.file)));
        }
    } else {
        terminal::print(&page(&hits, width()))?;
        if more && !quiet {
            let next = args.page.saturating_add(1);
            let is_last = next as usize > Query::MOST_PAGES;
            let how = if is_last { "ask with other words".to_owned() } else { format!("--page {next}") };
            terminal::tell(&format!("more matches: {how}\n"));
        }
    }
    Ok(if hits.is_empty() { ExitCode::from(NOTHING) } else { ExitCode::SUCCESS })
}

fn query_of(args: &SearchArgs) -> Result<Query, Failure> {
    let first = args.words.join(" ");
    let words = std::iter::once(&first).chain(&args.also).filter(|words| !words.trim().is_empty());
    let query = Query {
        words: words.cloned().collect(),
        from: args.source.clone(),
        newest: args.newest,
        limit: args.limit,
        characters: args.characters,
        page: args.page as usize - 1,
    };
    query.check().map_err(|problem| {
        let failure = Failure::usage(problem);
        let help = "name words, or --source or --newest for what was said by whom, or last";
        if problem == QueryProblem::Nothing { failure.with_help(help) } else { failure }
    })?;
    Ok(query)
}

/// Searches one session.
fn search_session(session: &Session, query: &Query) -> Result<(Vec<Hit>, bool), Failure> {
    let mut page = Index::build(session).search(query).map_err(Failure::usage)?;
    page.locate(session);
    let Page { passages, more } = page;
    let hit = |passage| Hit { passage, location: HitLocation::default() };
    Ok((passages.into_iter().map(hit).collect(), more))
}

/// The hits of one session of many.
fn share_of(session: &Session, query: &Query) -> Result<SessionMatches, Failure> {
    let mut share = Index::build(session).share(query).map_err(Failure::usage)?;
    share.locate(session);
    Ok(share)
}

fn refuse_newest(args: &SearchArgs, place: &str, help: &str) -> Result<(), Failure> {
    if !args.newest {
        return Ok(());
    }
    let failure = Failure::usage_text(format!("--newest is of one session, and {place} holds more"));
    Err(failure.with_help(help))
}

fn hits(pool: Pool<HitLocation>) -> (Vec<Hit>, bool) {
    let (passages, more) = pool.page();
    let hit = |(location, passage): (HitLocation, Passage)| Hit { passage, location };
    (passages.into_iter().map(hit).collect(), more)
}
