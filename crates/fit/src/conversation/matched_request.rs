//! A request as it came, with the places that it has in its conversation.

mod raw;

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use epitome::Budget;
use epitome::formats::{LoadedFile, ReadOptions, read, request_limits};
use epitome::session::RequestSize;
use epitome::strategy::HostChanges;
use epitome::strategy::state::Boundary;
use epitome::wire::Wire;

use super::chain::{Digest, MessageKey};
use super::items::{self, Item};

pub use raw::RawRequest;

/// A request with the known facts of each of its messages.
#[derive(Debug)]
pub struct MatchedRequest {
    /// Whose conversation it is of.
    pub owner: Arc<str>,
    /// The interface that it is for.
    pub wire: Wire,
    /// The body's bytes.
    pub body: Bytes,
    /// The byte ranges of the messages in the body.
    pub list: Vec<Range<usize>>,
    /// The key of each message's bytes.
    pub(super) keys: Vec<MessageKey>,
    /// The system prompt, where it is beside the messages, and then the messages.
    items: Vec<Item>,
    /// The hash of the conversation in front of each of its places, and behind the last.
    pub chain: Vec<Digest>,
    /// The model that is asked for.
    pub model: Option<String>,
    /// Tokens that the client leaves for the answer.
    pub answer_tokens: u32,
    /// Tokens of the definitions of tools.
    pub tool_tokens: u32,
    /// Tokens of what is sent with the request and is not in its body. The host sets it.
    pub hidden_tokens: u32,
    /// Whether the model may call a tool that is added to the request.
    pub takes_tools: bool,
    /// The budget, where the provider taught us no other; the tool definitions and what is hidden
    /// are not counted in yet. The host sets it.
    pub budget: Budget,
    /// Whether the texts of the conversation's compactions name handles for a tool that this request cannot have. The
    /// host sets it.
    pub hides_handles: bool,
    /// The changes that the client can make to its list. The host sets it.
    pub host: HostChanges,
    /// Whether the conversation ends here, so that no room is made for more of it. The host sets it.
    pub is_last: bool,
    /// The number of new messages: these were read and counted, all others were known.
    pub read: usize,
}

impl MatchedRequest {
    /// The messages, without a system prompt beside them.
    pub fn messages(&self) -> &[Item] {
        &self.items[self.items.len() - self.list.len()..]
    }

    /// Whether there is a system prompt beside the messages.
    pub(crate) fn has_system_beside(&self) -> bool {
        self.items.len() > self.list.len()
    }

    /// The known facts of the messages behind a place of the conversation.
    pub(super) fn behind(&self, place: usize) -> &[Item] {
        self.items.get(place..).unwrap_or_default()
    }

    /// Whether it is over a limit of the provider's beside tokens as it came. Linear in the messages.
    pub(super) fn is_over_limits(&self) -> bool {
        let mut load = RequestSize { bytes: self.body.len(), ..RequestSize::default() };
        for item in &self.items {
            load.images += item.load.images;
            load.large += item.load.large;
        }
        load.exceeded_limit(&request_limits(self.wire, self.model.as_deref())).is_some()
    }

    /// Tokens behind a place of the conversation.
    pub(super) fn tokens_behind(&self, place: usize) -> u32 {
        items::tokens(self.wire, self.behind(place))
    }

    /// Tokens of all messages as they came, without the definitions of tools.
    pub fn tokens(&self) -> u32 {
        self.tokens_behind(0)
    }

    /// Tokens of the system prompt at the beginning.
    pub(super) fn head_tokens(&self) -> u32 {
        self.items.iter().take_while(|item| item.is_system).map(|item| item.tokens).sum()
    }

    /// The hash of all of the conversation.
    pub fn end(&self) -> Digest {
        self.chain.last().copied().unwrap_or_default()
    }

    /// The number of the conversation's places.
    pub fn end_place(&self) -> usize {
        self.items.len()
    }

    /// The messages of the model's newest loop of tools, the newest first.
    pub(super) fn newest_loop(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().rev().take_while(|item| !item.is_user)
    }

    /// Whether its newest messages end a piece of work; also where they cannot be read without the others. Linear in the
    /// newest answer and what came behind it.
    pub(super) fn is_at_boundary(&self) -> bool {
        let items = self.messages();
        let behind = items.iter().rev().take_while(|item| !item.is_model).count();
        let answer = items.iter().rev().skip(behind).take_while(|item| item.is_model).count();
        let texts = self.list[items.len() - behind - answer..].iter().map(|at| str::from_utf8(&self.body[at.clone()]));
        let Ok(texts) = texts.collect::<Result<Vec<&str>, _>>() else { return true };
        let request = format!(r#"{{"{}":[{}]}}"#, self.wire.list_field(), texts.join(","));
        let options = ReadOptions { format: Some(self.wire.into()), ..ReadOptions::default() };
        read(request.into_bytes(), options).map_or(true, |loaded| {
            loaded.sessions.iter().all(|one| Boundary::newest(one.session.log().iter().map(|it| &**it)).is_some())
        })
    }

    /// Reads the whole request. An error is a code: why it is not one that can be fitted.
    pub fn load(&self) -> Result<LoadedFile, &'static str> {
        let options = ReadOptions { format: Some(self.wire.into()), strict: true, ..ReadOptions::default() };
        let loaded = read(self.body.to_vec(), options).map_err(|_| "not-understood")?;
        // A request that brings compactions of its own is the client's to manage.
        let is_plain = loaded.sessions.len() == 1 && loaded.sessions[0].session.journal().is_empty() && !loaded.gzip;
        if is_plain { Ok(loaded) } else { Err("not-understood") }
    }
}
