//! What was decided for which conversation, within bounds.

use std::collections::HashMap;
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome::engine::Budget;
use epitome::live::Preparation;
use epitome::session::{Change, Epoch};
use epitome::strategy::Refusals;

use super::chain::Digest;
use super::incoming::Incoming;
use super::recipe::Recipe;
use crate::archive::message_bytes;
use crate::state::Core;
use crate::weighed_lru::WeighedLru;

/// A compaction that was made, and where.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    /// How many places the conversation had.
    pub(crate) place: usize,
    /// The hash of the conversation there.
    pub(crate) digest: Digest,
    pub(crate) epoch: Epoch,
}

/// What was decided for a conversation. The messages themselves are not kept: each request brings them all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    /// The compactions, in order.
    pub(crate) decisions: Arc<Vec<Decision>>,
    /// How they were carried out the last time.
    pub(crate) recipe: Option<Arc<Recipe>>,
    /// The budget that the provider taught us, and for which model.
    pub(crate) learned: Option<(Option<String>, Budget)>,
    /// Tokens at which a compaction came to nothing: it is not tried again at once.
    pub(crate) failed_at: Option<u32>,
    /// The compaction that is prepared before it is due.
    pub(crate) preparation: Preparation,
    /// The models that gave no summary of it.
    pub(crate) refusals: Refusals,
    /// What the memory knows it by.
    id: Option<ConversationId>,
}

impl Conversation {
    /// The budget for a request of it: what the provider taught us of the model, else what is known of it. The answer that
    /// the client asks for has to fit too.
    pub(super) fn budget(&self, core: &Core, incoming: &Incoming) -> Budget {
        let mut budget = match &self.learned {
            Some((model, learned)) if *model == incoming.model => learned.clone(),
            _ => {
                let mut budget = core.budget_of(incoming.model.as_deref());
                let wanted = incoming.answer_tokens.min(budget.window / 2);
                budget.reserve_output = budget.reserve_output.max(wanted);
                budget
            }
        };
        budget.tool_definitions = incoming.tool_tokens;
        budget
    }

    /// A conversation of its own that begins with the same decisions.
    pub(crate) fn fork(&self) -> Self {
        Self { decisions: Arc::clone(&self.decisions), refusals: self.refusals.clone(), ..Self::default() }
    }

    /// Leaves only the first `length` decisions in force.
    pub(crate) fn truncate(&mut self, length: usize) {
        if length < self.decisions.len() {
            Arc::make_mut(&mut self.decisions).truncate(length);
            self.recipe = None;
        }
    }
}

/// A conversation that one request at a time works on.
pub(crate) type SharedConversation = Arc<tokio::sync::Mutex<Conversation>>;

/// Names a conversation in the memory.
type ConversationId = u64;

/// What was decided for all conversations. What is used least recently is forgotten first.
#[derive(Debug)]
pub(crate) struct Decisions {
    most: usize,
    most_bytes: usize,
    known: Mutex<DecisionCache>,
}

#[derive(Debug, Default)]
struct DecisionCache {
    slots: WeighedLru<ConversationId, Slot>,
    /// Conversations by every place at which they may be taken up.
    by_digest: HashMap<Digest, ConversationId>,
    /// The last that was given.
    id: ConversationId,
}

#[derive(Debug)]
struct Slot {
    shared: SharedConversation,
    /// What was decided when it was kept, for those who cannot wait for their turn at it.
    decisions: Arc<Vec<Decision>>,
    recipe: Option<Arc<Recipe>>,
    digests: Vec<Digest>,
}

impl Decisions {
    pub(crate) fn new(most: usize, most_bytes: usize) -> Self {
        Self { most: most.max(1), most_bytes, known: Mutex::default() }
    }

    /// The conversation that `chain` goes on: the one known up to its latest place.
    pub(crate) fn find(&self, chain: &[Digest]) -> Option<SharedConversation> {
        let mut known = self.lock();
        // The first is the same for all.
        let id = chain.iter().skip(1).rev().find_map(|digest| known.by_digest.get(digest)).copied()?;
        known.slots.get(&id).map(|slot| Arc::clone(&slot.shared))
    }

    /// What was decided for the conversation that `chain` goes on, whoever works on it now.
    pub(crate) fn earlier(&self, chain: &[Digest]) -> Option<Conversation> {
        let known = self.lock();
        let id = chain.iter().skip(1).rev().find_map(|digest| known.by_digest.get(digest))?;
        let slot = known.slots.peek(id)?;
        let (decisions, recipe) = (Arc::clone(&slot.decisions), slot.recipe.clone());
        Some(Conversation { decisions, recipe, ..Conversation::default() })
    }

