//! A recipe turns a request into the one that is sent: it names the messages that are sent as they came, and holds the
//! texts that take the place of the others. It is made by comparing the two requests once, and used as long as the
//! conversation continues.
//!
//! An example, whose recipe covers four messages: a compaction put a summary in place of `m1` and `m2`
//! (pieces without bytes are left out).
//!
//! ```text
//! came    [m0, m1, m2, m3]            pieces     Came(0, 0)  Text(", summary, ")  Came(3, 3)
//! sent    [m0, summary, m3]           rewritten  the hash of m1 and m2
//! later   [m0, m1, m2, m3, m4, m5]
//! sent    [m0, summary, m3, m4, m5]   the pieces, then all bytes behind m3 as they came
//! ```
//!
//! The hash of the conversation ignores marks that clients move, so `m0` and `m3` may differ in these: they are copied
//! from the newer request. `m1` and `m2` have to be the same bytes, because the texts in their place were made from
//! them. The messages behind the recipe are copied only where they are whole steps (`checked` is the place up to which
//! that is known); otherwise the full way renders the request.

use std::collections::HashMap;
use std::mem::size_of;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use epitome::formats::validate;
use epitome::wire::Outline;

use super::chain::Digest;
use super::matched_request::MatchedRequest;

/// The way to make the beginning of a conversation's requests smaller.
#[derive(Debug)]
pub struct Recipe {
    /// The number of messages that it covers; all behind them are sent as they came.
    n_messages: usize,
    /// The place behind them, and the hash of the conversation there.
    pub(super) place: usize,
    digest: Digest,
    pieces: Vec<Piece>,
    /// The hash of the covered messages that are not sent byte for byte.
    rewritten: Digest,
    /// Tokens up to the place, without the system prompt at the beginning.
    tokens: u32,
    /// The place up to which the messages behind the recipe were checked, and the hash of the conversation there.
    checked: Mutex<(usize, Digest)>,
}

#[derive(Debug, Clone)]
enum Piece {
    /// A run of messages as they came, with the bytes between them: the numbers of the first and the last.
    Came(usize, usize),
    /// Other bytes.
    Text(Box<[u8]>),
}

