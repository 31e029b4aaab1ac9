//! Messages that yield where what must stay is over the limit: the original task, and after it the newest user message.

use epitome_strategy::{Protection, Tokens};

use crate::archive::MemoryArchive;
use crate::editor::Editor;
use crate::floor::editable_blocks;
use crate::guard::Refusal;
use crate::working::WorkingView;

/// The order in which messages yield where what must stay is over the limit, each with its sixths of the room.
type YieldOrder = &'static [(Protection, Tokens)];

/// The task yields first. The newest message is what the model answers, so it keeps most where both have to yield.
const YIELDS: [YieldOrder; 2] =
    [&[(Protection::OriginalTask, 4)], &[(Protection::OriginalTask, 1), (Protection::NewestUser, 3)]];

/// A cut of messages that yield.
#[derive(Clone, Copy)]
pub(crate) struct MessageCut {
    messages: YieldOrder,
    /// Tokens of which each message keeps its sixths.
    room: Tokens,
}

impl Editor<'_> {
    /// Returns the least that can be reached: the view without anything that may leave. Linear in the view.
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

    /// Returns the least that can be reached, and the cut of messages to head and tail that it needs where what must
    /// stay is over the limit: a session that continues with half of its task is worth more than none. The cut is
    /// `None` where the least is over the limit all the same. The task is cut first, alone; the newest user message
    /// with it only where even a stub of the task does not fit. Example: with a limit of 1,000 tokens and a least of
    /// 700 around the task's stub the room is 300, so the task keeps about 4/6 of 300 = 200 tokens; where the recount
    /// is over the limit, 100; else only the stub.
    pub(crate) fn fitting_cut(&self, limit: Tokens) -> Result<(WorkingView, Option<MessageCut>), Refusal> {
        let mut least = self.working.clone();
        for messages in YIELDS {
            least = self.least_after(Some(MessageCut { messages, room: 0 }), limit)?;
            let Some(room) = limit.checked_sub(least.total) else { continue };
            // What a cut keeps is an estimate, so the recount decides; room 0 repeats the stub, which is known to fit.
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

    /// Cuts the messages of a cut, each to its share of the room.
    pub(crate) fn cut_messages(&mut self, cut: MessageCut) -> Result<(), Refusal> {
        for (protection, sixths) in cut.messages {
            self.cut_protected(*protection, cut.room / 6 * sixths)?;
        }
        Ok(())
    }

    /// Cuts the message of a protection, the original task's or the newest user message's, to its head and tail, about
    /// `keep` tokens of it. This is for a message that leaves no room for the rest of what must stay. A message that is
    /// also pinned stays whole. Linear in the view.
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
