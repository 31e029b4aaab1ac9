//! From the request that is sent back to the messages of the list: which are kept, changed, and new.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use crate::conversation::Provenance;
use crate::fitted::{FitPiece, TextChange};

/// Expresses the messages of `sent` by the numbers of those that `came`. Linear in both, times a logarithm in the
/// number of equal messages.
pub(crate) fn pieces(came: &[&str], sent: &[&str], provenance: Option<&Provenance>) -> Vec<FitPiece> {
    // Without provenance no message is known to have left.
    let shown = match provenance {
        Some(it) => it.shown.iter().copied().chain(it.messages..came.len()).collect(),
        None => (0..came.len()).collect(),
    };
    let (used, next) = (vec![false; came.len()], 0);
    let mut matcher = Matcher { came, shown, provenance, alike: None, edited: None, used, next };
    let mut pieces: Vec<FitPiece> = Vec::new();
    for message in sent {
        match matcher.number_of(message) {
            Some(number) => match pieces.last_mut() {
                Some(FitPiece::Keep { end, .. }) if *end == number => *end += 1,
                _ => pieces.push(FitPiece::Keep { start: number, end: number + 1 }),
            },
            None => pieces.push(matcher.change(message)),
        }
    }
    pieces
}

/// Expresses the messages of `sent`, which are those that `came` in the same order, by their numbers. Linear.
pub(crate) fn changed_rows(came: &[&str], sent: &[&str]) -> Vec<FitPiece> {
    let mut pieces: Vec<FitPiece> = Vec::new();
    for (index, (before, after)) in came.iter().zip(sent).enumerate() {
        match pieces.last_mut() {
            Some(FitPiece::Keep { end, .. }) if before == after => *end += 1,
            _ if before == after => pieces.push(FitPiece::Keep { start: index, end: index + 1 }),
            _ => pieces.push(edited(index, before, after, &serde_json::from_str(after).unwrap_or_default())),
        }
    }
    pieces
}

/// The change of message `index` into `after`, whose value is `value`.
fn edited(index: usize, before: &str, after: &str, value: &Value) -> FitPiece {
    let before: Value = serde_json::from_str(before).unwrap_or_default();
    let mut texts = Vec::new();
    let is_same = text_changes(&before, value, String::new(), &mut texts);
    FitPiece::Edit { index, message: after.to_owned(), texts: is_same.then_some(texts) }
}

struct Matcher<'a> {
    came: &'a [&'a str],
    /// Messages that are shown as they came, those behind the decisions among them.
    shown: HashSet<usize>,
    provenance: Option<&'a Provenance>,
    /// The messages of each text: whether each is not shown, and its number. Made once one is looked for.
    alike: Option<HashMap<&'a str, BTreeSet<(bool, usize)>>>,
    /// The changed messages of each identity. Made once one is looked for.
    edited: Option<HashMap<Identity, BTreeSet<usize>>>,
    used: Vec<bool>,
    /// Behind the last message that was kept or changed.
    next: usize,
}

impl<'a> Matcher<'a> {
    fn use_up(&mut self, number: usize) {
        self.used[number] = true;
        self.next = number + 1;
    }

    /// The number of the message that is kept as `message`.
    fn number_of(&mut self, message: &str) -> Option<usize> {
        let is_next = self.came.get(self.next) == Some(&message) && !self.used[self.next];
        let number = if is_next && self.shown.contains(&self.next) { self.next } else { self.elsewhere(message)? };
        self.use_up(number);
        Some(number)
    }

    /// A message of this text at another place: the next one that is shown; else one that was further ahead, as late results
    /// are; else the next one that is not shown; else any.
    fn elsewhere(&mut self, message: &str) -> Option<usize> {
        let (came, shown, next) = (self.came, &self.shown, self.next);
        let alike = self.alike.get_or_insert_with(|| {
            let mut alike: HashMap<&'a str, BTreeSet<(bool, usize)>> = HashMap::new();
            for (number, text) in came.iter().enumerate() {
                alike.entry(text).or_default().insert((!shown.contains(&number), number));
            }
            alike
        });
        let places = alike.get_mut(message)?;
        loop {
            let behind = |is_hidden: bool| places.range((is_hidden, next)..=(is_hidden, usize::MAX)).next().copied();
            let first = places.first().copied();
            let found = behind(false).or(first.filter(|found| !found.0)).or_else(|| behind(true)).or(first)?;
            places.remove(&found);
            if !self.used[found.1] {
                return Some(found.1);
            }
        }
    }

