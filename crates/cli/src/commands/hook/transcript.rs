//! The session's own file, beside the messages that the agent shows: it has all that was typed, also what an earlier
//! compaction by the model took, and which records are of one answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use epitome::Session;
use epitome::formats::{Format, ReadOptions, read};
use epitome::session::{Content, Message};
use epitome::strategy::speech::typed_texts;
use serde::Deserialize;

use super::entries::ConversationEntry;
use crate::session::input::bytes;
use crate::terminal;

/// The command by which a person asks for a compaction. Its words are about the compaction, not about the work.
const COMMAND: &str = "<command-name>/compact</command-name>";

/// What the session's file tells; nothing where there is none, or where it cannot be read.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    bytes: Vec<u8>,
    session: Session,
}

/// The parts of a record of the model's that are read here.
#[derive(Debug, Deserialize)]
struct AnswerRecord<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    uuid: &'a str,
    message: AnswerId<'a>,
}

#[derive(Debug, Deserialize)]
struct AnswerId<'a> {
    id: &'a str,
}

impl Transcript {
    /// Reads a session's file.
    pub(super) fn read(path: Option<&Path>) -> Self {
        let Some(path) = path.filter(|path| path.is_file()) else { return Self::default() };
        let options = || ReadOptions { format: Some(Format::ClaudeCode), ..ReadOptions::default() };
        let loaded = bytes(path).map_err(|failure| failure.words().0).and_then(|bytes| {
            let loaded = read(bytes.clone(), options()).map_err(|error| error.to_string())?;
            Ok((bytes, loaded.sessions.into_iter().next().map(|first| first.session).unwrap_or_default()))
        });
        match loaded {
            Ok((bytes, session)) => Self { bytes, session },
            Err(why) => {
                terminal::note(&format!("what was typed is not looked up in {}: {why}", path.display()));
                Self::default()
            }
        }
    }

    /// The uuids of the records that are of one answer with the record of this uuid. Linear in the file's end down to it,
    /// where the answer is the newest.
    pub(super) fn records_of_answer(&self, uuid: &str) -> BTreeSet<String> {
        let mut records = BTreeSet::new();
        let mut answer: Option<String> = None;
        for line in self.bytes.rsplit(|byte| *byte == b'\n') {
            let Ok(record) = serde_json::from_slice::<AnswerRecord<'_>>(line) else { continue };
            if record.kind != "assistant" {
                continue;
            }
            match &answer {
                None if record.uuid == uuid => {
                    answer = Some(record.message.id.to_owned());
                    records.insert(record.uuid.to_owned());
                }
                None => {}
                Some(id) if id == record.message.id => {
                    records.insert(record.uuid.to_owned());
                }
                Some(_) => break,
            }
        }
        records
    }

    /// The conversation with what was typed and is not in it any more, each text where it was typed. Linear in both.
    pub(super) fn with_typed(&self, came: Vec<ConversationEntry>) -> Vec<ConversationEntry> {
        let said = came.iter().enumerate().filter(|(_, entry)| entry.is_said());
        let said: Vec<(usize, &str)> = said.map(|(at, entry)| (at, entry.text.as_str())).collect();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, entry) in came.iter().enumerate() {
            places.extend(entry.tool_results.iter().map(|result| (&*result.tool_use_id, at + 1)));
        }
        let lines: BTreeSet<&str> = said.iter().flat_map(|(_, text)| text.lines().map(str::trim)).collect();
        let is_said = |line: &str| lines.contains(line) || said.iter().any(|(_, text)| text.contains(line));
        let mut missing: Vec<(usize, String)> = Vec::new();
        let mut known: BTreeSet<String> = BTreeSet::new();
        let mut place = 0;
        for message in self.session.log() {
            for block in &message.blocks {
                let Content::ToolResult(result) = &block.content else { continue };
                place = place.max(places.get(&*result.call_id.to_string()).copied().unwrap_or_default());
            }
            let Some(text) = typed_of(message) else { continue };
            match said.iter().find(|(_, own)| own.contains(&*text)) {
                Some((at, _)) => place = place.max(at + 1),
                None if text.lines().map(str::trim).filter(|line| !line.is_empty()).all(is_said) => {}
                None if known.insert(text.clone()) => missing.push((place, text)),
                None => {}
            }
        }
        let mut all = Vec::with_capacity(came.len() + missing.len());
        let mut missing = missing.into_iter().peekable();
        for (at, entry) in came.into_iter().enumerate() {
            while let Some((_, text)) = missing.next_if(|(place, _)| *place <= at) {
                all.push(ConversationEntry::of_user(text, None));
            }
            all.push(entry);
        }
        all.extend(missing.map(|(_, text)| ConversationEntry::of_user(text, None)));
        all
    }
}

/// All that a person typed in a message; `None` where it is nothing, or what a compaction was asked for with.
fn typed_of(message: &Message) -> Option<String> {
    let texts: Vec<&str> = typed_texts(message)
        .filter(|(_, text, _)| !text.contains(COMMAND))
        .flat_map(|(_, text, ranges)| ranges.into_iter().map(move |range| &text[range]))
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
