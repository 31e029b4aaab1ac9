//! The place where a session is cut, and the parts that are left out.

use std::sync::Arc;

use epitome::engine::count_message;
use epitome::session::{Content, Entry, Message, Origin, Session, UnitKind, units};
use epitome::strategy::TokenCounter;
use epitome::tokens::ExactCounter;

/// The counter of every figure: exact, whatever the compaction counts with.
pub(crate) const COUNTER: ExactCounter = ExactCounter::O200kBase;

/// Returns the tokens of a message by the exact counter.
pub(crate) fn tokens_of(message: &Message) -> u32 {
    count_message(&COUNTER as &dyn TokenCounter, message).total
}

/// Returns a message of the full view as the evaluation reads it: summaries and notices of recorded compactions are
/// left out, and reasoning unless `with_reasoning` is set; `None` where nothing is left.
pub(crate) fn admitted_message(entry: &Entry, with_reasoning: bool) -> Option<Arc<Message>> {
    let message = &entry.original;
    if matches!(message.origin, Origin::Summary | Origin::Notice | Origin::Answer) {
        return None;
    }
    let is_reasoning = |content: &Content| matches!(content, Content::Thinking(_));
    if with_reasoning || !message.blocks.iter().any(|block| is_reasoning(&block.content)) {
        return Some(Arc::clone(message));
    }
    let mut plain = Message::clone(message);
    for block in plain.blocks.iter_mut().filter(|block| is_reasoning(&block.content)) {
        (block.content, block.raw) = (Content::Gone, None);
    }
    let is_empty = plain.blocks.iter().all(|block| matches!(block.content, Content::Gone));
    (!is_empty).then(|| Arc::new(plain))
}

/// Returns the number of entries before the cut: the first place where at least `share` of the tokens are spent and
/// every call of the unit before it is answered. `None` where that leaves nothing behind the cut. Linear.
pub(crate) fn position(entries: &[Entry], tokens: &[u32], share: f64) -> Option<usize> {
    let total: u64 = tokens.iter().map(|tokens| u64::from(*tokens)).sum();
    let wanted = total as f64 * share;
    let mut spent = 0u64;
    for unit in units(entries) {
        spent += tokens[unit.entries.clone()].iter().map(|tokens| u64::from(*tokens)).sum::<u64>();
        let is_step = unit.kind == UnitKind::Step;
        if spent as f64 >= wanted && (unit.closed || !is_step) {
            return (unit.entries.end < entries.len()).then_some(unit.entries.end);
        }
    }
    None
}

/// Returns the least budget that is fair: system prompt, newest typed message, last step and 500 tokens. Linear.
pub(crate) fn floor(entries: &[Entry], tokens: &[u32]) -> u32 {
    const ROOM: u32 = 500;
    let units = units(entries);
    let of = |range: std::ops::Range<usize>| tokens[range].iter().sum::<u32>();
    let system: u32 =
        units.iter().filter(|unit| unit.kind == UnitKind::System).map(|unit| of(unit.entries.clone())).sum();
    let newest =
        |kind: UnitKind| units.iter().rev().find(|unit| unit.kind == kind).map_or(0, |unit| of(unit.entries.clone()));
    system + newest(UnitKind::User) + newest(UnitKind::Step) + ROOM
}

/// Returns a session of messages, without their records, as a part of `whole`.
pub(crate) fn part_of(whole: &Session, messages: impl Iterator<Item = Arc<Message>>) -> Session {
    let mut part = Session::new();
    part.id.clone_from(&whole.id);
    part.tools.clone_from(&whole.tools);
    for message in messages {
        part.push(Message { records: Vec::new(), ..Arc::unwrap_or_clone(message) });
    }
    part
}
