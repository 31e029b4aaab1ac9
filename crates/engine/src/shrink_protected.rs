//! Messages that yield where what must stay is over the limit: the original task, and after it the newest user message.

use epitome_strategy::{Protection, Tokens};

use crate::archive::MemoryArchive;
use crate::editor::Editor;
use crate::floor::{MARK, SHORTEST_TEXT, editable_blocks};
use crate::guard::EditRefusal;
use crate::working::WorkingView;

/// The order in which messages yield where what must stay is over the limit, each with its sixths of the room.
type ShrinkOrder = &'static [(Protection, Tokens)];

/// The task yields first. The newest message is what the model answers, so it keeps most where both have to yield.
const SHRINK_ORDERS: [ShrinkOrder; 2] =
    [&[(Protection::OriginalTask, 4)], &[(Protection::NewestUser, 3), (Protection::OriginalTask, 1)]];

/// A cut of messages that yield.
#[derive(Clone, Copy)]
pub(crate) struct MessageCut {
    messages: ShrinkOrder,
    /// Tokens of which each message keeps its sixths, and what no other message could use.
    room: Tokens,
}

impl Editor<'_> {
    /// Returns the least that can be reached: the view without anything that may leave. Linear in the view.
    pub(crate) fn minimum_view(&self, limit: Tokens) -> Result<WorkingView, EditRefusal> {
        self.minimum_view_after(None, limit)
    }

    fn minimum_view_after(&self, cut: Option<MessageCut>, limit: Tokens) -> Result<WorkingView, EditRefusal> {
        let mut scratch = MemoryArchive::new();
        let mut editor = self.fork(&mut scratch);
        if let Some(cut) = cut {
            editor.cut_messages(cut)?;
        }
        editor.make_most_room(limit)?;
        Ok(editor.working)
    }

    /// Returns the least that can be reached, and the cut of messages that it needs where what must
    /// stay is over the limit: a session that continues with half of its task is worth more than none. The cut is
    /// `None` where the least is over the limit all the same. The task is cut first, alone; the newest user message
    /// with it only where even a stub of the task does not fit. Example: with a limit of 1,000 tokens and a least of
    /// 700 around the task's stub the room is 300, so the task keeps about 4/6 of 300 = 200 tokens; where the recount
    /// is over the limit, 100; else only the stub.
    pub(crate) fn fitting_cut(&self, limit: Tokens) -> Result<(WorkingView, Option<MessageCut>), EditRefusal> {
        let mut least = self.working.clone();
        for messages in SHRINK_ORDERS {
            least = self.minimum_view_after(Some(MessageCut { messages, room: 0 }), limit)?;
            let Some(room) = limit.checked_sub(least.total) else { continue };
            // What a cut keeps is an estimate, so the recount decides; room 0 repeats the stub, which is known to fit.
            for room in [room, room / 2, 0] {
                let cut = MessageCut { messages, room };
                let least = self.minimum_view_after(Some(cut), limit)?;
                if least.total <= limit {
                    return Ok((least, Some(cut)));
                }
            }
        }
        Ok((least, None))
    }

    /// Cuts the messages of a cut, each to its share of the room and to what those that may leave, or one before it, could
    /// not use.
    pub(crate) fn cut_messages(&mut self, cut: MessageCut) -> Result<(), EditRefusal> {
        let layout = self.layout();
        let free = layout.units.iter().zip(&layout.protections).filter(|(_, it)| it.may_leave());
        let free = free.flat_map(|(unit, _)| &self.working.tokens()[unit.entries.clone()]).map(|it| it.total);
        let sixth = cut.room / 6;
        let others: Tokens = 6 - cut.messages.iter().map(|(_, sixths)| sixths).sum::<Tokens>();
        let mut spare = (sixth * others).saturating_sub(free.sum());
        for (protection, sixths) in cut.messages {
            let keep = sixth * sixths + spare;
            spare = keep.saturating_sub(self.cut_protected(*protection, keep)?);
        }
        Ok(())
    }

    /// Cuts the message of a protection, the original task's or the newest user message's, to its lines that tell most,
    /// about `keep` tokens of it. This is for a message that leaves no room for the rest of what must stay. A message that is
    /// also pinned stays whole. Returns the tokens of its texts then. Linear in the view.
    fn cut_protected(&mut self, protection: Protection, keep: Tokens) -> Result<Tokens, EditRefusal> {
        let mut layout = self.layout();
        let unit = layout.protections.iter().position(|known| *known == protection);
        let Some(unit) = unit.filter(|unit| !self.working.is_marked(&layout.units[*unit])) else { return Ok(0) };
        layout.protections[unit] = Protection::NewestStep; // parts may leave, and it may not leave whole
        let positions = layout.units[unit].entries.clone();
        let is_text = |block: &epitome_session::Block| block.excerptable().is_some();
        let texts = editable_blocks(&self.working, positions.clone(), is_text);
        let sizes: Vec<Tokens> = texts.iter().map(|(tokens, _)| *tokens).collect();
        for ((tokens, at), share) in texts.into_iter().zip(shares(&sizes, keep)) {
            if share < tokens {
                self.cut_text(&layout, at, tokens, share, "message-over-budget")?;
            }
        }
        let kept = editable_blocks(&self.working, positions, is_text).iter().map(|(tokens, _)| tokens).sum();
        self.context.check_cancelled()?;
        self.restore_validity()?;
        Ok(kept)
    }
}

/// Returns how many tokens of each text of a message stay where `keep` tokens more may than the marks of all of them
/// take; 0 for a mark alone. The largest give first, all down to one level: the short text beside an attached file is
/// what was asked for. No text becomes a mark while a larger one keeps a part. `n log n` in the texts.
fn shares(sizes: &[Tokens], keep: Tokens) -> Vec<Tokens> {
    let mut shortest_first: Vec<usize> = (0..sizes.len()).collect();
    shortest_first.sort_by_key(|at| sizes[*at]);
    let (mut rest, mut shares) = (keep, vec![0; sizes.len()]);
    if keep == 0 {
        return shares; // the least that can be reached has the mark of a text as short as a mark too
    }
    for (done, at) in shortest_first.into_iter().enumerate() {
        let level = rest / (sizes.len() - done) as Tokens;
        // A part that short is a mark in the end, so its room goes to the texts that fit whole.
        let level = if level < SHORTEST_TEXT { rest } else { level };
        let beside_mark = sizes[at].saturating_sub(MARK);
        let is_whole = beside_mark <= level;
        shares[at] = if is_whole { sizes[at] } else { level };
        rest -= if is_whole { beside_mark } else { level };
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_text_gives_first() {
        let check = |sizes: &[Tokens], keep: Tokens, expect: &[Tokens]| assert_eq!(shares(sizes, keep), expect);
        check(&[20, 2000], 900, &[20, 894]);
        check(&[2000, 20], 900, &[894, 20]);
        check(&[20, 2000], 30, &[20, 24]);
        check(&[20, 2000], 5, &[5, 0]);
        check(&[20, 2000], 0, &[0, 0]);
        check(&[100, 2000, 1000], 686, &[100, 300, 300]);
        check(&[10, 12, 2000], 0, &[0, 0, 0]);
        check(&[10, 12, 2000], 1, &[10, 12, 1]);
        check(&[50, 60, 2000], 90, &[50, 60, 8]);
        check(&[2000, 1900], 5000, &[2000, 1900]);
        check(&[], 5, &[]);
    }
}
