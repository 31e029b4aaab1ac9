//! What a session's context is made of.

use std::collections::BTreeMap;

use epitome_engine::{Engine, Ledger};
use epitome_session::{Origin, Role, Session};
use epitome_strategy::{EntryTokens, Protection, TokenCounter, Tokens, Verdict};
use serde::Serialize;

use super::parts::{Part, PartKind, PartSums, Share, tool_name, with_shares};

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
    /// The roles with their messages, in the order of a conversation.
    #[serde(skip)]
    pub roles: Vec<RoleShare>,
    /// The tools with their calls and results, the largest first.
    #[serde(skip)]
    pub tools: Vec<ToolShare>,
}

/// Messages and tokens of one role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoleShare {
    /// The role.
    pub role: &'static str,
    /// How many messages it has.
    pub messages: usize,
    /// Their tokens.
    pub tokens: Tokens,
}

/// Calls of one tool, with the tokens of its arguments and results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolShare {
    /// The tool; `unknown` where the recording names none.
    pub tool: String,
    /// How many calls, those in plain text included.
    pub calls: usize,
    /// Tokens of the calls.
    pub call_tokens: Tokens,
    /// Tokens of what it printed.
    pub result_tokens: Tokens,
}

impl ToolShare {
    /// Tokens of calls and results.
    pub fn tokens(&self) -> Tokens {
        self.call_tokens.saturating_add(self.result_tokens)
    }
}

impl Contents {
    /// The contents of a session's view, which `ledger` has counted. Linear in the view.
    pub fn measure(engine: &Engine, session: &Session, ledger: &Ledger) -> Self {
        let tokens = counts(session, ledger);
        let tool_definition_tokens = tool_definition_tokens(&**ledger.counter(), session);
        let mut roles = [Role::System, Role::User, Role::Assistant, Role::Tool].map(|role| RoleShare {
            role: role.as_str(),
            messages: 0,
            tokens: 0,
        });
        let mut tools: BTreeMap<String, ToolShare> = BTreeMap::new();
        let mut sums = PartSums::default();
        with_shares(session, &tokens, &**ledger.counter(), |position, shares| {
            sums.add(&shares);
            let message = &session.view()[position].message;
            if let Some(role) = roles.iter_mut().find(|share| share.role == message.role.as_str()) {
                role.messages += 1;
                role.tokens = role.tokens.saturating_add(tokens[position].total);
            }
            let called =
                message.calls().map(|(_, call)| &call.name).chain(message.text_calls.iter().map(|it| &it.name));
            called.for_each(|name| tools.entry(tool_name(name)).or_default().calls += 1);
            for Share { part, tool, tokens, .. } in shares {
                let Some(share) = tool.map(|tool| tools.entry(tool).or_default()) else { continue };
                let sum = if part == PartKind::ToolCalls { &mut share.call_tokens } else { &mut share.result_tokens };
                *sum = sum.saturating_add(tokens);
            }
        });
        let named = tools.into_iter().map(|(tool, share)| ToolShare { tool, ..share });
        let mut tools: Vec<ToolShare> = named.collect();
        tools.sort_by_key(|share| std::cmp::Reverse(share.tokens()));
        let roles: Vec<RoleShare> = roles.into_iter().filter(|share| share.messages > 0).collect();
        Self {
            rounds: session.view().iter().filter(|entry| entry.message.is_typed()).count(),
            calls: tools.iter().map(|share| share.calls).sum(),
            tokens: ledger.total(),
            tool_definition_tokens,
            tokens_by_role: roles.iter().map(|share| (share.role, share.tokens)).collect(),
            tokens_by_tool: tools.iter().map(|share| (share.tool.clone(), share.tokens())).collect(),
            parts: with_tools(sums.into_parts(), tool_definition_tokens),
            task: engine.detect(session, ledger),
            counter: ledger.counter().name().to_owned(),
            roles,
            tools,
        }
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
pub fn tool_definition_tokens(counter: &dyn TokenCounter, session: &Session) -> Tokens {
    session.tools.as_deref().map_or(0, |tools| counter.count(tools))
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
