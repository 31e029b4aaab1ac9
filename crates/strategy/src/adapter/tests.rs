#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use epitome_session::{
    Arguments, Block, Content, Entry, Language, Message, MessageId, Origin, Role, Session, ToolCall, ToolResult, units,
};

use super::arguments::{self, Change};
use super::from_messages;
use super::shortened::shortened;
use crate::block::EntryTokens;
use crate::goal::Goal;
use crate::host::HostChanges;
use crate::plan::{Edit, SummaryText};
use crate::services::{TokenCounter, Tokens};
use crate::strategy::{Lossiness, Meta, RequiredServices};
use crate::view::{Protection, View};

const META: Meta = Meta {
    id: "closure",
    summary: "A function.",
    docs: "",
    lossiness: Lossiness::Whole,
    needs: RequiredServices::NONE,
    since: "0.1.0",
};

#[derive(Debug)]
struct Bytes;

impl TokenCounter for Bytes {
    fn name(&self) -> &str {
        "bytes"
    }
    fn count(&self, text: &str) -> Tokens {
        text.len() as Tokens
    }
    fn is_exact(&self) -> bool {
        true
    }
}

fn call(id: &str, name: &str, arguments: &str) -> Block {
    Block::new(Content::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: Arguments::Json(arguments.into()),
    }))
}

fn result(id: &str, call_id: &str, text: &str) -> Message {
    Message::result(
        id,
        ToolResult { call_id: call_id.into(), name: None, text: text.into(), attachments: vec![], is_error: false },
    )
}

const LOG: &str = "start\n    first line of work\n    second line of work\n    third line of work\nend of the log\n";

