//! The essence of a session as one text: for a model that continues without the messages themselves.

use epitome_config::Runtime;
use epitome_engine::{EngineError, MemoryArchive, Mode, Report, Request, Status, block_on, language};
use epitome_session::heading::group_digits;
use epitome_session::{Content, EntryKey, Message, Origin, Role, Session};
use epitome_strategy::levels::{in_one_line, write_record};
use epitome_strategy::text::counted;
use epitome_strategy::transcript::{CALL, Speaker, legend};
use thiserror::Error;

use crate::engine_of;

/// The most characters of a typed message, from one try to the next, where all of what was typed has no room.
const LENGTHS: [usize; 6] = [4_000, 2_000, 1_000, 500, 250, 120];

/// How often room is made for the line that names the typed messages which are not in the text. With less room more of
/// them may be missing, and the line be longer.
const LINE_TRIES: usize = 3;

/// Typed messages that such a line names.
const NAMED: usize = 8;

/// A text of more than this many times the tokens of the line that explains its form has that line.
const LEGEND_SHARE: u32 = 8;

/// Characters by which the beginning or the end of a message is known in a text.
const END: usize = 30;

/// A session as one text.
#[derive(Debug)]
pub struct Brief {
    /// The text, without secrets: what people said as it was, and everything else in the lines worth most. It says what of
    /// the former is not there, where that has room.
    pub text: String,
    /// How many messages it is of.
    pub messages: usize,
    /// What of the typed messages the text does not have, in a sentence; `None` where it has all, word for word.
    pub missing: Option<String>,
}

/// The reason why a session has no text.
#[derive(Debug, Error)]
pub enum BriefError {
    /// What must stay is more than the text may have; the report has the floor.
    #[error("{} tokens must stay, and the text may have {}", .0.floor.as_ref().map_or(0, |floor| floor.tokens), .0.budget)]
    Infeasible(Box<Report>),
    /// The text would lose more than the configuration's `[quality]` allows.
    #[error("the text would lose more than `[quality]` of the configuration allows")]
    LosesTooMuch,
    /// A step of the chain gave up, for this reason.
    #[error("there is no text: {0}")]
    Stopped(String),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// A message that people typed, or another one, with its number in the full history.
struct Said<'a> {
    number: usize,
    message: &'a Message,
}

impl Said<'_> {
    /// Whether a text has all of it, word for word, or as the record that it is there.
    fn is_in(&self, text: &str) -> bool {
        self.message.texts().map(|own| own.trim()).all(|own| {
            let is_record = || {
                let mut record = String::new();
                write_record(&mut record, Speaker::User, own);
                text.contains(record.trim_end())
            };
            text.contains(own) || is_record()
        })
    }

    /// Whether a text has at least the first or the last words of it.
    fn has_an_end_in(&self, text: &str) -> bool {
        self.message.texts().map(|own| own.trim()).filter(|own| !own.is_empty()).any(|own| {
            let head = own.char_indices().nth(END).map_or(own, |(at, _)| &own[..at]);
            let tail = own.char_indices().rev().nth(END - 1).map_or(own, |(at, _)| &own[at..]);
            text.contains(head) || text.contains(tail)
        })
    }
}

