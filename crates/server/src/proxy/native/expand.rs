//! Requests with ordinary messages in place of our items.
//!
//! The newest item stands for everything in front of it. What a client leaves there all the same is left out where the
//! item covers it, and stays where it does not: instructions of today, a note about the place where it works. It stays
//! in front of the message that it was in front of.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use epitome::wire::{Object, Wire};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::covered::{CoveredMessages, MessageHash, message_hash};
use super::error::{Cause, NativeError};
use super::item::{CompactionItem, ItemProblem, MARK, Opener, text_hash};

/// A message, or an item, as JSON.
pub(super) type Message<'a> = Cow<'a, str>;

/// The messages of a request without items of ours.
#[derive(Debug)]
pub(super) struct ExpandedMessages<'a> {
    pub(super) messages: Vec<Message<'a>>,
    /// The client's own messages that were covered by an item: an item that is made of these messages covers them too.
    pub(super) covered: CoveredMessages,
    /// For each message of the request, whether it is one of these.
    pub(super) is_covered: Vec<bool>,
    /// Whether the request had one of our items.
    pub(super) has_item: bool,
}

/// The messages of a request with the contents of its newest item in its place. Linear in these.
///
/// # Errors
///
/// One of our items cannot be used.
pub(super) fn expand<'a>(messages: &[&'a str], opener: Opener<'_>) -> Result<ExpandedMessages<'a>, NativeError> {
    match opener.wire {
        Wire::Anthropic => expand_blocks(messages, opener),
        _ => expand_items(messages, opener),
    }
}

/// The fields of an item of OpenAI's that matter here.
#[derive(Deserialize)]
struct CompactionParts<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    encrypted_content: Option<Cow<'a, str>>,
}

impl CompactionParts<'_> {
    /// What the client calls encrypted, where it is one of ours.
    fn sealed(&self) -> Option<&str> {
        let is_item = matches!(self.kind.as_deref(), Some("compaction" | "compaction_summary" | "context_compaction"));
        self.encrypted_content.as_deref().filter(|sealed| is_item && sealed.starts_with(MARK))
    }
}

fn expand_items<'a>(items: &[&'a str], opener: Opener<'_>) -> Result<ExpandedMessages<'a>, NativeError> {
    let ours = |item: &str| {
        item.contains(MARK)
            && serde_json::from_str::<CompactionParts<'_>>(item).is_ok_and(|parts| parts.sealed().is_some())
    };
    let Some(at) = items.iter().rposition(|item| ours(item)) else { return Ok(ExpandedMessages::without_item(items)) };
    if items.len() > opener.parts {
        return Err(NativeError::new(Cause::Item(ItemProblem::TooLarge), "input"));
    }
    let place = format!("input[{at}].encrypted_content");
    let parts: CompactionParts<'_> = serde_json::from_str(items[at])
        .map_err(|_| NativeError::new(Cause::Item(ItemProblem::Damaged), place.as_str()))?;
    let opened = CompactionItem::open(parts.sealed().unwrap_or_default(), &opener)
        .map_err(|problem| NativeError::new(Cause::Item(problem), place))?;
    let (mut messages, mut is_covered) = merge(&items[..at], &opened);
    messages.extend(items[at + 1..].iter().map(|item| Cow::Borrowed(*item)));
    is_covered.resize(items.len(), false);
    Ok(ExpandedMessages { messages, covered: opened.covered, is_covered, has_item: true })
}

