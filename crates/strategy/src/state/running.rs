//! What goes on by itself: shells and agents that a call started and nothing says have ended.

use std::sync::LazyLock;

use epitome_session::{Message, Origin};
use regex::Regex;

use super::called::Called;
use crate::commands::script_in;
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

/// Bytes of a result in which a host says what became of a call: its own words come before what a command printed.
const HEAD: usize = 400;

/// Arguments that ask for work in the background: of Claude Code and its SDK (`run_in_background`), Gemini CLI and Qwen Code
/// (`is_background`), Copilot CLI (`mode`), and agents after them.
static ASKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#""(?:run_in_background|is_background|background|detach|async)"\s*:\s*true|"mode"\s*:\s*"(?:async|background)""#).ok()
});

/// The line of a host for a command that goes on after its call: Codex (`Process running with session ID 7`), Copilot CLI
/// (`<command with shellId: 3 is still running …>`), Claude Code (`Command running in background with ID: b1`, also where a
/// command was moved there).
static GOES_ON: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?mi)^<?(?:process running with session id|command with shellid\b.*\bstill running|command (?:was |is )?(?:running|moved|manually backgrounded)\b.*\bid)\b").ok()
});

/// A host's words for an agent that works on behind its call, in the first line of what it answers.
static LAUNCHED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^.{0,60}\b(?:launched|spawned|started|running|working) (?:successfully|in (?:the )?background)")
        .ok()
});

/// A name that ends in `id`, and what stands behind it.
static ID: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)\b(?:[a-z]+[_ -]?)?p?ids?\b["'`]?\s*[:=]?\s*\[?["'`]?([0-9a-z][\w-]*)"#).ok());

/// A host's words for work that has ended.
static ENDED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)\bexited with code\b|\bexit code:? ?-?\d|<exit_code>|\b(?:status|state)\b\W{1,4}(?:completed|finished|failed|killed|stopped|exited|errored|shutdown|closed|terminated)|"(?:completed|errored|shutdown)"|\b(?:has|was|already) (?:completed|finished|exited|stopped|killed|terminated)\b|\bno (?:\w+ )?(?:task|shell|session|process|agent)s? (?:was |were )?(?:found|with)|\b(?:task|shell|session|process|agent) not found"#).ok()
});

/// Words in the name of a tool that ends what another one started.
const STOPS: [&str; 6] = ["kill", "stop", "close", "cancel", "terminate", "interrupt"];

fn says(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(HEAD)]
}

/// Returns what was started and has not ended, in the order in which it was started. Linear in the calls, the results' heads
/// and the harness's messages for each thing that runs.
pub(super) fn read(messages: &[&Message], calls: &[Called<'_>]) -> Vec<Running> {
    let mut running: Vec<Running> = Vec::new();
    for call in calls {
        let Some(result) = call.result else { continue };
        let (arguments, said) = (call.arguments.text(), head(&result.text));
        running.retain(|it| !is_ended_by(it, call, arguments, said, result.is_error));
        if result.is_error || running.iter().any(|it| it.id.as_deref().is_some_and(|id| names(arguments, id))) {
            continue;
        }
        let asks = says(&ASKS, arguments);
        let goes_on = match call.kind {
            ToolKind::Shell => asks || says(&GOES_ON, said) || is_left_running(arguments),
            // The answer of a host that starts an agent is its id; that of an agent is a text.
            ToolKind::Delegate => {
                asks || says(&LAUNCHED, said) || said.starts_with('{') && said.len() < HEAD / 2 && says(&ID, said)
            }
            _ => asks && says(&ID, said),
        };
        if goes_on && !says(&ENDED, said) {
            // The line that says so has the id.
            let line =
                GOES_ON.as_ref().and_then(|pattern| pattern.find(said)).map_or(said, |found| &said[found.start()..]);
            let id = id_in(line).or_else(|| id_in(arguments));
            running.push(Running { id, tool: in_one_line(call.name).into_owned(), what: asked(arguments) });
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

/// Whether a call stops something, or its result says that it has ended.
fn is_ended_by(running: &Running, call: &Called<'_>, arguments: &str, said: &str, is_error: bool) -> bool {
    let script = || if call.kind == ToolKind::Shell { script(arguments) } else { None };
    match &running.id {
        Some(id) if names(arguments, id) => {
            let name = call.name.to_ascii_lowercase();
            let stops = STOPS.iter().any(|word| name.contains(word)) || script().is_some_and(|script| kills(&script));
            stops && !is_error || says(&ENDED, said)
        }
        _ => script().is_some_and(|script| kills(&script) && shares_a_word(&script, &running.what)),
    }
}

/// Whether a message of the harness tells that the work of this id has ended.
fn tells_the_end(text: &str, id: &str) -> bool {
    text.match_indices(id).any(|(at, _)| is_whole(text, at, id.len()) && says(&ENDED, head(&text[at..])))
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
    let ids = ID.as_ref()?.captures_iter(text).filter_map(|found| found.get(1).map(|id| id.as_str()));
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

fn kills(script: &str) -> bool {
    ["kill", "pkill", "killall", "taskkill"].iter().any(|word| names(script, word))
}

/// Whether a script names a word of a command, other than short ones.
fn shares_a_word(script: &str, command: &str) -> bool {
    let words = command.split(|char: char| !char.is_alphanumeric() && !matches!(char, '_' | '-' | '.'));
    words.filter(|word| word.len() > 3).any(|word| names(script, word))
}

/// Returns what a call asked for, in one line: the command, or else the first of what it was told.
fn asked(arguments: &str) -> String {
    let json: Option<serde_json::Value> = serde_json::from_str(arguments).ok();
    let told = json.as_ref().and_then(|json| {
        let texts = ["description", "name", "title", "prompt", "message", "task"];
        script_in(json).or_else(|| texts.iter().find_map(|key| json.get(*key)?.as_str().map(str::to_owned)))
    });
    in_one_line(told.as_deref().unwrap_or(arguments).trim()).into_owned()
}
