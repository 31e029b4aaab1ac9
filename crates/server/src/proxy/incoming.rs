//! A request as it came, with the places that it has in its conversation.

mod unread;

use std::ops::Range;
use std::sync::Arc;

use axum::body::Bytes;
use epitome::formats::{Format, LoadedFile, ReadOptions, read};

use super::chain::{Digest, MessageKey};
use super::items::{self, Item};

pub(super) use unread::UnreadRequest;

/// A request with what is known of each of its messages.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(super) tenant: Arc<str>,
    pub(super) format: Format,
    pub(super) body: Bytes,
    /// Where the messages stand in the body.
    pub(super) list: Vec<Range<usize>>,
    /// What the bytes of each message are known by.
    pub(super) keys: Vec<MessageKey>,
    /// The system prompt, where it stands beside the messages, and the messages.
    items: Vec<Item>,
    /// The hash of the conversation in front of each of [`items`](Self::items), and behind the last.
    pub(crate) chain: Vec<Digest>,
    pub(super) model: Option<String>,
    /// Tokens that the client leaves for the answer.
    pub(super) answer_tokens: u32,
    /// Tokens of the definitions of tools.
    pub(super) tool_tokens: u32,
    /// Whether the model may call a tool that is added to the request.
    pub(super) takes_tools: bool,
    /// Where the client's own conversation ends, in case there is more in this one: what its model looked up.
    pub(super) woven_at: Option<Digest>,
}

impl Incoming {
    /// The messages, without a system prompt that stands beside them.
    pub(super) fn messages(&self) -> &[Item] {
        &self.items[self.items.len() - self.list.len()..]
    }

    /// What is known of what stands behind a place of the conversation.
    pub(super) fn behind(&self, place: usize) -> &[Item] {
        self.items.get(place..).unwrap_or_default()
    }

    /// Tokens behind a place of the conversation.
    pub(super) fn tokens_behind(&self, place: usize) -> u32 {
        items::tokens(self.format, self.behind(place))
    }

    /// Tokens of the system prompt at the beginning.
    pub(super) fn head_tokens(&self) -> u32 {
        self.items.iter().take_while(|item| item.is_system).map(|item| item.tokens).sum()
    }

    /// The hash of all of the conversation.
    pub(super) fn end(&self) -> Digest {
        self.chain.last().copied().unwrap_or_default()
    }

    /// How many places the conversation has.
    pub(super) fn end_place(&self) -> usize {
        self.items.len()
    }

    /// The messages of the model's newest loop of tools, the newest first.
    pub(super) fn newest_loop(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().rev().take_while(|item| !item.is_user)
    }

    /// Reads the whole request. An error is a code: why it is none of the proxy's business.
    pub(super) fn load(&self) -> Result<LoadedFile, &'static str> {
        let options = ReadOptions { format: Some(self.format), strict: true, ..ReadOptions::default() };
        let loaded = read(self.body.to_vec(), options).map_err(|_| "not-understood")?;
        // A request that brings compactions of its own is the client's to manage.
        let is_plain = loaded.sessions.len() == 1 && loaded.sessions[0].session.journal().is_empty() && !loaded.gzip;
        if is_plain { Ok(loaded) } else { Err("not-understood") }
    }
}
