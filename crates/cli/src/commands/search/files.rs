//! The sessions of files and folders.

use std::fs;
use std::path::{Path, PathBuf};

use epitome::formats::{Format, LoadedSession, ReadOptions, read};
use epitome::recall::{Pool, Query, SessionMatches};
use epitome::store::SessionFile;
use rayon::prelude::*;

use super::{AT_ONCE, hits, refuse_newest, search_session, share_of};
use crate::args::{RecordedSessionArgs, SearchArgs};
use crate::failure::Failure;
use crate::paths::display_name;
use crate::render::search::{Hit, HitLocation};
use crate::render::text::plural;
use crate::session::recorded_session::RecordedSession;
use crate::terminal;

/// Searches one session of a file, or all of a file of several.
pub(super) fn search_file(
    args: &SearchArgs,
    file: &Path,
    query: &Query,
    quiet: bool,
) -> Result<(Vec<Hit>, bool), Failure> {
    let (from, session) = (args.from, args.session.clone());
    let wanted = RecordedSessionArgs { file: file.to_owned(), from, session, side_chains: true };
    let kept = RecordedSession::read_any(&wanted, quiet)?;
    let sessions = match &kept {
        RecordedSession::Recorded { loaded, .. } if args.session.is_none() => &loaded.sessions[..],
        _ => &[],
    };
    if sessions.len() < 2 {
        return search_session(kept.session(), query);
    }
    refuse_newest(args, &display_name(file), "it holds several sessions: choose one with --session N|ID")?;
    let mut pool = Pool::new(query.clone());
    for batch in sessions.chunks(AT_ONCE) {
        let shares: Result<Vec<SessionMatches>, Failure> =
            batch.par_iter().map(|source| share_of(&source.session, query)).collect();
        for (source, share) in batch.iter().zip(shares?) {
            pool.add(HitLocation { path: None, session: Some(source.name.clone()) }, share);
        }
    }
    Ok(hits(pool))
}

/// Searches every session file of a folder; other files are passed over.
pub(super) fn search_folder(
    args: &SearchArgs,
    folder: &Path,
    query: &Query,
    quiet: bool,
) -> Result<(Vec<Hit>, bool), Failure> {
    refuse_newest(args, &display_name(folder), "name the file of one session")?;
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let (mut pool, mut read, mut passed) = (Pool::new(query.clone()), 0, 0);
    for batch in files.chunks(AT_ONCE) {
        // In the order of the files' names, whichever thread is done first.
        let found: Result<Vec<Vec<(HitLocation, SessionMatches)>>, Failure> =
            batch.par_iter().map(|file| shares(folder, file, args.from, query)).collect();
        for shares in found? {
            read += usize::from(!shares.is_empty());
            passed += usize::from(shares.is_empty());
            shares.into_iter().for_each(|(place, share)| pool.add(place, share));
        }
    }
    if read == 0 {
        let failure = Failure::usage_text(format!("{} holds no session that can be read", display_name(folder)));
        return Err(failure.with_help("name a folder of session files, or --from where it is not recognised"));
    }
    if passed > 0 && !quiet {
        terminal::note(&format!("{}: {} passed over, {} searched", display_name(folder), plural(passed, "file"), read));
    }
    Ok(hits(pool))
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
            // What is no file is passed over with those that are no sessions, and not waited for.
            _ if !entry.path().is_dir() => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

/// The hits in the sessions of a file; none for a file that is not a session file, or that cannot be read.
fn shares(
    folder: &Path,
    file: &Path,
    format: Option<Format>,
    query: &Query,
) -> Result<Vec<(HitLocation, SessionMatches)>, Failure> {
    let Ok(bytes) = epitome_shelf::read_plain(file) else { return Ok(Vec::new()) };
    let path = file.strip_prefix(folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
    if format.is_none() && SessionFile::is_one(&bytes) {
        let Ok(opened) = SessionFile::parse(file, &bytes) else { return Ok(Vec::new()) };
        return Ok(vec![(HitLocation { path: Some(path), session: None }, share_of(&opened.session, query)?)]);
    }
    let options = ReadOptions { format, side_chains: true, ..ReadOptions::default() };
    let Ok(loaded) = read(bytes, options) else { return Ok(Vec::new()) };
    let several = loaded.sessions.len() > 1;
    let share = |source: &LoadedSession| {
        // The file of a helper seldom says whose helper it was.
        let is_helper = source.session.id.as_deref().is_some_and(|id| id != source.name);
        let session = (several || is_helper).then(|| source.name.clone());
        Ok((HitLocation { path: Some(path.clone()), session }, share_of(&source.session, query)?))
    };
    loaded.sessions.iter().filter(|source| !source.session.log().is_empty()).map(share).collect()
}
