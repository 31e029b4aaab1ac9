//! Commands that a person types in place of a message: `/compact`, `/undo`, `/history`, `/recall`, `/context`.

use epitome_engine::Report;
use epitome_strategy::ArchivedContent;
use thiserror::Error;

use super::{Compaction, ContextTokens, HistoryEntry, LiveError, LiveSession};

/// A command. [`parse`](Self::parse) finds out whether a message is one, [`LiveSession::run`] runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// `/compact [FOCUS]`: compact now, with something in focus.
    Compact {
        /// The subject to keep in focus.
        focus: Option<String>,
    },
    /// `/undo [EPOCH]`: take a compaction back.
    Undo {
        /// The compaction's number; without it the newest one in force.
        epoch: Option<u32>,
    },
    /// `/history`: the compactions so far.
    History,
    /// `/recall HANDLE`: what left the context under a handle.
    Recall {
        /// The handle, as marks and headings in the view name it.
        handle: String,
    },
    /// `/context`: how full the context is.
    Context,
}

/// A command that was not understood, with how it is written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}` is not what {} takes: {usage}", given.escape_debug(), name_of(usage))]
pub struct CommandError {
    /// The text behind the command.
    pub given: String,
    /// The command's form.
    pub usage: &'static str,
}

fn name_of(usage: &str) -> &str {
    usage.split(' ').next().unwrap_or(usage)
}

impl Command {
    /// The forms of the commands, for a help text.
    pub const USAGES: [&'static str; 5] =
        ["/compact [FOCUS]", "/undo [EPOCH]", "/history", "/recall HANDLE", "/context"];

    /// The command that a typed message is, in any case; `None` for a message. One that begins with a path such as `/usr/bin`, or with a
    /// command that is not one of these, is a message: other programs have commands too.
    ///
    /// # Errors
    ///
    /// The command is known, but the text behind it is not valid for it.
    pub fn parse(text: &str) -> Option<Result<Self, CommandError>> {
        let text = text.trim();
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let usage = Self::USAGES.into_iter().find(|usage| name_of(usage).eq_ignore_ascii_case(name))?;
        let rest = rest.trim();
        let given = (!rest.is_empty()).then(|| rest.to_owned());
        let wrong = || CommandError { given: rest.to_owned(), usage };
        let alone = |command: Self| if rest.is_empty() { Ok(command) } else { Err(wrong()) };
        Some(match name_of(usage) {
            "/compact" => Ok(Self::Compact { focus: given }),
            "/undo" => match given.map(|given| given.parse()).transpose() {
                Ok(epoch) => Ok(Self::Undo { epoch }),
                Err(_) => Err(wrong()),
            },
            "/history" => alone(Self::History),
            "/recall" => match given {
                Some(handle) if !handle.contains(char::is_whitespace) => Ok(Self::Recall { handle }),
                _ => Err(wrong()),
            },
            "/context" => alone(Self::Context),
            _ => return None,
        })
    }
}

/// The outcome of a command.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CommandOutcome {
    /// The compaction that was made, or that found nothing to leave out.
    Compacted(Box<Report>),
    /// A compaction was taken back.
    Undone {
        /// The compaction's number.
        epoch: u32,
        /// Tokens of the view now.
        tokens: u32,
    },
    /// The compactions, the oldest first.
    History(Vec<HistoryEntry>),
    /// The text that left the context under the handle; `None` where the handle is unknown.
    Recalled(Option<ArchivedContent>),
    /// The fill of the context.
    Context(ContextTokens),
}

impl LiveSession {
    /// Runs a command. Costs what the corresponding call costs: [`compact`](Self::compact), [`undo`](Self::undo),
    /// [`history`](Self::history), [`recall`](Self::recall), [`context`](Self::context).
    ///
    /// # Errors
    ///
    /// The errors of that call; [`LiveError::NothingToUndo`] for `/undo` where no compaction is in force.
    pub async fn run(&mut self, command: Command) -> Result<CommandOutcome, LiveError> {
        Ok(match command {
            Command::Compact { focus } => {
                let compaction = Compaction { focus, ..Compaction::default() };
                CommandOutcome::Compacted(Box::new(self.compact(&compaction).await?))
            }
            Command::Undo { epoch } => {
                let epoch = epoch.or_else(|| self.newest_compaction()).ok_or(LiveError::NothingToUndo)?;
                self.undo(epoch)?;
                CommandOutcome::Undone { epoch, tokens: self.tokens() }
            }
            Command::History => CommandOutcome::History(self.history()),
            Command::Recall { handle } => CommandOutcome::Recalled(self.recall(&handle)?),
            Command::Context => CommandOutcome::Context(self.context()),
        })
    }

    /// The number of the newest compaction in force: the one that an undo without a number takes back. Linear in the journal.
    pub fn newest_compaction(&self) -> Option<u32> {
        let in_force = self.session().journal().iter().rfind(|epoch| epoch.is_compaction());
        in_force.map(|epoch| epoch.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_command() {
        let compact = |focus: Option<&str>| Command::Compact { focus: focus.map(str::to_owned) };
        let recall = |handle: &str| Command::Recall { handle: handle.to_owned() };
        let check = |text: &str, expect: Option<Result<Command, &str>>| {
            let found = Command::parse(text).map(|parsed| parsed.map_err(|error| error.to_string()));
            assert_eq!(found, expect.map(|expect| expect.map_err(str::to_owned)), "{text:?}");
        };
        check("/compact", Some(Ok(compact(None))));
        check("  /compact\n", Some(Ok(compact(None))));
        check("/compact the parser", Some(Ok(compact(Some("the parser")))));
        check("/compact\nthe parser,\nand its tests", Some(Ok(compact(Some("the parser,\nand its tests")))));
        check("/compact 解析器", Some(Ok(compact(Some("解析器")))));
        check("/undo", Some(Ok(Command::Undo { epoch: None })));
        check("/undo 3", Some(Ok(Command::Undo { epoch: Some(3) })));
        check("/undo three", Some(Err("`three` is not what /undo takes: /undo [EPOCH]")));
        check("/undo -1", Some(Err("`-1` is not what /undo takes: /undo [EPOCH]")));
        check("/undo 4294967296", Some(Err("`4294967296` is not what /undo takes: /undo [EPOCH]")));
        check("/history", Some(Ok(Command::History)));
        check("/history of Rome", Some(Err("`of Rome` is not what /history takes: /history")));
        check("/recall ada05326", Some(Ok(recall("ada05326"))));
        check("/recall", Some(Err("`` is not what /recall takes: /recall HANDLE")));
        check("/recall a b", Some(Err("`a b` is not what /recall takes: /recall HANDLE")));
        check("/context", Some(Ok(Command::Context)));
        check("/context\u{1b}[2J", None);
        check("/context 1", Some(Err("`1` is not what /context takes: /context")));
        check("/usr/bin", None);
        check("/compact/notes.txt is broken", None);
        check("/compacted", None);
        check("/COMPACT the parser", Some(Ok(compact(Some("the parser")))));
        check("/Context", Some(Ok(Command::Context)));
        check("/clear", None);
        check("/", None);
        check("// a comment", None);
        check("compact", None);
        check("Please /compact", None);
        check("", None);
    }

    #[test]
    fn every_usage_is_one_of_a_command() {
        for usage in Command::USAGES {
            let example = usage.replace("[EPOCH]", "1");
            assert!(matches!(Command::parse(&example), Some(Ok(_))), "{usage}");
        }
    }
}
