//! What a context holds: by part, what left it, and how full it is.

use epitome::engine::{Budget, Engine, count_message};
use epitome::session::heading::group_digits;
use epitome::session::{Content, EntryKey, Origin, Role, Session};
use serde::Serialize;

/// What a session's context holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContextStatus {
    /// Tokens of the messages.
    pub used_tokens: u32,
    /// Tokens that they may take: the window without the answer's reserve and the tool definitions.
    pub usable_tokens: u32,
    /// The former as a percentage of the latter.
    pub percent: f64,
    /// Tokens from which on a compaction is suggested.
    pub soft_tokens: u32,
    /// Whether the tokens are estimates.
    pub estimated: bool,
    /// What takes the room, the largest first.
    pub parts: Vec<ContextPart>,
    /// What is not in it any more.
    pub left: RemovedCounts,
}

/// A kind of content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextPart {
    /// Which: `tool results`, `user`, `summaries`, ….
    pub part: &'static str,
    /// Messages that hold any.
    pub messages: u32,
    /// Its tokens.
    pub tokens: u32,
}

/// What left a context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RemovedCounts {
    /// Messages that are gone whole.
    pub messages: u32,
    /// Messages of which a part is gone.
    pub shortened: u32,
    /// Tokens of the messages that are gone whole.
    pub tokens: u32,
    /// Compactions that took them out.
    pub compactions: u32,
}

/// The parts, in the order in which equal ones are told.
const PARTS: [&str; 7] = ["system prompt", "summaries", "user", "assistant", "reasoning", "tool calls", "tool results"];

impl ContextStatus {
    /// Looks at a session whose context `engine` counts and `budget` bounds. Linear in the log: what left is counted too.
    pub fn measure(session: &Session, engine: &Engine, budget: &Budget) -> Self {
        let ledger = engine.ledger(session);
        let mut parts = PARTS.map(|part| ContextPart { part, messages: 0, tokens: 0 });
        let mut add = |part: usize, tokens: u32, is_new: bool| {
            parts[part].tokens = parts[part].tokens.saturating_add(tokens);
            parts[part].messages += u32::from(is_new);
        };
        let mut is_here = vec![false; session.log().len()];
        let mut left = RemovedCounts { compactions: session.cycle(), ..RemovedCounts::default() };
        for entry in session.view() {
            if let EntryKey::Log(number) = entry.key
                && let Some(is_here) = is_here.get_mut(number as usize)
            {
                *is_here = true;
                left.shortened += u32::from(entry.is_edited());
            }
            let Some(tokens) = ledger.of(entry.key) else { continue };
            let own = match (entry.message.role, entry.message.origin) {
                (Role::System, _) => 0,
                (_, Origin::Summary) => 1,
                (Role::User, _) => 2,
                (Role::Assistant, _) => 3,
                (Role::Tool, _) => 6,
            };
            let mut seen = [false; PARTS.len()];
            for (block, tokens) in entry.message.blocks.iter().zip(&tokens.blocks) {
                let part = match &block.content {
                    Content::Thinking(_) => 4,
                    Content::ToolCall(_) => 5,
                    Content::ToolResult(_) => 6,
                    _ => own,
                };
                add(part, *tokens, !std::mem::replace(&mut seen[part], true));
            }
            // What a message costs beside its blocks.
            let frame = tokens.total.saturating_sub(tokens.blocks.iter().sum());
            let first = seen.iter().position(|seen| *seen).unwrap_or(own);
            add(if seen[own] { own } else { first }, frame, entry.message.blocks.is_empty());
        }
        for (message, _) in session.log().iter().zip(is_here).filter(|(_, is_here)| !is_here) {
            left.messages += 1;
            left.tokens = left.tokens.saturating_add(count_message(&**ledger.counter(), message).total);
        }
        let mut parts: Vec<ContextPart> = parts.into_iter().filter(|part| part.tokens > 0).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.tokens));
        let (used_tokens, usable_tokens) = (ledger.total(), budget.usable());
        let percent = f64::from(used_tokens) * 100.0 / f64::from(usable_tokens.max(1));
        Self {
            used_tokens,
            usable_tokens,
            percent: (percent * 10.0).round() / 10.0,
            soft_tokens: budget.soft.tokens(usable_tokens),
            estimated: !ledger.counter().is_exact(),
            parts,
            left,
        }
    }

    /// It as text, for a model.
    pub fn text(&self) -> String {
        let tokens = |tokens: u32| group_digits(tokens.into());
        let about = if self.estimated { "about " } else { "" };
        let mut text = format!(
            "The context holds {about}{} of {} tokens ({} %); a compaction is suggested at {}.",
            tokens(self.used_tokens),
            tokens(self.usable_tokens),
            self.percent,
            tokens(self.soft_tokens),
        );
        for part in &self.parts {
            let messages = counted(part.messages, "message");
            text.push_str(&format!("\n  {:<13} {:>9}  {messages}", part.part, tokens(part.tokens)));
        }
        let RemovedCounts { messages, shortened, compactions, .. } = self.left;
        text.push_str(&match (messages, shortened) {
            (0, 0) => "\nNothing has left it.".to_owned(),
            _ => format!(
                "\nLeft it: {} of {} tokens; shortened: {shortened}; by {}. search_history finds what they said.",
                counted(messages, "message"),
                tokens(self.left.tokens),
                counted(compactions, "compaction"),
            ),
        });
        text
    }
}

/// A number of things: `1 message`, `2 messages`.
fn counted(number: u32, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
