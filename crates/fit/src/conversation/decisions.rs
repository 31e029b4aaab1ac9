//! The decisions made for each conversation, within bounds.

use std::collections::HashMap;
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome::engine::{Budget, Floor, Quality};
use epitome::live::{Preparation, SummaryBill};
use epitome::session::{Change, Epoch};
use epitome::strategy::ModelBackoff;
use epitome_shelf::WeighedLru;
use serde::{Deserialize, Serialize};

use super::chain::Digest;
use super::matched_request::MatchedRequest;
use super::prepared::TokenCounts;
use super::provenance::Provenance;
use super::recipe::Recipe;
use super::reported::ReportedShares;
use crate::archive::message_bytes;

/// A compaction that was made, and where.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Decision {
    /// The number of places that the conversation had.
    pub place: usize,
    /// The hash of the conversation there.
    pub digest: Digest,
    /// The compaction that was decided.
    pub epoch: Epoch,
}

/// The decisions made for a conversation. The messages themselves are not kept: each request brings them all.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    /// The compactions, in order.
    pub decisions: Arc<Vec<Decision>>,
    /// The way the decisions were carried out the last time.
    pub recipe: Option<Arc<Recipe>>,
    /// The changes to the messages then, where the host is told of them.
    pub provenance: Option<Arc<Provenance>>,
    /// What the newest of them kept.
    pub quality: Option<Arc<Quality>>,
    /// What the provider counts for its requests.
    pub reported: ReportedShares,
    /// The budget that the provider taught us, and for which model.
    pub learned: Option<(Option<String>, Budget)>,
    /// Tokens at which a compaction came to nothing: it is not tried again at once.
    pub failed_at: Option<u32>,
    /// The messages that must stay, where they were too many at the last attempt.
    pub floor: Option<Arc<Floor>>,
    /// The compaction that is prepared before it is due.
    pub preparation: Preparation,
    /// The models that gave no summary of it.
    pub refusals: ModelBackoff,
    /// What models took for its summaries.
    pub bill: SummaryBill,
    /// The memory's id for this conversation.
    pub(crate) id: Option<ConversationId>,
}

impl Conversation {
    /// The budget for a request of it: what the provider taught us of the model, else what the host says. The answer
    /// that is asked for has to fit too.
    pub(super) fn budget(&self, incoming: &MatchedRequest) -> Budget {
        let mut budget = self.whole_budget(incoming);
        budget.window = budget.window.saturating_sub(incoming.hidden_tokens);
        budget.tool_definitions = incoming.tool_tokens;
        budget
    }

    /// The counts of a request of it, in the provider's tokens as far as these are known.
    pub(super) fn as_reported(&self, incoming: &MatchedRequest, counts: TokenCounts) -> TokenCounts {
        self.reported.as_reported(incoming.model.as_deref(), counts)
    }

    /// Remembers what is counted here of the request that is sent now: its messages, tools, and what the host does not show.
    pub(super) fn note_sent(&mut self, incoming: &MatchedRequest, messages: u32) {
        let tokens = messages.saturating_add(incoming.tool_tokens).saturating_add(incoming.hidden_tokens);
        self.reported.note_sent(incoming.model.as_deref(), tokens);
    }

    /// The same, with the tool definitions and what is hidden still in the window.
    pub(super) fn whole_budget(&self, incoming: &MatchedRequest) -> Budget {
        match &self.learned {
            Some((model, learned)) if *model == incoming.model => learned.clone(),
            _ => {
                let mut budget = incoming.budget.clone();
                let wanted = incoming.answer_tokens.min(budget.window / 2);
                budget.reserve_output = budget.reserve_output.max(wanted);
                self.reported.own_budget(incoming.model.as_deref(), budget)
            }
        }
    }

