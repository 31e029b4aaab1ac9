//! What follows a replay turn by turn.

use epitome::session::{Entry, EntryKey, Message};

/// Follows a replay turn by turn, and may have the agent make calls that the recording does not have.
pub trait ReplayObserver {
    /// The recording's message `number` was added to the log under `key`.
    fn added(&mut self, number: usize, key: EntryKey, message: &Message);

    /// A compaction left this view.
    fn compacted(&mut self, view: &[Entry]);

    /// Returns a call with its result that the agent makes before it says the recording's next message; `None` where it
    /// goes on. Asked again after each.
    fn call_before(&mut self, message: &Message) -> Option<[Message; 2]>;
}
