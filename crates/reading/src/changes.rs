//! Text that a later change replaced, and lists of tasks that a later one replaced.

use std::collections::{HashMap, HashSet};

use epitome_strategy::keys::key_of;
use epitome_strategy::transcript::Sign;

use crate::actions::file_of;
use crate::passage::PassageKind;
use crate::source::Source;

/// Bytes of the shortest line that identifies itself elsewhere: closing brackets are everywhere.
const LEAST_BYTES: usize = 12;

/// Returns for each line whether it shows text of a file that a later change replaced, or is of a call whose list of tasks a
/// later call of the same tool replaced. Linear.
pub(crate) fn replaced_lines(source: &Source) -> Vec<bool> {
    let mut is_replaced = vec![false; source.lines.len()];
    mark_earlier_tasks(source, &mut is_replaced);
    if source.lines.iter().any(|line| line.sign == Sign::Old) {
        mark_replaced_text(source, &mut is_replaced);
    }
    is_replaced
}

fn mark_earlier_tasks(source: &Source, is_replaced: &mut [bool]) {
    let listing = || source.actions.iter().filter(|action| action.lists_tasks);
    let newest: HashMap<&str, u32> = listing().map(|action| (&*action.name, action.head)).collect();
    // The plan that single calls make is in the state of the work, which stands last.
    let newest_task = source.actions.iter().rfind(|action| action.writes_task).map(|action| action.head);
    // The call and its result say no more than that there was a list.
    let of_list = |kind: PassageKind| matches!(kind, PassageKind::Call | PassageKind::Argument | PassageKind::Output);
    for passage in source.passages.iter().filter(|passage| of_list(passage.kind)) {
        let action = passage.action.map(|action| &source.actions[action as usize]);
        if action.is_some_and(|action| {
            action.lists_tasks && newest.get(&*action.name) != Some(&action.head)
                || action.writes_task && newest_task != Some(action.head)
        }) {
            is_replaced[passage.lines.start as usize..passage.lines.end as usize].fill(true);
        }
    }
}

fn mark_replaced_text(source: &Source, is_replaced: &mut [bool]) {
    let mut gone: HashSet<(u64, u64)> = HashSet::new();
    let key = |file: u64, line: u32| {
        let text = source.lines[line as usize].text().trim();
        (text.len() >= LEAST_BYTES).then(|| (file, key_of(text.bytes())))
    };
    let mut end = source.passages.len();
    while end > 0 {
        // The passages of one call, from the newest call on.
        let action = source.passages[end - 1].action;
        let start = source.passages[..end].iter().rposition(|passage| passage.action != action).map_or(0, |at| at + 1);
        let passages = &source.passages[start..end];
        end = start;
        let action = action.map(|action| &source.actions[action as usize]).filter(|action| !action.has_failed());
        let Some(file) = action.and_then(|action| file_of(source, action)) else { continue };
        let lines = |kind: PassageKind, sign: Sign| {
            let of_kind = passages.iter().filter(move |passage| passage.kind == kind);
            of_kind
                .flat_map(|passage| passage.lines.clone())
                .filter(move |line| source.lines[*line as usize].sign == sign)
        };
        let shown = lines(PassageKind::Output, Sign::Plain).chain(lines(PassageKind::Argument, Sign::New));
        for line in shown {
            is_replaced[line as usize] = key(file, line).is_some_and(|key| gone.contains(&key));
        }
        let kept: HashSet<(u64, u64)> =
            lines(PassageKind::Argument, Sign::New).filter_map(|line| key(file, line)).collect();
        gone.extend(
            lines(PassageKind::Argument, Sign::Old)
                .filter_map(|line| key(file, line))
                .filter(|key| !kept.contains(key)),
        );
    }
}
