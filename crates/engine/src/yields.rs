//! Messages that yield where what must stay is over the limit: the original task, and after it the newest user message.

use epitome_strategy::{Protection, Tokens};

use crate::archive::MemoryArchive;
use crate::editor::Editor;
use crate::floor::editable_blocks;
use crate::guard::Refusal;
use crate::working::WorkingView;

/// Messages that yield where what must stay is over the limit, each with the sixths of the room that it keeps.
type YieldOrder = &'static [(Protection, Tokens)];

/// The task yields first; the newest message is what the model is to answer, and gets most where both have to.
const YIELDS: [YieldOrder; 2] =
    [&[(Protection::OriginalTask, 4)], &[(Protection::OriginalTask, 1), (Protection::NewestUser, 3)]];

/// A cut of messages that yield.
#[derive(Clone, Copy)]
pub(crate) struct MessageCut {
    messages: YieldOrder,
    /// Tokens of which each keeps its share.
    room: Tokens,
}

impl Editor<'_> {
    /// The least that can be reached: the view without anything that may leave. Linear in the view.
    pub(crate) fn least(&self, limit: Tokens) -> Result<WorkingView, Refusal> {
        self.least_after(None, limit)
    }

    fn least_after(&self, cut: Option<MessageCut>, limit: Tokens) -> Result<WorkingView, Refusal> {
        let mut scratch = MemoryArchive::new();
        let mut editor = self.fork(&mut scratch);
        if let Some(cut) = cut {
            editor.cut_messages(cut)?;
        }
        editor.make_most_room(limit)?;
        Ok(editor.working)
    }

    /// Which messages have to be cut to head and tail, and how far, where what must stay is over the limit: a session that
    /// goes on with half of its task is worth more than none. Returns the least that can be reached then, and the cut;
    /// none where the least is over the limit all the same.
    pub(crate) fn fitting_cut(&self, limit: Tokens) -> Result<(WorkingView, Option<MessageCut>), Refusal> {
        let mut least = self.working.clone();
        for messages in YIELDS {
            least = self.least_after(Some(MessageCut { messages, room: 0 }), limit)?;
            let Some(room) = limit.checked_sub(least.total) else { continue };
            // What is kept is an estimate, so the count decides.
            for room in [room, room / 2, 0] {
                let cut = MessageCut { messages, room };
                let least = self.least_after(Some(cut), limit)?;
                if least.total <= limit {
                    return Ok((least, Some(cut)));
                }
            }
        }
        Ok((least, None))
    }

    /// Cuts messages that yield to what they keep.
    pub(crate) fn cut_messages(&mut self, cut: MessageCut) -> Result<(), Refusal> {
        for (protection, sixths) in cut.messages {
            self.cut_protected(*protection, cut.room / 6 * sixths)?;
        }
        Ok(())
    }

    /// Cuts the message of a protection, the original task's or the newest user message's, to its head and tail, about
    /// `keep` tokens of it: for a message that leaves no room for the rest of what must stay. One that is pinned by more
    /// than its place is not touched. Linear in the view.
    fn cut_protected(&mut self, protection: Protection, keep: Tokens) -> Result<(), Refusal> {
        let mut layout = self.layout();
        let unit = layout.protections.iter().position(|known| *known == protection);
        let Some(unit) = unit.filter(|unit| !self.working.is_marked(&layout.units[*unit])) else { return Ok(()) };
        layout.protections[unit] = Protection::NewestStep; // parts may leave, and it may not leave whole
        let positions = layout.units[unit].entries.clone();
        let texts = editable_blocks(&self.working, positions, |block| block.excerptable().is_some());
        let all = texts.iter().map(|(tokens, _)| *tokens).sum::<Tokens>().max(1);
        for (tokens, at) in texts {
            let share = (u64::from(keep) * u64::from(tokens) / u64::from(all)) as Tokens;
            self.cut_text(&layout, at, tokens, share, "message-over-budget")?;
        }
        self.context.go_on()?;
        self.entail()
    }
}
