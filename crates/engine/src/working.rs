//! The view while it is being compacted.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use epitome_session::{
    AppliedEdit, Arguments, Block, Change, Content, EditKind, Entry, EntryKey, Excerpt, Kept, Language, Message, Origin, Position, Reason,
    Role, Synthetic, ToolCall, Unit, units,
};
use epitome_strategy::{Archive, Archived, BlockRef, EntryTokens, Protection, TokenCounter, Tokens, View};

use crate::guard::{self, Guard, Guards, Refusal};
use crate::ledger::{count_block, count_message};
use crate::protect::protections;
use crate::request::Pins;
use crate::{trim, wording};

/// A gap of fewer bytes is kept: its mark would cost about as much.
const SHORTEST_GAP: u32 = 48;

/// The name of a synthetic message that is a notice and no summary: the next one takes its place.
pub(crate) const NOTICE: &str = "notice";

/// Everything that stays the same during one compaction.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub counter: &'a dyn TokenCounter,
    pub pins: &'a Pins,
    pub language: Language,
    pub guards: Guards,
    pub epoch: u32,
}

/// The view while it is being compacted: entries, counts, and what was done to them so far.
///
/// Within one pass positions stand still: what leaves is marked, what comes in is held back, until [`Self::settle`].
#[derive(Clone)]
pub(crate) struct Working {
    pub entries: Vec<Entry>,
    pub tokens: Vec<EntryTokens>,
    pub total: Tokens,
    pub edits: Vec<AppliedEdit>,
    pub synthetics: Vec<Synthetic>,
    gone: Vec<bool>,
    incoming: Vec<(Entry, EntryTokens)>,
    touched: HashSet<BlockRef>,
}

/// What stands for messages that leave.
pub(crate) struct Replacement<'a> {
    /// The name of the message, [`NOTICE`] or none.
    pub name: Option<&'a str>,
    /// Turns the archive's handle into its text.
    pub write: &'a dyn Fn(&str) -> String,
}

/// An edit of one block: who makes it, where, and why.
pub(crate) struct BlockEdit<'a> {
    strategy: &'a str,
    at: BlockRef,
    reason: Reason,
}

impl<'a> BlockEdit<'a> {
    pub(crate) fn new(strategy: &'a str, message: u32, block: u32, reason: Reason) -> Self {
        Self { strategy, at: BlockRef { message, block }, reason }
    }
}

/// The units of a working view and what is protected in it.
pub(crate) struct Layout {
    pub units: Vec<Unit>,
    pub protections: Vec<Protection>,
}

impl Working {
    pub(crate) fn new(entries: Vec<Entry>, tokens: Vec<EntryTokens>) -> Self {
        let total = guard::counting(&tokens);
        Self {
            gone: vec![false; entries.len()],
            entries,
            tokens,
            total,
            edits: Vec::new(),
            synthetics: Vec::new(),
            incoming: Vec::new(),
            touched: HashSet::new(),
        }
    }

    pub(crate) fn layout(&self, pins: &Pins) -> Layout {
        let units = units(&self.entries);
        let protections = protections(&self.entries, &units, pins);
        Layout { units, protections }
    }

