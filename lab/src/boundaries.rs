//! `boundaries`: where the pieces of work of a session end.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use epitome::Session;
use epitome::session::Role;
use epitome::strategy::state::Boundary;
use serde_json::json;

use crate::refetch::command::sessions_of;

/// The sessions that are looked at.
#[derive(Debug, Args)]
pub struct BoundariesArgs {
    /// Files of recorded sessions
    #[arg(required = true)]
    paths: Vec<PathBuf>,
}

/// Prints a line of JSON for each session: its requests, and of those in front of which a piece of work has ended the number, from 1,
/// and what ended.
pub fn run(args: &BoundariesArgs) -> Result<()> {
    for path in &args.paths {
        for session in sessions_of(path)? {
            let (requests, ends) = ends_of(&session);
            println!("{}", json!({ "session": path, "requests": requests, "ends": ends }));
        }
    }
    Ok(())
}

/// Returns how many requests a session has, and the ends among them. Linear in the session.
fn ends_of(session: &Session) -> (usize, Vec<(usize, String)>) {
    let (log, mut ends, mut requests) = (session.log(), Vec::new(), 0);
    for (at, message) in log.iter().enumerate() {
        let is_request = message.role == Role::Assistant && (at == 0 || log[at - 1].role != Role::Assistant);
        if !is_request {
            continue;
        }
        requests += 1;
        if let Some(end) = Boundary::newest(log[..at].iter().map(|message| &**message)) {
            ends.push((requests, format!("{end:?}")));
        }
    }
    (requests, ends)
}
