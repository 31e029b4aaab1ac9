//! Probe recall: whether the facts of a probe are in a context, near each other.

use serde::{Deserialize, Serialize};

use super::probe::{Probe, ProbeKind};
use crate::figures::kept::KeptCount;

/// Characters within which one wording of every group must begin.
const WINDOW: usize = 600;

/// How many probes a context can answer, all and by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProbeScores {
    /// All of them.
    pub all: KeptCount,
    /// By kind, in the order of [`ProbeKind::ALL`].
    pub by_kind: [KeptCount; 5],
}

impl ProbeScores {
    /// Returns the count of one kind.
    pub fn count_of(&self, kind: ProbeKind) -> KeptCount {
        self.by_kind[kind as usize]
    }

    pub(crate) fn is_none(&self) -> bool {
        self.all.of == 0
    }

    /// Returns the counts with none answered.
    pub(crate) fn with_nothing_kept(self) -> Self {
        let none = |kept: KeptCount| KeptCount { kept: 0, ..kept };
        Self { all: none(self.all), by_kind: self.by_kind.map(none) }
    }

    /// Returns the counts of probes of which it is known whether each is shown.
    pub fn count(probes: &[Probe], shown: &[bool]) -> Self {
        let mut scores = Self::default();
        for (probe, shown) in probes.iter().zip(shown) {
            scores.add(probe.kind, *shown);
        }
        scores
    }

    /// Counts one probe.
    pub(crate) fn add(&mut self, kind: ProbeKind, is_shown: bool) {
        for place in [&mut self.all, &mut self.by_kind[kind as usize]] {
            place.of += 1;
            place.kept += u32::from(is_shown);
        }
    }
}

/// Returns for each of `probes` whether the context `text` can answer it: it has one wording of each group of facts,
/// all beginnings within 600 characters; white space counts as one blank, case is ignored. Linear in the text for each
/// wording.
pub fn recall(probes: &[Probe], text: &str) -> Vec<bool> {
    let text = Text::new(text);
    probes.iter().map(|probe| text.shows(&probe.facts)).collect()
}

/// A context with single blanks and without case, and the position of each of its characters.
struct Text {
    plain: String,
    /// Returns the number of the character that begins at or before each byte.
    characters: Vec<u32>,
}

impl Text {
    fn new(text: &str) -> Self {
        let plain = normal(text);
        let mut characters = vec![0; plain.len()];
        for (number, (at, char)) in plain.char_indices().enumerate() {
            characters[at..at + char.len_utf8()].fill(number as u32);
        }
        Self { plain, characters }
    }

    fn shows(&self, facts: &[Vec<String>]) -> bool {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (group, wordings) in facts.iter().enumerate() {
            let before = found.len();
            for wording in wordings {
                self.each(&normal(wording), |place| found.push((place, group)));
            }
            if found.len() == before {
                return false;
            }
        }
        found.sort_unstable();
        let mut counts = vec![0u32; facts.len()];
        let (mut missing, mut first) = (facts.len(), 0);
        for (place, group) in &found {
            missing -= usize::from(counts[*group] == 0);
            counts[*group] += 1;
            while place - found[first].0 > WINDOW {
                let gone = found[first].1;
                counts[gone] -= 1;
                missing += usize::from(counts[gone] == 0);
                first += 1;
            }
            if missing == 0 {
                return true;
            }
        }
        false
    }

    /// Visits the character at which each occurrence of `wording` begins, overlapping ones too.
    fn each(&self, wording: &str, mut visit: impl FnMut(usize)) {
        let step = wording.chars().next().map_or(1, char::len_utf8);
        let mut from = 0;
        while let Some(at) = self.plain.get(from..).and_then(|rest| rest.find(wording)) {
            let Some(character) = self.characters.get(from + at) else { return };
            visit(*character as usize);
            from += at + step;
        }
    }
}

/// Returns each run of white space as one blank, in lower case. The separators of ASCII count as white space.
fn normal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_blank = false;
    for char in text.chars() {
        if char.is_whitespace() || matches!(char, '\u{1c}'..='\u{1f}') {
            if !is_blank {
                out.push(' ');
            }
            is_blank = true;
        } else {
            out.push(char);
            is_blank = false;
        }
    }
    out.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether `text` shows groups of wordings: groups separated by `;`, wordings by `|`.
    fn check(why: &str, facts: &str, text: &str, expect: bool) {
        let facts = facts.split(';').map(|group| group.split('|').map(str::to_owned).collect()).collect();
        let probe = Probe { id: "q".into(), kind: ProbeKind::Exact, question: "?".into(), answer: "!".into(), facts };
        assert_eq!(recall(&[probe], text), [expect], "{why}");
    }

    #[test]
    fn facts_stand_near_each_other() {
        check("one fact", "port 8080", "it listens on port 8080", true);
        check("none", "port 8080", "it listens", false);
        check("case and white space do not count", "Port  8080", "PORT\n\t8080", true);
        check("another wording", "eight|8080", "port 8080", true);
        check("one of two groups", "port;host", "port 8080", false);
        let apart = |blanks: usize| format!("port{}host", "x".repeat(blanks));
        check("600 characters from beginning to beginning", "port;host", &apart(596), true);
        check("601 characters", "port;host", &apart(597), false);
        check("characters, not bytes", "port;host", &format!("port{}host", "é".repeat(596)), true);
        check("a later pair counts", "port;host", &format!("{} port", apart(700)), true);
        let three = format!("a1{}b2{}a1 c3", "x".repeat(400), "x".repeat(400));
        check("the first of a group is too far, the second near", "a1;b2;c3", &three, true);
        check(
            "two within reach of a third, not of each other",
            "a1;b2;c3",
            &format!("a1{}b2{}c3", "x".repeat(400), "x".repeat(400)),
            false,
        );
        check("a wording may overlap itself", "aa;b", "aaab", true);
        check("Chinese", "端口;主机", "端口 8080，主机 a", true);
    }
}
