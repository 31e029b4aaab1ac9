//! Cases of what is said of a context.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use epitome_engine::{Budget, Engine, SignalDetector, Status, block_on};
use epitome_session::{Message, Origin, Role, Session, Trigger, Usage};
use epitome_strategy::{TokenCounter, Tokens};
use epitome_testkit::{FakeCounter, session};

use super::*;
use crate::live::{Compaction, LiveSession};
use crate::{Config, Runtime};

const WORK: &str = r#"
system: You are a coding agent.
user(injected): <reminder>be brief</reminder>
user: fix the parser
assistant: I look at the file first.
call Read c1 {"file_path":"src/parser.rs"}
result c1: fn parse() { … x20
assistant: And now the build.
call Bash c2 {"command":"make"}
result c2 error: line {n} of the build … x40 lines
call Bash c3 {"command":"make check"}
result c3: all right
user: well done, and the tests? Here is a picture
image
assistant: word … x50
"#;

fn engine(counter: impl TokenCounter + 'static) -> Engine {
    Engine::new(Arc::new(counter), Arc::new(SignalDetector))
}

fn runtime(settings: &str) -> Runtime {
    let registry = crate::registry();
    Config::parse(settings, "c.toml", &registry).unwrap().build(&registry).unwrap()
}

/// The parts of a fixture: name, messages, and the items with their counts; checks that the tokens add up.
fn check_parts(fixture: &str, expect: &[&str]) {
    let session = session(fixture);
    let engine = engine(FakeCounter);
    let ledger = engine.ledger(&session);
    let mut parts = parts(&session, &counts(&session, &ledger), &FakeCounter);
    assert_eq!(parts.iter().map(|part| part.tokens).sum::<Tokens>(), ledger.total(), "nothing twice, nothing left out");
    assert!(parts.is_sorted_by_key(|part| std::cmp::Reverse(part.tokens)));
    parts.sort_by_key(|part| part.part);
    let item = |item: &PartItem| format!(" {}×{}", item.name, item.count);
    let line =
        |part: &Part| format!("{} {}{}", part.part, part.messages, part.items.iter().map(item).collect::<String>());
    assert_eq!(parts.iter().map(line).collect::<Vec<_>>(), expect);
}

#[test]
fn a_context_is_told_by_part() {
    check_parts(
        WORK,
        &[
            "system-prompt 1",
            "instructions 1",
            "task 1",
            "user 1",
            "assistant 3",
            "tool-calls 3 Bash×2 Read×1",
            "tool-results 2 Bash×2",
            "files-read 1 src/parser.rs×1",
            "images 1",
        ],
    );
    check_parts(
        "user(summary): [Summary of 3 earlier messages]\nuser: go on\nthinking signed: hm\nassistant: yes",
        &["task 1", "assistant 1", "thinking 1", "summaries 1"],
    );
    // Agents that call tools in plain text: the output is the user's role.
    check_parts(
        "user: fix it\nassistant: first\ntextcall bash: cat notes.txt\nuser(output): a note\n",
        &["task 1", "assistant 1", "tool-results 1 bash×1"],
    );
    check_parts("user: hello", &["task 1"]);
    check_parts("", &[]);
    check_parts("result c9: nobody asked", &["tool-results 1 unknown×1"]);
}

#[test]
fn tool_definitions_are_a_part_beside_the_messages() {
    let mut session = session(WORK);
    session.tools = Some(Arc::from("x".repeat(400)));
    let engine = engine(FakeCounter);
    let ledger = engine.ledger(&session);
    let contents = Contents::measure(&engine, &session, &ledger);
    let part = contents.parts.iter().find(|part| part.part == PartKind::ToolDefinitions).unwrap();
    assert_eq!((part.tokens, part.messages, contents.tool_definition_tokens), (100, 0, 100));
    assert!(contents.parts.is_sorted_by_key(|part| std::cmp::Reverse(part.tokens)));
    assert_eq!(contents.tokens, ledger.total());
    assert_eq!(contents.tokens_by_role.values().sum::<Tokens>(), ledger.total());
    assert_eq!((contents.rounds, contents.calls), (2, 3));
    let sizes = MessageSize::measure(&engine, &session, &ledger);
    assert_eq!(sizes.iter().map(|size| size.tokens).sum::<Tokens>(), ledger.total());
    assert!(sizes.iter().map(|size| size.position).eq(0..session.view().len()));
}

#[test]
fn what_deserves_a_look_is_told() {
    let check = |fixture: &str, usable: Tokens, expect: &[&str]| {
        let session = session(fixture);
        let tokens = counts(&session, &engine(FakeCounter).ledger(&session));
        let found = ContextWarning::find(&session, &tokens, &FakeCounter, usable);
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), expect, "{fixture}");
    };
    let result = "user: go\ncall Read c1 {\"file_path\":\"a\"}\nresult c1: word word word … x100\n";
    check(result, 10_000, &[]);
    check(result, 1_900, &["one result of Read (#2) fills 20 % of the usable window"]);
    check("user: word … x100", 500, &["one message (#0) fills 26 % of the usable window"]);
    let again = |times: usize, last: &str| {
        let calls: String =
            (0..times).map(|at| format!("call Bash c{at} {{\"command\":\"make\"}}\nresult c{at}: failed\n")).collect();
        format!("user: go\n{calls}call Bash d {{\"command\":\"make\"}}\nresult d: {last}\n")
    };
    let loops = |times: u32, of: u32| {
        format!(
            "Bash was called {times} times among the newest {of} calls with the same arguments and the same result: \
                 {{\"command\":\"make\"}}"
        )
    };
    check(&again(1, "failed"), 10_000, &[]);
    check(&again(2, "built"), 10_000, &[]);
    check(&again(2, "failed"), 10_000, &[&loops(3, 3)]);
    check(&again(3, "built"), 10_000, &[&loops(3, 4)]);
    check(&again(40, "failed"), 10_000, &[&loops(20, 20)]);
    // A call without a result is still running.
    check("user: go\ncall Bash c1 {}\nresult c1: a\ncall Bash c2 {}\nresult c2: a\ncall Bash c3 {}\n", 10_000, &[]);
}

