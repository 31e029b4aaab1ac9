//! The files that scripts and patches delete and move.

use super::shell::simple_commands;

/// A file or folder that left its place, or came to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMove<'s> {
    /// The place that it left; `None` for a copy.
    pub from: Option<&'s str>,
    /// The place that it came to; `None` where it was deleted, or where the place is not certain.
    pub to: Option<String>,
}

/// Returns the files that a script or a patch deletes (`rm`, `git rm`, `*** Delete File:`), moves (`mv`, `git mv`, `*** Move to:`)
/// or copies, in order. What is worked out while a script runs is left out. Linear.
pub fn file_moves(script: &str) -> Vec<FileMove<'_>> {
    let mut found = Vec::new();
    for command in simple_commands(script) {
        let mut words = command.split_whitespace().skip_while(|word| matches!(*word, "sudo" | "git" | "command"));
        let program = words.next();
        let paths = words.filter(|word| !word.starts_with('-')).map(|word| word.trim_matches(['"', '\'', ')']));
        match program {
            Some("rm" | "unlink") => found.extend(paths.map(|path| FileMove { from: Some(path), to: None })),
            Some(name @ ("mv" | "cp")) => {
                let paths: Vec<&str> = paths.collect();
                let Some((target, sources)) = paths.split_last() else { continue };
                found.extend(sources.iter().map(|source| FileMove {
                    from: (name == "mv").then_some(*source),
                    to: place(source, target, sources.len()),
                }));
            }
            _ => {}
        }
    }
    found.extend(patch_moves(script));
    found.retain(|it| is_certain(it.from.or(it.to.as_deref()).unwrap_or_default()));
    for it in &mut found {
        it.to = it.to.take().filter(|to| is_certain(to));
    }
    found.retain(|it| it.from.is_some() || it.to.is_some());
    found
}

/// Returns where a file comes to: a target is a folder where it is written as one or takes several, and a file where its name
/// has an ending.
fn place(source: &str, target: &str, sources: usize) -> Option<String> {
    let name = |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    if target.ends_with('/') || sources > 1 || name(target).trim_matches('.').is_empty() {
        return Some(format!("{}/{}", target.trim_end_matches('/'), name(source)));
    }
    name(target).trim_matches('.').contains('.').then(|| target.to_owned())
}

/// Returns what a patch in the `*** Update File: path` form deletes and moves. Linear.
pub fn patch_moves(patch: &str) -> Vec<FileMove<'_>> {
    let mut found = Vec::new();
    let mut updated = None;
    for line in patch.lines().filter(|line| line.starts_with("*** ")) {
        let path = |mark: &str| line.strip_prefix(mark).map(str::trim);
        if let Some(path) = path("*** Update File: ") {
            updated = Some(path);
        } else if let Some(to) = path("*** Move to: ") {
            found.extend(updated.map(|from| FileMove { from: Some(from), to: Some(to.to_owned()) }));
        } else if let Some(path) = path("*** Delete File: ") {
            found.push(FileMove { from: Some(path), to: None });
        }
    }
    found
}

/// Whether a word of a script is a path as it stands.
fn is_certain(path: &str) -> bool {
    !path.is_empty() && !path.contains(['*', '$', '>', '<', '`', '(', '{'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_delete_and_move_files() {
        let check = |script: &str, expect: &[(&str, &str)]| {
            let moves = file_moves(script);
            let found = moves.iter().map(|it| (it.from.unwrap_or_default(), it.to.as_deref().unwrap_or_default()));
            assert_eq!(found.collect::<Vec<_>>(), expect, "{script}");
        };
        check("cd sub && rm -f a.rs 'b.rs'", &[("a.rs", ""), ("b.rs", "")]);
        check("git rm a.rs; cargo test", &[("a.rs", "")]);
        check("mv old.rs new.rs", &[("old.rs", "new.rs")]);
        check("git mv a.rs src", &[("a.rs", "")]);
        check("mv a.rs b.rs src/", &[("a.rs", "src/a.rs"), ("b.rs", "src/b.rs")]);
        check("mv src/a.rs .", &[("src/a.rs", "./a.rs")]);
        check("cp a.rs /tmp/ && cp /tmp/a.rs a.rs", &[("", "/tmp/a.rs"), ("", "a.rs")]);
        check("rm -rf $OUT/*.o notes", &[("notes", "")]);
        check("cat > clean.sh <<'EOF'\nrm a.log\nEOF", &[]);
        check("git commit -m 'drop; rm a.rs'", &[]);
        let patch = "*** Begin Patch\n*** Delete File: a.rs\n*** Update File: b.rs\n*** Move to: c.rs\n*** End Patch";
        check(&format!("apply_patch <<'EOF'\n{patch}\nEOF"), &[("a.rs", ""), ("b.rs", "c.rs")]);
    }
}
