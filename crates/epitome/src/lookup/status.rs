//! What fills a context, for a model.

use crate::context::{ContextStatus, Part, PartKind};
use epitome_session::heading::group_digits;
use epitome_strategy::text::counted;

/// The name of a part for a model, which needs fewer than a person.
fn part_name(part: PartKind) -> &'static str {
    match part {
        PartKind::SystemPrompt => "system prompt",
        PartKind::ToolDefinitions => "tool definitions",
        PartKind::Instructions | PartKind::Task | PartKind::User => "user",
        PartKind::Assistant => "assistant",
        PartKind::Thinking => "reasoning",
        PartKind::ToolCalls => "tool calls",
        PartKind::ToolResults | PartKind::FilesRead => "tool results",
        PartKind::Images => "images",
        PartKind::Summaries => "summaries",
        PartKind::Other => "other",
    }
}

/// The parts by these names with their messages and tokens, the largest first.
fn named_parts(parts: &[Part]) -> Vec<(&'static str, u32, u32)> {
    let mut named: Vec<(&'static str, u32, u32)> = Vec::new();
    for Part { part, messages, tokens, .. } in parts {
        let name = part_name(*part);
        match named.iter_mut().find(|known| known.0 == name) {
            Some(known) => (known.1, known.2) = (known.1 + messages, known.2.saturating_add(*tokens)),
            None => named.push((name, *messages, *tokens)),
        }
    }
    named.sort_by_key(|(_, _, tokens)| std::cmp::Reverse(*tokens));
    named
}

/// Returns the status of a context as text.
pub(crate) fn status_text(status: &ContextStatus) -> String {
    let tokens = |tokens: u32| group_digits(tokens.into());
    let check = &status.fullness.check;
    let is_reported = check.current_tokens > status.counted_tokens;
    let about = if !status.fullness.exact && !is_reported { "about " } else { "" };
    let by = if is_reported { " by the provider's count" } else { "" };
    let percent = f64::from(check.current_tokens) * 100.0 / f64::from(check.usable_tokens.max(1));
    let mut text = format!(
        "The context holds {about}{} of {} tokens ({} %){by}; a compaction is suggested at {}.",
        tokens(check.current_tokens),
        tokens(check.usable_tokens),
        (percent * 10.0).round() / 10.0,
        tokens(status.soft_tokens),
    );
    if is_reported {
        text.push_str(&format!(" {} are counted in its messages:", tokens(status.counted_tokens)));
    }
    for (name, messages, part) in named_parts(&status.parts) {
        text.push_str(&format!("\n  {name:<13} {:>9}  {}", tokens(part), counted(messages as usize, "message")));
    }
    let removed = &status.removed;
    text.push_str(&match removed.is_empty() {
        true => "\nNothing has left it.".to_owned(),
        false => format!(
            "\nLeft it: {} of {} tokens; shortened: {}; by {}. search_history finds what they said.",
            counted(removed.messages as usize, "message"),
            tokens(removed.tokens),
            removed.shortened,
            counted(removed.compactions as usize, "compaction"),
        ),
    });
    text
}
