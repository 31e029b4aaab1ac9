//! A request as it came, with the places that it has in its conversation.

use std::ops::Range;
use std::sync::Arc;

use axum::body::Bytes;
use epitome::engine::Budget;
use epitome::formats::{Format, Loaded, ReadOptions, read};

use super::chain::{Digest, Hashes};
use super::items::{self, Item, Key, Reader};
use super::memory::Conversation;
use super::outline::Outline;
use crate::http::parts;
use crate::proxy::Proxy;

/// A request that was looked at from outside. What is new in it has not been read yet.
#[derive(Debug)]
pub(crate) struct Sighted {
    tenant: Arc<str>,
    format: Format,
    seed: Digest,
    body: Bytes,
    outline: Outline,
    list: Vec<Range<usize>>,
    /// Of the system prompt, where it stands beside the messages, and of each message.
    keys: Vec<Key>,
    known: Vec<Option<Item>>,
    tools: Option<(Key, Option<Item>)>,
}

/// A request with what is known of each of its messages.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(super) tenant: Arc<str>,
    pub(super) format: Format,
    pub(super) body: Bytes,
    /// Where the messages stand in the body.
    pub(super) list: Vec<Range<usize>>,
    /// What the bytes of each message are known by.
    pub(super) keys: Vec<Key>,
    /// The system prompt, where it stands beside the messages, and the messages.
    items: Vec<Item>,
    /// The hash of the conversation in front of each of [`items`](Self::items), and behind the last.
    pub(crate) chain: Vec<Digest>,
    pub(super) model: Option<String>,
    answer_tokens: u32,
    /// Tokens of the definitions of tools.
    tool_tokens: u32,
    /// Whether the model may call a tool that is added to the request.
    pub(super) takes_tools: bool,
    /// Where the client's own conversation ends, in case there is more in this one: what its model looked up.
    pub(super) woven_at: Option<Digest>,
}

impl Sighted {
    /// Looks at a request: linear in its bytes, and quick. An error is a code: why it is none of the proxy's business.
    pub(crate) fn new(
        proxy: &Proxy,
        tenant: Arc<str>,
        format: Format,
        seed: Digest,
        body: Bytes,
    ) -> Result<Self, &'static str> {
        let mut outline = Outline::read(&body, format)?;
        let list = std::mem::take(&mut outline.items);
        if list.len() > proxy.core.settings.limits.parts {
            return Err("too-many-parts");
        }
        let key = |kind: &[u8], at: &Range<usize>| Hashes::key(&seed, kind, &body[at.clone()]);
        let system = outline.system.iter().map(|at| key(b"system", at));
        let keys: Vec<Key> = system.chain(list.iter().map(|at| key(b"message", at))).collect();
        let known = proxy.items.get(&keys);
        let tools = outline.tools.as_ref().map(|at| {
            let key = key(b"tools", at);
            (key, proxy.items.get(&[key]).pop().flatten())
        });
        Ok(Self { tenant, format, seed, body, outline, list, keys, known, tools })
    }

    /// Bytes of what has to be read and counted.
    pub(crate) fn new_bytes(&self) -> usize {
        let places = self.outline.system.iter().chain(&self.list).zip(&self.known);
        let messages: usize = places.filter(|(_, known)| known.is_none()).map(|(at, _)| at.len()).sum();
        let has_new_tools = self.tools.as_ref().is_some_and(|(_, known)| known.is_none());
        messages + self.outline.tools.as_ref().filter(|_| has_new_tools).map_or(0, Range::len)
    }

    /// Reads and counts what is new. An error is a code: why the request is none of the proxy's business.
    pub(crate) fn learn(self, proxy: &Proxy) -> Result<Incoming, &'static str> {
        let text = |at: &Range<usize>| std::str::from_utf8(&self.body[at.clone()]).map_err(|_| "not-understood");
        let engine = proxy.core.engine(self.format);
        let marker = &proxy.runtime.triggers.marker;
        let mut reader = None;
        let mut items = Vec::with_capacity(self.known.len());
        let mut learnt = Vec::new();
        let n_beside = usize::from(self.outline.system.is_some());
        let beside = if self.format == Format::Anthropic { "system" } else { "instructions" };
        let places = self.outline.system.iter().chain(&self.list).zip(&self.keys).zip(&self.known);
        let new = self.outline.system.iter().chain(&self.list).zip(&self.known).filter(|(_, known)| known.is_none());
        let mut new = new.map(|(at, _)| &self.body[at.clone()]);
        if new.any(|message| parts::are_too_many(message, proxy.core.settings.limits.parts)) {
            return Err("too-many-parts");
        }
        for (number, ((at, key), known)) in places.enumerate() {
            let item = match known {
                Some(item) => *item,
                None => {
                    let reader = reader.get_or_insert_with(|| Reader::new(self.format, &proxy.hashes, marker, &engine));
                    let field = if number < n_beside { beside } else { "" };
                    let item = Item::read(reader, field, text(at)?).ok_or("not-understood")?;
                    learnt.push((*key, item));
                    item
                }
            };
            items.push(item);
        }
        let tool_tokens = match (&self.tools, &self.outline.tools) {
            (Some((_, Some(known))), _) => known.tokens,
            (Some((key, None)), Some(at)) => {
                let tokens = engine.counter.count(text(at)?);
                learnt.push((*key, Item { tokens, ..Item::default() }));
                tokens
            }
            _ => 0,
        };
        proxy.items.put(learnt.into_iter());
        let chain = proxy.hashes.chain(self.seed, items.iter());
        let mut keys = self.keys;
        keys.drain(..n_beside);
        Ok(Incoming {
            tenant: self.tenant,
            format: self.format,
            body: self.body,
            list: self.list,
            keys,
            items,
            chain,
            model: self.outline.model,
            answer_tokens: self.outline.answer_tokens,
            tool_tokens,
            takes_tools: self.outline.takes_tools,
            woven_at: None,
        })
    }
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

    /// The budget for this request: what the provider taught us of the model, else what is known of it. The answer that
    /// the client asks for has to fit too.
    pub(super) fn budget(&self, proxy: &Proxy, conversation: &Conversation) -> Budget {
        let mut budget = match &conversation.learned {
            Some((model, learned)) if *model == self.model => learned.clone(),
            _ => {
                let mut budget = proxy.core.budget_of(self.model.as_deref());
                let wanted = self.answer_tokens.min(budget.window / 2);
                budget.reserve_output = budget.reserve_output.max(wanted);
                budget
            }
        };
        budget.tool_definitions = self.tool_tokens;
        budget
    }

    /// Reads the whole request. An error is a code: why it is none of the proxy's business.
    pub(super) fn load(&self) -> Result<Loaded, &'static str> {
        let options = ReadOptions { format: Some(self.format), strict: true, ..ReadOptions::default() };
        let loaded = read(self.body.to_vec(), options).map_err(|_| "not-understood")?;
        // A request that brings compactions of its own is the client's to manage.
        let is_plain = loaded.sessions.len() == 1 && loaded.sessions[0].session.journal().is_empty() && !loaded.gzip;
        if is_plain { Ok(loaded) } else { Err("not-understood") }
    }
}
