//! Groups steps that belong together.

use epitome_strategy::tools::ToolKind;
use epitome_strategy::{UnitKind, View};

use crate::Settings;

/// Steps with calls that belong together.
#[derive(Debug)]
pub(crate) struct Chain<'v> {
    /// Their units, ascending.
    pub(crate) steps: Vec<u32>,
    /// The property that most of them share, where more than half do.
    common: Option<Key<'v>>,
}

/// A property that two steps can share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key<'v> {
    Kind(ToolKind),
    /// A tool of unknown kind.
    Tool(&'v str),
    /// A file.
    Path(&'v str),
}

/// A step with calls.
struct Step<'v> {
    unit: u32,
    keys: Vec<Key<'v>>,
}

impl Chain<'_> {
    /// Returns the subject of the chain, for a person.
    pub(crate) fn describe(&self) -> String {
        match self.common {
            None => String::new(),
            Some(Key::Kind(kind)) => format!(" ({kind:?})").to_lowercase(),
            Some(Key::Tool(name)) => format!(" ({name})"),
            Some(Key::Path(path)) => format!(" ({})", path.rsplit(['/', '\\']).next().unwrap_or(path)),
        }
    }
}

/// Returns the chains of a view, in order: runs of steps without a typed message between them in which each gap is
/// bridged by two steps, at most `reach` apart, that call the same kind of tool or name the same file. So a loop of
/// edits and tests is one chain although each test shares nothing with the edit in front of it. Linear.
pub(crate) fn find<'v>(view: &'v View<'_>, settings: &Settings) -> Vec<Chain<'v>> {
    let mut chains = Vec::new();
    let mut run: Vec<Step<'v>> = Vec::new();
    let mut rest = steps(view).into_iter().peekable();
    for (index, unit) in view.units().iter().enumerate() {
        if unit.kind == UnitKind::User {
            split(std::mem::take(&mut run), settings, &mut chains);
        }
        run.extend(rest.next_if(|step| step.unit as usize == index));
    }
    split(run, settings, &mut chains);
    chains
}

/// Returns every step with calls, and the properties that others may share.
fn steps<'v>(view: &'v View<'_>) -> Vec<Step<'v>> {
    let facts = view.facts();
    let mut events = facts.file_events().iter().peekable();
    let mut steps: Vec<Step<'v>> = Vec::new();
    for (index, call) in facts.calls().iter().enumerate() {
        if steps.last().is_none_or(|step| step.unit != call.unit) {
            steps.push(Step { unit: call.unit, keys: Vec::new() });
        }
        let Some(step) = steps.last_mut() else { continue };
        let mut add = |key| {
            if !step.keys.contains(&key) {
                step.keys.push(key);
            }
        };
        add(if call.kind == ToolKind::Other { Key::Tool(call.name) } else { Key::Kind(call.kind) });
        while let Some(event) = events.next_if(|event| event.call as usize == index) {
            add(Key::Path(&event.path));
        }
    }
    steps
}

/// Splits a run of steps where no link bridges the gap, and where a chain gets too long.
fn split<'v>(run: Vec<Step<'v>>, settings: &Settings, chains: &mut Vec<Chain<'v>>) {
    let mut bridged = vec![false; run.len()]; // the gap behind each step
    for later in 1..run.len() {
        let earliest = later.saturating_sub(settings.reach as usize);
        let linked = |earlier: &usize| run[*earlier].keys.iter().any(|key| run[later].keys.contains(key));
        if let Some(earlier) = (earliest..later).find(linked) {
            bridged[earlier..later].fill(true);
        }
    }
    let mut chain: Vec<Step<'v>> = Vec::new();
    for (step, bridged) in run.into_iter().zip(bridged) {
        chain.push(step);
        if !bridged || chain.len() == settings.max_steps as usize {
            chains.push(finish(std::mem::take(&mut chain)));
        }
    }
    if !chain.is_empty() {
        chains.push(finish(chain));
    }
}

fn finish(chain: Vec<Step<'_>>) -> Chain<'_> {
    let mut counts: Vec<(Key<'_>, usize)> = Vec::new();
    for key in chain.iter().flat_map(|step| &step.keys) {
        match counts.iter_mut().find(|(known, _)| known == key) {
            Some((_, count)) => *count += 1,
            None => counts.push((*key, 1)),
        }
    }
    let common = counts.iter().rev().max_by_key(|(_, count)| *count).filter(|(_, count)| count * 2 > chain.len());
    Chain { common: common.map(|(key, _)| *key), steps: chain.iter().map(|step| step.unit).collect() }
}
