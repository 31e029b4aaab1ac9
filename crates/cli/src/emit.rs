//! A session as bytes, in its format or another.

use epitome::Session;
use epitome::formats::{Format, LoadedFile, Source, Wire, carries_reasoning, render, write};

use crate::failure::Failure;
use crate::terminal::warn;

/// One session of `loaded`, after any further compactions, in the format `to`. Says what that format cannot hold.
pub(crate) fn write_session(
    loaded: &LoadedFile,
    index: usize,
    session: &Session,
    to: Format,
    quiet: bool,
) -> Result<Vec<u8>, Failure> {
    if !quiet {
        warn_of_losses(loaded, index, session, to);
    }
    match to.wire() {
        // As `write` would, but with the warnings.
        Some(profile) if to != loaded.format => Ok(rendered(loaded, index, session, profile, quiet).into_bytes()),
        Some(_) | None => write(loaded, index, session, to).map_err(Failure::other),
    }
}

/// Says what of a session has no place in the format `to`.
fn warn_of_losses(loaded: &LoadedFile, index: usize, session: &Session, to: Format) {
    if to == loaded.format {
        return;
    }
    let name = (loaded.sessions.len() > 1).then(|| loaded.sessions[index].name.as_str());
    let messages = || session.view().iter().map(|entry| &entry.message);
    let blocks = messages().flat_map(|message| &message.blocks);
    let reasoning = blocks.filter(|block| !carries_reasoning(Some(loaded.format), to, block)).count();
    if reasoning > 0 {
        warn(name, &format!("{reasoning} texts of reasoning have no place in {to} and were left out"));
    }
    let instructions = messages().filter(|message| message.is_system_prompt()).count();
    if instructions > 0 && matches!(to, Format::ClaudeCode | Format::Pi) {
        warn(name, &format!("the system prompt has no place in {to}, which brings its own, and was left out"));
    }
}

fn rendered(loaded: &LoadedFile, index: usize, session: &Session, profile: Wire, quiet: bool) -> String {
    let source = Source::new(loaded, index);
    let rendered = render(session.view(), profile, session.tools.as_deref(), source.as_ref());
    let name = (loaded.sessions.len() > 1).then(|| loaded.sessions[index].name.as_str());
    let mut warned: Vec<&str> = Vec::new();
    for warning in rendered.warnings.iter().map(String::as_str).filter(|_| !quiet) {
        if !warned.contains(&warning) {
            warn(name, warning);
            warned.push(warning);
        }
    }
    rendered.json
}
