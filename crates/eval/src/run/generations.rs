//! Repeated compaction: several compactions to the same final budget.

use std::fmt;

use epitome::Session;
use epitome::formats::{Format, ReadOptions, Wire, read, render};
use epitome::session::{Entry, Message};

use crate::cases::budget::BudgetSpec;

/// What a row's method is called behind its own name where it was compacted several times.
pub(crate) const TIMES: char = '×';
/// What such a name ends with where a text lies between two compactions.
const PIPED: &str = " piped";

/// How a session shrinks to its final budget.
#[derive(Debug, Clone, PartialEq)]
pub enum Steps {
    /// In that many compactions, each by the same share of what is there.
    Equal(u32),
    /// Through these budgets; the last one is the final budget.
    Through(Vec<BudgetSpec>),
}

/// Several compactions one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Generations {
    /// The budgets on the way.
    pub steps: Steps,
    /// Whether each result is written as OpenAI chat and read back before the next compaction: then only the text is
    /// there, without the log behind it.
    pub piped: bool,
}

impl Generations {
    /// How many compactions these are.
    pub fn count(&self) -> usize {
        match &self.steps {
            Steps::Equal(count) => *count as usize,
            Steps::Through(budgets) => budgets.len(),
        }
    }

    /// Returns the name of `method` with several compactions: `default ×3`, `default ×3 piped`.
    pub fn name(&self, method: &str) -> String {
        format!("{method} {self}")
    }

    /// The budgets in tokens, from a prefix of `prefix` tokens to `last`; none is less than `last` or `floor`. Equal
    /// steps are rounded down.
    pub(crate) fn budgets(&self, prefix: u32, last: u32, floor: u32) -> Vec<u32> {
        let least = last.max(floor);
        match &self.steps {
            Steps::Equal(count) => {
                let share = f64::from(last) / f64::from(prefix.max(1));
                let step = |number: u32| {
                    let left = share.powf(f64::from(number) / f64::from(*count));
                    ((f64::from(prefix) * left) as u32).max(least)
                };
                (1..*count).map(step).chain([last]).collect()
            }
            Steps::Through(budgets) => {
                let on_the_way = budgets.split_last().map_or(&[][..], |(_, others)| others);
                on_the_way.iter().map(|budget| budget.tokens(prefix).max(least)).chain([last]).collect()
            }
        }
    }
}

impl fmt::Display for Generations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{TIMES}{}{}", self.count(), if self.piped { PIPED } else { "" })
    }
}

/// Returns a view written as OpenAI chat and read back. The error says what is wrong with the text.
pub(crate) fn session_from_chat(view: &[Entry], tools: Option<&str>) -> Result<Session, String> {
    let rendered = render(view, Wire::OpenaiChat, tools, None);
    let options = ReadOptions { format: Some(Format::OpenaiChat), strict: true, ..ReadOptions::default() };
    let loaded = read(rendered.json.into_bytes(), options).map_err(|error| format!("cannot be read back: {error}"))?;
    loaded.sessions.into_iter().next().map(|named| named.session).ok_or_else(|| "is read back as nothing".to_owned())
}

/// Returns a view as a session without an earlier log.
pub(crate) fn session_of(view: &[Entry], tools: Option<&str>) -> Session {
    let mut session = Session::new();
    session.tools = tools.map(Into::into);
    for entry in view {
        session.push(Message::clone(&entry.message));
    }
    session
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_on_the_way() {
        fn check(steps: Steps, last: u32, floor: u32, expect: &[u32]) {
            assert_eq!(Generations { steps, piped: false }.budgets(1_000, last, floor), expect);
        }
        check(Steps::Equal(1), 125, 0, &[125]);
        check(Steps::Equal(3), 125, 0, &[500, 250, 125]);
        check(Steps::Equal(3), 125, 300, &[500, 300, 125]);
        check(Steps::Equal(2), 2_000, 0, &[2_000, 2_000]);
        let through = [0.6, 0.35, 0.15].map(BudgetSpec::Share).to_vec();
        check(Steps::Through(through.clone()), 150, 0, &[600, 350, 150]);
        check(Steps::Through(through), 400, 0, &[600, 400, 400]);
    }

    #[test]
    fn names_tell_how_often() {
        assert_eq!(Generations { steps: Steps::Equal(3), piped: false }.name("default"), "default ×3");
        assert_eq!(Generations { steps: Steps::Equal(10), piped: true }.name("a+b"), "a+b ×10 piped");
    }
}
