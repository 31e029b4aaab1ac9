#![allow(clippy::unwrap_used)]
use super::*;
use crate::block::{Arguments, Block, Content, ToolCall, ToolResult};
use crate::message::{Message, TextCall};
use crate::session::Session;

/// Builds a session from a line of words: `s` system, `u` user, `i` injected, `o` tool output as a user message, `S`
/// summary, `Y` summary of the system's side, `a` text, `t` text with a call in it, `c1+2` calls, `p1/2+3` calls that the program
/// 1 makes, `r1` result.
fn session(line: &str) -> Session {
    let mut session = Session::new();
    for word in line.split_whitespace() {
        let (kind, ids) = word.split_at(1);
        let text = |role, origin| Message::text("", role, origin, "x");
        session.push(match kind {
            "s" => text(Role::System, Origin::Instructions),
            "u" => text(Role::User, Origin::Typed),
            "i" => text(Role::User, Origin::Injected),
            "o" => text(Role::User, Origin::ToolOutput),
            "S" => text(Role::User, Origin::Summary),
            "Y" => text(Role::System, Origin::Summary),
            "a" => text(Role::Assistant, Origin::Model),
            "t" => Message {
                text_calls: vec![TextCall { name: "bash".into(), block: 0, start: 0, end: 1 }],
                ..text(Role::Assistant, Origin::Model)
            },
            "c" | "p" => {
                let (program, ids) =
                    ids.split_once('/').map_or((None, ids), |(program, ids)| (Some(program.into()), ids));
                let arguments = Arguments::Json("{}".into());
                let call = |id: &str| ToolCall { id: id.into(), name: "run".into(), arguments: arguments.clone() };
                let blocks = ids.split('+').map(|id| Block::new(Content::ToolCall(call(id)))).collect();
                Message { program, ..Message::new("", Role::Assistant, Origin::Model, blocks) }
            }
            "r" => {
                let text = "x".into();
                let result = ToolResult { call_id: ids.into(), name: None, text, attachments: vec![], is_error: false };
                Message::result("", result)
            }
            other => unreachable!("no such word: {other}"),
        });
    }
    session
}

/// Units as text: the first letter of the kind, how many entries, `?` when open, and the round.
fn check(line: &str, expect: &str) {
    let shown: Vec<String> = units(session(line).view())
        .iter()
        .map(|unit| {
            let kind = format!("{:?}", unit.kind);
            format!("{}{}{}@{}", &kind[..2], unit.entries.len(), if unit.closed { "" } else { "?" }, unit.round)
        })
        .collect();
    assert_eq!(shown.join(" "), expect, "{line}");
}

#[test]
fn units_of_views() {
    check("", "");
    check("s u a u a", "Sy1@0 Us1@1 St1@1 Us1@2 St1@2");
    check("u c1+2 r1 r2 a", "Us1@1 St3@1 St1@1");
    check("u c1+2 r2 r1", "Us1@1 St3@1");
    check("u c1+1+2 r1 r2 r1 a", "Us1@1 St4@1 St1@1");
    check("u c1+1 r1 r1 r1", "Us1@1 St3@1 Or1@1");
    check("u c1+1 r1 u", "Us1@1 St2?@1 Us1@2");
    check("u c1 u r1", "Us1@1 St2@1 Us1@2"); // the late result stands with its call
    check("u c1+2 r1", "Us1@1 St2?@1");
    check("u c1", "Us1@1 St1?@1");
    check("u r9 a", "Us1@1 Or1@1 St1@1");
    check("u c1 r1 r1", "Us1@1 St2@1 Or1@1");
    check("u c1+1 r1 r1", "Us1@1 St3@1");
    check("i u t o t o o a", "In1@0 Us1@1 St2@1 St3@1 St1@1");
    check("u t", "Us1@1 St1?@1");
    check("u t u", "Us1@1 St1@1 Us1@2");
    check("S a o", "Su1@0 St1@0 In1@0");
    // What a program calls, one after the other, is of its step.
    check("u c1+2 r2 p1/3 r3 p1/4+5 r4 r5 r1 a u", "Us1@1 St8@1 St1@1 Us1@2");
    check("u c1+2 r2 p1/3 r3", "Us1@1 St4?@1");
    check("u c1+2 r2 p1/3", "Us1@1 St3?@1");
    check("u c1+2 r2 r1 p1/3 r3", "Us1@1 St3@1 St2@1"); // it has ended
    check("u c1+2 r2 p9/3 r3", "Us1@1 St2?@1 St2@1"); // no such program
    check("s Y u a", "Sy1@0 Su1@0 Us1@1 St1@1");
}
