//! How likely an exact string is needed again.

use epitome_strategy::{Atom, AtomKind, Place, View};

/// The age, as a share of the session, at which a string's worth has halved.
const HALF_LIFE: f32 = 0.25;

/// What it is worth that a person or a call's arguments named the string: strings that were asked for before are those
/// that are asked for again.
const ASKED: f32 = 3.0;
/// What it is worth that it was seen at all.
const SEEN: f32 = 1.0;
/// What each doubling of the messages that hold it is worth.
const USES: f32 = 0.3;

/// Values of all atoms of a view, by position; 0 for those that stand in what stays anyway.
pub(crate) fn values(view: &View<'_>, stays: impl Fn(usize) -> bool) -> Vec<f32> {
    let atoms = view.facts().atoms();
    let mut values: Vec<f32> = atoms.all().iter().map(|atom| value(atom, view.len())).collect();
    let mut unit = 0;
    let mut unit_stays = view.units().first().is_some_and(|_| stays(0));
    for occurrence in atoms.occurrences() {
        while view.units().get(unit).is_some_and(|it| it.entries.end <= occurrence.at.message as usize) {
            unit += 1;
            unit_stays = unit < view.units().len() && stays(unit);
        }
        if unit_stays {
            values[occurrence.atom as usize] = 0.0;
        }
    }
    values
}

fn value(atom: &Atom<'_>, messages: usize) -> f32 {
    let fresh = |message: u32| {
        let age = (messages as f32 - message as f32) / messages.max(1) as f32;
        0.5f32.powf(age / HALF_LIFE)
    };
    let kind = match atom.kind {
        AtomKind::Path => 1.0,
        AtomKind::Identifier | AtomKind::Quoted => 0.8,
        AtomKind::Url => 0.7,
        AtomKind::Number => 0.4,
    };
    let asked = atom.last_asked.map_or(0.0, |message| {
        let times = (atom.count(Place::Arguments) + atom.count(Place::Typed)).max(1) as f32;
        ASKED * fresh(message) * (1.0 + USES * times.log2())
    });
    let seen = SEEN * fresh(atom.last_message) * (1.0 + USES * (atom.messages.max(1) as f32).log2());
    kind * (asked + seen)
}
