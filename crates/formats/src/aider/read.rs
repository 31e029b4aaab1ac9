//! Aider's chat history in Markdown: many chats in one file, distinguished by the prefixes of their lines.

use epitome_session::{Message, Origin, Role};

use crate::reader::{Format, LoadedSession, Probe, ReadError, Shape, Warning};
use crate::recording::session_builder::{SessionBuilder, gather};
use crate::time;

const START: &str = "# aider chat started at";

/// Commands that send the rest of their line to the model; the others are for the program.
const ASKING: &[&str] = &["/ask", "/code", "/architect", "/context", "/chat-mode"];

/// The beginning of the message that Aider writes after a failed lint or test.
const AUTOMATIC: &str = "# Fix any errors below, if possible.";

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    match probe.shape {
        Shape::Text(text) => text.lines().any(|line| line.starts_with(START)),
        Shape::Document(_) | Shape::Lines(_) => false,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Speaker {
    User,
    Console,
    Model,
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let Shape::Text(text) = probe.shape else { return gather(Format::Aider, [], warnings) };
    let mut chats = Vec::new();
    let mut chat = Chat::default();
    for line in text.lines() {
        if let Some(time) = line.strip_prefix(START) {
            chats.extend(std::mem::take(&mut chat).finish());
            chat.started = time::parse(time);
        } else {
            chat.line(line);
        }
    }
    chats.extend(chat.finish());
    // A start without anything said is common and no loss: chats are numbered without them.
    let numbered =
        chats.into_iter().enumerate().map(|(number, log)| (number.to_string(), log.finish(number.to_string())));
    gather(Format::Aider, numbered, warnings)
}

#[derive(Default)]
struct Chat {
    log: SessionBuilder,
    started: Option<i64>,
    speaker: Option<Speaker>,
    lines: Vec<String>,
}

impl Chat {
    fn line(&mut self, line: &str) {
        let (speaker, said) = if let Some(said) = strip_marker(line, "####") {
            (Some(Speaker::User), said.trim_end())
        } else if let Some(said) = strip_marker(line, ">") {
            (Some(Speaker::Console), said.trim_end())
        } else if line.trim().is_empty() {
            (self.speaker, line)
        } else {
            (Some(Speaker::Model), line)
        };
        if speaker != self.speaker {
            self.flush();
            self.speaker = speaker;
        }
        self.lines.push(said.to_owned());
    }

    fn flush(&mut self) {
        let lines = std::mem::take(&mut self.lines).join("\n");
        let (Some(speaker), said) = (self.speaker, lines.trim()) else { return };
        if said.is_empty() {
            return;
        }
        let (role, origin) = match speaker {
            Speaker::Model => (Role::Assistant, Origin::Model),
            Speaker::Console => (Role::User, Origin::ToolOutput),
            Speaker::User if is_automatic(said) => (Role::User, Origin::Injected),
            Speaker::User => (Role::User, Origin::Typed),
        };
        let mut message = Message::text("", role, origin, said);
        message.name = (speaker == Speaker::Console).then(|| "aider".into());
        message.timestamp = self.started.take(); // the only time in the file is that of the chat's start
        self.log.push(message);
    }

    fn finish(mut self) -> Option<SessionBuilder> {
        self.flush();
        (!self.log.session.log().is_empty()).then_some(self.log)
    }
}

/// The rest of a line behind a prefix that is alone or before a space.
fn strip_marker<'a>(line: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(prefix)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}

fn is_automatic(said: &str) -> bool {
    let command = said.split_whitespace().next().unwrap_or("");
    said.starts_with(AUTOMATIC) || (command.starts_with('/') && !ASKING.contains(&command))
}
