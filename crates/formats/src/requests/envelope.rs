//! The place of the messages in a provider's request: in an object's list, in a bare list, one on each line, or many
//! requests in a list or on lines.

use std::ops::Range;

use crate::input::{Line, Shape};
use crate::json::{self, Object};

/// One session's place in a document.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    /// The request object, where there is one.
    pub wrapper: Option<Object<'a>>,
    /// The bytes of the session: its object, its list, or the whole file.
    pub span: Range<usize>,
    /// The bytes of the list with its brackets; `None` where each message has a line of its own.
    pub list: Option<Range<usize>>,
    /// The messages, with their bytes.
    pub items: Vec<(Range<usize>, &'a str)>,
    /// Where the wrapper's text is in memory.
    at: Option<usize>,
}

impl Envelope<'_> {
    /// Where `part`, a value of the wrapper, starts in the file.
    pub(crate) fn offset_of(&self, part: &str) -> Option<usize> {
        Some(self.span.start + (part.as_ptr() as usize).checked_sub(self.at?)?)
    }
}

/// The sessions of a document whose messages are in the field `keys` of an object, the first that is there.
///
/// Linear in the input. Whatever is not a message is left to the reader to report.
pub(crate) fn envelopes<'a>(shape: &Shape<'a>, keys: &[&str]) -> Vec<Envelope<'a>> {
    match shape {
        Shape::Document(text) => document(text, keys),
        Shape::Lines(lines) => in_lines(lines, keys),
        Shape::Text(_) => Vec::new(),
    }
}

fn document<'a>(text: &'a str, keys: &[&str]) -> Vec<Envelope<'a>> {
    let place = FileSlice { whole: text, start: 0 };
    let trimmed = text.trim();
    if let Some((object, items)) = Object::parse_with_items(trimmed, keys) {
        let items: Vec<(Range<usize>, &str)> = items.into_iter().map(|item| (place.span(item), item)).collect();
        let list = messages_of(&object, keys).map(|list| place.span(list));
        let at = Some(trimmed.as_ptr() as usize);
        return vec![Envelope { wrapper: Some(object), span: place.span(trimmed), list, items, at }];
    }
    if let Some(object) = Object::parse(trimmed) {
        let found = match messages_of(&object, keys) {
            Some(list) => place.wrapped(object, trimmed, list),
            // One message alone is a file of one line.
            None => Some(Envelope {
                span: 0..text.len(),
                items: vec![(place.span(trimmed), trimmed)],
                ..Envelope::default()
            }),
        };
        return found.into_iter().collect();
    }
    let Some(items) = json::list(trimmed) else { return Vec::new() };
    let sessions: Vec<Envelope<'a>> = items
        .iter()
        .map_while(|item| {
            let object = Object::parse(item)?;
            let list = messages_of(&object, keys)?;
            place.wrapped(object, item, list)
        })
        .collect();
    if !sessions.is_empty() {
        return sessions;
    }
    place.listed(trimmed).into_iter().collect()
}

fn in_lines<'a>(lines: &[Line<'a>], keys: &[&str]) -> Vec<Envelope<'a>> {
    let mut sessions = Vec::new();
    let mut loose = Envelope::default();
    for line in lines {
        let place = FileSlice { whole: line.json, start: line.start };
        let trimmed = line.json.trim();
        if trimmed.starts_with('[') {
            sessions.extend(place.listed(trimmed));
            continue;
        }
        let Some(object) = Object::parse(trimmed) else { continue };
        match messages_of(&object, keys) {
            Some(list) => sessions.extend(place.wrapped(object, trimmed, list)),
            None => loose.items.push((place.span(trimmed), trimmed)),
        }
    }
    if sessions.is_empty() {
        let end = lines.last().map_or(0, |line| line.span().end);
        loose.span = 0..end;
        sessions.push(loose);
    }
    sessions
}

/// The list of messages in a request object; a string is one message, and so is an object among Gemini's `contents`.
fn messages_of<'a>(object: &Object<'a>, keys: &[&str]) -> Option<&'a str> {
    let is_message = |key: &str, json: &str| json.starts_with('{') && key == "contents";
    keys.iter().find_map(|key| object.get(key).filter(|json| json.starts_with(['[', '"']) || is_message(key, json)))
}

/// A piece of the file and where it starts.
struct FileSlice<'a> {
    whole: &'a str,
    start: usize,
}

impl<'a> FileSlice<'a> {
    fn span(&self, part: &str) -> Range<usize> {
        let start = self.start + json::offset(self.whole.as_bytes(), part);
        start..start + part.len()
    }

    fn items(&self, list: &'a str) -> Option<Vec<(Range<usize>, &'a str)>> {
        if !list.starts_with('[') {
            return Some(vec![(self.span(list), list)]);
        }
        Some(json::list(list)?.into_iter().map(|item| (self.span(item), item)).collect())
    }

    fn wrapped(&self, wrapper: Object<'a>, json: &str, list: &'a str) -> Option<Envelope<'a>> {
        let items = self.items(list)?;
        let at = Some(json.as_ptr() as usize);
        Some(Envelope { wrapper: Some(wrapper), span: self.span(json), list: Some(self.span(list)), items, at })
    }

    fn listed(&self, list: &'a str) -> Option<Envelope<'a>> {
        let items = self.items(list)?;
        Some(Envelope { wrapper: None, span: self.span(list), list: Some(self.span(list)), items, at: None })
    }
}
