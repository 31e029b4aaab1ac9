//! Why a chain was taken, in a few words.

use epitome::Runtime;
use epitome::engine::Mode;
use epitome::strategy::{TaskKind, Verdict};

/// The grounds of [`why`], beside the verdict.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice {
    /// The mode by which the chain was chosen.
    pub(crate) mode: Mode,
    /// Which compaction of the session it is, from 1.
    pub(crate) cycle: u32,
    /// The compaction from which on later chains are used.
    later_from: u32,
    /// Whether the task type has a chain for later compactions, for each type in the order of [`TaskKind::ALL`].
    later: [bool; TaskKind::ALL.len()],
    /// The number of different chains in a tournament.
    candidates: usize,
}

impl Choice {
    /// The choice of a chain for the compaction `cycle` of a session.
    pub(crate) fn new(runtime: &Runtime, mode: Mode, cycle: u32) -> Self {
        let chains = runtime.chains();
        let later_from = runtime.base_engine.select.later_from;
        let mut different: Vec<Vec<String>> = TaskKind::ALL
            .iter()
            .map(|kind| chains.later.get(kind).filter(|_| cycle >= later_from).unwrap_or(chains.chain(*kind)).ids())
            .collect();
        different.sort();
        different.dedup();
        let later = TaskKind::ALL.map(|kind| chains.later.contains_key(&kind));
        Self { mode, cycle, later_from, later, candidates: different.len() }
    }

    /// Why the chain of `task` was taken: `for code, kept from the last compaction`.
    pub(crate) fn why(&self, task: &Verdict) -> String {
        match self.mode {
            Mode::Fixed => return "fixed".to_owned(),
            Mode::Tournament if self.candidates == 1 => return "the only one in the tournament".to_owned(),
            Mode::Tournament => return format!("best of {} in the tournament", self.candidates),
            Mode::Adaptive => {}
        }
        let mut words = format!("for {}", task.kind);
        let first = task.evidence.first().map_or("", String::as_str);
        if first.starts_with("given by the caller") {
            words.push_str(", as --task says");
        } else if first.starts_with("kept ") {
            words.push_str(", kept from the last compaction");
        } else if task.kind == TaskKind::Mixed && first.starts_with("a conversation with ") {
            words.push_str(", a conversation through tools");
        }
        let has_later = TaskKind::ALL.iter().zip(self.later).any(|(kind, has)| *kind == task.kind && has);
        if has_later && self.cycle >= self.later_from {
            words.push_str(&format!(", from the {} compaction on", ordinal(self.later_from)));
        }
        words
    }
}

/// `1st`, `2nd`, `3rd`, `11th`.
fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn check(config: &str, mode: Mode, cycle: u32, evidence: &str, expect: &str) {
        let registry = epitome::registry();
        let runtime = epitome::Config::parse(config, "c.toml", &registry).unwrap().build(&registry).unwrap();
        let verdict = Verdict { kind: TaskKind::Code, confidence: 0.9, evidence: vec![evidence.to_owned()] };
        assert_eq!(Choice::new(&runtime, mode, cycle).why(&verdict), expect);
    }

    #[test]
    fn the_reason_is_told() {
        const LATER: &str = "[chains]\ncode-later = [\"sliding-window\"]\n";
        check("", Mode::Adaptive, 1, "23 edits", "for code");
        check("", Mode::Adaptive, 9, "23 edits", "for code");
        check("", Mode::Adaptive, 1, "given by the caller", "for code, as --task says");
        check("", Mode::Fixed, 1, "23 edits", "fixed");
        let kept = "kept code from the last compaction: too little can be told now";
        check("", Mode::Adaptive, 2, kept, "for code, kept from the last compaction");
        check(LATER, Mode::Adaptive, 2, "23 edits", "for code");
        let runtime = epitome::Config::default().build(&epitome::registry()).unwrap();
        let evidence = vec!["a conversation with 9 tool calls in 4 typed messages".to_owned()];
        let mixed = Verdict { kind: TaskKind::Mixed, confidence: 0.8, evidence };
        assert_eq!(Choice::new(&runtime, Mode::Adaptive, 1).why(&mixed), "for mixed, a conversation through tools");
        check(LATER, Mode::Adaptive, 3, "23 edits", "for code, from the 3rd compaction on");
        check(LATER, Mode::Adaptive, 4, kept, "for code, kept from the last compaction, from the 3rd compaction on");
        check("preset = \"classic\"", Mode::Tournament, 1, "23 edits", "best of 3 in the tournament");
        check("preset = \"basic\"", Mode::Tournament, 1, "23 edits", "the only one in the tournament");
    }

    #[test]
    fn ordinals() {
        assert_eq!([1, 2, 3, 4, 11, 13, 22, 101].map(ordinal).join(" "), "1st 2nd 3rd 4th 11th 13th 22nd 101st");
    }
}
