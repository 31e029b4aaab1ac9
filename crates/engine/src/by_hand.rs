//! What a person keeps and drops by hand: messages that a request names by their numbers.

use std::collections::{BTreeMap, HashSet};

use epitome_session::{Entry, EntryKey, MessageRange, Reason, Session};
use epitome_strategy::{HostChanges, Protection};
use thiserror::Error;

use crate::context::Context;
use crate::editor::Editor;
use crate::guard::{self, EditRefusal, Guard, Guards};
use crate::hand_report::{ByHandReport, StayingMessages};
use crate::request::Request;
use crate::working::{Layout, WorkingView};

pub(crate) const BY_HAND: &str = "by-hand";

/// Why a request's `keep` or `drop` cannot be followed. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ByHandError {
    /// The session has no message of that number.
    #[error("there is no message #{number}: {}", last_of(*messages))]
    Beyond {
        /// The number.
        number: u32,
        /// How many messages the session has.
        messages: u32,
    },
    /// The message is not in the context, and what is not there cannot be kept.
    #[error("message #{number} cannot be kept: it has left the context already")]
    Gone {
        /// The number.
        number: u32,
    },
    /// The message has to stay.
    #[error("message #{number} cannot be dropped: {why}")]
    Stays {
        /// The number.
        number: u32,
        /// The reason.
        why: &'static str,
    },
}

fn last_of(messages: u32) -> String {
    messages.checked_sub(1).map_or_else(|| "the session has none".to_owned(), |last| format!("the last is #{last}"))
}

/// The entries that a request keeps and drops.
#[derive(Debug, Default)]
pub(crate) struct HandSelection {
    /// Those that are kept, and were not before.
    pub kept: Vec<EntryKey>,
    /// Those that leave.
    pub drops: Vec<EntryKey>,
    /// What to tell; `None` where nothing was asked for.
    pub report: Option<ByHandReport>,
}

/// Which messages of the log each entry of a view stands for.
struct Numbers<'s>(Vec<(&'s Entry, Vec<u32>)>);

impl<'s> Numbers<'s> {
    fn new(session: &Session, entries: &'s [Entry]) -> Self {
        Self(entries.iter().map(|entry| (entry, session.original_numbers(entry.key))).collect())
    }

    /// Returns the positions of the entries that a range names: a message of the log, and a text all of whose messages a
    /// range of several has.
    fn positions(&self, range: MessageRange) -> impl Iterator<Item = usize> + '_ {
        let is_named = move |(entry, numbers): &(&Entry, Vec<u32>)| match (entry.key, range) {
            (EntryKey::Log(number), _) => range.contains(number),
            (EntryKey::Synthetic { .. }, MessageRange::One(_)) => false,
            (EntryKey::Synthetic { .. }, _) => {
                !numbers.is_empty() && numbers.iter().all(|number| range.contains(*number))
            }
        };
        self.0.iter().enumerate().filter(move |(_, entry)| is_named(entry)).map(|(position, _)| position)
    }

    /// Returns the numbers of the log's messages at some positions, as ranges.
    fn ranges(&self, positions: impl IntoIterator<Item = usize>) -> Vec<MessageRange> {
        let mut numbers: Vec<u32> = positions.into_iter().filter_map(|at| self.0[at].0.key.number()).collect();
        numbers.sort_unstable();
        MessageRange::runs(numbers)
    }
}

/// Returns the position in a list of units of the one that holds the message at `position`.
fn unit_of(layout: &Layout, position: usize) -> usize {
    layout.units.partition_point(|unit| unit.entries.end <= position)
}

/// Finds what a request keeps and drops, and protects in `start` what it keeps. Linear in the view and the log for each
/// range.
pub(crate) fn select_by_hand(
    start: &mut WorkingView,
    context: &Context<'_>,
    request: &Request,
) -> Result<HandSelection, ByHandError> {
    if request.keep.is_empty() && request.drop.is_empty() {
        return Ok(HandSelection::default());
    }
    let (session, pins) = (context.session, context.pins);
    let entries = start.entries().to_vec();
    let numbers = Numbers::new(session, &entries);
    let messages = session.log().len() as u32;
    for range in request.keep.iter().chain(&request.drop) {
        let number = range.last().unwrap_or(range.first());
        if number >= messages {
            return Err(ByHandError::Beyond { number, messages });
        }
    }
    let layout = start.layout(pins);
    let mut kept = HashSet::new();
    for range in &request.keep {
        let named: Vec<usize> = numbers.positions(*range).collect();
        if let (MessageRange::One(number), true) = (*range, named.is_empty()) {
            return Err(ByHandError::Gone { number });
        }
        kept.extend(named.into_iter().flat_map(|position| layout.units[unit_of(&layout, position)].entries.clone()));
    }
    start.keep(&kept);
    start.keep_recent(pins, request.target);
    let layout = start.layout(pins);
    let (mut leaving, mut staying) = (Vec::new(), BTreeMap::new());
    for range in &request.drop {
        for unit in numbers.positions(*range).map(|position| unit_of(&layout, position)) {
            match check(context.guards, layout.protections[unit]) {
                Ok(()) => leaving.push(unit),
                Err(_) => {
                    let why = why_it_stays(layout.protections[unit]);
                    if let MessageRange::One(number) = *range {
                        return Err(ByHandError::Stays { number, why });
                    }
                    staying.extend(layout.units[unit].entries.clone().map(|position| (position, why)));
                }
            }
        }
    }
    leaving.sort_unstable();
    leaving.dedup();
    let positions: Vec<usize> = leaving.iter().flat_map(|unit| layout.units[*unit].entries.clone()).collect();
    let is_refused = start.host != HostChanges::Any
        && context.guards.on(Guard::Host)
        && guard::host(start.host, start.removal(&positions)).is_err();
    if is_refused {
        staying.extend(positions.iter().map(|position| (*position, why_it_stays(Protection::Fixed))));
    }
    let drops = if is_refused { Vec::new() } else { positions.iter().map(|at| entries[*at].key).collect() };
    let shown: HashSet<u32> = entries.iter().filter_map(|entry| entry.key.number()).collect();
    let is_named = |number: &u32| request.keep.iter().chain(&request.drop).any(|range| range.contains(*number));
    let gone = MessageRange::runs((0..messages).filter(|number| !shown.contains(number) && is_named(number)));
    let report = ByHandReport {
        kept: numbers.ranges(kept.iter().copied()),
        dropped: Vec::new(),
        stayed: ranges_with_reasons(&entries, &staying),
        gone,
    };
    let mut kept: Vec<usize> = kept.into_iter().filter(|position| !entries[*position].is_kept).collect();
    kept.sort_unstable();
    let kept = kept.into_iter().map(|position| entries[position].key).collect();
    Ok(HandSelection { kept, drops, report: Some(report) })
}

