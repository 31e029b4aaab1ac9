//! Room for demands: where not all of a session's have room, each message has its share of it.

use std::collections::BTreeMap;

use crate::passage::{Passage, PassageKind};
use crate::source::Source;

impl Source {
    /// Returns the lines of demands in the typed passages for which `is_open` holds, in turns: of each message first the surest line, the
    /// surest of these first, then of each the next one. A table of a hundred rows that a person pasted would else leave nothing to the one
    /// sentence that says what not to do. Linear in the lines of demands, and a sort of them.
    pub fn demands_in_turn(&self, is_open: impl Fn(&Passage) -> bool) -> Vec<u32> {
        let mut of_messages: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for passage in self.passages.iter().filter(|passage| passage.kind == PassageKind::Typed && is_open(passage)) {
            let demands = passage.lines.clone().filter(|line| self.lines[*line as usize].demand > 0.0);
            of_messages.entry(passage.message).or_default().extend(demands);
        }
        let surest_first = |a: &u32, b: &u32| self.lines[*b as usize].demand.total_cmp(&self.lines[*a as usize].demand);
        let mut in_turn: Vec<(usize, u32)> = Vec::new();
        for mut lines in of_messages.into_values() {
            lines.sort_by(surest_first);
            in_turn.extend(lines.into_iter().enumerate());
        }
        // Of equally sure ones the newest.
        in_turn.sort_by(|(turn, line), (other_turn, other)| {
            turn.cmp(other_turn).then_with(|| surest_first(line, other)).then(other.cmp(line))
        });
        in_turn.into_iter().map(|(_, line)| line).collect()
    }
}
