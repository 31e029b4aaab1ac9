//! The census of a session: its sizes by role, tool, unit and round.

use std::collections::BTreeMap;

use epitome::Runtime;
use epitome::context::tool_definition_tokens;
use epitome::engine::{Engine, Ledger, Mode, block_on};
use epitome::session::{Content, Entry, EpochOrigin, Role, Session, Trigger, Unit, UnitKind, units};
use epitome::strategy::Verdict;
use epitome::{MemoryArchive, Request};
use serde::Serialize;

use crate::chain::Choice;
use crate::counter::counter_of;
use crate::render::text::first_words;

/// Units listed as the largest.
const LARGEST: usize = 10;

/// Columns of a text's first words.
const WORDS: usize = 120;

/// The sizes of a session.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Sizes {
    /// Messages of the view.
    pub(crate) messages: usize,
    /// Tokens of the view.
    pub(crate) tokens: u32,
}

impl Sizes {
    /// The sizes of a session's view. Linear in it.
    pub(crate) fn new(session: &Session, runtime: &Runtime) -> Self {
        let engine = epitome::engine_with_counter(runtime, counter_of(runtime, session));
        Self { messages: session.view().len(), tokens: engine.ledger(session).total() }
    }
}

/// The output of `inspect --json`.
#[derive(Debug, Serialize)]
pub(crate) struct InspectOutput<'a> {
    /// The format, recognised or given.
    pub(crate) format: &'static str,
    /// Bytes of the file, decompressed.
    pub(crate) bytes: usize,
    /// The sessions in the file.
    pub(crate) sessions: Vec<ListedSession<'a>>,
    /// The one session that was asked for; `null` for a file of several without `--session`.
    pub(crate) session: Option<Census>,
}

/// One session in a list.
#[derive(Debug, Serialize)]
pub(crate) struct ListedSession<'a> {
    /// The message's id.
    pub(crate) id: &'a str,
    /// Messages of the view and their tokens.
    #[serde(flatten)]
    pub(crate) sizes: Sizes,
}

/// Messages and tokens of one role.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct RoleShare {
    pub(crate) role: &'static str,
    pub(crate) messages: usize,
    pub(crate) tokens: u32,
}

/// Calls of one tool, with the tokens of its arguments and results.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct ToolShare {
    pub(crate) tool: String,
    pub(crate) calls: usize,
    pub(crate) call_tokens: u32,
    pub(crate) result_tokens: u32,
}

impl ToolShare {
    /// Tokens of calls and results.
    pub(crate) fn tokens(&self) -> u32 {
        self.call_tokens + self.result_tokens
    }
}

/// One unit.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct UnitShare {
    pub(crate) kind: UnitKind,
    pub(crate) round: u32,
    /// The first message's id.
    pub(crate) message: String,
    pub(crate) messages: usize,
    pub(crate) tokens: u32,
    pub(crate) tools: Vec<String>,
    pub(crate) words: String,
}

/// One round: from a genuine user message to the next.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Round {
    pub(crate) round: u32,
    pub(crate) messages: usize,
    pub(crate) tokens: u32,
    /// Calls by tool, most called first.
    pub(crate) tools: Vec<(String, usize)>,
    /// The user's first words.
    pub(crate) words: String,
}

/// A compaction that the recording holds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Compaction {
    pub(crate) number: u32,
    pub(crate) recorded: bool,
    pub(crate) trigger: Trigger,
    /// Messages of the log when it was made.
    pub(crate) after_message: u32,
    pub(crate) tokens_before: Option<u32>,
    pub(crate) tokens_after: Option<u32>,
}

/// The usage that the provider reported, summed over the session's requests.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct UsageSum {
    pub(crate) requests: usize,
    pub(crate) input: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
    pub(crate) output: u64,
    /// The largest request.
    pub(crate) largest_input: u64,
}

/// The census of one session.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Census {
    pub(crate) id: Option<String>,
    #[serde(flatten)]
    pub(crate) sizes: Sizes,
    /// Messages ever said.
    pub(crate) log_messages: usize,
    pub(crate) rounds: u32,
    pub(crate) tool_definition_tokens: u32,
    pub(crate) counter: String,
    pub(crate) task: Verdict,
    /// The chain that the next compaction would use, and why; for the page only.
    #[serde(skip)]
    pub(crate) chain: String,
    pub(crate) roles: Vec<RoleShare>,
    pub(crate) tools: Vec<ToolShare>,
    pub(crate) largest_units: Vec<UnitShare>,
    pub(crate) timeline: Vec<Round>,
    pub(crate) compactions: Vec<Compaction>,
    pub(crate) usage: Option<UsageSum>,
}

