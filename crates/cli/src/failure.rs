//! Errors of a command: the problem, its place, the next step, and the exit code.

use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use crate::render::style::{BAD, STRONG};
use crate::terminal::tell;

/// Exit code of bad usage and unreadable input.
const USAGE: u8 = 2;

/// Exit code of anything else.
const OTHER: u8 = 1;

/// The exit code of a session that cannot be made to fit.
pub(crate) const INFEASIBLE: u8 = 3;

/// The result of a subcommand.
pub(crate) type CommandResult = Result<ExitCode, Failure>;

/// A failure of the command.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: u8,
    error: anyhow::Error,
    help: Option<String>,
}

impl Failure {
    /// Bad usage or unreadable input.
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: USAGE, error: error.into(), help: None }
    }

    /// Bad usage or unreadable input, in words.
    pub(crate) fn usage_text(message: impl Into<String>) -> Self {
        Self::usage(anyhow::Error::msg(message.into()))
    }

    /// Anything that is not the caller's fault.
    pub(crate) fn other(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: OTHER, error: error.into(), help: None }
    }

    /// The same with another exit code.
    #[cfg(feature = "service")]
    pub(crate) fn with_exit_code(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }

    /// The failure of what follows after something lasting was done: that is said first, and the exit code is not that
    /// of an input which is wrong, because the next try would do it again.
    pub(crate) fn after(self, done: &'static str) -> Self {
        Self { exit: OTHER, error: self.error.context(done), ..self }
    }

    /// The same with the next step.
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The problem, and the next step where there is one: in words, for a caller that cannot see the printed failure.
    pub(crate) fn words(&self) -> (String, Option<&str>) {
        let mut message = String::new();
        for cause in self.error.chain().map(ToString::to_string) {
            // Some errors say what their cause says.
            if !message.ends_with(&cause) {
                message += if message.is_empty() { "" } else { ": " };
                message += &cause;
            }
        }
        (message, self.help.as_deref())
    }

    /// Prints the failure and gives its exit code. A closed pipe is not a failure: the reader has read enough.
    pub(crate) fn report(&self) -> ExitCode {
        if self.error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        let (message, help) = self.words();
        let mut text = format!("{BAD}error{BAD:#}: {message}\n");
        if let Some(help) = help {
            let _ = writeln!(text, "  {STRONG}help{STRONG:#}: {}", help.replace('\n', "\n        "));
        }
        tell(&text);
        ExitCode::from(self.exit)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::other(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::other(error)
    }
}
