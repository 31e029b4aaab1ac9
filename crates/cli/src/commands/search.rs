//! `epitome search`: what was said in a session, or in all sessions of a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use epitome::Session;
use epitome::formats::{Format, LoadedSession, ReadOptions, read};
use epitome::recall::{Index, Page, Passage, Pool, Query, Share, Source};
use epitome::store::SessionFile;
use epitome::strategy::{Archived, archive::handles};
use rayon::prelude::*;
use serde::Serialize;

use crate::args::{KeptArgs, format_parser};
use crate::failure::Failure;
use crate::input::{is_standard, shown};
use crate::kept::Kept;
use crate::render::search::page;
use crate::render::text::{plural, width};
use crate::{Outcome, output};

/// Exit code of a search that found nothing, as grep has it.
const NOTHING: u8 = 1;

/// How many files of a folder are in memory at once, at most.
const AT_ONCE: usize = 32;

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The session's file, plain or gzipped, in any format; a folder for all sessions in it; `-` is standard input
    file: PathBuf,
    /// What to look for: a question, and names that the text is likely to use
    #[arg(required_unless_present_any = ["from", "newest", "also"])]
    words: Vec<String>,
    /// One more query, whose scores are added; can be given several times
    #[arg(long, value_name = "WORDS")]
    also: Vec<String>,
    /// Whose words are searched: user, assistant, tool (calls and what they printed), file (of these, what names a file)
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    from: Vec<Source>,
    /// Of what matches well the newest first; without words, the newest passages. For one session
    #[arg(long)]
    newest: bool,
    /// Passages, at most
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Characters of all passages together, at most
    #[arg(long, value_name = "N", default_value_t = 9_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    characters: u32,
    /// Which page of passages, from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    page: u16,
    /// The file's format; recognised from the content without it
    #[arg(long, value_name = "FORMAT", value_parser = format_parser(|_| true), hide_possible_values = true)]
    format: Option<Format>,
    /// One session of a file of several: its number from 0, or its id [default: all of them]
    #[arg(long, value_name = "N|ID")]
    session: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl SearchArgs {
    fn query(&self) -> Query {
        let first = self.words.join(" ");
        let words = std::iter::once(&first).chain(&self.also).filter(|words| !words.trim().is_empty());
        Query {
            words: words.cloned().collect(),
            from: self.from.clone(),
            newest: self.newest,
            limit: usize::from(self.limit),
            characters: self.characters as usize,
            page: usize::from(self.page) - 1,
        }
    }

    fn kept(&self) -> KeptArgs {
        KeptArgs { file: self.file.clone(), from: self.format, session: self.session.clone() }
    }
}

/// A passage with the session that it is of.
#[derive(Debug, Serialize)]
pub(crate) struct Hit {
    #[serde(flatten)]
    pub(crate) passage: Passage,
    /// The file, in a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// The session, in a file of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
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
    let query = args.query();
    if query.words.is_empty() && query.from.is_empty() && !query.newest {
        let failure = Failure::usage_text("there is nothing to look for: the words are blank");
        return Err(failure.with_help("name words, or --from or --newest for what was said by whom, or last"));
    }
    let is_folder = !is_standard(&args.file) && args.file.is_dir();
    if is_folder && args.session.is_some() {
        let failure = Failure::usage_text(format!("{} is a folder: --session is of a file", shown(&args.file)));
        return Err(failure.with_help("name the file"));
    }
    let (hits, more) = if is_folder { search_folder(args, &query, quiet)? } else { search_file(args, &query, quiet)? };
    if args.json {
        let mut text = serde_json::to_string_pretty(&Printed { passages: &hits, more })?;
        text.push('\n');
        output::standard(text.as_bytes())?;
    } else if hits.is_empty() {
        if !quiet {
            let what = if args.page > 1 { "nothing more matches" } else { "nothing matches" };
            output::tell(&format!("{what} in {}\n", shown(&args.file)));
        }
    } else {
        output::print(&page(&hits, width()))?;
        if more && !quiet {
            output::tell(&format!("more matches: --page {}\n", args.page.saturating_add(1)));
        }
    }
    Ok(if hits.is_empty() { ExitCode::from(NOTHING) } else { ExitCode::SUCCESS })
}

