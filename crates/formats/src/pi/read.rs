//! Pi's JSON lines: a tree of entries by id and parent; files of the first version are a list without ids. What Pi sends is the
//! way from the newest entry, of whatever kind, to the first (`core/session-manager.js` of its 1.5.2).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use epitome_session::{
    Entry, EntryKey, Epoch, Message, MessageId, Origin, Position, Role, Session, SyntheticMessage, Trigger,
};

use super::blocks;
use super::tree::Tree;
use crate::agent_file::mark::{FIELD, Mark, foreign_mark_warning, replace_view, summary_position};
use crate::agent_file::records::{heads, loaded_session, records, span};
use crate::json::value::items;
use crate::json::{self, Object};
use crate::reader::{Format, Line, LoadedSession, Probe, ReadError, Warning};
use crate::time;

pub(crate) fn fits(probe: &Probe<'_>) -> bool {
    const ROLES: [&str; 5] = ["user", "assistant", "toolResult", "bashExecution", "custom"];
    let heads = heads(probe);
    // Another agent's lines have the same frame around Anthropic's messages.
    let is_of_anthropic =
        |block: &serde_json::Value| matches!(block["type"].as_str(), Some("tool_use" | "tool_result"));
    if heads.iter().any(|head| items(&head["message"]["content"]).iter().any(is_of_anthropic)) {
        return false;
    }
    heads.iter().any(|head| head["type"] == "session" && (head["cwd"].is_string() || head["version"].is_number()))
        || heads.iter().any(|head| {
            let in_context = head["message"]["role"].as_str().is_some_and(|role| ROLES.contains(&role));
            head["type"] == "message" && in_context && head.get("uuid").is_none()
        })
}

pub(crate) fn read(probe: &Probe<'_>, warnings: &mut Vec<Warning>) -> Result<Vec<LoadedSession>, ReadError> {
    let lines = records(probe, Format::Pi, warnings)?;
    let mut reader = PiReader::default();
    for (line, entry) in &lines {
        reader.entry(line, entry, warnings);
    }
    reader.settle_copies();
    Ok(vec![loaded_session(Format::Pi, reader.session, reader.records, "no line is a message or the session's head")?])
}

/// Orders a message that stands for an entry behind the summary of any compaction that keeps it.
const KEPT: u32 = u32::MAX;

/// The part of a session file that was read. It borrows nothing of the file: a [`Follower`](crate::Follower) of a file
/// that grows reads on with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PiReader {
    session: Session,
    tree: Tree,
    records: Vec<Range<usize>>,
    /// The number of the entry that each message of the log was read from.
    entries: Vec<usize>,
    /// The number of the entry that each message beside the log stands for, but for summaries of compactions.
    sources: HashMap<EntryKey, usize>,
    /// The declarations of the tools, with their names, as the newest of any branch are.
    tools: Vec<(String, String)>,
    /// Copies behind a compaction of our own: passed over, or collected where its mark does not fit.
    copies: Option<Option<Vec<Message>>>,
}

impl PiReader {
    /// The session as far as it was read. Costs a copy of its lists.
    pub(crate) fn session(&self) -> Session {
        let mut settled = self.clone();
        settled.settle_copies();
        settled.session
    }

    pub(crate) fn entry(&mut self, line: &Line<'_>, entry: &Object<'_>, warnings: &mut Vec<Warning>) {
        let kind = entry.text("type").unwrap_or_default();
        if kind == "session" {
            self.tree.pass_over();
            self.session.id = entry.text("id").map(|id| Arc::from(&*id));
            return;
        }
        let copied = entry.object(FIELD).filter(|_| self.copies.is_some() && is_in_context(&kind));
        if copied.is_none() {
            self.settle_copies();
        }
        let entries = &self.entries;
        let number_of = |message: &Message| entries.get(*message.records.last()? as usize).copied();
        self.tree.enter(entry, &mut self.session, number_of);
        match &*kind {
            kind if is_in_context(kind) => self.message(line, kind, entry, copied),
            "compaction" => self.compacted(line, entry, warnings),
            "branch_summary" => self.summarize_branch(entry),
            "context_edit" => self.edit(line, entry, warnings),
            _ => {}
        }
    }

    fn message(&mut self, line: &Line<'_>, kind: &str, entry: &Object<'_>, copied: Option<Object<'_>>) {
        let message = if kind == "message" {
            entry.object("message").and_then(|message| self.read(&message))
        } else {
            blocks::message(entry).map(|message| Message { origin: Origin::Injected, ..message })
        };
        let Some(mut message) = message else { return };
        if let Some(mark) = copied {
            self.tree.copy(mark.text("copyOf").as_deref());
            if let Some(Some(copies)) = &mut self.copies {
                copies.push(message);
            }
            return;
        }
        message.id = MessageId::new(&*entry.text("id").unwrap_or_default());
        message.timestamp = entry.text("timestamp").and_then(|text| time::parse(&text));
        message.records = vec![self.records.len() as u32];
        self.records.push(span(line));
        self.entries.push(self.tree.newest());
        self.session.push(message);
    }

    fn read(&mut self, message: &Object<'_>) -> Option<Message> {
        if message.text("role").as_deref() != Some("system") {
            return blocks::message(message);
        }
        self.declare_tools(message);
        let is_first = self.session.view().is_empty();
        blocks::instructions(message, is_first)
    }

