//! `epitome inspect`: what a session is made of.

use std::process::ExitCode;

use epitome::formats::LoadedSession;
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
    let runtime = input::build_without_model(config, &registry)?;
    let loaded = input::load(&args.input, quiet)?;
    let single = loaded.sessions.len() == 1 || args.input.session.is_some();
    let (index, census) = if single {
        let index = input::choose(&loaded, &args.input, "")?;
        let session = input::viewed(&loaded.sessions[index].session, args.input.view);
        (Some(index), Some(Census::of(&session, &runtime)))
    } else {
        (None, None)
    };
    let listed = |(number, source): (usize, &'_ LoadedSession)| {
        let known = census.as_ref().filter(|_| index == Some(number)).map(|census| census.sizes);
        known.unwrap_or_else(|| Sizes::of(&input::viewed(&source.session, args.input.view), &runtime))
    };
    let sizes: Vec<Sizes> = loaded.sessions.iter().enumerate().map(listed).collect();
    let inspected = Inspected {
        format: loaded.format.as_str(),
        bytes: loaded.bytes.len(),
        sessions: loaded.sessions.iter().zip(sizes).map(|(source, sizes)| Listed { id: &source.name, sizes }).collect(),
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
