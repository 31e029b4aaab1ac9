//! Prints what would be remembered of recorded sessions: `cargo run -p epitome-store --example memories -- FILE…`, where
//! `FILE#3` is the fourth session of a file that holds several.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::process::ExitCode;

use epitome_formats::{ReadOptions, read};
use epitome_store::extract;
use epitome_strategy::Lexicon;

/// The most of one session, as many as a reader reads.
const MOST: usize = 20;

fn main() -> ExitCode {
    let mut problems = 0;
    for argument in std::env::args().skip(1) {
        if let Err(problem) = print(&argument) {
            eprintln!("memories: {argument}: {problem}");
            problems += 1;
        }
    }
    if problems == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print(argument: &str) -> Result<(), String> {
    let chosen = argument.rsplit_once('#').and_then(|(file, number)| Some((file, number.parse::<usize>().ok()?)));
    let (file, number) = chosen.map_or((argument, None), |(file, number)| (file, Some(number)));
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let loaded = read(bytes, ReadOptions::default()).map_err(|error| error.to_string())?;
    let of = |index: usize| number.is_none_or(|number| number == index);
    let sessions: Vec<_> = loaded.sessions.iter().enumerate().filter(|(index, _)| of(*index)).collect();
    if sessions.is_empty() {
        return Err(format!("has {} sessions", loaded.sessions.len()));
    }
    for (_, session) in sessions {
        let log = session.session.log();
        println!("\n{file} {}: {} messages", session.name, log.len());
        for memory in extract(log, session.session.id.as_ref(), &Lexicon::standard(), MOST) {
            println!("  {:<11} {:<8} {}", memory.kind.as_str(), memory.message.as_str(), memory.text);
        }
    }
    Ok(())
}
