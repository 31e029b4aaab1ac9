//! Cutting blocks: excerpts of texts, trimmed arguments, thinking that leaves.

use std::ops::Range;
use std::sync::Arc;

use epitome_session::{Arguments, Block, Change, Content, EditKind, Excerpt, ExcerptError, KeptRanges, ToolCall};
use epitome_strategy::secrets::{Secret, secrets};
use epitome_strategy::{ArchivedContent, BlockRef, Tokens};

use crate::context::Context;
use crate::editor::{BlockEdit, Editor, archive_first};
use crate::guard::{self, EditRefusal, Guard, HostChange};
use crate::ledger::count_block;
use crate::working::{Layout, WorkingView};
use crate::{trim, wording};

/// Tokens of a short mark: a gap that holds no more is kept.
const MARK_TOKENS: f64 = 12.0;

impl Editor<'_> {
    /// Keeps only `keep` (ranges of the text as it is shown) of a block.
    pub(crate) fn excerpt(
        &mut self,
        layout: &Layout,
        edit: BlockEdit<'_>,
        keep: &[Range<u32>],
    ) -> Result<Tokens, EditRefusal> {
        let at = edit.at;
        self.check_host(HostChange::Text)?;
        let (context, working) = (self.context, &self.working);
        let block = working.editable(context.guards, layout, at)?;
        let shown = block.excerptable().ok_or(EditRefusal::NotText)?;
        let bad = |error: ExcerptError| EditRefusal::BadRanges(error.to_string());
        let kept = KeptRanges::new(shown, keep).map_err(bad)?;
        let entry = &working.entries()[at.message as usize];
        let key = entry.key;
        let original = &entry.original.blocks[at.block as usize];
        let text = Arc::clone(original.excerptable().ok_or(EditRefusal::NotText)?);
        let kept = match entry.excerpt(at.block) {
            None => kept,
            Some(earlier) => KeptRanges::new(&text, &earlier.to_original(text.len(), kept.ranges())).map_err(bad)?,
        };
        let of_text = tokens_of_original(working, context, at, &text);
        let kept = if kept.ranges().is_empty() { kept } else { without_small_gaps(kept, text.len(), of_text) };
        let secrets = if context.redacts { secrets(&text) } else { Vec::new() };
        let kept = if secrets.is_empty() { kept } else { without_secrets(&text, &kept, &secrets).map_err(bad)? };
        // A stub does not keep an image either: then the whole message is archived.
        let media = original.as_result().map_or(&[][..], |result| &result.attachments);
        let media = if kept.ranges().is_empty() { media } else { &[] };
        let item = match media {
            [] => ArchivedContent::Text(Arc::clone(&text)),
            _ => ArchivedContent::Messages(vec![Arc::clone(&entry.original)]),
        };
        let handle = archive_first(context, self.archive, item)?;
        // What left once stays away.
        let taken = entry.excerpt(at.block).and_then(|earlier| earlier.attachments.clone());
        let attachments = (!media.is_empty())
            .then(|| Arc::from(wording::media_mark(context.language, media, context.usable_handle(&handle))))
            .or(taken);
        let excerpt = Excerpt { marks: marks(context, &text, (&kept, &secrets), of_text, &handle), kept, attachments };
        let rendered = block.with_text(Arc::clone(&text)).excerpted(&excerpt).ok_or(EditRefusal::NotText)?;
        let after =
            if context.guards.on(Guard::Counting) { count_block(context.counter, &rendered) } else { of_text / 2 };
        self.working.original_tokens.insert((key, at.block), of_text);
        let change = Change::Excerpt { entry: key, block: at.block, excerpt };
        self.change_block(EditKind::Excerpt, edit, (after, handle), change)
    }

    /// Cuts long strings in the arguments of a call to `max_chars` characters; 0 takes the arguments out whole. The
    /// recorded arguments are the base, however often they were cut before.
    pub(crate) fn trim(&mut self, layout: &Layout, edit: BlockEdit<'_>, max_chars: u32) -> Result<Tokens, EditRefusal> {
        let at = edit.at;
        self.check_host(HostChange::Text)?;
        let (context, working) = (self.context, &self.working);
        let block = working.editable(context.guards, layout, at)?;
        let shown = block.as_call().ok_or(EditRefusal::NotText)?;
        let entry = &working.entries()[at.message as usize];
        let key = entry.key;
        let recorded = entry.original.blocks[at.block as usize].as_call().unwrap_or(shown).arguments.clone();
        let handle = archive_first(context, self.archive, ArchivedContent::Text(Arc::clone(recorded.text())))?;
        let trimmed =
            trim::trim_arguments(&recorded, max_chars as usize, context.language, context.usable_handle(&handle));
        let arguments: Arc<str> = Arc::from(context.redacted(&trimmed.ok_or(EditRefusal::NoGain)?));
        let trimmed = match shown.arguments {
            Arguments::Json(_) => Arguments::Json(Arc::clone(&arguments)),
            Arguments::Text(_) => Arguments::Text(Arc::clone(&arguments)),
        };
        let rendered = Content::ToolCall(ToolCall { arguments: trimmed, ..shown.clone() });
        let after = count_block(context.counter, &Block::new(rendered));
        let change = Change::Trim { entry: key, block: at.block, arguments };
        self.change_block(EditKind::Trim, edit, (after, handle), change)
    }

    /// Returns the text of a block that may be cut.
    pub(crate) fn excerptable(&self, at: BlockRef) -> Option<&Arc<str>> {
        let entry = self.working.entries().get(at.message as usize)?;
        // The mark in place of media is no text of theirs.
        entry.original.blocks.get(at.block as usize)?.excerptable()?;
        entry.message.blocks.get(at.block as usize)?.excerptable()
    }

    /// Returns the most characters that strings in the arguments of a call may keep for the call to take no more than
    /// `most` tokens; 0 where no number does. A binary search, each step linear in the arguments.
    pub(crate) fn most_chars(&self, at: BlockRef, most: Tokens) -> u32 {
        let context = self.context;
        let entry = &self.working.entries()[at.message as usize];
        let recorded = entry.original.blocks.get(at.block as usize).and_then(Block::as_call);
        let Some(call) = recorded else { return 0 };
        let fits = |max_chars: u32| {
            let handle = context.usable_handle("000000000000");
            let trimmed = trim::trim_arguments(&call.arguments, max_chars as usize, context.language, handle);
            trimmed.is_some_and(|arguments| {
                let arguments = Arguments::Text(Arc::from(arguments));
                let call = Content::ToolCall(ToolCall { arguments, ..call.clone() });
                count_block(context.counter, &Block::new(call)) <= most
            })
        };
        let (mut low, mut high) = (0, call.arguments.text().chars().count().min(u32::MAX as usize) as u32);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if fits(middle) { low = middle } else { high = middle - 1 }
        }
        low
    }

    pub(crate) fn change_block(
        &mut self,
        kind: EditKind,
        edit: BlockEdit<'_>,
        (after, handle): (Tokens, Arc<str>),
        change: Change,
    ) -> Result<Tokens, EditRefusal> {
        let BlockEdit { strategy, at, reason } = edit;
        let working = &mut self.working;
        let before = working.tokens()[at.message as usize].blocks[at.block as usize];
        let saved = if self.context.guards.on(Guard::Progress) {
            guard::progress(before, after)?
        } else {
            before.saturating_sub(after)
        };
        working.change_block(at, &change, after);
        working.touched.insert(at);
        let edit = working.record(kind, strategy, reason);
        (edit.recall, edit.tokens_saved, edit.changes) = (Some(handle), saved, vec![change]);
        Ok(saved)
    }

    /// Removes a block from the view whole: signed thinking that is no longer valid in its place, without a mark, or what
    /// can neither be cut nor fits, with the one that `mark` makes of the archive's handle. The message is archived whole,
    /// because what is no text leaves too.
    pub(crate) fn strip(
        &mut self,
        edit: BlockEdit<'_>,
        mark: impl FnOnce(Option<&str>) -> Option<String>,
    ) -> Result<Tokens, EditRefusal> {
        let BlockEdit { strategy, at, reason } = edit;
        let entry = &self.working.entries()[at.message as usize];
        let key = entry.key;
        let handle =
            archive_first(self.context, self.archive, ArchivedContent::Messages(vec![Arc::clone(&entry.original)]))?;
        let mark: Option<Arc<str>> = mark(self.context.usable_handle(&handle)).map(Arc::from);
        let after = mark.as_ref().map_or(0, |mark| count_block(self.context.counter, &Block::text(Arc::clone(mark))));
        let change = Change::Strip { entry: key, block: at.block, mark };
        let saved = self.working.change_block(at, &change, after);
        let edit = self.working.record(EditKind::Excerpt, strategy, reason);
        (edit.recall, edit.tokens_saved, edit.changes) = (Some(handle), saved, vec![change]);
        Ok(saved)
    }
}

