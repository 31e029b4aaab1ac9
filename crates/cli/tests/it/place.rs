//! A folder to run the command in, and sessions to run it on.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder with files, in which the command runs.
pub(crate) struct Place(TempDir);

/// What a run gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A place with one file.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let place = Self::new();
        place.file(name, content);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of the files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command with a line of arguments, which are separated by white space.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_epitome"));
        command.args(line.split_whitespace()).current_dir(self.0.path());
        // What a command keeps for its user is kept here.
        command.env("XDG_DATA_HOME", self.0.path().join("data"));
        command.env("XDG_CONFIG_HOME", self.0.path().join("config"));
        command.env("COLUMNS", "100").env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command
    }

    pub(crate) fn run(&self, line: &str) -> Ran {
        Ran::read(self.command(line).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs the command with `input` on standard input.
    pub(crate) fn run_with(&self, line: &str, input: &[u8]) -> Ran {
        self.run_command(self.command(line), input)
    }

    /// Runs a command of this place with `input` on standard input.
    pub(crate) fn run_command(&self, mut command: Command, input: &[u8]) -> Ran {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        Ran::read(child.wait_with_output().unwrap())
    }
}

impl Ran {
    pub(crate) fn read(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap()
    }

    /// Exit code and both outputs, for a snapshot.
    pub(crate) fn all(&self) -> String {
        let mut out = format!("exit {}\n", self.code);
        for (name, text) in [("stdout", self.text()), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                let _ = write!(out, "----- {name}\n{}\n", text.trim_end());
            }
        }
        out
    }
}

/// Snapshots of what the command says, without what belongs to others: times, figures and bars, the words of a strategy's
/// reasons. Keep the result alive as long as it is to hold.
pub(crate) fn shape_only() -> impl Sized {
    let mut settings = insta::Settings::clone_current();
    for (pattern, replacement) in [
        (r"\b[0-9a-f]{12}\b", "[HANDLE]"),
        (r"([a-z]+-tool-result): .*?(…)? +\[HANDLE\]", "$1: [WHY] [HANDLE]"),
        (r"(task +[a-z]+) \(.*\)(:(.|\n)*?) +chain", "$1 [WHY]\n  chain"),
        (r"(time +)configure [^\n]*(\n +[^\n]*)?", "time [TIMES]"),
        (r"[\d.]+ (µs|ms|s)\b", "[TIME]"),
        (r"[█▏▎▍▌▋▊▉·]{3,}", "[BAR]"),
        (r"\d[\d,.]*", "#"),
        (r"([^ \n]) {2,}", "$1 "),
    ] {
        settings.add_filter(pattern, replacement);
    }
    settings.bind_to_scope()
}

/// A file of the examples.
pub(crate) fn example(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)).unwrap()
}

/// Lines of a log, enough to be worth cutting.
fn log(lines: u32) -> String {
    (1..=lines)
        .map(|line| format!("12:00:{line:02} worker {line} compiled unit number {line} of the release\\n"))
        .collect()
}

/// A chat in OpenAI's format, spaced as no serializer would, with one long tool result.
pub(crate) fn chat() -> String {
    format!(
        r#"{{"model": "m",   "messages": [
  {{"role": "system", "content": "You build releases."}},
  {{"role": "user", "content": "Build release 4.2 and tell me what failed."}},
  {{"role": "assistant", "content": null, "tool_calls": [{{"id": "call_1", "type": "function", "function": {{"name": "bash", "arguments": "{{\"command\": \"make release\"}}"}}}}]}},
  {{"role": "tool", "tool_call_id": "call_1", "content": "{}error: unit 61 did not link"}},
  {{"role": "assistant", "content": "Unit 61 did not link."}},
  {{"role": "user", "content": "Then fix unit 61."}}
]}}
"#,
        log(60)
    )
}

/// Three sessions in one file: the short one fits where the others do not.
pub(crate) fn several() -> String {
    let session = |lines: u32| {
        format!(
            r#"{{"messages":[{{"role":"user","content":"Read the log."}},{{"role":"assistant","content":null,"tool_calls":[{{"id":"c","type":"function","function":{{"name":"read","arguments":"{{}}"}}}}]}},{{"role":"tool","tool_call_id":"c","content":"{}"}},{{"role":"user","content":"And now?"}}]}}"#,
            log(lines)
        )
    };
    format!("{}\n{}\n{}\n", session(2), session(30), session(50))
}
