//! The changes that a host can make to its list of messages.

use serde::{Deserialize, Serialize};

/// The changes that a host can make to its list of messages. Hosts differ: some take any list, some can only write other
/// texts into the messages that they have, some can only cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HostChanges {
    /// Every change: messages leave, are edited, and are added.
    #[default]
    Any,
    /// Texts and arguments of messages shrink. The messages stay the same in number and order: none leaves, none is
    /// added.
    Texts,
    /// One cut and one text: a run of neighbours that begins with the first message which may leave is replaced by one
    /// message. No other message changes.
    Cut,
    /// Messages leave, and one message at most stands in place of some of them. No message is edited.
    Removals,
}

crate::named! { HostChanges { Any = "any", Texts = "texts", Cut = "cut", Removals = "removals" } }

impl HostChanges {
    /// Whether the host can write another text into a message that stays.
    pub fn takes_texts(self) -> bool {
        matches!(self, Self::Any | Self::Texts)
    }

    /// Whether one message at most may stand in place of others.
    pub fn takes_one_text(self) -> bool {
        matches!(self, Self::Cut | Self::Removals)
    }

    /// Returns the limits in words, as the second half of a sentence that begins with `the host`.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Any => "takes every change",
            Self::Texts => "takes other texts in its messages, and neither fewer messages nor more",
            Self::Cut => "takes one cut at the front with one text in its place",
            Self::Removals => "takes removals and one text, and no edited message",
        }
    }
}