impl<'a> ExpandedMessages<'a> {
    fn without_item(messages: &[&'a str]) -> Self {
        let is_covered = vec![false; messages.len()];
        let messages = messages.iter().map(|json| Cow::Borrowed(*json)).collect();
        Self { messages, covered: CoveredMessages::default(), is_covered, has_item: false }
    }
}

/// The contents of an item with what in front of it is not covered by it, and for each message in front whether it is
/// covered. Linear in both, whatever they hold: anybody can send them.
fn merge<'a>(front: &[&'a str], item: &CompactionItem) -> (Vec<Message<'a>>, Vec<bool>) {
    let mut counts = item.covered.counts();
    let contents: Vec<DescribedMessage<'_>> = item.messages.iter().map(|json| DescribedMessage::new(json)).collect();
    let mut places = Places::new(&contents);
    // What stays, with the number of the message in the contents that it is in front of.
    let mut kept: HashMap<usize, Vec<&'a str>> = HashMap::new();
    let mut found = vec![false; contents.len()];
    let mut is_front_covered = vec![false; front.len()];
    let (mut waiting, mut reached, mut has_new_instructions) = (Vec::new(), 0, false);
    for (json, is_front_covered) in front.iter().zip(&mut is_front_covered) {
        let value: Value = serde_json::from_str(json).unwrap_or_default();
        let Some(hash) = message_hash(&value) else {
            // The model's own messages and calls are in the item. Of what else there may be it knows nothing.
            if !is_of_conversation(&value) {
                waiting.push(*json);
            }
            continue;
        };
        let is_instruction = value["role"] != "user";
        let is_covered = match is_instruction {
            // Instructions that the item does not have any more are new ones, said again.
            true => places.has(hash),
            false => counts.get_mut(&hash).is_some_and(|count| std::mem::replace(count, count.saturating_sub(1)) > 0),
        };
        *is_front_covered = is_covered;
        if !is_covered {
            has_new_instructions |= is_instruction;
            waiting.push(*json);
        } else if let Some(place) = places.take_from(hash, reached) {
            kept.entry(place).or_default().append(&mut waiting);
            found[place] = true;
            reached = place + 1;
        } else if is_instruction && let Some(place) = places.take_passed(hash) {
            found[place] = true;
        }
    }
    kept.entry(reached).or_default().append(&mut waiting);
    let mut merged = Vec::with_capacity(contents.len() + front.len());
    for (number, message) in contents.iter().enumerate() {
        merged.extend(kept.remove(&number).unwrap_or_default().into_iter().map(Cow::Borrowed));
        // A client that gives new instructions and not these any more has replaced them.
        if !(has_new_instructions && message.is_instruction && !found[number]) {
            merged.push(Cow::Owned(message.json.to_owned()));
        }
    }
    merged.extend(kept.remove(&contents.len()).unwrap_or_default().into_iter().map(Cow::Borrowed));
    (merged, is_front_covered)
}

/// Where in an item's contents each message is that was not found in front of the item yet, in order.
struct Places(HashMap<MessageHash, MessagePlaces>);

#[derive(Default)]
struct MessagePlaces {
    /// Those that the last question left in front of where it began.
    passed: VecDeque<usize>,
    rest: VecDeque<usize>,
}

impl Places {
    fn new(contents: &[DescribedMessage<'_>]) -> Self {
        let mut places = HashMap::<MessageHash, MessagePlaces>::new();
        for (number, message) in contents.iter().enumerate() {
            if let Some(hash) = message.hash {
                places.entry(hash).or_default().rest.push_back(number);
            }
        }
        Self(places)
    }

    /// Whether one of the places of a message is left.
    fn has(&self, hash: MessageHash) -> bool {
        self.0.get(&hash).is_some_and(|places| !places.passed.is_empty() || !places.rest.is_empty())
    }

    /// The first place of a message from `from` on, which never goes back. Each place is looked at twice at most.
    fn take_from(&mut self, hash: MessageHash, from: usize) -> Option<usize> {
        let MessagePlaces { passed, rest } = self.0.get_mut(&hash)?;
        let is_passed = rest.partition_point(|place| *place < from);
        passed.extend(rest.drain(..is_passed));
        rest.pop_front()
    }

    /// The first of the places of a message that [`take_from`](Self::take_from) has passed.
    fn take_passed(&mut self, hash: MessageHash) -> Option<usize> {
        self.0.get_mut(&hash)?.passed.pop_front()
    }
}

/// A message of an item's contents.
struct DescribedMessage<'i> {
    hash: Option<MessageHash>,
    is_instruction: bool,
    json: &'i str,
}

impl<'i> DescribedMessage<'i> {
    fn new(json: &'i RawValue) -> Self {
        let value: Value = serde_json::from_str(json.get()).unwrap_or_default();
        let hash = message_hash(&value);
        Self { hash, is_instruction: hash.is_some() && value["role"] != "user", json: json.get() }
    }
}

/// Whether an item in front of one of ours is a part of the conversation that it stands for.
fn is_of_conversation(item: &Value) -> bool {
    let kind = item["type"].as_str().unwrap_or("message");
    match kind {
        "compaction" | "compaction_summary" | "context_compaction" => {
            item["encrypted_content"].as_str().is_some_and(|sealed| sealed.starts_with(MARK))
        }
        _ => item.as_object().is_some_and(super::known::is_known_item),
    }
}

/// A block of Anthropic's that stands for messages.
#[derive(Debug, Deserialize)]
struct CompactionBlock {
    #[serde(rename = "type")]
    kind: String,
    content: Option<String>,
    encrypted_content: Option<String>,
}

