//! The reference graph: which units use exact strings that others introduced.

use epitome_session::Unit;

use super::atoms::{AtomPlace, Atoms};

/// A string in more units than this connects nothing: a project's root, a tool's name.
const MOST_UNITS: u32 = 40;

/// A unit to which another one is connected, and how strongly.
type Tie = (usize, f32);

/// A graph over the units of a view: an edge leads from a unit to an earlier one that introduced exact strings which it
/// uses. Its weight is the sum over these strings of one divided by the number of messages that contain the string: a
/// string that only the two share connects them more than one that is everywhere.
#[derive(Debug, Default)]
pub struct References {
    /// For each unit the earlier ones that it uses, in order.
    sources: Vec<Vec<Tie>>,
    /// For each unit the later ones that use it, in order.
    users: Vec<Vec<Tie>>,
}

impl References {
    /// Builds the graph. Linear in the occurrences.
    pub(super) fn new(atoms: &Atoms<'_>, units: &[Unit]) -> Self {
        let (mut sources, mut users) = (vec![Vec::new(); units.len()], vec![Vec::new(); units.len()]);
        let unit_of = |message: u32| units.partition_point(|unit| unit.entries.end <= message as usize);
        let introduced: Vec<usize> = atoms.all().iter().map(|atom| unit_of(atom.first_message)).collect();
        // Occurrences are ordered by unit: the edges of one unit are gathered and then added at once.
        let mut ties: Vec<(usize, u32, f32)> = Vec::new();
        let mut unit = 0;
        let mut flush = |unit: usize, ties: &mut Vec<(usize, u32, f32)>| {
            ties.sort_unstable_by_key(|(to, atom, _)| (*to, *atom));
            ties.dedup_by_key(|(to, atom, _)| (*to, *atom));
            for tie in ties.chunk_by(|left, right| left.0 == right.0) {
                let (source, weight) = (tie[0].0, tie.iter().map(|(_, _, weight)| weight).sum());
                sources[unit].push((source, weight));
                users[source].push((unit, weight));
            }
            ties.clear();
        };
        for occurrence in atoms.occurrences() {
            while units.get(unit).is_some_and(|it| it.entries.end <= occurrence.at.message as usize) {
                flush(unit, &mut ties);
                unit += 1;
            }
            let atom = &atoms.all()[occurrence.atom as usize];
            let from = introduced[occurrence.atom as usize];
            if from < unit && atom.messages <= MOST_UNITS && atom.introduced != AtomPlace::Instructions {
                ties.push((from, occurrence.atom, 1.0 / atom.messages.max(1) as f32));
            }
        }
        flush(unit, &mut ties);
        Self { sources, users }
    }

    /// Returns how much later units use what a unit introduced.
    pub fn used_later(&self, unit: usize) -> f32 {
        self.users(unit).iter().rev().map(|(_, weight)| *weight).sum()
    }

    /// Returns the later units that use what a unit introduced, and how much, in order.
    pub fn users(&self, unit: usize) -> &[(usize, f32)] {
        self.users.get(unit).map_or(&[], Vec::as_slice)
    }

    /// Returns the earlier units whose strings a unit uses, and how much, in order.
    pub fn sources(&self, unit: usize) -> &[(usize, f32)] {
        self.sources.get(unit).map_or(&[], Vec::as_slice)
    }
}
