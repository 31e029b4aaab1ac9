//! Summaries on either side of the conversation: counted as they are, valid for every provider, and no part of the system
//! prompt.

use std::fs;
use std::path::Path;

use epitome::engine::{Status, block_on};
use epitome::formats::{Format, ReadOptions, Wire, read, render, validate, write};
use epitome::live::{Compaction, LiveSession};
use epitome::session::{Arguments, Content, Message, Origin, Role, UnitKind, units};
use epitome::{Config, Session};
use epitome_harness::hostile;
use serde_json::Value;

use super::support::{runtime, talk};

const SUMMARIES: &str = "[budget]\nwindow = 2000\nreserve_output = 0\n[live]\narrival_tokens = 0\n\
    [select]\nmode = \"fixed\"\nchain = \"plain\"\n[chains]\nplain = [\"incremental-summary\", \"summary\"]\n";

fn with_role(role: &str) -> String {
    format!("{SUMMARIES}[summary]\nrole = \"{role}\"\n")
}

/// The summaries in force.
fn summaries(session: &Session) -> Vec<&Message> {
    let view = session.view().iter().map(|entry| &*entry.message);
    view.filter(|message| message.origin == Origin::Summary).collect()
}

fn json(session: &Session, profile: Wire) -> Value {
    let rendered = render(session.view(), profile, session.tools.as_deref(), None).json;
    assert_eq!(validate(&rendered, profile), [], "{profile:?}");
    serde_json::from_str(&rendered).unwrap()
}

/// The roles of what holds a summary's first line.
fn roles_of_summaries(list: &Value) -> Vec<&str> {
    let items = list.as_array().unwrap().iter().filter(|item| item.to_string().contains("[Summary of "));
    items.map(|item| item["role"].as_str().unwrap()).collect()
}

#[test]
fn a_summary_stands_on_the_side_that_is_asked_for() {
    for (role, chat, responses) in [("user", "user", "user"), ("system", "system", "developer")] {
        let mut live = LiveSession::new(&runtime(&with_role(role)));
        live.push(Message::text("", Role::System, Origin::Instructions, "You fix parsers.")).unwrap();
        for round in 0..4 {
            talk(&mut live, 1_700);
            let report = block_on(live.compact(&Compaction::default())).unwrap();
            assert_eq!(report.status, Status::Compacted, "{role}: the summary of round {round} leaves like any other");
            assert_eq!(live.engine().ledger(live.session()).total(), live.tokens(), "{role}: a recount");
        }
        let session = live.session();
        assert!(!summaries(session).is_empty());
        let kinds: Vec<UnitKind> = units(session.view()).iter().map(|unit| unit.kind).collect();
        assert_eq!(kinds.iter().filter(|kind| **kind == UnitKind::System).count(), 1, "{role}: {kinds:?}");
        let of_chat = json(session, Wire::OpenaiChat);
        assert!(roles_of_summaries(&of_chat["messages"]).iter().all(|found| *found == chat), "{of_chat}");
        let of_responses = json(session, Wire::OpenaiResponses);
        assert!(roles_of_summaries(&of_responses["input"]).iter().all(|found| *found == responses), "{of_responses}");
        assert_eq!(of_responses["instructions"], "You fix parsers.");
        let of_anthropic = json(session, Wire::Anthropic);
        assert!(roles_of_summaries(&of_anthropic["messages"]).iter().all(|found| *found == "user"), "{of_anthropic}");
        assert_eq!(of_anthropic["system"], "You fix parsers.");
        for list in [&of_chat["messages"], &of_responses["input"], &of_anthropic["messages"]] {
            assert!(!roles_of_summaries(list).is_empty(), "{role}: {list}");
        }
        // The sender of the request is recognised: the text is not an instruction that has to stay.
        for (request, profile) in [(&of_chat, "chat"), (&of_responses, "responses")] {
            let again = read(request.to_string().into_bytes(), ReadOptions::default()).unwrap();
            let systems =
                units(again.sessions[0].session.view()).iter().filter(|unit| unit.kind == UnitKind::System).count();
            assert_eq!(systems, 1, "{role} {profile}");
        }
    }
}

