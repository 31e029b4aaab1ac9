//! What goes on by itself: shells and agents that a call started and nothing says have ended.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use epitome_session::{Message, Origin};
use regex::bytes::{Captures, Regex, RegexBuilder};

use super::calls::CallWithResult;
use crate::commands::{script_in, simple_commands};
use crate::levels::in_one_line;
use crate::tools::ToolKind;

/// Work that a call started and that goes on by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// The id by which it is read or stopped, where the host gave one.
    pub id: Option<String>,
    /// The tool that started it.
    pub tool: String,
    /// What it does: a command, or what an agent was asked for, in one line.
    pub what: String,
}

/// Bytes at the beginning and at the end of a result in which a host says what became of a call: its own words stand around
/// what a command printed.
const EDGE: usize = 400;

/// Arguments that ask for work in the background: of Claude Code and its SDK (`run_in_background`), Gemini CLI and Qwen Code
/// (`is_background`), Copilot CLI (`mode`, `detach`), and agents after them.
static ASKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let flags = "run_in_background|is_background|background|detach|async";
    ascii(&format!(r#""(?:{flags})"\s*:\s*true|"mode"\s*:\s*"(?:async|background)""#))
});

/// The lines in which hosts say that a call's work goes on, each with the id.
static GOES_ON: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let lines = [
        // Codex: `unified_exec`; its agents answer with their id alone.
        r"Process running with session ID ([\w-]+)",
        r#"\{"agent_id":"([\w-]+)""#,
        // Claude Code 2.1.332: shells, also those that it or the person moved there, agents, monitors, what was put into its
        // calendar, calls of MCP servers.
        r"Command running in background with ID: ([\w-]+)",
        r"Command was manually backgrounded by user with ID: ([\w-]+)",
        r"Command .*\bwas moved to the background \(ID: ([\w-]+)",
        r"Async agent launched successfully.*\s+agentId: ([\w-]+)",
        r"Monitor started \(task ([\w-]+)",
        r"Scheduled (?:recurring job|one-shot task) ([\w-]+) \(",
        r".*\bwas moved to the background as task ([\w-]+)",
        // Copilot CLI 0.0.420.
        r"<command started in (?:detached )?background with shellId: ([\w-]+)",
        r"<command with shellId: ([\w-]+) is still running",
        // Gemini CLI: `tools/shell.ts`.
        r"Command moved to background \(PID: (\d+)",
        r"Background PIDs: (\d+)",
    ];
    ascii(&format!("(?m)^(?:{})", lines.join("|")))
});

/// A host's words for work that has ended: of Codex, Claude Code and Copilot CLI as above, and the state in a host's JSON.
static ENDED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // Beside the hosts' own those of the services whose jobs agents wait for.
    let states = "completed?|finished|failed|killed|stopped|exited|errored|shutdown|closed|terminated|succeeded|success|done|\
                  cancel?led|expired|timed_out";
    let lines = [
        r"(?m)^Process exited with code",
        r"<shellId: \S+ completed with exit code",
        r"<command with id: \S+ (?:exited|stopped)",
        r"(?m)^(?:Successfully (?:stopped|killed)|No (?:task|shell) found)",
        r"(?m)^\s*\{.*(?:completed|errored|shutdown|not_found)\W",
    ];
    let state = format!(r#"<status>(?:{states})<|"status"\s*:\s*"(?:{states})""#);
    ascii(&format!("{}|{state}", lines.join("|")))
});

/// The name of an id, and the id behind it.
static ID: LazyLock<Option<Regex>> =
    LazyLock::new(|| ascii(r#"(?i)\b(?:[a-z]+[_ -]?)?p?ids?\b["'`]?\s*[:=]?\s*\[?["'`]?([0-9a-z][\w-]*)"#));

/// Hosts' words and ids are ASCII. Unicode's classes would make these patterns a hundred times larger, and their word boundaries
/// slow.
fn ascii(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}

/// Words in the name of a tool that ends what another one started.
const STOPS: [&str; 7] = ["kill", "stop", "close", "cancel", "delete", "terminate", "interrupt"];

fn says(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text.as_bytes()))
}

/// Returns the text that a group matched.
fn group<'t>(found: &Captures<'t>, group: usize) -> Option<&'t str> {
    str::from_utf8(found.get(group)?.as_bytes()).ok()
}

/// Returns the beginning and the end of a text, each whole where it is short.
fn edges(text: &str) -> Cow<'_, str> {
    if text.len() <= 2 * EDGE {
        return Cow::Borrowed(text);
    }
    let (head, tail) = (text.floor_char_boundary(EDGE), text.ceil_char_boundary(text.len() - EDGE));
    Cow::Owned(format!("{}\n{}", &text[..head], &text[tail..]))
}

