//! Answers to calls, as text for a model.

use std::borrow::Cow;
use std::sync::Arc;

use epitome_recall::{Page, Passage, PassagePart, Query};
use epitome_session::heading::group_digits;
use epitome_session::{Content, Message, Session};
use epitome_strategy::ArchivedContent;

use super::call::RECALLED_CHARACTERS;

/// The answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The answer as text, for a model.
    pub text: String,
    /// Whether the call was wrong.
    pub is_refusal: bool,
    /// Whether there is what the call asks for.
    pub has_found: bool,
}

impl Answer {
    /// Returns the answer to a correct call.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_refusal: false, has_found: true }
    }

    /// Returns the answer to a wrong call: what is wrong, as a sentence.
    pub fn refusal(problem: impl Into<String>) -> Self {
        Self { text: problem.into(), is_refusal: true, has_found: false }
    }
}

/// Returns the answer with a page of found passages, of the session that was searched. Linear in its texts and in their
/// messages.
pub(crate) fn page_answer(query: &Query, page: &Page, session: &Session) -> Answer {
    let words: Vec<String> = query.words.iter().map(|words| format!("`{words}`")).collect();
    let sought = if words.is_empty() { "the newest".to_owned() } else { words.join(", ") };
    let order = if query.newest { "the newest of what matches well first" } else { "the best first" };
    let mut text = match (page.passages.len(), query.page) {
        (0, 0) => format!(
            "Nothing in the history matches {sought}. Try other words: an identifier, a file's name, part of an error message."
        ),
        (0, _) => format!("There is nothing more for {sought}."),
        (1, _) => format!("1 passage for {sought}."),
        (count, _) => format!("{count} passages for {sought}, {order}."),
    };
    for passage in &page.passages {
        text.push_str("\n\n");
        text.push_str(&passage_heading(passage, session));
        text.push('\n');
        text.push_str(passage.text.trim_end());
    }
    if page.more {
        let next = query.page.saturating_add(1);
        let how = if next < Query::MOST_PAGES { format!("page {next}") } else { "ask with other words".to_owned() };
        text.push_str(&format!("\n\nThere are more: {how}."));
    }
    Answer { has_found: !page.passages.is_empty(), ..Answer::new(text) }
}

/// Returns where a passage is, and how to recall the rest of its message:
/// `--- #37 · tool · Bash · src/main.rs · left the context · recall #37 offset 12000`. The handle of a compaction
/// begins at its first message, so the line names the message of most of the passage, and an offset where the message's
/// beginning would not show the passage.
fn passage_heading(passage: &Passage, session: &Session) -> String {
    let mut heading = format!("--- #{} · {}", passage.number, passage.speaker());
    for part in [&passage.tool, &passage.file].into_iter().flatten() {
        heading.push_str(" · ");
        heading.push_str(part);
    }
    for number in &passage.taken_back {
        heading.push_str(&format!(" · #{number} was taken back by the user"));
    }
    match passage.in_context {
        Some(true) => heading.push_str(" · still in the context"),
        Some(false) => {
            // The passage may be named after a message that is still there, and have text of a neighbour that is not.
            let neighbour = passage.left.filter(|left| *left != passage.number);
            let number = neighbour.unwrap_or_else(|| main_message(passage));
            let subject = neighbour.map_or_else(String::new, |left| format!("#{left} "));
            heading.push_str(&format!(" · {subject}left the context · recall #{number}"));
            let offset = passage_offset(passage, number, session).unwrap_or(0);
            if offset + passage.text.chars().count() > RECALLED_CHARACTERS {
                heading.push_str(&format!(" offset {offset}"));
            }
        }
        None => {}
    }
    heading
}

/// Returns the number of the message with most of a passage. A passage of a call and its output may match best in the
/// call, which has nothing more to read.
fn main_message(passage: &Passage) -> u32 {
    let size = |part: &PassagePart| part.bytes.as_ref().map_or(0, |bytes| bytes.len());
    let largest = passage.parts.iter().rev().max_by_key(|part| size(part));
    largest.filter(|part| size(part) > 0).map_or(passage.number, |part| part.message)
}

/// Returns the character of the recalled message `number` at which its part of a passage begins; for a call's
/// arguments the first one, because they are shown in another form than they are recalled in.
fn passage_offset(passage: &Passage, number: u32, session: &Session) -> Option<usize> {
    let message = session.log().get(number as usize)?;
    let part = passage.parts.iter().find(|part| part.message == number)?;
    let mut text = message_heading(message, Some(number));
    for (place, block) in message.blocks.iter().enumerate() {
        let content = block_text(&block.content);
        if place == part.block as usize {
            let before = part.bytes.as_ref().map_or(0, |bytes| bytes.start as usize);
            let before = content.as_deref().and_then(|content| content.get(..before)).unwrap_or_default();
            return Some(text.chars().count() + 1 + before.chars().count());
        }
        content.into_iter().for_each(|content| text.extend(["\n", &*content]));
    }
    None
}

