//! Passages: the smallest stretches that can be a topic.

use std::collections::HashMap;
use std::ops::Range;

use epitome_strategy::{Lexicon, Message, Origin, Role, Tokens, UnitKind, View};

use crate::terms::{self, Terms, Vector};
use crate::tokens_of;

/// How much of a typed text, of a model's text and of a call's arguments is read, in bytes: the first lines show the
/// topic, and a pasted log would hide it.
const TYPED_BYTES: usize = 4000;
const MODEL_BYTES: usize = 1500;
const ARGUMENT_BYTES: usize = 300;

/// Steps of one round that are looked at together; in a round of more a new topic may begin between two such groups. Chosen by
/// hand, not measured: fewer steps may have too few words of their own to compare, and more place a boundary more coarsely.
const PASSAGE_STEPS: u32 = 5;

/// A stretch of units: a typed message and what follows it, cut after a number of steps.
#[derive(Debug)]
pub(crate) struct Passage {
    pub(crate) units: Range<usize>,
    pub(crate) tokens: Tokens,
    pub(crate) terms: Vector,
    /// The text of the typed message that opens it.
    pub(crate) opening: Option<String>,
    /// The terms of that message alone.
    pub(crate) opening_terms: Vector,
    /// Whether it is an earlier summary.
    pub(crate) is_summary: bool,
    /// The first and the last timestamp in it.
    pub(crate) times: Option<(i64, i64)>,
}

/// The passages of a view, and their words.
#[derive(Debug)]
pub(crate) struct Passages<'v> {
    pub(crate) list: Vec<Passage>,
    pub(crate) terms: Terms,
    /// The cue words for openings.
    pub(crate) lexicon: &'v Lexicon,
}

impl<'v> Passages<'v> {
    /// Returns the passages of a view. Linear in the view.
    pub(crate) fn new(view: &View<'v>) -> Self {
        let mut terms = Terms::default();
        let mut list: Vec<Passage> = ranges(view).into_iter().map(|units| passage(view, units, &mut terms)).collect();
        let vectors: Vec<&Vector> = list.iter().map(|passage| &passage.terms).collect();
        let weights = terms::weights(&vectors, terms.names.len());
        for passage in &mut list {
            terms::weigh(&mut passage.terms, &weights);
            terms::weigh(&mut passage.opening_terms, &weights);
        }
        Self { list, terms, lexicon: view.lexicon() }
    }
}

fn ranges(view: &View<'_>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut steps = 0;
    let mut was_summary = false;
    for (index, unit) in view.units().iter().enumerate() {
        let is_summary = unit.kind == UnitKind::Summary;
        let opens = unit.kind == UnitKind::User
            || is_summary
            || was_summary
            || (unit.kind == UnitKind::Step && steps >= PASSAGE_STEPS);
        match ranges.last_mut().filter(|_| !opens) {
            Some(range) => range.end = index + 1,
            None => {
                ranges.push(index..index + 1);
                steps = 0;
            }
        }
        steps += u32::from(unit.kind == UnitKind::Step);
        was_summary = is_summary;
    }
    ranges
}

fn passage(view: &View<'_>, units: Range<usize>, terms: &mut Terms) -> Passage {
    let first = &view.units()[units.start];
    let is_summary = first.kind == UnitKind::Summary;
    let mut counts = HashMap::new();
    let mut opening_counts = HashMap::new();
    let mut times: Option<(i64, i64)> = None;
    for unit in units.clone() {
        if view.units()[unit].kind == UnitKind::System {
            continue;
        }
        for position in view.units()[unit].entries.clone() {
            let message = view.message(position);
            if let Some(time) = message.timestamp {
                times = Some(times.map_or((time, time), |(start, end)| (start.min(time), end.max(time))));
            }
            read(message, terms, &mut counts);
            if message.is_typed() {
                read(message, terms, &mut opening_counts);
            }
        }
    }
    read_calls(view, units.clone(), terms, &mut counts);
    Passage {
        tokens: tokens_of(view, units.clone()),
        terms: terms::vector(counts),
        opening: (first.kind == UnitKind::User).then(|| view.message(first.entries.start).plain_text()),
        opening_terms: terms::vector(opening_counts),
        is_summary,
        times,
        units,
    }
}

/// Reads the text of people and the model; tool output has few words of the topic and many others.
fn read(message: &Message, terms: &mut Terms, counts: &mut HashMap<u32, f32>) {
    let (most, weight) = match (message.role, message.origin) {
        (Role::User, Origin::Typed | Origin::Summary) => (TYPED_BYTES, 2.0),
        (Role::Assistant, _) => (MODEL_BYTES, 1.0),
        (Role::User | Role::System | Role::Tool, _) => return,
    };
    message.texts().for_each(|text| terms.read(text, most, weight, counts));
}

/// Reads the files that calls name, and the first of their arguments.
fn read_calls(view: &View<'_>, units: Range<usize>, terms: &mut Terms, counts: &mut HashMap<u32, f32>) {
    let (calls, events) = (view.facts().calls(), view.facts().file_events());
    let first = calls.partition_point(|call| (call.unit as usize) < units.start);
    let end = calls.partition_point(|call| (call.unit as usize) < units.end);
    for call in &calls[first..end] {
        terms.read(call.arguments, ARGUMENT_BYTES, 1.0, counts);
    }
    let from = events.partition_point(|event| (event.call as usize) < first);
    for event in events[from..].iter().take_while(|event| (event.call as usize) < end) {
        terms.read(&event.path, ARGUMENT_BYTES, 1.0, counts);
    }
}
