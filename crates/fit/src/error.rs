//! Why a list could not be fitted.

use thiserror::Error;

/// The reason why a list could not be fitted. Nothing was changed or remembered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FitError {
    /// A message cannot be read.
    #[error("message {index} cannot be read: {problem}")]
    Message {
        /// The message's number in the list, from 0.
        index: usize,
        /// The problem, and where it is in the message.
        problem: String,
    },
    /// The system prompt cannot be read.
    #[error("the system prompt cannot be read: {0}; give it as the provider's requests have it, as JSON")]
    System(String),
    /// The definitions of tools cannot be read.
    #[error(
        "the definitions of tools cannot be read: {0}; give them as the provider's requests have them, as a JSON list"
    )]
    Tools(String),
    /// The messages can be read one by one, and not as a list.
    #[error("the messages cannot be read as a list of {format}: give a list that a provider of this format would take")]
    List {
        /// The format.
        format: &'static str,
    },
    /// A result was applied to another list than the one that was fitted.
    #[error("the result is of a list of {expected} messages, and this one has {found}: give the list that was fitted")]
    OtherList {
        /// The number of messages that the fitted list has.
        expected: usize,
        /// The number of messages that the given list has.
        found: usize,
    },
    /// The result cannot be expressed by the messages of the list.
    #[error(
        "the result cannot be told by the messages of the list: this is a fault of epitome; send the list as it is"
    )]
    Result,
}

/// The reason why a state could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes do not begin as those of a state do.
    #[error("these bytes are not the state of a fitter: give those that `state()` returned")]
    NotAState,
    /// It was written by another version.
    #[error("the state is of version {found}, and this version of epitome reads {expected}: begin without a state")]
    Version {
        /// The version of the state.
        found: u8,
        /// The version that can be read.
        expected: u8,
    },
    /// It was changed or cut.
    #[error(
        "the state is damaged: its checksum is not that of its {bytes} bytes; give those that `state()` returned, or begin without"
    )]
    Damaged {
        /// The size of the bytes given.
        bytes: usize,
    },
    /// It was made with another token counter: its decisions would mean something else.
    #[error(
        "the state was made for counter `{found}`, and this fitter is for `{expected}`: use the same, or begin without a state"
    )]
    Counter {
        /// The counter that the state was made with.
        found: String,
        /// The counter that this fitter has.
        expected: String,
    },
    /// The checksum is right, but the content is not one that this version writes.
    #[error("the state cannot be read: {0}; begin without a state")]
    Content(String),
}
