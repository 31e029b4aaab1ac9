//! Several answers of a provider, merged into one: calls of functions that the client does not know are taken out,
//! and the parts behind them are numbered as though these had never been there.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use serde_json::Value;

use crate::events::{Event, event_text};
use crate::stream::{Stage, StreamedAnswer, Streams, Taken};
use crate::usage::add_output;

/// Whether an event may be shown to the client yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The number of characters of the model's visible text: 0 for none, or reasoning.
    Text(usize),
    /// It belongs to one of our calls.
    Ours,
    /// It belongs to a call of the client's.
    Clients,
    /// The answer ends.
    Ending,
    /// The provider failed.
    Broken,
}

/// One answer of the provider, as far as it has come.
#[derive(Debug)]
pub struct PartialAnswer<'n> {
    /// The interface.
    pub wire: &'static dyn Streams,
    /// The answer.
    pub answer: StreamedAnswer,
    /// The functions that the client does not know: ours.
    pub(crate) names: &'n [&'n str],
    /// The numbers of the calls of these.
    pub(crate) ours: HashSet<usize>,
    /// The numbers that the client knows parts by.
    pub(crate) shown: HashMap<usize, u64>,
    /// Whether it continues with an answer that the client has seen some of.
    pub(crate) continues: bool,
}

impl<'n> PartialAnswer<'n> {
    /// The answer that comes behind those of `merged`.
    pub fn new(wire: &'static dyn Streams, names: &'n [&'n str], merged: &MergedAnswer) -> Self {
        Self {
            wire,
            answer: StreamedAnswer::new(merged.weight),
            names,
            ours: HashSet::new(),
            shown: HashMap::new(),
            continues: merged.has_begun,
        }
    }

    /// Takes note of an event.
    pub fn take(&mut self, event: &Event) -> EventKind {
        let Taken { stage, said, parts, says_more } = self.wire.hear(&mut self.answer, event);
        let (mut has_ours, mut has_clients) = (false, false);
        for number in parts {
            let Some(part) = self.answer.parts.get(number) else { continue };
            if self.wire.is_call_of(part, self.names) {
                self.ours.insert(number);
                has_ours = true;
            } else {
                has_clients |= self.wire.is_call(part);
            }
        }
        match stage {
            Stage::Broken => EventKind::Broken,
            Stage::Ending => EventKind::Ending,
            Stage::Going if has_clients => EventKind::Clients,
            Stage::Going if has_ours && said == 0 && !says_more => EventKind::Ours,
            Stage::Going => EventKind::Text(said),
        }
    }

    /// The model's output so far.
    pub fn output(&self) -> Value {
        self.wire.output(&self.answer)
    }

    pub(crate) fn has_calls_of_client(&self) -> bool {
        self.wire.has_calls_beside(&self.output(), self.names)
    }
}

/// The one answer that the client sees.
#[derive(Debug, Default)]
pub struct MergedAnswer {
    /// Whether the client has seen any of it.
    pub has_begun: bool,
    /// The number of the next part.
    next: u64,
    /// The number of the next event, where events have numbers.
    pub(crate) sequence: Option<u64>,
    /// Parts of answers before the current one, where the last event repeats all of them.
    pub(crate) items: Vec<Value>,
    /// The output figures of the answers before this one.
    pub(crate) earlier: Value,
    /// What is kept of the answers before the current one, in bytes.
    pub weight: usize,
    /// Whether there were answers before the current one.
    pub is_continued: bool,
}

impl MergedAnswer {
    /// An event as the client gets it; `None` for one that it does not.
    pub fn client_event(&mut self, partial: &mut PartialAnswer<'_>, event: &Event) -> Option<Bytes> {
        let mut json = event.json.clone();
        let is_for_client = partial.wire.for_client(self, partial, &mut json);
        self.has_begun |= is_for_client && !event.json.is_null();
        is_for_client.then(|| event.with(&json))
    }

    /// Whether all events of an answer are the client's as they are.
    pub fn is_as_it_comes(&self, partial: &PartialAnswer<'_>) -> bool {
        !self.is_continued && partial.ours.is_empty()
    }

    /// What the model said in the event with which an answer ended, for a client that has seen what it said before.
    pub fn client_text(&self, partial: &PartialAnswer<'_>, event: &Event) -> Option<Bytes> {
        partial.wire.words_of_end(&event.json).map(|json| event_text(None, &json))
    }

    /// Continues the client's answer with another one of the provider's.
    pub fn continue_with(&mut self, partial: &PartialAnswer<'_>) {
        let PartialAnswer { wire, answer, .. } = partial;
        add_output(&mut self.earlier, &answer.usage);
        (self.weight, self.is_continued) = (answer.weight, true);
        if self.has_begun && wire.repeats_answer() {
            let shown = answer.parts.iter().filter(|part| !part.is_null() && !wire.is_call_of(part, partial.names));
            self.items.extend(shown.cloned());
        }
    }

    /// The number that the client knows a part by.
    pub(crate) fn numbered(&mut self, partial: &mut PartialAnswer<'_>, number: usize) -> u64 {
        *partial.shown.entry(number).or_insert_with(|| {
            self.next += 1;
            self.next - 1
        })
    }
}
