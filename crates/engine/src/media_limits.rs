//! Pictures that leave because the provider takes no more of them, or no more bytes, in one request.

use std::collections::HashSet;
use std::sync::Arc;

use epitome_session::{Change, Content, EditKind, Excerpt, KeptRanges, Reason, RequestLimits, RequestSize};
use epitome_strategy::{ArchivedContent, BlockRef, Protection, Tokens};

use crate::editor::{BlockEdit, Editor, archive_first};
use crate::guard::{EditRefusal, HostChange};
use crate::ledger::count_block;
use crate::wording;

pub(crate) const PICTURES: &str = "pictures";

/// Media of one block that may leave.
struct Candidate {
    at: BlockRef,
    load: RequestSize,
    /// The same media come again later.
    is_repeated: bool,
    /// A part of the newest work, or of the task: they stay while others can leave.
    is_protected: bool,
}

impl Editor<'_> {
    /// Takes media out of the view until it keeps the session's limits: those that come again later first, then the oldest. The
    /// words beside them stay, and a mark tells of what left. Those of the newest message of a person's, of pinned messages and
    /// of open calls stay in any case. Linear in the view where it is over a limit, and in its blocks where it is not.
    pub(crate) fn evict_excess_media(&mut self) -> Result<(), EditRefusal> {
        let Some(limits) = self.context.session.limits else { return Ok(()) };
        let mut load = self.context.session.request_size(&limits);
        if load.exceeded_limit(&limits).is_none() || self.check_host(HostChange::Text).is_err() {
            return Ok(());
        }
        let mut candidates = self.media_that_may_leave(&limits);
        candidates.sort_by_key(|it| (it.is_protected, !it.is_repeated));
        for candidate in candidates {
            let Some(excess) = load.exceeded_limit(&limits) else { break };
            let reason = Reason::new("over-a-limit", excess);
            let edit = BlockEdit::new(PICTURES, candidate.at.message, candidate.at.block, reason);
            if self.take_media(edit).is_ok() {
                load.subtract(candidate.load);
            }
        }
        self.working.end_pass();
        Ok(())
    }

    /// The media that may leave, the oldest first.
    fn media_that_may_leave(&self, limits: &RequestLimits) -> Vec<Candidate> {
        let layout = self.layout();
        let mut candidates = Vec::new();
        let mut later: HashSet<&str> = HashSet::new();
        for (unit, protection) in layout.units.iter().zip(&layout.protections).rev() {
            let is_protected = matches!(
                protection,
                Protection::NewestStep | Protection::OriginalTask | Protection::RecentRound | Protection::RecentMessage
            );
            if !is_protected && !protection.may_edit() {
                continue;
            }
            for position in unit.entries.clone().rev() {
                for (block, content) in self.working.entries()[position].message.blocks.iter().enumerate().rev() {
                    let media = content.content.media();
                    let load = RequestSize::of_media(media, limits);
                    if load == RequestSize::default() {
                        continue;
                    }
                    let is_repeated = media.iter().all(|media| later.contains(media.base64()));
                    later.extend(media.iter().map(|media| media.base64()));
                    let at = BlockRef { message: position as u32, block: block as u32 };
                    candidates.push(Candidate { at, load, is_repeated, is_protected });
                }
            }
        }
        candidates.reverse();
        candidates
    }

    /// Puts a mark in place of the media of a block; the text of a result stays as it is shown.
    fn take_media(&mut self, edit: BlockEdit<'_>) -> Result<Tokens, EditRefusal> {
        let (context, at) = (self.context, edit.at);
        let entry = &self.working.entries()[at.message as usize];
        let (key, shown) = (entry.key, &entry.message.blocks[at.block as usize]);
        let media = shown.content.media().to_vec();
        let excerpt = match (entry.excerpt(at.block), &shown.content) {
            (Some(earlier), _) => earlier.clone(),
            (None, Content::ToolResult(result)) => whole(&result.text),
            (None, _) => whole(""),
        };
        let item = ArchivedContent::Messages(vec![Arc::clone(&entry.original)]);
        let shown = shown.clone();
        let handle = archive_first(context, self.archive, item)?;
        let mark = wording::media_mark(context.language, &media, context.usable_handle(&handle));
        let excerpt = Excerpt { attachments: Some(Arc::from(mark)), ..excerpt };
        let original = &self.working.entries()[at.message as usize].original.blocks[at.block as usize];
        let base = original.excerptable().map_or_else(|| shown.clone(), |text| shown.with_text(Arc::clone(text)));
        let after = count_block(context.counter, &base.excerpted(&excerpt).ok_or(EditRefusal::NotText)?);
        let change = Change::Excerpt { entry: key, block: at.block, excerpt };
        self.change_block(EditKind::Excerpt, edit, (after, handle), change)
    }
}

/// The excerpt of a text that stays whole.
fn whole(text: &str) -> Excerpt {
    let all = 0..u32::try_from(text.len()).unwrap_or(u32::MAX);
    let kept = KeptRanges::new(text, std::slice::from_ref(&all)).unwrap_or_default();
    Excerpt { kept, marks: Vec::new(), attachments: None }
}
