//! What must stay: a lower bound of what can be reached, and its parts by name.

use std::fmt;

use epitome_session::heading::group_digits;
use epitome_session::{Origin, UnitKind};
use epitome_strategy::{EntryTokens, Protection, Tokens};

use crate::floor::NOTICE_ROOM;
use crate::report::{Floor, FloorPart};
use crate::request::Pins;
use crate::working::{Layout, WorkingView};

/// The name of the part that may leave: in a floor, the notice for the messages that left.
const FREE: &str = "notice";

/// Tokens of a message whose text left for a mark, near enough.
const STUB: Tokens = 20;

/// Tokens that a compaction reaches without touching the newest step: a bound that is cheap to compute.
pub(crate) fn quick_minimum(working: &WorkingView, layout: &Layout) -> Tokens {
    let stays = layout.units.iter().zip(&layout.protections).filter(|(_, protection)| !protection.may_leave());
    let tokens = stays.flat_map(|(unit, _)| &working.tokens()[unit.entries.clone()]).map(|entry| entry.total);
    tokens.fold(NOTICE_ROOM, Tokens::saturating_add)
}

/// Returns the tokens of `working` that a compaction to `target` cannot save: what must stay, and the earlier
/// summaries, whose room new ones would take. The newest step may be cut, and a summary may shrink, where they are
/// large for the target. Linear in the units.
pub(crate) fn staying_tokens(working: &WorkingView, layout: &Layout, target: Tokens) -> Tokens {
    let (mut stays, mut summaries): (Tokens, Tokens) = (0, 0);
    for (unit, protection) in layout.units.iter().zip(&layout.protections) {
        let tokens: Tokens = working.tokens()[unit.entries.clone()].iter().map(|entry| entry.total).sum();
        let is_notice = || working.entries()[unit.entries.start].message.origin == Origin::Notice;
        match protection {
            Protection::NewestStep => stays += tokens.min(target / 4),
            Protection::Free | Protection::WholeOnly if unit.kind == UnitKind::Summary || is_notice() => {
                summaries += tokens
            }
            Protection::Free | Protection::WholeOnly => {}
            Protection::TextsOnly => {
                let least = |entry: &EntryTokens| entry.total.min(STUB);
                stays += working.tokens()[unit.entries.clone()].iter().map(least).sum::<Tokens>();
            }
            _ => stays += tokens,
        }
    }
    stays + summaries.min(target.saturating_sub(stays))
}

/// Returns why a compaction is not worth making: it would save less than the least that is asked of one. Linear in the
/// view.
pub(crate) fn not_worthwhile_reason(working: &WorkingView, pins: &Pins, stays: Tokens, least: Tokens) -> String {
    let number = |tokens: Tokens| group_digits(tokens.into());
    let mut parts = floor_of(working, pins).parts;
    parts.retain(|part| part.part != FREE);
    let named: Vec<String> = parts.iter().map(|part| format!("{} {}", part.part, number(part.tokens))).collect();
    let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
    format!(
        "not made: of {} tokens {} would stay{named}, and less than {} saved is not worth a compaction",
        number(working.total),
        number(stays),
        number(least)
    )
}

/// Returns the name of the part of a floor that a unit with this protection belongs to.
fn part_of(protection: Protection) -> &'static str {
    match protection {
        Protection::Free | Protection::WholeOnly => FREE,
        Protection::TextsOnly | Protection::Fixed => "host-keeps",
        Protection::NewestStep => "newest-step",
        Protection::System => "system",
        Protection::OriginalTask => "original-task",
        Protection::NewestUser => "newest-user",
        Protection::Pinned => "pinned",
        Protection::ProtectedTool => "protected-tool",
        Protection::Instructions => "instructions",
        Protection::RecentRound => "recent-round",
        Protection::RecentMessage => "recent-message",
        Protection::Open => "open",
    }
}

/// Returns what is left when nothing more may leave: the parts of the floor, largest first.
pub(crate) fn floor_of(working: &WorkingView, pins: &Pins) -> Floor {
    let layout = working.layout(pins);
    let mut parts: Vec<FloorPart> = Vec::new();
    for (unit, protection) in layout.units.iter().zip(&layout.protections) {
        let part = part_of(*protection);
        let tokens = working.tokens()[unit.entries.clone()].iter().map(|it| it.total).sum::<Tokens>();
        let messages = unit.entries.len() as u32;
        match parts.iter_mut().find(|known| known.part == part) {
            Some(known) => {
                known.tokens += tokens;
                known.tokens_before += tokens;
                known.messages += messages;
            }
            None => parts.push(FloorPart { part: part.to_owned(), tokens, tokens_before: tokens, messages }),
        }
    }
    parts.sort_by(|left, right| right.tokens.cmp(&left.tokens).then_with(|| left.part.cmp(&right.part)));
    Floor { tokens: working.total, parts }
}

impl fmt::Display for FloorPart {
    /// `newest-step 15 of 328`, the least and the size as it is; one figure where the part cannot be cut.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.part, self.tokens)?;
        let is_cut = self.part != FREE && self.tokens_before > self.tokens;
        if is_cut { write!(formatter, " of {}", self.tokens_before) } else { Ok(()) }
    }
}

impl Floor {
    /// Returns it with the tokens that its parts take in the view before; for the notice those of all messages that may
    /// leave. Linear in the units.
    pub(crate) fn with_sizes_in(mut self, start: &WorkingView, layout: &Layout) -> Self {
        for part in &mut self.parts {
            let units = layout.units.iter().zip(&layout.protections);
            let units = units.filter(|(_, protection)| part_of(**protection) == part.part);
            let tokens = units.flat_map(|(unit, _)| &start.tokens()[unit.entries.clone()]).map(|it| it.total);
            part.tokens_before = tokens.sum();
        }
        self
    }
}

/// Returns why a compaction stopped above `target`, and how many tokens each part of what must stay holds; `None` at or
/// under the target. Linear in the view.
pub(crate) fn stop_reason(working: &WorkingView, pins: &Pins, target: Tokens) -> Option<String> {
    let over = working.total.checked_sub(target).filter(|over| *over > 0)?;
    let number = |tokens: Tokens| group_digits(tokens.into());
    let mut parts = floor_of(working, pins).parts;
    parts.retain(|part| part.part != FREE);
    let stays: Tokens = parts.iter().map(|part| part.tokens).sum();
    let named: Vec<String> = parts.iter().map(|part| format!("{} {}", part.part, number(part.tokens))).collect();
    let rest = match working.total - stays.min(working.total) {
        0 => String::new(),
        rest => format!("; {} are left of the rest", number(rest)),
    };
    Some(format!(
        "stopped at {} tokens, {} above the target of {}: what must stay holds {} ({}){rest}",
        number(working.total),
        number(over),
        number(target),
        number(stays),
        named.join(", ")
    ))
}
