//! The files that scripts delete and move.

/// Returns the files that a script deletes (`rm`, `git rm`, what `mv` moves) or puts somewhere (the target of `mv` and `cp`, where
/// it is certainly a file), each with whether it is gone, in order. What is worked out while the script runs is left out.
/// Linear.
pub fn moved_by_script(script: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    for command in script.split(['\n', ';', '|', '&']) {
        let mut words = command.split_whitespace().skip_while(|word| matches!(*word, "sudo" | "git" | "command"));
        let program = words.next();
        let paths = words.filter(|word| !word.starts_with('-')).map(|word| word.trim_matches(['"', '\'']));
        match program {
            Some("rm" | "unlink") => found.extend(paths.map(|path| (path, true))),
            Some(name @ ("mv" | "cp")) => {
                let paths: Vec<&str> = paths.collect();
                let Some((target, sources)) = paths.split_last() else { continue };
                let is_file = target.rsplit('/').next().is_some_and(|name| name.trim_matches('.').contains('.'));
                found.extend(sources.iter().filter(|_| name == "mv").map(|path| (*path, true)));
                found.extend(is_file.then_some((*target, false)));
            }
            _ => {}
        }
    }
    found.retain(|(path, _)| path.contains(['.', '/']) && !path.contains(['*', '$', '>', '<', '`', '(', '{']));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_delete_and_move_files() {
        let check = |script: &str, expect: &[(&str, bool)]| assert_eq!(moved_by_script(script), expect, "{script}");
        check("cd sub && rm -f a.rs 'b.rs'", &[("a.rs", true), ("b.rs", true)]);
        check("git rm a.rs; cargo test", &[("a.rs", true)]);
        check("mv old.rs new.rs", &[("old.rs", true), ("new.rs", false)]);
        check("mv a.rs src", &[("a.rs", true)]);
        check("cp a.rs /tmp/ && cp /tmp/a.rs a.rs", &[("a.rs", false)]);
        check("rm -rf $OUT/*.o notes", &[]);
    }
}