/// A part of a recalled item.
pub(crate) struct Recall<'a> {
    /// The handle that was asked for.
    pub(crate) handle: &'a str,
    /// The item under it.
    pub(crate) item: &'a ArchivedContent,
    /// The character to begin at.
    pub(crate) offset: usize,
    /// The most characters.
    pub(crate) limit: usize,
    /// The session's log, which has the numbers of the item's messages.
    pub(crate) log: &'a [Arc<Message>],
}

impl Recall<'_> {
    /// Returns the answer: the part, and where there is more, how to continue. Linear in the item, and in the log to
    /// find its messages.
    pub(crate) fn answer(&self) -> Answer {
        let Self { handle, item, offset, limit, log } = *self;
        let numbers = message_numbers(item, log);
        let whole = item_text(item, &numbers);
        let characters = whole.chars().count();
        if offset >= characters && offset > 0 {
            return Answer::refusal(format!("`{handle}` has {characters} characters: `offset` is behind its end"));
        }
        let mut text: String = whole.chars().skip(offset).take(limit).collect();
        let end = offset.saturating_add(limit).min(characters);
        let more = end < characters;
        let known = (numbers.iter().flatten().min(), numbers.iter().flatten().max());
        if offset > 0 || more {
            let [from, to, all] = [offset, end, characters].map(|it| group_digits(it as u64));
            let next = if more { format!("; go on with offset {end}") } else { String::new() };
            let alone = match known {
                (Some(first), Some(last)) if first < last => {
                    format!("; it holds #{first} to #{last}, and recall #NUMBER gives one of them alone")
                }
                _ => String::new(),
            };
            text.push_str(&format!("\n[characters {from} to {to} of {all}{next}{alone}]"));
        }
        Answer::new(text)
    }
}

/// Returns the numbers in the log of an item's messages; `None` for those that the log does not have, such as
/// summaries. Linear in both as a rule: a message mostly follows the one before.
fn message_numbers(item: &ArchivedContent, log: &[Arc<Message>]) -> Vec<Option<u32>> {
    let ArchivedContent::Messages(messages) = item else { return Vec::new() };
    let is_same = |one: &Arc<Message>, other: &Arc<Message>| Arc::ptr_eq(one, other) || one == other;
    let mut next = 0;
    let number = |message: &Arc<Message>| {
        let behind = (next..log.len()).find(|number| is_same(&log[*number], message));
        let number = behind.or_else(|| log[..next].iter().position(|known| is_same(known, message)))?;
        next = number + 1;
        Some(number as u32)
    };
    messages.iter().map(number).collect()
}

/// Returns an archived item as text: whole messages under their roles, and their numbers where they are known.
pub fn item_text(item: &ArchivedContent, numbers: &[Option<u32>]) -> String {
    match item {
        ArchivedContent::Text(text) => text.to_string(),
        ArchivedContent::Messages(messages) => {
            let numbers = numbers.iter().copied().chain(std::iter::repeat(None));
            let texts: Vec<String> =
                messages.iter().zip(numbers).map(|(message, number)| message_text(message, number)).collect();
            texts.join("\n\n")
        }
    }
}

fn message_text(message: &Message, number: Option<u32>) -> String {
    let mut text = message_heading(message, number);
    let contents = message.blocks.iter().filter_map(|block| block_text(&block.content));
    contents.for_each(|content| text.extend(["\n", &*content]));
    text
}

fn message_heading(message: &Message, number: Option<u32>) -> String {
    let role = message.role.as_str();
    number.map_or_else(|| format!("{role}:"), |number| format!("#{number} {role}:"))
}

