//! `epitome search`: what was said in a session, or in all sessions of a folder or a store.

mod files;
mod stores;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use epitome::Session;
use epitome::formats::Format;
use epitome::recall::{Index, Page, Passage, Pool, Query, QueryProblem, Share, Source};
use serde::Serialize;

use crate::args::format_parser;
use crate::failure::{Failure, Outcome};
use crate::paths::{is_standard, shown};
use crate::render::search::{Hit, page};
use crate::render::text::width;
use crate::store::StoreArgs;
use crate::terminal;

/// Exit code of a search that found nothing, as grep has it.
const NOTHING: u8 = 1;

/// How many sessions of many are in memory at once, at most.
const AT_ONCE: usize = 32;

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The session's file, plain or gzipped, in any format; a folder for all sessions in it; `-` is standard input. Not with
    /// --store
    #[arg(required_unless_present = "kept_in")]
    file: Option<PathBuf>,
    /// What to look for: a question, and names that the text is likely to use
    #[arg(required_unless_present_any = ["from", "newest", "also", "kept_in"])]
    words: Vec<String>,
    #[command(flatten)]
    store: StoreArgs,
    /// One more query, whose scores are added; can be given several times
    #[arg(long, value_name = "WORDS")]
    also: Vec<String>,
    /// Whose words are searched: user, assistant, tool (calls and what they printed), file (of these, what names a file)
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    from: Vec<Source>,
    /// Of what matches well the newest first; without words, the newest passages. For one session
    #[arg(long)]
    newest: bool,
    /// Passages, at most; up to 100
    #[arg(long, value_name = "N", default_value_t = Query::default().limit)]
    limit: usize,
    /// Characters of all passages together, at most; up to 200,000
    #[arg(long, value_name = "N", default_value_t = Query::default().characters)]
    characters: usize,
    /// Which page of passages, from 1 to 20
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    page: u32,
    /// The file's format; recognised from the content without it
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(|_| true), hide_possible_values = true, conflicts_with = "kept_in")]
    format: Option<Format>,
    /// One session of a file of several, by its number from 0 or its id; of a store by its id [default: all of them]
    #[arg(long, value_name = "N|ID")]
    session: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl SearchArgs {
    /// What is asked for. Where a store is named there is no file, and what stands in its place is the first word.
    fn query(&self) -> Result<Query, Failure> {
        let mut words = self.words.clone();
        if self.store.is_named()
            && let Some(first) = &self.file
        {
            let first = first.to_str().ok_or_else(|| Failure::usage_text("the words are not UTF-8"))?;
            words.insert(0, first.to_owned());
        }
        let first = words.join(" ");
        let words = std::iter::once(&first).chain(&self.also).filter(|words| !words.trim().is_empty());
        let query = Query {
            words: words.cloned().collect(),
            from: self.from.clone(),
            newest: self.newest,
            limit: self.limit,
            characters: self.characters,
            page: self.page as usize - 1,
        };
        query.check().map_err(|problem| {
            let failure = Failure::usage(problem);
            let help = "name words, or --from or --newest for what was said by whom, or last";
            if problem == QueryProblem::Nothing { failure.with_help(help) } else { failure }
        })?;
        Ok(query)
    }

    /// What is searched, as messages name it.
    fn place(&self) -> String {
        self.file.as_deref().filter(|_| !self.store.is_named()).map_or_else(|| "the store".to_owned(), shown)
    }
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Printed<'a> {
    passages: &'a [Hit],
    more: bool,
}

/// Where a session of several stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    path: Option<String>,
    session: Option<String>,
}

pub(crate) fn run(args: &SearchArgs, quiet: bool) -> Outcome {
    let query = args.query()?;
    let (hits, more) = match &args.file {
        Some(file) if !args.store.is_named() => {
            let is_folder = !is_standard(file) && file.is_dir();
            if is_folder && args.session.is_some() {
                let failure = Failure::usage_text(format!("{} is a folder: --session is of a file", shown(file)));
                return Err(failure.with_help("name the file"));
            }
            if is_folder {
                files::search_folder(args, file, &query, quiet)?
            } else {
                files::search_file(args, file, &query, quiet)?
            }
        }
        _ => stores::search_store(args, &query)?,
    };
    if args.json {
        let mut text = serde_json::to_string_pretty(&Printed { passages: &hits, more })?;
        text.push('\n');
        terminal::standard(text.as_bytes())?;
    } else if hits.is_empty() {
        if !quiet {
            let what = if args.page > 1 { "nothing more matches" } else { "nothing matches" };
            terminal::tell(&format!("{what} in {}\n", args.place()));
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

/// Searches one session.
fn search_session(session: &Session, query: &Query) -> Result<(Vec<Hit>, bool), Failure> {
    let mut page = Index::build(session).search(query).map_err(Failure::usage)?;
    page.locate(session);
    let Page { passages, more } = page;
    let hit = |passage| Hit { passage, path: None, session: None };
    Ok((passages.into_iter().map(hit).collect(), more))
}

/// What one session of many has to say.
fn share_of(session: &Session, query: &Query) -> Result<Share, Failure> {
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

fn hits(pool: Pool<Place>) -> (Vec<Hit>, bool) {
    let (passages, more) = pool.page();
    let hit = |(place, passage): (Place, Passage)| Hit { passage, path: place.path, session: place.session };
    (passages.into_iter().map(hit).collect(), more)
}