    /// A copy of the decisions with a memory of its own. A compaction under preparation, and the models that gave no
    /// summary, are not copied.
    pub(crate) fn copy(&self) -> Self {
        Self {
            decisions: Arc::clone(&self.decisions),
            recipe: self.recipe.clone(),
            provenance: self.provenance.clone(),
            quality: self.quality.clone(),
            reported: self.reported.clone(),
            learned: self.learned.clone(),
            failed_at: self.failed_at,
            floor: self.floor.clone(),
            bill: self.bill.clone(),
            ..Self::default()
        }
    }

    /// A conversation of its own that begins with the same decisions.
    pub fn fork(&self) -> Self {
        Self {
            decisions: Arc::clone(&self.decisions),
            reported: self.reported.clone(),
            refusals: self.refusals.clone(),
            ..Self::default()
        }
    }

    /// Leaves only the first `length` decisions in force.
    pub fn truncate(&mut self, length: usize) {
        if length < self.decisions.len() {
            Arc::make_mut(&mut self.decisions).truncate(length);
            (self.recipe, self.provenance, self.quality) = (None, None, None);
        }
    }
}

/// A conversation that one request at a time works on: a lock of the host's kind.
pub trait Slot: Clone {
    /// A slot that holds `conversation`.
    fn new(conversation: Conversation) -> Self;
}

impl Slot for Arc<Mutex<Conversation>> {
    fn new(conversation: Conversation) -> Self {
        Self::new(Mutex::new(conversation))
    }
}

/// Names a conversation in the memory.
type ConversationId = u64;

/// The decisions of all conversations. The least recently used conversation is forgotten first.
///
/// A conversation is known by the hashes of the places where a request of it may continue: those of its decisions, and
/// the end of its newest request. An example with messages `a` to `e` and `x`, `y`:
///
/// ```text
/// request      found at   afterwards known at
/// a b c        -          c
/// a b c d e    c          d (a decision was made there), e; no longer c
/// a b c d x    d          a branch of its own, which shares that decision: d, x; the first one: e
/// a b y        -          y: a conversation without decisions
/// ```
#[derive(Debug)]
pub struct Decisions<S> {
    most: usize,
    most_bytes: usize,
    known: Mutex<DecisionCache<S>>,
}

#[derive(Debug)]
struct DecisionCache<S> {
    slots: WeighedLru<ConversationId, KnownConversation<S>>,
    /// Conversations by every place at which they may be taken up.
    by_digest: HashMap<Digest, ConversationId>,
    /// The last that was given.
    id: ConversationId,
}

#[derive(Debug)]
struct KnownConversation<S> {
    shared: S,
    /// The decisions at the time when the slot was stored, for readers that cannot wait for their turn at it.
    decisions: Arc<Vec<Decision>>,
    recipe: Option<Arc<Recipe>>,
    digests: Vec<Digest>,
}

impl<S: Slot> Decisions<S> {
    /// Remembers up to this number of conversations and of bytes, and always the newest conversation.
    pub fn new(most: usize, most_bytes: usize) -> Self {
        let known = DecisionCache { slots: WeighedLru::default(), by_digest: HashMap::new(), id: 0 };
        Self { most: most.max(1), most_bytes, known: Mutex::new(known) }
    }

    /// The conversation that `chain` continues: the one with the latest place in common.
    pub fn find(&self, chain: &[Digest]) -> Option<S> {
        let mut known = self.lock();
        // The first is the same for all.
        let id = chain.iter().skip(1).rev().find_map(|digest| known.by_digest.get(digest)).copied()?;
        known.slots.get(&id).map(|slot| slot.shared.clone())
    }

    /// The decisions for the conversation that `chain` continues, also while another request works on it.
    pub fn earlier(&self, chain: &[Digest]) -> Option<Conversation> {
        let known = self.lock();
        let id = chain.iter().skip(1).rev().find_map(|digest| known.by_digest.get(digest))?;
        let slot = known.slots.peek(id)?;
        let (decisions, recipe) = (Arc::clone(&slot.decisions), slot.recipe.clone());
        Some(Conversation { decisions, recipe, ..Conversation::default() })
    }

