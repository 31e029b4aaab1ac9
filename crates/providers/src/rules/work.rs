//! What was done: files, commands, other calls, and the errors that they met.

use std::collections::HashMap;

use epitome_strategy::cut::is_error_line;
use epitome_strategy::tools::ToolKind;
use epitome_strategy::{BlockRef, Call, Facts, FileAccess, ToolOutput, View};
use serde_json::Value;

use super::collect::Collector;
use super::lines::{Section, clip};
use super::wording::FILE_VERBS;

/// Collects lines about every call. Linear in the messages.
pub(crate) fn collect(view: &View<'_>, collector: &mut Collector) {
    let facts = view.facts();
    let outputs: HashMap<BlockRef, &ToolOutput<'_>> =
        facts.outputs().iter().map(|output| (output.at, output)).collect();
    let output_of = |call: &Call<'_>| call.output.and_then(|at| outputs.get(&at)).copied();
    files(facts, collector);
    let mut runs: Vec<Run> = Vec::new();
    for call in facts.calls() {
        let output = output_of(call);
        match call.kind {
            ToolKind::Shell => runs.extend(Run::of(call, output)),
            ToolKind::Plan => {}
            ToolKind::Read | ToolKind::Edit | ToolKind::Write => {
                if let Some(output) = output.filter(|output| output.is_error) {
                    let error = first_error(output.text).and_then(|line| clip(line, 200));
                    if let Some(error) = error {
                        collector.lines.add(Section::Errors, format!("{}: {error}", call.name), 1.5, call.at.message);
                    }
                }
            }
            ToolKind::Search => other_call(call, output, 1.5, collector),
            ToolKind::Web | ToolKind::Delegate | ToolKind::Lookup | ToolKind::Other => {
                other_call(call, output, 3.0, collector);
            }
        }
    }
    commands(&runs, collector);
}

/// What was done to one file.
#[derive(Debug, Default)]
struct FileWork {
    path: String,
    /// Times it was written, edited, read, as [`FILE_VERBS`] has them.
    times: [u32; 3],
    /// What edits defined.
    details: Vec<String>,
    last: u32,
}

/// Files by path, in order of their first appearance.
#[derive(Debug, Default)]
struct FileList {
    files: Vec<FileWork>,
    known: HashMap<String, usize>,
}

impl FileList {
    fn of(&mut self, path: &str) -> &mut FileWork {
        let next = self.files.len();
        let index = *self.known.entry(path.trim_start_matches("./").to_owned()).or_insert(next);
        if index == next {
            self.files.push(FileWork { path: path.to_owned(), ..FileWork::default() });
        }
        &mut self.files[index]
    }
}

fn files(facts: &Facts<'_>, collector: &mut Collector) {
    let mut list = FileList::default();
    for (path, times, details) in std::mem::take(&mut collector.earlier.files) {
        let file = list.of(&path);
        file.details = details;
        file.times = times;
    }
    for event in facts.file_events().iter().filter(|event| !event.failed) {
        let call = &facts.calls()[event.call as usize];
        let file = list.of(&event.path);
        let verb = match event.access {
            FileAccess::Write => 0,
            FileAccess::Edit => 1,
            FileAccess::ReadWhole | FileAccess::ReadPart => 2,
        };
        file.times[verb] += 1;
        file.last = call.at.message;
        if verb < 2 {
            for name in defined_names(call.arguments) {
                if file.details.len() < 4 && !file.details.contains(&name) {
                    file.details.push(name);
                }
            }
        }
    }
    for call in facts.calls().iter().filter(|call| call.kind == ToolKind::Shell) {
        let Some(command) = command_of(call) else { continue };
        let event = written_by_command(&command).or_else(|| Some((read_by_command(&command)?, 2)));
        if let Some((path, verb)) = event {
            let file = list.of(path);
            file.times[verb] += 1;
            file.last = call.at.message;
        }
    }
    file_lines(list.files, collector);
}