/// Returns the tokens of the original text of a block. Counted only for a block that an earlier compaction cut, of
/// which the ledger has the count of its excerpt.
fn tokens_of_original(working: &WorkingView, context: &Context<'_>, at: BlockRef, text: &str) -> Tokens {
    let entry = &working.entries()[at.message as usize];
    if let Some(known) = working.original_tokens.get(&(entry.key, at.block)) {
        return *known;
    }
    if entry.excerpt(at.block).is_some() {
        return context.counter.count(text);
    }
    let shown = &entry.message.blocks[at.block as usize];
    let beside = count_block(context.counter, &shown.with_text(Arc::from("")));
    working.tokens()[at.message as usize].blocks[at.block as usize].saturating_sub(beside)
}

/// Returns the kept ranges, with every gap filled whose mark would cost about as much as the gap holds.
fn without_small_gaps(kept: KeptRanges, length: usize, of_text: Tokens) -> KeptRanges {
    let bytes_per_token = length as f64 / f64::from(of_text.max(1));
    kept.fill_gaps(length, (MARK_TOKENS * bytes_per_token).ceil() as u32)
}

/// Returns the kept ranges without the secrets in them. Linear in both.
fn without_secrets(text: &str, kept: &KeptRanges, secrets: &[Secret]) -> Result<KeptRanges, ExcerptError> {
    let mut parts: Vec<Range<u32>> = Vec::new();
    for range in kept.ranges() {
        let mut start = range.start;
        let first = secrets.partition_point(|secret| secret.range.end as u32 <= start);
        for secret in secrets[first..].iter().take_while(|secret| (secret.range.start as u32) < range.end) {
            let from = secret.range.start as u32;
            parts.extend((from > start).then_some(start..from));
            start = (secret.range.end as u32).min(range.end);
        }
        parts.push(start..range.end);
    }
    KeptRanges::new(text, &parts)
}

/// Returns the marks of an excerpt: in place of a secret alone what it was, in place of any other gap its tokens, estimated by
/// its share of the block's bytes. The first of these has the handle.
fn marks(
    context: &Context<'_>,
    text: &str,
    (kept, secrets): (&KeptRanges, &[Secret]),
    of_text: Tokens,
    handle: &str,
) -> Vec<Arc<str>> {
    let mut handle = context.usable_handle(handle);
    let mark = |gap: Range<u32>| {
        let own = gap.start as usize..gap.end as usize;
        if let Some(secret) = secrets.iter().find(|secret| secret.range == own) {
            return Arc::from(secret.stand_in());
        }
        let share = f64::from(gap.end - gap.start) / text.len().max(1) as f64;
        let tokens = (f64::from(of_text) * share).round() as Tokens;
        Arc::from(wording::gap_mark(context.language, text, gap, tokens, handle.take()))
    };
    kept.gaps(text.len()).into_iter().map(mark).collect()
}
