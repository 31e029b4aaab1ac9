//! What became of a session that was compacted, or only looked at.

use epitome::engine::{MemoryArchive, ReasoningFilter, block_on};
use epitome::formats::{
    Format, LoadedFile, Source, Wire, WriteError, carries_reasoning, render, write, write_messages,
};
use epitome::strategy::{Archive, ArchivedContent, Message};
use epitome::{Report, Session, Status};

use crate::input::format_of;
use crate::{CompactOptions, Failure, Parts};

/// One session after a compaction, with what it was read from.
#[derive(Debug)]
pub struct Compacted {
    loaded: LoadedFile,
    index: usize,
    session: Session,
    archive: MemoryArchive,
    /// All that there is to say of the compaction.
    pub report: Report,
    /// Tokens of each message of the view before.
    pub sizes: Vec<u32>,
    /// The format that is written.
    pub to: Format,
}

impl Compacted {
    /// Reads a session and compacts it; with `only_preview` it stays as it was.
    ///
    /// # Errors
    ///
    /// What is given cannot be read, or `to` not be written, or an option is wrong. A session that cannot fit is not an
    /// error: [`Failure::of_report`] makes one of its report.
    pub fn new(parts: &Parts, data: Vec<u8>, options: &CompactOptions, only_preview: bool) -> Result<Self, Failure> {
        let of_call = options.settings.as_ref().map(|settings| parts.for_call(settings)).transpose()?;
        let parts = of_call.as_ref().unwrap_or(parts);
        let (loaded, index) = options.load(data)?;
        let own = if loaded.format.is_writable() { loaded.format } else { Format::OpenaiChat };
        let to = options.to.as_deref().map_or(Ok(own), format_of)?;
        if !to.is_writable() {
            return Err(WriteError::NotWritable(to).into());
        }
        let mut session = loaded.sessions[index].session.clone();
        let mut engine = parts.engine();
        let from = loaded.format;
        // The budget is for what is sent: reasoning that the output has no place for costs nothing.
        engine.sent = ReasoningFilter::matching(move |block| carries_reasoning(Some(from), to, block));
        let mut ledger = engine.ledger(&session);
        let tokens_of = |entry: &epitome::session::Entry| ledger.entry(entry.key).map_or(0, |tokens| tokens.total);
        let sizes = session.view().iter().map(tokens_of).collect();
        let tools = session.tools.as_deref().map_or(0, |tools| ledger.counter().count(tools));
        let request = parts.request(options, ledger.total(), tools)?;
        let mut archive = MemoryArchive::new();
        let draft = block_on(engine.draft(&session, &ledger, &mut archive, &request))?;
        let report = draft.report.clone();
        if !only_preview {
            engine.commit(&mut session, &mut ledger, draft)?;
        }
        Ok(Self { loaded, index, session, archive, report, sizes, to })
    }

    /// The session in the format to write, and what that has no place for: the bytes that `epitome compact` writes.
    ///
    /// # Errors
    ///
    /// The format cannot hold the session.
    pub fn write(&self) -> Result<(Vec<u8>, Vec<String>), Failure> {
        let is_own = self.to == self.loaded.format;
        if is_own && self.loaded.sessions.len() == 1 && self.report.status == Status::NoChange {
            return Ok((self.loaded.bytes.to_vec(), Vec::new()));
        }
        write_session(&self.loaded, self.index, &self.session, self.to)
    }

    /// What was passed over in reading.
    pub fn warnings(&self) -> Vec<String> {
        self.loaded.warnings.iter().map(|warning| warning.message.clone()).collect()
    }

    /// What left under a handle; `None` where there is no such handle.
    ///
    /// # Errors
    ///
    /// The archive cannot be read.
    pub fn retrieve(&self, handle: &str) -> Result<Option<ArchivedContent>, Failure> {
        let found = self.archive.get(handle.trim()).map_err(Failure::other)?;
        Ok(found.or_else(|| epitome::recall::find_by_handle(&self.session, handle)))
    }
}

/// A session of `loaded` as a file of the format `to`, and what that has no place for. As the command writes it.
pub fn write_session(
    loaded: &LoadedFile,
    index: usize,
    session: &Session,
    to: Format,
) -> Result<(Vec<u8>, Vec<String>), Failure> {
    match to.wire().filter(|_| to != loaded.format) {
        Some(profile) => {
            let source = Source::new(loaded, index);
            let rendered = render(session.view(), profile, session.tools.as_deref(), source.as_ref());
            Ok((rendered.json.into_bytes(), rendered.warnings))
        }
        None => Ok((write(loaded, index, session, to)?, Vec::new())),
    }
}

/// What left the context as JSON: a text, or a list of messages in a provider's form.
pub fn content_json(content: &ArchivedContent, format: Format) -> Result<String, Failure> {
    let messages = match content {
        ArchivedContent::Text(text) => return serde_json::to_string(text).map_err(Failure::other),
        ArchivedContent::Messages(messages) => messages,
    };
    let messages: Vec<Message> =
        messages.iter().map(|message| Message { records: Vec::new(), ..Message::clone(message) }).collect();
    let profile = format.wire().unwrap_or(Wire::OpenaiChat);
    // A system prompt stands beside the messages of some forms: OpenAI's has a place for it.
    let written = write_messages(profile, &messages).or_else(|_| write_messages(Wire::OpenaiChat, &messages));
    let written = written.map_err(|error| Failure::Format(error.to_string()))?;
    Ok(format!("[{}]", written.join(",")))
}