fn file_lines(work: Vec<FileWork>, collector: &mut Collector) {
    let (changed, mut read): (Vec<FileWork>, Vec<FileWork>) =
        work.into_iter().partition(|file| file.times[0] + file.times[1] > 0);
    for file in changed {
        let mut done: Vec<String> = Vec::new();
        for ((english, chinese), times) in FILE_VERBS.into_iter().zip(file.times).filter(|(_, times)| *times > 0) {
            let verb = collector.pick(english, chinese);
            done.push(if times == 1 { verb.to_owned() } else { format!("{verb} {times}×") });
        }
        let details = if file.details.is_empty() { String::new() } else { format!(" ({})", file.details.join(", ")) };
        let text = format!("{}: {}{details}", file.path, done.join(", "));
        collector.lines.add(Section::Files, text, 5.5 + collector.recency(file.last), file.last);
    }
    // Files that were only read share lines: each is worth little more than its name.
    read.sort_by_key(|file| file.last);
    for group in read.chunks(4) {
        let last = group.last().map_or(0, |file| file.last);
        let paths: Vec<&str> = group.iter().map(|file| file.path.as_str()).collect();
        let text = format!("{}{}", collector.pick("read: ", "读取："), paths.join(", "));
        collector.lines.add(Section::Files, text, 3.5 + collector.recency(last), last);
    }
}

/// Words behind which a definition's name stands.
const DEFINING: &[&str] = &[
    "fn ",
    "def ",
    "class ",
    "struct ",
    "enum ",
    "trait ",
    "func ",
    "function ",
    "interface ",
    "type ",
    "impl ",
    "CREATE TABLE ",
];

