//! A session under construction: names results after their calls, commits the compactions that a recording holds, and goes
//! back where a person did.

use std::collections::HashMap;
use std::sync::Arc;

use epitome_session::{
    Arguments, Block, Change, Content, EditKind, Entry, EntryKey, Epoch, Excerpt, KeptRanges, Message, MessageId,
    Origin, Position, Role, Session, SyntheticMessage, ToolCall, ToolResult, Trigger,
};
use serde_json::Value;

use crate::branches::{Branches, Place};
use crate::error::{ReadError, Warning};
use crate::format::Format;
use crate::loaded::LoadedSession;
use crate::recording::content::Payload;

/// A session under construction.
#[derive(Debug, Default)]
pub(crate) struct SessionBuilder {
    pub session: Session,
    branches: Branches,
    /// Where each message was said.
    places: HashMap<MessageId, Place>,
}

/// A tool's answer as a recording gives it.
#[derive(Debug, Default)]
pub(crate) struct Answer<'a> {
    /// The id of the call; empty where the recording has none.
    pub call_id: &'a str,
    /// The tool's name, where the recording repeats it.
    pub name: Option<&'a str>,
    pub payload: Payload,
    pub is_error: bool,
}

impl SessionBuilder {
    pub(crate) fn new(id: &str) -> Self {
        let mut log = Self::default();
        log.session.id = (!id.is_empty()).then(|| Arc::from(id));
        log
    }

    /// Appends a message; one without any block is left out. A result has the name of the tool whose call it answers, where
    /// the recording has none.
    pub(crate) fn push(&mut self, mut message: Message) -> Option<EntryKey> {
        if message.blocks.is_empty() {
            return None;
        }
        for block in &mut message.blocks {
            if let Content::ToolResult(result) = &mut block.content
                && result.name.is_none()
            {
                result.name = self.session.call_of(result).map(|call| Arc::clone(&call.name));
            }
        }
        let place = self.advance();
        let key = self.session.push(message);
        self.places.extend(self.session.log().last().map(|message| (message.id.clone(), place)));
        Some(key)
    }

    /// The newest place on the live branch.
    pub(crate) fn tip(&self) -> Option<Place> {
        self.branches.tip()
    }

    /// Continues to a new place behind the newest one. What is committed from here on was made there.
    pub(crate) fn advance(&mut self) -> Place {
        self.branches.note_epochs(&self.session);
        let place = self.branches.add(self.branches.tip());
        self.branches.advance(place);
        place
    }

    /// A message that stays through a compaction follows it: a way back to the message leaves the compaction in force.
    pub(crate) fn bring_forward(&mut self, id: MessageId) {
        let place = self.advance();
        self.places.insert(id, place);
    }

    /// Takes back what does not lie on the way to `place`; without one, everything. See [`Branches::move_to`].
    pub(crate) fn move_to(&mut self, place: Option<Place>) {
        let place = place.unwrap_or_else(|| self.branches.add(None));
        self.branches.move_to(place, &mut self.session, |message| self.places.get(&message.id).copied());
    }

    /// Appends a message of one text, unless that is empty.
    pub(crate) fn push_text(&mut self, id: &str, role: Role, origin: Origin, text: &str, timestamp: Option<i64>) {
        if !text.is_empty() {
            let mut message = Message::text(id, role, origin, text);
            message.timestamp = timestamp;
            self.push(message);
        }
    }

    /// The block of a call; its id is empty where the recording has none.
    pub(crate) fn call(&self, id: &str, name: &str, arguments: Arguments) -> Block {
        Block::new(Content::ToolCall(ToolCall { id: Arc::from(id), name: Arc::from(name), arguments }))
    }

    /// The message of a tool's answer.
    pub(crate) fn answer(&self, message_id: &str, answer: Answer<'_>, timestamp: Option<i64>) -> Message {
        let result = ToolResult {
            call_id: Arc::from(answer.call_id),
            name: answer.name.filter(|name| !name.is_empty()).map(Arc::from),
            text: Arc::from(answer.payload.text),
            attachments: answer.payload.attachments,
            is_error: answer.is_error,
        };
        let mut message = Message::result(message_id, result);
        message.timestamp = timestamp;
        message
    }

    /// Commits a compaction: the entries that `leaves` picks leave the view, a summary takes the place of the first.
    pub(crate) fn compact(
        &mut self,
        trigger: Trigger,
        leaves: impl Fn(&Entry) -> bool,
        summary: Option<Message>,
        tokens_before: Option<u32>,
    ) {
        self.compact_again(trigger, leaves, summary.into_iter().collect(), Vec::new(), tokens_before);
    }

