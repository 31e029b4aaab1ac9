//! `epitome count`: the tokens of a text or of a list of messages.

use std::process::ExitCode;
use std::sync::Arc;

use epitome::follow::read_session_file;
use epitome::formats::{ReadOptions, read};

use crate::args::CountArgs;
use crate::failure::{CommandResult, Failure};
use crate::paths::is_standard;
use crate::session::input;
use crate::{configuration, terminal};

pub(crate) fn run(args: &CountArgs) -> CommandResult {
    let registry = epitome::registry();
    let mut config = configuration::read(None, &registry)?;
    if let Some(name) = &args.counter {
        let set = config.set("counter.name", &name.as_str().into());
        set.map_err(|problem| Failure::usage_text(format!("--counter {problem}")))?;
    }
    let runtime = configuration::build_without_model(config, &registry)?;
    let bytes = input::bytes(&args.file)?;
    let loaded = match is_standard(&args.file) {
        true => read(bytes.clone(), ReadOptions::default()),
        false => read_session_file(&args.file, bytes.clone(), ReadOptions::default()),
    };
    let tokens = match loaded {
        Ok(loaded) => {
            let engine = runtime.engine(Arc::clone(&runtime.counter), None);
            loaded.sessions.iter().map(|session| engine.ledger(&session.session).total()).sum()
        }
        // What is no session in a known format is a text.
        Err(_) => runtime.counter.count(&String::from_utf8_lossy(&bytes)),
    };
    terminal::standard(format!("{tokens}\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
