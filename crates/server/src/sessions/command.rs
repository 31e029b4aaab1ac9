//! Commands that people type: `/compact`, `/undo`, `/history`, `/recall`, `/context`.

use epitome::live::{Command, CommandError, ContextTokens};
use epitome::session::Message;
use serde::Serialize;
use utoipa::ToSchema;

use super::compact::{Ask, Compacted, compact_now};
use super::history::{History, Recalled, UndoAsk, Undone, history_now, recall_now, undo_now};
use super::named::NamedSession;
use crate::http::{ApiError, Problem};

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
    recalled: Option<Recalled>,
    /// The fill of the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    context: Option<ContextTokens>,
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
            let compacted = compact_now(named, Ask::focused(focus)).await?;
            let report = &compacted.report;
            let text = match compacted.epoch {
                Some(epoch) => format!(
                    "Compacted from {} to {} tokens; /undo {epoch} takes it back.",
                    report.tokens_before, report.tokens_after
                ),
                None => {
                    let why = report.stopped.as_deref().map_or_else(String::new, |stopped| format!(": {stopped}"));
                    format!("Nothing is left out of {} tokens{why}.", report.tokens_after)
                }
            };
            Ok(CommandResult { name: "compact", text, compacted: Some(compacted), ..CommandResult::default() })
        }
        Command::Undo { epoch } => {
            let undone = undo_now(named, UndoAsk { epoch }).await?;
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