    /// The tools that a system message adds and removes.
    fn declare_tools(&mut self, message: &Object<'_>) {
        let named = |json: &str| Some((Object::parse(json)?.text("name")?.into_owned(), json.to_owned()));
        let list = |field: &str| message.list(field).unwrap_or_default().into_iter().filter_map(named);
        let (removed, added): (Vec<_>, Vec<_>) = (list("toolsRemoved").collect(), list("toolsAdded").collect());
        if removed.is_empty() && added.is_empty() {
            return;
        }
        let changes = |name: &String| removed.iter().chain(&added).any(|(changed, _)| changed == name);
        self.tools.retain(|(name, _)| !changes(name));
        self.tools.extend(added);
        let declared: Vec<String> = self.tools.iter().map(|(_, json)| json.clone()).collect();
        self.session.tools = Some(Arc::from(json::join(&declared)));
    }

    /// The number of the entry that an entry of the view was read from.
    fn number_of(&self, key: EntryKey) -> Option<usize> {
        match key {
            EntryKey::Log(index) => self.entries.get(index as usize).copied(),
            EntryKey::Synthetic { .. } => self.sources.get(&key).copied(),
        }
    }

    fn compacted(&mut self, line: &Line<'_>, entry: &Object<'_>, warnings: &mut Vec<Warning>) {
        if entry.has(FIELD) {
            let applied = Mark::from_record(entry).is_some_and(|mark| mark.apply(&mut self.session));
            self.tree.expect_copies();
            if applied {
                self.copies = Some(None);
                return;
            }
            warnings.push(foreign_mark_warning(line.number));
            let summary = entry.text("summary").unwrap_or_default();
            self.copies = Some(Some(vec![Message::text("", Role::User, Origin::Summary, &*summary)]));
            return;
        }
        let first_kept = match entry.text("firstKeptEntryId") {
            Some(id) => self.tree.number(&id),
            None => entry.number("firstKeptEntryIndex"),
        };
        // Pi states its whole prompt anew with the summary.
        let kept = |shown: &Entry| {
            let number = self.number_of(shown.key).filter(|_| shown.message.role != Role::System);
            number.is_some_and(|number| first_kept.is_some_and(|first| number >= first))
        };
        let epoch = self.session.next_epoch();
        let first = summary_position(&self.session, kept, 0);
        let removed: Vec<EntryKey> =
            self.session.view().iter().filter(|shown| !kept(shown)).map(|shown| shown.key).collect();
        let summary = entry.text("summary").unwrap_or_default();
        let id = entry.text("id").unwrap_or_default();
        let prompt = entry.object("systemMessage").and_then(|message| blocks::instructions(&message, true));
        let messages = prompt.into_iter().chain([Message::text(&*id, Role::User, Origin::Summary, &*summary)]);
        let synthetics = messages.zip(0..).map(|(message, sequence)| SyntheticMessage {
            position: Position::before(first, epoch, sequence),
            message: Arc::new(message),
        });
        let tokens_before = entry.number("tokensBefore");
        let epoch = Epoch::recorded(Trigger::Recorded, removed, synthetics.collect());
        self.session.commit(Epoch { tokens_before, ..epoch });
    }

    /// A summary of the branch that was left.
    fn summarize_branch(&mut self, entry: &Object<'_>) {
        let Some(summary) = entry.text("summary").filter(|summary| !summary.is_empty()) else { return };
        let position = Position::at_end(self.session.log().len() as u32, KEPT, self.session.next_epoch());
        let message = Arc::new(Message::text("", Role::User, Origin::Summary, &*summary));
        self.replace(None, Some(SyntheticMessage { position, message }), Trigger::Recorded, self.tree.newest());
    }

    /// From here on the model sees an earlier entry with other content, or not at all.
    fn edit(&mut self, line: &Line<'_>, entry: &Object<'_>, warnings: &mut Vec<Warning>) {
        let Some(target) = entry.text("targetId").and_then(|id| self.tree.number(&id)) else {
            let message = "the edit of an entry that is not in the file was passed over".to_owned();
            warnings.push(Warning { line: Some(line.number), message });
            return;
        };
        let Some(shown) = self.session.view().iter().find(|shown| self.number_of(shown.key) == Some(target)) else {
            return; // a compaction took it
        };
        let key = shown.key;
        let position = Position::in_place_of(shown.position, KEPT, self.session.next_epoch());
        let replacement = entry.object("replacement").map(|replacement| {
            let content = replacement.get("content").unwrap_or_default();
            SyntheticMessage { position, message: Arc::new(blocks::with_content(&shown.message, content)) }
        });
        self.replace(Some(key), replacement, Trigger::Clearing, target);
    }

    /// A message in place of another, either of which may be missing; it stands for the entry of number `source`.
    fn replace(
        &mut self,
        removed: Option<EntryKey>,
        message: Option<SyntheticMessage>,
        trigger: Trigger,
        source: usize,
    ) {
        let added = message.is_some();
        let epoch = self.session.commit(Epoch::recorded(trigger, removed, message.into_iter().collect()));
        if added {
            self.sources.insert(EntryKey::Synthetic { epoch, index: 0 }, source);
        }
    }

    fn settle_copies(&mut self) {
        if let Some(Some(messages)) = self.copies.take() {
            replace_view(&mut self.session, Trigger::Recorded, messages);
        }
    }
}

/// Whether entries of a kind hold what the model sees. Others are settings, names, marks, usage and the state of extensions.
fn is_in_context(kind: &str) -> bool {
    matches!(kind, "message" | "custom_message")
}
