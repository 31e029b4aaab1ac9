//! The reference graph: which units use exact strings that others introduced.

use epitome_session::Unit;
use petgraph::csr::Csr;

use super::strings::{ExactStrings, StringPlace};

/// A string in more units than this connects nothing: a project's root, a tool's name.
const MOST_UNITS: u32 = 40;

/// Edges over the units of a view, with their weights; the edges of one unit are neighbours in memory.
type UnitGraph = Csr<(), f32>;

/// A graph over the units of a view: an edge leads from a unit to an earlier one that introduced exact strings which it
/// uses. Its weight is the sum over these strings of one divided by the number of messages that contain the string: a
/// string that only the two share connects them more than one that is everywhere.
#[derive(Debug, Default)]
pub struct References {
    /// From each unit to the earlier ones that it uses.
    sources: UnitGraph,
    /// From each unit to the later ones that use it.
    users: UnitGraph,
}

impl References {
    /// Builds the graph. Linear in the occurrences, but for sorting those of one unit and the edges.
    pub(super) fn new(strings: &ExactStrings<'_>, units: &[Unit]) -> Self {
        let unit_of = |message: u32| units.partition_point(|unit| unit.entries.end <= message as usize);
        let introduced: Vec<usize> = strings.all().iter().map(|string| unit_of(string.first_message)).collect();
        // Each string once for each unit that uses it, ordered by the unit, the one that introduced it, and the string.
        let mut uses: Vec<(u32, u32, u32)> = Vec::new();
        let mut unit = 0;
        for occurrence in strings.occurrences() {
            while units.get(unit).is_some_and(|it| it.entries.end <= occurrence.at.message as usize) {
                unit += 1;
            }
            let string = &strings.all()[occurrence.string as usize];
            let from = introduced[occurrence.string as usize];
            if from < unit && string.messages <= MOST_UNITS && string.introduced != StringPlace::Instructions {
                uses.push((unit as u32, from as u32, occurrence.string));
            }
        }
        uses.sort_unstable();
        uses.dedup();
        let weight = |string: u32| 1.0 / strings.all()[string as usize].messages.max(1) as f32;
        let mut edges: Vec<(u32, u32, f32)> = uses
            .chunk_by(|left, right| (left.0, left.1) == (right.0, right.1))
            .map(|edge| (edge[0].0, edge[0].1, edge.iter().map(|(_, _, string)| weight(*string)).sum()))
            .collect();
        let sources = graph(&edges);
        edges.iter_mut().for_each(|(user, source, _)| std::mem::swap(user, source));
        edges.sort_by_key(|(source, user, _)| (*source, *user));
        Self { sources, users: graph(&edges) }
    }

    /// Returns how much later units use what a unit introduced.
    pub fn used_later(&self, unit: usize) -> f32 {
        edges_of(&self.users, unit).rev().map(|(_, weight)| weight).sum()
    }

    /// Returns the later units that use what a unit introduced, and how much, in order.
    pub fn users(&self, unit: usize) -> impl DoubleEndedIterator<Item = (usize, f32)> {
        edges_of(&self.users, unit)
    }

    /// Returns the earlier units whose strings a unit uses, and how much, in order.
    pub fn sources(&self, unit: usize) -> impl DoubleEndedIterator<Item = (usize, f32)> {
        edges_of(&self.sources, unit)
    }
}

/// The graph of edges that are sorted and of which none occurs twice.
fn graph(edges: &[(u32, u32, f32)]) -> UnitGraph {
    UnitGraph::from_sorted_edges(edges).unwrap_or_else(|error| unreachable!("they were sorted: {error:?}"))
}

fn edges_of(graph: &UnitGraph, unit: usize) -> impl DoubleEndedIterator<Item = (usize, f32)> {
    let unit = unit as u32;
    // The graph ends with the last unit that has an edge.
    let (to, weights) = match (unit as usize) < graph.node_count() {
        true => (graph.neighbors_slice(unit), graph.edges_slice(unit)),
        false => (&[][..], &[][..]),
    };
    to.iter().zip(weights).map(|(to, weight)| (*to as usize, *weight))
}
