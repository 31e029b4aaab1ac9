//! `epitome inspect`: what a session is made of.

use std::process::ExitCode;

use epitome::formats::LoadedSession;

use crate::args::InspectArgs;
use crate::composition::{InspectOutput, ListedSession, SessionComposition, Sizes};
use crate::failure::CommandResult;
use crate::render::composition::{overview, page};
use crate::render::text::width;
use crate::session::input;
use crate::{configuration, paths, terminal};

pub(crate) fn run(args: &InspectArgs, quiet: bool) -> CommandResult {
    let registry = epitome::registry();
    let config = configuration::read(args.config.as_deref(), &registry)?;
    let runtime = configuration::build_without_model(config, &registry)?;
    let loaded = input::load(&args.input, quiet)?;
    let single = loaded.sessions.len() == 1 || args.input.session.is_some();
    let (index, composition) = if single {
        let index = input::choose(&loaded, &args.input)?;
        let session = input::select_view(&loaded.sessions[index].session, args.input.view);
        (Some(index), Some(SessionComposition::new(&session, &runtime)))
    } else {
        (None, None)
    };
    let listed = |(number, source): (usize, &'_ LoadedSession)| {
        let known = composition.as_ref().filter(|_| index == Some(number)).map(SessionComposition::sizes);
        known.unwrap_or_else(|| Sizes::new(&input::select_view(&source.session, args.input.view), &runtime))
    };
    let sizes: Vec<Sizes> = loaded.sessions.iter().enumerate().map(listed).collect();
    let inspected = InspectOutput {
        format: loaded.format.as_str(),
        bytes: loaded.bytes.len(),
        sessions: loaded
            .sessions
            .iter()
            .zip(sizes)
            .map(|(source, sizes)| ListedSession { id: &source.name, sizes })
            .collect(),
        session: composition,
    };
    if args.json {
        terminal::print_json(&inspected)?;
    } else {
        let name = paths::display_name(&args.input.file);
        let text = match &inspected.session {
            Some(composition) => page(&name, &inspected, composition, width()),
            None => overview(&name, &inspected, width()),
        };
        terminal::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}
