//! What the cases share: a scripted strategy, the view as text.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use epitome_engine::{Chain, Engine, MemoryArchive, Report, Request, SignalDetector};
use epitome_session::{Content, Session};
use epitome_strategy::{Edit, Goal, Lossiness, Meta, Plan, PlanError, Reason, RequiredServices, Strategy, View};
use epitome_testkit::FakeCounter;

/// Returns the same plan each time; the budgets of the cases are met by the first.
#[derive(Debug)]
pub(crate) struct Script(pub(crate) &'static str, pub(crate) Vec<Edit>);

impl Strategy for Script {
    fn meta(&self) -> &Meta {
        const META: Meta = Meta {
            id: "script",
            summary: "",
            docs: "",
            lossiness: Lossiness::Whole,
            needs: RequiredServices { embeddings: false, model: false },
            since: "0.1.0",
        };
        const OTHER: Meta = Meta { id: "other", ..META };
        if self.0 == "other" { &OTHER } else { &META }
    }

    fn plan(&self, _: &View<'_>, _: &Goal) -> Result<Plan, PlanError> {
        Ok(Plan::from_edits(self.1.clone(), "nothing"))
    }
}

/// Plans nothing, and remembers what it was asked for.
#[derive(Debug, Default)]
pub(crate) struct Spy(pub(crate) Mutex<Vec<Goal>>);

impl Strategy for Spy {
    fn meta(&self) -> &Meta {
        const META: Meta = Meta {
            id: "spy",
            summary: "",
            docs: "",
            lossiness: Lossiness::Whole,
            needs: RequiredServices { embeddings: false, model: false },
            since: "0.1.0",
        };
        &META
    }

    fn plan(&self, _: &View<'_>, goal: &Goal) -> Result<Plan, PlanError> {
        self.0.lock().unwrap().push(goal.clone());
        Ok(Plan::decline("only looks"))
    }
}

pub(crate) fn reason() -> Reason {
    Reason::new("a-case", "because")
}

pub(crate) fn chain(edits: Vec<Edit>) -> Option<Chain> {
    Some(Chain(vec![Arc::new(Script("script", edits))]))
}

pub(crate) fn engine() -> Engine {
    let mut engine = Engine::new(Arc::new(FakeCounter), Arc::new(SignalDetector));
    engine.handles = true;
    engine
}

/// Compacts; gives the report and the archive.
pub(crate) fn compact(engine: &Engine, session: &mut Session, request: &Request) -> (Report, MemoryArchive) {
    let mut archive = MemoryArchive::new();
    let mut ledger = engine.ledger(session);
    let report = epitome_engine::block_on(engine.compact(session, &mut ledger, &mut archive, request)).unwrap();
    (report, archive)
}

/// A budget that the chain's edits meet or miss by themselves: the floor leaves what is at or under the limit alone.
pub(crate) fn request(target: u32, chain: Option<Chain>) -> Request {
    Request { chain: chain.or(Some(Chain::default())), ..Request::to_budget(target) }
}

/// The view, one line a block; handles of the archive are shown as `#`, long texts by their ends.
pub(crate) fn shown(session: &Session) -> String {
    let mut text = String::new();
    for entry in session.view() {
        for block in &entry.message.blocks {
            let shown = match &block.content {
                Content::Text { text } => text.to_string(),
                Content::Thinking(thinking) => format!("(thinks) {}", thinking.text),
                Content::ToolCall(call) => format!("(call {}) {}", call.id, call.arguments.text()),
                Content::ToolResult(result) => format!("(result {}) {}", result.call_id, result.text),
                Content::Media(_) => "(media)".to_owned(),
                Content::Opaque(_) => "(unknown)".to_owned(),
                Content::Gone => continue,
            };
            let _ = writeln!(text, "{}: {}", entry.message.role.as_str(), abbreviated(&without_handles(&shown)));
        }
    }
    text
}

pub(crate) fn without_handles(text: &str) -> String {
    let mut parts = text.split("recall ");
    let mut joined = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|char: char| !char.is_ascii_hexdigit()).unwrap_or(part.len());
        let _ = write!(joined, "recall #{}", &part[end..]);
    }
    joined.replace('\n', "⏎")
}

pub(crate) fn abbreviated(text: &str) -> String {
    let count = text.chars().count();
    if count <= 110 {
        return text.to_owned();
    }
    let head: String = text.chars().take(30).collect();
    let tail: String = text.chars().skip(count - 30).collect();
    format!("{head} … {tail}")
}

#[track_caller]
pub(crate) fn expect(session: &Session, expect: &str) {
    let lines: Vec<&str> = expect.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let view = shown(session);
    assert_eq!(view.lines().collect::<Vec<_>>(), lines, "\nthe view:\n{view}");
}

pub(crate) const WORK: &str = "
system: S
user: fix the parser
call Read c1 {\"file_path\":\"a.rs\",\"limit\":1.50}
result c1: line {n} of the file … x40 lines
assistant: I see.
user: go on
call Bash c2 {}
result c2: ok
";
