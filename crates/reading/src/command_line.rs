//! The effects that the line of a command shows on its own.

use epitome_strategy::Call;
use epitome_strategy::commands::{first_command, script_of};
use epitome_strategy::text::clip;

/// The command that a call runs, on one line, a change of folder in front of it left out.
pub fn command_of(call: &Call<'_>) -> Option<String> {
    clip(&first_command(&script_of(call)?)?, 140)
}

/// The file that a command like `cat x` or `sed -n 1,9p x` reads.
pub(crate) fn read_by_command(command: &str) -> Option<&str> {
    if command.contains(['|', '>', '<', ';', '&', '*', '…']) {
        return None;
    }
    let program = command.split_whitespace().next()?;
    let reads = matches!(program, "cat" | "head" | "tail" | "less" | "nl" | "bat")
        || (program == "sed" && command.contains(" -n "));
    let path = command.split_whitespace().next_back().filter(|_| reads)?.trim_matches(['"', '\'']);
    (path != program && !path.starts_with('-') && path.contains(['/', '.'])).then_some(path)
}

/// The file that `cat <<'EOF' > x` writes or `sed -i s/a/b/ x` edits.
pub(crate) fn written_by_command(command: &str) -> Option<&str> {
    let program = command.split_whitespace().next()?;
    let path = if matches!(program, "cat" | "tee") && command.contains("<<") {
        command.split('>').nth(1)?.split_whitespace().next()?
    } else if program == "sed" && command.contains(" -i") && !command.contains([';', '|', '&', '…']) {
        command.split_whitespace().next_back()?
    } else {
        return None;
    };
    let path = path.trim_matches(['"', '\'']);
    path.contains(['/', '.']).then_some(path)
}

/// The files that a script deletes (`rm`, `git rm`, what `mv` moves) or puts somewhere (the target of `mv` and `cp`, where
/// it is certainly a file), each with whether it is gone, in order. What is worked out while the script runs is left out.
/// Linear.
pub(crate) fn moved_by_script(script: &str) -> Vec<(&str, bool)> {
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
    fn commands_that_write_a_file() {
        let check = |command: &str, expect| assert_eq!(written_by_command(command), expect, "{command}");
        check("cat <<'EOF' > src/a.py", Some("src/a.py"));
        check("sed -i s/a/b/ a.rs", Some("a.rs"));
        check("sed -n 1,2p a.rs", None);
    }

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

    #[test]
    fn commands_that_read_a_file() {
        let check = |command: &str, expect: Option<&str>| assert_eq!(read_by_command(command), expect, "{command}");
        check("cat src/a.rs", Some("src/a.rs"));
        check("sed -n 1,90p 'src/a.rs'", Some("src/a.rs"));
        check("cat a.rs | head", None);
        check("cargo test", None);
    }
}