/// s, task, step 1 (m1 with a call and its result r1), q2, step 2 (m2), q3.
fn messages() -> Vec<Message> {
    let arguments = format!(r#"{{"path":"a.rs","text":"{}"}}"#, "0123456789".repeat(10));
    vec![
        Message::text("s", Role::System, Origin::Instructions, "You are careful."),
        Message::text("task", Role::User, Origin::Typed, "Fix the parser"),
        Message::new(
            "m1",
            Role::Assistant,
            Origin::Model,
            vec![Block::text("I look at the file first, then at the log."), call("c1", "Write", &arguments)],
        ),
        result("r1", "c1", LOG),
        Message::text("q2", Role::User, Origin::Typed, "And the tests?"),
        Message::text("m2", Role::Assistant, Origin::Model, "They pass."),
        Message::text("q3", Role::User, Origin::Typed, "Thanks"),
    ]
}

/// The plan of a function, an edit a line; the error after `error:`.
fn planned(function: impl Fn(Vec<Message>) -> Result<Vec<Message>, String> + Send + Sync + 'static) -> String {
    planned_with(None, function)
}

/// The same where the host has pinned a unit.
fn planned_with(
    pinned: Option<usize>,
    function: impl Fn(Vec<Message>) -> Result<Vec<Message>, String> + Send + Sync + 'static,
) -> String {
    let mut session = Session::new();
    messages().into_iter().for_each(|message| {
        session.push(message);
    });
    let entries: &[Entry] = session.view();
    let units = units(entries);
    let tokens: Vec<EntryTokens> = entries.iter().map(|_| EntryTokens { total: 100, blocks: vec![48, 48] }).collect();
    let protections = [Protection::System, Protection::OriginalTask, Protection::Free, Protection::Free];
    let mut protections = [&protections[..], &[Protection::Free, Protection::NewestUser]].concat();
    if let Some(pinned) = pinned {
        protections[pinned] = Protection::Pinned;
    }
    let view = View::new(entries, &units, &tokens, &protections, &Bytes, Language::English);
    let goal = Goal {
        current: 700,
        target: 100,
        limit: 100,
        window: 100,
        max_summary_tokens: None,
        task: crate::TaskKind::Unknown,
        cycle: 1,
        focus: None,
        focus_given: false,
        first_unsent_unit: None,
        language: Language::English,
        host: HostChanges::Any,
    };
    let strategy = from_messages(META, move |messages, _| function(messages));
    let plan = match strategy.plan(&view, &goal) {
        Ok(plan) => plan,
        Err(error) => return format!("error: {error}"),
    };
    if let Some(declined) = plan.declined {
        return format!("declined: {declined}");
    }
    let line = |edit: &Edit| match edit {
        Edit::Drop { units, reason } => format!("drop {units:?} {}", reason.detail),
        Edit::Summarize { units, summary: SummaryText::Ready(text), reason } => {
            format!("summarize {units:?} as {text:?} {}", reason.detail)
        }
        Edit::Summarize { .. } => "a request".to_owned(),
        Edit::Excerpt { message, block, keep, .. } => format!("excerpt {message}.{block} {keep:?}"),
        Edit::Trim { message, block, max_chars, .. } => format!("trim {message}.{block} to {max_chars}"),
    };
    plan.edits.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The same for a function that changes the messages in place.
fn changed(change: impl Fn(&mut Vec<Message>) + Send + Sync + 'static) -> String {
    planned(move |mut messages| {
        change(&mut messages);
        Ok(messages)
    })
}

fn new(id: &str, text: &str) -> Message {
    Message::text(id, Role::User, Origin::Summary, text)
}

#[test]
fn what_left_becomes_edits() {
    assert_eq!(changed(|_| {}), "declined: the function gave the messages back as they were");
    assert_eq!(changed(|all| drop(all.drain(2..4))), "drop [2] 2 messages left out");
    assert_eq!(changed(|all| drop(all.drain(2..6))), "drop [2, 3, 4] 4 messages left out");
    assert_eq!(
        changed(|all| drop(all.splice(2..6, [new("sum", "The parser is fixed.")]))),
        "summarize [2, 3, 4] as \"The parser is fixed.\" 4 messages became one text"
    );
    // Two runs, one left out and one replaced.
    assert_eq!(
        changed(|all| {
            drop(all.splice(5..6, [new("sum", "They pass.")]));
            drop(all.drain(2..4));
        }),
        "drop [2] 2 messages left out\nsummarize [4] as \"They pass.\" 1 message became one text"
    );
    assert_eq!(planned(|_| Err("no idea".to_owned())), "error: no idea");
}

#[test]
fn what_is_protected_stays() {
    assert_eq!(changed(|all| all.clear()), "drop [2, 3, 4] 4 messages left out; 3 protected ones stay");
    assert_eq!(
        changed(|all| drop(all.splice(.., [new("sum", "all of it")]))),
        "summarize [2, 3, 4] as \"all of it\" 4 messages became one text; 3 protected ones stay"
    );
    // Between two runs something stays: the text goes where the newest of them stood that is longer than it.
    let pinned = |text: &str| {
        let text = text.to_owned();
        planned_with(Some(3), move |mut all| {
            drop(all.splice(2..6, [new("sum", &text)]));
            Ok(all)
        })
    };
    assert_eq!(
        pinned("all of it"),
        "summarize [4] as \"all of it\" 3 messages became one text; 1 protected ones stay\n\
         drop [2] 2 messages left out; told in the text of the newest run"
    );
    assert_eq!(
        pinned("a text of more than seventy tokens, for one hundred are in the newest run, and thirty for the heading"),
        "summarize [2] as \"a text of more than seventy tokens, for one hundred are in the newest run, and thirty for the \
         heading\" 3 messages became one text; 1 protected ones stay\n\
         drop [4] 1 message left out; told in the text of the newest run"
    );
    assert_eq!(
        pinned(&"long ".repeat(50)),
        "error: message `sum` takes the place of messages between which protected ones stay, and is longer than any of their \
         runs; give one new message for each side of what stays"
    );
    assert_eq!(changed(|all| all.truncate(6)), "declined: the function changed 1 message, all of them protected");
    assert_eq!(
        changed(|all| all[1].blocks = vec![Block::text("Fix…")]),
        "declined: the function changed 1 message, all of them protected"
    );
}

#[test]
fn what_was_cut_becomes_edits() {
    let cut = |text: &'static str| changed(move |all| all[3].blocks[0] = all[3].blocks[0].with_text(text.into()));
    assert_eq!(cut("start\n…\nend of the log\n"), "excerpt 3.0 [0..6, 76..91]");
    assert_eq!(cut("[cleared]"), "excerpt 3.0 []");
    assert_eq!(cut(""), "excerpt 3.0 []");
    assert_eq!(changed(|all| drop(all[2].blocks.remove(0))), "excerpt 2.0 []", "a text block that left keeps nothing");
    assert_eq!(
        changed(|all| all[2].blocks[1] = call("c1", "Write", r#"{"path":"a.rs","text":"01234567890123456789…"}"#)),
        "trim 2.1 to 20"
    );
}

#[test]
fn what_is_no_edit_is_refused_by_name() {
    let allowed = "a text may only lose parts; words of your own go into a new message in place of messages that leave";
    let check = |got: String, expect: &str| assert_eq!(got, format!("error: {}", expect.replace("ALLOWED", allowed)));
    check(
        changed(|all| all[5].blocks = vec![Block::text("They fail.")]),
        "message `m2`, block 0: the text was rewritten, first at byte 0 of what came back; ALLOWED",
    );
    check(
        changed(|all| all.swap(4, 5)),
        "message `q2` stands twice, or behind one that it preceded; messages keep their order",
    );
    check(
        changed(|all| all.push(all[5].clone())),
        "message `m2` stands twice, or behind one that it preceded; messages keep their order",
    );
    check(
        changed(|all| drop(all.remove(3))),
        "message `r1` left without `m1`; a model's message and the results of its calls leave together",
    );
    check(
        changed(|all| all.insert(4, new("sum", "a word in between"))),
        "message `sum` is new, and nothing left where it stands; a new message may only take the place of messages that \
         leave",
    );
    check(
        changed(|all| drop(all.splice(2..6, [new("a", "one"), new("b", "two")]))),
        "messages `a` and `b` are both new and stand together; one new message may stand in place of messages that leave",
    );
    check(
        changed(|all| drop(all.splice(5..6, [Message::text("a", Role::Assistant, Origin::Model, "I said so")]))),
        "message `a` is new; a new message is a user's, and holds text only",
    );
    check(
        changed(|all| all[4].role = Role::Assistant),
        "message `q2` has another role, origin, name or pin than before; ALLOWED",
    );
    check(changed(|all| all[4].blocks.push(Block::text("more"))), "message `q2` has more blocks than before; ALLOWED");
    check(changed(|all| drop(all[2].blocks.pop())), "message `m1`, block 1: is gone; ALLOWED");
    check(
        changed(|all| all[3].id = MessageId::new("other")),
        "message `r1` left without `m1`; a model's message and the results of its calls leave together",
    );
}

#[test]
fn parts_of_a_text_are_found() {
    let check = |old: &str, new: &str, expect: Result<&str, usize>| {
        let kept = shortened(old, new);
        let shown = kept.map(|kept| {
            let part = |range: &std::ops::Range<u32>| old[range.start as usize..range.end as usize].to_owned();
            kept.iter().map(part).collect::<Vec<_>>().join("|")
        });
        assert_eq!(shown, expect.map(str::to_owned), "{new:?}");
    };
    check(LOG, "start\n", Ok("start\n"));
    check(LOG, "start\n    third line of work\n", Ok("start\n|    third line of work\n"));
    check(
        LOG,
        "start\n    first line of work\n    third line of work\n",
        Ok("start\n    first line of work\n|    third line of work\n"),
    );
    check(LOG, "    second line of work\n", Ok("    second line of work\n"));
    check(LOG, "[3 lines omitted]\nend of the log\n", Ok("end of the log\n"));
    check(LOG, "start\n    first li…", Ok("start\n    first li"));
    check(
        LOG,
        "start\n    first line ... of work\nend of the log",
        Ok("start\n    first line of work\n|end of the log"),
    );
    check("一二三四五六七八九十。第二句话在这里。", "一二三四五…在这里。", Ok("一二三四五|在这里。"));
    check("the quick brown fox jumps over the lazy dog", "the quick dog", Ok("the quick |dog"));
    check("the tail of this text", "tail of this text", Ok("tail of this text"));
    // A mark may begin like the text that it replaces.
    check("a line here\n[1, 2]\n[3, 4]\n", "a line here\n[the rest was omitted]", Ok("a line here\n"));
    check("call foo [bar] and so on, at length", "call foo [cut …]", Ok("call foo "));
    check("and so on. Then the end of it", "and so on...", Ok("and so on"));
    // The end of a text is found at its end, whatever text occurs twice.
    check("ok\na\nok\nb\nok\n", "ok\n…\nok\n", Ok("ok\n|ok\n"));
    // The longest of several places of a line.
    check("x = 1\ny = 2\nx = 1\nz = 3\nend\n", "…\nx = 1\nz = 3\n", Ok("x = 1\nz = 3\n"));
    check(LOG, "end of the log\nstart\n", Err(15));
    check(LOG, "start\nThree lines of work, then the end.\n", Err(6));
    check("A long text about parsers, and what they look like.", "look", Err(0));
    check("A long text about parsers.", "Parsers.", Err(0));
    check(LOG, &format!("{LOG}…"), Err(0));
}

#[test]
fn long_texts_are_compared_in_linear_time() {
    // 100,000 lines that differ in the last characters, every second one cut; each search that started over would be
    // paid a hundred thousand times.
    let line = |number: usize| format!("    the same words in every line, and then the number {number}\n");
    let old: String = (0..100_000).map(line).collect();
    let every_second: String = (0..100_000).step_by(2).map(line).collect();
    assert_eq!(shortened(&old, &every_second).unwrap().len(), 50_000);
    let cut: String = (0..100_000).step_by(2).map(|number| format!("{}…\n", &line(number)[..40])).collect();
    assert!(shortened(&old, &cut).is_ok());
    // One line of a megabyte, ten thousand marks.
    let words: Vec<String> = (0..100_000).map(|number| format!("word{number:06} ")).collect();
    let parts: String = words.chunks(10).map(|words| format!("{}{}… ", words[0], words[1])).collect();
    assert_eq!(shortened(&words.concat(), &parts).unwrap().len(), 10_000);
}

#[test]
fn cut_arguments_are_found() {
    let long = "0123456789".repeat(5);
    let check = |old: &str, new: &str, expect: Change| {
        let json = |text: &str| Arguments::Json(Arc::from(text.replace("LONG", &long)));
        assert_eq!(arguments::change(&json(old), &json(new)), expect, "{new}");
    };
    check(r#"{"a":"LONG","n":1}"#, r#"{"a": "0123…", "n": 1}"#, Change::Cut(4));
    check(r#"{"a":"LONG","b":"LONG"}"#, r#"{"a":"0123[cut … here]","b":"01"}"#, Change::Cut(4));
    check(r#"{"a":["LONG"]}"#, r#"{"a":[""]}"#, Change::Cut(1));
    check(r#"{"a":1}"#, r#"{ "a": 1 }"#, Change::None);
    let other = |problem: &str| Change::Other(problem.to_owned());
    check(
        r#"{"a":"LONG"}"#,
        r#"{"a":"something else"}"#,
        other("a string of the arguments was rewritten; its end may be cut off"),
    );
    check(r#"{"a":"LONG"}"#, "{}", other("the arguments are others than before; strings in them may be cut"));
    check(r#"{"a":"LONG"}"#, r#"{"b":"LONG"}"#, other("the argument `a` is gone; its text may be cut, it stays"));
    check(
        r#"{"a":"LONG","b":"LONG"}"#,
        r#"{"a":"LONG","b":"0123"}"#,
        other(
            "a string of the arguments was cut to 4 characters and one of 50 was not; strings of one call are cut to one length",
        ),
    );
}