/// Searches one session of a file, or all of a file of several.
fn search_file(args: &SearchArgs, query: &Query, quiet: bool) -> Result<(Vec<Hit>, bool), Failure> {
    let kept = Kept::read_any(&args.kept(), quiet)?;
    let sessions = match &kept {
        Kept::Recorded { loaded, .. } if args.session.is_none() => &loaded.sessions[..],
        _ => &[],
    };
    if sessions.len() < 2 {
        let Page { mut passages, more } = search(kept.session(), query);
        if matches!(kept, Kept::Recorded { .. }) {
            name_messages(kept.session(), &mut passages);
        }
        let hit = |passage| Hit { passage, path: None, session: None };
        return Ok((passages.into_iter().map(hit).collect(), more));
    }
    refuse_newest(args, "it holds several sessions: choose one with --session N|ID")?;
    let mut pool = Pool::new(query.clone());
    for batch in sessions.chunks(AT_ONCE) {
        let shares: Vec<Share> = batch.par_iter().map(|source| share(&source.session, query)).collect();
        for (source, share) in batch.iter().zip(shares) {
            pool.add(Place { path: None, session: Some(source.name.clone()) }, share);
        }
    }
    Ok(hits(pool))
}

/// Searches every file of a folder that is a session; files that are none are passed over.
fn search_folder(args: &SearchArgs, query: &Query, quiet: bool) -> Result<(Vec<Hit>, bool), Failure> {
    refuse_newest(args, "name the file of one session")?;
    let mut files = Vec::new();
    collect(&args.file, &mut files)?;
    files.sort();
    let (mut pool, mut read, mut passed) = (Pool::new(query.clone()), 0, 0);
    for batch in files.chunks(AT_ONCE) {
        // In the order of the files' names, whichever thread is done first.
        let found: Vec<Vec<(Place, Share)>> =
            batch.par_iter().map(|file| shares(&args.file, file, args.format, query)).collect();
        for shares in found {
            read += usize::from(!shares.is_empty());
            passed += usize::from(shares.is_empty());
            shares.into_iter().for_each(|(place, share)| pool.add(place, share));
        }
    }
    if read == 0 {
        let failure = Failure::usage_text(format!("{} holds no session that can be read", shown(&args.file)));
        return Err(failure.with_help("name a folder of session files, or --format where it is not recognised"));
    }
    if passed > 0 && !quiet {
        output::note(&format!("{}: {} passed over, {} searched", shown(&args.file), plural(passed, "file"), read));
    }
    Ok(hits(pool))
}

fn refuse_newest(args: &SearchArgs, help: &str) -> Result<(), Failure> {
    if !args.newest {
        return Ok(());
    }
    let failure = Failure::usage_text(format!("--newest is of one session, and {} holds more", shown(&args.file)));
    Err(failure.with_help(help))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::usage(anyhow::Error::new(error).context(format!("cannot read {}", folder.display())))
    };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        // Links to folders are not followed: they may lead back.
        match entry.file_type().map_err(unreadable)? {
            kind if kind.is_dir() => collect(&entry.path(), files)?,
            _ if entry.path().is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

/// What the sessions of a file have to say; nothing for a file that is none.
fn shares(folder: &Path, file: &Path, format: Option<Format>, query: &Query) -> Vec<(Place, Share)> {
    let Ok(bytes) = fs::read(file) else { return Vec::new() };
    let path = file.strip_prefix(folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
    if format.is_none() && SessionFile::is_one(&bytes) {
        let place = Place { path: Some(path), session: None };
        let opened = SessionFile::parse(file, &bytes);
        return opened.map(|opened| (place, share(&opened.session, query))).into_iter().collect();
    }
    let Ok(loaded) = read(bytes, ReadOptions { format, strict: false }) else { return Vec::new() };
    let several = loaded.sessions.len() > 1;
    let of = |source: &LoadedSession| {
        let place = Place { path: Some(path.clone()), session: several.then(|| source.name.clone()) };
        (place, share(&source.session, query))
    };
    loaded.sessions.iter().map(of).collect()
}

fn search(session: &Session, query: &Query) -> Page {
    let mut page = Index::build(session).search(query);
    page.locate(session);
    page
}

/// Gives what left the context of an agent's own file the handle of its message: there is no archive, but the file still
/// holds what left, and `epitome restore --handle` finds it there.
fn name_messages(session: &Session, passages: &mut [Passage]) {
    let left = |passage: &&mut Passage| passage.in_context == Some(false) && passage.handle.is_none();
    for passage in passages.iter_mut().filter(left) {
        let message = session.log().get(passage.number as usize).cloned();
        passage.handle = message.and_then(|message| handles(&Archived::Messages(vec![message])).next());
    }
}

fn share(session: &Session, query: &Query) -> Share {
    let mut share = Index::build(session).share(query);
    share.locate(session);
    share
}

fn hits(pool: Pool<Place>) -> (Vec<Hit>, bool) {
    let (passages, more) = pool.page();
    let hit = |(place, passage): (Place, Passage)| Hit { passage, path: place.path, session: place.session };
    (passages.into_iter().map(hit).collect(), more)
}