impl CompactionBlock {
    fn parse(json: &str) -> Option<Self> {
        let block: Self = serde_json::from_str(json).ok()?;
        let is_ours = block.encrypted_content.as_deref().is_some_and(|text| text.starts_with(MARK));
        (block.kind == "compaction" && is_ours).then_some(block)
    }
}

/// The content of a message, as a list of blocks.
#[derive(Deserialize)]
struct MessageBlocks<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
}

fn expand_blocks<'a>(messages: &[&'a str], opener: Opener<'_>) -> Result<ExpandedMessages<'a>, NativeError> {
    let mut found = Vec::new();
    for (index, json) in messages.iter().enumerate().filter(|(_, json)| json.contains(MARK)) {
        let Ok(message) = serde_json::from_str::<MessageBlocks<'a>>(json) else { continue };
        let blocks = message.content.iter().enumerate();
        let ours = blocks.filter_map(|(number, json)| Some((number, CompactionBlock::parse(json.get())?)));
        found.extend(ours.map(|(number, block)| (index, number, block)).collect::<Vec<_>>());
    }
    let Some((index, number, block)) = found.pop() else { return Ok(ExpandedMessages::without_item(messages)) };
    if messages.len() > opener.parts {
        return Err(NativeError::new(Cause::Item(ItemProblem::TooLarge), "messages"));
    }
    let place = format!("messages[{index}].content[{number}]");
    let refused = |cause| NativeError::new(cause, place.as_str());
    let opened = open_block(&block, opener).map_err(refused)?;
    if opened.is_first {
        // What stands for the whole conversation has to be its beginning, and there is one of it.
        if found.iter().any(|(_, _, other)| open_block(other, opener).is_ok_and(|other| other.is_first)) {
            return Err(refused(Cause::Ambiguous));
        }
        if index > 0 || number > 0 {
            return Err(refused(Cause::Misplaced));
        }
    }
    let mut expanded: Vec<Message<'a>> =
        opened.messages.iter().map(|message| Cow::Owned(message.get().to_owned())).collect();
    let rest: Option<String> = serde_json::from_str::<MessageBlocks<'a>>(messages[index]).ok().and_then(|message| {
        let blocks: Vec<&str> = message.content[number + 1..].iter().map(|block| block.get()).collect();
        let role = Value::from(&*message.role);
        (!blocks.is_empty()).then(|| format!("{{\"role\":{role},\"content\":[{}]}}", blocks.join(",")))
    });
    let mut behind =
        rest.map(Cow::Owned).into_iter().chain(messages[index + 1..].iter().map(|json| Cow::Borrowed(*json)));
    if let Some(next) = behind.next() {
        // Neighbours of one side are one message: not every server takes two of them.
        match expanded.last().and_then(|last| joined(last, &next)) {
            Some(both) => {
                expanded.pop();
                expanded.push(Cow::Owned(both));
            }
            None => expanded.push(next),
        }
    }
    expanded.extend(behind);
    let is_covered = (0..messages.len()).map(|number| number < index).collect();
    Ok(ExpandedMessages { messages: expanded, covered: opened.covered, is_covered, has_item: true })
}

/// Two neighbouring messages as one, where both are of one side and have no more than a role and a content.
fn joined(one: &str, other: &str) -> Option<String> {
    let (one, other) = (Object::parse(one)?, Object::parse(other)?);
    let role = one.get("role").filter(|role| other.get("role") == Some(*role))?;
    if one.fields().count() > 2 || other.fields().count() > 2 {
        return None;
    }
    let blocks = |message: &Object<'_>| match message.value("content") {
        Value::String(text) => Some(vec![serde_json::json!({ "type": "text", "text": text }).to_string()]),
        _ => Some(message.list("content")?.into_iter().map(str::to_owned).collect()),
    };
    let both = [blocks(&one)?, blocks(&other)?].concat();
    Some(format!("{{\"role\":{role},\"content\":[{}]}}", both.join(",")))
}

/// The contents of a block, whose text is the one that was given with it, or left out.
fn open_block(block: &CompactionBlock, opener: Opener<'_>) -> Result<CompactionItem, Cause> {
    let opened =
        CompactionItem::open(block.encrypted_content.as_deref().unwrap_or_default(), &opener).map_err(Cause::Item)?;
    match &block.content {
        Some(text) if opened.shown.as_deref() != Some(&text_hash(text)) => Err(Cause::ContentMismatch),
        _ => Ok(opened),
    }
}

#[cfg(test)]
#[path = "expand_tests.rs"]
mod tests;
