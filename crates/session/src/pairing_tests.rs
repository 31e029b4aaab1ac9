#![allow(clippy::unwrap_used)]
use super::*;
use crate::block::{Arguments, Block};
use crate::message::Origin;
use crate::session::Session;

/// Builds messages from a line of words: `u` a user's, `a` the model's, `c1:read+2:write` calls, `r1:read` a result. An id or
/// a name may be missing.
fn messages(line: &str) -> Vec<Message> {
    let parts = |text: &str| {
        let (id, name) = text.split_once(':').unwrap_or((text, ""));
        (Arc::<str>::from(id), Arc::<str>::from(name))
    };
    let message = |word: &str| match word.split_at(1) {
        ("u", _) => Message::text("", Role::User, Origin::Typed, "x"),
        ("a", _) => Message::text("", Role::Assistant, Origin::Model, "x"),
        ("c", calls) => {
            let call = |(id, name)| ToolCall { id, name, arguments: Arguments::Json("{}".into()) };
            let blocks = calls.split('+').map(|it| Block::new(Content::ToolCall(call(parts(it))))).collect();
            Message::new("", Role::Assistant, Origin::Model, blocks)
        }
        ("r", result) => {
            let (call_id, name) = parts(result);
            let name = (!name.is_empty()).then_some(name);
            let (text, attachments) = ("x".into(), vec![]);
            Message::result("", ToolResult { call_id, name, text, attachments, is_error: false })
        }
        (other, _) => unreachable!("no such word: {other}"),
    };
    line.split_whitespace().map(message).collect()
}

/// Returns for each result the number of the message and of the block of its call.
fn pairs(session: &Session) -> String {
    let mut open = OpenCalls::default();
    let mut shown: Vec<String> = Vec::new();
    for (number, message) in session.log().iter().enumerate() {
        message.calls().for_each(|(block, call)| open.open(number, call, block));
        if let Some(result) = result_of(message) {
            shown.push(open.answer(result).map_or("-".to_owned(), |(step, block)| format!("{step}.{block}")));
        }
    }
    shown.join(" ")
}

#[test]
fn results_find_their_calls() {
    let check = |line: &str, expect: &str| {
        let mut session = Session::new();
        session.extend(messages(line));
        assert_eq!(pairs(&session), expect, "{line}");
        let json = serde_json::to_string(&session).unwrap();
        let again: Session = serde_json::from_str(&json).unwrap();
        assert_eq!((pairs(&again), again.state_hash()), (expect.to_owned(), session.state_hash()), "stored: {line}");
    };
    check("c1:a+2:b r2 r1", "0.1 0.0");
    // Without an id: by the name of the tool, then by order.
    check("c1:a+2:b r:b r:a", "0.1 0.0");
    check("c1:a+2:b r r", "0.0 0.1");
    check("c1:a+2:a+3:b r r:b r:a", "0.1 0.2 0.0");
    check("c:a+:a r:a r:a", "0.0 0.1");
    check("c:a+:b r:b r:a", "0.1 0.0");
    // Ids of their own, and those of nobody.
    check("c1:a+2:b rx:b ry", "0.1 0.0");
    check("c:a rx:a c:a ry:a", "0.0 2.0");
    check("c1:a rx:other", "0.0");
    // What has its call's id comes first, wherever it stands.
    check("c1:a+2:a r:a r1:a", "0.1 0.0");
    check("c1:a+2:a rx r1", "0.1 0.0");
    check("c1:a u r c2:a r2 r1", "- 3.0 0.0");
    // A repeated id: in the order of the calls, of the tool where the result names it.
    check("cRead:a+Read:a rRead rRead", "0.0 0.1");
    check("cRead:a+Read:b rRead:b rRead:a", "0.1 0.0");
    check("c1:a r1 c1:a r1", "0.0 2.0");
    // Only where no call can exist there is none: nothing in front, nothing open, or a second result of a call.
    check("r r1", "- -");
    check("c1:a r r", "0.0 -");
    check("c1:a+2:b r1 r1", "0.0 -");
    check("c1:a c2:b r2 r", "1.0 -");
    // A call answers nothing that came before it.
    check("r c:a r", "- 1.0");
    check("c:a r r c:a", "0.0 -");
    // Something came in between.
    check("c1:a u r", "0.0");
    check("c1:a a r", "0.0");
    check("c:a u c1:b r1 r", "2.0 0.0");
}

#[test]
fn a_result_that_arrives_alone_is_paired_like_one_among_others() {
    let check = |line: &str, expect: &str| {
        let mut session = Session::new();
        for message in messages(line) {
            let found = result_of(&message).and_then(|result| session.call_of(result)).map(|call| call.id.clone());
            session.push(message.clone());
            let log = session.log();
            let given = result_of(&message).and(log.last()).and_then(|it| result_of(it)).map(|it| it.call_id.clone());
            assert!(found.is_none() || found == given, "{line}: {found:?} and then {given:?}");
        }
        assert_eq!(pairs(&session), expect, "{line}");
    };
    check("c1:a+2:b r:b r:a", "0.1 0.0");
    check("c1:a+2:b rx ry:b", "0.0 0.1");
    check("c:a+:a r r", "0.0 0.1");
    check("c1:a r1 r1", "0.0 -");
}

#[test]
fn the_id_that_a_result_came_with_is_known() {
    let check = |line: &str, expect: &[Option<&str>]| {
        let mut session = Session::new();
        session.extend(messages(line));
        let results = session.log().iter().filter(|message| message.role == Role::Tool);
        let recorded: Vec<Option<&str>> = results.map(|it| it.recorded_call_id.as_deref()).collect();
        assert_eq!(recorded, expect, "{line}");
    };
    check("c1:a+2:a+:b r1 rx r:b", &[None, Some("x"), None]);
    check("c1:a r", &[Some("")]);
    check("rx", &[None]);
}

#[test]
fn many_calls_of_one_message_are_paired_in_linear_time() {
    let many = 20_000;
    let calls = |id: fn(usize) -> String| {
        format!("c{}", (0..many).map(|number| format!("{}:t", id(number))).collect::<Vec<_>>().join("+"))
    };
    let check = |call: fn(usize) -> String, result: &str| {
        let mut session = Session::new();
        session.extend(messages(&format!("{} {}", calls(call), format!("{result} ").repeat(many))));
        assert!(!pairs(&session).contains('-'));
    };
    check(|_| String::new(), "r:t");
    check(|number| number.to_string(), "r");
    check(|_| "again".to_owned(), "ragain");
}
