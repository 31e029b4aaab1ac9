//! The lines that are kept with another: what a line introduces, and the outcome of a call.

use crate::source::{Kind, Passage, Source};

/// The mark for a line that is kept without another.
const NONE: u32 = u32::MAX;

/// The most lines that introduce one another: a heading, a sentence, the fence of a block.
const MOST: u8 = 3;

/// For each line the one that it is kept with.
#[derive(Debug, Default)]
pub(crate) struct Companions(Vec<u32>);

impl Companions {
    /// Finds the companions among the lines that are `open` to the choice. A line that introduces a list or a block is
    /// worth nothing without its head; a call without its outcome does not say whether it worked. Linear.
    pub(crate) fn new(source: &Source, open: &[bool]) -> Self {
        let mut companions = Self(vec![NONE; source.lines.len()]);
        let mut set = |line: u32, other: u32| {
            if open[line as usize] && open[other as usize] {
                companions.0[line as usize] = other;
            }
        };
        for action in &source.actions {
            if let Some(outcome) = action.outcome {
                set(action.head, outcome);
            }
        }
        for (number, passage) in source.passages.iter().enumerate().filter(|(_, passage)| is_speech(passage)) {
            let mut depth = 0;
            let after = source.passages.get(number + 1);
            let call = after.filter(|after| after.kind == Kind::Call && after.message == passage.message);
            let mut next = call.map(|call| call.lines.start);
            for line in passage.lines.clone().rev() {
                depth = if introduces(source.lines[line as usize].text()) && depth < MOST { depth + 1 } else { 0 };
                if let Some(next) = next.filter(|_| depth > 0) {
                    set(line, next);
                }
                next = Some(line);
            }
        }
        companions
    }

    /// Returns the line that a line is kept with.
    pub(crate) fn of(&self, line: u32) -> Option<u32> {
        self.0.get(line as usize).copied().filter(|other| *other != NONE)
    }
}

fn is_speech(passage: &Passage) -> bool {
    matches!(passage.kind, Kind::Typed | Kind::Told | Kind::Injected | Kind::Said | Kind::Answer)
}

/// Whether a line introduces what follows it: it ends with a colon, whatever its emphasis, or opens a block of code.
fn introduces(line: &str) -> bool {
    let line = line.trim();
    line.trim_end_matches(['*', '_', '`']).ends_with([':', '：'])
        || line.strip_prefix("```").is_some_and(|language| !language.is_empty() && !language.contains('`'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_introduces() {
        let check = |line: &str, expect: bool| assert_eq!(introduces(line), expect, "{line}");
        check("There are three rules:", true);
        check("**Rules:** ", true);
        check("规则如下：", true);
        check("```rust", true);
        check("The port is 8417.", false);
        check("`a::b` is 12:30 o'clock", false);
        check("```", false);
        check("```one line```", false);
    }
}
