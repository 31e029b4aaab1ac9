//! `epitome convert`: a session in another format.

use std::process::ExitCode;

use epitome::formats::write;

use crate::args::{ConvertArgs, ViewArg};
use crate::failure::Failure;
use crate::output::Target;
use crate::{Outcome, input, lines, output};

pub(crate) fn run(args: &ConvertArgs, quiet: bool) -> Outcome {
    let target = Target::new(args.output.as_deref(), Some(&args.input.file))?;
    let loaded = input::load(&args.input, quiet)?;
    let guarded = (!args.force).then_some(&*loaded.bytes);
    let mut bytes = Vec::new();
    if args.all {
        let format = lines::format(Some(args.to))?;
        for (index, source) in loaded.sessions.iter().enumerate() {
            let session = input::viewed(&source.session, args.input.view);
            lines::push(&mut bytes, &loaded, index, &session, format)?;
        }
    } else {
        let index = input::choose(&loaded, &args.input, ", or convert each with --all")?;
        let source = &loaded.sessions[index].session;
        bytes = match args.input.view {
            ViewArg::Compacted => write(&loaded, index, source, args.to),
            ViewArg::Full => write(&loaded, index, &source.without_journal(), args.to),
        }
        .map_err(Failure::other)?;
    }
    target.write(&bytes, guarded)?;
    if !quiet {
        output::wrote(&target, &format!("{} session", args.to));
    }
    Ok(ExitCode::SUCCESS)
}