    /// The same with the messages `front` in place of the first that leaves, and with those of earlier compactions, which stay
    /// behind as many messages of the log as stood in front of each.
    pub(crate) fn compact_again(
        &mut self,
        trigger: Trigger,
        leaves: impl Fn(&Entry) -> bool,
        front: Vec<Message>,
        earlier: Vec<(u32, Message)>,
        tokens_before: Option<u32>,
    ) {
        let epoch_number = self.session.next_epoch();
        let leaving: Vec<&Entry> = self.session.view().iter().filter(|entry| leaves(entry)).collect();
        if leaving.is_empty() && front.is_empty() {
            return;
        }
        let first = leaving.first().map(|entry| entry.position);
        let end = self.session.log().len() as u32;
        let removed: Vec<EntryKey> = leaving.iter().map(|entry| entry.key).collect();
        let front = front.into_iter().map(|message| (None, message));
        let earlier = earlier.into_iter().map(|(length, message)| (Some(length), message));
        let synthetics = front.chain(earlier).zip(0..).map(|((length, message), sequence)| {
            let position = match (length, first) {
                (None, Some(first)) => Position::before(first, epoch_number, sequence),
                (length, _) => Position::at_end(length.unwrap_or(end), epoch_number, sequence),
            };
            SyntheticMessage { position, message: Arc::new(message) }
        });
        let synthetics = synthetics.collect();
        let mut epoch = Epoch::recorded(trigger, removed, synthetics);
        epoch.tokens_before = tokens_before;
        self.session.commit(epoch);
    }

    /// Commits the clearing of tool results: each shows `mark` from here on.
    pub(crate) fn clear_results(&mut self, results: &[EntryKey], mark: &str) {
        let marked: Vec<(EntryKey, String)> = results.iter().map(|result| (*result, mark.to_owned())).collect();
        self.clear_results_with(&marked);
    }

    /// The same, where each result shows a text of its own.
    pub(crate) fn clear_results_with(&mut self, results: &[(EntryKey, String)]) {
        let cleared = |(entry, mark): &(EntryKey, String)| {
            let (entry, mark) = (*entry, mark.as_str());
            let EntryKey::Log(index) = entry else { return None };
            let text = self.session.log().get(index as usize)?.blocks.first()?.excerptable()?;
            let kept = KeptRanges::new(text, &[]).ok()?;
            let marks = kept.gaps(text.len()).iter().map(|_| Arc::from(mark)).collect();
            (!text.is_empty()).then_some(Change::Excerpt {
                entry,
                block: 0,
                excerpt: Excerpt { kept, marks, attachments: None },
            })
        };
        let changes: Vec<Change> = results.iter().filter_map(cleared).collect();
        if !changes.is_empty() {
            let epoch = Epoch::recorded_edits(Trigger::Recorded, EditKind::Excerpt, changes, Vec::new());
            self.session.commit(epoch);
        }
    }

    /// The session, unless nothing in it could be read.
    pub(crate) fn finish(self, name: impl Into<String>) -> Option<LoadedSession> {
        let readable = !self.session.log().is_empty();
        readable.then(|| LoadedSession { name: name.into(), session: self.session, records: Vec::new(), model: None })
    }

    /// The one session of a file. `problem` is the error's where nothing in it could be read.
    pub(crate) fn finish_alone(
        self,
        format: Format,
        name: impl Into<String>,
        problem: &str,
    ) -> Result<Vec<LoadedSession>, ReadError> {
        self.finish(name).map(|session| vec![session]).ok_or_else(|| ReadError::malformed(format, problem))
    }
}

/// A summary message, as in a view.
pub(crate) fn summary_message(id: &str, text: &str, timestamp: Option<i64>) -> Message {
    let mut message = Message::text(id, Role::User, Origin::Summary, text);
    message.timestamp = timestamp;
    message
}

/// The sessions of a file that holds many. Entries without a readable message are passed over; it is an error when
/// nothing is left.
pub(crate) fn gather(
    format: Format,
    sessions: impl IntoIterator<Item = (String, Option<LoadedSession>)>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<LoadedSession>, ReadError> {
    let mut gathered = Vec::new();
    for (name, session) in sessions {
        match session {
            Some(session) => gathered.push(session),
            None => {
                warnings.push(Warning { line: None, message: format!("session `{name}` holds no readable message") });
            }
        }
    }
    if gathered.is_empty() {
        return Err(ReadError::malformed(format, "no session in it holds a readable message"));
    }
    Ok(gathered)
}

/// A count of tokens in a recording.
pub(crate) fn tokens(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|count| u32::try_from(count).ok())
}
