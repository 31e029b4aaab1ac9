//! Items of one model turn, grouped into one message.

use epitome_session::{Block, Message, MessageId, Origin, Role, Usage};

use super::blocks::ResponsesItem;
use crate::blocks::program_of;

/// Collects items: what the model said between two messages of others becomes one message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grouper {
    messages: Vec<Message>,
    open: bool,
}

impl Grouper {
    /// Adds an item of `record`.
    pub(crate) fn add(&mut self, item: ResponsesItem, record: u32, id: Option<&str>, timestamp: Option<i64>) {
        match item {
            ResponsesItem::Model(blocks) => self.say(blocks, record, id, timestamp),
            ResponsesItem::Answered(call, answer) => {
                self.say(vec![call], record, id, timestamp);
                self.push(answer, record, None, timestamp);
            }
            ResponsesItem::Message(message) => self.push(message, record, id, timestamp),
        }
    }

    /// Adds blocks to the model's message, or begins one with them.
    fn say(&mut self, blocks: Vec<Block>, record: u32, id: Option<&str>, timestamp: Option<i64>) {
        if self.open
            && let Some(last) = self.messages.last_mut()
        {
            last.blocks.extend(blocks);
            last.records.push(record);
            return;
        }
        self.push(Message::new("", Role::Assistant, Origin::Model, blocks), record, id, timestamp);
        self.open = true;
    }

    fn push(&mut self, mut message: Message, record: u32, id: Option<&str>, timestamp: Option<i64>) {
        self.open = false;
        if let Some(id) = id {
            message.id = MessageId::new(id);
        }
        message.records = vec![record];
        message.timestamp = timestamp;
        self.messages.push(message);
    }

    /// Notes the usage of the request that produced the newest message of the model.
    pub(crate) fn usage(&mut self, usage: Usage) {
        if let Some(last) = self.messages.iter_mut().rev().find(|message| message.role == Role::Assistant) {
            last.usage = Some(usage);
        }
    }

    /// The messages so far; the next item starts a new one.
    pub(crate) fn finish(&mut self) -> Vec<Message> {
        self.open = false;
        let said = self.messages.iter_mut().filter(|message| message.role == Role::Assistant);
        said.for_each(|message| message.program = program_of(&message.blocks));
        std::mem::take(&mut self.messages)
    }
}