/// The names that the lines of a call's arguments define; in JSON line feeds stand as `\n`.
fn defined_names(arguments: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in arguments.split("\\n").flat_map(str::lines).take(400) {
        let line = line.rsplit("\":\"").next().unwrap_or(line).trim_start_matches(['+', ' ', '\t', '"']);
        let found = DEFINING.iter().find_map(|word| {
            let (before, rest) = line.split_once(word)?;
            // Only modifiers may stand in front: `a function that` is prose.
            let is_definition = before.split_whitespace().all(|word| {
                matches!(
                    word,
                    "pub"
                        | "pub(crate)"
                        | "async"
                        | "export"
                        | "default"
                        | "static"
                        | "public"
                        | "private"
                        | "abstract"
                        | "unsafe"
                )
            });
            let end = rest.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(rest.len());
            (is_definition && end >= 2 && names.len() < 8).then(|| format!("{}{}", word, &rest[..end]))
        });
        if let Some(name) = found.filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    names
}

/// One run of a command.
#[derive(Debug)]
struct Run {
    command: String,
    at: u32,
    failed: bool,
    /// The line of its output that says how it ended.
    outcome: Option<String>,
}

impl Run {
    fn of(call: &Call<'_>, output: Option<&ToolOutput<'_>>) -> Option<Self> {
        let command = command_of(call)?;
        let (failed, outcome) = match output {
            None => (false, None),
            Some(output) => {
                let outcome = outcome(output.text);
                let exit = exit_code(output.text);
                let failed = match exit {
                    Some(code) => code != 0,
                    // What a listing or a diff shows is no outcome.
                    None => output.is_error || (!is_looking(&command) && outcome.is_some_and(is_failure)),
                };
                let line = match failed {
                    true => first_error(output.text).or(outcome),
                    false => outcome.filter(|_| !is_looking(&command)),
                };
                (failed, line.and_then(|line| clip(line, 180)))
            }
        };
        Some(Self { command, at: call.at.message, failed, outcome })
    }

    /// The program and its first word: runs with the same are runs of the same thing.
    fn key(&self) -> String {
        self.command.split_whitespace().filter(|word| !word.contains('=')).take(2).collect::<Vec<_>>().join(" ")
    }
}

/// The command that a call runs, on one line, a change of folder in front of it left out.
fn command_of(call: &Call<'_>) -> Option<String> {
    let command = match call.json() {
        Some(json) => ["command", "cmd", "script", "code"].iter().find_map(|key| match json.get(*key)? {
            Value::String(text) => Some(text.clone()),
            Value::Array(words) => words.last().and_then(Value::as_str).map(str::to_owned),
            _ => None,
        })?,
        None => call.arguments.to_owned(),
    };
    clip(&one_line(&command)?, 140)
}

/// What tells nothing about a command: where its output went, and what catches its failure.
const NOISE: &[&str] =
    &[" 2>&1", " 2>/dev/null", " | head", " | tail", " || true", " || echo", " && echo", "; echo", " > /dev/null"];

/// The first command of a script on one line: comments, a change of folder in front of it and plumbing behind it left
/// out, the first line of a text that it is given taken in (the subject of a commit's message).
fn one_line(command: &str) -> Option<String> {
    let mut lines = command.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut line = lines.next()?.to_owned();
    while let Some(start) = line.strip_suffix('\\') {
        line = format!("{} {}", start.trim_end(), lines.next()?);
    }
    for mark in ["$(cat <<'EOF'", "$(cat <<EOF", "$(cat << 'EOF'"] {
        if let Some((start, _)) = line.split_once(mark) {
            line = format!("{start}{}", lines.next().unwrap_or_default());
            break;
        }
    }
    if let Some((first, rest)) = line.split_once("&&")
        && first.trim_start().starts_with("cd ")
    {
        line = rest.trim().to_owned();
    }
    let end = NOISE.iter().filter_map(|noise| line.find(noise)).min().unwrap_or(line.len());
    line.truncate(end);
    Some(line)
}

/// Programs that only look.
const LOOKING: &[&str] = &[
    "ls",
    "cat",
    "head",
    "tail",
    "sed",
    "awk",
    "grep",
    "rg",
    "find",
    "fd",
    "pwd",
    "echo",
    "wc",
    "which",
    "cd",
    "tree",
    "less",
    "ps",
    "sleep",
    "true",
    "stat",
    "file",
    "du",
    "df",
    "env",
    "export",
    "printf",
    "nl",
    "open",
    "goto",
    "scroll_down",
    "scroll_up",
    "search_dir",
    "search_file",
    "find_file",
    "type",
    "jq",
    "date",
    "whoami",
];

/// Sub-commands of `git`, `gh` and the like that only look.
const LOOKING_AT: &[&str] = &[
    "status",
    "diff",
    "log",
    "show",
    "branch",
    "blame",
    "rev-parse",
    "ls-files",
    "api",
    "view",
    "checks",
    "list",
    "remote",
    "add",
];

/// Whether a command, and every one behind it, only looks.
fn is_looking(command: &str) -> bool {
    command.split("&&").flat_map(|part| part.split(';')).all(only_looks)
}

fn only_looks(command: &str) -> bool {
    let mut words = command.split_whitespace().filter(|word| !word.contains('='));
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    LOOKING.contains(&program)
        || (matches!(program, "git" | "gh" | "glab" | "docker" | "kubectl")
            && words.take(3).any(|word| LOOKING_AT.contains(&word)))
}

/// The file that a command like `cat x` or `sed -n 1,9p x` reads.
fn read_by_command(command: &str) -> Option<&str> {
    if command.contains(['|', '>', '<', ';', '&', '*', '…']) {
        return None;
    }
    let program = command.split_whitespace().next()?;
    let reads = matches!(program, "cat" | "head" | "tail" | "less" | "nl" | "bat")
        || (program == "sed" && command.contains(" -n "));
    let path = command.split_whitespace().next_back().filter(|_| reads)?.trim_matches(['"', '\'']);
    (path != program && !path.starts_with('-') && path.contains(['/', '.'])).then_some(path)
}

/// The file that `cat <<'EOF' > x` writes or `sed -i s/a/b/ x` edits, with which of [`FILE_VERBS`] it is.
fn written_by_command(command: &str) -> Option<(&str, usize)> {
    let program = command.split_whitespace().next()?;
    let (path, verb) = if matches!(program, "cat" | "tee") && command.contains("<<") {
        (command.split('>').nth(1)?.split_whitespace().next()?, 0)
    } else if program == "sed" && command.contains(" -i") && !command.contains([';', '|', '&', '…']) {
        (command.split_whitespace().next_back()?, 1)
    } else {
        return None;
    };
    let path = path.trim_matches(['"', '\'']);
    path.contains(['/', '.']).then_some((path, verb))
}

fn commands(runs: &[Run], collector: &mut Collector) {
    let mut last_good: HashMap<String, usize> = HashMap::new();
    let mut by_command: HashMap<&str, (usize, u32)> = HashMap::new(); // (last run, times)
    for (index, run) in runs.iter().enumerate() {
        if !run.failed {
            last_good.insert(run.key(), index);
        }
        let known = by_command.entry(run.command.as_str()).or_default();
        *known = (index, known.1 + 1);
    }
    // Of an error that comes again the last time counts.
    let last_of_error: HashMap<(String, &str), usize> = runs
        .iter()
        .enumerate()
        .filter_map(|(index, run)| Some(((run.key(), run.outcome.as_deref()?), index)))
        .collect();
    for (index, run) in runs.iter().enumerate() {
        let (last, times) = by_command[run.command.as_str()];
        if index == last {
            command_line(run, times, collector);
        }
        if run.failed
            && let Some(outcome) = &run.outcome
            && last_of_error.get(&(run.key(), outcome.as_str())) == Some(&index)
        {
            let solved = last_good.get(&run.key()).is_some_and(|good| *good > index);
            let key = run.key();
            let note = match solved {
                true => collector.pick(" — a later run succeeded", " — 之后运行成功"),
                false => "",
            };
            // A failure of something that only looks (no such file, no match) is seldom worth a line.
            let value = match (solved, is_looking(&run.command)) {
                (_, true) => 1.5,
                (true, false) => 2.5,
                (false, false) => 5.0,
            };
            let text = format!("`{key}`: {outcome}{note}");
            collector.lines.add(Section::Errors, text, value + collector.recency(run.at), run.at);
        }
    }
}

fn command_line(run: &Run, times: u32, collector: &mut Collector) {
    let times = if times > 1 { format!(" ×{times}") } else { String::new() };
    let ended = match (&run.outcome, run.failed) {
        (_, true) => format!(": {}", collector.pick("failed", "失败")),
        (Some(outcome), false) => format!(": {outcome}"),
        (None, false) => String::new(),
    };
    let checks = ["test", "build", "check", "lint", "commit", "push", "deploy", "install", "migrat"];
    // What writes a file stands among the files.
    let value = if is_looking(&run.command) || written_by_command(&run.command).is_some() {
        1.0
    } else {
        3.2 + if checks.iter().any(|word| run.command.contains(word)) { 0.8 } else { 0.0 }
    };
    let text = format!("`{}`{times}{ended}", run.command);
    collector.lines.add(Section::Actions, text, value + collector.recency(run.at), run.at);
}

/// A call of a tool that is neither about files nor a shell: what it was given, and the first line of the answer.
fn other_call(call: &Call<'_>, output: Option<&ToolOutput<'_>>, value: f32, collector: &mut Collector) {
    let given = given(call);
    let answer = output.and_then(|output| {
        let line = if output.is_error { first_error(output.text) } else { telling_line(output.text) };
        clip(line?, 160)
    });
    let failed = if output.is_some_and(|output| output.is_error) { collector.pick(" failed", " 失败") } else { "" };
    let given = given.map_or(String::new(), |given| format!(" {given}"));
    let answer = answer.map_or(String::new(), |answer| format!(" → {answer}"));
    let text = format!("{}{given}{failed}{answer}", call.name);
    collector.lines.add(Section::Actions, text, value + collector.recency(call.at.message), call.at.message);
}

/// A call's arguments, short: `key=value` words of those that are short enough to quote.
fn given(call: &Call<'_>) -> Option<String> {
    let Some(Value::Object(fields)) = call.json() else {
        return clip(call.arguments, 120).filter(|text| text != "{}");
    };
    let mut words: Vec<String> = Vec::new();
    for (key, value) in &fields {
        let shown = match value {
            Value::String(text) => clip(text, 100),
            Value::Null | Value::Bool(false) => None,
            other => Some(other.to_string()).filter(|text| text.len() <= 100),
        };
        if let Some(shown) = shown {
            words.push(format!("{key}={shown}"));
        }
        if words.iter().map(String::len).sum::<usize>() > 160 {
            break;
        }
    }
    (!words.is_empty()).then(|| words.join(" "))
}

/// Whether a line stands for text that left the context: an elision mark, or another agent's placeholder.
fn is_mark(line: &str) -> bool {
    line.starts_with("[… ") || line.starts_with("[Old tool result")
}

/// The first line that says something.
fn telling_line(text: &str) -> Option<&str> {
    let lines = text.lines().take(30).map(str::trim).filter(|line| !is_mark(line));
    lines.into_iter().find(|line| line.chars().filter(|char| char.is_alphanumeric()).count() >= 4)
}

/// The first line that speaks of an error, or of a short text the last one that says something.
fn first_error(text: &str) -> Option<&str> {
    let lines = || text.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    if let Some((_, trace)) = text.split_once("Traceback (most recent call last):") {
        // The exception stands behind the indented frames.
        let is_frame = |line: &&str| line.starts_with(' ') || line.trim().is_empty();
        if let Some(exception) = trace.lines().skip(1).find(|line| !is_frame(line)) {
            return Some(exception.trim());
        }
    }
    lines().find(|line| is_error_line(line) && line.len() > 8).or_else(|| lines().take(20).last())
}

/// Words of lines that say how a command ended.
const OUTCOME: &[&str] = &[
    "passed",
    "failed",
    "failure",
    " ok",
    "ok.",
    "error",
    "success",
    "finished",
    "completed",
    "built",
    "warning",
    "done",
    "created",
    "up to date",
    "changed,",
    "通过",
    "失败",
    "成功",
    "完成",
];

/// The last line of an output, of its last 20, that says how it ended.
fn outcome(text: &str) -> Option<&str> {
    let lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty() && !is_mark(line)).take(20);
    let tells = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        line.len() <= 300 && !line.starts_with('(') && OUTCOME.iter().any(|word| lower.contains(word))
    };
    lines.clone().find(tells)
}

