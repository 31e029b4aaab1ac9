//! The likelihood that an exact string is needed again.
//!
//! The constants are round numbers that were compared with `epitome eval` on recorded sessions
//! (`docs/research/structured-extraction.md`); the figures hardly change when one of them is halved or doubled. The
//! order of the factors matters: asked for before, lately, often.

use epitome_strategy::{Atom, AtomKind, AtomPlace, View};

use crate::newest::Cuts;

/// The age, as a share of the session, at which a string's worth has halved.
const HALF_LIFE: f32 = 0.8;
/// The worth of a string that a person or a call's arguments named, against 1 for one that was only seen: two of three
/// strings that are needed again were asked for before, though these are few among all.
const ASKED: f32 = 12.0;
/// The share that each doubling of the messages with the string adds.
const USES: f32 = 0.3;

/// The factor for the kind of a string: numbers are mostly line numbers and sizes.
fn kind_factor(kind: AtomKind) -> f32 {
    match kind {
        AtomKind::Path => 1.0,
        AtomKind::Identifier | AtomKind::Quoted => 0.8,
        AtomKind::Url => 0.7,
        AtomKind::Number => 0.2,
    }
}

/// Returns the rest of a worth of 1 at a message's age; 1 for a view of 0 messages.
pub(crate) fn fade_factor(message: usize, messages: usize, half_life: f32) -> f32 {
    let age = messages.saturating_sub(message) as f32 / messages.max(1) as f32;
    0.5f32.powf(age / half_life)
}

/// Returns the values of all atoms of a view, by position.
pub(crate) fn values(view: &View<'_>) -> Vec<f32> {
    view.facts().atoms().all().iter().map(|atom| value(atom, view.len())).collect()
}

/// Sets the worth of the atoms to 0 that occur in text which stays. Linear in the occurrences.
pub(crate) fn without_what_stays(view: &View<'_>, values: &mut [f32], cuts: &Cuts, stays: impl Fn(usize) -> bool) {
    let staying: Vec<bool> = (0..view.units().len()).map(stays).collect();
    let mut unit = 0;
    for occurrence in view.facts().atoms().occurrences() {
        while view.units().get(unit).is_some_and(|it| it.entries.end <= occurrence.at.message as usize) {
            unit += 1;
        }
        if staying.get(unit).copied().unwrap_or(false) && cuts.stays(occurrence.at, occurrence.start) {
            values[occurrence.atom as usize] = 0.0;
        }
    }
}

fn value(atom: &Atom<'_>, messages: usize) -> f32 {
    let often = |times: u32| 1.0 + USES * (times.max(1) as f32).log2();
    let asked = atom.last_asked.map_or(0.0, |message| {
        let times = atom.count(AtomPlace::Arguments) + atom.count(AtomPlace::Typed);
        ASKED * fade_factor(message as usize, messages, HALF_LIFE) * often(times)
    });
    let seen = fade_factor(atom.last_message as usize, messages, HALF_LIFE) * often(atom.messages);
    kind_factor(atom.kind) * (asked + seen)
}
