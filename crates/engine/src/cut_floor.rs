//! The floor for a host that takes one cut and one text: the cut moves towards the newest messages.

use epitome_session::{Heading, Origin, Reason, UnitKind};
use epitome_strategy::{HostChanges, Tokens};

use crate::editor::{Editor, Replacement};
use crate::floor::{FLOOR, LEAST_SUMMARY, MARK, SLACK};
use crate::guard::{EditRefusal, Guard};
use crate::protect::are_one_row;
use crate::wording;
use crate::working::Layout;
use epitome_strategy::cut::beginnings;

/// The text in place of what is in front of the cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CutText {
    /// That of the summary which stands there; a notice where there is none.
    Summary,
    /// A notice.
    Notice,
}

impl Editor<'_> {
    /// Whether the host takes nothing but one cut with one text.
    pub(crate) fn only_cuts(&self) -> bool {
        self.working.host == HostChanges::Cut && self.context.guards.on(Guard::Host)
    }

    /// Moves the cut, the oldest unit first, until the target is met or nothing more may leave. A summary in front stays
    /// in front and gets shorter where it is too long; in the end a notice takes its place.
    ///
    /// Linear in the view for each of a bounded number of passes.
    pub(crate) fn move_cut(&mut self, target: Tokens) -> Result<(), EditRefusal> {
        for slack in SLACK {
            if self.working.total <= target {
                return Ok(());
            }
            self.cut_front(target, slack, CutText::Summary)?;
            self.restore_validity_unless_cancelled()?;
        }
        if self.working.total > target {
            self.shorten_front(target)?;
            self.restore_validity_unless_cancelled()?;
        }
        if self.working.total > target { self.make_whole_cut() } else { Ok(()) }
    }

    /// Replaces everything that may leave by a notice: the least that a cut can reach. Linear in the view.
    pub(crate) fn make_whole_cut(&mut self) -> Result<(), EditRefusal> {
        self.cut_front(0, Tokens::MAX, CutText::Notice)?;
        self.restore_validity_unless_cancelled()
    }

    /// Replaces the oldest units that may leave by one message, as many as free the tokens above `target` and `slack`
    /// more. Nothing changes where that message would be no shorter.
    fn cut_front(&mut self, target: Tokens, slack: Tokens, text: CutText) -> Result<(), EditRefusal> {
        let layout = self.layout();
        let free: Vec<usize> = (0..layout.units.len()).filter(|unit| layout.protections[*unit].may_leave()).collect();
        let body = self.front_summary(&layout, &free).filter(|_| text == CutText::Summary);
        let wanted = self.working.total.saturating_sub(target).saturating_add(slack);
        let kept = usize::from(body.is_some());
        let mut freed: Tokens = 0;
        let mut cut = kept;
        let is_row = |cut: usize| {
            let pair = cut.checked_sub(1).map(|before| (free[before], free[cut]));
            pair.is_some_and(|(one, next)| are_one_row(self.working.entries(), &layout.units[one], &layout.units[next]))
        };
        while cut < free.len() && (freed < wanted || is_row(cut)) {
            let entries = layout.units[free[cut]].entries.clone();
            freed = freed.saturating_add(self.working.tokens()[entries].iter().map(|it| it.total).sum::<Tokens>());
            cut += 1;
        }
        if cut == kept {
            return Ok(());
        }
        let units: Vec<u32> = free[..cut].iter().map(|unit| *unit as u32).collect();
        let reason = Reason::new("oldest-first", "the oldest that may leave, to meet the budget");
        self.replace_front(&self.leaving(&layout, &units)?, reason, body.as_deref())
    }

    /// Shortens the summary in front by its sections. Nothing changes where there is none, or where it is short.
    fn shorten_front(&mut self, target: Tokens) -> Result<(), EditRefusal> {
        let layout = self.layout();
        let free: Vec<usize> = (0..layout.units.len()).filter(|unit| layout.protections[*unit].may_leave()).collect();
        let Some(body) = self.front_summary(&layout, &free) else { return Ok(()) };
        let tokens = self.context.counter.count(&body);
        let keep = tokens.saturating_sub(self.working.total.saturating_sub(target)).max(LEAST_SUMMARY);
        if tokens <= keep + MARK {
            return Ok(());
        }
        let mut shorter = String::new();
        let mut end = 0;
        let kept = beginnings(&body, keep, tokens, MARK);
        for range in kept.into_iter().chain([body.len() as u32..body.len() as u32]) {
            if end < range.start {
                let gap = f64::from(range.start - end) / body.len() as f64 * f64::from(tokens);
                shorter.push_str(&wording::gap_mark(
                    self.context.language,
                    &body,
                    end..range.start,
                    gap as Tokens,
                    None,
                ));
            }
            shorter.push_str(&body[range.start as usize..range.end as usize]);
            end = range.end;
        }
        let positions = self.leaving(&layout, &[free[0] as u32])?;
        let reason = Reason::new("summary-over-budget", "a summary: the beginnings of its sections");
        self.replace_front(&positions, reason, Some(&shorter))
    }

    /// Returns the text of the summary that is the first of `free` units, without its heading.
    fn front_summary(&self, layout: &Layout, free: &[usize]) -> Option<String> {
        let unit = &layout.units[*free.first()?];
        let message = &self.working.entries()[unit.entries.start].message;
        let is_summary = unit.kind == UnitKind::Summary && message.origin == Origin::Summary;
        is_summary.then(|| Heading::body_of(&message.plain_text()).to_owned()).filter(|body| !body.is_empty())
    }

    /// Replaces the messages at `positions` by a summary with this text, or by a notice.
    fn replace_front(&mut self, positions: &[usize], reason: Reason, body: Option<&str>) -> Result<(), EditRefusal> {
        let messages = self.covered_messages(positions);
        let context = self.context;
        let write = |handle: &str| match body {
            Some(body) => {
                format!(
                    "{}\n{body}",
                    wording::summary_heading(context.language, messages, context.usable_handle(handle))
                )
            }
            None => wording::notice(context.language, messages, context.usable_handle(handle)),
        };
        let origin = if body.is_some() { Origin::Summary } else { Origin::Notice };
        match self.replace_messages(FLOOR, positions, reason, Replacement { origin, write: &write }) {
            Ok(_) | Err(EditRefusal::NoGain | EditRefusal::Host(_)) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }
}
