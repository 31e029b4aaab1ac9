//! A session as a file of another agent, which continues it.

use std::borrow::Cow;
use std::sync::Arc;

use epitome_session::{Block, Content, Entry, EntryKey, Message, Origin, Position, Session};

use super::WriteError;
use super::target::on_users_side;
use crate::agent_file::new_file::{NewFile, NewSession};
use crate::agent_file::records::objects;
use crate::claude_code::attached::tells_of_agent;
use crate::gemini_cli::saved::is_session_context;
use crate::json::Object;
use crate::media::is_image;
use crate::render::plan::plan;
use crate::render::{Source, Wire};
use crate::{Format, LoadedFile, claude_code, codex, pi, time};

/// A session as another agent's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedSession {
    /// The session's id, a UUID that depends on its content and on where it continues.
    pub id: String,
    /// Its time, such as `2026-01-31T10:20:30.500Z`.
    pub started: String,
    /// The file.
    pub bytes: Vec<u8>,
    /// What of the conversation is not in it, in words.
    pub left_out: Vec<String>,
    /// What the former agent told its model of itself, and is not in it either: the new agent tells its own.
    pub replaced: Vec<String>,
}

/// Writes the view of `session`, which is session number `index` of `loaded` after any further epochs, as a new file of the agent
/// `to`, from which that agent continues in a folder. Linear in the file.
///
/// Reasoning is left out: a provider takes none that its own model did not sign. So are system prompts, and what an agent told its
/// model of itself, its tools and the machine; instructions that it read from files stay. Calls keep the names of the tools that were
/// called, and each has its result directly behind it.
///
/// # Errors
///
/// [`WriteError::NotWritable`] for formats that are no agent's, or are read only; [`WriteError::NoSuchSession`].
pub fn write_moved(
    loaded: &LoadedFile,
    index: usize,
    session: &Session,
    to: Format,
    place: &NewSession,
) -> Result<MovedSession, WriteError> {
    let count = loaded.sessions.len();
    let Some(source) = Source::new(loaded, index) else { return Err(WriteError::NoSuchSession { index, count }) };
    let mut leaving = Leaving { is_agent: loaded.format.wire().is_none(), ..Leaving::default() };
    let view = leaving.filtered(session, &source, to);
    let new_file = NewFile::new(session, Some(place));
    let (id, started) = (new_file.id.clone(), time::format(place.time));
    let wire = if to == Format::Codex { Wire::OpenaiResponses } else { Wire::Anthropic };
    let planned = plan(&view, wire, None);
    leaving.kinds.extend(planned.warnings);
    let paired: Vec<Entry> =
        planned.turns.into_iter().map(|turn| entry(turn.message.into_owned(), turn.tool)).collect();
    let bytes = match to {
        Format::ClaudeCode => claude_code::write::create(session, &paired, new_file),
        Format::Codex => codex::write::create(&view, None, new_file),
        Format::Pi => pi::write::create(session, &paired, new_file, pi::write::named_model(loaded)),
        other => return Err(WriteError::NotWritable(other)),
    };
    let (left_out, replaced) = leaving.words();
    Ok(MovedSession { id, started, bytes, left_out, replaced })
}

/// The project's folder that an agent's file names first; `None` where it names none. Reads the file up to that.
pub fn recorded_folder(loaded: &LoadedFile) -> Option<String> {
    let mut records = objects(&loaded.bytes).filter(|_| loaded.format.wire().is_none());
    let named = |record: Object<'_>| {
        let own = record.text("cwd").map(Cow::into_owned);
        own.or_else(|| Some(record.object("payload")?.text("cwd")?.into_owned()))
    };
    records.find_map(named)
}

fn entry(mut message: Message, tool: Option<Arc<str>>) -> Entry {
    for block in &mut message.blocks {
        if let Content::ToolResult(result) = &mut block.content {
            result.name = result.name.take().or_else(|| tool.clone());
        }
    }
    Entry::new(EntryKey::Log(0), Position::log(0), Arc::new(message))
}

