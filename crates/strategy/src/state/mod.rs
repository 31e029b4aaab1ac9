//! The state of the work, by rules from the calls and their results: what runs, what was approved, the newest plan, what
//! was edited.

mod approval;
mod boundary;
mod calls;
mod edited;
mod plan;
mod running;

use std::sync::Arc;

use epitome_session::{Language, Message};

pub use boundary::Boundary;
pub use edited::EditedFiles;
pub use plan::{PlanItem, Progress, plan_items, writes_task};
pub use running::Running;

use crate::text::clip;
use calls::calls;

/// Open items of a plan that are named.
const NAMED: usize = 8;

/// The state of the work at the end of some messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkState {
    /// What was started and has not ended, as far as the messages tell; the oldest first.
    pub running: Vec<Running>,
    /// The file or the first line of the newest plan that a person approved.
    pub approved: Option<String>,
    /// Whether a person has written since they approved it: it may no longer be what they want.
    pub wrote_since: bool,
    /// The items of the newest plan; none where all are done.
    pub plan: Vec<PlanItem>,
    /// The files that were edited, since the newest commit where the session has any.
    pub edited: EditedFiles,
}

impl WorkState {
    /// Reads the state from all messages of a session's branch, in order. Linear in the messages, whose arguments are parsed.
    pub fn read(messages: &[Arc<Message>]) -> Self {
        let calls = calls(messages);
        let approved = approval::newest(&calls);
        let since = approved.as_ref().map_or(messages.len(), |(_, message)| message + 1);
        Self {
            running: running::read(messages, &calls),
            approved: approved.map(|(name, _)| name),
            wrote_since: messages[since..].iter().any(|message| message.is_typed()),
            plan: plan::newest(&calls),
            edited: edited::read(&calls),
        }
    }

    /// Returns the state in lines of at most `width` columns, what matters most first; none where there is nothing to tell.
    pub fn lines(&self, language: Language, width: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut add = |text: String| lines.extend(clip(&text, width).map(|line| format!("- {line}")));
        for running in self.running.iter().rev() {
            let id = running.id.as_deref().map_or(String::new(), |id| format!("{id} · "));
            add(format!("{}{id}{}: {}", language.pick("runs: ", "运行中："), running.tool, running.what));
        }
        if let Some(approved) = &self.approved {
            let (by, since) = match self.wrote_since {
                true => language
                    .pick(("approved by the user", ", who has written since"), ("用户已批准", "（此后另有来信）")),
                false => language.pick(("approved by the user", ""), ("用户已批准", "")),
            };
            add(format!("{by}{since}{}{approved}", language.pick(": ", "：")));
        }
        let open: Vec<&PlanItem> = self.plan.iter().filter(|item| item.progress != Progress::Done).collect();
        if !open.is_empty() {
            let (done, all) = (self.plan.len() - open.len(), self.plan.len());
            add(language.pick(format!("plan: {done} of {all} done"), format!("计划：{all} 项中已完成 {done} 项")));
        }
        for item in open.iter().take(NAMED) {
            let word = match item.progress {
                Progress::Begun => language.pick("begun: ", "进行中："),
                Progress::Open | Progress::Done => language.pick("to do: ", "待办："),
            };
            add(format!("{word}{}", item.text));
        }
        let EditedFiles { files, since_commit } = &self.edited;
        if !files.is_empty() {
            let edited = match since_commit {
                true => language.pick("edited since the last commit: ", "上次提交后修改："),
                false => language.pick("edited: ", "已修改："),
            };
            add(format!("{edited}{}", named(files, width.saturating_sub(edited.len()), language)));
        }
        lines
    }
}

/// Returns the newest files that fit in `most` bytes, at least one, and the number of the others.
fn named(files: &[String], most: usize, language: Language) -> String {
    let more = |count: usize| language.pick(format!(" and {count} more"), format!("，另有 {count} 个"));
    let mut named = String::new();
    for (number, file) in files.iter().rev().enumerate() {
        let rest = more(files.len() - number);
        if number > 0 && named.len() + file.len() + rest.len() > most {
            return named + &rest;
        }
        named.extend([if number > 0 { ", " } else { "" }, file]);
    }
    named
}

#[cfg(test)]
mod tests;
