//! `epitome inspect`: what a session is made of.

use std::process::ExitCode;

use epitome::formats::Loaded;
use serde::Serialize;

use crate::args::InspectArgs;
use crate::census::{Census, Sizes};
use crate::render::census::{overview, page};
use crate::render::text::width;
use crate::{Outcome, input, output};

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub(crate) struct Inspected<'a> {
    /// The format, recognised or given.
    pub(crate) format: &'static str,
    /// Bytes of the file, decompressed.
    pub(crate) bytes: usize,
    /// The sessions in the file.
    pub(crate) sessions: Vec<Listed<'a>>,
    /// The one session that was asked for; `null` for a file of several without `--session`.
    pub(crate) session: Option<Census>,
}

/// One session in a list.
#[derive(Debug, Serialize)]
pub(crate) struct Listed<'a> {
    /// Its id.
    pub(crate) id: &'a str,
    /// Messages of the view and their tokens.
    #[serde(flatten)]
    pub(crate) sizes: Sizes,
}

pub(crate) fn run(args: &InspectArgs, quiet: bool) -> Outcome {
    let registry = epitome::registry();
    let config = input::config(args.config.as_deref(), &registry)?;
    let runtime = input::build(&config, &registry)?;
    let loaded = input::load(&args.input, quiet)?;
    let single = loaded.sessions.len() == 1 || args.input.session.is_some();
    let census = if single {
        let index = input::choose(&loaded, &args.input, "")?;
        let session = input::viewed(&loaded.sessions[index].session, args.input.view);
        Some(Census::of(&session, &runtime))
    } else {
        None
    };
    let inspected = Inspected {
        format: loaded.format.as_str(),
        bytes: loaded.bytes.len(),
        sessions: listed(&loaded, args, &runtime),
        session: census,
    };
    if args.json {
        let mut text = serde_json::to_string_pretty(&inspected)?;
        text.push('\n');
        output::standard(text.as_bytes())?;
    } else {
        let name = input::shown(&args.input.file);
        let text = match &inspected.session {
            Some(census) => page(&name, &inspected, census, width()),
            None => overview(&name, &inspected, width()),
        };
        output::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Every session of the file; sizes of one that is shown whole are in its census, and not counted twice.
fn listed<'a>(loaded: &'a Loaded, args: &InspectArgs, runtime: &epitome::Runtime) -> Vec<Listed<'a>> {
    loaded
        .sessions
        .iter()
        .map(|source| {
            let session = input::viewed(&source.session, args.input.view);
            Listed { id: &source.name, sizes: Sizes::of(&session, runtime) }
        })
        .collect()
}