#[test]
fn what_has_left_is_found_under_its_handle() {
    let mut live = LiveSession::with_session(&runtime(""), session(&long_work()));
    assert!(Removed::measure(live.session(), &FakeCounter).is_empty());
    let report = block_on(live.compact(&Compaction { target: Some(2_000), ..Compaction::default() })).unwrap();
    assert_eq!(report.status, Status::Compacted);
    let removed = Removed::measure(live.session(), &FakeCounter);
    let here = live.session().view().iter().filter(|entry| !entry.is_edited()).count();
    assert!(removed.messages > 10 && removed.tokens > 1_000 && here > 0, "{removed:?}");
    assert_eq!(removed.compactions, 1);
    for item in &removed.items {
        assert!(live.recall(item.handle.as_deref().unwrap()).unwrap().is_some(), "{item:?}");
    }
    assert!(removed.items.iter().any(|item| item.tokens > 0 && !item.words.is_empty() && item.first.is_some()));
    live.undo(0).unwrap();
    assert_eq!(Removed::measure(live.session(), &FakeCounter), Removed::default());
}

/// A task, and many steps with results.
fn long_work() -> String {
    let steps: String = (0..30)
        .map(|step| {
            format!(
                "assistant: step {step}\ncall Bash c{step} {{\"command\":\"make part{step}\"}}\n\
                     result c{step}: part {step}, line {{n}} … x60 lines\n"
            )
        })
        .collect();
    format!("user: build it all\n{steps}user: and now the last\n")
}

#[test]
fn the_next_compaction_is_worked_out_and_not_made() {
    let check = |settings: &str, fixture: &str, expect: &dyn Fn(&ContextReport)| {
        let mut live = LiveSession::with_session(&runtime(settings), session(fixture));
        let before = live.session().state_hash();
        let report = block_on(live.report_context());
        assert_eq!(live.session().state_hash(), before, "nothing was changed");
        expect(&report);
        let compaction = Compaction { trigger: report.next.trigger, ..Compaction::default() };
        if report.next.status == Some(Status::Compacted) {
            let made = block_on(live.compact(&compaction)).unwrap();
            assert_eq!(made.tokens_after, report.next.tokens_after, "it is the one that would be made");
        }
    };
    check("", &long_work(), &|report| {
        let next = &report.next;
        assert_eq!((next.trigger, next.status), (Trigger::Manual, Some(Status::Compacted)));
        assert!(next.tokens_after < next.tokens_before && !next.departures.is_empty() && !next.chain.is_empty());
        assert!(next.departures.is_sorted_by_key(|departure| std::cmp::Reverse(departure.tokens_saved)));
        let largest = &next.departures[0];
        assert_eq!(largest.mostly, Some(PartKind::ToolResults));
        assert!(
            largest.tokens > largest.tokens_saved && !largest.words.is_empty() && !largest.reason.detail.is_empty()
        );
    });
    check("[budget]\nwindow = 8_000\nreserve_output = 0\n", &long_work(), &|report| {
        assert_eq!(report.next.trigger, Trigger::Hard);
        assert!(report.fullness.check.should_compact && report.fullness.tokens_left() == Some(0));
    });
    let prompt = "system: word … x200\nuser: go\nassistant: word … x50\nuser: and now?";
    check("[budget]\nwindow = 100\nreserve_output = 0\n", prompt, &|report| {
        assert_eq!(report.next.status, Some(Status::Infeasible));
        assert!(report.next.floor.as_ref().unwrap().tokens > 200 && report.next.departures.is_empty());
    });
}

