//! `epitome brief`: what matters of a session, as one text.

use std::process::ExitCode;

use crate::args::{BriefArgs, RecordedSessionArgs};
use crate::failure::CommandResult;
use crate::paths::reading_words;
use crate::session::recorded_session::RecordedSession;
use crate::{brief, configuration, terminal};

pub(crate) fn run(args: &BriefArgs, quiet: bool) -> CommandResult {
    let registry = epitome::registry();
    let config = configuration::read(args.config.as_deref(), &registry)?;
    let runtime = configuration::build_without_model(config, &registry)?;
    let kept = RecordedSession::read(&args.kept, quiet)?;
    let summary = brief::brief(kept.session(), &runtime, args.tokens)?;
    terminal::standard(format!("{}\n", runtime.base_engine.redacted(&summary.text)).as_bytes())?;
    if let Some(missing) = summary.missing.filter(|_| !quiet) {
        let RecordedSessionArgs { file, from, session, .. } = &args.kept;
        let restore = reading_words(file, *from, session.as_deref());
        let restore = restore.map(|words| format!(", `epitome restore {words} --handle '#N'` writes one"));
        terminal::note(&format!("{missing}; --tokens makes room{}", restore.unwrap_or_default()));
    }
    Ok(ExitCode::SUCCESS)
}
