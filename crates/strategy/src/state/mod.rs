//! The state of the work, by rules from the calls and their results: what runs, the newest plan, what is not committed.

mod called;
mod plan;
mod running;
mod uncommitted;

use epitome_session::{Language, Message};

pub use plan::{PlanItem, Progress, plan_items};
pub use running::Running;

use crate::text::clip;
use called::calls;

/// The longest line of a state, in columns.
const LONGEST: usize = 160;

/// Open items of a plan, and files, that are named; the others are counted.
const NAMED: usize = 8;

/// The state of the work at the end of some messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkState {
    /// What was started and has not ended, as far as the messages tell; the oldest first.
    pub running: Vec<Running>,
    /// The items of the newest plan; none where all are done.
    pub plan: Vec<PlanItem>,
    /// The files that were edited since the newest commit, in order; none where nothing says that there are commits.
    pub uncommitted: Vec<String>,
}

impl WorkState {
    /// Reads the state from all messages of a session's branch, in order. Linear in the messages; arguments are parsed for
    /// plans, for edits behind the newest commit, and for what starts or ends something that goes on.
    pub fn read(messages: &[&Message]) -> Self {
        let calls = calls(messages);
        Self {
            running: running::read(messages, &calls),
            plan: plan::newest(&calls),
            uncommitted: uncommitted::read(&calls),
        }
    }

    /// Returns the state in lines, what matters most first; none where there is nothing to tell.
    pub fn lines(&self, language: Language) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut add = |text: String| lines.extend(clip(&text, LONGEST).map(|line| format!("- {line}")));
        for running in self.running.iter().rev() {
            let id = running.id.as_deref().map_or(String::new(), |id| format!("{id} · "));
            add(format!("{}{id}{}: {}", language.pick("runs: ", "运行中："), running.tool, running.what));
        }
        let open: Vec<&PlanItem> = self.plan.iter().filter(|item| item.progress != Progress::Done).collect();
        let done = self.plan.len() - open.len();
        for item in open.iter().take(NAMED) {
            let word = match item.progress {
                Progress::Begun => language.pick("begun: ", "进行中："),
                Progress::Open | Progress::Done => language.pick("to do: ", "待办："),
            };
            add(format!("{word}{}", item.text));
        }
        if !open.is_empty() && done + open.len() > NAMED.min(open.len()) {
            let more = open.len().saturating_sub(NAMED);
            add(language.pick(
                format!("of the plan {done} done, {more} more to do"),
                format!("计划中已完成 {done} 项，另有 {more} 项待办"),
            ));
        }
        if !self.uncommitted.is_empty() {
            let named: Vec<&str> = self.uncommitted.iter().rev().take(NAMED).map(String::as_str).collect();
            let more = self.uncommitted.len().saturating_sub(NAMED);
            let more = if more > 0 {
                language.pick(format!(" and {more} more"), format!("，另有 {more} 个"))
            } else {
                String::new()
            };
            add(format!("{}{}{more}", language.pick("not committed: ", "未提交："), named.join(", ")));
        }
        lines
    }
}

#[cfg(test)]
mod tests;
