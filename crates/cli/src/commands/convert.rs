//! `epitome convert`: a session in another format.

use std::process::ExitCode;

use crate::args::ConvertArgs;
use crate::output::Target;
use crate::render::text::plural;
use crate::{Outcome, emit, input, output};

pub(crate) fn run(args: &ConvertArgs, quiet: bool) -> Outcome {
    let target = Target::new(args.output.as_deref(), Some(&args.input.file))?;
    let loaded = input::load(&args.input, quiet)?;
    let guarded = (!args.force).then_some(&*loaded.bytes);
    let mut bytes = Vec::new();
    if args.all {
        let profile = emit::profile_of_lines(Some(args.to))?;
        for (index, source) in loaded.sessions.iter().enumerate() {
            let session = input::viewed(&source.session, args.input.view);
            emit::line(&mut bytes, &loaded, index, &session, profile, quiet)?;
        }
    } else {
        let index = input::choose(&loaded, &args.input, ", or convert each with --all")?;
        let session = input::viewed(&loaded.sessions[index].session, args.input.view);
        bytes = emit::one(&loaded, index, &session, args.to, quiet)?;
    }
    target.write(&bytes, guarded)?;
    if !quiet {
        let count = if args.all { loaded.sessions.len() } else { 1 };
        output::wrote(&target, &format!("{}, {},", plural(count, "session"), args.to));
    }
    Ok(ExitCode::SUCCESS)
}
