//! Problems with a configuration: all of them, each with its place.

use std::fmt;
use std::sync::Arc;

use epitome_strategy::nearest;
use thiserror::Error;

/// A place in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileLocation {
    /// The file as it was named.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

impl fmt::Display for FileLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where, for a value that a file set.
    pub place: Option<FileLocation>,
    /// The problem.
    pub message: String,
    /// A correct value, or the next step.
    pub help: Option<String>,
}

impl Problem {
    pub(crate) fn new(place: Option<FileLocation>, message: impl Into<String>) -> Self {
        Self { place, message: message.into(), help: None }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(formatter, "{place}: ")?;
        }
        formatter.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(formatter, "; {help}"),
            None => Ok(()),
        }
    }
}

/// Every problem of a configuration, in the order of the file; at least one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ConfigErrors(Vec<Problem>);

impl ConfigErrors {
    /// `Err` where there are problems.
    pub(crate) fn check(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self::from_problems(problems)) }
    }

    /// These problems, of which there is at least one.
    pub(crate) fn from_problems(mut problems: Vec<Problem>) -> Self {
        problems.sort_by(|one, other| one.place.cmp(&other.place));
        Self(problems)
    }

    /// The problems, in the order of the file.
    pub fn problems(&self) -> &[Problem] {
        &self.0
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            problem.fmt(formatter)?;
        }
        Ok(())
    }
}

/// Returns the help for a name that is not known: the nearest one, else what `otherwise` says.
pub(crate) fn suggestion<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(name, known).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}
