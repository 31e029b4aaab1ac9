#![doc = include_str!("../README.md")]

use epitome_strategy::{
    Goal, Plan, PlanError, Reason, Role, SUMMARY_OVERHEAD, SummaryRoom, Tokens, UnitKind, View, settings, strategy,
    summarize_runs, text, window_start,
};

settings! {
    /// Settings of `sliding-window`.
    pub struct Settings {
        /// Newest messages that stay whole. An odd number: in a conversation where user and model take turns, and which ends
        /// with the model, the window then starts with the model, behind the summary, which is a user message.
        window: u32 = 9, in 1..=1000, unit "messages", is common;
        /// The strategy runs when there are more than this many times `window` messages.
        run_above: f64 = 2.0, in 1.0..=1000.0;
        /// Whether the window grows as far as the goal allows; without it everything older than `window` is summarised.
        fill_target: bool = true;
    }
    constants {
        /// Share of the target that summaries may take.
        summary_share: f64 = 0.15;
        /// Tokens that each summary gets at least, however small its share is. Text for which that is too much gets none.
        min_summary_tokens: u32 = 200;
    }
}

strategy! {
    /// The newest messages stay whole, older ones become one summary: see the crate's page.
    pub struct SlidingWindow(Settings) {
        id: "sliding-window",
        summary: "The newest messages stay whole; what is older becomes one summary.",
        lossiness: Whole,
        since: "0.1.0",
    }
}

impl SlidingWindow {
    fn make_plan(&self, view: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        let messages = view.messages().filter(|message| message.role != Role::System).count();
        let least = (f64::from(self.settings.window) * self.settings.run_above) as usize;
        if messages <= least {
            return Ok(Plan::decline(format!("{}: runs above {least}", text::counted(messages, "message"))));
        }
        let Some(cut) = self.cut(view, goal) else {
            return Ok(Plan::decline("nothing in front of the window may leave"));
        };
        if cut.tokens <= self.settings.min_summary_tokens + SUMMARY_OVERHEAD {
            return Ok(Plan::decline("what is in front of the window is no longer than its summary would be"));
        }
        let left = goal.target.saturating_sub(goal.current.saturating_sub(cut.tokens) + SUMMARY_OVERHEAD);
        let share = self.share(goal).min(cut.tokens - SUMMARY_OVERHEAD - 1);
        let max_tokens = left.min(share).max(self.settings.min_summary_tokens);
        let detail = format!(
            "{} ({} tokens) in front of the newest {}{}",
            text::counted(cut.messages, "message"),
            cut.tokens,
            messages - cut.messages,
            if cut.shrunk { "; the window had to shrink for the goal" } else { "" }
        );
        let code = if cut.shrunk { "window-shrunk" } else { "older-than-window" };
        let reason = |_: &[u32]| Reason::new(code, detail.as_str());
        let edits = summarize_runs(view, goal, &cut.units, max_tokens, self.settings.min_summary_tokens, reason);
        Ok(Plan::from_edits(edits, "nothing in front of the window may leave"))
    }

    fn share(&self, goal: &Goal) -> Tokens {
        SummaryRoom { share: self.settings.summary_share, least: self.settings.min_summary_tokens }.tokens(goal)
    }

    /// Takes units from the oldest on: all in front of the window, or as many as the goal needs; units of the window
    /// only when those in front of it are not enough.
    fn cut(&self, view: &View<'_>, goal: &Goal) -> Option<Cut> {
        let window = window_start(view, self.settings.window as usize);
        let free = |unit: &usize| view.protection(*unit).may_leave();
        let needed = goal.excess() + SUMMARY_OVERHEAD + self.share(goal);
        let least = goal.excess() + SUMMARY_OVERHEAD + self.settings.min_summary_tokens;
        let mut cut = Cut::default();
        for unit in (0..window).filter(free) {
            if self.settings.fill_target && cut.tokens >= needed {
                break;
            }
            cut.take(view, unit);
        }
        for unit in (window..view.units().len()).filter(free) {
            if cut.tokens >= least {
                break;
            }
            cut.take(view, unit);
            cut.shrunk = true;
        }
        // One old summary alone has nothing to be folded with.
        let only_summaries = cut.units.iter().all(|unit| view.units()[*unit as usize].kind == UnitKind::Summary);
        (!only_summaries).then_some(cut)
    }
}

/// Returns the units in front of the window.
#[derive(Default)]
struct Cut {
    units: Vec<u32>,
    messages: usize,
    tokens: Tokens,
    /// Whether some of them would be in the window if the goal allowed it.
    shrunk: bool,
}

impl Cut {
    fn take(&mut self, view: &View<'_>, unit: usize) {
        self.units.push(unit as u32);
        self.messages += view.units()[unit].entries.len();
        self.tokens += view.unit_tokens(unit);
    }
}

#[cfg(test)]
mod tests;
