//! A fitter's memory as bytes, for hosts that end and start again.

use std::sync::Arc;

use epitome::engine::{Budget, Floor};
use epitome::formats::Wire;
use epitome::session::Message;
use epitome::strategy::ArchivedContent;
use epitome::{Engine, Runtime};
use serde::{Deserialize, Serialize};

use crate::conversation::{Conversation, Decision, Digest, ReportedShares};
use crate::fitter::lock;
use crate::{FitOptions, Fitter, StateError};

/// The first bytes of every state.
const MAGIC: &[u8] = b"epitome-fit";

/// The form of the content. It changes with every change that an older version would misread.
const VERSION: u8 = 2;

/// Bytes of the checksum.
const CHECKSUM: usize = 32;

/// All that is remembered. What is known of single messages is not: it is read again.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    format: String,
    counter: String,
    secret: [u8; 32],
    conversations: Vec<ConversationState>,
    archive: Vec<(Arc<str>, ArchiveState)>,
}

/// The remembered part of a conversation.
#[derive(Debug, Serialize, Deserialize)]
struct ConversationState {
    end: Digest,
    decisions: Vec<Decision>,
    reported: ReportedShares,
    learned: Option<(Option<String>, Budget)>,
    failed_at: Option<u32>,
    floor: Option<Floor>,
}

/// Something that left the context.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ArchiveState {
    Text(Arc<str>),
    Messages(Vec<Arc<Message>>),
}

impl Fitter {
    /// The memory as bytes. They contain removed text and [`FitOptions::secret`]: protect them like the lists
    /// themselves. Linear in what is remembered.
    ///
    /// # Errors
    ///
    /// [`StateError::Content`], where it cannot be written: a fault of ours.
    pub fn state(&self) -> Result<Vec<u8>, StateError> {
        let conversations = self.memory.all().into_iter().map(|(shared, end)| {
            let known = lock(&shared);
            ConversationState {
                end,
                decisions: known.decisions.to_vec(),
                reported: known.reported.clone(),
                learned: known.learned.clone(),
                failed_at: known.failed_at,
                floor: known.floor.as_deref().cloned(),
            }
        });
        let archive = self.archive.all(&self.owner).into_iter().map(|(handle, item)| {
            let item = match item {
                ArchivedContent::Text(text) => ArchiveState::Text(text),
                ArchivedContent::Messages(messages) => ArchiveState::Messages(messages),
            };
            (handle, item)
        });
        let state = State {
            format: self.profile().as_str().to_owned(),
            counter: self.runtime.counter.name().to_owned(),
            secret: self.options.secret,
            conversations: conversations.collect(),
            archive: archive.collect(),
        };
        let content = serde_json::to_vec(&state).map_err(|error| StateError::Content(error.to_string()))?;
        Ok([MAGIC, &[VERSION], checksum(&content).as_slice(), &content].concat())
    }

    /// The fitter whose [`state`](Self::state) these bytes are: it makes the decisions that the other made, and new ones as
    /// `runtime` and `options` say. The secret is that of the state, and so is the form of its lists without `profile`.
    ///
    /// # Errors
    ///
    /// The bytes are not a state, are damaged, or come from another version; or the state has another token counter, so that
    /// its decisions would mean something else.
    pub fn from_state(
        bytes: &[u8],
        runtime: &Runtime,
        profile: Option<Wire>,
        options: FitOptions,
    ) -> Result<Self, StateError> {
        Self::from_state_with_engine(bytes, epitome::engine_of(runtime), runtime, profile, options)
    }

    /// The same with an engine of the host's making, as [`with_engine`](Self::with_engine) takes one.
    ///
    /// # Errors
    ///
    /// Those of [`from_state`](Self::from_state).
    pub fn from_state_with_engine(
        bytes: &[u8],
        engine: Engine,
        runtime: &Runtime,
        profile: Option<Wire>,
        mut options: FitOptions,
    ) -> Result<Self, StateError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(StateError::NotAState)?;
        let (found, rest) = rest.split_first().ok_or(StateError::NotAState)?;
        if *found != VERSION {
            return Err(StateError::Version { found: *found, expected: VERSION });
        }
        let damaged = StateError::Damaged { bytes: bytes.len() };
        let (sum, content) = rest.split_at_checked(CHECKSUM).ok_or_else(|| damaged.clone())?;
        if sum != checksum(content) {
            return Err(damaged);
        }
        let state: State = serde_json::from_slice(content).map_err(|error| StateError::Content(error.to_string()))?;
        let expected = runtime.counter.name();
        if state.counter != expected {
            return Err(StateError::Counter { found: state.counter, expected: expected.to_owned() });
        }
        let profile = match profile {
            Some(profile) => profile,
            None => profile_named(&state.format)?,
        };
        options.secret = state.secret;
        let fitter = Self::with_engine(engine, runtime, profile, options);
        for kept in state.conversations {
            let conversation = Conversation {
                decisions: Arc::new(kept.decisions),
                reported: kept.reported,
                learned: kept.learned,
                failed_at: kept.failed_at,
                floor: kept.floor.map(Arc::new),
                ..Conversation::default()
            };
            fitter.memory.keep_branch(conversation, kept.end);
        }
        let items = state.archive.into_iter().map(|(handle, item)| {
            let item = match item {
                ArchiveState::Text(text) => ArchivedContent::Text(text),
                ArchiveState::Messages(messages) => ArchivedContent::Messages(messages),
            };
            (handle, item)
        });
        fitter.archive.keep(&fitter.owner, items);
        Ok(fitter)
    }
}

fn profile_named(name: &str) -> Result<Wire, StateError> {
    let found = Wire::ALL.into_iter().find(|wire| wire.as_str() == name);
    found.ok_or_else(|| StateError::Content(format!("`{name}` is not a form of messages")))
}

fn checksum(content: &[u8]) -> [u8; CHECKSUM] {
    *blake3::hash(content).as_bytes()
}
