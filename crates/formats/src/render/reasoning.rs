//! Which items of a model's output stand without the reasoning that came with them.
//!
//! OpenAI's service refuses an item under its id where the reasoning in front of it in the same output is not there ("Item
//! 'fc_…' of type 'function_call' was provided without its required 'reasoning' item: 'rs_…'"), and reasoning without the item
//! that followed it ("… of type 'reasoning' was provided without its required following item"). An item without an id is
//! nobody's output, and needs none.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use epitome_session::{Block, Content, Dialect, Entry, Message, Origin, Role};

use super::recorded::{self, kind_of};
use crate::json::Object;

/// Kinds of call that may leave out their id (`ResponseInputItemParam` of openai-python 3.57); all others are written under
/// it or not at all.
const WITHOUT_ID: [&str; 5] =
    ["function_call", "custom_tool_call", "shell_call", "apply_patch_call", "tool_search_call"];

/// What cannot be written as it was recorded, as positions of entries and of blocks in them.
#[derive(Default)]
pub(super) struct WithoutReasoning {
    /// Items whose reasoning is not there.
    pub(super) items: HashSet<(usize, usize)>,
    /// Reasoning whose following item is not there.
    pub(super) reasoning: HashSet<(usize, usize)>,
}

/// An item of an output.
struct Item {
    /// Its entry and block, where the view has it.
    at: Option<(usize, usize)>,
    is_reasoning: bool,
    /// Whether it is written as it was recorded, but for texts that are shorter.
    stays: bool,
}

impl WithoutReasoning {
    /// Looks through a view. `log` is the log as it was read, where it is at hand: for what is not in it and left, the worst
    /// holds. `is_written` says whether a block of an entry is written as what it was recorded as. Linear in the log.
    pub(super) fn find(entries: &[Entry], log: &[Arc<Message>], is_written: impl Fn(usize, usize) -> bool) -> Self {
        let shown: HashMap<u32, usize> =
            entries.iter().enumerate().filter_map(|(index, entry)| Some((entry.key.number()?, index))).collect();
        let end = shown.keys().max().map_or(0, |last| last + 1);
        let mut found = Self::default();
        let mut output: Vec<Item> = Vec::new();
        for number in 0..end {
            let entry = shown.get(&number).copied();
            let message = entry.map(|entry| &entries[entry].original).or_else(|| log.get(number as usize));
            let Some(message) = message else {
                found.settle(&mut output);
                output.push(Item { at: None, is_reasoning: true, stays: false });
                continue;
            };
            match message.role {
                Role::Assistant => {
                    let items = message.blocks.iter().enumerate().filter(|(_, block)| is_item(block));
                    output.extend(items.map(|(block, recorded)| {
                        let at = entry.map(|entry| (entry, block));
                        let is_reasoning = matches!(recorded.content, Content::Thinking(_));
                        Item { at, is_reasoning, stays: at.is_some_and(|(entry, block)| is_written(entry, block)) }
                    }));
                }
                // What the provider ran itself, and what it asked for, is of the same output.
                Role::Tool if message.blocks.iter().any(is_of_output) => {}
                Role::System if message.origin == Origin::Configuration => {}
                Role::Tool | Role::System | Role::User => found.settle(&mut output),
            }
        }
        found.settle(&mut output);
        found
    }

    /// Ends an output.
    fn settle(&mut self, output: &mut Vec<Item>) {
        for index in (1..output.len()).rev() {
            if !output[index].stays && output[index - 1].is_reasoning && output[index - 1].stays {
                output[index - 1].stays = false;
                self.reasoning.extend(output[index - 1].at);
            }
        }
        let mut is_lost = false;
        for item in output.drain(..) {
            if item.is_reasoning {
                is_lost = !item.stays;
            } else if is_lost {
                self.items.extend(item.at);
            }
        }
    }

    /// Whether the call in a block of an entry can only be written as one of the client's: it needs an id, and reasoning for
    /// that.
    pub(super) fn is_foreign(&self, index: usize, block: usize, call: &Block) -> bool {
        self.items.contains(&(index, block))
            && kind_of(call).is_some_and(|kind| !WITHOUT_ID.contains(&&*kind))
            && recorded::is_of_provider(call)
    }
}

/// Whether a block is an item with an id.
fn is_item(block: &Block) -> bool {
    let raw = block.raw.as_ref().filter(|raw| raw.dialect == Dialect::OpenaiResponses);
    raw.and_then(|raw| Object::parse(&raw.json)).is_some_and(|item| item.is_given("id"))
}

/// Whether a result is of what the provider ran within its output: it stands in the item of its call, or behind it.
fn is_of_output(block: &Block) -> bool {
    let is_of_call = kind_of(block).is_some_and(|kind| kind.ends_with("_call"));
    let is_by_server = || {
        let item = block.raw.as_ref().and_then(|raw| Object::parse(&raw.json));
        item.and_then(|item| item.text("execution")).is_some_and(|place| place == "server")
    };
    block.as_result().is_some() && (is_of_call || is_by_server())
}
