//! The composition of a session: its sizes by role, tool, unit and round.

use epitome::context::{Contents, RoleShare, RoundSize, ToolShare, UnitSize, counts};
use epitome::engine::{Engine, Ledger, Mode, block_on};
use epitome::live::{HistoryEntry, history};
use epitome::session::Session;
use epitome::{MemoryArchive, Request, Runtime};
use serde::Serialize;

use crate::chain::Choice;

/// Units listed as the largest.
const LARGEST: usize = 10;

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
        let engine = epitome::engine_of(runtime);
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
    pub(crate) session: Option<SessionComposition>,
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

/// The composition of one session.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SessionComposition {
    pub(crate) id: Option<String>,
    /// Messages of the view.
    pub(crate) messages: usize,
    /// Messages ever said.
    pub(crate) log_messages: usize,
    #[serde(flatten)]
    pub(crate) contents: Contents,
    /// The chain that the next compaction would use, and why; for the page only.
    #[serde(skip)]
    pub(crate) chain: String,
    pub(crate) roles: Vec<RoleShare>,
    pub(crate) tools: Vec<ToolShare>,
    pub(crate) largest_units: Vec<UnitSize>,
    pub(crate) timeline: Vec<RoundSize>,
    pub(crate) compactions: Vec<HistoryEntry>,
    pub(crate) usage: Option<UsageSum>,
}

impl SessionComposition {
    /// The composition of a session's view. Linear in it.
    pub(crate) fn new(session: &Session, runtime: &Runtime) -> Self {
        let engine = epitome::engine_of(runtime);
        let ledger = engine.ledger(session);
        let mut contents = Contents::measure(&engine, session, &ledger);
        let mut units = UnitSize::measure(session, &counts(session, &ledger));
        let timeline = RoundSize::of_units(&units);
        units.sort_by_key(|unit| std::cmp::Reverse(unit.tokens));
        units.truncate(LARGEST);
        Self {
            id: session.id.as_deref().map(str::to_owned),
            messages: session.view().len(),
            log_messages: session.log().len(),
            chain: chain(&engine, runtime, session, &ledger),
            roles: std::mem::take(&mut contents.roles),
            tools: std::mem::take(&mut contents.tools),
            contents,
            largest_units: units,
            timeline,
            compactions: history(session),
            usage: usage(session),
        }
    }

    /// The sizes of the view.
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes { messages: self.messages, tokens: self.contents.tokens }
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