/// Whether an outcome is one of failure: only plain words, since logs speak of errors that were dealt with.
fn is_failure(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    is_error_line(line)
        && ["failed", "error:", "error[", "fatal", "panicked", "失败"].iter().any(|word| lower.contains(word))
}

/// The exit code that an output names: `Exit code: 1`, `exited with code 1`, `<returncode>1`.
fn exit_code(text: &str) -> Option<i32> {
    let ends =
        [&text[..text.floor_char_boundary(400)], &text[text.ceil_char_boundary(text.len().saturating_sub(200))..]];
    ends.into_iter().find_map(|part| {
        let lower = part.to_ascii_lowercase();
        ["exit code: ", "exit code ", "exited with code ", "exit status ", "<returncode>", "exit_code: "]
            .iter()
            .find_map(|mark| {
                let rest = &lower[lower.find(mark)? + mark.len()..];
                let digits =
                    rest.len() - rest.trim_start_matches(|char: char| char.is_ascii_digit() || char == '-').len();
                rest[..digits].parse().ok()
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_commands_ended() {
        let check = |text: &str, exit: Option<i32>, expect: Option<&str>| {
            assert_eq!((exit_code(text), outcome(text)), (exit, expect), "{text}");
        };
        check("a\ntest result: ok. 3 passed; 0 failed\n", None, Some("test result: ok. 3 passed; 0 failed"));
        check("Exit code: 101\nOutput:\nerror: no", Some(101), Some("error: no"));
        check("Process exited with code 0\nhello", Some(0), None);
        check("x <returncode>-1</returncode>", Some(-1), None);
        assert!(!is_failure("test result: ok. 3 passed; 0 failed"));
        assert!(is_failure("test result: FAILED. 3 passed; 1 failed"));
    }

    #[test]
    fn names_that_edits_define() {
        let check = |arguments: &str, expect: &[&str]| assert_eq!(defined_names(arguments), expect);
        check(r#"{"new_string":"pub fn parse() {\n    let x;\n}\nstruct Lexer {"}"#, &["fn parse", "struct Lexer"]);
        check("*** Begin Patch\n+def run(self):\n+    # a function that\n", &["def run"]);
    }

    #[test]
    fn errors_of_outputs() {
        let check = |text: &str, expect: &str| assert_eq!(first_error(text), Some(expect));
        check("x\nTraceback (most recent call last):\n  File a\n    x()\nValueError: bad\n", "ValueError: bad");
        check("   Compiling\nerror[E1]: no\n  --> a.rs:1\n", "error[E1]: no");
        check("usage: x\n\nuse it well", "use it well");
    }

    #[test]
    fn commands_that_write_a_file() {
        let check = |command: &str, expect| assert_eq!(written_by_command(command), expect, "{command}");
        check("cat <<'EOF' > src/a.py", Some(("src/a.py", 0)));
        check("sed -i s/a/b/ a.rs", Some(("a.rs", 1)));
        check("sed -n 1,2p a.rs", None);
    }

    #[test]
    fn commands_that_read_a_file() {
        let check = |command: &str, expect: Option<&str>| assert_eq!(read_by_command(command), expect, "{command}");
        check("cat src/a.rs", Some("src/a.rs"));
        check("sed -n 1,90p 'src/a.rs'", Some("src/a.rs"));
        check("cat a.rs | head", None);
        check("cargo test", None);
    }
}
