//! What can neither be cut nor fits beside what must stay: it leaves before anything is planned around it.

use std::cmp::Reverse;

use epitome_session::{Block, Content, Language, Reason, UnitKind};
use epitome_strategy::{BlockRef, Tokens};

use crate::editor::{BlockEdit, Editor};
use crate::floor::editable_blocks;
use crate::guard::{EditRefusal, HostChange};
use crate::ledger::count_block;
use crate::wording;
use crate::working::Layout;

pub(crate) const OVERSIZE: &str = "oversize";

impl Editor<'_> {
    /// Takes pictures, documents and provider's own items out whose unit takes more than `target` leaves beside what must
    /// stay, the largest first: no strategy could keep them, and what is planned around one leaves with it in the end. A text
    /// beside them stays, with a mark; a unit without one leaves whole. Linear in the view, but for sorting.
    pub(crate) fn evict_oversize(&mut self, target: Tokens) -> Result<(), EditRefusal> {
        let layout = self.layout();
        let fixed: Tokens = (0..layout.units.len()).map(|unit| self.rigid_tokens(&layout, unit)).sum();
        let room = target.saturating_sub(fixed);
        if room == 0 {
            return Ok(());
        }
        let mut leaving = Vec::new();
        for (index, unit) in layout.units.iter().enumerate().filter(|(at, _)| layout.protections[*at].may_leave()) {
            let mut items = editable_blocks(&self.working, unit.entries.clone(), is_rigid);
            let mut tokens: Tokens = items.iter().map(|(tokens, _)| tokens).sum();
            if tokens <= room {
                continue;
            }
            self.context.check_cancelled()?;
            let mut beside =
                self.working.entries()[unit.entries.clone()].iter().flat_map(|entry| &entry.message.blocks);
            let says_something = beside.any(|block| block.excerptable().is_some_and(|text| !text.trim().is_empty()));
            if !says_something || self.check_host(HostChange::Text).is_err() || !layout.protections[index].may_edit() {
                leaving.push(index as u32);
                continue;
            }
            // A provider's items in one step belong together: where a mark would take as much as one of them, the step leaves whole.
            let is_step = unit.kind == UnitKind::Step;
            if is_step && items.iter().any(|(own, at)| self.mark_tokens(*at, *own) >= *own) {
                leaving.push(index as u32);
                continue;
            }
            items.sort_by_key(|(tokens, at)| (Reverse(*tokens), *at));
            for (own, at) in items {
                if is_step || tokens > room && self.mark_tokens(at, own) < own {
                    self.let_block_leave(at, own)?;
                    tokens -= own;
                }
            }
        }
        if leaving.is_empty() {
            return Ok(());
        }
        let positions = self.leaving(&layout, &leaving)?;
        // What the host cannot remove stays.
        let left = self.drop_for_gain(OVERSIZE, &positions, reason());
        if let Err(refusal @ (EditRefusal::Archive(_) | EditRefusal::Cancelled)) = left {
            return Err(refusal);
        }
        self.restore_validity_unless_cancelled()
    }

    /// Returns the tokens of a unit that no edit can save.
    fn rigid_tokens(&self, layout: &Layout, unit: usize) -> Tokens {
        let (protection, entries) = (layout.protections[unit], layout.units[unit].entries.clone());
        match protection {
            _ if protection.may_leave() => 0,
            _ if protection.may_edit() => {
                editable_blocks(&self.working, entries, is_rigid).iter().map(|(tokens, _)| tokens).sum()
            }
            _ => self.working.tokens()[entries].iter().map(|it| it.total).sum(),
        }
    }

    fn let_block_leave(&mut self, at: BlockRef, tokens: Tokens) -> Result<(), EditRefusal> {
        let (language, block) = (self.context.language, self.block(at).clone());
        let edit = BlockEdit::new(OVERSIZE, at.message, at.block, reason());
        self.strip(edit, |handle| mark_of(language, &block, tokens, handle)).map(|_| ())
    }

    /// Returns the tokens of the mark in place of a block of `tokens` tokens.
    fn mark_tokens(&self, at: BlockRef, tokens: Tokens) -> Tokens {
        let handle = self.context.usable_handle(HANDLE);
        let mark = mark_of(self.context.language, self.block(at), tokens, handle);
        mark.map_or(0, |mark| count_block(self.context.counter, &Block::text(mark)))
    }

    fn block(&self, at: BlockRef) -> &Block {
        &self.working.entries()[at.message as usize].message.blocks[at.block as usize]
    }
}

/// A handle as long as those of the archive.
const HANDLE: &str = "0a1b2c3d4e5f";

/// Returns the text in place of a block that leaves.
fn mark_of(language: Language, block: &Block, tokens: Tokens, handle: Option<&str>) -> Option<String> {
    match &block.content {
        Content::Media(media) => Some(wording::media_mark(language, std::slice::from_ref(media), handle)),
        Content::Opaque(item) => {
            Some(wording::gap_mark(language, &item.json, 0..item.json.len() as u32, tokens, handle))
        }
        _ => None,
    }
}

fn reason() -> Reason {
    Reason::new("cannot-shrink", "it can neither be cut nor fits beside what must stay")
}

/// Whether a block has tokens that no cut can save.
fn is_rigid(block: &Block) -> bool {
    matches!(block.content, Content::Media(_) | Content::Opaque(_))
}
