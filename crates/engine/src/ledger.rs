//! Token counting: every block is counted once.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use epitome_session::{
    Arguments, Block, Content, Entry, EntryKey, Media, Message, Session, message_bytes, split_media,
};
use epitome_strategy::{Cancellation, EntryTokens, TokenCounter, Tokens};
use rayon::prelude::*;

/// Tokens that a provider spends on the frame of a message. Source: the seed designs' constant, which is also what
/// OpenAI's own counting recipes add at most.
pub const MESSAGE_TOKENS: Tokens = 4;

/// Texts of fewer bytes in all are counted on one thread, because starting others costs more than it saves.
const PARALLEL_FROM_BYTES: usize = 1 << 16;

/// Returns the tokens of a block as it is rendered: text, tool names, arguments and ids. Signatures are not text and
/// cost nothing here. Linear in the block.
pub fn count_block(counter: &dyn TokenCounter, block: &Block) -> Tokens {
    match &block.content {
        Content::Text { text } => counter.count(text),
        Content::Thinking(thinking) => counter.count(&thinking.text),
        Content::ToolCall(call) => {
            count_call_id(counter, &call.id) + counter.count(&call.name) + count_arguments(counter, &call.arguments)
        }
        Content::ToolResult(result) => {
            let name = result.name.as_deref().map_or(0, |name| counter.count(name));
            let attachments = count_media(counter, &result.attachments);
            name + count_call_id(counter, &result.call_id) + counter.count(&result.text) + attachments
        }
        Content::Media(media) => counter.media_tokens(media),
        Content::Opaque(opaque) => count_json(counter, &opaque.json),
        Content::Gone => 0,
    }
}

/// The tokens of an id that is written for a call that came without one: `call_123`.
const MADE_ID_TOKENS: Tokens = 4;

/// Returns the tokens of a call's id. One that is missing is made where the provider wants ids.
fn count_call_id(counter: &dyn TokenCounter, id: &str) -> Tokens {
    if id.is_empty() { MADE_ID_TOKENS } else { counter.count(id) }
}

/// Returns the tokens of media in all.
pub fn count_media(counter: &dyn TokenCounter, media: &[Media]) -> Tokens {
    media.iter().map(|media| counter.media_tokens(media)).fold(0, Tokens::saturating_add)
}

/// Returns the tokens of JSON of any form: its media as these, the rest as text. Linear.
fn count_json(counter: &dyn TokenCounter, json: &str) -> Tokens {
    let (text, media) = split_media(json);
    let media: Vec<Media> = media.into_iter().map(Media::of_text).collect();
    counter.count(&text).saturating_add(count_media(counter, &media))
}

/// Returns the tokens of a call's arguments. Text that is not JSON is counted as the JSON string that providers
/// receive: its escapes cost tokens, and the budget is about what is sent. Linear.
pub(crate) fn count_arguments(counter: &dyn TokenCounter, arguments: &Arguments) -> Tokens {
    match arguments {
        Arguments::Json(text) => counter.count(text),
        Arguments::Text(text) => counter.count(&serde_json::json!({ "input": text }).to_string()),
    }
}

/// Returns the tokens of a message and of each of its blocks; a message without content is not sent and costs nothing.
/// Linear in the message.
pub fn count_message(counter: &dyn TokenCounter, message: &Message) -> EntryTokens {
    let blocks: Vec<Tokens> = message.blocks.iter().map(|block| count_block(counter, block)).collect();
    let mut tokens = EntryTokens { total: 0, blocks };
    if is_sent(message) {
        tokens.total = frame_tokens(counter, message) + tokens.blocks.iter().sum::<Tokens>();
    }
    tokens
}

/// Whether a message is sent, and so costs its frame: white space is, to most providers.
pub(crate) fn is_sent(message: &Message) -> bool {
    message.blocks.iter().any(|block| has_content(block, str::is_empty))
}

/// Whether a message has no content but white space, which some providers refuse; never true of a system
/// prompt, which stays as it is.
pub(crate) fn is_blank(message: &Message) -> bool {
    !message.is_system_prompt() && !message.blocks.iter().any(|block| has_content(block, |text| text.trim().is_empty()))
}

/// Whether there is anything in a block, where `is_empty` tells which texts are nothing.
fn has_content(block: &Block, is_empty: impl Fn(&str) -> bool) -> bool {
    match &block.content {
        Content::Text { text } => !is_empty(text),
        Content::Gone => false,
        Content::Thinking(_)
        | Content::ToolCall(_)
        | Content::ToolResult(_)
        | Content::Media(_)
        | Content::Opaque(_) => true,
    }
}