    /// Remembers a conversation, which is what `shared` holds, at the place `end` and at each of its decisions; no
    /// longer where it ended before.
    pub fn keep(&self, shared: &S, conversation: &mut Conversation, end: Digest) {
        let mut known = self.lock();
        if let Some(id) = conversation.id
            && let Some(slot) = known.slots.remove(&id)
        {
            known.forget_places(id, &slot);
        }
        conversation.id = Some(known.next_id());
        self.insert(&mut known, shared.clone(), conversation, end);
    }

    /// Remembers a conversation that parted from a known one, or that was kept elsewhere, in a slot of its own.
    pub fn keep_branch(&self, mut conversation: Conversation, end: Digest) {
        let mut known = self.lock();
        conversation.id = Some(known.next_id());
        let shared = S::new(conversation.clone());
        self.insert(&mut known, shared, &conversation, end);
    }

    fn insert(&self, known: &mut DecisionCache<S>, shared: S, conversation: &Conversation, end: Digest) {
        let Some(id) = conversation.id else { return };
        let mut digests: Vec<Digest> = conversation.decisions.iter().map(|made| made.digest).collect();
        if !digests.contains(&end) {
            digests.push(end);
        }
        let bytes = weight(conversation, digests.len());
        for digest in &digests {
            known.by_digest.insert(*digest, id);
        }
        let (decisions, recipe) = (Arc::clone(&conversation.decisions), conversation.recipe.clone());
        known.slots.insert(id, KnownConversation { shared, decisions, recipe, digests }, bytes);
        while known.slots.len() > self.most || (known.slots.bytes() > self.most_bytes && known.slots.len() > 1) {
            let Some((id, oldest)) = known.slots.pop() else { break };
            known.forget_places(id, &oldest);
        }
    }

    /// Every conversation with the place where it ended last, the least recently used first.
    pub fn all(&self) -> Vec<(S, Digest)> {
        let known = self.lock();
        let of = |slot: &KnownConversation<S>| Some((slot.shared.clone(), *slot.digests.last()?));
        known.slots.iter().filter_map(|(_, slot)| of(slot)).collect()
    }

    /// Conversations and their bytes.
    pub fn size(&self) -> (usize, usize) {
        let known = self.lock();
        (known.slots.len(), known.slots.bytes())
    }

    fn lock(&self) -> MutexGuard<'_, DecisionCache<S>> {
        // The maps are whole between any two statements that can panic.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> DecisionCache<S> {
    fn next_id(&mut self) -> ConversationId {
        self.id += 1;
        self.id
    }

    fn forget_places(&mut self, id: ConversationId, slot: &KnownConversation<S>) {
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
    let recipe = conversation.recipe.as_deref().map_or(0, Recipe::bytes)
        + conversation.provenance.as_deref().map_or(0, Provenance::bytes);
    size_of::<KnownConversation<Arc<Mutex<Conversation>>>>()
        + size_of::<Conversation>()
        + digests * 2 * size_of::<Digest>()
        + decisions
        + recipe
}

#[cfg(test)]
mod tests {
    use super::*;

    type Shared = Arc<Mutex<Conversation>>;

    fn shared() -> Shared {
        Slot::new(Conversation::default())
    }

    #[test]
    fn a_conversation_is_taken_up_at_its_latest_place() {
        let decisions: Decisions<Shared> = Decisions::new(10, 1 << 20);
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

    #[test]
    fn what_was_decided_is_there_while_somebody_works_on_it() {
        let decisions: Decisions<Shared> = Decisions::new(10, 1 << 20);
        let one = shared();
        let epoch = Epoch::recorded(epitome::session::Trigger::Manual, [], Vec::new());
        let made = Decision { place: 1, digest: [1; 32], epoch };
        let mut conversation = Conversation { decisions: Arc::new(vec![made]), ..Conversation::default() };
        decisions.keep(&one, &mut conversation, [2; 32]);
        let _turn = one.lock();
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