impl Census {
    /// The census of a session's view. Linear in it.
    pub(crate) fn new(session: &Session, runtime: &Runtime) -> Self {
        let engine = epitome::engine_with_counter(runtime, counter_of(runtime, session));
        let ledger = engine.ledger(session);
        let units = units(session.view());
        Self {
            id: session.id.as_deref().map(str::to_owned),
            sizes: Sizes { messages: session.view().len(), tokens: ledger.total() },
            log_messages: session.log().len(),
            rounds: units.last().map_or(0, |unit| unit.round),
            tool_definition_tokens: tool_definition_tokens(&engine, session),
            counter: engine.counter.name().to_owned(),
            task: engine.detect(session, &ledger),
            chain: chain(&engine, runtime, session, &ledger),
            roles: roles(session, &ledger),
            tools: tools(session, &ledger, &units),
            largest_units: largest(session, &ledger, &units),
            timeline: timeline(session, &ledger, &units),
            compactions: compactions(session),
            usage: usage(session),
        }
    }
}

/// The chain that the next compaction would use, and why: a draft to a budget that everything fits chooses it.
fn chain(engine: &Engine, runtime: &Runtime, session: &Session, ledger: &Ledger) -> String {
    let mut request = Request::to_budget(u32::MAX);
    (request.mode, request.chain) = (runtime.mode, runtime.fixed.clone());
    let Ok(draft) = block_on(engine.draft(session, ledger, &mut MemoryArchive::new(), &request)) else {
        return String::new();
    };
    let choice = Choice::new(runtime, draft.report.mode, session.cycle() + 1);
    let why = choice.why(&draft.report.task);
    if draft.report.mode == Mode::Tournament { why } else { format!("{} ({why})", draft.report.chain.join(" → ")) }
}

fn tokens(ledger: &Ledger, entry: &Entry) -> u32 {
    ledger.entry(entry.key).map_or(0, |tokens| tokens.total)
}

fn roles(session: &Session, ledger: &Ledger) -> Vec<RoleShare> {
    let mut shares = [Role::System, Role::User, Role::Assistant, Role::Tool]
        .map(|role| RoleShare { role: role.as_str(), ..RoleShare::default() });
    for entry in session.view() {
        if let Some(share) = shares.iter_mut().find(|share| share.role == entry.message.role.as_str()) {
            share.messages += 1;
            share.tokens += tokens(ledger, entry);
        }
    }
    shares.into_iter().filter(|share| share.messages > 0).collect()
}

/// The tools of a unit, one name a call, calls in plain text included.
fn calls(entries: &[Entry]) -> impl Iterator<Item = &str> {
    entries.iter().flat_map(|entry| {
        let plain = entry.message.text_calls.iter().map(|call| call.name.as_ref());
        entry.message.calls().map(|(_, call)| call.name.as_ref()).chain(plain)
    })
}

fn tools(session: &Session, ledger: &Ledger, units: &[Unit]) -> Vec<ToolShare> {
    let mut shares: BTreeMap<&str, ToolShare> = BTreeMap::new();
    for unit in units {
        let entries = &session.view()[unit.entries.clone()];
        for name in calls(entries) {
            shares.entry(name).or_default().calls += 1;
        }
        // A result that does not name its tool belongs to the call of its id, or to the unit's first call.
        let by_id: Vec<(&str, &str)> = entries
            .iter()
            .flat_map(|entry| entry.message.calls().map(|(_, call)| (call.id.as_ref(), call.name.as_ref())))
            .collect();
        let first = calls(entries).next();
        for entry in entries {
            let Some(counted) = ledger.entry(entry.key) else { continue };
            let is_output = entry.message.origin == epitome::session::Origin::ToolOutput;
            for (block, tokens) in entry.message.blocks.iter().zip(&counted.blocks) {
                match &block.content {
                    Content::ToolCall(call) => shares.entry(&call.name).or_default().call_tokens += tokens,
                    Content::ToolResult(result) => {
                        let called = by_id.iter().find(|(id, _)| *id == result.call_id.as_ref()).map(|(_, name)| *name);
                        let name = called.or(result.name.as_deref()).unwrap_or("?");
                        shares.entry(name).or_default().result_tokens += tokens;
                    }
                    Content::Text { .. } if is_output => {
                        let name = entry.message.name.as_deref().or(first).unwrap_or("?");
                        shares.entry(name).or_default().result_tokens += tokens;
                    }
                    Content::Text { .. }
                    | Content::Thinking(_)
                    | Content::Media(_)
                    | Content::Opaque(_)
                    | Content::Gone => {}
                }
            }
        }
    }
    let mut shares: Vec<ToolShare> =
        shares.into_iter().map(|(tool, share)| ToolShare { tool: tool.to_owned(), ..share }).collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.tokens()));
    shares
}

