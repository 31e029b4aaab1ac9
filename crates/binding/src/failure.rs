//! What can go wrong in a call.

use std::fmt;

use epitome::brief::BriefError;
use epitome::config::ConfigErrors;
use epitome::engine::{EngineError, Floor};
use epitome::formats::{ReadError, Wire, WriteError};
use epitome::live::LiveError;
use epitome::store::StoreError;
use epitome::{Report, Status};
use epitome_fit::{FitError, StateError};

/// The reason why a call failed. Each kind is a class of errors in the packages.
#[derive(Debug)]
pub enum Failure {
    /// The configuration or an option of the call is wrong.
    Config {
        /// Every problem.
        problems: Vec<String>,
    },
    /// What was given cannot be read, or not be written as it was asked for.
    Format(String),
    /// What must stay is larger than the budget.
    Infeasible {
        /// Tokens that the messages may take.
        budget: u32,
        /// What must stay.
        floor: Box<Floor>,
        /// All that there is to say of the attempt.
        report: Box<Report>,
    },
    /// Somebody else has changed the session in its store.
    Conflict(String),
    /// The store has no such thing.
    NotFound(String),
    /// Anything else, with what to do.
    Other(String),
}

impl Failure {
    /// A failure that is none of the other kinds.
    pub fn other(error: impl ToString) -> Self {
        Self::Other(error.to_string())
    }

    /// One problem of the configuration or of an option.
    pub fn config(problem: impl Into<String>) -> Self {
        Self::Config { problems: vec![problem.into()] }
    }

    /// The failure that a report tells of: what must stay is too much. `None` where it tells of none.
    pub fn of_report(report: &Report) -> Option<Self> {
        let floor = report.floor.clone().filter(|_| report.status == Status::Infeasible)?;
        Some(Self::Infeasible { budget: report.budget, floor: Box::new(floor), report: Box::new(report.clone()) })
    }

    /// The failure of fitting a list in the form of `profile`.
    pub fn of_fit(error: FitError, profile: Wire) -> Self {
        Self::Format(match error {
            FitError::Message { index, problem } => wrong_message(index, &problem, profile.as_str()),
            error => error.to_string(),
        })
    }
}

/// What to say of a message that is not one.
fn wrong_message(index: usize, problem: &impl fmt::Display, format: &str) -> String {
    format!("messages[{index}]: {problem} (read as {format}; `format` names another one)")
}

/// The parts of a floor with their tokens: the least, and as they are.
pub(crate) fn parts_of(floor: &Floor) -> String {
    let parts: Vec<String> = floor.parts.iter().map(ToString::to_string).collect();
    parts.join(" + ")
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config { problems } => formatter.write_str(&problems.join("\n")),
            Self::Format(message) | Self::Conflict(message) | Self::NotFound(message) | Self::Other(message) => {
                formatter.write_str(message)
            }
            Self::Infeasible { budget, floor, .. } => write!(
                formatter,
                "the messages cannot fit {budget} tokens: what must stay takes at least {} ({}); give a larger budget, or shorten these \
                 parts",
                floor.tokens,
                parts_of(floor)
            ),
        }
    }
}

impl std::error::Error for Failure {}

impl From<ConfigErrors> for Failure {
    fn from(errors: ConfigErrors) -> Self {
        Self::Config { problems: errors.problems().iter().map(ToString::to_string).collect() }
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Format(match error {
            ReadError::Message { index, format, problem } => wrong_message(index, &problem, format),
            ReadError::Unrecognised { .. } => format!("{error}; `format` names the format where it is a session"),
            error => error.to_string(),
        })
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::Format(error.to_string())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::ByHand(error) => Self::config(format!("`keep`, `drop`: {error}")),
            error => Self::other(error),
        }
    }
}

impl From<BriefError> for Failure {
    fn from(error: BriefError) -> Self {
        match error {
            BriefError::Infeasible(report) => {
                Self::of_report(&report).unwrap_or_else(|| Self::other(BriefError::Infeasible(report)))
            }
            BriefError::Engine(error) => error.into(),
            error => Self::other(error),
        }
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::other(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict { session, expected, actual } => Self::Conflict(format!(
                "somebody else has changed session `{session}` (it is at version {actual}, not {expected}): nothing of this \
                 call was stored, and the next call works on the session as it is now"
            )),
            StoreError::NotFound { .. } => Self::NotFound(error.to_string()),
            error => Self::other(with_causes(&error)),
        }
    }
}

/// An error with its causes: those of a store say where it failed, and leave why to the cause. Some repeat theirs.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source()).map(ToString::to_string);
    causes.fold(error.to_string(), |told, cause| if told.contains(&cause) { told } else { format!("{told}: {cause}") })
}

impl From<LiveError> for Failure {
    fn from(error: LiveError) -> Self {
        match error {
            LiveError::Infeasible { limit, floor, report } => Self::Infeasible { budget: limit, floor, report },
            LiveError::Store(error) => error.into(),
            LiveError::Engine(error) => error.into(),
            error => Self::other(error),
        }
    }
}
