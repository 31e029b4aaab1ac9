//! The result of fitting a list.

use std::borrow::Cow;
use std::sync::Arc;

use epitome::Report;
use epitome::engine::{Floor, Quality};
use epitome::formats::Wire;
use epitome::strategy::Tokens;
use serde::{Serialize, Serializer};

use crate::FitError;

/// The result of fitting a list: what to send, by the numbers of the messages that came.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Fitted {
    /// The outcome.
    pub status: FitStatus,
    /// The form that the list was read in.
    #[serde(skip)]
    pub profile: Wire,
    /// The messages to send, in their order.
    pub pieces: Vec<FitPiece>,
    /// The number of messages that came.
    pub messages: usize,
    /// A system prompt to send beside them, as JSON, where the list had none and needs one now.
    #[cfg_attr(feature = "schema", schema(required))]
    pub system: Option<String>,
    /// Tokens of the list as it came, with what an earlier compaction took out of it.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens_before: Tokens,
    /// Tokens of the messages to send, with a system prompt that was shown.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens_after: Tokens,
    /// Tokens that they may take: the window less the answer's reserve, the tools and what the host does not show.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub budget: Tokens,
    /// Compactions in force, those of earlier calls included.
    pub compactions: u32,
    /// Why a compaction that was due was not made, as a code: `infeasible`, `nothing-can-leave`, `tried-before`,
    /// `loop-goes-on` (the model is at work between calls of tools, with signed reasoning, and there is room left),
    /// `not-compacted`, `given-up`, `not-written`.
    #[cfg_attr(feature = "schema", schema(required))]
    pub detail: Option<&'static str>,
    /// The messages that must stay, with their parts, where these are more than the budget.
    #[cfg_attr(feature = "schema", schema(required))]
    pub floor: Option<Floor>,
    /// The strategies that changed something in this call.
    pub strategies: Vec<Arc<str>>,
    /// The removals of all calls so far, with their handles.
    pub removals: Vec<FitRemoval>,
    /// The number of new messages: these were read and counted, all others were known. A compaction reads the whole
    /// list besides.
    pub read: usize,
    /// What the newest compaction kept, also in calls that only repeat it; `None` where it was made by another process, or
    /// where none is in force.
    #[cfg_attr(feature = "schema", schema(required))]
    pub quality: Option<Quality>,
    /// What became of the compaction that the model asked for, in words for it; `None` where it asked for none.
    #[serde(skip)]
    pub asked: Option<String>,
    /// The engine's report of this call's compaction or attempt at one.
    #[serde(skip)]
    pub report: Option<Box<Report>>,
    /// For each id in the engine's report the number of the message in the list; none for a system prompt beside it.
    #[serde(skip)]
    pub ids: Vec<(Arc<str>, Option<usize>)>,
}

/// The outcome of fitting a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FitStatus {
    /// It fits, and nothing was changed.
    Unchanged,
    /// The list fits with the decisions of earlier calls.
    Replayed,
    /// It fits with a new compaction.
    Compacted,
    /// It does not fit: the messages to send are more than the budget. They are what earlier decisions make of the list.
    Infeasible,
}

/// A part of what to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = FitPieceReport))]
#[serde(rename_all = "kebab-case")]
pub enum FitPiece {
    /// Messages as they came.
    Keep {
        /// The number of the first.
        start: usize,
        /// The number behind the last.
        end: usize,
    },
    /// The message of this number, changed.
    Edit {
        /// The number of the message that came.
        index: usize,
        /// The message to send, as JSON.
        message: String,
        /// The texts that are other ones now, where nothing else is: a host may put them into its own object. `None` where
        /// parts came or left, or the arguments of a call that are an object left whole.
        #[cfg_attr(feature = "schema", schema(required))]
        texts: Option<Vec<TextChange>>,
    },
    /// A message that was not in the list.
    Insert {
        /// The message to send, as JSON.
        message: String,
        /// The code of the reason for it; `None` where the provider's rules ask for it.
        #[cfg_attr(feature = "schema", schema(required))]
        reason: Option<Arc<str>>,
        /// The numbers of the messages that this one replaces.
        replaces: Vec<usize>,
    },
}

/// A text within a message that is another one now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TextChange {
    /// The text's place in the message, as a JSON pointer: `/content`, `/content/0/text`,
    /// `/tool_calls/0/function/arguments`.
    pub pointer: String,
    /// The text that is there now.
    pub text: String,
}

/// Text that left the context under one handle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Removal))]
pub struct FitRemoval {
    /// The handle: [`Fitter::retrieve`](crate::Fitter::retrieve) gives the text back.
    pub handle: Arc<str>,
    /// The numbers of the messages that it is of.
    pub messages: Vec<usize>,
    /// Why it left, for a person.
    pub reason: String,
}

impl Fitted {
    /// Whether the list is to be sent as it came: no message replaced, changed or left out.
    pub fn is_unchanged(&self) -> bool {
        let is_all = match &self.pieces[..] {
            [] => self.messages == 0,
            [FitPiece::Keep { start, end }] => (*start, *end) == (0, self.messages),
            _ => false,
        };
        is_all && self.system.is_none()
    }

    /// The messages to send, each as JSON; `came` is the list that was given. Messages that were kept are borrowed from it.
    ///
    /// # Errors
    ///
    /// [`FitError::OtherList`], where `came` has another number of messages.
    pub fn to_messages<'a, M: AsRef<str>>(&'a self, came: &'a [M]) -> Result<Vec<Cow<'a, str>>, FitError> {
        let other = FitError::OtherList { expected: self.messages, found: came.len() };
        if came.len() != self.messages {
            return Err(other);
        }
        let mut messages = Vec::new();
        for piece in &self.pieces {
            match piece {
                FitPiece::Keep { start, end } => {
                    let kept = came.get(*start..*end).ok_or_else(|| other.clone())?;
                    messages.extend(kept.iter().map(|message| Cow::Borrowed(message.as_ref())));
                }
                FitPiece::Edit { message, .. } | FitPiece::Insert { message, .. } => {
                    messages.push(Cow::Borrowed(message.as_str()));
                }
            }
        }
        Ok(messages)
    }

    /// All that there is to say of the call, as one JSON object: the fields of this, `report` with the engine's report, and
    /// `ids` with the number of the message for each id in it.
    pub fn report_json(&self) -> String {
        let whole = FitReport { fitted: self, report: self.report.as_deref(), ids: Numbers(&self.ids) };
        // Every field is text, a number, a list or an object with texts as keys.
        serde_json::to_string(&whole).unwrap_or_default()
    }
}

/// All that there is to say of one call of `fit`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FitReport<'a> {
    #[serde(flatten)]
    fitted: &'a Fitted,
    /// The engine's report of the compaction that this call made, or tried.
    #[cfg_attr(feature = "schema", schema(required))]
    report: Option<&'a Report>,
    /// For each id in the engine's report the number of the message in the list; none for a system prompt beside it.
    #[cfg_attr(feature = "schema", schema(value_type = std::collections::BTreeMap<String, Option<usize>>))]
    ids: Numbers<'a>,
}

/// The numbers of messages by their ids.
#[derive(Debug)]
struct Numbers<'a>(&'a [(Arc<str>, Option<usize>)]);

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(id, number)| (id, number)))
    }
}
