//! `epitome brief`: what matters of a session, as one text.

use std::process::ExitCode;

use epitome::brief::{BriefError, brief};

use crate::args::{BriefArgs, RecordedSessionArgs};
use crate::failure::{CommandResult, Failure, INFEASIBLE};
use crate::paths::reading_words;
use crate::session::recorded_session::RecordedSession;
use crate::{configuration, terminal};

pub(crate) fn run(args: &BriefArgs, quiet: bool) -> CommandResult {
    let registry = epitome::registry();
    let config = configuration::read(args.config.as_deref(), &registry)?;
    let runtime = configuration::build_without_model(config, &registry)?;
    let kept = RecordedSession::read(&args.kept, quiet)?;
    let told = brief(kept.session(), &runtime, args.tokens).map_err(failure_of)?;
    terminal::standard(format!("{}\n", told.text).as_bytes())?;
    if let Some(missing) = told.missing.filter(|_| !quiet) {
        let RecordedSessionArgs { file, from, session, .. } = &args.kept;
        let restore = reading_words(file, *from, session.as_deref());
        let restore = restore.map(|words| format!(", `epitome restore {words} --handle '#N'` writes one"));
        terminal::note(&format!("{missing}; --tokens makes room{}", restore.unwrap_or_default()));
    }
    Ok(ExitCode::SUCCESS)
}

fn failure_of(error: BriefError) -> Failure {
    match &error {
        BriefError::Infeasible(_) => Failure::usage(error).with_help(MORE_TOKENS).with_exit_code(INFEASIBLE),
        BriefError::LosesTooMuch => Failure::usage(error).with_help(MORE_TOKENS),
        BriefError::Stopped(_) => Failure::usage(error),
        BriefError::Engine(_) => Failure::other(error),
    }
}

const MORE_TOKENS: &str = "give it more with --tokens";
