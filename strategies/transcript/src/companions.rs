//! The lines that are kept with another: what a line introduces, and the outcome of a call.

use crate::passage::{Kind, Passage};
use crate::source::Source;
use crate::worth::Worth;

/// The most lines that introduce one another: a heading, a sentence, the fence of a block.
const MOST: u8 = 3;

/// Tokens of the longest line that one which introduces it is sure to bring: about a line of prose. Source: with no such
/// bound .006 fewer of the recorded questions could be answered at 15 % of the tokens.
const LONG: u32 = 30;

/// The line that another is kept with.
#[derive(Debug, Clone, Copy, Default)]
enum Companion {
    #[default]
    None,
    /// It is taken together with the other.
    Brought(u32),
    /// The other is taken only once it is.
    Awaited(u32),
}

/// For each line the one that it is kept with.
#[derive(Debug, Default)]
pub(crate) struct Companions(Vec<Companion>);

impl Companions {
    /// Finds the companions among the lines that are `open` to the choice. A line that introduces a list or a block is
    /// worth nothing without its head; a call without its outcome does not say whether it worked. Linear.
    pub(crate) fn new(source: &Source, worth: &Worth, open: &[bool]) -> Self {
        let mut companions = Self(vec![Companion::None; source.lines.len()]);
        let set = |companions: &mut Self, line: u32, companion: Companion, other: u32| {
            if open[line as usize] && open[other as usize] {
                companions.0[line as usize] = companion;
            }
        };
        for action in &source.actions {
            if let Some(outcome) = action.outcome {
                set(&mut companions, action.head, Companion::Brought(outcome), outcome);
            }
        }
        for passage in source.passages.iter().filter(|passage| is_speech(passage)) {
            // What a person demands is kept whatever it costs.
            let is_typed = matches!(passage.kind, Kind::Typed | Kind::Told);
            let mut depth = 0;
            for (line, next) in passage.lines.clone().zip(passage.lines.clone().skip(1)).rev() {
                depth = if introduces(source.lines[line as usize].text()) && depth < MOST { depth + 1 } else { 0 };
                if depth > 0 {
                    // What waits is not there to be brought.
                    let waits = matches!(companions.0[next as usize], Companion::Awaited(_));
                    let is_brought = is_typed || (worth.tokens[next as usize] <= LONG && !waits);
                    set(
                        &mut companions,
                        line,
                        if is_brought { Companion::Brought(next) } else { Companion::Awaited(next) },
                        next,
                    );
                }
            }
        }
        companions
    }

    /// Returns the line that is taken with a line.
    pub(crate) fn brought_by(&self, line: u32) -> Option<u32> {
        match self.0.get(line as usize)? {
            Companion::Brought(other) => Some(*other),
            Companion::None | Companion::Awaited(_) => None,
        }
    }

    /// Returns the line that a line is not taken before.
    pub(crate) fn awaited_by(&self, line: u32) -> Option<u32> {
        match self.0.get(line as usize)? {
            Companion::Awaited(other) => Some(*other),
            Companion::None | Companion::Brought(_) => None,
        }
    }
}

fn is_speech(passage: &Passage) -> bool {
    matches!(passage.kind, Kind::Typed | Kind::Told | Kind::Injected | Kind::Said | Kind::Answer)
}

/// Whether a line introduces what follows it: it ends with a colon, whatever its emphasis, or opens a block of code.
pub(crate) fn introduces(line: &str) -> bool {
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
