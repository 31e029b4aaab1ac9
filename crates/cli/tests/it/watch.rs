//! A session that is watched: the process, its lines and its end. What it shows of each change is tested beside the command.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::place::{Place, chat, example, several};

/// A watch that runs.
struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    fn start(place: &Place, line: &str) -> Self {
        let mut command = place.command(line);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// Waits for the next line.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    /// Interrupts it as Ctrl-C does; its exit code.
    fn interrupt(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Running {
    /// A test that fails leaves no process behind.
    fn drop(&mut self) {
        drop(self.child.kill());
    }
}

#[test]
fn changes_are_followed_until_an_interrupt() {
    let place = Place::new();
    let whole = String::from_utf8(example("session.jsonl")).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let (begun, rest) = lines.split_at(lines.len() / 2);
    place.file("s.jsonl", begun.concat());
    let mut watch = Running::start(&place, "watch s.jsonl --json");
    let start: Value = serde_json::from_str(&watch.line()).unwrap();
    assert_eq!((&start["event"], &start["format"]), (&"start".into(), &"claude-code".into()));
    let mut file = std::fs::OpenOptions::new().append(true).open(place.path("s.jsonl")).unwrap();
    file.write_all(rest.concat().as_bytes()).unwrap();
    let all = place.run("context s.jsonl --json").json();
    // What is written at once may be seen in parts.
    let grown = loop {
        let grown: Value = serde_json::from_str(&watch.line()).unwrap();
        assert_eq!(grown["event"], "messages", "{grown}");
        if grown["messages"] == all["messages"] && grown["fullness"] == all["fullness"] {
            break grown;
        }
    };
    assert_eq!(grown["parts"], all["contents"]["parts"], "as it is when it is read whole");
    assert_eq!(watch.interrupt(), Some(0));
}

#[test]
fn an_undo_is_told_as_one() {
    let place = Place::with("s.jsonl", example("session.jsonl"));
    let mut watch = Running::start(&place, "watch s.jsonl");
    assert!(watch.line().starts_with("s.jsonl: "));
    let mut check = |line: &str, expect: &str| {
        let ran = place.run(line);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let told = watch.line();
        assert!(told.starts_with(expect), "{line}: {told}");
    };
    check("compact s.jsonl --budget 20k -o s.jsonl --quiet", "compacted: ");
    check("restore s.jsonl -o s.jsonl", "compaction undone: ");
    check("compact s.jsonl --budget 15k -o s.jsonl --quiet", "compacted: ");
    assert_eq!(watch.interrupt(), Some(0));
}

#[test]
fn a_file_that_comes_later_is_waited_for() {
    let place = Place::new();
    let mut watch = Running::start(&place, "watch later.json");
    let mut told = String::new();
    BufReader::new(watch.child.stderr.take().unwrap()).read_line(&mut told).unwrap();
    assert!(told.contains("later.json is not there: waiting for it"), "{told}");
    place.file("later.json", chat());
    let line = watch.line();
    assert!(line.starts_with("later.json: 0.7 % full, 1,207 of 184,000 tokens"), "{line}");
    assert_eq!(watch.interrupt(), Some(0));
}

#[test]
fn a_session_that_the_file_has_not_ends_it() {
    let place = Place::with("chat.json", chat());
    place.file("two.jsonl", several());
    let check = |line: &str, expect: &str| {
        let mut watch = Running::start(&place, line);
        let mut told = String::new();
        BufReader::new(watch.child.stderr.take().unwrap()).read_line(&mut told).unwrap();
        assert!(told.starts_with("error: ") && told.contains(expect), "{line}: {told}");
        assert_eq!(watch.child.wait().unwrap().code(), Some(2), "{line}");
    };
    check("watch chat.json --session 99", "chat.json: ");
    check("watch two.jsonl", "two.jsonl: ");
}

#[test]
fn quiet_waits_without_words() {
    let place = Place::new();
    let mut watch = Running::start(&place, "watch later.json --quiet");
    let mut errors = watch.child.stderr.take().unwrap();
    place.file("later.json", chat());
    assert!(watch.line().starts_with("later.json: "));
    assert_eq!(watch.interrupt(), Some(0));
    let mut told = String::new();
    errors.read_to_string(&mut told).unwrap();
    assert_eq!(told, "");
}

#[test]
fn once_shows_it_and_ends() {
    let place = Place::with("chat.json", chat());
    let shown = place.run("watch chat.json --once --budget 1200");
    assert_eq!(shown.code, 0);
    for expect in ["chat.json", "101 %", "1,207 of the 1,200 tokens", "tool results", "warning: one result of bash"] {
        assert!(shown.text().contains(expect), "{expect}: {}", shown.text());
    }
    let line = place.run("watch chat.json --once --json");
    assert_eq!((line.text().lines().count(), &line.json()["event"]), (1, &"start".into()));
    let refused = place.run("watch - --once");
    assert!(refused.code == 2 && refused.stderr.contains("cannot be watched"), "{}", refused.stderr);
    let missing = place.run("watch gone.json --once");
    assert!(missing.code == 2 && missing.stderr.contains("`gone.json` is not a file"), "{}", missing.stderr);
}
