//! What the engine adds reaches every chain that ships: memories, the newest messages whole, bounded summaries.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use epitome::config::Preset;
use epitome::engine::{Chain, Engine, MemoryArchive, MemoryNote, Request, Status, block_on};
use epitome::session::heading::{Heading, memory_heading};
use epitome::session::{EntryKey, Language, Origin};
use epitome::strategy::{SummarizeError, Summarizer, Summary, SummaryTask, TaskKind, Tokens, async_trait};
use epitome::{Config, Session};
use epitome_testkit::{FakeCounter, session};

/// Writes as much as it may, and more.
#[derive(Debug)]
struct Verbose;

#[async_trait]
impl Summarizer for Verbose {
    fn kind(&self) -> &str {
        "llm"
    }

    async fn summarize(&self, task: &SummaryTask<'_>) -> Result<Summary, SummarizeError> {
        let text = (0..task.request.max_tokens / 4).map(|line| format!("- line {line:06} of it\n")).collect();
        Ok(Summary { text, ..Summary::default() })
    }
}

/// Work with tools, and a talk; some 8,000 tokens each.
fn sessions() -> [Session; 2] {
    let step = |n: usize| {
        format!(
            "user: look at file {n} of the parser, and tell me about Token{n} in it\n\
             call Read r{n} {{\"file_path\":\"src/file{n}.rs\"}}\n\
             result r{n}: fn parse_{n}(input) -> Token{n} {{{{n}}}} … x40 lines\n\
             assistant: The function parse_{n} reads Token{n} in src/file{n}.rs, and error E{n} comes of it.\n"
        )
    };
    let turn = |n: usize| {
        format!(
            "user: And what did you see in harbour {n} on your way to the north?\n\
             assistant: In harbour {n} the boats of number {n} were red, and nobody sailed that day. … x25\n"
        )
    };
    [(0..20).map(step).collect::<String>(), (0..20).map(turn).collect()]
        .map(|text| session(&format!("user: the task is to read all of it\n{text}user: go on with the last one\n")))
}

/// Each shipped chain with the engine of its configuration, under `more`.
fn chains(more: &str) -> Vec<(String, Engine, Chain)> {
    let registry = epitome::registry();
    let presets = Preset::ALL.iter().map(|preset| format!("preset = \"{}\"\n", preset.as_str()));
    let written = "[summary]\nsummarizer = \"llm\"\n".to_owned();
    let mut found: BTreeMap<Vec<String>, (String, Engine, Chain)> = BTreeMap::new();
    for toml in presets.chain([String::new(), written]) {
        let (head, summary) = if toml.starts_with('[') { ("", toml.as_str()) } else { (toml.as_str(), "[summary]\n") };
        let more = more.split_once("[summary]\n").map_or((more, ""), |(before, own)| (before, own));
        let channel = "[channels.local]\nbase_url = \"http://127.0.0.1:1/v1\"\nmodels = [\"m\"]\n";
        let text = format!("{head}{}{summary}{}{channel}", more.0, more.1);
        let config = Config::parse(&text, "case.toml", &registry).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let runtime = config.build(&registry).unwrap();
        for kind in TaskKind::ALL {
            let mut engine = runtime.engine(Arc::new(FakeCounter), runtime.make_summarizer(None));
            engine.summarizer = Some(Arc::new(Verbose));
            let chain = engine.chains.chain(kind).clone();
            found.entry(chain.ids()).or_insert_with(|| (format!("{text}{kind} {:?}", chain.ids()), engine, chain));
        }
    }
    found.into_values().collect()
}

/// Compacts each session by each chain to some shares of it, and has the results checked.
fn check(more: &str, memories: &[MemoryNote], hold: impl Fn(&Session, &Session, &str)) {
    let chains = chains(more);
    assert!(chains.len() >= 12, "{}", chains.len());
    for (name, engine, chain) in chains {
        for before in sessions() {
            let mut session = before.clone();
            let mut ledger = engine.ledger(&session);
            let whole = ledger.total();
            for share in [2, 4] {
                let request = Request {
                    memories: memories.to_vec(),
                    chain: Some(chain.clone()),
                    ..Request::to_budget(whole / share)
                };
                let report =
                    block_on(engine.compact(&mut session, &mut ledger, &mut MemoryArchive::new(), &request)).unwrap();
                let what = format!("{name} to a {share}th: {:?}", report.status);
                // A chain that goes deeper than it has to leaves nothing for the second time.
                let is_done = report.status.is_compaction() || share > 2 && report.status == Status::NoChange;
                assert!(is_done && report.tokens_after <= request.target, "{what}");
                hold(&before, &session, &what);
            }
        }
    }
}

#[test]
fn memories_are_shown() {
    let note = MemoryNote { text: "Never push to main without a review.".to_owned(), is_typed: true };
    check("", &[note], |_, session, what| {
        let lines = format!("{}\n- “Never push to main without a review.”", memory_heading(Language::English));
        let texts: Vec<String> = session.view().iter().map(|entry| entry.message.plain_text()).collect();
        assert_eq!(texts.iter().filter(|text| text.contains(&lines)).count(), 1, "{what}");
    });
}

#[test]
fn the_newest_messages_stay() {
    check("[pins]\nkeep_recent = 4\n", &[], |before, session, what| {
        let newest = |session: &Session| {
            let entries = session.view().iter().rev().take(4);
            entries.map(|entry| (entry.key, entry.message.plain_text())).collect::<Vec<_>>()
        };
        assert_eq!(newest(session), newest(before), "{what}");
    });
}

#[test]
fn summaries_are_no_longer_than_they_may() {
    check("[summary]\nmax_tokens = 200\n", &[], |_, session, what| {
        for entry in session.view() {
            let text = entry.message.plain_text();
            let is_new = matches!(entry.key, EntryKey::Synthetic { .. }) && entry.message.origin == Origin::Summary;
            let tokens = (Heading::body_of(&text).len() as Tokens).div_ceil(4);
            assert!(!is_new || tokens <= 200, "{tokens} tokens: {what}");
        }
    });
}
