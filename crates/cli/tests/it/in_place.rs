//! Sessions compacted in their own files while an agent writes to them.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::place::{Place, chat, example};

/// How an agent writes its lines.
#[derive(Clone, Copy, PartialEq)]
enum Habit {
    /// It opens its file once.
    KeepsOpen,
    /// It opens its file for every line.
    OpensAnew,
}

const HABITS: [Habit; 2] = [Habit::KeepsOpen, Habit::OpensAnew];

const FORMATS: [&str; 3] = ["claude-code", "codex", "pi"];

/// An agent that goes on with the session in its file, and knows nothing of what others write there.
struct Agent {
    path: PathBuf,
    format: &'static str,
    open: Option<File>,
    /// The id of the last record that it knows.
    last: String,
    written: Vec<String>,
}

impl Agent {
    fn new(path: PathBuf, format: &'static str, habit: Habit) -> Self {
        let content = fs::read_to_string(&path).unwrap();
        let newest: serde_json::Value = serde_json::from_str(content.lines().last().unwrap()).unwrap();
        let last = newest["uuid"].as_str().or(newest["id"].as_str()).unwrap_or_default().to_owned();
        let open = (habit == Habit::KeepsOpen).then(|| appending(&path));
        Self { path, format, open, last, written: Vec::new() }
    }

    /// Writes one more message.
    fn write(&mut self) {
        let text = format!("line {} of the agent", self.written.len());
        let id = format!("new-{}", self.written.len());
        let (last, time) = (std::mem::replace(&mut self.last, id.clone()), "2026-11-22T00:00:00.000Z");
        let line = match self.format {
            "claude-code" => format!(
                r#"{{"parentUuid":"{last}","isSidechain":false,"type":"user","message":{{"role":"user","content":"{text}"}},"uuid":"{id}","timestamp":"{time}"}}"#
            ),
            "codex" => format!(
                r#"{{"timestamp":"{time}","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}}}"#
            ),
            _ => format!(
                r#"{{"type":"message","id":"{id}","parentId":"{last}","timestamp":"{time}","message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}],"timestamp":0}}}}"#
            ),
        };
        let mut opened = None;
        let file = self.open.as_mut().unwrap_or_else(|| opened.insert(appending(&self.path)));
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.written.push(line);
    }

    /// Holds the file against what was written to it: nothing that was there is gone, and every line stands in it once.
    fn assert_all_there(&self, before: &[u8], what: &str) {
        let content = fs::read(&self.path).unwrap();
        assert!(content.starts_with(before), "{what}: what was there has changed");
        let lines: Vec<&str> = std::str::from_utf8(&content).unwrap().lines().collect();
        let known: HashSet<&str> = self.written.iter().map(String::as_str).collect();
        let own: Vec<&str> = lines.into_iter().filter(|line| known.contains(line)).collect();
        assert!(own == self.written, "{what}: {} of {} lines are there", own.len(), self.written.len());
    }
}

fn appending(path: &Path) -> File {
    OpenOptions::new().append(true).open(path).unwrap()
}

