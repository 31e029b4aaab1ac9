//! Small sessions of which can be said what an agent has to fetch again.
#![allow(clippy::unwrap_used, missing_docs)]

use epitome::Budget;
use epitome::session::{Arguments, Block, Content, Message, Origin, Role, Session, ToolCall, ToolResult};
use epitome_eval::replay::{Model, NEVER, Policy, Price, Prices, ReplayedSession};
use epitome_lab::refetch::{Refetches, replay_with_fetches};

fn under(session: &Session, policy: &str, window: u32, makes_calls: bool) -> (ReplayedSession, Refetches) {
    let budget = Budget { window, reserve_output: 0, ..Budget::default() };
    let price = Price {
        input: 1.0,
        cached_input: None,
        cache_write: None,
        output: 5.0,
        cache_minimum: 10,
        cache_lifetime: None,
        source: String::new(),
    };
    let model = Model { name: "example".to_owned(), price, prices: Prices::shipped().unwrap(), budget };
    let policy = Policy::parse(policy, Some(window), &epitome::registry()).unwrap();
    replay_with_fetches(session, &policy, &model, makes_calls).unwrap()
}

fn said(role: Role, text: &str) -> Message {
    let origin = if role == Role::User { Origin::Typed } else { Origin::Model };
    Message::text("", role, origin, text)
}

fn call(id: &str, file: &str) -> Message {
    let arguments = Arguments::Json(format!("{{\"path\":\"{file}\"}}").into());
    let call = ToolCall { id: id.into(), name: "read".into(), arguments };
    Message::new("", Role::Assistant, Origin::Model, vec![Block::new(Content::ToolCall(call))])
}

fn result(id: &str, text: &str) -> Message {
    let result =
        ToolResult { call_id: id.into(), name: None, text: text.into(), is_error: false, attachments: Vec::new() };
    Message::result("", result)
}

/// Twelve words of one token each; with the frame of a message 16.
const TWELVE: &str = "one two three four five six seven eight nine ten eleven twelve";

fn session_of(messages: Vec<Message>) -> Session {
    let mut session = Session::new();
    messages.into_iter().for_each(|message| {
        session.push(message);
    });
    session
}

#[test]
fn re_fetches_are_repeats_of_what_was_taken_away() {
    let file = |name: &str| format!("{name} says {}", "the same words again and again. ".repeat(20));
    let mut messages = vec![said(Role::User, "Read a, then b, then a.")];
    for (number, name) in ["a", "b", "c", "d", "e", "f", "g", "h", "h", "a"].into_iter().enumerate() {
        messages.push(call(&format!("c{number}"), name));
        messages.push(result(&format!("c{number}"), &file(name)));
    }
    messages.push(said(Role::Assistant, "Done."));
    let session = session_of(messages);
    // The whole fits: both repeats are there to be seen, and none is a re-fetch.
    let counts = |window: u32| {
        let (row, found) = under(&session, "chain:sliding-window", window, false);
        (row.epochs.is_empty(), found.repeats.repeats, found.repeats.refetches)
    };
    assert_eq!(counts(100_000), (true, 2, 0));
    // Only the newest fits: `a` was gone, `h` was not.
    assert_eq!(counts(1_000), (false, 2, 1));
}

#[test]
fn needed_re_fetches_are_calls_that_refer_to_what_is_gone() {
    let file =
        |name: &str| format!("{name} names the key {name}_key and {}", "says the same again and again. ".repeat(40));
    let names = ["alpha", "beta", "gamma", "delta"].map(|name| format!("src/{name}_file.rs"));
    let mut messages = vec![said(Role::User, "Read the files, then the key of the first one.")];
    for (number, name) in names.iter().enumerate() {
        messages.push(call(&format!("c{number}"), name));
        messages.push(result(&format!("c{number}"), &file(name)));
    }
    // Refers to what the oldest and the newest answers say, and to nothing that was ever said.
    for (id, what) in [("x", "src/alpha_file.rs_key"), ("y", "src/delta_file.rs_key"), ("z", "src/never_seen.rs")] {
        messages.push(call(id, what));
        messages.push(result(id, "Done."));
    }
    messages.push(said(Role::Assistant, "Done."));
    let session = session_of(messages);
    let counts = |window: u32| {
        let (row, found) = under(&session, "chain:sliding-window", window, false);
        (row.epochs.is_empty(), found.references.needed, found.references.references)
    };
    assert_eq!(counts(100_000), (true, 0, 2), "all of it is there");
    assert_eq!(counts(1_000), (false, 1, 2), "the oldest answer is gone, the newest is not");
}

#[test]
fn what_a_call_needs_is_fetched_again() {
    // A long loop of a tool behind a result, and a name of the model's own, that only the last calls refer to.
    let mut messages = vec![said(Role::User, "Set the port."), call("first", "notes.md")];
    messages.push(result("first", &format!("The port stands in conf/port_4711.toml. {}", TWELVE.repeat(5))));
    for number in 0..40 {
        if number == 5 {
            // Too long a sentence for a summary of that room.
            messages
                .push(said(Role::Assistant, &format!("{} I call it name_77.", "One thing after another".repeat(30))));
        }
        let id = format!("c{number}");
        messages.extend([call(&id, "src"), result(&id, &format!("{number}: {}", TWELVE.repeat(4)))]);
    }
    messages.extend([call("last", "conf/port_4711.toml"), result("last", "port = 1"), call("own", "name_77")]);
    let session = session_of(messages);
    let extra = |found: &Refetches| {
        let extra = &found.extra;
        (extra.extra_calls, extra.lost_calls, extra.crowded_calls, found.references.needed)
    };
    let (plain, found) = under(&session, "chain:sliding-window", 1_200, false);
    assert_eq!(extra(&found), (0, 0, 0, 2));
    let (made, found) = under(&session, "chain:sliding-window", 1_200, true);
    // The name was no tool's: only a search of the log gives it back.
    assert_eq!(extra(&found), (1, 1, 0, 1));
    assert_eq!(made.turns.len(), plain.turns.len() + 1, "the agent asks for it in a turn of its own");
    assert!(made.turns.iter().all(|turn| !turn.impossible));
    assert_eq!(extra(&under(&session, NEVER, 1_200, true).1), (0, 0, 0, 0));
}
