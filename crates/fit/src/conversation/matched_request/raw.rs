//! From a request's bytes to its places in the conversation: new messages are read, all others are known.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use epitome::formats::defined_tools;
use epitome::strategy::HostChanges;
use epitome::wire::{Outline, Wire};

use super::MatchedRequest;
use crate::conversation::chain::{Digest, Hashes, MessageKey};
use crate::conversation::decider::Decider;
use crate::conversation::items::{Item, Reader};

/// A request that was looked at from outside. What is new in it has not been read yet.
#[derive(Debug)]
pub struct RawRequest {
    owner: Arc<str>,
    wire: Wire,
    seed: Digest,
    body: Bytes,
    outline: Outline,
    list: Vec<Range<usize>>,
    /// The keys of the system prompt, where it is beside the messages, and of each message.
    keys: Vec<MessageKey>,
    known: Vec<Option<Item>>,
    tools: Option<(MessageKey, Option<Item>)>,
}

impl RawRequest {
    /// Looks at a request: linear in its bytes, and quick. An error is a code: why it is not one that can be fitted.
    pub fn new(
        decider: &Decider,
        owner: Arc<str>,
        wire: Wire,
        seed: Digest,
        body: Bytes,
    ) -> Result<Self, &'static str> {
        let outline = Outline::read(&body, wire)?;
        Ok(Self::at(decider, owner, wire, seed, body, outline))
    }

    /// The same where the outline is known.
    pub fn at(decider: &Decider, owner: Arc<str>, wire: Wire, seed: Digest, body: Bytes, mut outline: Outline) -> Self {
        let list = std::mem::take(&mut outline.items);
        let counter = decider.counter(wire, outline.model.as_deref());
        // What is known of a message are its tokens too, by the counter of its request's model.
        let key = |kind: &str, at: &Range<usize>| {
            Hashes::key(&seed, format!("{kind} {}", counter.name()).as_bytes(), &body[at.clone()])
        };
        let system = outline.system.iter().map(|at| key("system", at));
        let keys: Vec<MessageKey> = system.chain(list.iter().map(|at| key("message", at))).collect();
        let known = decider.items.get(&keys);
        let tools = outline.tools.as_ref().map(|at| {
            let key = key("tools", at);
            (key, decider.items.get(&[key]).pop().flatten())
        });
        Self { owner, wire, seed, body, outline, list, keys, known, tools }
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether the request has no message.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The numbers of the messages that have to be read.
    pub(crate) fn new_numbers(&self) -> impl Iterator<Item = usize> {
        let beside = usize::from(self.outline.system.is_some());
        let new = self.known.iter().skip(beside).enumerate().filter(|(_, known)| known.is_none());
        new.map(|(number, _)| number)
    }

    /// The bytes of each message that has to be read, the system prompt beside them included.
    pub fn new_messages(&self) -> impl Iterator<Item = &[u8]> {
        let places = self.outline.system.iter().chain(&self.list).zip(&self.known);
        places.filter(|(_, known)| known.is_none()).map(|(at, _)| &self.body[at.clone()])
    }

    /// Bytes of the messages that have to be read and counted.
    pub fn new_bytes(&self) -> usize {
        let messages: usize = self.new_messages().map(<[u8]>::len).sum();
        let has_new_tools = self.tools.as_ref().is_some_and(|(_, known)| known.is_none());
        messages + self.outline.tools.as_ref().filter(|_| has_new_tools).map_or(0, Range::len)
    }

    /// Reads and counts the new messages. An error is a code: the reason why the request cannot be fitted.
    pub fn learn(self, decider: &Decider) -> Result<MatchedRequest, &'static str> {
        let text = |at: &Range<usize>| std::str::from_utf8(&self.body[at.clone()]).map_err(|_| "not-understood");
        let mut engine = decider.engine(self.wire);
        engine.counter = decider.counter(self.wire, self.outline.model.as_deref());
        let marker = &decider.runtime().triggers.marker;
        let mut reader = None;
        let mut items = Vec::with_capacity(self.known.len());
        let (mut learnt, mut read) = (Vec::new(), 0);
        let n_beside = usize::from(self.outline.system.is_some());
        let beside = self.wire.system_field().unwrap_or_default();
        let places = self.outline.system.iter().chain(&self.list).zip(&self.keys).zip(&self.known);
        for (number, ((at, key), known)) in places.enumerate() {
            let item = match known {
                Some(item) => *item,
                None => {
                    let reader = reader.get_or_insert_with(|| Reader::new(self.wire, &decider.hashes, marker, &engine));
                    let field = if number < n_beside { beside } else { "" };
                    let item = Item::read(reader, field, text(at)?).ok_or("not-understood")?;
                    learnt.push((*key, item));
                    read += 1;
                    item
                }
            };
            items.push(item);
        }
        let tool_tokens = match (&self.tools, &self.outline.tools) {
            (Some((_, Some(known))), _) => known.tokens,
            (Some((key, None)), Some(at)) => {
                let tokens = defined_tools(text(at)?).map_or(0, |tools| engine.counter.count(tools));
                learnt.push((*key, Item { tokens, ..Item::default() }));
                tokens
            }
            _ => 0,
        };
        decider.items.put(learnt.into_iter());
        let chain = decider.hashes.chain(self.seed, items.iter().map(Item::place));
        let mut keys = self.keys;
        keys.drain(..n_beside);
        Ok(MatchedRequest {
            owner: self.owner,
            wire: self.wire,
            body: self.body,
            list: self.list,
            keys,
            items,
            chain,
            model: self.outline.model,
            answer_tokens: self.outline.answer_tokens,
            tool_tokens,
            hidden_tokens: 0,
            takes_tools: self.outline.takes_tools,
            budget: decider.runtime().budget.clone(),
            hides_handles: false,
            host: HostChanges::Any,
            is_last: false,
            read,
        })
    }
}