/// The text of a session in at most `tokens` tokens, earlier compactions aside: it is made of the whole log. The system
/// prompt and what a harness added are not in it. What was typed stays as it was; where it has no room, long messages keep
/// their head and tail, and where that is too much as well, some are only named. Costs a compaction, and some more where
/// typed messages have no room.
///
/// # Errors
///
/// What must stay is more, or the engine fails.
pub fn brief(session: &Session, runtime: &Runtime, tokens: u32) -> Result<Brief, BriefError> {
    let taken_back = session.taken_back();
    let all = session.log().iter().enumerate().map(|(number, message)| Said { number, message });
    let all = all.filter(|said| !taken_back.contains(&(said.number as u32)));
    let said: Vec<Said<'_>> =
        all.filter(|said| said.message.role != Role::System && said.message.origin != Origin::Injected).collect();
    let typed = || said.iter().filter(|said| said.message.origin == Origin::Typed);
    let engine = engine_of(runtime);
    let finished = |text: String, missing: Option<String>| Brief {
        text: engine.redacted(&text).into_owned(),
        messages: said.len(),
        missing,
    };
    let missing_of = |text: &str| {
        let short = || typed().filter(|said| !said.is_in(text));
        let gone = short().filter(|said| !said.has_an_end_in(text)).count();
        let short: Vec<usize> = short().map(|said| said.number).collect();
        if short.is_empty() {
            return None;
        }
        let verb = if short.len() == 1 { "is" } else { "are" };
        let what = match gone {
            0 => "not whole in the text".to_owned(),
            gone if gone == short.len() => "not in the text".to_owned(),
            gone => format!("not whole in the text, {gone} of them not there at all"),
        };
        Some(format!("{} {verb} {what}: {}", counted(short.len(), "typed message"), names(&short)))
    };
    let text = text_within(said.iter().map(|said| Message::clone(said.message)), runtime, tokens)?;
    let Some(first_missing) = missing_of(&text) else { return Ok(finished(text, None)) };
    // Pinned, they stay before anything else does.
    let pinned = |most: usize| {
        said.iter().map(move |said| match said.message.origin {
            Origin::Typed => Message { pinned: true, ..shortened(said.message, most) },
            _ => Message::clone(said.message),
        })
    };
    for most in [usize::MAX].into_iter().chain(LENGTHS) {
        // A compaction that cannot be made costs as much as one that can.
        let alone = typed().map(|said| tokens_of(&shortened(said.message, most), runtime)).fold(0, u32::saturating_add);
        if alone > tokens {
            continue;
        }
        let Ok(text) = text_within(pinned(most), runtime, tokens) else { continue };
        if typed().all(|said| Said { number: said.number, message: &shortened(said.message, most) }.is_in(&text)) {
            let missing = missing_of(&text);
            return Ok(finished(text, missing));
        }
    }
    let line_of = |missing: &str| format!("\n\n[For want of room, {missing}]");
    let counter = engine.counter_of(session);
    let mut line_tokens = counter.count(&line_of(&first_missing));
    for _ in 0..LINE_TRIES {
        let Some(room) = tokens.checked_sub(line_tokens).filter(|room| *room > 0) else { break };
        let whole = said.iter().map(|said| Message::clone(said.message));
        let Ok(text) = text_within(whole, runtime, room) else { break };
        let Some(missing) = missing_of(&text) else { return Ok(finished(text, None)) };
        let line = line_of(&missing);
        let needed = counter.count(&line);
        if needed <= line_tokens {
            return Ok(finished(text + &line, Some(missing)));
        }
        line_tokens = needed;
    }
    // There is no room for the line beside what must stay: the text without it, and the caller says what is missing.
    Ok(finished(text, Some(first_missing)))
}

/// The numbers of messages, the first of them.
fn names(numbers: &[usize]) -> String {
    let named: Vec<String> = numbers.iter().take(NAMED).map(|number| format!("#{number}")).collect();
    let more = numbers.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join(", ") + &more
}

/// A message whose texts have at most `most` characters each: head and tail, with a mark that says how many are between.
fn shortened(message: &Message, most: usize) -> Message {
    let mut message = message.clone();
    for block in &mut message.blocks {
        if let Content::Text { text } = &mut block.content {
            let length = text.chars().count();
            if length > most {
                let left_out = length - most;
                let mark = format!("\n[… about {} characters left out …]\n", group_digits(left_out as u64));
                *text = head_and_tail(text, most, &mark).into();
            }
        }
    }
    message
}

fn tokens_of(message: &Message, runtime: &Runtime) -> u32 {
    message.texts().map(|text| runtime.counter.count(text)).fold(0, u32::saturating_add)
}

