//! What a conversation has cost, and what was saved of it: the sums of its requests.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use epitome::config::{Prices, TokenUsage};
use epitome::live::SummaryBill;
use epitome::wire::{ReportedUsage, Wire};
use epitome_fit::conversation::TokenCounts;
use serde::Serialize;
use utoipa::ToSchema;

/// The account of a conversation. It lasts as long as the proxy remembers the conversation.
#[derive(Debug, Clone, Default)]
pub(super) struct Account {
    /// Whose conversation it is; `None` before its first request was answered.
    pub(super) owner: Option<Arc<str>>,
    /// Its requests; what models took for its summaries is on the bill.
    pub(super) entry: ConversationEntry,
    pub(super) bill: SummaryBill,
}

/// A conversation that goes through the proxy.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[schema(as = ProxiedConversation)]
pub(crate) struct ConversationEntry {
    /// The beginning of what a person typed first; empty where nobody typed anything.
    pub(super) title: String,
    /// The model of the newest request; null where none is named.
    #[schema(required)]
    pub(super) model: Option<String>,
    /// The provider's interface, by the name of its request format.
    pub(super) interface: &'static str,
    /// When its first request was sent on, in milliseconds since 1970.
    began: i64,
    /// When its newest one was.
    pub(super) last: i64,
    /// The requests that its provider accepted.
    requests: u64,
    /// The compactions in force.
    compactions: u32,
    /// The calls with which its models looked up what was said.
    lookups: u64,
    /// Of these, the calls that found something.
    lookups_found: u64,
    /// The messages of the newest request as they came, in tokens.
    tokens_before: u32,
    /// The same as they were sent.
    tokens_after: u32,
    /// The tokens that messages may take.
    tokens_usable: u32,
    /// The tokens that were not sent, in all requests together, less those that models read and wrote for its summaries: below
    /// 0 where these were more.
    tokens_saved: i64,
    /// The tokens that the provider reported.
    reported: ReportedTokens,
    /// The tokens that models reported for its summaries, also for those that came to nothing.
    summaries: ReportedTokens,
    /// The price of both, in US dollars; null where the model of none of them has a known price.
    #[schema(required)]
    price: Option<f64>,
}

/// The tokens that providers reported, of all answers together.
#[derive(Debug, Clone, Copy, Default, Serialize, ToSchema)]
pub(crate) struct ReportedTokens {
    /// The answers that reported their tokens.
    answers: u64,
    /// Of these, the answers of models whose price is not known.
    unpriced: u64,
    /// Input tokens, cached ones included.
    input: u64,
    /// Of these, the tokens read from the cache.
    cached: u64,
    /// Of these, the tokens written to the cache.
    cache_writes: u64,
    /// Output tokens.
    output: u64,
}

impl ReportedTokens {
    fn add(&mut self, answers: u64, spent: &TokenUsage) {
        self.answers += answers;
        self.input += spent.input;
        self.cached += spent.cached;
        self.cache_writes += spent.cache_writes;
        self.output += spent.output;
    }
}

impl Account {
    /// Returns the conversation with its summaries.
    pub(super) fn total(&self, prices: &Prices) -> ConversationEntry {
        let mut entry = self.entry.clone();
        for usage in self.bill.usage().models() {
            let spent = TokenUsage::from(usage);
            entry.summaries.add(usage.answers, &spent);
            entry.tokens_saved = entry.tokens_saved.saturating_sub_unsigned(spent.input + spent.output);
            match prices.of_request(&usage.model) {
                Some(price) => *entry.price.get_or_insert(0.0) += spent.money(price),
                None => entry.summaries.unpriced += usage.answers,
            }
        }
        entry
    }

    /// Notes a request that the provider accepted.
    pub(super) fn note_request(
        &mut self,
        owner: &Arc<str>,
        wire: Wire,
        model: Option<&str>,
        counts: Option<TokenCounts>,
    ) {
        let entry = &mut self.entry;
        self.owner = Some(Arc::clone(owner));
        entry.interface = wire.as_str();
        entry.model = model.map(str::to_owned).or_else(|| entry.model.take());
        entry.last = now();
        if entry.began == 0 {
            entry.began = entry.last;
        }
        entry.requests += 1;
        if let Some(counts) = counts {
            entry.compactions = counts.epochs;
            (entry.tokens_before, entry.tokens_after) = (counts.tokens_before, counts.tokens_after);
            entry.tokens_usable = counts.usable;
            entry.tokens_saved += i64::from(saved(counts));
        }
    }

    /// Notes a call with which a model looked something up.
    pub(super) fn note_lookup(&mut self, has_found: bool) {
        self.entry.lookups += 1;
        self.entry.lookups_found += u64::from(has_found);
    }

    /// Whether its only request so far is the one that was noted last.
    pub(super) fn is_new(&self) -> bool {
        self.entry.requests == 1
    }

    /// Notes what the provider reported for an answer of `model`.
    pub(super) fn note_usage(&mut self, prices: &Prices, model: Option<&str>, usage: ReportedUsage) {
        let entry = &mut self.entry;
        let input = usage.input.unwrap_or_default();
        let spent = TokenUsage {
            input,
            cached: usage.cached,
            uncached: input.saturating_sub(usage.cached),
            cache_writes: usage.cache_writes,
            output: usage.output.unwrap_or_default(),
        };
        entry.reported.add(1, &spent);
        match model.and_then(|model| prices.of_request(model)) {
            Some(price) => *entry.price.get_or_insert(0.0) += spent.money(price),
            None => entry.reported.unpriced += 1,
        }
    }
}

/// The tokens of a request that were not sent.
pub(super) fn saved(counts: TokenCounts) -> u32 {
    counts.tokens_before.saturating_sub(counts.tokens_after)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn requests_and_answers_add_up() {
        let (prices, owner) = (Prices::shipped().unwrap(), Arc::from("alice"));
        let mut account = Account::default();
        let counts =
            |before, after| Some(TokenCounts { tokens_before: before, tokens_after: after, epochs: 1, usable: 90 });
        account.note_request(&owner, Wire::Anthropic, Some("claude-sonnet-5"), counts(70, 30));
        account.note_request(&owner, Wire::Anthropic, None, counts(80, 40));
        account.note_request(&owner, Wire::Anthropic, None, None);
        let usage =
            ReportedUsage { input: Some(1_000_000), cached: 500_000, cache_writes: 500_000, output: Some(100_000) };
        account.note_lookup(true);
        account.note_lookup(false);
        account.note_usage(&prices, Some("claude-sonnet-5"), usage);
        account.note_usage(&prices, Some("unheard-of"), ReportedUsage { output: Some(1), ..ReportedUsage::default() });
        let entry = &account.entry;
        assert_eq!(account.owner.as_deref(), Some("alice"));
        assert_eq!((entry.requests, entry.tokens_saved, entry.tokens_before, entry.tokens_after), (3, 80, 80, 40));
        assert_eq!(entry.model.as_deref(), Some("claude-sonnet-5"));
        assert_eq!((entry.lookups, entry.lookups_found), (2, 1));
        let reported = entry.reported;
        assert_eq!((reported.answers, reported.unpriced, reported.input, reported.output), (2, 1, 1_000_000, 100_001));
        // Half a million read at 0.2 and written at 2.5, a tenth written at 10.
        assert!((entry.price.unwrap() - (0.1 + 1.25 + 1.0)).abs() < 1e-9, "{:?}", entry.price);
    }
}
