//! Texts of the model that are cut along with old results.

use std::ops::Range;

use epitome_strategy::text::sentence_end;
use epitome_strategy::{BlockRef, Content, Origin, Role, View};

/// Returns the text of a block; empty where it has none.
pub(crate) fn text_of<'v>(view: &View<'v>, at: BlockRef) -> &'v str {
    view.block(at).and_then(|block| block.excerptable()).map_or("", AsRef::as_ref)
}

/// Returns the model's text blocks of a unit that are longer than `max_chars` and half, with what stays of each.
pub(crate) fn long_texts(view: &View<'_>, unit: usize, max_chars: u32) -> Vec<(BlockRef, Range<u32>)> {
    let mut found = Vec::new();
    for message in view.units()[unit].entries.clone() {
        let said = view.message(message);
        if said.role != Role::Assistant || said.origin != Origin::Model {
            continue;
        }
        for (index, block) in said.blocks.iter().enumerate() {
            let Content::Text { text } = &block.content else { continue };
            let is_call = said.text_calls.iter().any(|call| call.block as usize == index);
            let Some((limit, _)) = text.char_indices().nth(max_chars as usize) else { continue };
            if is_call || text.len() < limit + limit / 2 {
                continue;
            }
            let at = BlockRef { message: message as u32, block: index as u32 };
            found.push((at, 0..sentence_end(text, limit) as u32));
        }
    }
    found
}
