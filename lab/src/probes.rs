//! A set's sessions in forms that the product reads: requests of OpenAI chat, and folders of probes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use epitome::Session;
use epitome::formats::{LoadedSession, Wire, render};
use epitome::session::Message;
use serde_json::{Value, json};

use crate::sets::{Question, SetFile, read_set};

/// Writes each session of a set's file into `folder`, as a request of OpenAI chat. Returns how many.
pub fn convert(file: &Path, folder: &Path) -> Result<usize> {
    let set = open(file)?;
    make(folder)?;
    for (number, loaded) in set.sessions.iter().enumerate() {
        write(&folder.join(format!("{}.json", file_name(number, loaded))), &chat(&loaded.session))?;
    }
    Ok(set.sessions.len())
}

/// Writes each session of a set's file that has questions into `folder`, as a folder of probes: a probe for each turn that
/// holds the answer to a question, whose fact is the turn, and one for an answer that the session holds word for word.
/// Returns how many.
pub fn evidence(file: &Path, folder: &Path) -> Result<usize> {
    let set = open(file)?;
    let mut written = 0;
    for (number, (loaded, questions)) in set.sessions.iter().zip(&set.questions).enumerate() {
        let chat = without_questions(&loaded.session, set.set);
        let probes = probes(&chat, questions);
        if probes.is_empty() {
            continue;
        }
        let folder = folder.join(file_name(number, loaded));
        make(&folder)?;
        write(&folder.join("prefix.json"), &self::chat(&chat))?;
        write(&folder.join("probes.json"), &Value::Array(probes))?;
        written += 1;
    }
    Ok(written)
}

fn open(file: &Path) -> Result<SetFile> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    match read_set(&bytes) {
        Some(set) => Ok(set),
        None => bail!("{} is of no set that is known", file.display()),
    }
}

/// A name for a session's file: its number in its file, and what of its name can be in one.
fn file_name(number: usize, loaded: &LoadedSession) -> String {
    let plain = |char: char| if char.is_alphanumeric() || char == '-' { char } else { '_' };
    format!("{number:03}-{}", loaded.name.chars().map(plain).collect::<String>())
}

fn chat(session: &Session) -> Value {
    let rendered = render(session.view(), Wire::OpenaiChat, session.tools.as_deref(), None);
    serde_json::from_str(&rendered.json).unwrap_or_default()
}

/// The session without the question that LongMemEval puts behind its chats: turns of these have ids with their chat.
fn without_questions(session: &Session, set: &str) -> Session {
    let mut plain = Session::new();
    plain.id.clone_from(&session.id);
    for message in session.log().iter().filter(|it| set != "longmemeval" || it.id.as_str().contains(':')) {
        plain.push(Message::clone(message));
    }
    plain
}

fn probes(chat: &Session, questions: &[Question]) -> Vec<Value> {
    let text = |id: &str| chat.log().iter().find(|it| it.id.as_str() == id).map(|it| it.plain_text());
    let whole: Vec<String> = chat.log().iter().map(|message| message.plain_text()).collect();
    let whole = whole.join("\n");
    let mut probes = Vec::new();
    for (number, question) in questions.iter().enumerate() {
        let mut add = |id: String, kind: &str, fact: &str| {
            let answer = if question.answer.is_empty() { fact } else { &question.answer };
            probes.push(json!({
                "id": id, "kind": kind, "question": question.text, "answer": answer, "facts": [[fact]],
            }));
        };
        for turn in &question.turns {
            if let Some(fact) = text(turn).filter(|fact| !fact.trim().is_empty()) {
                add(format!("{number}:{turn}"), "content", &fact);
            }
        }
        // An answer that the chat does not hold word for word cannot survive.
        if !question.answer.trim().is_empty() && whole.contains(&question.answer) {
            add(format!("{number}:answer"), "exact", &question.answer);
        }
    }
    probes
}

fn make(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

fn write(path: &PathBuf, value: &Value) -> Result<()> {
    fs::write(path, value.to_string()).with_context(|| format!("cannot write {}", path.display()))
}