    /// A message that is not one of those that came.
    fn change(&mut self, message: &str) -> FitPiece {
        let value: Value = serde_json::from_str(message).unwrap_or_default();
        let added = self.provenance.and_then(|it| it.added.iter().find(|it| says(&value, &it.text)));
        if added.is_none()
            && let Some(index) = self.number_of_edited(&value)
        {
            self.use_up(index);
            return edited(index, self.came[index], message, &value);
        }
        let (reason, replaces) = added.map(|it| (it.reason.clone(), it.replaces.clone())).unwrap_or_default();
        FitPiece::Insert { message: message.to_owned(), reason, replaces }
    }

    /// The number of the message that was changed into `value`.
    fn number_of_edited(&mut self, value: &Value) -> Option<usize> {
        let (came, provenance) = (self.came, self.provenance?);
        let edited = self.edited.get_or_insert_with(|| {
            let mut edited: HashMap<Identity, BTreeSet<usize>> = HashMap::new();
            for number in provenance.edited.iter().copied().filter(|number| *number < came.len()) {
                let before: Value = serde_json::from_str(came[number]).unwrap_or_default();
                edited.entry(Identity::from_message(&before)).or_default().insert(number);
            }
            edited
        });
        let wanted = Identity::from_message(value);
        let from = if wanted.has_ids() { 0 } else { self.next };
        let numbers = edited.get_mut(&wanted)?;
        let number = numbers.range(from..).find(|number| !self.used[**number]).copied()?;
        numbers.remove(&number);
        Some(number)
    }
}

/// The part of a message that a change of its texts leaves alone: role, type, and the calls that it makes or answers.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Identity {
    kind: [String; 2],
    ids: Vec<String>,
}

impl Identity {
    fn from_message(message: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let parts = content_of(message).as_array().into_iter().chain(message["tool_calls"].as_array()).flatten();
        // Gemini's calls may have a name alone.
        let of_part = |part: &Value| {
            let function = ["functionCall", "functionResponse"].iter().find_map(|name| part.get(*name)).unwrap_or(part);
            let id = ["id", "tool_use_id"].iter().find_map(|name| function[*name].as_str());
            let name = || if function == part { None } else { function["name"].as_str() };
            id.or_else(name).map(str::to_owned)
        };
        let own = [&message["tool_call_id"], &message["call_id"]].into_iter().filter_map(|id| id.as_str());
        let mut ids: Vec<String> = own.map(str::to_owned).collect();
        if ids.is_empty() {
            // Parts of a result may have ids too, and be cut with its text.
            ids.extend(parts.filter_map(of_part));
        }
        ids.sort_unstable();
        Self { kind: [text(&message["role"]), text(&message["type"])], ids }
    }

    fn has_ids(&self) -> bool {
        !self.ids.is_empty()
    }
}

/// The text or the parts of a message; Gemini has a name of its own for them.
fn content_of(message: &Value) -> &Value {
    message.get("parts").unwrap_or(&message["content"])
}

/// Whether one of the message's parts is `text`.
fn says(message: &Value, text: &str) -> bool {
    let content = content_of(message);
    let is_text = |value: &Value| value.as_str() == Some(text);
    !text.is_empty()
        && (is_text(content) || content.as_array().into_iter().flatten().any(|part| is_text(&part["text"])))
}

/// Adds the texts of `after` that are other ones in `before`; whether all else is the same.
fn text_changes(before: &Value, after: &Value, pointer: String, found: &mut Vec<TextChange>) -> bool {
    match (before, after) {
        (Value::String(one), Value::String(other)) => {
            if one != other {
                found.push(TextChange { pointer, text: other.clone() });
            }
            true
        }
        (Value::Array(one), Value::Array(other)) => {
            let parts = one.iter().zip(other).enumerate();
            one.len() == other.len()
                && parts.fold(true, |same, (at, (one, other))| {
                    text_changes(one, other, format!("{pointer}/{at}"), found) && same
                })
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().fold(true, |same, (name, one)| {
                    let escaped = name.replace('~', "~0").replace('/', "~1");
                    let of = |other| text_changes(one, other, format!("{pointer}/{escaped}"), found);
                    other.get(name).is_some_and(of) && same
                })
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
#[path = "pieces_tests.rs"]
mod tests;
