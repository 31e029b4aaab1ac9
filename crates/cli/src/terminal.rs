//! Output to the person who runs the command: results on standard output, everything else on standard error.

use std::io::{self, IsTerminal, Write};

use crate::render::style::WARN;

/// Writes bytes to standard output.
pub(crate) fn standard(bytes: &[u8]) -> io::Result<()> {
    write_all(io::stdout().lock(), bytes)
}

/// Writes styled text to standard output, plain where it is not a terminal.
pub(crate) fn print(text: &str) -> io::Result<()> {
    write_all(anstream::stdout().lock(), text.as_bytes())
}

fn write_all(mut out: impl Write, bytes: &[u8]) -> io::Result<()> {
    let written = out.write_all(bytes).and_then(|()| out.flush());
    // The kind stays, by which a pipe is known that its reader closed.
    written.map_err(|error| io::Error::new(error.kind(), format!("cannot write to standard output: {error}")))
}

/// Writes styled text to standard error, plain where it is not a terminal. A closed standard error is not a reason to stop.
pub(crate) fn tell(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Tells of something that did not stop the command.
pub(crate) fn note(message: &str) {
    tell(&format!("{WARN}warning{WARN:#}: {message}\n"));
}

/// Tells of something that did not stop the command, and of which session it is.
pub(crate) fn warn(session: Option<&str>, message: &str) {
    let session = session.map(|session| format!("session {session}: ")).unwrap_or_default();
    note(&format!("{session}{message}"));
}

/// Shows how far long work is, on a terminal only.
pub(crate) fn progress(done: usize, of: usize) {
    if io::stderr().is_terminal() {
        let rest = if done == of { "\r\u{1b}[K".to_owned() } else { format!("\r{done} of {of}") };
        tell(&rest);
    }
}
