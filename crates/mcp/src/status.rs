//! The content of a context: by part, what left it, and how full it is.

use epitome::context::{self, Fullness, Part, PartKind, Removed, counts};
use epitome::engine::{Budget, Engine};
use epitome::session::Session;
use epitome::session::heading::group_digits;
use epitome::strategy::text::counted;
use serde::Serialize;

/// The content of a session's context.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContextStatus {
    /// Tokens of the messages: by the provider's count of the newest request, where that is more.
    pub used_tokens: u32,
    /// Tokens of the messages by the counter: those of the parts.
    pub counted_tokens: u32,
    /// The most tokens that they may take: the window without the answer's reserve and the tool definitions.
    pub usable_tokens: u32,
    /// The former as a percentage of the latter.
    pub percent: f64,
    /// Tokens from which on a compaction is suggested.
    pub soft_tokens: u32,
    /// Whether the tokens are estimates.
    pub estimated: bool,
    /// The parts of the context, the largest first.
    pub parts: Vec<ContextPart>,
    /// What left the context.
    pub left: RemovedCounts,
}

/// A kind of content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextPart {
    /// Its name: `tool results`, `user`, `summaries`, ….
    pub part: &'static str,
    /// How many messages have any.
    pub messages: u32,
    /// Its tokens.
    pub tokens: u32,
}

/// What left a context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RemovedCounts {
    /// How many messages are gone whole.
    pub messages: u32,
    /// How many messages have lost a part.
    pub shortened: u32,
    /// Tokens of the messages that are gone whole.
    pub tokens: u32,
    /// How many compactions removed them.
    pub compactions: u32,
}

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

impl ContextStatus {
    /// Returns the status of a session whose context `engine` counts and `budget` bounds; `fullness` is told the tokens
    /// of its messages. Linear in the log: what left is counted too.
    pub fn measure(
        session: &Session,
        engine: &Engine,
        budget: &Budget,
        fullness: impl FnOnce(u32) -> Fullness,
    ) -> Self {
        let ledger = engine.ledger(session);
        let mut parts: Vec<ContextPart> = Vec::new();
        for Part { part, messages, tokens, .. } in context::parts(session, &counts(session, &ledger), &*engine.counter)
        {
            let part = part_name(part);
            match parts.iter_mut().find(|known| known.part == part) {
                Some(known) => {
                    known.messages += messages;
                    known.tokens = known.tokens.saturating_add(tokens);
                }
                None => parts.push(ContextPart { part, messages, tokens }),
            }
        }
        parts.sort_by_key(|part| std::cmp::Reverse(part.tokens));
        let Removed { messages, shortened, tokens, compactions, .. } = Removed::measure(session, &*engine.counter);
        let counted_tokens = ledger.total();
        let fullness = fullness(counted_tokens);
        let (used_tokens, usable_tokens) = (fullness.check.current_tokens, fullness.check.usable_tokens);
        let percent = f64::from(used_tokens) * 100.0 / f64::from(usable_tokens.max(1));
        Self {
            used_tokens,
            counted_tokens,
            usable_tokens,
            percent: (percent * 10.0).round() / 10.0,
            soft_tokens: budget.soft.tokens(usable_tokens),
            estimated: !fullness.exact,
            parts,
            left: RemovedCounts { messages, shortened, tokens, compactions },
        }
    }

    /// Returns the status as text, for a model.
    pub fn text(&self) -> String {
        let tokens = |tokens: u32| group_digits(tokens.into());
        let is_reported = self.used_tokens > self.counted_tokens;
        let about = if self.estimated && !is_reported { "about " } else { "" };
        let by = if is_reported { " by the provider's count" } else { "" };
        let mut text = format!(
            "The context holds {about}{} of {} tokens ({} %){by}; a compaction is suggested at {}.",
            tokens(self.used_tokens),
            tokens(self.usable_tokens),
            self.percent,
            tokens(self.soft_tokens),
        );
        if is_reported {
            text.push_str(&format!(" {} are counted in its messages:", tokens(self.counted_tokens)));
        }
        for part in &self.parts {
            let messages = counted(part.messages as usize, "message");
            text.push_str(&format!("\n  {:<13} {:>9}  {messages}", part.part, tokens(part.tokens)));
        }
        let RemovedCounts { messages, shortened, compactions, .. } = self.left;
        text.push_str(&match (messages, shortened) {
            (0, 0) => "\nNothing has left it.".to_owned(),
            _ => format!(
                "\nLeft it: {} of {} tokens; shortened: {shortened}; by {}. search_history finds what they said.",
                counted(messages as usize, "message"),
                tokens(self.left.tokens),
                counted(compactions as usize, "compaction"),
            ),
        });
        text
    }
}
