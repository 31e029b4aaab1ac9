//! The remembered facts of each message: the hash of what it says, and its tokens. Each message is read and counted
//! once.

use std::mem::size_of;
use std::sync::{Mutex, MutexGuard, PoisonError};

use epitome::Engine;
use epitome::engine::{Ledger, MESSAGE_TOKENS};
use epitome::formats::{ReadOptions, read};
use epitome::session::{Content, Message, RequestSize, Role, Session};
use epitome::wire::Wire;

use epitome_shelf::Generations;

use super::chain::{Digest, Hashes, MessageKey};

/// A message of a request, or an item, as far as it matters for whether anything is to be done. Nothing of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Item {
    /// The hash of the content, without the marks that clients change from turn to turn.
    pub(super) content: Digest,
    /// What it is beside tokens, for the provider's limits.
    pub(super) load: RequestSize,
    /// Tokens of it as a message of its own.
    pub tokens: u32,
    /// The number of texts in the message.
    pub(super) texts: u32,
    /// It is of the system.
    pub is_system: bool,
    /// The model said it.
    pub is_model: bool,
    /// A result ends it: what the provider ran itself. What the model says next is another message.
    pub(super) is_answered: bool,
    /// A round begins with it.
    pub is_typed: bool,
    /// It is on the user's side, and no answer of a tool.
    pub is_user: bool,
    /// There is signed reasoning in it.
    pub is_signed: bool,
    /// The model asks for a compaction in it.
    pub(super) asks: bool,
}

impl Item {
    /// The message's part of a conversation's hash: its content, and whether it belongs to the system prompt.
    pub(super) fn place(&self) -> (&Digest, bool) {
        (&self.content, self.is_system)
    }

    /// Reads one message. `field` is its field in a request. `None` where it is not a message of its own.
    pub(super) fn read(reader: &Reader<'_>, field: &str, json: &str) -> Option<Self> {
        let list = reader.wire.list_field();
        let request = match field {
            "" => format!(r#"{{"{list}":[{json}]}}"#),
            field => format!(r#"{{"{field}":{json},"{list}":[]}}"#),
        };
        let options = ReadOptions { format: Some(reader.wire.into()), strict: true, ..ReadOptions::default() };
        let loaded = read(request.into_bytes(), options).ok().filter(|loaded| loaded.warnings.is_empty())?;
        let [session] = &loaded.sessions[..] else { return None };
        let messages = session.session.log();
        if messages.is_empty() || !session.session.journal().is_empty() {
            return None;
        }
        let all = |holds: fn(&Message) -> bool| messages.iter().all(|message| holds(message));
        let any = |holds: &dyn Fn(&Message) -> bool| messages.iter().any(|message| holds(message));
        let asks = |message: &Message| {
            let says = |content: &Content| matches!(content, Content::Text { text } if text.contains(reader.marker));
            message.role == Role::Assistant
                && !reader.marker.is_empty()
                && message.blocks.iter().any(|block| says(&block.content))
        };
        let is_text = |content: &Content| matches!(content, Content::Text { text } if !text.is_empty());
        let texts = messages.iter().flat_map(|message| &message.blocks).filter(|block| is_text(&block.content));
        Some(Self {
            content: reader.hashes.content(messages),
            load: session
                .session
                .limits
                .map(|it| RequestSize::of(messages.iter().map(AsRef::as_ref), &it))
                .unwrap_or_default(),
            tokens: messages.iter().map(|message| reader.ledger.measure(message).total).sum(),
            texts: texts.count() as u32,
            is_system: all(|message| message.role == Role::System),
            is_model: any(&|message| message.role == Role::Assistant),
            is_answered: messages.last().is_some_and(|message| message.role == Role::Tool),
            is_typed: any(&Message::is_typed),
            is_user: any(&|message| message.role == Role::User),
            is_signed: any(&Message::has_signed_thinking),
            asks: any(&asks),
        })
    }
}

/// Reads and counts messages.
pub(super) struct Reader<'a> {
    wire: Wire,
    hashes: &'a Hashes,
    marker: &'a str,
    ledger: Ledger,
}

impl<'a> Reader<'a> {
    pub(super) fn new(wire: Wire, hashes: &'a Hashes, marker: &'a str, engine: &Engine) -> Self {
        Self { wire, hashes, marker, ledger: engine.ledger(&Session::new()) }
    }
}

/// Tokens of messages in a row. What the model says in several items in a row may be one message.
pub(super) fn tokens(wire: Wire, items: &[Item]) -> u32 {
    let mut total = 0_u32;
    let mut texts = None;
    // What the model says without content costs nothing, and a message of nothing else has no frame.
    for item in items.iter().filter(|item| item.tokens > 0 || !item.is_model) {
        total = total.saturating_add(item.tokens);
        texts = match texts {
            Some(before) if item.is_model => {
                total -= MESSAGE_TOKENS;
                // Texts that are joined cost one token at each seam.
                total += u32::from(before > 0 && item.texts > 0);
                Some(before + item.texts)
            }
            _ => (item.is_model && wire.has_turns_of_items()).then_some(item.texts),
        };
        texts = texts.filter(|_| !item.is_answered);
    }
    total
}

/// The remembered facts of messages of all conversations, up to a bound. The least recently used half is forgotten at a
/// time, and read again when it comes back.
#[derive(Debug)]
pub(super) struct Items(Mutex<Generations<MessageKey, Item>>);

impl Items {
    pub(super) fn new(most_bytes: usize) -> Self {
        // In tables that are half empty after they have grown.
        Self(Mutex::new(Generations::new(most_bytes / (2 * size_of::<(MessageKey, Item)>()))))
    }