/// The number of a message's blocks that are such.
fn count(message: &Message, is_such: impl Fn(&Block) -> bool) -> usize {
    message.blocks.iter().filter(|block| is_such(block)).count()
}

/// Whether Codex or Gemini CLI describes the machine in a text.
fn tells_of_machine(text: &str) -> bool {
    text.trim_start().starts_with("<environment_context>") || is_session_context(text)
}

/// What leaves a session on its way to another agent.
#[derive(Default)]
struct Leaving {
    /// Whether an agent wrote the file: its prompt and what it injected are its own words on itself.
    is_agent: bool,
    reasoning: usize,
    prompts: usize,
    told: usize,
    /// Other blocks, in words.
    kinds: Vec<String>,
}

impl Leaving {
    /// The view without what leaves it.
    fn filtered(&mut self, session: &Session, source: &Source<'_>, to: Format) -> Vec<Entry> {
        let mut left = on_users_side(session.view());
        left.retain_mut(|entry| {
            let message = &entry.message;
            if message.is_system_prompt() {
                self.prompts += usize::from(message.origin != Origin::Configuration);
                return false;
            }
            let is_injected = self.is_agent && message.origin == Origin::Injected;
            if is_injected && source.object(entry).is_some_and(|record| tells_of_agent(&record)) {
                self.told += 1;
                return false;
            }
            let is_own = |block: &Block| match &block.content {
                Content::Text { text } => is_injected && tells_of_machine(text),
                _ => false,
            };
            let is_reasoning = |block: &Block| matches!(block.content, Content::Thinking(_));
            let (own, reasoning) = (count(message, is_own), count(message, is_reasoning));
            self.told += usize::from(own > 0);
            self.reasoning += reasoning;
            let message = Arc::make_mut(&mut entry.message);
            message.blocks.retain(|block| !is_own(block) && !is_reasoning(block) && self.has_form(block, to));
            // Nothing is written as it was recorded: a request may be in forms that an agent's file has not, and mark its cache.
            message.records.clear();
            message.blocks.iter_mut().for_each(|block| block.raw = None);
            !message.blocks.is_empty()
        });
        left
    }

    /// Whether a block has a form in the agent's file.
    fn has_form(&mut self, block: &Block, to: Format) -> bool {
        let kind = match (&block.content, to) {
            (Content::Opaque(opaque), Format::Codex | Format::Pi) => &*opaque.kind,
            (content, Format::Pi) if content.media().iter().any(|media| !is_image(media)) => "document",
            _ => return true,
        };
        self.kinds.push(format!("a `{kind}` left out: {to} has no form for it"));
        // A result says in its place what came with it.
        !matches!(block.content, Content::Opaque(_))
    }

    /// What is left out of the conversation, and what the new agent has its own words for.
    fn words(mut self) -> (Vec<String>, Vec<String>) {
        let counted = |count: usize, one: &str, many: &str| match count {
            0 => None,
            1 => Some(one.to_owned()),
            _ => Some(format!("{count} {many}")),
        };
        let reasoning = counted(self.reasoning, "a text of reasoning", "texts of reasoning");
        let prompt = counted(self.prompts, "the system prompt", "system prompts");
        let machine = counted(self.told, "a message on the machine", "messages on its tools and the machine");
        let (mut left_out, mut replaced) = (Vec::new(), Vec::new());
        left_out.extend(reasoning.map(|it| format!("{it} left out: only the model that wrote it takes it back")));
        self.kinds.sort_unstable();
        self.kinds.dedup();
        left_out.append(&mut self.kinds);
        let own = if self.is_agent { &mut replaced } else { &mut left_out };
        own.extend(prompt.map(|it| format!("{it} left out: the new agent has its own")));
        replaced.extend(machine.map(|it| format!("{it} left out: the new agent tells its own")));
        (left_out, replaced)
    }
}

#[cfg(test)]
#[path = "moved_tests.rs"]
mod tests;
