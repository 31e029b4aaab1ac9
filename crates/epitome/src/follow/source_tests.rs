//! Cases of a session that is read again and again.

#![allow(clippy::unwrap_used)]
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::*;

fn line(number: u32, text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"u{number}\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

fn answer(number: u32, model: &str) -> String {
    format!(
        "{{\"type\":\"assistant\",\"uuid\":\"u{number}\",\"sessionId\":\"s\",\"message\":{{\"id\":\"m{number}\",\
         \"role\":\"assistant\",\"model\":\"{model}\",\"content\":[{{\"type\":\"text\",\"text\":\"yes\"}}]}}}}\n"
    )
}

fn append(path: &Path, text: &str) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// What a source has read: the texts, and the model.
fn read(source: &SessionSource) -> (Vec<String>, Option<String>) {
    let read = source.current().unwrap();
    (read.session.log().iter().map(|message| message.plain_text()).collect(), read.model.name.clone())
}

#[test]
fn a_file_is_read_as_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut source = SessionSource::new(&path, None, None);
    assert!(matches!(source.refresh(), Err(ReadProblem::Missing(_))));
    assert!(matches!(source.refresh_current(), Err(ReadProblem::Missing(_))), "nothing is known yet");
    fs::write(&path, line(0, "first") + &answer(1, "one")).unwrap();
    let mut check = |is_changed: bool, texts: &[&str], model: Option<&str>| {
        assert_eq!(source.refresh_current(), Ok(is_changed));
        assert_eq!(read(&source), (texts.iter().map(|text| (*text).to_owned()).collect(), model.map(str::to_owned)));
    };
    check(true, &["first", "yes"], Some("one"));
    check(false, &["first", "yes"], Some("one"));
    append(&path, &line(2, "second"));
    check(true, &["first", "yes", "second"], Some("one"));
    let half = line(3, "third");
    append(&path, &half[..30]);
    check(true, &["first", "yes", "second"], Some("one"));
    append(&path, &(half[30..].to_owned() + &answer(4, "two")));
    check(true, &["first", "yes", "second", "third", "yes"], Some("two"));
    append(&path, &line(5, "fourth"));
    check(true, &["first", "yes", "second", "third", "yes", "fourth"], Some("two"));
    // Cut, and written anew under the same name.
    fs::write(&path, line(0, "other")).unwrap();
    check(true, &["other"], None);
    let beside = folder.path().join("beside");
    fs::write(&beside, line(0, "renamed") + &line(1, "over it")).unwrap();
    fs::rename(&beside, &path).unwrap();
    check(true, &["renamed", "over it"], None);
}

#[test]
fn what_cannot_be_read_leaves_what_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.json");
    fs::write(&path, r#"{"messages":[{"role":"user","content":"a"}]}"#).unwrap();
    let mut source = SessionSource::new(&path, None, None);
    assert_eq!(source.refresh(), Ok(true));
    fs::write(&path, r#"{"messages":[{"role":"user","con"#).unwrap();
    assert!(matches!(source.refresh(), Err(ReadProblem::Unreadable(_))));
    assert_eq!(read(&source).0, ["a"]);
    fs::remove_file(&path).unwrap();
    assert!(matches!(source.refresh(), Err(ReadProblem::Missing(_))));
    fs::write(&path, r#"{"messages":[{"role":"user","content":"another"}]}"#).unwrap();
    assert_eq!(source.refresh(), Ok(true));
    assert_eq!(read(&source).0, ["another"]);
}

#[test]
fn a_session_that_the_file_has_not_is_a_problem_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, line(0, "one")).unwrap();
    let mut source = SessionSource::new(&path, None, Some("99".to_owned()));
    let problem = source.refresh().unwrap_err();
    assert!(matches!(&problem, ReadProblem::Unchosen(why) if why.contains("s.jsonl: ")), "{problem}");
}

#[cfg(unix)]
#[test]
fn of_a_folder_only_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.jsonl"), line(0, "old")).unwrap();
    std::os::unix::fs::symlink("old.jsonl", folder.path().join("link.jsonl")).unwrap();
    // To read this pipe would be to wait for a writer.
    let pipe = folder.path().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut found = newest_files(folder.path()).unwrap();
    found.sort();
    assert_eq!(found, [folder.path().join("link.jsonl"), folder.path().join("old.jsonl")]);
    fs::remove_file(folder.path().join("old.jsonl")).unwrap();
    assert!(matches!(newest_files(folder.path()), Err(ReadProblem::Missing(_))), "a pipe, and a link to nothing");
}

#[test]
fn of_a_folder_the_newest_session_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let minute = |minute: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(60 * minute);
    let put = |name: &str, text: &str, at: u64| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::File::options().append(true).open(&path).unwrap().set_modified(minute(at)).unwrap();
    };
    put("2026/01/old.jsonl", &line(0, "old"), 1);
    put("2026/02/new.jsonl", &line(0, "new"), 2);
    put("2026/02/notes.json", "[1, 2]", 3);
    put("2026/02/subagents/agent.jsonl", &line(0, "a helper's"), 4);
    let mut source = SessionSource::new(folder.path(), None, None);
    assert_eq!(source.refresh(), Ok(true));
    assert_eq!(read(&source).0, ["new"]);
    assert_eq!(source.refresh(), Ok(false));
    put("2026/03/newer.jsonl", &line(0, "newer"), 5);
    assert_eq!((source.refresh_current(), read(&source).0), (Ok(false), vec!["new".to_owned()]), "only its own file");
    assert_eq!((source.refresh(), read(&source).0), (Ok(true), vec!["newer".to_owned()]));
}