/// The example's session as a file of this agent.
fn place(format: &'static str) -> Place {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    if format != "claude-code" {
        let ran = place.run(&format!("convert session.jsonl --to {format} -o session.jsonl --force -q"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    place
}

/// Compacts a session in place again and again while an agent writes, at most so many lines for each compaction; returns
/// how often it was refused.
fn compacted_while_written(format: &'static str, habit: Habit, rounds: u32, at_most: usize) -> u32 {
    let place = place(format);
    let before = place.read("session.jsonl");
    let mut agent = Agent::new(place.path("session.jsonl"), format, habit);
    let mut refused = 0;
    for round in 0..rounds {
        let budget = 20_000 + 4_000 * (rounds - round);
        let mut command = place.command(&format!("compact session.jsonl -b {budget} -o session.jsonl -q"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = 0;
        while child.try_wait().unwrap().is_none() {
            if lines < at_most {
                agent.write();
                lines += 1;
            }
            std::thread::yield_now();
        }
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let code = output.status.code();
        if code != Some(0) {
            assert!(code == Some(1) && said.contains("session.jsonl is in use"), "{format}: {code:?} {said}");
            refused += 1;
        }
        agent.assert_all_there(&before, format);
    }
    // What is read of it is the whole session, and the view goes on to the agent's last line.
    let full = place.run("inspect session.jsonl --view full --json");
    assert_eq!((full.code, &*full.stderr), (0, ""));
    let view = place.run("convert session.jsonl --to openai-chat");
    let count = |text: &str| view.text().matches(text).count();
    assert_eq!(count(&format!("line {} of the agent", agent.written.len() - 1)), 1, "{format}");
    refused
}

/// A line spoils one attempt to append, or two where it is read half: so few leave room whatever the machine is busy with.
#[test]
fn what_an_agent_writes_meanwhile_is_there_and_follows() {
    for format in FORMATS {
        for habit in HABITS {
            assert_eq!(compacted_while_written(format, habit, 3, 10), 0, "{format}: there is time to append");
        }
    }
}

#[test]
fn an_agent_that_never_stops_writing_loses_nothing() {
    for habit in HABITS {
        compacted_while_written("claude-code", habit, 2, 4_000);
    }
}

#[test]
fn a_compaction_that_is_killed_loses_nothing() {
    for (format, habit) in [("claude-code", Habit::OpensAnew), ("codex", Habit::KeepsOpen)] {
        let place = place(format);
        let before = place.read("session.jsonl");
        let mut agent = Agent::new(place.path("session.jsonl"), format, habit);
        for patience in 0..10_u32 {
            let mut command = place.command("compact session.jsonl -b 20k -o session.jsonl -q");
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            for _ in 0..1_u32 << patience {
                agent.write();
                if child.try_wait().unwrap().is_some() {
                    break;
                }
            }
            child.kill().unwrap();
            child.wait().unwrap();
            let content = place.read("session.jsonl");
            assert!(content.starts_with(&before));
            let content = String::from_utf8(content).unwrap();
            let lines: HashSet<&str> = content.lines().collect();
            // A record that the kill cut short may have the agent's next line behind it: that is all there.
            let lost = |line: &&String| !lines.contains(line.as_str()) && !content.contains(line.as_str());
            assert_eq!(agent.written.iter().filter(lost).count(), 0, "{format}: of {} lines", agent.written.len());
        }
        let ran = place.run("compact session.jsonl -b 20k -o session.jsonl -q");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(place.run("check session.jsonl --json").json()["current_tokens"].as_u64().unwrap() <= 20_000);
    }
}

#[cfg(unix)]
#[test]
fn owner_mode_and_links_stay() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let place = place("claude-code");
    let original = place.read("session.jsonl");
    fs::set_permissions(place.path("session.jsonl"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::hard_link(place.path("session.jsonl"), place.path("second.jsonl")).unwrap();
    symlink("session.jsonl", place.path("link.jsonl")).unwrap();
    let told = |name: &str| {
        let metadata = fs::metadata(place.path(name)).unwrap();
        (metadata.ino(), metadata.uid(), metadata.gid(), metadata.mode(), metadata.nlink())
    };
    let before = told("session.jsonl");
    for (line, epochs) in [
        ("compact link.jsonl -b 40k -o link.jsonl -q", 1),
        ("compact session.jsonl -b 30k -o second.jsonl -q", 2),
        ("restore second.jsonl -o session.jsonl -q", 2),
        ("compact second.jsonl -b 20k -o link.jsonl -q", 3),
    ] {
        let ran = place.run(line);
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{line}");
        assert_eq!((told("session.jsonl"), told("second.jsonl")), (before, before), "{line}");
        assert!(place.path("link.jsonl").is_symlink() && place.read("session.jsonl").starts_with(&original));
        let history = place.run("history session.jsonl --json").json();
        assert_eq!(history["compactions"].as_array().unwrap().len(), epochs, "{line}");
    }
    assert_eq!(place.files(), ["link.jsonl", "second.jsonl", "session.jsonl"], "nothing else is left behind");
}

#[cfg(unix)]
#[test]
fn what_has_to_be_replaced_is_not_where_another_name_would_keep_it() {
    let place = Place::with("chat.json", chat());
    fs::hard_link(place.path("chat.json"), place.path("second.json")).unwrap();
    insta::assert_snapshot!(place.run("compact chat.json -b 400 -o chat.json --force -q").all(), @r"
    exit 2
    ----- stderr
    error: cannot write chat.json: it has other names (hard links), which would keep what is in it now
      help: name another file, and put it in place by hand
    ");
    assert_eq!(place.read("second.json"), chat().as_bytes());
    fs::remove_file(place.path("second.json")).unwrap();
    assert_eq!(place.run("compact chat.json -b 400 -o chat.json --force -q").code, 0);
    assert!(place.read("chat.json").len() < chat().len());
}

#[test]
fn a_line_that_is_not_finished_is_waited_for_and_then_refused() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    appending(&place.path("session.jsonl")).write_all(br#"{"type":"user","mess"#).unwrap();
    let before = place.read("session.jsonl");
    insta::assert_snapshot!(place.run("compact session.jsonl -b 20k -o session.jsonl -q").all(), @r"
    exit 1
    ----- stderr
    error: session.jsonl is in use: another program writes to it or has locked it, or its last line is not finished
      help: nothing was written; wait until the agent is idle, or name another file with -o
    ");
    assert_eq!(place.read("session.jsonl"), before);
}

#[test]
fn a_file_that_is_locked_is_left_alone() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    let owner = appending(&place.path("session.jsonl"));
    owner.lock().unwrap();
    let ran = place.run("compact session.jsonl -b 20k -o session.jsonl -q");
    assert_eq!(ran.code, 1);
    assert_eq!(place.read("session.jsonl"), example("session.jsonl"));
    owner.unlock().unwrap();
    assert_eq!(place.run("compact session.jsonl -b 20k -o session.jsonl -q").code, 0);
}

#[test]
fn a_compressed_session_gets_its_compaction_compressed() {
    let place = Place::with("session.jsonl", example("session.jsonl"));
    assert_eq!(place.run("compact session.jsonl -b 100k -o session.jsonl.gz -q").code, 0);
    let before = place.read("session.jsonl.gz");
    let ran = place.run("compact session.jsonl.gz -b 20k -o session.jsonl.gz -q");
    assert_eq!((ran.code, &*ran.stderr), (0, ""));
    assert!(place.read("session.jsonl.gz").starts_with(&before));
    assert!(place.run("check session.jsonl.gz --json").json()["current_tokens"].as_u64().unwrap() <= 20_000);
    assert_eq!(place.run("history session.jsonl.gz --json").json()["compactions"].as_array().unwrap().len(), 1);
}
