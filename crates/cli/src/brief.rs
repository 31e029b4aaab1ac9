//! What matters of a session, as one text: for a model that goes on without the messages themselves.

use epitome::engine::{Floor, Mode, block_on};
use epitome::session::{Content, EntryKey, Message, Origin, Role};
use epitome::{MemoryArchive, Request, Runtime, Session, Status};

use crate::counter::counter_of;
use crate::failure::{Failure, INFEASIBLE};

/// A session as one text.
#[derive(Debug)]
pub(crate) struct Brief {
    /// The text: what people said as it was, and everything else in the lines worth most.
    pub(crate) text: String,
    /// How many messages it is of.
    pub(crate) messages: usize,
}

/// The text of a session in at most so many tokens, earlier compactions aside: it is made of the whole log. The system
/// prompt and what a harness added are not in it. Costs a compaction.
///
/// Errors where what must stay is more.
pub(crate) fn brief(session: &Session, runtime: &Runtime, tokens: u32) -> Result<Brief, Failure> {
    let mut told = Session::new();
    for message in session.log() {
        let is_setting = message.role == Role::System || message.origin == Origin::Injected;
        if !is_setting {
            told.push(Message::clone(message));
        }
    }
    let messages = told.log().len();
    let engine = epitome::engine_with_counter(runtime, counter_of(runtime, &told));
    let mut ledger = engine.ledger(&told);
    let mut archive = MemoryArchive::new();
    let mut request = Request::to_budget(tokens);
    match (runtime.mode, &runtime.fixed) {
        (Mode::Fixed, Some(chain)) => (request.mode, request.chain) = (Mode::Fixed, Some(chain.clone())),
        (Mode::Fixed, None) => {}
        (mode, _) => request.mode = mode,
    }
    let draft = block_on(engine.draft(&told, &ledger, &mut archive, &request)).map_err(Failure::other)?;
    match draft.report.status {
        Status::Infeasible => return Err(too_much(tokens, draft.report.floor.as_ref())),
        Status::RolledBack => {
            let failure = Failure::usage_text("the text would lose more than `[quality]` of the configuration allows");
            return Err(failure.with_help("give it more with --tokens"));
        }
        Status::NoChange => {}
        Status::Compacted | Status::Hollow => {
            engine.commit(&mut told, &mut ledger, draft).map_err(Failure::other)?;
        }
    }
    let mut parts: Vec<String> = Vec::new();
    for entry in told.view() {
        let text = text_of(&entry.message);
        match (text.is_empty(), entry.key) {
            (true, _) => {}
            (false, EntryKey::Log(_)) if entry.message.role != Role::Tool => {
                parts.push(format!("=== {}\n{text}", entry.message.role.as_str()));
            }
            (false, _) => parts.push(text),
        }
    }
    Ok(Brief { text: parts.join("\n\n"), messages })
}

/// The same in at most so many characters, for hosts that count these.
pub(crate) fn brief_within(session: &Session, runtime: &Runtime, characters: usize) -> Result<Brief, Failure> {
    // English has four characters or so in a token; where a text has more, a second try knows how many.
    let first = brief(session, runtime, u32::try_from(characters / 4).unwrap_or(u32::MAX))?;
    let length = first.text.chars().count();
    if length <= characters {
        return Ok(first);
    }
    let tokens = (characters as f64 / 4.0 * characters as f64 / length as f64 * 0.9) as u32;
    let second = brief(session, runtime, tokens.max(1)).unwrap_or(first);
    Ok(Brief { text: head_and_tail(second.text, characters), ..second })
}

/// What stands between the head and the tail of a text that is cut.
const CUT: &str = "\n[…]\n";

/// A text in at most so many characters: two thirds of them are its head.
fn head_and_tail(text: String, characters: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= characters {
        return text;
    }
    let room = characters.saturating_sub(CUT.chars().count());
    let head = room * 2 / 3;
    let tail = all.len() - (room - head);
    all[..head].iter().collect::<String>() + CUT + &all[tail..].iter().collect::<String>()
}

fn too_much(tokens: u32, floor: Option<&Floor>) -> Failure {
    let must = floor.map_or(0, |floor| floor.tokens);
    let failure = Failure::usage_text(format!("{must} tokens must stay, and the text may have {tokens}"));
    failure.with_help("give it more with --tokens").with_exit_code(INFEASIBLE)
}

/// A message's text, with its calls and results as lines.
fn text_of(message: &Message) -> String {
    let mut lines: Vec<String> = Vec::new();
    for block in &message.blocks {
        match &block.content {
            Content::Text { text } => lines.push(text.trim_end().to_owned()),
            Content::ToolCall(call) => lines.push(format!("▸ {}: {}", call.name, call.arguments.text())),
            Content::ToolResult(result) => lines.push(format!("→ {}", result.text.trim_end())),
            Content::Media(media) => {
                lines.push(format!("[{}]", if media.mime.is_empty() { "media" } else { &media.mime }))
            }
            Content::Thinking(_) | Content::Opaque(_) | Content::Gone => {}
        }
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_keeps_head_and_tail() {
        let check = |text: &str, characters: usize, expect: &str| {
            let cut = head_and_tail(text.to_owned(), characters);
            assert_eq!(cut, expect);
            assert!(cut.chars().count() <= characters);
        };
        check("short", 5, "short");
        check("0123456789", 8, "01\n[…]\n9");
        check("äöüäöüäöüäöü", 11, "äöüä\n[…]\nöü");
    }
}
