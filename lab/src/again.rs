//! Several compactions of a session, one after the other, to the same final budget.

use std::fmt;

use anyhow::{Context as _, Result, bail};
use epitome::engine::{Chain, Engine, Mode, block_on};
use epitome::formats::{Format, ReadOptions, Wire, read, render};
use epitome::session::Entry;
use epitome::{Config, MemoryArchive, Registry, Request, Session, Status};
use epitome_eval::{BudgetSpec, Case};

/// How a session shrinks to its final budget.
#[derive(Debug, Clone, PartialEq)]
pub enum Steps {
    /// In that many compactions, each by the same share of what is there.
    Equal(u32),
    /// Through these budgets; the last one is the final budget.
    Through(Vec<BudgetSpec>),
}

impl Steps {
    /// The budgets in tokens, from a prefix of `prefix` tokens to `last`; none is less than `last` or `floor`. Equal
    /// steps are rounded down.
    fn budgets(&self, prefix: u32, last: u32, floor: u32) -> Vec<u32> {
        let least = last.max(floor);
        match self {
            Self::Equal(count) => {
                let share = f64::from(last) / f64::from(prefix.max(1));
                let step = |number: u32| {
                    let left = share.powf(f64::from(number) / f64::from(*count));
                    ((f64::from(prefix) * left) as u32).max(least)
                };
                (1..*count).map(step).chain([last]).collect()
            }
            Self::Through(budgets) => {
                let on_the_way = budgets.split_last().map_or(&[][..], |(_, others)| others);
                on_the_way.iter().map(|budget| budget.tokens(prefix).max(least)).chain([last]).collect()
            }
        }
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal(count) => write!(formatter, "×{count}"),
            Self::Through(budgets) => write!(formatter, "×{}", budgets.len()),
        }
    }
}

/// This engine, compacting a session several times.
#[derive(Debug)]
pub struct Again {
    engine: Engine,
    mode: Mode,
    chain: Option<Chain>,
    steps: Steps,
    is_piped: bool,
}

impl Again {
    /// Returns the configuration that `name` names, `default`, a preset or `config:FILE`, compacting in `steps`. Where it
    /// is piped, each result is written as OpenAI chat and read back before the next compaction: then only the text is
    /// there, without the log behind it.
    pub fn new(name: &str, steps: Steps, is_piped: bool, registry: &Registry) -> Result<Self> {
        let config = match name.strip_prefix("config:") {
            Some(file) => {
                let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
                Config::parse(&text, file, registry)?
            }
            None if name == "default" => Config::default(),
            None => match name.parse() {
                Ok(preset) => Config::with_preset(preset),
                Err(_) => bail!("`{name}` cannot be compacted again: only default, a preset and config:FILE can"),
            },
        };
        let runtime = config.build(registry)?;
        let engine = epitome::engine_of(&runtime);
        Ok(Self { engine, mode: runtime.mode, chain: runtime.fixed, steps, is_piped })
    }

    /// The name of the method of that name with several compactions: `default ×3`, `default ×3 piped`.
    pub fn name(&self, method: &str) -> String {
        format!("{method} {}{}", self.steps, if self.is_piped { " piped" } else { "" })
    }

    /// Compacts one session with its log and archive. A compaction on the way without a result leaves the session as it
    /// is; the last one decides whether there is a result.
    pub fn compact(&self, case: &Case, budget: u32) -> Result<Vec<Entry>, String> {
        let mut session = case.prefix.clone();
        let mut ledger = self.engine.ledger(&session);
        let mut archive = MemoryArchive::new();
        let mut last = Ok(());
        for (number, budget) in
            self.steps.budgets(case.prefix_tokens, budget, case.floor_tokens).into_iter().enumerate()
        {
            if self.is_piped && number > 0 {
                session = session_from_chat(session.view(), case.prefix.tools.as_deref())?;
                ledger = self.engine.ledger(&session);
            }
            let request = Request { mode: self.mode, chain: self.chain.clone(), ..Request::to_budget(budget) };
            let compacted = block_on(self.engine.compact(&mut session, &mut ledger, &mut archive, &request));
            last = match compacted.map_err(|error| error.to_string())?.status {
                Status::NoChange | Status::Compacted | Status::NearEmpty => Ok(()),
                status @ (Status::RolledBack | Status::Infeasible) => Err(format!("{status:?} at {budget} tokens")),
            };
        }
        last.map(|()| session.view().to_vec())
    }
}

/// Returns a view written as OpenAI chat and read back. The error says what is wrong with the text.
fn session_from_chat(view: &[Entry], tools: Option<&str>) -> Result<Session, String> {
    let rendered = render(view, Wire::OpenaiChat, tools, None);
    let options = ReadOptions { format: Some(Format::OpenaiChat), strict: true, ..ReadOptions::default() };
    let loaded = read(rendered.json.into_bytes(), options).map_err(|error| format!("cannot be read back: {error}"))?;
    loaded.sessions.into_iter().next().map(|named| named.session).ok_or_else(|| "is read back as nothing".to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use epitome::session::{Message, Origin, Role};
    use epitome_eval::CaseId;

    use super::*;

    #[test]
    fn budgets_on_the_way() {
        fn check(steps: Steps, last: u32, floor: u32, expect: &[u32]) {
            assert_eq!(steps.budgets(1_000, last, floor), expect);
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
    fn a_session_is_compacted_again() {
        let mut session = Session::new();
        session.push(Message::text("0", Role::User, Origin::Typed, "Count to two hundred."));
        for number in 0..200 {
            let text = format!("And now comes the number {number}, which stands behind {}. ", number - 1).repeat(4);
            session.push(Message::text(format!("{number}a"), Role::Assistant, Origin::Model, text));
            session.push(Message::text(format!("{number}u"), Role::User, Origin::Typed, "Go on."));
        }
        let id = CaseId { file: String::new(), session: String::new(), cut_permille: 0, part: None };
        let case = Case::from_prefix(id, "", session, &[]).unwrap();
        let check = |steps: Steps, is_piped: bool, name: &str| {
            let again = Again::new("default", steps, is_piped, &epitome::registry()).unwrap();
            assert_eq!(again.name("default"), name);
            let entries = again.compact(&case, 5_000).unwrap();
            assert!(!case.score(&entries, 5_000).over_budget, "{name}");
            assert!(entries.len() < case.prefix.view().len(), "{name}");
        };
        check(Steps::Equal(3), false, "default ×3");
        check(Steps::Through(vec![BudgetSpec::Share(0.6), BudgetSpec::Share(0.5)]), true, "default ×2 piped");
        let other = Again::new("baseline:newest", Steps::Equal(2), false, &epitome::registry());
        assert!(other.unwrap_err().to_string().contains("cannot be compacted again"));
    }
}