    pub(crate) fn view<'a>(&'a self, layout: &'a Layout, context: &Context<'a>) -> View<'a> {
        View::new(&self.entries, &layout.units, &self.tokens, &layout.protections, context.counter, context.language)
    }

    /// The positions of the messages of `wanted` units, if all of them may leave.
    pub(crate) fn leaving(
        &self,
        context: &Context<'_>,
        layout: &Layout,
        wanted: &[u32],
    ) -> Result<Vec<usize>, Refusal> {
        let mut positions = Vec::new();
        let mut seen = HashSet::new();
        for index in wanted {
            let unit = layout.units.get(*index as usize).ok_or(Refusal::NotThere)?;
            self.guarded(context, layout.protections[*index as usize], true)?;
            if context.guards.on(Guard::Conservation) {
                let gone = unit.entries.clone().any(|position| self.gone[position]);
                guard::conservation(gone || !seen.insert(*index))?;
            }
            positions.extend(unit.entries.clone());
        }
        positions.sort_unstable();
        if positions.is_empty() { Err(Refusal::NotThere) } else { Ok(positions) }
    }

    fn guarded(&self, context: &Context<'_>, protection: Protection, leaves: bool) -> Result<(), Refusal> {
        if context.guards.on(Guard::OpenCalls) {
            guard::open_calls(protection)?;
        }
        if context.guards.on(Guard::Pins) {
            guard::pins(protection, leaves)?;
        }
        Ok(())
    }

    /// Stores `item`, so that it is archived before the edit that removes it is applied.
    fn archive(&self, context: &Context<'_>, archive: &mut dyn Archive, item: Archived) -> Result<Arc<str>, Refusal> {
        match archive.put(item) {
            Ok(handle) => Ok(handle),
            Err(_) if !context.guards.on(Guard::ArchiveFirst) => Ok(Arc::from("lost")),
            Err(error) => Err(Refusal::Archive(error.to_string())),
        }
    }

    fn archive_messages(
        &self,
        context: &Context<'_>,
        archive: &mut dyn Archive,
        positions: &[usize],
    ) -> Result<Arc<str>, Refusal> {
        let messages = positions.iter().map(|position| Arc::clone(&self.entries[*position].original)).collect();
        self.archive(context, archive, Archived::Messages(messages))
    }

    /// The messages at `positions`, as the model sees them.
    pub(crate) fn messages(&self, positions: &[usize]) -> Vec<Arc<Message>> {
        positions.iter().map(|position| Arc::clone(&self.entries[*position].message)).collect()
    }

    /// Tokens of the messages at `positions`.
    pub(crate) fn tokens_of(&self, positions: &[usize]) -> Tokens {
        positions.iter().map(|position| self.tokens[*position].total).sum()
    }

    /// Takes the messages at `positions` out of the view.
    pub(crate) fn drop_messages(
        &mut self,
        context: &Context<'_>,
        archive: &mut dyn Archive,
        strategy: &str,
        positions: &[usize],
        reason: Reason,
    ) -> Result<Tokens, Refusal> {
        let recall = self.archive_messages(context, archive, positions)?;
        let saved = self.tokens_of(positions);
        self.remove(positions);
        self.total -= saved.min(self.total);
        self.record(EditKind::Drop, strategy, reason, Some(recall), saved, self.removals(positions));
        Ok(saved)
    }

    /// Replaces the messages at `positions` by one user message, which stands where the first of them stood.
    pub(crate) fn replace_messages(
        &mut self,
        context: &Context<'_>,
        archive: &mut dyn Archive,
        strategy: &str,
        positions: &[usize],
        reason: Reason,
        replacement: Replacement<'_>,
    ) -> Result<Tokens, Refusal> {
        let recall = self.archive_messages(context, archive, positions)?;
        let id = format!("epitome-{}-{}", context.epoch, self.synthetics.len());
        let mut message = Message::text(id, Role::User, Origin::Summary, (replacement.write)(&recall));
        message.name = replacement.name.map(Arc::from);
        let tokens = count_message(context.counter, &message);
        let before = self.tokens_of(positions);
        let saved = if context.guards.on(Guard::Progress) {
            guard::progress(before, tokens.total)?
        } else {
            before.saturating_sub(tokens.total)
        };
        let sequence = self.synthetics.len() as u32;
        let position = Position::before(self.entries[positions[0]].position, context.epoch, sequence);
        self.remove(positions);
        self.total = self.total - before.min(self.total) + tokens.total;
        self.record(EditKind::Summarize, strategy, reason, Some(recall), saved, self.removals(positions));
        self.add(context, position, message, tokens);
        Ok(saved)
    }

    /// Adds a message that no one said.
    pub(crate) fn add(&mut self, context: &Context<'_>, position: Position, message: Message, tokens: EntryTokens) {
        let key = EntryKey::Synthetic { epoch: context.epoch, index: self.synthetics.len() as u32 };
        let message = Arc::new(message);
        self.synthetics.push(Synthetic { position, message: Arc::clone(&message) });
        self.incoming.push((Entry::new(key, position, message), tokens));
    }

    fn remove(&mut self, positions: &[usize]) {
        for position in positions {
            self.gone[*position] = true;
        }
    }

    fn removals(&self, positions: &[usize]) -> Vec<Change> {
        positions.iter().map(|position| Change::Remove { entry: self.entries[*position].key }).collect()
    }

    fn record(
        &mut self,
        kind: EditKind,
        strategy: &str,
        reason: Reason,
        recall: Option<Arc<str>>,
        tokens_saved: Tokens,
        changes: Vec<Change>,
    ) {
        self.edits.push(AppliedEdit { kind, strategy: Arc::from(strategy), reason, recall, tokens_saved, changes });
    }

    /// The block at `at`, if it may be edited and no edit of this pass touched it.
    fn editable(&self, context: &Context<'_>, layout: &Layout, at: BlockRef) -> Result<&Block, Refusal> {
        let position = at.message as usize;
        let entry = self.entries.get(position).ok_or(Refusal::NotThere)?;
        let block = entry.message.blocks.get(at.block as usize).ok_or(Refusal::NotThere)?;
        let unit = layout.units.partition_point(|unit| unit.entries.end <= position);
        self.guarded(context, layout.protections[unit], false)?;
        if context.guards.on(Guard::Conservation) {
            guard::conservation(self.gone[position] || self.touched.contains(&at))?;
        }
        Ok(block)
    }

    /// Keeps only `keep` (ranges of the text as it is shown) of a block.
    pub(crate) fn excerpt(
        &mut self,
        context: &Context<'_>,
        archive: &mut dyn Archive,
        layout: &Layout,
        edit: BlockEdit<'_>,
        keep: &[Range<u32>],
    ) -> Result<Tokens, Refusal> {
        let at = edit.at;
        let block = self.editable(context, layout, at)?;
        let shown = block.excerptable().ok_or(Refusal::NotText)?;
        let bad = |error: epitome_session::ExcerptError| Refusal::BadRanges(error.to_string());
        let kept = Kept::new(shown, keep).map_err(bad)?;
        let entry = &self.entries[at.message as usize];
        let original = &entry.original.blocks[at.block as usize];
        let text = Arc::clone(original.excerptable().ok_or(Refusal::NotText)?);
        let kept = match entry.excerpt(at.block) {
            None => kept,
            Some(earlier) => Kept::new(&text, &earlier.to_original(text.len(), kept.ranges())).map_err(bad)?,
        };
        let kept = kept.fill_gaps(text.len(), SHORTEST_GAP);
        // A stub keeps no image either: then the whole message is archived.
        let media = original.as_result().map_or(0, |result| result.attachments.len());
        let media = if kept.ranges().is_empty() { media } else { 0 };
        let item = match media {
            0 => Archived::Text(Arc::clone(&text)),
            _ => Archived::Messages(vec![Arc::clone(&entry.original)]),
        };
        let handle = self.archive(context, archive, item)?;
        // Only a block that was cut before has to be counted again: what is known then is the count of its excerpt.
        let of_block = self.tokens[at.message as usize].blocks[at.block as usize];
        let of_text = match entry.excerpt(at.block) {
            None => of_block.saturating_sub(count_block(context.counter, &original.with_text(Arc::from("")))),
            Some(_) => context.counter.count(&text),
        };
        let attachments =
            (media > 0).then(|| Arc::from(wording::media_mark(context.language, media, &handle)));
        let excerpt = Excerpt { marks: marks(context, &text, &kept, of_text, &handle), kept, attachments };
        let key = entry.key;
        let rendered = original.excerpted(&excerpt).ok_or(Refusal::NotText)?;
        let after =
            if context.guards.on(Guard::Counting) { count_block(context.counter, &rendered) } else { of_text / 2 };
        let change = Change::Excerpt { entry: key, block: at.block, excerpt };
        self.change_block(context, EditKind::Excerpt, edit, (after, handle), change)
    }

    /// Cuts long strings in the arguments of a call.
    pub(crate) fn trim(
        &mut self,
        context: &Context<'_>,
        archive: &mut dyn Archive,
        layout: &Layout,
        edit: BlockEdit<'_>,
        max_chars: u32,
    ) -> Result<Tokens, Refusal> {
        let at = edit.at;
        let block = self.editable(context, layout, at)?;
        let call = block.as_call().ok_or(Refusal::NotText)?;
        let original = self.entries[at.message as usize].original.blocks[at.block as usize].as_call();
        let recorded = original.unwrap_or(call).arguments.text();
        let handle = self.archive(context, archive, Archived::Text(Arc::clone(recorded)))?;
        let arguments = trim::trim_arguments(&call.arguments, max_chars as usize, context.language, &handle)
            .ok_or(Refusal::NoGain)?;
        let arguments: Arc<str> = Arc::from(arguments);
        let trimmed = match call.arguments {
            Arguments::Json(_) => Arguments::Json(Arc::clone(&arguments)),
            Arguments::Text(_) => Arguments::Text(Arc::clone(&arguments)),
        };
        let shown = Content::ToolCall(ToolCall { arguments: trimmed, ..call.clone() });
        let after = count_block(context.counter, &Block::new(shown));
        let key = self.entries[at.message as usize].key;
        let change = Change::Trim { entry: key, block: at.block, arguments };
        self.change_block(context, EditKind::Trim, edit, (after, handle), change)
    }

    fn change_block(
        &mut self,
        context: &Context<'_>,
        kind: EditKind,
        edit: BlockEdit<'_>,
        (after, handle): (Tokens, Arc<str>),
        change: Change,
    ) -> Result<Tokens, Refusal> {
        let BlockEdit { strategy, at, reason } = edit;
        let before = self.tokens[at.message as usize].blocks[at.block as usize];
        let saved = if context.guards.on(Guard::Progress) {
            guard::progress(before, after)?
        } else {
            before.saturating_sub(after)
        };
        self.set_block_tokens(at, after);
        self.entries[at.message as usize].apply(&change);
        self.touched.insert(at);
        self.record(kind, strategy, reason, Some(handle), saved, vec![change]);
        Ok(saved)
    }

    /// Takes a block out of the view without a mark: signed thinking that is no longer valid where it stands.
    pub(crate) fn strip(
        &mut self,
        context: &Context<'_>,
        archive: &mut dyn Archive,
        edit: BlockEdit<'_>,
    ) -> Result<Tokens, Refusal> {
        let BlockEdit { strategy, at, reason } = edit;
        let entry = &self.entries[at.message as usize];
        let text = match &entry.message.blocks[at.block as usize].content {
            epitome_session::Content::Thinking(thinking) => Arc::clone(&thinking.text),
            _ => return Err(Refusal::NotText),
        };
        let handle = self.archive(context, archive, Archived::Text(text))?;
        let saved = self.tokens[at.message as usize].blocks[at.block as usize];
        let change = Change::Strip { entry: entry.key, block: at.block };
        self.set_block_tokens(at, 0);
        self.entries[at.message as usize].apply(&change);
        self.record(EditKind::Excerpt, strategy, reason, Some(handle), saved, vec![change]);
        Ok(saved)
    }

    fn set_block_tokens(&mut self, at: BlockRef, after: Tokens) {
        let tokens = &mut self.tokens[at.message as usize];
        let before = std::mem::replace(&mut tokens.blocks[at.block as usize], after);
        tokens.total = tokens.total - before + after;
        self.total = self.total - before.min(self.total) + after;
    }

    /// Ends a pass: what left leaves, what came in takes its place. Linear in the view.
    pub(crate) fn settle(&mut self) {
        let mut gone = std::mem::take(&mut self.gone).into_iter();
        let mut gone_again = gone.clone();
        self.entries.retain(|_| !gone.next().unwrap_or(false));
        self.tokens.retain(|_| !gone_again.next().unwrap_or(false));
        for (entry, tokens) in self.incoming.drain(..) {
            let at = self.entries.partition_point(|other| other.position < entry.position);
            self.entries.insert(at, entry);
            self.tokens.insert(at, tokens);
        }
        self.touched.clear();
        self.gone = vec![false; self.entries.len()];
        self.total = guard::counting(&self.tokens);
    }

    /// Whether anything was done at all.
    pub(crate) fn is_untouched(&self) -> bool {
        self.edits.is_empty() && self.synthetics.is_empty()
    }
}

/// The marks of an excerpt: tokens of each gap by its share of the block's bytes, the handle in the first.
fn marks(context: &Context<'_>, text: &str, kept: &Kept, of_block: Tokens, handle: &str) -> Vec<Arc<str>> {
    let gaps = kept.gaps(text.len());
    let mut handle = Some(handle);
    gaps.into_iter()
        .map(|gap| {
            let share = f64::from(gap.end - gap.start) / text.len().max(1) as f64;
            let tokens = (f64::from(of_block) * share).round() as Tokens;
            Arc::from(wording::gap_mark(context.language, text, gap, tokens, handle.take()))
        })
        .collect()
}
