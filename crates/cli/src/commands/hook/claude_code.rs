//! Claude Code's command hooks, which get the path of the session's file.

use std::path::{Path, PathBuf};
use std::{fs, io};

use epitome::brief::brief_within;
use epitome::formats::{Format, ReadOptions, read};
use epitome::session::{Message, Role};
use epitome::strategy::Lexicon;
use epitome::{Runtime, Session};
use serde::Deserialize;
use serde_json::json;

use super::demands::demands_in;
use crate::configuration;
use crate::failure::Failure;
use crate::folders::variable;
use crate::session::input::bytes;

/// Characters that a hook may add to the context: Claude Code puts a longer text into a file, and shows its beginning.
/// 10,000 are its limit, and the lines around the text need some.
const ADDED: usize = 9_500;

/// What Claude Code tells a hook, as far as it matters here.
#[derive(Debug, Deserialize)]
struct HookInput {
    transcript_path: PathBuf,
    session_id: Option<String>,
    /// Why a session begins: `startup`, `resume`, `clear` or `compact`.
    source: Option<String>,
}

/// Before a compaction: what the summary has to keep word for word. What is printed is added to the model's instructions.
pub(super) fn demands_to_keep(input: &str) -> Result<String, Failure> {
    let input = read_input(input)?;
    // First of all: the model writes the summary, whatever becomes of the demands.
    if let Some(mark) = mark_of(&input) {
        fs::write(&mark, []).map_err(|error| failed_at(&mark, error))?;
    }
    let session = session_of(&input)?;
    let kept = demands_in(&session, &Lexicon::standard());
    if kept.is_empty() {
        return Ok(String::new());
    }
    let lines =
        |words: &str| words.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n  ");
    let list: String = kept.iter().map(|words| format!("\n- {}", lines(words))).collect();
    Ok(format!(
        "The user demanded the following. Repeat each of these word for word in the summary:{}",
        runtime()?.base_engine.redacted(&list)
    ))
}

/// Behind a compaction: the exact words of what left, for the context.
pub(super) fn words_of_what_left(input: &str) -> Result<String, Failure> {
    let input = read_input(input)?;
    if input.source.as_deref() != Some("compact") {
        return Ok(String::new());
    }
    if let Some(mark) = mark_of(&input) {
        match fs::remove_file(&mark) {
            Ok(()) => {}
            // It was the plug-in's module that compacted: what matters is in the messages.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
            Err(error) => return Err(failed_at(&mark, error)),
        }
    }
    let session = without_newest_step(&session_of(&input)?);
    if session.log().is_empty() {
        return Ok(String::new());
    }
    let runtime = runtime()?;
    let told = brief_within(&session, &runtime, ADDED - INTRODUCTION.chars().count()).map_err(Failure::other)?;
    let text = format!("{INTRODUCTION}{}", told.text);
    let answer = json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}});
    Ok(answer.to_string())
}

/// What the person's own file and the environment set.
fn runtime() -> Result<Runtime, Failure> {
    let registry = epitome::registry();
    configuration::build_without_model(configuration::read_for_plugin(&registry)?, &registry)
}

/// The first lines of what is added to the context.
const INTRODUCTION: &str = "Exact words of the conversation before the compaction, from its log; the summary was written \
                            without them. The tools search_history and recall bring back everything else.\n\n";

/// The file that tells that the model is writing a summary: Claude Code calls the hook before a compaction only then. It is
/// in the folder that Claude Code gives a plug-in; `None` where it gives none.
fn mark_of(input: &HookInput) -> Option<PathBuf> {
    let folder = variable("CLAUDE_PLUGIN_DATA").filter(|folder| folder.is_dir())?;
    let is_name = |id: &&String| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    Some(folder.join(format!("compacting-{}", input.session_id.as_ref().filter(is_name)?)))
}

fn failed_at(path: &Path, error: io::Error) -> Failure {
    Failure::other(anyhow::Error::new(error).context(format!("cannot keep {}", path.display())))
}

fn read_input(input: &str) -> Result<HookInput, Failure> {
    serde_json::from_str(input).map_err(|error| {
        let error = anyhow::Error::new(error).context("what the agent said on standard input is not understood");
        Failure::usage(error).with_help("this command is called by Claude Code; `epitome brief FILE` is for people")
    })
}

/// The session of the agent's file; an agent that has said nothing yet may have none.
fn session_of(input: &HookInput) -> Result<Session, Failure> {
    let path = &input.transcript_path;
    let options = ReadOptions { format: Some(Format::ClaudeCode), ..ReadOptions::default() };
    let loaded = read(bytes(path)?, options).map_err(|error| {
        Failure::usage(anyhow::Error::new(error).context(format!("cannot read {}", path.display())))
    })?;
    let first = loaded.sessions.into_iter().next();
    first.map(|first| first.session).ok_or_else(|| Failure::usage_text(format!("{} has no session", path.display())))
}

/// A session without the newest call and its results: the agent keeps these beside its summary.
fn without_newest_step(session: &Session) -> Session {
    let log = session.log();
    let end = match log.iter().rposition(|message| message.role == Role::Assistant) {
        Some(newest) if log[newest..].iter().skip(1).all(|message| message.role == Role::Tool) => newest,
        _ => log.len(),
    };
    let mut shorter = Session::new();
    for message in &log[..end] {
        shorter.push(Message::clone(message));
    }
    shorter
}