/// Rollouts of Codex: one, a fork of its first turn, and what the fork says later.
fn fork() -> [String; 3] {
    let record = |kind: &str, payload: &str| format!("{{\"type\":\"{kind}\",\"payload\":{payload}}}\n");
    let said = |text: &str| {
        let content = format!(r#"[{{"type":"input_text","text":"{text}"}}]"#);
        record("response_item", &format!(r#"{{"type":"message","role":"user","content":{content}}}"#))
    };
    let numbered = |number: usize, record: String| record.replacen('{', &format!("{{\"ordinal\":{number},"), 1);
    let front = numbered(0, record("session_meta", r#"{"id":"0199-a"}"#)) + &numbered(1, said("first"));
    let base = format!(r#"{{"thread_id":"0199-a","end_ordinal_exclusive":2,"end_byte_offset":{}}}"#, front.len());
    let head = record("session_meta", &format!(r#"{{"id":"0199-f","history_base":{base}}}"#));
    let source = front + &numbered(2, said("not of the fork"));
    let history = r#"[{"type":"message","role":"user","content":[{"type":"input_text","text":"so far"}]}]"#;
    let compacted = record("compacted", &format!(r#"{{"message":"","replacement_history":{history}}}"#));
    [source, numbered(2, head) + &numbered(3, said("second")), numbered(4, said("third")) + &numbered(5, compacted)]
}

#[test]
fn what_a_file_goes_on_from_is_followed_too() {
    let home = tempfile::tempdir().unwrap();
    let day = home.path().join("sessions/2026/11/27");
    fs::create_dir_all(&day).unwrap();
    let [source_text, fork, rest] = fork();
    let path = day.join("rollout-2026-11-27T02-00-00-0199-f.jsonl");
    let beside = day.join("rollout-2026-11-27T01-00-00-0199-a.jsonl");
    let (half, compacted) = rest.split_at(rest.find('\n').unwrap() + 1);
    let check = |expect: [&[&str]; 3], why: Option<&str>| {
        fs::write(&path, &fork).unwrap();
        let mut source = SessionSource::new(&path, None, None);
        let mut check = |expect: &[&str], why: Option<&str>| {
            assert_eq!(
                (source.refresh(), read(&source).0),
                (Ok(true), expect.iter().map(|it| (*it).to_owned()).collect())
            );
            let missing = source.current().unwrap().missing.clone().unwrap_or_default();
            assert_eq!((missing.is_empty(), missing.contains(why.unwrap_or(""))), (why.is_none(), true), "{missing}");
        };
        check(expect[0], why);
        // Twice it is read whole, then only what was added.
        append(&path, half);
        check(expect[1], why);
        append(&path, &half.replace("third", "fourth"));
        check(expect[2], why);
        append(&path, compacted);
        check(expect[2], None);
    };
    let alone: [&[&str]; 3] = [&["second"], &["second", "third"], &["second", "third", "fourth"]];
    check(alone, Some("`0199-a` is not there"));
    fs::write(&beside, &source_text).unwrap();
    let whole: [&[&str]; 3] =
        [&["first", "second"], &["first", "second", "third"], &["first", "second", "third", "fourth"]];
    check(whole, None);
}

#[test]
fn what_a_file_goes_on_from_may_come_later() {
    let home = tempfile::tempdir().unwrap();
    let day = home.path().join("sessions/2026/11/27");
    fs::create_dir_all(&day).unwrap();
    let [source_text, fork, rest] = fork();
    let half = &rest[..=rest.find('\n').unwrap()];
    let path = day.join("rollout-2026-11-27T02-00-00-0199-f.jsonl");
    fs::write(&path, &fork).unwrap();
    let mut source = SessionSource::new(&path, None, None);
    let mut check = |expect: &[&str]| {
        assert_eq!(source.refresh(), Ok(true));
        assert_eq!(read(&source).0, expect);
    };
    check(&["second"]);
    append(&path, half);
    check(&["second", "third"]);
    append(&path, &half.replace("third", "fourth"));
    check(&["second", "third", "fourth"]);
    fs::write(day.join("rollout-2026-11-27T01-00-00-0199-a.jsonl"), &source_text).unwrap();
    append(&path, &half.replace("third", "fifth"));
    check(&["first", "second", "third", "fourth", "fifth"]);
    // Named in the middle of a file that is followed.
    let other = source_text.replace("0199-a", "0199-b");
    fs::write(day.join("rollout-2026-11-27T00-00-00-0199-b.jsonl"), other).unwrap();
    let reference = r#"{"type":"rollout_reference","payload":{"rollout_id":"0199-b","thread_id":"0199-b"}}"#;
    append(&path, &format!("{reference}\n"));
    check(&["first", "second", "third", "fourth", "fifth", "first", "not of the fork"]);
}
