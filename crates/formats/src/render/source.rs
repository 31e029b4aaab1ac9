//! The file that a session was read from, for untouched messages to come out as the bytes that they were.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use epitome_session::{Entry, EntryKey, Message, Role, Session};

use epitome_wire::openai_chat;

use super::Wire;
use crate::codex::read::item_of;
use crate::json::Object;
use crate::{Format, LoadedFile};

/// Where a session was read from.
#[derive(Debug)]
pub struct Source<'a> {
    pub(crate) format: Format,
    loaded: &'a LoadedFile,
    records: &'a [Range<usize>],
    /// The log that was read.
    pub(crate) log: &'a [Arc<Message>],
    /// The number of messages of the log that each record holds.
    members: HashMap<u32, u32>,
    /// Whether user and model take turns in it: then the server may ask for that, and the output does too.
    alternates: bool,
    /// The model that it asks for.
    model: Option<&'a str>,
    /// Whether the session is rendered for the agent's own file, whose items are to stay as they are.
    pub(crate) for_own_file: bool,
}

impl<'a> Source<'a> {
    /// The source of a file's session number `index`; `None` where there is no such session. Linear in its log.
    pub fn new(loaded: &'a LoadedFile, index: usize) -> Option<Self> {
        let session = loaded.sessions.get(index)?;
        let mut members: HashMap<u32, u32> = HashMap::new();
        for record in session.session.log().iter().flat_map(|message| &message.records) {
            *members.entry(*record).or_default() += 1;
        }
        Some(Self {
            format: loaded.format,
            loaded,
            records: &session.records,
            log: session.session.log(),
            members,
            alternates: alternates(session.session.log()),
            model: session.model.as_deref(),
            for_own_file: false,
        })
    }

    /// The same source for `session`, which continues it: whether neighbours are written as one message goes by what had come
    /// when its newest compaction was made, so that what came later changes nothing in front of it.
    pub(crate) fn for_compacted(self, session: &Session) -> Self {
        let newest = session.journal().iter().rfind(|epoch| !epoch.undone);
        let came = newest.map_or(session.log().len(), |epoch| epoch.log_length as usize);
        Self { alternates: session.log().get(..came).is_some_and(alternates), ..self }
    }

    /// The same source for records that go back into the agent's file.
    pub(crate) fn for_own_file(&self) -> Self {
        Self { members: self.members.clone(), for_own_file: true, ..*self }
    }

    /// Whether neighbours of one role are to be written as one message of `wire`. In OpenAI's form, where a model is named that
    /// may have a template which refuses them: a list alone is its host's to make a request of.
    pub(crate) fn merges_neighbours(&self, wire: Wire) -> bool {
        let may_refuse = wire != Wire::OpenaiChat || self.model.is_some_and(openai_chat::may_want_turns);
        self.alternates && self.is_own(wire) && may_refuse
    }

    /// Whether the source's messages are as `profile` takes them.
    pub(crate) fn is_own(&self, profile: Wire) -> bool {
        let codex = self.for_own_file && self.format == Format::Codex && profile == Wire::OpenaiResponses;
        codex || self.format == Format::from(profile)
    }

    /// The message or item that a record is, or holds.
    pub(crate) fn item(&self, number: u32) -> Option<&'a str> {
        let record = self.record(number)?;
        if self.format == Format::Codex { item_of(record) } else { Some(record) }
    }

    /// A record's text.
    pub(crate) fn record(&self, number: u32) -> Option<&'a str> {
        self.loaded.text(self.span(number)?)
    }

    /// The place of a record in the file.
    pub(crate) fn span(&self, number: u32) -> Option<Range<usize>> {
        self.records.get(number as usize).cloned()
    }

    /// The number of messages of the log that a record holds.
    pub(crate) fn members(&self, number: u32) -> u32 {
        self.members.get(&number).copied().unwrap_or(0)
    }

    /// The records of an entry that is as it was read.
    pub(crate) fn unchanged_records<'e>(&self, entry: &'e Entry) -> Option<&'e [u32]> {
        let recorded = matches!(entry.key, EntryKey::Log(_)) && !entry.is_edited();
        (recorded && !entry.message.records.is_empty()).then_some(&entry.message.records[..])
    }

    /// The object that an entry was read from, edited or not, where it has a record of its own.
    pub(crate) fn object(&self, entry: &Entry) -> Option<Object<'a>> {
        let [record] = entry.original.records[..] else { return None };
        matches!(entry.key, EntryKey::Log(_)).then(|| self.record(record)).flatten().and_then(Object::parse)
    }
}

/// Whether user and model take turns in a log: no two messages of a person's side in a row, and none of the model's but those
/// with calls, whose results follow. An instruction among the messages is no such form.
fn alternates(log: &[Arc<Message>]) -> bool {
    let conversation = log.iter().skip_while(|message| message.role == Role::System).filter(|it| it.role != Role::Tool);
    let messages: Vec<&Arc<Message>> = conversation.collect();
    let takes_turns = |pair: &[&Arc<Message>]| match (pair[0].role, pair[1].role) {
        (Role::User, Role::Assistant) | (Role::Assistant, Role::User) => true,
        (Role::Assistant, Role::Assistant) => pair[0].calls().next().is_some(),
        // What stands in one message.
        (Role::User, Role::User) => pair[0].records == pair[1].records && !pair[0].records.is_empty(),
        _ => false,
    };
    messages.windows(2).all(takes_turns)
}