fn unit_tokens(session: &Session, ledger: &Ledger, unit: &Unit) -> u32 {
    session.view()[unit.entries.clone()].iter().map(|entry| tokens(ledger, entry)).sum()
}

fn largest(session: &Session, ledger: &Ledger, units: &[Unit]) -> Vec<UnitShare> {
    let mut sized: Vec<(u32, &Unit)> = units.iter().map(|unit| (unit_tokens(session, ledger, unit), unit)).collect();
    sized.sort_by_key(|(tokens, _)| std::cmp::Reverse(*tokens));
    sized
        .into_iter()
        .take(LARGEST)
        .map(|(tokens, unit)| {
            let entries = &session.view()[unit.entries.clone()];
            let mut tools: Vec<String> = Vec::new();
            for name in calls(entries) {
                if tools.iter().all(|known| known != name) {
                    tools.push(name.to_owned());
                }
            }
            UnitShare {
                kind: unit.kind,
                round: unit.round,
                message: entries.first().map(|entry| entry.message.id.to_string()).unwrap_or_default(),
                messages: entries.len(),
                tokens,
                tools,
                words: words(entries),
            }
        })
        .collect()
}

/// The first words of the first readable text in entries: of a message, else of a tool call.
fn words(entries: &[Entry]) -> String {
    let blocks = || entries.iter().flat_map(|entry| &entry.message.blocks);
    let said = blocks().find_map(|block| match &block.content {
        Content::Text { text } if !text.trim().is_empty() => Some(first_words(text, WORDS)),
        _ => None,
    });
    let asked = || blocks().find_map(|block| Some(first_words(block.as_call()?.arguments.text(), WORDS)));
    said.or_else(asked).unwrap_or_default()
}

fn timeline(session: &Session, ledger: &Ledger, units: &[Unit]) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    for unit in units {
        if rounds.last().is_none_or(|round| round.round != unit.round) {
            rounds.push(Round { round: unit.round, ..Round::default() });
        }
        let Some(round) = rounds.last_mut() else { continue };
        let entries = &session.view()[unit.entries.clone()];
        round.messages += entries.len();
        round.tokens += unit_tokens(session, ledger, unit);
        for name in calls(entries) {
            match round.tools.iter_mut().find(|(known, _)| known == name) {
                Some((_, count)) => *count += 1,
                None => round.tools.push((name.to_owned(), 1)),
            }
        }
        if round.words.is_empty() && (unit.kind == UnitKind::User || unit.round == 0) {
            round.words = words(entries);
        }
    }
    for round in &mut rounds {
        round.tools.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    }
    rounds
}

fn compactions(session: &Session) -> Vec<Compaction> {
    session
        .journal()
        .iter()
        .map(|epoch| Compaction {
            number: epoch.id,
            recorded: epoch.origin == EpochOrigin::Recorded,
            trigger: epoch.trigger,
            after_message: epoch.log_length,
            tokens_before: epoch.tokens_before,
            tokens_after: epoch.tokens_after,
        })
        .collect()
}

fn usage(session: &Session) -> Option<UsageSum> {
    let mut sum = UsageSum::default();
    for usage in session.log().iter().filter_map(|message| message.usage) {
        sum.requests += 1;
        sum.input += usage.input;
        sum.cache_read += usage.cache_read;
        sum.cache_write += usage.cache_write;
        sum.output += usage.output;
        sum.largest_input = sum.largest_input.max(usage.input);
    }
    (sum.requests > 0).then_some(sum)
}
