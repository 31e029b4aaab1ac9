//! Instructions stay in their places, each at the level of its message, and whole as far as there is room.

use std::ops::Range;
use std::sync::Arc;

use epitome_session::{Level, Reason, UnitKind};
use epitome_strategy::cut::{Focus, informative_lines};
use epitome_strategy::speech::demands;
use epitome_strategy::text::clip;
use epitome_strategy::{BlockRef, HostChanges, Lexicon, Protection, Tokens};

use crate::editor::{BlockEdit, Editor};
use crate::floor::{MARK, SHORTEST_TEXT, editable_blocks};
use crate::guard::{EditRefusal, Guard, HostChange};
use crate::loaded::{LoadedBlock, is_tag, source, without_number};
use crate::working::Layout;

pub(crate) const INSTRUCTIONS: &str = "instructions";

/// Of the room that what else must stay and what people typed leave under the target, what the host loaded takes at most the first
/// share with all its text, and with its rules alone at most the second: half of the room is the work's.
/// Contexts at 8 % of 24 recorded sessions show .604 of the facts that the continuation asks for without instructions, .580 with
/// these shares, .563 with a half and three quarters.
const WHOLE_SHARE: f64 = 1.0 / 3.0;
const RULES_SHARE: f64 = 0.5;

/// Rules that a tool read take at most this share, of what is left of the second: a host that goes on without them reads them
/// again, or has them by itself. With a quarter, .62 of twelve rules that a tool read stand at 8 % of these sessions, with a half .79.
const READ_SHARE: f64 = 0.5;

/// The room counts as this share of the target at least: where a long task takes all of it, rules stand beside what is cut of that.
const LEAST_SHARE: f64 = 0.2;

/// What people typed counts as what stays up to this share of the target: rules stand beside a long talk too.
const TYPED_SHARE: f64 = 0.5;

/// The probability from which on a line that is no item of a list demands something: more than in what a person typed
/// (`Demand::binding`), because a file has prose that states facts as such demands do.
const SURE: f32 = 0.75;

/// The code of the reason of what is shortened beside instructions.
const BESIDE: &str = "beside-rules";

/// The longest name of instructions in a reason, in columns.
const LONGEST_NAME: usize = 60;

/// Returns the probability that a line demands something; less than 0 where it does not.
fn binds(lexicon: &Lexicon, line: &str) -> f32 {
    demands(lexicon, line).iter().map(|demand| demand.binding).fold(-1.0, f32::max)
}

/// How soon a line of instructions leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LineRank {
    /// Says whose instructions they are.
    Frame,
    /// Demands something.
    Rule,
    /// An item of a list, a line of a table.
    Item,
    Heading,
    /// Prose, or a line of an example.
    Prose,
}

/// One line of instructions with the lines that continue it.
struct RankedLine {
    /// Its place in the text as it is shown.
    range: Range<usize>,
    rank: LineRank,
}

/// Returns the lines of instructions in a text, in order. Linear.
fn ranked_lines(text: &str, within: Range<usize>, lexicon: &Lexicon) -> Vec<RankedLine> {
    let mut lines: Vec<RankedLine> = Vec::new();
    let (mut in_fence, mut start) = (false, within.start);
    let first = source(&text[within.clone()]);
    for line in text[within].split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let words = without_number(line);
        let (content, indent) = (words.trim(), words.len() - words.trim_start().len());
        let is_fence = content.starts_with("```");
        in_fence ^= is_fence;
        let is_item = content.starts_with(['-', '*', '+', '•', '|']) || is_numbered(content);
        let rank = match content {
            "" => LineRank::Prose,
            _ if is_fence || in_fence => LineRank::Prose,
            _ if is_tag(content) || content == first => LineRank::Frame,
            _ if content.starts_with('#') => LineRank::Heading,
            _ if binds(lexicon, content) >= if is_item { 0.0 } else { SURE } => LineRank::Rule,
            _ if is_item => LineRank::Item,
            _ => LineRank::Prose,
        };
        let goes_on = rank == LineRank::Prose && !in_fence && !is_fence && (content.is_empty() || indent > 1);
        match lines.last_mut().filter(|last| goes_on && last.range.end == range.start) {
            Some(last) => last.range.end = range.end,
            None => lines.push(RankedLine { range, rank }),
        }
    }
    lines
}

/// Whether a line is an item of a numbered list.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|char: char| char.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with([')', '.']) && rest[1..].starts_with(' ')
}

/// A block with instructions in the view as it is.
struct ShownBlock {
    at: BlockRef,
    unit: usize,
    tokens: Tokens,
    /// Where the instructions stand in its text as it is shown.
    ranges: Vec<Range<usize>>,
    is_tool_s: bool,
}