/// The text of messages in at most `tokens` tokens.
fn text_within(messages: impl Iterator<Item = Message>, runtime: &Runtime, tokens: u32) -> Result<String, BriefError> {
    let mut excerpt = Session::new();
    excerpt.extend(messages);
    let engine = engine_of(runtime);
    let mut ledger = engine.ledger(&excerpt);
    let mut archive = MemoryArchive::new();
    // The line that explains the form is not of the session; a short text has no room for it.
    let legend = legend(language(excerpt.view()));
    let legend_tokens = engine.counter_of(&excerpt).count(&legend) + 1;
    let is_explained = tokens > LEGEND_SHARE * legend_tokens;
    let mut request = Request::to_budget(if is_explained { tokens - legend_tokens } else { tokens });
    match (runtime.mode, &runtime.fixed) {
        (Mode::Fixed, Some(chain)) => (request.mode, request.chain) = (Mode::Fixed, Some(chain.clone())),
        (Mode::Fixed, None) => {}
        (mode, _) => request.mode = mode,
    }
    let draft = block_on(engine.draft(&excerpt, &ledger, &mut archive, &request)).map_err(BriefError::Engine)?;
    match draft.report.status {
        Status::Infeasible => return Err(BriefError::Infeasible(Box::new(draft.report))),
        Status::RolledBack => return Err(draft.report.stopped.map_or(BriefError::LosesTooMuch, BriefError::Stopped)),
        Status::NoChange => {}
        Status::Compacted | Status::NearEmpty => {
            engine.commit(&mut excerpt, &mut ledger, draft).map_err(BriefError::Engine)?;
        }
    }
    let mut text = if is_explained { format!("{legend}\n") } else { String::new() };
    for entry in excerpt.view() {
        match entry.key {
            EntryKey::Log(_) => write_message(&mut text, &entry.message),
            // It was written in the same form.
            EntryKey::Synthetic { .. } => {
                let written = entry.message.plain_text();
                let lines = written.lines().filter(|line| !is_explained || *line != legend);
                lines.for_each(|line| text.extend([line, "\n"]));
            }
        }
    }
    text.truncate(text.trim_end().len());
    Ok(text)
}

/// The same in at most `characters` characters, for hosts that count these.
pub fn brief_within(session: &Session, runtime: &Runtime, characters: usize) -> Result<Brief, BriefError> {
    // English has four characters or so in a token; where a text has more, a second try knows how many.
    let first = brief(session, runtime, u32::try_from(characters / 4).unwrap_or(u32::MAX))?;
    let length = first.text.chars().count();
    if length <= characters {
        return Ok(first);
    }
    let tokens = (characters as f64 / 4.0 * characters as f64 / length as f64 * 0.9) as u32;
    let second = brief(session, runtime, tokens.max(1)).unwrap_or(first);
    Ok(Brief { text: head_and_tail(&second.text, characters, CUT), ..second })
}

/// What stands between the head and the tail of a text that is cut.
const CUT: &str = "\n[…]\n";

/// A text in at most `characters` characters: two thirds of them are its head, and `cut` stands before the tail.
fn head_and_tail(text: &str, characters: usize, cut: &str) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= characters {
        return text.to_owned();
    }
    let room = characters.saturating_sub(cut.chars().count());
    let head = room * 2 / 3;
    let tail = all.len() - (room - head);
    all[..head].iter().collect::<String>() + cut + &all[tail..].iter().collect::<String>()
}

/// Adds the records of a message: its words under who said them, its calls and results.
fn write_message(text: &mut String, message: &Message) {
    let speaker = match message.origin {
        Origin::Typed => Speaker::User,
        Origin::Model => Speaker::Assistant,
        Origin::Tool | Origin::ToolOutput => Speaker::Tool,
        _ => Speaker::Harness,
    };
    for block in &message.blocks {
        match &block.content {
            Content::Text { text: words } => write_record(text, speaker, words),
            Content::ToolCall(call) => {
                text.push_str(&format!("{CALL}{}: {}\n", in_one_line(&call.name), in_one_line(call.arguments.text())));
            }
            Content::ToolResult(result) => write_record(text, Speaker::Tool, &result.text),
            Content::Media(media) => {
                let kind = if media.mime.is_empty() { "media" } else { &media.mime };
                write_record(text, speaker, &format!("[{kind}]"));
            }
            Content::Thinking(_) | Content::Opaque(_) | Content::Gone => {}
        }
    }
}
