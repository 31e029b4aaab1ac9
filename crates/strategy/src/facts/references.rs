//! The reference graph: which units use exact strings that others introduced.

use epitome_session::Unit;
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use super::atoms::{AtomPlace, Atoms};

/// A string that stands in more units than this ties nothing together: a project's root, a tool's name.
const MOST_UNITS: u32 = 40;

/// A graph over the units of a view: an edge leads from a unit to an earlier one that introduced exact strings which it
/// uses. Its weight is the sum over these strings of one divided by the number of messages that hold the string: a
/// string that only the two share ties more than one that stands everywhere.
#[derive(Debug, Default)]
pub struct References {
    graph: DiGraph<(), f32>,
}

impl References {
    /// Linear in the occurrences.
    pub(super) fn of(atoms: &Atoms<'_>, units: &[Unit]) -> Self {
        let mut graph = DiGraph::with_capacity(units.len(), units.len());
        for _ in units {
            graph.add_node(());
        }
        let unit_of = |message: u32| units.partition_point(|unit| unit.entries.end <= message as usize);
        let introduced: Vec<usize> = atoms.all().iter().map(|atom| unit_of(atom.first_message)).collect();
        // Occurrences come unit by unit: the edges of one unit are gathered and then added at once.
        let mut ties: Vec<(usize, u32, f32)> = Vec::new();
        let mut unit = 0;
        let mut flush = |unit: usize, ties: &mut Vec<(usize, u32, f32)>| {
            ties.sort_unstable_by_key(|(to, atom, _)| (*to, *atom));
            ties.dedup_by_key(|(to, atom, _)| (*to, *atom));
            for tie in ties.chunk_by(|left, right| left.0 == right.0) {
                let weight = tie.iter().map(|(_, _, weight)| weight).sum();
                graph.add_edge(NodeIndex::new(unit), NodeIndex::new(tie[0].0), weight);
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
        Self { graph }
    }

    /// The graph itself: nodes are units by position.
    pub fn graph(&self) -> &DiGraph<(), f32> {
        &self.graph
    }

    /// How much later units use what a unit introduced.
    pub fn used_later(&self, unit: usize) -> f32 {
        self.graph.edges_directed(NodeIndex::new(unit), Direction::Incoming).map(|edge| *edge.weight()).sum()
    }

    /// The later units that use what a unit introduced, and how much, in order.
    pub fn users(&self, unit: usize) -> Vec<(usize, f32)> {
        let edges = self.graph.edges_directed(NodeIndex::new(unit), Direction::Incoming);
        let mut users: Vec<(usize, f32)> = edges.map(|edge| (edge.source().index(), *edge.weight())).collect();
        users.sort_by_key(|(user, _)| *user);
        users
    }

    /// The earlier units whose strings a unit uses, and how much, in order.
    pub fn sources(&self, unit: usize) -> Vec<(usize, f32)> {
        let edges = self.graph.edges_directed(NodeIndex::new(unit), Direction::Outgoing);
        let mut sources: Vec<(usize, f32)> = edges.map(|edge| (edge.target().index(), *edge.weight())).collect();
        sources.sort_by_key(|(source, _)| *source);
        sources
    }
}
