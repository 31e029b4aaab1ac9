//! Named results of commands: commits, and merge requests.

use std::sync::Arc;

use epitome_session::{Message, Origin};
use epitome_strategy::commands::results;
use epitome_strategy::text::clip;

use super::ComposedMemory;
use super::steps::CallStep;
use crate::memory::MemoryKind;

/// The largest number of them, the newest: of many commits the last ones show the state of the work.
const MOST: usize = 4;

/// The worth of each.
const WORTH: f64 = 2.3;

/// Commits, pull requests and issues with what they are about.
pub(super) fn compose(messages: &[Arc<Message>], steps: &[CallStep<'_>]) -> Vec<ComposedMemory> {
    let mut told: Vec<ComposedMemory> = Vec::new();
    for step in steps.iter().filter(|step| !step.failed) {
        let (Some(script), Some(output)) = (step.script.as_deref(), step.output) else { continue };
        let lines = results(script, output).into_iter().filter_map(|line| text_of(line, script));
        told.extend(lines.map(|text| (step.message(), text, (MemoryKind::Identifier, WORTH))));
    }
    told.extend(
        messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message.origin == Origin::ToolOutput)
            .flat_map(|(at, message)| commits_stated(at, &message.plain_text())),
    );
    told.sort_by_key(|(at, ..)| *at);
    told.drain(..told.len().saturating_sub(MOST));
    told
}

/// The commits that an agent without tools says it made: `Commit 1a2b3c4 Fix the parser`.
fn commits_stated(at: usize, text: &str) -> Vec<ComposedMemory> {
    let commits = text.lines().filter_map(|line| {
        let (hash, subject) = line.trim().strip_prefix("Commit ")?.split_once(' ')?;
        let is_hash = (7..=40).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| Some(format!("Commit {hash}: {}", clip(subject, 200)?))).flatten()
    });
    commits.map(|text| (at, text, (MemoryKind::Identifier, WORTH))).collect()
}

/// A commit, or an address with the title that the script gave it.
fn text_of(line: &str, script: &str) -> Option<String> {
    if let Some((head, subject)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        let (branch, hash) = head.rsplit_once(' ')?;
        let branch = branch.trim_end_matches(" (root-commit)");
        return Some(format!("Commit {hash} on branch {branch}: {}", clip(subject, 200)?));
    }
    let address = line.split_whitespace().find(|word| word.contains("://"))?;
    let title = option(script, "--title").or_else(|| option(script, "-t"))?;
    Some(format!("Pull request {address}: {}", clip(title, 200)?))
}

/// The quoted value of an option of a script.
fn option<'s>(script: &'s str, name: &str) -> Option<&'s str> {
    let rest = script.split_once(&format!("{name} ")).or_else(|| script.split_once(&format!("{name}=")))?.1;
    let quote = rest.chars().next().filter(|char| matches!(char, '"' | '\''))?;
    rest[1..].split_once(quote).map(|(value, _)| value)
}