/// Returns what was started and has not ended, also of what an earlier compaction told, in the order in which it was started. Linear in the calls, the edges of the
/// results and the harness's messages, for each thing that runs.
pub(super) fn read(messages: &[Arc<Message>], calls: &[CallWithResult<'_>], told: Vec<Running>) -> Vec<Running> {
    let mut running = told;
    for call in calls {
        let Some(result) = call.result else { continue };
        let (arguments, said) = (call.arguments.text(), edges(&result.text));
        running.retain(|it| !is_ended_by(it, call, arguments, &said, result.is_error));
        let is_known = |it: &Running| it.id.as_deref().is_some_and(|id| names(arguments, id));
        if result.is_error || running.iter().any(is_known) {
            continue;
        }
        let started_id = GOES_ON.as_ref().filter(|_| can_start(call.kind)).and_then(|it| it.captures(said.as_bytes()));
        let started_id =
            started_id.and_then(|found| (1..found.len()).find_map(|at| group(&found, at).map(str::to_owned)));
        let leaves = call.kind == ToolKind::Shell && is_left_running(arguments);
        let started_id = started_id.or_else(|| process_of(&result.text).filter(|_| leaves));
        let starts = started_id.is_some() || says(&ASKS, arguments) || leaves;
        if starts && !says(&ENDED, &said) {
            let id =
                started_id.or_else(|| id_in(&said).or_else(|| id_in(arguments)).filter(|_| says(&ASKS, arguments)));
            let started = Running { id, tool: in_one_line(call.name).into_owned(), what: asked(arguments) };
            // What an earlier compaction told may be started by a call that is there, too.
            running.retain(|it| *it != started && (it.id.is_none() || it.id != started.id));
            running.push(started);
        }
    }
    for message in messages.iter().filter(|message| message.origin == Origin::Injected) {
        if running.is_empty() {
            break;
        }
        let text = message.plain_text();
        running.retain(|it| !it.id.as_deref().is_some_and(|id| tells_the_end(&text, id)));
    }
    running
}

/// Whether calls of a tool can start something: what a file or a page says starts nothing.
fn can_start(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Shell | ToolKind::Delegate | ToolKind::Other)
}

/// Whether a call stops something, or its result says that it has ended.
fn is_ended_by(running: &Running, call: &CallWithResult<'_>, arguments: &str, said: &str, is_error: bool) -> bool {
    let script = || if call.kind == ToolKind::Shell { script(arguments) } else { None };
    match &running.id {
        Some(id) if names(arguments, id) => {
            let name = call.name.to_ascii_lowercase();
            let stops = STOPS.iter().any(|word| name.contains(word)) || script().is_some_and(|script| kills(&script));
            stops && !is_error || says(&ENDED, said)
        }
        id => script().is_some_and(|script| {
            // Which processes are ended is worked out while such a script runs: of what a shell left running nothing is certain.
            let is_of_shell = id.as_deref().is_none_or(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
            let is_computed = simple_commands(&script)
                .filter(|command| kills(command))
                .any(|command| command.contains(['%', '$', '`']) || names(command, "xargs") || names(command, "fuser"));
            kills(&script) && (shares_a_word(&script, &running.what) || is_computed && is_of_shell)
        }),
    }
}

/// Whether a message of the harness tells that the work of this id has ended.
fn tells_the_end(text: &str, id: &str) -> bool {
    text.match_indices(id)
        .any(|(at, _)| is_whole(text, at, id.len()) && says(&ENDED, &text[at..text.floor_char_boundary(at + EDGE)]))
}

/// Whether a text names a word, whole.
fn names(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| is_whole(text, at, word.len()))
}

fn is_whole(text: &str, at: usize, length: usize) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-');
    !text[..at].ends_with(is_word) && !text[at + length..].starts_with(is_word)
}

/// Returns the id that a text gives: the first behind a name that ends in `id` which has a digit, else the first.
fn id_in(text: &str) -> Option<String> {
    let ids = ID.as_ref()?.captures_iter(text.as_bytes()).filter_map(|found| group(&found, 1));
    let ids: Vec<&str> = ids.take(8).collect();
    let id = ids.iter().find(|id| id.contains(|char: char| char.is_ascii_digit())).or(ids.first())?;
    Some((*id).to_owned())
}

fn script(arguments: &str) -> Option<String> {
    script_in(&serde_json::from_str(arguments).ok()?)
}

/// Whether a script leaves its last command running.
fn is_left_running(arguments: &str) -> bool {
    arguments.contains('&')
        && script(arguments).is_some_and(|script| {
            let script = script.trim_end();
            script.ends_with('&') && !script.ends_with("&&")
        })
}

/// Returns the process that a shell says it left running: `[1] 48211`.
fn process_of(result: &str) -> Option<String> {
    result.lines().find_map(|line| {
        let (job, process) = line.trim().strip_prefix('[')?.split_once("] ")?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        (is_number(job) && is_number(process)).then(|| process.to_owned())
    })
}

fn kills(script: &str) -> bool {
    ["kill", "pkill", "killall", "taskkill", "fuser"].iter().any(|word| names(script, word))
}

/// Whether a script names a word of a command, other than short ones.
fn shares_a_word(script: &str, command: &str) -> bool {
    let words = command.split(|char: char| !char.is_alphanumeric() && !matches!(char, '_' | '-' | '.'));
    words.filter(|word| word.len() > 3).any(|word| names(script, word))
}

/// Returns what a call asked for, in one line: the command, or else the first of what it was told.
fn asked(arguments: &str) -> String {
    let json: Option<serde_json::Value> = serde_json::from_str(arguments).ok();
    let request = json.as_ref().and_then(|json| {
        let texts = ["description", "name", "title", "prompt", "message", "task"];
        script_in(json).or_else(|| texts.iter().find_map(|key| json.get(*key)?.as_str().map(str::to_owned)))
    });
    in_one_line(request.as_deref().unwrap_or(arguments).trim()).into_owned()
}
