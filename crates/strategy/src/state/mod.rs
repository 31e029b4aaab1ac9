//! The state of the work, by rules from the calls and their results: what runs, what was approved, the newest plan, what
//! was edited.

mod approval;
mod boundary;
mod calls;
mod earlier;
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
use crate::tools::ToolKind;
use calls::calls;

/// The words in front of what each line tells, in English and Chinese.
const RUNS: [&str; 2] = ["runs: ", "运行中："];
const APPROVED: [&str; 2] = ["approved by the user", "用户已批准"];
const SINCE: [&str; 2] = [", who has written since", "（此后另有来信）"];
const DONE: [&str; 2] = ["plan: ", "计划："];
const BEGUN: [&str; 2] = ["begun: ", "进行中："];
const TO_DO: [&str; 2] = ["to do: ", "待办："];
const EDITED: [&str; 2] = ["edited: ", "已修改："];
const EDITED_SINCE_COMMIT: [&str; 2] = ["edited since the last commit: ", "上次提交后修改："];
/// The words in front of the number of files that are not named.
const MORE: [&str; 2] = [" and ", "，另有 "];

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
    /// Reads the state from all messages of a session's branch, in order. Where an earlier compaction left its text in their place, the
    /// state goes on from what that text tells. Linear in the messages, whose arguments are parsed.
    pub fn read(messages: &[Arc<Message>]) -> Self {
        let calls = calls(messages);
        let told = earlier::newest(messages.iter().enumerate().map(|(at, message)| (at, &**message)));
        let (told_at, mut told) = told.map_or((messages.len(), Self::default()), |(at, state)| (at + 1, state));
        if calls.iter().any(|call| call.kind == ToolKind::Plan && call.message < told_at) {
            told.plan.clear();
        }
        let (approved, since) = match approval::newest(&calls) {
            Some((name, message)) => (Some(name), message + 1),
            None => (told.approved, told_at),
        };
        let wrote_since = messages[since..].iter().any(|message| message.is_typed());
        Self {
            running: running::read(messages, &calls, told.running),
            wrote_since: approved.is_some() && (wrote_since || told.wrote_since && since == told_at),
            approved,
            plan: plan::newest(&calls, told.plan),
            edited: edited::read(&calls, told.edited),
        }
    }

    /// Returns the state in lines of at most `width` columns, what matters most first; none where there is nothing to tell.
    pub fn lines(&self, language: Language, width: usize) -> Vec<String> {
        let pick = |words: [&'static str; 2]| language.pick(words[0], words[1]);
        let mut lines: Vec<String> = Vec::new();
        let mut add = |text: String| lines.extend(clip(&text, width).map(|line| format!("- {line}")));
        for running in self.running.iter().rev() {
            let id = running.id.as_deref().map_or(String::new(), |id| format!("{id} · "));
            add(format!("{}{id}{}: {}", pick(RUNS), running.tool, running.what));
        }
        if let Some(approved) = &self.approved {
            let since = if self.wrote_since { pick(SINCE) } else { "" };
            add(format!("{}{since}{}{approved}", pick(APPROVED), language.pick(": ", "：")));
        }
        let open: Vec<&PlanItem> = self.plan.iter().filter(|item| item.progress != Progress::Done).collect();
        if !open.is_empty() {
            let (done, all) = (self.plan.len() - open.len(), self.plan.len());
            let count = language.pick(format!("{done} of {all} done"), format!("{all} 项中已完成 {done} 项"));
            add(format!("{}{count}", pick(DONE)));
        }
        for item in open.iter().filter(|item| !item.text.is_empty()).take(NAMED) {
            let word = match item.progress {
                Progress::Begun => pick(BEGUN),
                Progress::Open | Progress::Done => pick(TO_DO),
            };
            add(format!("{word}{}", item.text));
        }
        let EditedFiles { files, since_commit } = &self.edited;
        if !files.is_empty() {
            let edited = pick(if *since_commit { EDITED_SINCE_COMMIT } else { EDITED });
            add(format!("{edited}{}", named(files, width.saturating_sub(edited.len()), language)));
        }
        lines
    }
}

/// Returns the newest files that fit in `most` bytes, at least one, and the number of the others.
fn named(files: &[String], most: usize, language: Language) -> String {
    let more = |count: usize| format!("{}{count}{}", language.pick(MORE[0], MORE[1]), language.pick(" more", " 个"));
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