#[test]
fn no_model_is_asked_for_a_look() {
    // Nothing answers at this address; a model that was asked would be a problem of the report.
    let settings = "[summary]\nsummarizer = \"llm\"\nchannel = \"c\"\non_failure = \"stop\"\nfall_back_to_rules = false\n\
                    [channels.c]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"m\"]\ntries = 1\n\
                    [select]\nmode = \"fixed\"\nchain = \"s\"\n[chains]\ns = [\"summary\"]\n";
    let live = LiveSession::with_session(&runtime(settings), session(&long_work()));
    let next = block_on(live.report_context()).next;
    assert_eq!((next.status, next.problem), (Some(Status::Compacted), None));
}

#[test]
fn the_providers_own_count_is_that_of_the_newest_request() {
    let said = |id: &str, input: Option<u64>| {
        let usage = input.map(|input| Usage { input, output: 5, ..Usage::default() });
        Message { usage, ..Message::text(id, Role::Assistant, Origin::Model, "word") }
    };
    let check = |messages: &[(&str, Option<u64>)], expect: Option<(u64, usize)>| {
        let mut log = Session::new();
        log.extend(messages.iter().map(|(id, input)| said(id, *input)));
        let usage = ReportedUsage::read(&log);
        assert_eq!(usage.map(|usage| (usage.tokens, usage.messages_since)), expect, "{messages:?}");
    };
    check(&[], None);
    check(&[("a", None)], None);
    check(&[("a", Some(0))], None);
    check(&[("a", Some(10))], Some((15, 0)));
    check(&[("a", Some(10)), ("b", Some(20)), ("c", None), ("d", None)], Some((25, 2)));
    let fullness = |tokens: Tokens| {
        let budget = Budget { window: 1_000, reserve_output: 0, ..Budget::default() };
        Fullness::measure(
            &engine(FakeCounter).ledger(&Session::new()),
            &Session::new(),
            tokens,
            &budget,
            &Default::default(),
        )
    };
    let near =
        |tokens: u64, ours: Tokens| ReportedUsage { tokens, messages_since: 0 }.is_near_the_window(&fullness(ours));
    assert_eq!((near(799, 10), near(800, 10), near(800, 900)), (false, true, false));
    // What fills the room is the larger count, with what has come since.
    let filled = |input: u64, after: &str| {
        let mut session = session("user: go");
        session.push(said("a", Some(input)));
        session.push(Message::text("b", Role::User, Origin::Typed, after));
        let (engine, budget) = (engine(FakeCounter), Budget { tool_definitions: 100, ..Budget::default() });
        let ledger = engine.ledger(&session);
        let ours = ledger.total();
        let fullness = Fullness::measure_reported(&ledger, &session, ours, &budget, &Default::default());
        (fullness.check.current_tokens, ours)
    };
    let (tokens, ours) = filled(1, "word");
    assert_eq!(tokens, ours);
    let (one, two) = (filled(150_000, "word"), filled(150_000, "word word"));
    assert_eq!(two.0 - one.0, two.1 - one.1, "what has come since, as it is counted here");
    let (since, none) = (one.0, 150_000 + 5 - 100);
    assert!(since > none && since < none + ours, "{since}");
    // A request from before a compaction says nothing of the context after it.
    let mut live = LiveSession::with_session(&runtime(""), session(&long_work()));
    live.push(said("u", Some(10_000))).unwrap();
    assert!(ReportedUsage::read(live.session()).is_some());
    block_on(live.compact(&Compaction { target: Some(2_000), ..Compaction::default() })).unwrap();
    assert_eq!(ReportedUsage::read(live.session()), None);
}