/// Returns the tokens of a message beside its blocks: the frame, a participant's name, and one for each place where
/// texts are joined for a provider that takes one string.
fn frame_tokens(counter: &dyn TokenCounter, message: &Message) -> Tokens {
    let is_text = |block: &&Block| matches!(&block.content, Content::Text { text } if !text.is_empty());
    let texts = message.blocks.iter().filter(is_text).count();
    let name = message.name.as_deref().map_or(0, |name| counter.count(name));
    MESSAGE_TOKENS + name + (texts as Tokens).saturating_sub(1)
}

/// Which reasoning is sent. Reasoning that the target format has no place for costs nothing.
#[derive(Clone)]
pub struct ReasoningFilter(Arc<dyn Fn(&Block) -> bool + Send + Sync>);

impl ReasoningFilter {
    /// All reasoning.
    pub fn all() -> Self {
        Self::matching(|_| true)
    }

    /// The reasoning for which `sent` holds; it is called for blocks of reasoning only.
    pub fn matching(sent: impl Fn(&Block) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(sent))
    }
}

impl fmt::Debug for ReasoningFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Sent")
    }
}

/// The token counts of a session's view, kept from one compaction to the next, so that each block is counted once.
#[derive(Debug, Clone)]
pub struct Ledger {
    counter: Arc<dyn TokenCounter>,
    sent: ReasoningFilter,
    counts: HashMap<EntryKey, EntryTokens>,
    /// Entries of which an edited form is counted.
    edited: HashSet<EntryKey>,
    total: Tokens,
}

impl Ledger {
    /// Counts the view of `session` and returns the ledger. Linear in the view; large views are counted on all cores.
    pub fn new(counter: Arc<dyn TokenCounter>, sent: ReasoningFilter, session: &Session) -> Self {
        let mut ledger = Self { counter, sent, counts: HashMap::new(), edited: HashSet::new(), total: 0 };
        ledger.resync(session);
        ledger
    }

    /// Counts as [`new`](Self::new) does; `None` where the work is given up before its end.
    pub(crate) fn count_unless_cancelled(
        cancellation: &Cancellation,
        counter: Arc<dyn TokenCounter>,
        sent: ReasoningFilter,
        session: &Session,
    ) -> Option<Self> {
        let mut ledger = Self { counter, sent, counts: HashMap::new(), edited: HashSet::new(), total: 0 };
        ledger.count(session, cancellation);
        (!cancellation.is_requested()).then_some(ledger)
    }

    /// Returns the tokens of the whole view. Constant time.
    pub fn total(&self) -> Tokens {
        self.total
    }

    /// Returns the token counter.
    pub fn counter(&self) -> &Arc<dyn TokenCounter> {
        &self.counter
    }

    /// Returns the tokens of an entry of the view.
    pub fn entry(&self, key: EntryKey) -> Option<&EntryTokens> {
        self.counts.get(&key)
    }

    /// Returns the tokens of a message and of each of its blocks; reasoning that is not sent costs nothing. Linear in
    /// the message.
    pub fn measure(&self, message: &Message) -> EntryTokens {
        let mut tokens = count_message(&*self.counter, message);
        let is_held_back = |block: &Block| matches!(block.content, Content::Thinking(_)) && !(self.sent.0)(block);
        for (block, tokens_of_block) in message.blocks.iter().zip(&mut tokens.blocks) {
            if is_held_back(block) {
                tokens.total -= std::mem::take(tokens_of_block);
            }
        }
        // A message of such reasoning alone is not sent at all.
        if !message.blocks.iter().any(|block| has_content(block, str::is_empty) && !is_held_back(block)) {
            tokens.total = 0;
        }
        tokens
    }

    /// Counts the message that was just pushed to `session` under `key`. Linear in the message; for a late result,
    /// which changes the middle of the view, linear in the view.
    pub fn push(&mut self, session: &Session, key: EntryKey) {
        match session.view().last() {
            Some(entry) if entry.key == key && entry.is_in_place() => {
                let tokens = self.measure(&entry.message);
                self.total = self.total.saturating_add(tokens.total);
                self.counts.insert(key, tokens);
            }
            _ => self.resync(session),
        }
    }

    /// Recounts after the view changed by other means than the engine's: an undone epoch, a loaded journal, a late
    /// result. Counts the new entries and those that are or were edited. Linear in the view.
    pub fn resync(&mut self, session: &Session) {
        self.count(session, &Cancellation::never());
    }

