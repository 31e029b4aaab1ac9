//! The examples below the help of a command: lines that can be copied.

pub(super) const ALL: &str = "\
Examples:
  epitome compact session.jsonl --budget 32k --to openai-chat -o smaller.json
  epitome context                    # what fills the newest session of any agent on this machine
  epitome search session.jsonl which port

`epitome help COMMAND` explains every option of a command.";

pub(super) const COMPACT: &str = "\
Examples:
  epitome compact session.jsonl --budget 32k --preview
  epitome compact session.jsonl --budget 30% --to anthropic -o request.json    # or 0.3
  epitome compact session.jsonl --budget 60k -o session.jsonl    # Claude Code, Codex, Pi: appended to their own file

The report names a handle for what left: `epitome restore session.jsonl --handle HANDLE` writes it.
Exit code 3: the session cannot be made to fit, and nothing was written.";

pub(super) const CHECK: &str = "\
Examples:
  epitome check session.jsonl --window 128k
  epitome check session.jsonl --json        # should_compact says whether";

pub(super) const COUNT: &str = "\
Examples:
  epitome count notes.txt
  git diff | epitome count --counter weighted";

pub(super) const CONTEXT: &str = "\
Examples:
  epitome context                           # the newest session of any agent
  epitome context claude-code
  epitome context session.jsonl --budget 32k

`epitome watch` shows the same while the session grows, `epitome inspect` by role, tool and round.";

pub(super) const WATCH: &str = "\
Examples:
  epitome watch codex --window 258k         # until Ctrl-C
  epitome watch session.jsonl --once";

pub(super) const INSPECT: &str = "\
Examples:
  epitome inspect session.jsonl
  epitome inspect sessions.jsonl --session 3";

pub(super) const CONVERT: &str = "\
Example:
  epitome convert session.jsonl --to anthropic -o request.json";

#[cfg(feature = "service")]
pub(super) const MOVE: &str = "\
Examples:
  epitome move --to codex                                        # the newest session of any agent
  epitome move session.jsonl --to claude-code --budget 60k
  epitome move 1b2c3d4e --to pi --cwd ~/project --dry-run        # what would be written, and where

Exit code 3: the session cannot be made to fit, and nothing was written.";

pub(super) const HISTORY: &str = "\
Example:
  epitome history session.jsonl";

pub(super) const RESTORE: &str = "\
Examples:
  epitome restore session.jsonl --handle f3be233507b1            # what left, from the file that was compacted
  epitome restore session.jsonl --handle '#37'                   # one message
  epitome restore session.jsonl -o session.jsonl                 # without the newest compaction";

pub(super) const SEARCH: &str = "\
Examples:
  epitome search session.jsonl which port
  epitome search session.jsonl --source user --newest            # the newest requests
  epitome search ~/.claude/projects \"rounding of amounts\"        # every session of a folder

Exit code 1: nothing was found.";

pub(super) const STRATEGIES: &str = "\
Examples:
  epitome strategies
  epitome strategies tool-results";

#[cfg(feature = "eval")]
pub(super) const EVAL: &str = "\
Example:
  epitome eval sessions --methods default,classic --budgets 30%,0.6";

#[cfg(feature = "eval")]
pub(super) const BENCH: &str = "\
Examples:
  epitome bench
  epitome bench sessions --methods default,classic --html bench.html";

#[cfg(feature = "eval")]
pub(super) const REPLAY: &str = "\
Example:
  epitome replay sessions --window 100k";

#[cfg(feature = "eval")]
pub(super) const TUNE: &str = "\
Example:
  epitome tune sessions --trials 300 -o tuned.toml";

#[cfg(feature = "service")]
pub(super) const SERVE: &str = "\
Example:
  epitome serve --upstream https://api.openai.com/v1";

#[cfg(feature = "service")]
pub(super) const MCP: &str = "\
Examples:
  epitome mcp session.jsonl                 # a file that its agent is still writing
  epitome mcp --beside claude-code";

#[cfg(feature = "service")]
pub(super) const BRIEF: &str = "\
Example:
  epitome brief session.jsonl --tokens 4k

Exit code 3: the task and the newest message alone are more.";

#[cfg(feature = "service")]
pub(super) const FIT: &str = "\
Example, a call and its answer are a line each:
  echo '{\"format\":\"openai-chat\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}' |
    epitome fit --stdio";

#[cfg(feature = "service")]
pub(super) const SETUP: &str = "\
Examples:
  epitome setup claude-code --dry-run       # shows what it would change
  epitome setup claude-code
  epitome setup claude-code --undo";

#[cfg(feature = "service")]
pub(super) const HOOK: &str = "\
Example:
  echo '{\"transcript_path\": \"session.jsonl\"}' | epitome hook claude-code pre-compact";

#[cfg(feature = "service")]
pub(super) const STATUSLINE: &str = "\
Example:
  echo '{\"transcript_path\": \"session.jsonl\"}' | epitome statusline";

pub(super) const COMPLETIONS: &str = "\
Example:
  epitome completions bash > ~/.local/share/bash-completion/completions/epitome";

pub(super) const INIT: &str = "\
Examples:
  epitome init -o -                         # prints the configuration with every key
  epitome init --strategy my-strategy --epitome ~/src/epitome";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use clap::{CommandFactory as _, Parser as _};

    use crate::args::Cli;

    /// The words of a line of a shell, without its comment.
    fn words(line: &str) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut rest = line.trim();
        while !rest.is_empty() && !rest.starts_with('#') {
            let quote = rest.chars().next().filter(|char| matches!(char, '"' | '\''));
            let (word, after) = match quote {
                Some(quote) => rest[1..].split_once(quote).unwrap(),
                None => rest.split_once(' ').unwrap_or((rest, "")),
            };
            words.push(word.to_owned());
            rest = after.trim_start();
        }
        words
    }

    #[test]
    fn the_examples_are_understood() {
        let command = Cli::command();
        for command in std::iter::once(&command).chain(command.get_subcommands()) {
            let name = command.get_name();
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default().replace(" |\n    ", " | ");
            let mut examples = 0;
            for line in help.lines().filter(|line| line.starts_with("  ")) {
                let line = line.rsplit_once(" | ").map_or(line, |(_, last)| last);
                let line = line.split(" > ").next().unwrap_or(line);
                let problem = Cli::try_parse_from(words(line)).err().map(|error| error.to_string());
                assert_eq!(problem, None, "{line}");
                examples += usize::from(name == "epitome" || line.contains(&format!("epitome {name}")));
            }
            assert!(examples > 0, "{name} has no example of its own");
        }
    }
}
