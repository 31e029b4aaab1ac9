//! The lookups of each conversation, and their return into the client's later requests.
//!
//! The client never saw a lookup: its history has the question and then the final answer. The provider has to see it in
//! between, with the same bytes each time: otherwise the model would not know the reasons of its answer, and the prompt
//! cache would be cold from there on. So the proxy weaves lookups into the request before anything else: its other
//! parts recognise, count and compact them like all messages.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use epitome::wire::{HiddenCalls, RejoinedMessages};
use epitome_fit::conversation::Digest;
use epitome_shelf::WeighedLru;

use crate::proxy::incoming::Incoming;

/// The exchange between a client's request and the answer that it saw.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Exchange {
    /// The messages in front of the answer, as JSON.
    pub(super) steps: Vec<String>,
    /// The calls in the answer itself, beside the client's.
    pub(super) hidden: Option<HiddenCalls>,
}

impl Exchange {
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.hidden.is_none()
    }

    /// Bytes that it takes, near enough.
    fn bytes(&self) -> usize {
        let hidden_values = self.hidden.iter().flat_map(|hidden| hidden.calls.iter().chain(&hidden.results));
        let hidden_values: usize = hidden_values.map(|json| json.to_string().len() * 2).sum();
        self.steps.iter().map(String::len).sum::<usize>() + hidden_values + size_of::<Self>()
    }
}

/// The exchanges of all conversations, by the place at which each conversation was. What was used least recently is
/// forgotten first: later turns go on without it.
#[derive(Debug)]
pub(crate) struct Exchanges {
    most_bytes: usize,
    known: Mutex<WeighedLru<Digest, Exchange>>,
}

impl Exchanges {
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { most_bytes, known: Mutex::default() }
    }

    /// Keeps what happened behind the place `end` of a conversation.
    pub(super) fn keep(&self, end: Digest, exchange: Exchange) {
        let bytes = exchange.bytes();
        let mut known = self.lock();
        known.remove(&end);
        if bytes > self.most_bytes {
            return;
        }
        known.insert(end, exchange, bytes);
        while known.bytes() > self.most_bytes && known.pop().is_some() {}
    }

    /// A request with the exchanges of its conversation in it; `None` where there are none. Costs nothing where no
    /// exchange is kept; else a look at each place, and a copy of the request where it has exchanges.
    pub(crate) fn reinsert(&self, incoming: &Incoming) -> Option<Bytes> {
        let found = self.exchanges_in(incoming);
        if found.is_empty() { None } else { RequestWriter::body(incoming, &found) }
    }

    /// The exchanges of a conversation by the message that they precede: one of the model's.
    fn exchanges_in(&self, incoming: &Incoming) -> Vec<(usize, Exchange)> {
        let mut known = self.lock();
        if known.is_empty() {
            return Vec::new();
        }
        let messages = incoming.messages();
        let beside = incoming.end_place() - messages.len();
        let models = messages.iter().enumerate().filter(|(_, item)| item.is_model);
        let places: Vec<(usize, Digest)> =
            models.filter_map(|(number, _)| Some((number, *incoming.chain.get(beside + number)?))).collect();
        places.iter().filter_map(|(number, digest)| Some((*number, known.get(digest)?.clone()))).collect()
    }

    /// Bytes that the exchanges take, near enough.
    pub(crate) fn bytes(&self) -> usize {
        self.lock().bytes()
    }

    fn lock(&self) -> MutexGuard<'_, WeighedLru<Digest, Exchange>> {
        // The map is whole between any two statements that can panic.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in the making.
struct RequestWriter<'a> {
    incoming: &'a Incoming,
    text: Vec<u8>,
    /// Up to where the client's bytes have been taken over.
    taken: usize,
}

impl<'a> RequestWriter<'a> {
    fn body(incoming: &'a Incoming, found: &[(usize, Exchange)]) -> Option<Bytes> {
        let mut woven = Self { incoming, text: Vec::with_capacity(incoming.body.len() * 5 / 4), taken: 0 };
        for (number, exchange) in found {
            let at = incoming.list.get(*number)?;
            if at.start < woven.taken {
                continue; // a message that was woven into already
            }
            woven.take_up_to(at.start);
            for step in &exchange.steps {
                woven.put(step);
                woven.text.push(b',');
            }
            if let Some(hidden) = &exchange.hidden {
                // Where the client continues in another way, its own history is used.
                let _ = woven.rejoin(*number, hidden);
            }
        }
        woven.take_up_to(incoming.body.len());
        Some(Bytes::from(woven.text))
    }

    fn take_up_to(&mut self, place: usize) {
        self.text.extend_from_slice(&self.incoming.body[self.taken..place]);
        self.taken = place;
    }

    fn put(&mut self, json: &str) {
        self.text.extend_from_slice(json.as_bytes());
    }

    /// Puts calls and results beside the client's. `None`, and nothing done, where they have no place.
    fn rejoin(&mut self, number: usize, hidden: &HiddenCalls) -> Option<()> {
        let (incoming, wire) = (self.incoming, self.incoming.wire);
        let is_models = |number: usize| incoming.messages().get(number).is_none_or(|item| item.is_model);
        let behind = match wire.has_turns_of_items() {
            true => (number..incoming.list.len()).find(|number| !is_models(*number))?,
            false => number + 1,
        };
        let at = |number: usize| incoming.list.get(number).cloned();
        let json = |at: &Range<usize>| std::str::from_utf8(&incoming.body[at.clone()]).ok();
        let (last, next) = (at(behind.checked_sub(1)?)?, at(behind));
        let RejoinedMessages { said, between, next: changed } =
            wire.rejoined(hidden, json(&last)?, next.as_ref().and_then(json))?;
        if let Some(said) = said {
            self.take_up_to(last.start);
            self.put(&said.to_string());
            self.taken = last.end;
        }
        self.take_up_to(last.end);
        for item in between {
            self.text.push(b',');
            self.put(&item.to_string());
        }
        if let (Some(changed), Some(next)) = (changed, next) {
            self.take_up_to(next.start);
            self.put(&changed.to_string());
            self.taken = next.end;
        }
        Some(())
    }
}
