//! Rollouts that go on from others. Each file is a name, a head and turns.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::io;

use crate::codex::tests::record;
use crate::codex::turns_tests::{compacted, event, roll_back, said, turn};
use crate::tests::load;
use crate::write::tests::compact;
use crate::{FileName, Follower, Format, LoadedFile, ReadOptions, read_with_inherited, write};

type Files = BTreeMap<&'static str, String>;

/// The records with their numbers, from `first` on.
fn numbered(first: usize, records: &[String]) -> String {
    let records = records.iter().flat_map(|records| records.lines());
    let number =
        |(record, ordinal): (&str, usize)| record.replacen('{', &format!("{{\"ordinal\":{ordinal},"), 1) + "\n";
    records.zip(first..).map(number).collect()
}

fn head(id: &str, more: &str) -> String {
    record("session_meta", &format!(r#"{{"id":"{id}"{more}}}"#))
}

fn base(id: &str, end: usize, length: usize) -> String {
    format!(r#","history_base":{{"thread_id":"{id}","end_ordinal_exclusive":{end},"end_byte_offset":{length}}}"#)
}

fn reference(path: &str, more: &str) -> String {
    record("rollout_reference", &format!(r#"{{"rollout_path":"{path}","max_depth":2{more}}}"#))
}

/// Reads the file `leaf`; the others are found by their ids and paths.
fn read(files: &Files) -> LoadedFile {
    let find = |name: &FileName<'_>| {
        if name.path == Some("/broken") {
            return Err(io::Error::other("the disk is tired"));
        }
        let found = name.path.and_then(|path| files.get(path)).or_else(|| files.get(name.id));
        found.map(|text| text.clone().into_bytes()).ok_or_else(|| io::ErrorKind::NotFound.into())
    };
    read_with_inherited(files["leaf"].clone().into_bytes(), ReadOptions::default(), Some(&find)).unwrap()
}

fn texts(loaded: &LoadedFile) -> String {
    let view = loaded.sessions[0].session.view();
    let texts = view.iter().map(|entry| entry.message.plain_text()).filter(|text| !text.starts_with("context"));
    texts.collect::<Vec<_>>().join(" ")
}

/// Holds that a session can be compacted in its own file, and reads the same with and without the others, also when it is followed.
fn check_whole(files: &Files, expect: &str) {
    let loaded = read(files);
    assert_eq!((texts(&loaded), &*loaded.sessions[0].name, &loaded.warnings[..]), (expect.to_owned(), "L", &[][..]));
    let mut session = loaded.sessions[0].session.clone();
    assert_eq!(
        (loaded.missing_history(&session), Follower::behind(&loaded).unwrap().session().log()),
        (None, session.log())
    );
    compact(&mut session, "so far");
    let text = String::from_utf8(write(&loaded, 0, &session, Format::Codex).unwrap()).unwrap();
    let leaf = &files["leaf"];
    let added = text.strip_prefix(leaf.as_str()).unwrap();
    assert!(added.starts_with(r#"{"timestamp""#) && !added.contains("0199"), "{added}");
    let mut follower = Follower::behind(&loaded).unwrap();
    follower.read_on(added.as_bytes());
    let again = read(&files.clone().into_iter().chain([("leaf", text.clone())]).collect());
    assert_eq!((again.sessions[0].session.view(), &again.warnings[..]), (session.view(), &[][..]));
    assert_eq!(again.sessions[0].session.journal(), session.journal());
    assert_eq!((follower.session().view(), follower.session().journal()), (session.view(), session.journal()));
    assert_eq!(texts(&load(&text)), texts(&again));
}

/// Holds that what is not there whole is told, and that nothing is written then.
fn check_missing(files: &Files, expect: &str, why: &str) {
    let loaded = read(files);
    let mut session = loaded.sessions[0].session.clone();
    assert_eq!(texts(&loaded), expect);
    let told = &loaded.warnings[0].message;
    assert!(told.contains(why) && told.contains("another file"), "{told}");
    assert_eq!(loaded.missing_history(&session).as_ref(), Some(told));
    compact(&mut session, "so far");
    assert!(write(&loaded, 0, &session, Format::Codex).unwrap_err().to_string().contains(why));
}

/// A fork of a fork.
fn forks() -> Files {
    let front = numbered(0, &[head("R", ""), turn("a", "A")]);
    let end = front.lines().count();
    let root = front.clone() + &numbered(end, &[turn("taken back", "T")]);
    let middle = numbered(end, &[head("M", &base("0199-r", end, front.len())), turn("b", "B")]);
    let next = end + middle.lines().count();
    let leaf = numbered(next, &[head("L", &base("0199-m", next, middle.len())), turn("c", "C")]);
    [("leaf", leaf), ("0199-r", root), ("0199-m", middle)].into()
}

fn changed(files: &Files, name: &'static str, from: &str, to: &str) -> Files {
    let text = files[name].replace(from, to);
    assert_ne!(text, files[name]);
    files.clone().into_iter().chain([(name, text)]).collect()
}

#[test]
fn forks_are_read_along() {
    let files = forks();
    check_whole(&files, "a A b B c C");
    // A rollback reaches what is inherited.
    let leaf = files["leaf"].clone() + &numbered(99, &[roll_back(2)]);
    assert_eq!(texts(&read(&files.clone().into_iter().chain([("leaf", leaf)]).collect())), "a A");
    let check = |files: Files, why: &str| check_missing(&files, "c C", why);
    check(changed(&files, "leaf", "0199-m", "0199-x"), "`0199-x` is not there");
    let cut = files["0199-r"][..200].to_owned();
    check(files.clone().into_iter().chain([("0199-r", cut)]).collect(), "`0199-r` is shorter");
    let length = files["0199-m"].len();
    let offset = |length: usize| format!("offset\":{length}");
    check(changed(&files, "leaf", &offset(length), &offset(length - 5)), "`0199-m` does not have the part");
    check(changed(&files, "0199-r", "\"ordinal\":2,", "\"ordinal\":9,"), "`0199-r` is another one by now: line 3");
    check(changed(&files, "0199-r", "task_started\"", "task_started "), "`0199-r` is damaged: line 2");
    check(changed(&files, "0199-r", "session_meta", "session_mete"), "`0199-r` does not begin with a head");
    // A head that does not tell where it continues, which is no beginning.
    check(changed(&files, "0199-m", "end_byte_offset", "end_byte_offse_"), "`0199-r` does not have the part");
    // Two that name each other, by lengths of four digits.
    let long = "x".repeat(900);
    let round = |id: &str, of: &str, length: usize| numbered(0, &[head(id, &base(of, 99, length)), turn(&long, "B")]);
    let length = round("M", "0199-r", 1000).len();
    let leaf = head("L", &base("0199-m", 99, length)) + &turn("c", "C");
    let [one, two] = [round("M", "0199-r", length), round("R", "0199-m", length)];
    check([("leaf", leaf), ("0199-m", one), ("0199-r", two)].into(), "`0199-m` is named a second time");
}

fn name_of(segment: &str) -> String {
    format!(r#","thread_id":"L","segment_id":"{segment}""#)
}

/// A rollout in segments: the older ones are files of their own, and each names the one in front.
fn segments() -> Files {
    let first = numbered(0, &[head("L", ""), turn("a", "A"), turn("b", "B")]);
    let second = [head("L", r#","segment_id":"S2""#), reference("/first", r#","thread_id":"L""#), turn("c", "C")];
    let leaf = [head("L", r#","segment_id":"S3""#), reference("/second", &name_of("S2")), turn("d", "D")];
    [("leaf", leaf.concat()), ("/first", first), ("/second", second.concat())].into()
}

#[test]
fn segments_are_read_along() {
    let files = segments();
    check_whole(&files, "a A b B c C d D");
    // By its id, where the path is another one by now.
    let moved = changed(&files, "leaf", "/second", "/old").into_iter().chain([("L", files["/second"].clone())]);
    check_whole(&moved.collect(), "a A b B c C d D");
    let check = |files: Files, why: &str| check_missing(&files, "d D", why);
    check(changed(&files, "leaf", "/second", "/none"), "`/none` is not there");
    check(changed(&files, "leaf", "/second", "/broken"), "`/broken` cannot be read (the disk is tired)");
    check(changed(&files, "leaf", "\"S2\"", "\"S9\""), "`/second` is another one by now");
    check(changed(&files, "/first", "\"id\":\"L\"", "\"id\":\"X\""), "`/first` is another one by now");
    check(changed(&files, "/first", "turn_id", "turn_id\"\n\""), "`/first` is damaged");
    let itself = format!(r#""/second","max_depth":2{}"#, name_of("S2"));
    let circle = changed(&files, "/second", r#""/first","max_depth":2,"thread_id":"L""#, &itself);
    check(circle, "`/second` is named a second time");
    // Nobody has looked for it.
    let loaded = load(&files["leaf"]);
    assert!(loaded.warnings[0].message.contains("`/second` was not looked for"), "{:?}", loaded.warnings);
    // A compaction stands in front of it all.
    let leaf = files["leaf"].clone() + &compacted("") + &turn("e", "E");
    assert_eq!(load(&leaf).warnings, []);
}

#[test]
fn forks_of_segments_take_a_part() {
    let hint = said("developer", "You are the helper.");
    let kept = r#"[{"type":"message","role":"developer","content":[{"type":"input_text","text":"You are the helper."}]},
        {"type":"message","role":"user","content":[{"type":"input_text","text":"so far"}]}]"#;
    let kept = record("compacted", &format!(r#"{{"message":"","replacement_history":{}}}"#, kept.replace('\n', "")));
    let typed = |number: usize| record("event_msg", &format!(r#"{{"type":"user_message","message":"{number}"}}"#));
    let source = |between: &[String]| {
        let (first, last) =
            ([event("task_started"), typed(0), said("user", "a"), event("task_complete")], turn("z", "Z"));
        [head("S", ""), first.concat(), hint.clone(), between.concat(), event("task_started"), typed(1), last].concat()
    };
    let check = |source: String, more: &str, expect: &str| {
        let leaf = head("L", "") + &reference("/source", &format!(r#","thread_id":"S"{more}"#)) + &said("user", "go");
        assert_eq!(texts(&read(&[("leaf", leaf), ("/source", source)].into())), expect, "{more}");
    };
    let hidden = r#","compacted_replacement_history_filter_texts":["You are the helper."]"#;
    check(source(&[]), "", "a You are the helper. z Z go");
    check(source(&[]), hidden, "a z Z go");
    check(source(std::slice::from_ref(&kept)), hidden, "so far z Z go");
    check(source(&[]), r#","nth_user_message":1"#, "a You are the helper. go");
    check(source(&[]), r#","nth_user_message":0"#, "go");
    check(source(&[]), r#","nth_user_message":7"#, "a You are the helper. z Z go");
    check(source(&[]), r#","nth_user_message":18446744073709551615"#, "a You are the helper. z Z go");
    // The turn that was taken back counts no more.
    check(source(&[roll_back(1), turn("y", "Y")]), r#","nth_user_message":0"#, "y Y go");
    // Without events the user's messages count.
    let plain = [head("S", ""), said("user", "a"), said("assistant", "A"), said("user", "b")].concat();
    check(plain, r#","nth_user_message":1"#, "a A go");
}