    /// The known facts of each message, in the order of the keys.
    pub(super) fn get(&self, keys: &[MessageKey]) -> Vec<Option<Item>> {
        let mut generations = self.lock();
        keys.iter().map(|key| generations.get(key)).collect()
    }

    pub(super) fn put(&self, items: impl Iterator<Item = (MessageKey, Item)>) {
        let mut generations = self.lock();
        items.for_each(|(key, item)| generations.put(key, item));
    }

    /// The number of remembered messages.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, Generations<MessageKey, Item>> {
        // The map is whole between any two statements that can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn item(tokens: u32) -> Item {
        Item { tokens, ..Item::default() }
    }

    #[test]
    fn what_is_not_used_is_forgotten() {
        let items = Items::new(20 * 2 * size_of::<(MessageKey, Item)>());
        for key in 0..1_000 {
            items.put([(key, item(key as u32))].into_iter());
            assert_eq!(items.get(&[0, key]), [Some(item(0)), Some(item(key as u32))], "what is used stays: {key}");
            assert!(items.len() <= 20, "{}", items.len());
        }
        assert_eq!(items.get(&[5]), [None]);
    }

    #[test]
    fn items_of_the_model_are_one_message() {
        let model = |tokens, texts| Item { is_model: true, tokens, texts, ..Item::default() };
        let check = |wire, items: &[Item], expect| assert_eq!(tokens(wire, items), expect, "{items:?}");
        let row = [item(10), model(20, 1), model(30, 0), model(40, 2), item(5), model(9, 1)];
        check(Wire::OpenaiChat, &row, 114);
        check(Wire::OpenaiResponses, &row, 114 - 2 * MESSAGE_TOKENS + 1);
        let empty = model(0, 0);
        check(Wire::OpenaiResponses, &[empty, model(20, 1), empty, empty, model(9, 1), empty], 30 - MESSAGE_TOKENS);
        check(Wire::OpenaiResponses, &[model(20, 1), item(0), model(9, 1)], 29);
        let answered = Item { is_answered: true, ..model(30, 0) };
        check(Wire::OpenaiResponses, &[model(20, 1), answered, model(9, 1)], 59 - MESSAGE_TOKENS);
    }
}
