//! Commands that people type, `/compact`, `/undo`, `/history`, `/recall`, `/context`, and what clients send over a WebSocket.

use epitome::live::{Command, CommandError, ContextTokens};
use epitome::session::{Message, MessageRange};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::compact::{CompactRequest, Compacted, compact_now};
use super::history::{History, RecalledContent, UndoRequest, Undone, history_now, recall_now, undo_now};
use super::named::NamedSession;
use crate::http::{ApiError, ErrorBody, Problem};

/// The outcome of a command: only the field of its kind is set.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct CommandResult {
    /// The command: `compact`, `undo`, `history`, `recall` or `context`.
    name: &'static str,
    /// The text for the person who typed it.
    text: String,
    /// The compaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    compacted: Option<Compacted>,
    /// The compaction that was taken back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    undone: Option<Undone>,
    /// The compactions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    history: Option<History>,
    /// The text that left the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    recalled: Option<RecalledContent>,
    /// The fill of the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    context: Option<ContextTokens>,
}

/// A message of a client over a WebSocket.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ClientMessage {
    /// Compact now.
    #[serde(rename_all = "camelCase")]
    Compact {
        /// The session's id; it has to be that of the socket.
        session_id: Option<String>,
        /// The subject to keep in focus, as in `/compact the parser`.
        instructions: Option<String>,
        /// Messages that are kept, as `POST …/compact` takes them.
        #[serde(default)]
        #[schema(value_type = Vec<String>)]
        keep: Vec<MessageRange>,
        /// Messages that leave before anything else does.
        #[serde(default)]
        #[schema(value_type = Vec<String>)]
        drop: Vec<MessageRange>,
    },
}

/// The answer to a message of a client over a WebSocket, beside the events that it causes.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum SocketAnswer {
    /// The command was run.
    CommandDone(Box<CommandResult>),
    /// It was not, or came to nothing.
    CommandError(Box<ErrorBody>),
}

/// What a client wants with a text over a WebSocket; `None` where that is neither a command nor an object with a `type`, as
/// a sign of life.
fn read_text(text: &str, session: &str) -> Option<Result<Wish, ApiError>> {
    let bad = |why: String| Problem::BadCommand.with(why).with_help(SOCKET_HELP);
    if let Some(command) = Command::parse(text) {
        return Some(command.map(Wish::Command).map_err(|error| bad(error.to_string())));
    }
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    value.get("type")?;
    Some(match serde_json::from_value(value) {
        Ok(ClientMessage::Compact { session_id: Some(other), .. }) if other != session => {
            Err(bad(format!("`sessionId` is not `{session}`, the session of this socket")))
        }
        Ok(ClientMessage::Compact { instructions, keep, drop, .. }) => {
            Ok(Wish::Compact(CompactRequest::by_hand(instructions, keep, drop)))
        }
        Err(error) => Err(bad(format!("the message cannot be read: {error}"))),
    })
}

const SOCKET_HELP: &str =
    "send a command such as /compact the parser, or {\"type\": \"compact\", \"sessionId\": …, \"instructions\": …}";

/// What a client wants.
enum Wish {
    Command(Command),
    Compact(CompactRequest),
}

/// The answer to a text that a client sends over a WebSocket, as JSON; `None` where the text asks for nothing.
pub(crate) async fn answer_text(named: NamedSession, text: String) -> Option<String> {
    let wish = read_text(&text, &named.key.1)?;
    let result = match wish {
        Ok(Wish::Command(command)) => run(&named, command).await,
        Ok(Wish::Compact(ask)) => compact_now(&named, ask).await.map(CommandResult::of_compaction),
        Err(error) => Err(error),
    };
    let answer = match result {
        Ok(done) => SocketAnswer::CommandDone(Box::new(done)),
        Err(error) => SocketAnswer::CommandError(Box::new(error.into())),
    };
    // Plain data as JSON cannot fail.
    serde_json::to_string(&answer).ok()
}

