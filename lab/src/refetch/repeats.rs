//! Re-fetches: repeated fetches of the recording, and whether the policy had removed the first answer by then.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use epitome::session::{CallId, Content, Entry, EntryKey, Message};

/// The fewest bytes of an answer that is worth keeping: a shorter one is an acknowledgement.
const LEAST_BYTES: usize = 200;

/// Repeated fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Repeats {
    /// Calls of a tool with the arguments of an earlier call, answered by the same text of 200 bytes or more: the
    /// recording needed it again, and it stood unchanged in the view that was never compacted.
    pub repeats: u32,
    /// Of these, the ones whose earlier answers were no longer whole in the compacted view when the call was made.
    pub refetches: u32,
}

/// A call by its tool and its arguments.
type Signature = (Arc<str>, Arc<str>);

/// The fetches so far, and which answers are shown whole.
#[derive(Debug, Default)]
pub(crate) struct FetchedOutputs {
    /// Answers by call, the newest last.
    answered: HashMap<Signature, Vec<(EntryKey, Arc<str>)>>,
    /// Calls without an answer yet, and the answers to the same call that were whole when it was made.
    /// Ids may repeat, and results come in the order of their calls.
    open: HashMap<CallId, VecDeque<(Signature, HashSet<EntryKey>)>>,
    /// Results of the log that are whole in the view.
    whole: HashSet<EntryKey>,
    pub(crate) found: Repeats,
}

impl FetchedOutputs {
    /// Reads a message that was just added to the log under `key`. Linear in the message and in the
    /// earlier answers to its calls.
    pub(crate) fn push(&mut self, key: EntryKey, message: &Message) {
        for (_, call) in message.calls() {
            let signature = (Arc::clone(&call.name), Arc::clone(call.arguments.text()));
            let earlier = self.answered.get(&signature).into_iter().flatten().map(|(key, _)| *key);
            let whole = earlier.filter(|key| self.whole.contains(key)).collect();
            self.open.entry(Arc::clone(&call.id)).or_default().push_back((signature, whole));
        }
        for block in &message.blocks {
            let Content::ToolResult(result) = &block.content else { continue };
            let call = self.open.get_mut(&result.call_id).and_then(VecDeque::pop_front);
            let Some((signature, whole)) = call else { continue };
            if result.text.len() < LEAST_BYTES {
                continue;
            }
            let answers = self.answered.entry(signature).or_default();
            let mut same = answers.iter().filter(|(_, text)| *text == result.text).map(|(key, _)| key).peekable();
            if same.peek().is_some() {
                self.found.repeats += 1;
                if !same.any(|key| whole.contains(key)) {
                    self.found.refetches += 1;
                }
            }
            answers.push((key, Arc::clone(&result.text)));
            self.whole.insert(key);
        }
    }

    /// Records which answers a compaction left whole. Linear in the view.
    pub(crate) fn compacted(&mut self, view: &[Entry]) {
        let shown: HashSet<EntryKey> = view.iter().filter(|entry| is_whole(entry)).map(|entry| entry.key).collect();
        self.whole.retain(|key| shown.contains(key));
    }
}

/// Whether an entry's result is shown as it was recorded.
fn is_whole(entry: &Entry) -> bool {
    let results = |message: &Message| -> Vec<Arc<str>> {
        let blocks = message.blocks.iter();
        blocks.filter_map(|block| block.as_result()).map(|result| Arc::clone(&result.text)).collect()
    };
    !entry.is_edited() || results(&entry.message) == results(&entry.original)
}
