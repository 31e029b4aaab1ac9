//! Items of a request that continues what the provider has stored.

use std::collections::HashSet;
use std::sync::Arc;

use epitome_session::{Block, CallId, Content, Dialect, Message, Origin, Role};

use super::blocks::{self, ResponsesItem};
use crate::blocks::{configuration, with_raw};
use crate::json::Object;

/// Reads an item behind those whose calls are `calls`, and notes its own. The result of any other call answers one that is
/// stored. The provider waits for it, so it stays as it came: what a tool told the model, with no call here.
pub(super) fn item(json: &str, calls: &mut HashSet<CallId>) -> ResponsesItem {
    let item = blocks::item(json);
    if let ResponsesItem::Model(blocks) = &item {
        calls.extend(blocks.iter().filter_map(|block| Some(Arc::clone(&block.as_call()?.id))));
    }
    let ResponsesItem::Message(message) = &item else { return item };
    let result = message.blocks.iter().find_map(Block::as_result);
    let Some(result) = result.filter(|result| !calls.contains(&result.call_id)) else { return item };
    if result.text.is_empty() {
        let kind = Object::parse(json).and_then(|object| Some(object.text("type")?.into_owned()));
        return ResponsesItem::Message(configuration(json, &kind.unwrap_or_default(), Dialect::OpenaiResponses));
    }
    let text = with_raw(Content::Text { text: Arc::clone(&result.text) }, Dialect::OpenaiResponses, json);
    ResponsesItem::Message(Message { pinned: true, ..Message::new("", Role::User, Origin::ToolOutput, vec![text]) })
}