/// The session with an object for what a hostile one gives for the arguments of a call: no reader makes a session of others.
fn with_objects(hostile: &Session) -> Session {
    let mut session = Session::new();
    for message in hostile.log() {
        let mut message = Message::clone(message);
        for block in &mut message.blocks {
            if let Content::ToolCall(call) = &mut block.content
                && !serde_json::from_str::<Value>(call.arguments.text()).is_ok_and(|value| value.is_object())
            {
                call.arguments = Arguments::Json("{}".into());
            }
        }
        session.push(message);
    }
    session
}

#[test]
fn hostile_sessions_are_valid_with_summaries_on_either_side() {
    let registry = epitome::registry();
    let mut compacted = 0;
    for role in ["user", "system"] {
        // Room enough: each compaction is one to half of what there is.
        let toml = with_role(role).replace("window = 2000", "window = 200_000");
        let config = Config::parse(&toml, "case.toml", &registry).unwrap();
        let runtime = config.build(&registry).unwrap();
        for seed in 0..100 {
            let mut live = LiveSession::with_session(&runtime, with_objects(&hostile::session(seed, 80)));
            for _ in 0..3 {
                // No call is left open at the end: the user continues.
                live.push(Message::text("", Role::User, Origin::Typed, "And on.")).unwrap();
                let target = live.tokens() / 2;
                let compaction = Compaction { target: Some(target.max(2)), ..Compaction::default() };
                let Ok(report) = block_on(live.compact(&compaction)) else { break };
                compacted += usize::from(report.status == Status::Compacted && !summaries(live.session()).is_empty());
                assert_eq!(live.engine().ledger(live.session()).total(), live.tokens(), "{role} {seed}");
                for profile in [Wire::OpenaiChat, Wire::OpenaiResponses, Wire::Anthropic] {
                    json(live.session(), profile);
                }
            }
        }
    }
    assert!(compacted > 50, "{compacted} compactions left a summary");
}

#[test]
fn the_examples_are_valid_with_summaries_on_either_side() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut compacted = 0;
    for role in ["user", "system"] {
        let runtime = runtime(&with_role(role).replace("window = 2000", "window = 200_000"));
        for file in fs::read_dir(&folder).unwrap() {
            let Ok(bytes) = fs::read(file.unwrap().path()) else { continue }; // a folder
            let Ok(loaded) = read(bytes, ReadOptions::default()) else { continue }; // no session
            for recorded in &loaded.sessions {
                let mut live = LiveSession::with_session(&runtime, recorded.session.without_journal());
                let compaction = Compaction { target: Some(live.tokens() / 2), ..Compaction::default() };
                block_on(live.compact(&compaction)).unwrap();
                compacted += usize::from(!summaries(live.session()).is_empty());
                assert_eq!(live.engine().ledger(live.session()).total(), live.tokens(), "{role} {}", recorded.name);
                for profile in [Wire::OpenaiChat, Wire::OpenaiResponses, Wire::Anthropic] {
                    json(live.session(), profile);
                }
                // Agents' own files have summaries on the user's side.
                for format in [Format::ClaudeCode, Format::Codex, Format::Pi] {
                    let written = write(&loaded, 0, live.session(), format).unwrap();
                    let again = read(written, ReadOptions::default()).unwrap();
                    let view = again.sessions[0].session.view().iter();
                    let told = view.filter(|entry| entry.message.plain_text().contains("[Summary of "));
                    let sides: Vec<Role> = told.map(|entry| entry.message.role).collect();
                    // What is written into the session's own file is read as it was; others have nothing but their own words.
                    let own = if role == "system" && format == loaded.format { Role::System } else { Role::User };
                    assert!(sides.iter().all(|side| *side == own), "{role} {format}: {sides:?}");
                    assert_eq!(sides.is_empty(), summaries(live.session()).is_empty(), "{role} {format}");
                }
            }
        }
    }
    assert!(compacted >= 2, "{compacted} compactions left a summary");
}