#[test]
fn a_live_session_tells_the_providers_count_and_acts_by_its_own() {
    // The window, the model, what the provider counted; the tokens, whether these are exact, whether it is full.
    let check = |model: &str, input: u64, expect: (Option<u64>, bool, bool)| {
        let settings = format!("[budget]\nmodel = \"{model}\"\nwindow = 200_000\nreserve_output = 0\n");
        let mut live = LiveSession::with_session(&runtime(&settings), session(WORK));
        let usage = Usage { input, output: 5, ..Usage::default() };
        let answer = Message::text("a", Role::Assistant, Origin::Model, "word");
        live.push(Message { usage: Some(usage), ..answer }).unwrap();
        let report = block_on(live.report_context());
        let fullness = &report.fullness;
        assert_eq!(fullness, &live.fullness());
        let tokens = expect.0.unwrap_or_else(|| live.tokens().into());
        let told = (u64::from(fullness.check.current_tokens), fullness.exact, fullness.check.should_compact);
        assert_eq!(told, (tokens, expect.1, expect.2), "{model} {input}");
        let counted = Fullness::measure_reported(
            live.ledger(),
            live.session(),
            live.tokens(),
            live.budget(),
            &Default::default(),
        );
        assert_eq!(counted.for_model(Some(model)), *fullness, "as everywhere else");
        // What is not among the messages leaves by no compaction.
        assert_eq!((live.check().current_tokens, live.check().should_compact), (live.tokens(), false));
        assert_eq!(live.context().estimated, model != "gpt-4o", "by the counter");
    };
    check("gpt-4o", 0, (None, true, false));
    check("gpt-4o", 1, (None, true, false));
    check("gpt-4o", 90_000, (Some(90_005), false, false));
    check("gpt-4o", 190_000, (Some(190_005), false, true));
    check("claude-sonnet-5", 0, (None, false, false));
    check("claude-sonnet-5", 190_000, (Some(190_005), false, true));
}

/// Counts how often it is asked.
#[derive(Debug, Default, Clone)]
struct CountingCounter(Arc<AtomicUsize>);

impl TokenCounter for CountingCounter {
    fn name(&self) -> &str {
        "counting"
    }

    fn count(&self, text: &str) -> Tokens {
        self.0.fetch_add(1, Ordering::Relaxed);
        FakeCounter.count(text)
    }

    fn is_exact(&self) -> bool {
        true
    }
}

#[test]
fn a_view_that_is_read_again_is_counted_once() {
    let counter = CountingCounter::default();
    let engine = engine(counter.clone());
    let asked = |counts: &mut ViewCounts, session: &Session| {
        let before = counter.0.load(Ordering::Relaxed);
        let counted = counts.count(session);
        let asked = counter.0.load(Ordering::Relaxed) - before;
        let ledger = engine.ledger(session);
        assert_eq!(counted, super::counts(session, &ledger), "as a ledger counts it");
        asked
    };
    let mut counts = ViewCounts::new(&engine);
    assert!(asked(&mut counts, &session(WORK)) > 10);
    assert_eq!(asked(&mut counts, &session(WORK)), 0, "another reading of the same");
    assert_eq!(asked(&mut counts, &session(&format!("{WORK}user: more\n"))), 1);
    // What replaces a message of the same number is counted.
    assert_eq!(asked(&mut counts, &session(&format!("{WORK}user: less\n"))), 1);
    let budget = Budget::default();
    let fullness = Fullness::measure(counts.ledger(), &session(WORK), 100, &budget, &Default::default());
    assert_eq!((fullness.check.current_tokens, fullness.window_tokens), (100, budget.window));
}

#[test]
fn first_words_are_one_safe_line() {
    let check = |text: &str, expect: &str| {
        assert_eq!(first_words(&Message::text("", Role::User, Origin::Typed, text)), expect);
    };
    check("  two\n\twords \u{1b}[2J here ", "two words [2J here");
    check("", "");
    check(" \n ", "");
    let long = first_words(&Message::text("", Role::User, Origin::Typed, "word ".repeat(100)));
    assert!(long.chars().count() <= 121 && long.ends_with('…'), "{long}");
    let wide = first_words(&Message::text("", Role::User, Origin::Typed, "语".repeat(5_000)));
    assert!(wide.chars().count() <= 121 && wide.ends_with('…'), "{wide}");
    let fixture = |text: &str| first_words(&session(text).log()[0]);
    assert_eq!(fixture("call Bash c1 {\"command\":\"make\"}"), "Bash {\"command\":\"make\"}");
}
