//! From a request's bytes to its places in the conversation: what is new in it is read, all else is known.

use std::ops::Range;
use std::sync::Arc;

use axum::body::Bytes;
use epitome::formats::Format;

use super::Incoming;
use crate::http::parts;
use crate::proxy::chain::{Digest, Hashes, MessageKey};
use crate::proxy::items::{Item, Reader};
use crate::proxy::outline::Outline;
use crate::proxy::state::Proxy;

/// A request that was looked at from outside. What is new in it has not been read yet.
#[derive(Debug)]
pub(crate) struct UnreadRequest {
    tenant: Arc<str>,
    format: Format,
    seed: Digest,
    body: Bytes,
    outline: Outline,
    list: Vec<Range<usize>>,
    /// Of the system prompt, where it stands beside the messages, and of each message.
    keys: Vec<MessageKey>,
    known: Vec<Option<Item>>,
    tools: Option<(MessageKey, Option<Item>)>,
}

impl UnreadRequest {
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
        let keys: Vec<MessageKey> = system.chain(list.iter().map(|at| key(b"message", at))).collect();
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
        let chain = proxy.hashes.chain(self.seed, items.iter().map(Item::place));
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
