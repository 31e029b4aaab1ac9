//! The commands as the help lists them: in groups, by what a person wants.

use std::fmt::Write as _;

use clap::CommandFactory as _;

use super::Cli;

/// The commands that are listed. The others work as well, and `epitome help COMMAND` explains each: they are for programs,
/// or another page of what `context` shows. docs/command-line.md has them all.
pub(super) const GROUPS: [(&str, &[&str]); 6] = [
    ("Use", &["compact", "convert", "move", "setup", "init"]),
    ("Look", &["context", "check", "search", "strategies"]),
    ("Undo", &["history", "restore"]),
    ("Measure", &["eval", "replay"]),
    ("Serve", &["serve"]),
    ("For programs", &["mcp"]),
];

/// Columns of a command's name.
const NAME: usize = 12;

/// The command line, with its commands in groups. A build without a part of the commands lists those that it has.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let mut groups = String::new();
    for (heading, names) in GROUPS {
        let known: Vec<&clap::Command> = names.iter().filter_map(|name| command.find_subcommand(name)).collect();
        if known.is_empty() {
            continue;
        }
        let _ = writeln!(groups, "{heading}:");
        for it in known {
            let about = it.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(groups, "  {:<NAME$}{about}", it.get_name());
        }
        groups.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ))
}

#[cfg(all(test, feature = "service", feature = "eval"))]
#[path = "help_tests.rs"]
mod tests;
