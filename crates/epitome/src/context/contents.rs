//! What a session's context is made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use epitome_engine::{Engine, Ledger};
use epitome_session::{OpenCalls, Origin, Role, Session};
use epitome_strategy::{EntryTokens, Protection, Tokens, Verdict};
use serde::Serialize;

use super::parts::{Part, PartKind, parts};

/// What a session's context is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ContextContents))]
pub struct Contents {
    /// The number of messages that a person typed.
    pub rounds: usize,
    /// The number of tool calls.
    pub calls: usize,
    /// Tokens of all messages.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens: Tokens,
    /// Tokens of the tool definitions.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tool_definition_tokens: Tokens,
    /// Tokens by role.
    #[cfg_attr(feature = "schema", schema(value_type = BTreeMap<String, u32>))]
    pub tokens_by_role: BTreeMap<&'static str, Tokens>,
    /// Tokens of calls and results by tool.
    #[cfg_attr(feature = "schema", schema(value_type = BTreeMap<String, u32>))]
    pub tokens_by_tool: BTreeMap<String, Tokens>,
    /// The parts of the context, the largest first: `tokens` and `tool_definition_tokens` together.
    pub parts: Vec<Part>,
    /// The kind of task, with its confidence and evidence.
    pub task: Verdict,
    /// The token counter.
    pub counter: String,
}

impl Contents {
    /// The contents of a session's view, which `ledger` has counted. Linear in the view.
    pub fn measure(engine: &Engine, session: &Session, ledger: &Ledger) -> Self {
        let tokens = counts(session, ledger);
        let tool_definition_tokens = tool_definition_tokens(engine, session);
        let mut contents = Self {
            rounds: 0,
            calls: 0,
            tokens: ledger.total(),
            tool_definition_tokens,
            tokens_by_role: BTreeMap::new(),
            tokens_by_tool: BTreeMap::new(),
            parts: with_tools(parts(session, &tokens, &*engine.counter), tool_definition_tokens),
            task: engine.detect(session, ledger),
            counter: engine.counter.name().to_owned(),
        };
        let mut open: OpenCalls<Arc<str>> = OpenCalls::default();
        for (number, (entry, counted)) in session.view().iter().zip(&tokens).enumerate() {
            let message = &entry.message;
            *contents.tokens_by_role.entry(message.role.as_str()).or_default() += counted.total;
            contents.rounds += usize::from(message.is_typed());
            for (block, tokens) in message.blocks.iter().zip(&counted.blocks) {
                let name = match (block.as_call(), block.as_result()) {
                    (Some(call), _) => {
                        contents.calls += 1;
                        open.open(number, call, Arc::clone(&call.name));
                        Some(Arc::clone(&call.name))
                    }
                    (None, Some(result)) => open.answer(result).map(|(_, name)| name).or_else(|| result.name.clone()),
                    (None, None) => continue,
                };
                let name = name.map_or_else(|| "unknown".to_owned(), |name| name.to_string());
                *contents.tokens_by_tool.entry(name).or_default() += tokens;
            }
        }
        contents
    }
}

/// The parts with the definitions of the tools in their place.
fn with_tools(mut parts: Vec<Part>, tokens: Tokens) -> Vec<Part> {
    if tokens > 0 {
        let at = parts.partition_point(|part| part.tokens >= tokens);
        parts.insert(at, Part { part: PartKind::ToolDefinitions, messages: 0, tokens, items: Vec::new() });
    }
    parts
}

/// Tokens of a session's tool definitions. Linear in these.
pub fn tool_definition_tokens(engine: &Engine, session: &Session) -> Tokens {
    session.tools.as_deref().map_or(0, |tools| engine.counter.count(tools))
}

/// The counts of a session's view, in order; a message that `ledger` has not counted costs nothing. Linear in the view.
pub fn counts(session: &Session, ledger: &Ledger) -> Vec<EntryTokens> {
    let uncounted = |blocks: usize| EntryTokens { total: 0, blocks: vec![0; blocks] };
    let count = |entry: &epitome_session::Entry| {
        ledger.entry(entry.key).cloned().unwrap_or_else(|| uncounted(entry.message.blocks.len()))
    };
    session.view().iter().map(count).collect()
}

/// The size of one message of a view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MessageSize {
    /// The message's position in the view, from 0.
    pub position: usize,
    /// The message's id, as in reports.
    pub id: String,
    /// The message's role.
    pub role: Role,
    /// The message's real author.
    pub origin: Origin,
    /// The message's tokens.
    #[cfg_attr(feature = "schema", schema(value_type = u32))]
    pub tokens: Tokens,
    /// What protects the message from leaving.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub protection: Protection,
}

impl MessageSize {
    /// The sizes of all messages of a session's view, in order. Linear in the view.
    pub fn measure(engine: &Engine, session: &Session, ledger: &Ledger) -> Vec<Self> {
        let protections = engine.protections(session);
        let counted = session.view().iter().zip(counts(session, ledger)).zip(protections).enumerate();
        let size =
            |(position, ((entry, tokens), protection)): (usize, ((&epitome_session::Entry, EntryTokens), _))| Self {
                position,
                id: entry.message.id.to_string(),
                role: entry.message.role,
                origin: entry.message.origin,
                tokens: tokens.total,
                protection,
            };
        counted.map(size).collect()
    }
}