impl Editor<'_> {
    /// Invariant (instructions): what the host loaded as instructions stays in its place, and whole while it takes no more than
    /// [`WHOLE_SHARE`] of what the target leaves beside the rest that must stay and what people typed. Where it takes more, prose
    /// leaves, and only then rules: these take up to [`RULES_SHARE`]. What a tool read takes up to [`READ_SHARE`] of what that leaves.
    /// A room of less than [`LEAST_SHARE`] of the target counts as that.
    ///
    /// Linear in the view, but for sorting the lines.
    pub(crate) fn fit_instructions(&mut self, target: Tokens) -> Result<(), EditRefusal> {
        if !self.context.guards.on(Guard::Instructions) {
            self.working.unprotect_instructions();
        }
        let layout = self.layout();
        let blocks = self.loaded_blocks(&layout);
        if blocks.is_empty() || self.check_host(HostChange::Text).is_err() {
            return Ok(());
        }
        let room = self.room_for_instructions(&layout, &blocks, target);
        let rules = (room * RULES_SHARE) as Tokens;
        self.fit_blocks(false, (room * WHOLE_SHARE) as Tokens, rules)?;
        let (layout, blocks) = (self.layout(), self.loaded_blocks(&self.layout()));
        let left = rules.saturating_sub(tokens_of(&blocks, false));
        let read = left.min((room * READ_SHARE) as Tokens);
        let share = f64::from(target) / f64::from(self.working.total.max(1));
        let steps = self.choose_read_steps(&layout, &blocks, share, read / 2);
        self.shorten_beside(&layout, &blocks, share)?;
        self.working.end_pass();
        self.fit_blocks(true, read.saturating_sub(steps), read.saturating_sub(steps))
    }

    /// Returns the tokens of the room for instructions: what must stay beside them and what people typed leave of the target. The
    /// steps in which a tool read rules are none of what must stay.
    fn room_for_instructions(&self, layout: &Layout, blocks: &[ShownBlock], target: Tokens) -> f64 {
        let held = |unit: usize| blocks.iter().filter(move |block| block.unit == unit).map(|block| block.tokens);
        let is_read = |unit: usize| blocks.iter().any(|block| block.unit == unit && block.is_tool_s);
        let (mut fixed, mut typed): (Tokens, Tokens) = (0, 0);
        for (number, unit) in layout.units.iter().enumerate() {
            let tokens = self.working.tokens()[unit.entries.clone()].iter().map(|it| it.total);
            let beside = tokens.sum::<Tokens>().saturating_sub(held(number).sum());
            match layout.protections[number] {
                Protection::NewestStep => fixed += beside.min(target / 4),
                Protection::TextsOnly => fixed += beside.min(MARK),
                Protection::Instructions if is_read(number) => {}
                protection if !protection.may_leave() => fixed += beside,
                _ if unit.kind == UnitKind::User => typed += beside,
                _ => {}
            }
        }
        let typed = typed.min((f64::from(target) * TYPED_SHARE) as Tokens);
        f64::from(target.saturating_sub(fixed).saturating_sub(typed)).max(f64::from(target) * LEAST_SHARE)
    }

    /// Chooses which steps stay for the rules that a tool read in them, the newest first: a step is calls, arguments and what else the
    /// calls printed too, shortened to `share`, and that takes `most` tokens at most in all. The others are steps like all others then.
    /// Returns the tokens beside rules of those that stay. A host that cannot remove messages has all of them anyway.
    fn choose_read_steps(&mut self, layout: &Layout, blocks: &[ShownBlock], share: f64, most: Tokens) -> Tokens {
        let mut beside_all: Tokens = 0;
        let mut leaving = Vec::new();
        for (number, unit) in layout.units.iter().enumerate().rev() {
            let is_step = unit.kind == UnitKind::Step && layout.protections[number] == Protection::Instructions;
            if !is_step || !blocks.iter().any(|block| block.unit == number && block.is_tool_s) {
                continue;
            }
            let all: Tokens = self.working.tokens()[unit.entries.clone()].iter().map(|it| it.total).sum();
            let cuttable = editable_blocks(&self.working, unit.entries.clone(), |it| it.excerptable().is_some());
            let saved = cuttable.into_iter().map(|(tokens, at)| match blocks.iter().any(|block| block.at == at) {
                true => tokens,
                false => tokens.saturating_sub(shortened(tokens, share)),
            });
            let beside = all.saturating_sub(saved.sum());
            if beside_all + beside <= most || self.working.host == HostChanges::Texts {
                beside_all += beside;
            } else {
                leaving.extend(unit.entries.clone().map(|position| self.working.entries()[position].key));
            }
        }
        self.working.unprotect_instructions_of(&leaving);
        beside_all
    }

    /// Fits the instructions that a tool read, or those that the host loaded, into `rules` tokens, with prose into `whole`.
    fn fit_blocks(&mut self, is_read: bool, whole: Tokens, rules: Tokens) -> Result<(), EditRefusal> {
        let layout = self.layout();
        let mut blocks = self.loaded_blocks(&layout);
        blocks.retain(|block| block.is_tool_s == is_read);
        if tokens_of(&blocks, is_read) <= whole {
            return Ok(());
        }
        self.let_prose_leave(&layout, &blocks, whole, rules)?;
        self.restore_validity_unless_cancelled()
    }

    /// Returns the blocks with instructions of which parts may leave: nobody pinned them, and the newest step and the newest
    /// messages have rules of their own.
    fn loaded_blocks(&self, layout: &Layout) -> Vec<ShownBlock> {
        let mut shown = Vec::new();
        for (unit, Range { start, end }) in layout.units.iter().map(|unit| unit.entries.clone()).enumerate() {
            let is_cuttable = matches!(
                layout.protections[unit],
                Protection::Instructions | Protection::OriginalTask | Protection::NewestUser
            );
            if !is_cuttable || self.working.is_marked(&layout.units[unit]) {
                continue;
            }
            for message in start..end {
                let entry = &self.working.entries()[message];
                for LoadedBlock { block, ranges } in self.working.loaded().blocks(entry.key) {
                    let at = BlockRef { message: message as u32, block: *block };
                    if self.excerptable(at).is_none() {
                        continue;
                    }
                    let ranges = match entry.excerpt(*block) {
                        Some(excerpt) => {
                            let ranges: Vec<_> = ranges.iter().map(|range| range.clone().into()).collect();
                            excerpt.to_rendered(&ranges).into_iter().map(Range::from).collect()
                        }
                        None => ranges.clone(),
                    };
                    let tokens = self.working.tokens()[message].blocks[*block as usize];
                    let is_tool_s = entry.message.origin.level() == Level::Tool;
                    shown.push(ShownBlock { at, unit, tokens, ranges, is_tool_s });
                }
            }
        }
        shown
    }

    /// Shortens what stands in a step beside rules: the step stays for the rules alone, so of each other text of it, and of what a
    /// result says around them, `share` stays.
    fn shorten_beside(&mut self, layout: &Layout, blocks: &[ShownBlock], share: f64) -> Result<(), EditRefusal> {
        for block in blocks.iter().filter(|block| layout.protections[block.unit] == Protection::Instructions) {
            let unit = &layout.units[block.unit];
            let stays = || self.working.loaded().holds(self.working.entries()[block.at.message as usize].key);
            if unit.kind != UnitKind::Step || !stays() {
                continue;
            }
            let cutting = layout.with_cuttable(block.unit);
            let beside = editable_blocks(&self.working, unit.entries.clone(), |it| it.excerptable().is_some());
            for (tokens, at) in beside.into_iter().filter(|(_, at)| blocks.iter().all(|block| block.at != *at)) {
                let keep = shortened(tokens, share);
                if tokens > keep {
                    self.cut_text(&cutting, at, tokens, keep, BESIDE)?;
                }
            }
            self.shorten_around(&cutting, block, share)?;
        }
        Ok(())
    }

    /// Shortens what a tool's result says around instructions, such as the file that they came with.
    fn shorten_around(&mut self, layout: &Layout, block: &ShownBlock, share: f64) -> Result<(), EditRefusal> {
        let Some(text) = self.excerptable(block.at).cloned().filter(|_| block.is_tool_s) else { return Ok(()) };
        let none = Focus::default();
        let focus = self.context.focus.unwrap_or(&none);
        let (mut keep, mut end): (Vec<Range<u32>>, usize) = (Vec::new(), 0);
        for range in block.ranges.iter().cloned().chain([text.len()..text.len()]) {
            let Some(around) = text.get(end..range.start) else { return Ok(()) };
            let most = (f64::from(self.context.counter.count(around)) * share) as Tokens;
            let kept = informative_lines(&self.view(layout), around, focus, most.max(SHORTEST_TEXT)).keep;
            keep.extend(kept.into_iter().map(|kept| kept.start + end as u32..kept.end + end as u32));
            keep.push(range.start as u32..range.end as u32);
            end = range.end;
        }
        let reason = Reason::new(BESIDE, "what stands around instructions");
        match self.excerpt(layout, BlockEdit::new(INSTRUCTIONS, block.at.message, block.at.block, reason), &keep) {
            Err(refusal @ (EditRefusal::Archive(_) | EditRefusal::Cancelled)) => Err(refusal),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Takes lines out of blocks until these take no more than `rules` tokens, with prose no more than `whole`.
    fn let_prose_leave(
        &mut self,
        layout: &Layout,
        blocks: &[ShownBlock],
        whole: Tokens,
        rules: Tokens,
    ) -> Result<(), EditRefusal> {
        let texts: Vec<Arc<str>> =
            blocks.iter().map(|block| self.excerptable(block.at).cloned().unwrap_or_default()).collect();
        let lines: Vec<Vec<RankedLine>> = blocks
            .iter()
            .zip(&texts)
            .map(|(block, text)| {
                let ranges = block.ranges.iter().filter(|range| text.get(Range::clone(range)).is_some());
                ranges.flat_map(|range| ranked_lines(text, range.clone(), self.context.lexicon)).collect()
            })
            .collect();
        let tokens: Vec<Vec<Tokens>> = lines
            .iter()
            .zip(&texts)
            .map(|(lines, text)| {
                lines.iter().map(|line| self.context.counter.count(&text[line.range.clone()])).collect()
            })
            .collect();
        let mut order: Vec<(usize, usize)> = lines
            .iter()
            .enumerate()
            .flat_map(|(block, lines)| (0..lines.len()).map(move |line| (block, line)))
            .collect();
        // Stable: else in their order.
        order.sort_by_key(|(block, line)| lines[*block][*line].rank);
        // Marks take room too: a few tries approach it.
        let (mut rules_room, mut whole_room) = (rules, whole);
        let mut kept = Vec::new();
        for _ in 0..4 {
            kept = choose(&order, &lines, &tokens, rules_room, whole_room);
            let chosen: Tokens =
                kept.iter().flatten().zip(tokens.iter().flatten()).filter(|(kept, _)| **kept).map(|(_, it)| it).sum();
            let gaps: usize =
                kept.iter().map(|kept| kept.split(|kept| *kept).filter(|gap| !gap.is_empty()).count()).sum();
            let over = chosen.saturating_add(MARK.saturating_mul(gaps as Tokens)).saturating_sub(rules);
            if over == 0 {
                break;
            }
            rules_room = rules_room.saturating_sub(over);
            whole_room = whole_room.min(rules_room);
        }
        for (number, block) in blocks.iter().enumerate() {
            let (kept, lines, text) = (&kept[number], &lines[number], &texts[number]);
            let stays = kept.iter().filter(|kept| **kept).count();
            if stays == kept.len() {
                continue;
            }
            self.context.check_cancelled()?;
            let mut keep: Vec<Range<u32>> = Vec::new();
            let mut end = 0;
            for (line, _) in lines.iter().zip(kept).filter(|(_, kept)| !**kept) {
                keep.push(end as u32..line.range.start as u32);
                end = line.range.end;
            }
            keep.push(end as u32..text.len() as u32);
            let of = block.ranges.first().and_then(|range| text.get(range.clone())).map_or("", source);
            let name = clip(of, LONGEST_NAME).unwrap_or_default();
            let detail = format!("{name}: {stays} of {} lines stay, rules before prose", kept.len());
            let edit =
                BlockEdit::new(INSTRUCTIONS, block.at.message, block.at.block, Reason::new("rules-first", detail));
            let left = self.excerpt(&layout.with_cuttable(block.unit), edit, &keep);
            if let Err(refusal @ (EditRefusal::Archive(_) | EditRefusal::Cancelled)) = left {
                return Err(refusal);
            }
        }
        Ok(())
    }
}

/// Returns to how many tokens a text beside rules is shortened; as many as it has where the mark would take what that saves.
fn shortened(tokens: Tokens, share: f64) -> Tokens {
    let keep = ((f64::from(tokens) * share) as Tokens).max(SHORTEST_TEXT);
    if tokens > keep.saturating_add(4 * MARK) { keep } else { tokens }
}

/// Returns the tokens of the blocks that a tool read, or of those that the host loaded.
fn tokens_of(blocks: &[ShownBlock], is_read: bool) -> Tokens {
    blocks.iter().filter(|block| block.is_tool_s == is_read).map(|block| block.tokens).sum()
}

/// Returns which lines stay: in the order given, rules while they fit into the first room, everything else while all fits into the
/// second.
fn choose(
    order: &[(usize, usize)],
    lines: &[Vec<RankedLine>],
    tokens: &[Vec<Tokens>],
    rules: Tokens,
    whole: Tokens,
) -> Vec<Vec<bool>> {
    let mut kept: Vec<Vec<bool>> = lines.iter().map(|lines| vec![false; lines.len()]).collect();
    let mut used: Tokens = 0;
    for (block, line) in order {
        let room = if lines[*block][*line].rank <= LineRank::Item { rules } else { whole };
        let after = used.saturating_add(tokens[*block][*line]);
        if after <= room || lines[*block][*line].rank == LineRank::Frame {
            used = after;
            kept[*block][*line] = true;
        }
    }
    kept
}
