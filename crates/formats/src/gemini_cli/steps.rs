//! The records of a chat as steps. The client writes a message anew whenever its calls, results or figures change: by its
//! id the newest one stands at the place of the first, as in the client itself, however much is between the two.

use std::collections::HashMap;

use serde_json::Value;

use crate::json::value::{items, non_empty_str};

/// What a record adds.
#[derive(Debug)]
pub(super) enum Step {
    Message(Value),
    /// All messages that are in the context from here on.
    History(Value),
    /// The user went back to before the message with this id.
    Rewind(String),
}

/// Where a message of the context stands.
#[derive(Debug, Clone, Copy)]
struct Place {
    step: usize,
    /// Its number in the history that first had it.
    item: Option<usize>,
}

/// The steps of a chat.
#[derive(Debug, Default)]
pub(super) struct Steps {
    steps: Vec<Step>,
    /// The messages of the context that have an id, in their order.
    context: Vec<(String, Place)>,
    /// The number in `context` of each id.
    numbers: HashMap<String, usize>,
}

impl Steps {
    /// Takes a message; notices of the user interface, and what is no message, are left out.
    pub(super) fn message(&mut self, message: &Value) {
        if !matches!(message["type"].as_str(), Some("user" | "gemini")) {
            // A way back may name a notice: it leads to the message behind it.
            if let Some(id) = non_empty_str(&message["id"]) {
                self.numbers.entry(id.to_owned()).or_insert(self.context.len());
            }
            return;
        }
        let Some(id) = non_empty_str(&message["id"]) else { return self.steps.push(Step::Message(message.clone())) };
        let known = self.numbers.get(id).and_then(|number| self.context.get(*number)).map(|(_, place)| *place);
        match known.and_then(|place| self.slot(place)) {
            Some(slot) => *slot = message.clone(),
            None => {
                self.enter(id, Place { step: self.steps.len(), item: None });
                self.steps.push(Step::Message(message.clone()));
            }
        }
    }

    /// Takes a history. One directly behind another stands in its place: a resumed session writes its beginning first, and
    /// then the whole.
    pub(super) fn history(&mut self, messages: &Value) {
        if matches!(self.steps.last(), Some(Step::History(_))) {
            self.steps.pop();
        }
        let step = self.steps.len();
        let before = std::mem::take(&mut self.numbers);
        let places = std::mem::take(&mut self.context);
        for (item, message) in items(messages).iter().enumerate() {
            let Some(id) = non_empty_str(&message["id"]) else { continue };
            let known = before.get(id).and_then(|number| places.get(*number)).map(|(_, place)| *place);
            let place = known.filter(|place| place.step < step).unwrap_or(Place { step, item: Some(item) });
            self.enter(id, place);
        }
        self.steps.push(Step::History(messages.clone()));
    }

    /// Takes a way back to before the message that is named. Where the context has none of this id the client goes back to
    /// the beginning.
    pub(super) fn rewind(&mut self, id: &str) {
        let number = self.numbers.get(id).copied().unwrap_or(0);
        let mut gone = self.context.split_off(number.min(self.context.len())).into_iter().map(|(id, _)| id);
        if let Some(first) = gone.next() {
            self.numbers.remove(&first);
            for id in gone {
                self.numbers.remove(&id);
            }
            self.steps.push(Step::Rewind(first));
        }
    }

    /// The steps, the oldest first.
    pub(super) fn finish(self) -> Vec<Step> {
        self.steps
    }

    fn enter(&mut self, id: &str, place: Place) {
        if !self.numbers.contains_key(id) {
            self.numbers.insert(id.to_owned(), self.context.len());
            self.context.push((id.to_owned(), place));
        }
    }

    fn slot(&mut self, place: Place) -> Option<&mut Value> {
        match (self.steps.get_mut(place.step)?, place.item) {
            (Step::Message(message), _) => Some(message),
            (Step::History(messages), Some(item)) => messages.get_mut(item),
            (Step::History(_), None) | (Step::Rewind(_), _) => None,
        }
    }
}
