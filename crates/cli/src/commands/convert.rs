//! `epitome convert`: a session in another format.

use std::process::ExitCode;

use crate::args::ConvertArgs;
use crate::emit;
use crate::failure::CommandResult;
use crate::output::{self, Target};
use crate::session::in_place::InPlaceOutcome;
use crate::session::input;
use crate::session::retry::{record_again, until_taken};

pub(crate) fn run(args: &ConvertArgs, quiet: bool) -> CommandResult {
    let target = Target::new(args.target.output.as_deref(), Some(&args.input.file))?;
    let mut again = false;
    let (index, taken) = until_taken(&args.input.file, || {
        // The warnings about the file were given when it was first read.
        let quiet = quiet || std::mem::replace(&mut again, true);
        let (bytes, original) = input::bytes_for(&args.input.file, &target)?;
        let loaded = input::load_bytes(bytes, &args.input, quiet)?;
        let index = input::choose(&loaded, &args.input)?;
        let session = input::select_view(&loaded.sessions[index].session, args.input.view);
        let bytes = emit::write_session(&loaded, index, &session, args.to, quiet)?;
        let taken = target.take(&bytes, &loaded.bytes, original.as_ref(), args.target.force)?;
        Ok((taken != InPlaceOutcome::Changed).then_some((index, taken)))
    })?;
    if taken == InPlaceOutcome::Behind {
        record_again(&args.input, &target, index)?;
    }
    if !quiet {
        output::wrote(&target, &format!("1 session, {},", args.to));
    }
    Ok(ExitCode::SUCCESS)
}