    /// Messages that are reached after the work was given up are not counted.
    fn count(&mut self, session: &Session, cancellation: &Cancellation) {
        let stale: Vec<&Entry> = session
            .view()
            .iter()
            .filter(|entry| {
                entry.is_edited() || self.edited.contains(&entry.key) || !self.counts.contains_key(&entry.key)
            })
            .collect();
        let count = |entry: &&Entry| (!cancellation.is_requested()).then(|| (entry.key, self.measure(&entry.message)));
        let bytes: usize = stale.iter().map(|entry| message_bytes(&entry.message)).sum();
        let counted: Vec<(EntryKey, EntryTokens)> = if bytes < PARALLEL_FROM_BYTES {
            stale.iter().filter_map(count).collect()
        } else {
            stale.par_iter().filter_map(count).collect()
        };
        self.counts.extend(counted);
        self.edited = session.view().iter().filter(|entry| entry.is_edited()).map(|entry| entry.key).collect();
        self.total = self.counts_of(session.view()).map(|tokens| tokens.total).fold(0, Tokens::saturating_add);
    }

    /// Returns the counts of `entries`, in order. Entries that were never counted are left out.
    pub(crate) fn counts_of<'a>(&'a self, entries: &'a [Entry]) -> impl Iterator<Item = &'a EntryTokens> {
        entries.iter().filter_map(|entry| self.counts.get(&entry.key))
    }

    /// Takes over the counts of the entries that a compaction edited or added.
    pub(crate) fn adopt(&mut self, counts: Vec<(EntryKey, EntryTokens)>, total: Tokens) {
        self.edited.extend(counts.iter().map(|(key, _)| *key));
        self.counts.extend(counts);
        self.total = total;
    }
}

#[cfg(test)]
mod tests {
    use epitome_session::{Origin, Role, Thinking};

    use super::*;
    use crate::tests::Bytes;

    #[test]
    fn media_in_json_of_any_form_count_as_media() {
        let check = |json: &str, expect: Tokens| {
            let json = json.replace("LONG", &"R0lGODlhAwACAIAAAAAAAP///yH5".repeat(20));
            assert_eq!(count_json(&Bytes, &json), expect, "{json}");
        };
        check(r#"{"a":1}"#, 7);
        check(r#"{"a":["LONG"]}"#, 10 + 1);
        check(r#"{"a":["LONG",{"b":"LONG"}]}"#, 19 + 2);
        check(r#"{"text":"LONG"}"#, 11 + 28 * 20);
    }

    #[test]
    fn white_space_is_sent_and_says_nothing() {
        let check = |role: Role, blocks: Vec<Block>, expect: (bool, bool)| {
            let message = Message::new("", role, Origin::Model, blocks);
            assert_eq!((is_sent(&message), is_blank(&message)), expect, "{message:?}");
        };
        check(Role::Assistant, vec![], (false, true));
        check(Role::Assistant, vec![Block::text("")], (false, true));
        check(Role::Assistant, vec![Block::new(Content::Gone), Block::text(" \n")], (true, true));
        check(Role::Assistant, vec![Block::text(" \n"), Block::text("a")], (true, false));
        check(Role::System, vec![Block::text(" \n")], (true, false));
        check(Role::System, vec![], (false, false));
    }

    #[test]
    fn a_message_without_content_costs_nothing() {
        let check = |blocks: Vec<Block>, expect: Tokens| {
            let sent = ReasoningFilter::matching(|_| false);
            let ledger = Ledger::new(Arc::new(Bytes), sent, &Session::new());
            let mut message = Message::new("", Role::Assistant, Origin::Model, blocks);
            message.name = Some("ab".into());
            assert_eq!(ledger.measure(&message).total, expect, "{message:?}");
        };
        let thinking =
            || Block::new(Content::Thinking(Thinking { text: "hm".into(), signature: None, redacted: false }));
        check(vec![], 0);
        check(vec![Block::text("")], 0);
        check(vec![Block::new(Content::Gone), Block::text("")], 0);
        check(vec![thinking()], 0);
        check(vec![thinking(), Block::text("abc")], 3 + 2 + MESSAGE_TOKENS);
        check(vec![Block::text("abc"), Block::text("")], 3 + 2 + MESSAGE_TOKENS);
        check(vec![Block::text("abc"), Block::text("d")], 4 + 1 + 2 + MESSAGE_TOKENS);
    }
}