/// Returns messages that stay, as ranges with one reason each.
fn ranges_with_reasons(entries: &[Entry], staying: &BTreeMap<usize, &'static str>) -> Vec<StayingMessages> {
    let numbered = staying.iter().filter_map(|(position, why)| Some((entries[*position].key.number()?, *why)));
    let mut numbered: Vec<(u32, &str)> = numbered.collect();
    numbered.sort_unstable();
    let groups = numbered.chunk_by(|(_, why), (_, next)| why == next);
    let staying_ranges = groups.flat_map(|group| {
        let runs = MessageRange::runs(group.iter().map(|(number, _)| *number));
        runs.into_iter().map(|messages| StayingMessages { messages, why: group[0].1.to_owned() })
    });
    staying_ranges.collect()
}

/// Refuses what has to stay, unless the guard is off.
fn check(guards: Guards, protection: Protection) -> Result<(), EditRefusal> {
    if guards.on(Guard::ByHand) { guard::by_hand(protection) } else { Ok(()) }
}

/// Returns the report with what became of the drops of a compaction that was made; `removed` are the entries that left by
/// hand.
pub(crate) fn with_outcome(
    report: ByHandReport,
    start: &WorkingView,
    session: &Session,
    drops: &[EntryKey],
    removed: &HashSet<EntryKey>,
) -> ByHandReport {
    let numbers = Numbers::new(session, start.entries());
    let at = |is_wanted: &dyn Fn(EntryKey) -> bool| -> Vec<usize> {
        (0..start.entries().len()).filter(|at| is_wanted(start.entries()[*at].key)).collect()
    };
    let dropped = numbers.ranges(at(&|key| removed.contains(&key)));
    let rest = numbers.ranges(at(&|key| drops.contains(&key) && !removed.contains(&key)));
    let why = "it is part of a step that stays, or it is not sent";
    let stayed = rest.into_iter().map(|messages| StayingMessages { messages, why: why.to_owned() });
    ByHandReport { dropped, stayed: report.stayed.into_iter().chain(stayed).collect(), ..report }
}

impl Editor<'_> {
    /// Lets the messages leave that a person drops, with what belongs to them. Linear in the view.
    pub(crate) fn drop_by_hand(&mut self) -> Result<(), EditRefusal> {
        let wanted: HashSet<EntryKey> = self.context.drops.iter().copied().collect();
        let layout = self.layout();
        let mut positions = Vec::new();
        for (unit, protection) in layout.units.iter().zip(&layout.protections) {
            let is_wanted = unit.entries.clone().any(|at| wanted.contains(&self.working.entries()[at].key));
            if is_wanted && check(self.context.guards, *protection).is_ok() {
                positions.extend(unit.entries.clone());
            }
        }
        if positions.is_empty() {
            return Ok(());
        }
        match self.drop_for_gain(BY_HAND, &positions, Reason::new("dropped-by-hand", "dropped by hand")) {
            // They are not sent, or the host cannot remove them: they stay.
            Err(EditRefusal::NoGain | EditRefusal::Host(_)) => Ok(()),
            Err(refusal) => Err(refusal),
            Ok(_) => self.restore_validity_unless_cancelled(),
        }
    }
}

/// Returns the reason why a message cannot be dropped, for a person.
fn why_it_stays(protection: Protection) -> &'static str {
    match protection {
        Protection::System => "it is the system prompt",
        Protection::OriginalTask => "it is the task of the session, which `[pins] original_task = false` lets go",
        Protection::NewestUser => "it is the newest user message",
        Protection::Pinned => "it is kept or pinned",
        Protection::ProtectedTool => "its tool is one of `[pins] protected_tools`",
        Protection::Instructions => "it holds instructions that the host loaded",
        Protection::RecentRound => "its round is one of `[pins] last_rounds`",
        Protection::RecentMessage => "it is one of the newest messages, which `[pins] keep_recent` keeps",
        Protection::Open => "its call is not answered yet",
        Protection::NewestStep => "it is the newest step, which the model goes on from",
        Protection::Free | Protection::WholeOnly | Protection::TextsOnly | Protection::Fixed => {
            "the host cannot remove it"
        }
    }
}
