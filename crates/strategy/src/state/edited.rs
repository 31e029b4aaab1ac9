//! The files that were edited, since the newest commit where there is one.

use epitome_session::ToolResult;

use super::calls::CallWithResult;
use crate::block::BlockRef;
use crate::commands::{
    FileMove, LastingResults, file_moves, has_failed, is_prefix, patch_moves, script_in, simple_commands,
};
use crate::facts::{Call, FileAccess, edited_by, files_of};
use crate::tools::{ToolKind, patch_in, patch_paths};

/// The files that were edited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditedFiles {
    /// The files, each once, in the order of their newest edits.
    pub files: Vec<String>,
    /// Whether calls commit or look at the state of a repository: the files are then those since the newest commit.
    pub since_commit: bool,
}

/// Returns the files that calls edited and have neither committed nor taken back: by tools, and by scripts that edit in place or
/// write a text of their own; `told` are those that an earlier compaction told. Linear in the calls.
pub(super) fn read(calls: &[CallWithResult<'_>], told: EditedFiles) -> EditedFiles {
    let mut tree = WorkTree { files: told.files, has_git: told.since_commit, ..WorkTree::default() };
    for call in calls {
        let Some(result) = call.result else { continue };
        match call.kind {
            ToolKind::Edit | ToolKind::Write if !result.is_error => tree.edit(call),
            ToolKind::Shell => tree.run(call, result),
            _ => {}
        }
    }
    EditedFiles { files: tree.files, since_commit: tree.has_git }
}

/// The changes that are not committed, as far as calls tell.
#[derive(Debug, Default)]
struct WorkTree {
    files: Vec<String>,
    /// The files of each commit, the newest last.
    committed: Vec<Vec<String>>,
    /// The files of each stash, the newest last.
    stashed: Vec<Vec<String>>,
    has_git: bool,
}

impl WorkTree {
    /// Follows a call of a tool that edits.
    fn edit(&mut self, call: &CallWithResult<'_>) {
        let (name, kind, arguments) = (call.name, call.kind, call.arguments.text());
        let at = BlockRef { message: call.message as u32, block: 0 };
        let json = serde_json::from_str::<serde_json::Value>(arguments).ok();
        let is_json = json.is_some();
        let called = Call { at, unit: 0, name, kind, arguments, is_json, output: None, failed: None };
        for (path, access, _) in files_of(&called, &mut None) {
            if matches!(access, FileAccess::Edit | FileAccess::Write) {
                self.add(path);
            }
        }
        let patch = json.as_ref().map_or(Some(&**arguments), patch_in).unwrap_or_default();
        patch_moves(patch).into_iter().for_each(|it| self.follow_move(it, false));
    }

    /// Follows a script. Of one that failed, the last command is taken to be the one that did.
    fn run(&mut self, call: &CallWithResult<'_>, result: &ToolResult) {
        let arguments = call.arguments.text();
        let script = match serde_json::from_str(arguments) {
            Ok(json) => script_in(&json),
            Err(_) => Some(arguments.to_string()),
        };
        let Some(script) = script else { return };
        let failed = has_failed(&result.text, result.is_error, Some(&script)) == Some(true);
        let lasting = LastingResults::of(&script);
        let has_committed = !failed || result.text.lines().any(|line| lasting.is_reported_by(line));
        if !failed {
            patch_paths(&script).for_each(|path| self.add(path.to_owned()));
            patch_moves(&script).into_iter().for_each(|it| self.follow_move(it, false));
        }
        let commands: Vec<&str> = simple_commands(&script).collect();
        for (at, command) in commands.iter().enumerate() {
            let words = git_words(command);
            self.has_git |= words.is_some();
            if let Some(["commit", options @ ..]) = words.as_deref()
                && has_committed
            {
                self.commit(options.contains(&"--amend"));
            } else if !failed || at + 1 < commands.len() {
                self.run_command(command, words.as_deref());
            }
        }
    }

    fn run_command(&mut self, command: &str, git: Option<&[&str]>) {
        edited_by(command).for_each(|(path, _)| self.add(path));
        file_moves(command).into_iter().for_each(|it| self.follow_move(it, git.is_some()));
        match git {
            Some(["checkout", words @ ..]) => self.take_back(words),
            Some(["restore", words @ ..]) if !words.contains(&"--staged") || words.contains(&"--worktree") => {
                self.take_back(words);
            }
            Some(["reset", words @ ..]) => self.reset(words),
            Some(["stash", "pop" | "apply", ..]) => self.files.extend(self.stashed.pop().unwrap_or_default()),
            Some(["stash"] | ["stash", "push" | "save", ..]) => self.stashed.push(std::mem::take(&mut self.files)),
            Some(["stash", option, ..]) if option.starts_with('-') => {
                self.stashed.push(std::mem::take(&mut self.files))
            }
            _ => {}
        }
    }

    fn add(&mut self, path: String) {
        self.files.retain(|known| *known != path);
        self.files.push(path);
    }

    /// A file that is not tracked is no change where it moves; `is_tracked` are those that git moves.
    fn follow_move(&mut self, moved: FileMove<'_>, is_tracked: bool) {
        let Some(from) = moved.from else { return };
        let (gone, kept) = std::mem::take(&mut self.files).into_iter().partition(|known| is_or_in(known, from));
        self.files = kept;
        let gone: Vec<String> = gone;
        if let Some(to) = moved.to {
            match gone.is_empty() {
                true if is_tracked => self.add(to),
                true => {}
                false => gone.iter().for_each(|file| self.add(renamed(file, from, &to))),
            }
        }
    }

    fn commit(&mut self, amends: bool) {
        let files = std::mem::take(&mut self.files);
        match self.committed.last_mut() {
            Some(newest) if amends => newest.extend(files),
            _ => self.committed.push(files),
        }
    }

    /// Takes back the changes of the paths among the words of a command.
    fn take_back(&mut self, words: &[&str]) {
        let is_path = |word: &str| word.contains(['.', '/']);
        let behind = words.iter().position(|word| *word == "--");
        let paths = words.iter().enumerate().filter(|(at, word)| match behind {
            Some(behind) => *at > behind,
            None => !word.starts_with('-') && is_path(word),
        });
        for (_, path) in paths {
            let path = path.trim_matches(['"', '\'', ')']);
            self.files.retain(|known| !matches!(path, "." | "./" | ":/") && !is_or_in(known, path));
        }
    }

    /// `git reset`: with `--hard` all changes are gone, and of commits that are taken back without it they are there again.
    fn reset(&mut self, words: &[&str]) {
        let back = words.iter().find_map(|word| word.strip_prefix("HEAD")).unwrap_or_default();
        let count = match back.strip_prefix('~') {
            Some("") => 1,
            Some(count) => count.parse().unwrap_or(0),
            None if back.bytes().all(|byte| byte == b'^') => back.len(),
            None => 0,
        };
        let start = self.committed.len().saturating_sub(count);
        let undone: Vec<String> = self.committed.drain(start..).flatten().collect();
        if words.contains(&"--hard") {
            self.files.clear();
        } else {
            let newer = std::mem::take(&mut self.files);
            undone.into_iter().chain(newer).for_each(|file| self.add(file));
        }
    }
}

/// Returns where a file of `from`, or of that folder, is once `from` is at `to`.
fn renamed(file: &str, from: &str, to: &str) -> String {
    let from = from.trim_start_matches("./").trim_end_matches('/');
    let (folder, rest) = file.split_once(from).unwrap_or((file, ""));
    let to = to.trim_start_matches("./").trim_end_matches('/');
    if to.starts_with('/') { format!("{to}{rest}") } else { format!("{folder}{to}{rest}") }
}

/// Whether a file is what another path names, from any folder on, or in a folder of that path.
fn is_or_in(file: &str, path: &str) -> bool {
    let inner = format!("/{}/", path.trim_start_matches("./").trim_matches('/'));
    format!("/{}/", file.trim_matches('/')).contains(&inner)
}

/// Returns the words of a call of git from its sub-command on: of `git -C a commit -m x` from `commit`.
fn git_words(command: &str) -> Option<Vec<&str>> {
    let mut words = command.split_whitespace().skip_while(|word| is_prefix(word));
    words.next().filter(|program| program.rsplit('/').next() == Some("git"))?;
    // `-C path` and `-c name=value` are options with an argument.
    let mut takes_argument = false;
    let is_option = |word: &&str| {
        let is_option = std::mem::take(&mut takes_argument) || word.starts_with('-');
        takes_argument = matches!(*word, "-C" | "-c");
        is_option
    };
    Some(words.skip_while(is_option).collect())
}

/// Whether a script has `git commit`, with options before the command or without. Linear.
pub(super) fn commits(script: &str) -> bool {
    simple_commands(script).any(|command| matches!(git_words(command).as_deref(), Some(["commit", ..])))
}