/// Returns the text of a block; `None` where nothing is left of it.
fn block_text(content: &Content) -> Option<Cow<'_, str>> {
    Some(match content {
        Content::Text { text } => Cow::Borrowed(text),
        Content::Thinking(thinking) => Cow::Borrowed(&thinking.text),
        Content::ToolCall(call) => Cow::Owned(format!("{} {}", call.name, call.arguments.text())),
        Content::ToolResult(result) => Cow::Borrowed(&result.text),
        Content::Opaque(opaque) => Cow::Borrowed(&opaque.json),
        Content::Media(media) => Cow::Owned(format!("[{}]", media.mime)),
        Content::Gone => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use epitome_recall::Index;
    use epitome_session::{Change, EditKind, EntryKey, Epoch, Origin, Role, Trigger};

    use super::*;

    fn typed(text: &str) -> Arc<Message> {
        Arc::new(Message::text("", Role::User, Origin::Typed, text))
    }

    #[test]
    fn long_texts_come_in_parts() {
        let recall =
            |item: &ArchivedContent, offset, limit| Recall { handle: "0a1b", item, offset, limit, log: &[] }.answer();
        let check = |offset, limit, expect: &str| {
            assert_eq!(recall(&ArchivedContent::Text("zwölf Boxkämpfer".into()), offset, limit).text, expect);
        };
        check(0, 100, "zwölf Boxkämpfer");
        check(0, 5, "zwölf\n[characters 0 to 5 of 16; go on with offset 5]");
        check(6, 100, "Boxkämpfer\n[characters 6 to 16 of 16]");
        check(6, usize::MAX, "Boxkämpfer\n[characters 6 to 16 of 16]");
        check(16, 5, "`0a1b` has 16 characters: `offset` is behind its end");
        let answer = recall(&ArchivedContent::Messages(vec![typed("one"), typed("two")]), 0, 100);
        assert_eq!(answer.text, "user:\none\n\nuser:\ntwo");
    }

    #[test]
    fn messages_are_named_by_their_numbers() {
        let log = ["zero", "one", "two", "one", "four"].map(typed);
        let summary = typed("a summary, which nobody said");
        let item = ArchivedContent::Messages(vec![Arc::clone(&log[1]), summary, Arc::clone(&log[2]), typed("one")]);
        let recall = |limit| Recall { handle: "0a1b", item: &item, offset: 0, limit, log: &log }.answer();
        let text = "#1 user:\none\n\nuser:\na summary, which nobody said\n\n#2 user:\ntwo\n\n#3 user:\none";
        assert_eq!(recall(1_000).text, text);
        let cut = recall(12);
        let how = "; go on with offset 12; it holds #1 to #3, and recall #NUMBER gives one of them alone]";
        assert!(cut.text.ends_with(how), "{}", cut.text);
    }

    #[test]
    fn a_heading_leads_to_the_very_place() {
        let long = format!("{}the port is 8080\n{}", "nothing of interest\n".repeat(1_000), "nor here\n".repeat(1_000));
        let texts = ["first", &long, "the last line"];
        let mut session = Session::new();
        session.extend(texts.map(|text| Message::text("", Role::User, Origin::Typed, text)));
        let all = (0..2).map(|number| Change::Remove { entry: EntryKey::Log(number) }).collect();
        session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Drop, all, Vec::new()));
        let search = |words: &str, characters: usize| {
            let query = Query { limit: 1, characters, ..Query::new(words) };
            let mut page = Index::build(&session).search(&query).unwrap();
            page.locate(&session);
            page_answer(&query, &page, &session).text
        };
        let text = search("port 8080", 300);
        let offset = text.split(" · recall #1 offset ").nth(1).unwrap().split('\n').next().unwrap();
        let item = ArchivedContent::Messages(vec![Arc::clone(&session.log()[1])]);
        let offset = offset.parse().unwrap();
        let recalled = Recall { handle: "#1", item: &item, offset, limit: 400, log: session.log() }.answer().text;
        let passage = text.split_once("--- #1").unwrap().1.split_once('\n').unwrap().1;
        let shown = passage.split("\n\nThere are more").next().unwrap();
        assert!(shown.contains("8080") && recalled.starts_with(shown), "{recalled}\n{text}");
        assert!(search("first", 40).contains("--- #0 · user · left the context · recall #0\n"), "short: no offset");
        assert!(search("last line", 15).contains("--- #2 · user · still in the context\n"));
        let with_neighbour = search("the last line", 3_000);
        assert!(
            with_neighbour.contains("--- #2 · user · #1 left the context · recall #1 offset "),
            "#2 stays: {with_neighbour}"
        );
    }

    #[test]
    fn nothing_found_says_what_to_do() {
        let answer = |query: Query| page_answer(&query, &Page::default(), &Session::new());
        let first = answer(Query::new("pears"));
        assert!(first.text.starts_with("Nothing in the history matches `pears`. Try other words"), "{}", first.text);
        assert!(!first.is_refusal && !first.has_found);
        assert!(!answer(Query { page: 1, ..Query::new("pears") }).text.contains("Try"));
    }
}
