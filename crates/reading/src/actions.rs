//! The purpose of calls: which calls ask for the same thing, which read, which report a state.

use std::collections::HashMap;

use epitome_strategy::commands::{Action as Effect, action as effect, is_looking};
use epitome_strategy::keys::key_of;
use epitome_strategy::tools::ToolKind;

use crate::passage::Action;
use crate::source::Source;

/// Returns the request of a call: its line without the tool's name, and without a change of the folder in front.
pub(crate) fn request_of<'s>(source: &'s Source, action: &Action) -> &'s str {
    let asked = source.request(action);
    match asked.strip_prefix("cd ").and_then(|rest| rest.split_once(" && ")) {
        Some((_, command)) => command.trim_start(),
        None => asked,
    }
}

/// Returns the signature of a call: calls with the same one ask for the same thing. A command's is its first two words,
/// or the whole command where it begins with a path.
pub(crate) fn signature(source: &Source, action: &Action) -> u64 {
    let asked = request_of(source, action);
    let asked = asked.split(" | ").next().unwrap_or(asked);
    let mut words = asked.split_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (first, second) = if first.contains(['/', '\\']) { (asked, "") } else { (first, second) };
    key_of(action.name.bytes().chain([0]).chain(first.bytes()).chain([0]).chain(second.bytes()))
}

/// Returns the line of the newest call of each signature. Linear in the calls.
pub(crate) fn newest_of_same(source: &Source) -> HashMap<u64, u32> {
    source.actions.iter().map(|action| (signature(source, action), action.head)).collect()
}

/// Whether a call only shows content.
pub(crate) fn is_reading(source: &Source, action: &Action) -> bool {
    let asked = request_of(source, action);
    matches!(action.kind, ToolKind::Read | ToolKind::Search | ToolKind::Web)
        || (action.kind == ToolKind::Shell && is_looking(asked))
}

impl Source {
    /// Returns the name of the file, without its folders, that a tool for reading files was asked for; `None` for other calls.
    pub(crate) fn name_of_read<'s>(&'s self, action: &Action) -> Option<&'s str> {
        let path = self.request(action).split(" | ").next().filter(|_| action.kind == ToolKind::Read)?;
        path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next()
    }
}

/// Whether a call reports a state: of a repository, a build, a test.
pub(crate) fn is_of_state(source: &Source, action: &Action) -> bool {
    let asked = request_of(source, action);
    let is_of_repository = asked.starts_with("git ") || asked.starts_with("gh ");
    action.kind == ToolKind::Shell && (is_of_repository || matches!(effect(asked), Effect::Run | Effect::Commit))
}

/// Returns the file that a call reads or changes, by its name without folders.
pub(crate) fn file_of(source: &Source, action: &Action) -> Option<u64> {
    let asked = request_of(source, action);
    let name = match action.kind {
        ToolKind::Read | ToolKind::Edit | ToolKind::Write => asked.split(" | ").find(|part| part.contains('.'))?,
        ToolKind::Shell => asked.split_whitespace().rfind(|word| word.contains('.') && !word.starts_with('-'))?,
        _ => return None,
    };
    let name = name.trim_matches(|char: char| matches!(char, '"' | '\'' | '`' | ')' | ';'));
    let name = name.rsplit(['/', '\\', ' ']).next().unwrap_or(name);
    (!name.is_empty()).then(|| key_of(name.bytes()))
}
