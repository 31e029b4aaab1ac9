//! The names of files in a memory: from the project's folder on.

use super::steps::CallStep;

/// Folders of temporary files, or of the agent's own.
const PASSING: &[&str] = &[
    "/tmp/",
    "/temp/",
    "/.claude/",
    "/.codex/",
    "/.copilot/",
    "/.gemini/",
    "/.pi/",
    "scratchpad",
    "repro",
    "/AppData/",
];

/// Names of files that are written to try something out, beside the project's folders.
const TRIALS: &[&str] = &[
    "debug", "repro", "tmp", "apply_", "check_", "try_", "verify_", "fix_", "test_", "update_", "demo_", "foo.", "bar.",
];

/// The most files that a memory names.
const MOST_NAMED: usize = 5;

/// The files that a session changed.
#[derive(Debug)]
pub(super) struct Names {
    /// The prefix that is left out of each name, with the slash behind it; may be empty.
    root: String,
    removed: Vec<String>,
}

impl Names {
    pub(super) fn from_steps(steps: &[CallStep<'_>]) -> Self {
        let is_absolute = |path: &&String| path.starts_with(['/', '~']) || path.get(1..2) == Some(":");
        let mut paths = steps.iter().flat_map(|step| &step.changed).filter(|path| lasts(path)).filter(is_absolute);
        let mut root = paths.next().map(|path| folder(path).to_owned()).unwrap_or_default();
        for path in paths {
            while !root.is_empty() && !path.starts_with(&root) {
                root = parent(&root).to_owned();
            }
        }
        // Where commands were run is the project; else two folders more than all of them share say where a file is.
        let place = steps
            .iter()
            .filter_map(CallStep::place)
            .filter(|place| root.starts_with(*place))
            .min_by_key(|place| place.len());
        let root = match place {
            Some(place) => format!("{}/", place.trim_end_matches('/')),
            // Where they are in several folders, what these are in says enough.
            None if is_of_several_folders(steps, &root) => root,
            None => parent(parent(&root)).to_owned(),
        };
        let mut removed: Vec<String> =
            steps.iter().filter_map(|step| step.script.as_deref()).flat_map(removed_by).collect();
        // A script's file beside the project's folders, while files in these are changed, is a trial.
        if steps.iter().flat_map(|step| &step.changed).any(|path| path.contains('/') && lasts(path)) {
            let scripts =
                steps.iter().filter(|step| step.script.as_deref().is_some_and(|script| script.contains("<<")));
            removed.extend(scripts.flat_map(|step| &step.changed).filter(|path| !path.contains('/')).cloned());
        }
        Self { root: if root.len() > 1 { root } else { String::new() }, removed }
    }

    /// Files in a row, each once, at most five by name; `None` where none of them lasts.
    pub(super) fn list<'p>(&self, paths: impl Iterator<Item = &'p String>) -> Option<String> {
        let mut named: Vec<&str> = Vec::new();
        for path in paths.filter(|path| {
            lasts(path)
                && !self.removed.iter().any(|gone| {
                    path.strip_suffix(gone.as_str()).is_some_and(|before| before.is_empty() || before.ends_with('/'))
                })
        }) {
            let short = path.strip_prefix(&self.root).unwrap_or(path);
            if !named.contains(&short) {
                named.push(short);
            }
        }
        let more = named.len().saturating_sub(MOST_NAMED);
        let listed = named.iter().take(MOST_NAMED).map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
        match (named.len(), more) {
            (0, _) => None,
            (_, 0) => Some(listed),
            _ => Some(format!("{listed} and {more} more")),
        }
    }
}

/// Whether files are in several folders of a folder.
fn is_of_several_folders(steps: &[CallStep<'_>], root: &str) -> bool {
    let mut folders =
        steps.iter().flat_map(|step| &step.changed).filter_map(|path| path.strip_prefix(root)).map(folder);
    let first = folders.next();
    !root.is_empty() && folders.any(|other| Some(other) != first)
}

/// The folder that a folder is in, both with the slash behind them.
fn parent(folder_path: &str) -> &str {
    folder(folder_path.trim_end_matches(['/', '\\']))
}

/// The folder of a path, with the slash behind it.
fn folder(path: &str) -> &str {
    path.rfind(['/', '\\']).map_or("", |at| &path[..=at])
}

fn lasts(path: &str) -> bool {
    let is_trial = !path.contains('/') && TRIALS.iter().any(|start| path.starts_with(start));
    !is_trial
        && !PASSING.iter().any(|part| path.contains(part))
        && !path.ends_with(".tmp")
        && !path.ends_with(".bak")
        && !path.contains(['\n', '{', '='])
}

/// The files that a script removes, by the words behind `rm`.
fn removed_by(script: &str) -> Vec<String> {
    let commands = script.split(['\n', ';', '&', '|']).map(str::trim);
    let removals =
        commands.filter_map(|command| command.strip_prefix("rm ").or_else(|| command.strip_prefix("git rm ")));
    let words = removals.flat_map(str::split_whitespace);
    words
        .filter(|word| !word.starts_with('-') && word.contains('.'))
        .map(|word| word.trim_matches(['"', '\'']).to_owned())
        .collect()
}
