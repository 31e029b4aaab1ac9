//! The messages of a view that is being compacted, each with its count and state.

use epitome_session::Entry;
use epitome_strategy::EntryTokens;

/// A message with its count and state.
#[derive(Clone)]
pub(crate) struct Slot {
    pub entry: Entry,
    pub tokens: EntryTokens,
    /// Whether the host pinned or marked it.
    pub is_marked: bool,
    /// How many levels of summary it is: 0 for a message of the log.
    pub level: u32,
}

/// The slots of a view in order, stored by columns because a view is made of slices of them. Every column has one
/// element per slot.
#[derive(Clone)]
pub(crate) struct Slots {
    pub entries: Vec<Entry>,
    pub tokens: Vec<EntryTokens>,
    pub marked: Vec<bool>,
    pub levels: Vec<u32>,
    /// Which slots leave when the pass ends.
    pub gone: Vec<bool>,
}

impl Slots {
    /// Ends a pass: removed slots leave, and new ones take their places. Linear, but for sorting the new ones.
    pub(crate) fn end_pass(&mut self, incoming: Vec<Slot>) {
        let gone = std::mem::take(&mut self.gone);
        retain(&mut self.entries, &gone);
        retain(&mut self.tokens, &gone);
        retain(&mut self.marked, &gone);
        retain(&mut self.levels, &gone);
        self.gone = vec![false; self.entries.len()];
        if !incoming.is_empty() {
            self.merge(incoming);
        }
    }

    fn merge(&mut self, mut incoming: Vec<Slot>) {
        incoming.sort_by_key(|slot| slot.entry.position);
        let mut incoming = incoming.into_iter().peekable();
        let merged = Self::with_capacity(self.entries.len() + incoming.len());
        for slot in std::mem::replace(self, merged).into_slots() {
            while let Some(new) = incoming.next_if(|new| new.entry.position < slot.entry.position) {
                self.push(new);
            }
            self.push(slot);
        }
        for new in incoming {
            self.push(new);
        }
    }

    fn with_capacity(slots: usize) -> Self {
        Self {
            entries: Vec::with_capacity(slots),
            tokens: Vec::with_capacity(slots),
            marked: Vec::with_capacity(slots),
            levels: Vec::with_capacity(slots),
            gone: Vec::with_capacity(slots),
        }
    }

    fn into_slots(self) -> impl Iterator<Item = Slot> {
        let slots = self.entries.into_iter().zip(self.tokens).zip(self.marked).zip(self.levels);
        slots.map(|(((entry, tokens), is_marked), level)| Slot { entry, tokens, is_marked, level })
    }

    fn push(&mut self, slot: Slot) {
        self.entries.push(slot.entry);
        self.tokens.push(slot.tokens);
        self.marked.push(slot.is_marked);
        self.levels.push(slot.level);
        self.gone.push(false);
    }
}

/// Keeps the elements that are not gone.
fn retain<T>(column: &mut Vec<T>, gone: &[bool]) {
    let mut gone = gone.iter();
    column.retain(|_| gone.next() != Some(&true));
}