impl Recipe {
    /// The recipe that turns `incoming` into `sent`, which has `tokens` tokens. `None` where no recipe gives these
    /// bytes, or where it is not certain that later messages can be sent as they come.
    pub(super) fn new(incoming: &MatchedRequest, sent: &[u8], tokens: u32) -> Option<Self> {
        // The next message of the model belongs to its last one, so that one is not complete yet.
        let messages = incoming.messages();
        let newest_step = messages.iter().rposition(|item| item.is_model).unwrap_or(messages.len().checked_sub(1)?);
        if messages.last()?.is_model || !is_whole(incoming, newest_step) {
            return None;
        }
        let (came, list) = (&incoming.body[..], &incoming.list[..]);
        let sent_list = Outline::read(sent, incoming.wire).ok()?.items;
        let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for (number, at) in list.iter().enumerate() {
            places.entry(&came[at.clone()]).or_default().push(number);
        }
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut next, mut at) = (0, opening(sent, &sent_list)?);
        for place in &sent_list {
            let Some(same) = places.get(&sent[place.clone()]) else { continue };
            let Some(number) = same.get(same.partition_point(|number| *number < next)).copied() else { continue };
            match pieces.last_mut() {
                Some(Piece::Came(_, last))
                    if *last + 1 == number && sent[at..place.start] == came[list[*last].end..list[number].start] =>
                {
                    *last = number;
                }
                _ => pieces.extend([Piece::Text(Box::from(&sent[at..place.start])), Piece::Came(number, number)]),
            }
            (next, at) = (number + 1, place.end);
        }
        let (place, digest) = (incoming.end_place(), incoming.end());
        let mut recipe = Self {
            n_messages: list.len(),
            place,
            digest,
            pieces,
            rewritten: Digest::default(),
            tokens: tokens.saturating_sub(incoming.head_tokens()),
            checked: Mutex::new((place, digest)),
        };
        recipe.rewritten = recipe.rewritten_of(incoming);
        // Comparing the whole result covers all else: the ends, the gaps, the fields beside the list.
        (recipe.write(incoming)? == sent).then_some(recipe)
    }

    /// The request that is sent for `incoming`, where this recipe applies to it. Linear in what is sent.
    pub(super) fn apply(&self, incoming: &MatchedRequest) -> Option<Bytes> {
        let is_here = |(place, digest): (usize, Digest)| incoming.chain.get(place) == Some(&digest);
        if !is_here((self.place, self.digest)) || self.rewritten_of(incoming) != self.rewritten {
            return None;
        }
        // A place is written whole.
        let mut known = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let checked = if is_here(*known) { known.0 } else { self.place };
        if checked < incoming.end_place() {
            let first = checked - (incoming.end_place() - incoming.list.len());
            let messages = incoming.messages();
            let is_of_model = |number: usize| messages.get(number).is_some_and(|item| item.is_model);
            // Neighbours of one side may be one message; what the model says in a row is one for Responses.
            let starts_well = !incoming.wire.merges_neighbours() || is_of_model(first);
            if !starts_well || is_of_model(messages.len() - 1) || !is_whole(incoming, first) {
                return None;
            }
            *known = (incoming.end_place(), incoming.end());
        }
        drop(known);
        self.write(incoming).map(Bytes::from)
    }

    /// Tokens of the request that is sent for `incoming`.
    pub(super) fn tokens(&self, incoming: &MatchedRequest) -> u32 {
        let rest = self.tokens.saturating_add(incoming.tokens_behind(self.place));
        rest.saturating_add(incoming.head_tokens())
    }

    /// Bytes that it takes, near enough.
    pub(super) fn bytes(&self) -> usize {
        let piece = |piece: &Piece| match piece {
            Piece::Came(..) => 0,
            Piece::Text(text) => text.len(),
        };
        size_of::<Self>() + self.pieces.iter().map(|it| piece(it) + size_of::<Piece>()).sum::<usize>()
    }

    fn write(&self, incoming: &MatchedRequest) -> Option<Vec<u8>> {
        let (body, list) = (&incoming.body[..], &incoming.list[..]);
        let mut made = Vec::with_capacity(body.len());
        made.extend_from_slice(&body[..opening(body, list)?]);
        for piece in &self.pieces {
            match piece {
                Piece::Came(first, last) => {
                    made.extend_from_slice(&body[list.get(*first)?.start..list.get(*last)?.end])
                }
                Piece::Text(text) => made.extend_from_slice(text),
            }
        }
        let last = list.get(self.n_messages.checked_sub(1)?)?;
        made.extend_from_slice(&body[last.end..]);
        Some(made)
    }

    fn rewritten_of(&self, incoming: &MatchedRequest) -> Digest {
        let mut hasher = blake3::Hasher::new();
        let mut next = 0;
        let came = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Came(first, last) => Some((*first, last + 1)),
            Piece::Text(_) => None,
        });
        for (first, behind) in came.chain([(self.n_messages, self.n_messages)]) {
            for key in incoming.keys.get(next..first).unwrap_or_default() {
                hasher.update(&key.to_le_bytes());
            }
            next = behind;
        }
        *hasher.finalize().as_bytes()
    }
}

/// The place behind the bracket that opens a list.
fn opening(body: &[u8], list: &[Range<usize>]) -> Option<usize> {
    let first = list.first()?.start;
    body[..first].iter().rposition(|byte| *byte == b'[').map(|at| at + 1)
}

/// Whether the messages from number `first` on are whole steps: each call with its results, nothing that a provider
/// refuses. What the full way would repair is left to it. Linear in these messages.
fn is_whole(incoming: &MatchedRequest, first: usize) -> bool {
    let (Some(from), Some(to)) = (incoming.list.get(first), incoming.list.last()) else { return false };
    let Ok(messages) = std::str::from_utf8(&incoming.body[from.start..to.end]) else { return false };
    // A possible next message of the model shows whether a call is open.
    let next = r#"{"type":"message","role":"assistant","content":"."}"#;
    // A user's message precedes all of them, so the first one may have any role.
    validate(&format!("[{messages},{next}]"), incoming.wire).iter().all(|broken| broken.rule == "first-user")
}
