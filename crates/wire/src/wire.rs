//! The interfaces by name.

use std::fmt::Debug;
use std::ops::Deref;

use crate::answer::Answers;
use crate::anthropic::Anthropic;
use crate::compaction::Compactions;
use crate::gemini::Gemini;
use crate::openai_chat::OpenaiChat;
use crate::openai_responses::OpenaiResponses;
use crate::request::Requests;
use crate::stream::Streams;

/// A provider's interface: the form of its requests and answers. What there is to ask of one is in [`Interface`], which
/// each has in a folder of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// OpenAI chat completions, and the many services that take the same.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic messages.
    Anthropic,
    /// Gemini contents.
    Gemini,
}

/// Everything that is asked of an interface.
pub trait Interface: Requests + Answers + Streams + Compactions + Debug + Sync {}

impl<I: Requests + Answers + Streams + Compactions + Debug + Sync> Interface for I {}

impl Wire {
    /// Every interface.
    pub const ALL: [Self; 4] = [Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic, Self::Gemini];

    /// Returns its name, as settings and commands have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
}

impl Deref for Wire {
    type Target = dyn Interface;

    fn deref(&self) -> &Self::Target {
        self.interface()
    }
}

impl Wire {
    /// Returns what answers for it: the one place where it matters which interface it is.
    pub fn interface(self) -> &'static dyn Interface {
        match self {
            Self::OpenaiChat => &OpenaiChat,
            Self::OpenaiResponses => &OpenaiResponses,
            Self::Anthropic => &Anthropic,
            Self::Gemini => &Gemini,
        }
    }
}
