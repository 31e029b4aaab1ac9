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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_read_a_file() {
        let check = |command: &str, expect: Option<&str>| assert_eq!(read_by_command(command), expect, "{command}");
        check("cat src/a.rs", Some("src/a.rs"));
        check("sed -n 1,90p 'src/a.rs'", Some("src/a.rs"));
        check("cat a.rs | head", None);
        check("cargo test", None);
    }
}