    /// Remembers a conversation, which is what `shared` holds, at the place `end` and at each of its decisions; no longer
    /// where it ended before.
    pub(crate) fn keep(&self, shared: &SharedConversation, conversation: &mut Conversation, end: Digest) {
        let mut known = self.lock();
        if let Some(id) = conversation.id
            && let Some(slot) = known.slots.remove(&id)
        {
            known.forget_places(id, &slot);
        }
        let mut digests: Vec<Digest> = conversation.decisions.iter().map(|made| made.digest).collect();
        if !digests.contains(&end) {
            digests.push(end);
        }
        let bytes = weight(conversation, digests.len());
        known.id += 1;
        let id = known.id;
        conversation.id = Some(id);
        for digest in &digests {
            known.by_digest.insert(*digest, id);
        }
        let (decisions, recipe) = (Arc::clone(&conversation.decisions), conversation.recipe.clone());
        known.slots.insert(id, Slot { shared: Arc::clone(shared), decisions, recipe, digests }, bytes);
        while known.slots.len() > self.most || (known.slots.bytes() > self.most_bytes && known.slots.len() > 1) {
            let Some((id, oldest)) = known.slots.pop() else { break };
            known.forget_places(id, &oldest);
        }
    }

    /// Conversations and their bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let known = self.lock();
        (known.slots.len(), known.slots.bytes())
    }

    fn lock(&self) -> MutexGuard<'_, DecisionCache> {
        // The maps are whole between any two statements that can panic.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DecisionCache {
    fn forget_places(&mut self, id: ConversationId, slot: &Slot) {
        for digest in &slot.digests {
            if self.by_digest.get(digest) == Some(&id) {
                self.by_digest.remove(digest);
            }
        }
    }
}

/// Bytes that a conversation takes, near enough.
fn weight(conversation: &Conversation, digests: usize) -> usize {
    let change = |change: &Change| {
        size_of::<Change>()
            + match change {
                Change::Trim { arguments, .. } => arguments.len(),
                Change::Excerpt { .. } | Change::Remove { .. } | Change::Strip { .. } => 64,
            }
    };
    let epoch = |epoch: &Epoch| {
        let edits = epoch.edits.iter().map(|edit| edit.reason.detail.len() + 256);
        let added = epoch.synthetics.iter().map(|synthetic| message_bytes(&synthetic.message));
        edits.sum::<usize>() + added.sum::<usize>() + epoch.changes().map(change).sum::<usize>() + size_of::<Epoch>()
    };
    let decisions = conversation.decisions.iter().map(|made| epoch(&made.epoch)).sum::<usize>();
    let recipe = conversation.recipe.as_deref().map_or(0, Recipe::bytes);
    size_of::<Slot>() + size_of::<Conversation>() + digests * 2 * size_of::<Digest>() + decisions + recipe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared() -> SharedConversation {
        SharedConversation::default()
    }

    #[test]
    fn a_conversation_is_taken_up_at_its_latest_place() {
        let decisions = Decisions::new(10, 1 << 20);
        let (one, two) = (shared(), shared());
        let mut first = Conversation::default();
        decisions.keep(&one, &mut first, [1; 32]);
        decisions.keep(&two, &mut Conversation::default(), [2; 32]);
        let find = |chain: &[Digest]| decisions.find(chain).map(|found| Arc::ptr_eq(&found, &two));
        assert_eq!(find(&[[0; 32], [1; 32], [2; 32], [3; 32]]), Some(true));
        assert_eq!(find(&[[0; 32], [1; 32], [9; 32]]), Some(false));
        assert_eq!(find(&[[2; 32], [9; 32]]), None, "the first place is everybody's");
        decisions.keep(&one, &mut first, [4; 32]);
        assert_eq!(find(&[[0; 32], [1; 32]]), None, "it has gone on");
        assert_eq!(find(&[[0; 32], [1; 32], [4; 32]]), Some(false));
    }

    #[tokio::test]
    async fn what_was_decided_is_there_while_somebody_works_on_it() {
        let decisions = Decisions::new(10, 1 << 20);
        let one = shared();
        let epoch = Epoch::recorded(epitome::session::Trigger::Manual, [], Vec::new());
        let made = Decision { place: 1, digest: [1; 32], epoch };
        let mut conversation = Conversation { decisions: Arc::new(vec![made]), ..Conversation::default() };
        decisions.keep(&one, &mut conversation, [2; 32]);
        let _turn = one.lock().await;
        let earlier = |chain: &[Digest]| decisions.earlier(chain).map(|found| found.decisions.len());
        assert_eq!(earlier(&[[0; 32], [1; 32], [2; 32]]), Some(1));
        assert_eq!(earlier(&[[0; 32], [9; 32]]), None);
    }

    #[test]
    fn the_least_recently_used_is_forgotten() {
        let decisions = Decisions::new(2, 1 << 20);
        for place in [1, 2] {
            decisions.keep(&shared(), &mut Conversation::default(), [place; 32]);
        }
        assert!(decisions.find(&[[0; 32], [1; 32]]).is_some());
        decisions.keep(&shared(), &mut Conversation::default(), [3; 32]);
        assert!(decisions.find(&[[0; 32], [2; 32]]).is_none());
        assert!(decisions.find(&[[0; 32], [1; 32]]).is_some());
        assert_eq!(decisions.size().0, 2);
        let small = Decisions::new(10, 1);
        for place in [1, 2] {
            small.keep(&shared(), &mut Conversation::default(), [place; 32]);
        }
        assert_eq!(small.size().0, 1, "bytes are bounded too");
        assert!(small.find(&[[0; 32], [2; 32]]).is_some());
    }
}
