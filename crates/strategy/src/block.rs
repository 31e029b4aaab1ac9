//! Blocks of a view by their positions, and their tokens.

use serde::{Deserialize, Serialize};

use crate::services::Tokens;

/// A block of a view, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockRef {
    /// Position of the message in the view.
    pub message: u32,
    /// Position of the block in the message.
    pub block: u32,
}

/// The tokens of one entry of a view.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EntryTokens {
    /// Of the whole message: its blocks and the constant per message.
    pub total: Tokens,
    /// Of each block.
    pub blocks: Vec<Tokens>,
}
