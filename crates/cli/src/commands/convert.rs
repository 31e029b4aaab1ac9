//! `epitome convert`: a session in another format.

use std::process::ExitCode;

use epitome::formats::LoadedFile;

use crate::args::ConvertArgs;
use crate::emit;
use crate::failure::{CommandResult, Failure};
use crate::output::{self, Target};
use crate::render::text::plural;
use crate::session::in_place::InPlaceOutcome;
use crate::session::input;
use crate::session::retry::{record_again, until_taken};

pub(crate) fn run(args: &ConvertArgs, quiet: bool) -> CommandResult {
    let target = Target::new(args.target.output.as_deref(), Some(&args.input.file))?;
    let mut again = false;
    let (count, index, taken) = until_taken(&args.input.file, || {
        // The warnings about the file were given when it was first read.
        let quiet = quiet || std::mem::replace(&mut again, true);
        let (bytes, original) = input::bytes_for(&args.input.file, &target)?;
        let loaded = input::load_bytes(bytes, &args.input, quiet)?;
        let bytes = convert_session(&loaded, args, quiet)?;
        let taken = target.take(&bytes, &loaded.bytes, original.as_ref(), args.target.force)?;
        let count = if args.all { loaded.sessions.len() } else { 1 };
        let index = if args.all { 0 } else { input::choose(&loaded, &args.input, "")? };
        Ok((taken != InPlaceOutcome::Changed).then_some((count, index, taken)))
    })?;
    if taken == InPlaceOutcome::Behind {
        record_again(&args.input, &target, index)?;
    }
    if !quiet {
        output::wrote(&target, &format!("{}, {},", plural(count, "session"), args.to));
    }
    Ok(ExitCode::SUCCESS)
}

fn convert_session(loaded: &LoadedFile, args: &ConvertArgs, quiet: bool) -> Result<Vec<u8>, Failure> {
    if !args.all {
        let index = input::choose(loaded, &args.input, ", or convert each with --all")?;
        let session = input::select_view(&loaded.sessions[index].session, args.input.view);
        return emit::write_session(loaded, index, &session, args.to, quiet);
    }
    let profile = emit::profile_of_lines(Some(args.to))?;
    let mut lines = Vec::new();
    for (index, source) in loaded.sessions.iter().enumerate() {
        let session = input::select_view(&source.session, args.input.view);
        emit::line(&mut lines, loaded, index, &session, profile, quiet)?;
    }
    Ok(lines)
}