impl CommandResult {
    fn of_compaction(compacted: Compacted) -> Self {
        let report = &compacted.report;
        let text = match compacted.epoch {
            Some(epoch) if report.status.is_compaction() => format!(
                "Compacted from {} to {} tokens; /undo {epoch} takes it back.",
                report.tokens_before, report.tokens_after
            ),
            _ => {
                let why = report.stopped.as_deref().map_or_else(String::new, |stopped| format!(": {stopped}"));
                format!("Nothing is left out of {} tokens{why}.", report.tokens_after)
            }
        };
        Self { name: "compact", text, compacted: Some(compacted), ..Self::default() }
    }
}

/// The command that a message is, where a person typed one.
pub(super) fn parse_command(message: &Message) -> Result<Option<Command>, ApiError> {
    if !message.is_typed() || message.blocks.len() != 1 {
        return Ok(None);
    }
    let bad = |error: CommandError| {
        let help = format!("{}; `\"commands\": false` takes it for a message", Command::USAGES.join(", "));
        Problem::BadCommand.with(error.to_string()).with_help(help)
    };
    Command::parse(&message.plain_text()).transpose().map_err(bad)
}

/// Runs a command on a session.
pub(super) async fn run(named: &NamedSession, command: Command) -> Result<CommandResult, ApiError> {
    match command {
        Command::Compact { focus } => {
            let ask = CompactRequest::by_hand(focus, Vec::new(), Vec::new());
            compact_now(named, ask).await.map(CommandResult::of_compaction)
        }
        Command::Undo { epoch } => {
            let undone = undo_now(named, UndoRequest { epoch }).await?;
            let text = format!("Compaction {} is undone.", undone.epoch);
            Ok(CommandResult { name: "undo", text, undone: Some(undone), ..CommandResult::default() })
        }
        Command::History => {
            let history = history_now(named).await?;
            let text = match history.count() {
                1 => "1 compaction.".to_owned(),
                count => format!("{count} compactions."),
            };
            Ok(CommandResult { name: "history", text, history: Some(history), ..CommandResult::default() })
        }
        Command::Recall { handle } => {
            let recalled = recall_now(named, handle).await?;
            let text = recalled.text();
            Ok(CommandResult { name: "recall", text, recalled: Some(recalled), ..CommandResult::default() })
        }
        Command::Context => {
            let context = named.context().await?;
            let text = format!(
                "{} of {} tokens ({:.0} %); a compaction is suggested at {:.0} %.",
                context.used_tokens, context.max_tokens, context.percent, context.threshold_percent
            );
            Ok(CommandResult { name: "context", text, context: Some(context), ..CommandResult::default() })
        }
        _ => Err(Problem::BadCommand.with("this command cannot be run over HTTP")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    #[test]
    fn what_a_client_wants() {
        let check = |text: &str, expect: Option<Result<&str, &str>>| {
            let wish_text = read_text(text, "s").map(|wish| match wish {
                Ok(Wish::Command(command)) => Ok(format!("{command:?}")),
                Ok(Wish::Compact(ask)) => Ok(format!("{ask:?}")),
                Err(error) => Err(error.message),
            });
            match (wish_text, expect) {
                (None, None) => {}
                (Some(Ok(wish_text)), Some(Ok(part))) | (Some(Err(wish_text)), Some(Err(part))) => {
                    assert!(wish_text.contains(part), "{text}: {wish_text}");
                }
                (wish_text, _) => panic!("{text}: {wish_text:?}"),
            }
        };
        check("/compact the parser", Some(Ok("the parser")));
        check("/undo three", Some(Err("is not what /undo takes")));
        check(r#"{"type": "compact", "sessionId": "s", "instructions": "the parser"}"#, Some(Ok("the parser")));
        check(r##"{"type": "compact", "keep": ["#3"], "drop": ["..#2"]}"##, Some(Ok("One(3)")));
        check(r##"{"type": "compact", "drop": ["three"]}"##, Some(Err("names no messages")));
        check(r#"{"type": "compact", "sessionId": "t"}"#, Some(Err("is not `s`")));
        check(r#"{"type": "compact", "focus": "x"}"#, Some(Err("unknown field")));
        check(r#"{"type": "dance"}"#, Some(Err("unknown variant")));
        check("ping", None);
        check(r#"{"alive": true}"#, None);
        check("", None);
    }
}
