//! A continued session: compacted five times to one budget, with the requests between.

use epitome::session::{Entry, Role};

use super::figures::{BenchFigure, Figures};
use crate::EvalError;
use crate::cases::case::Case;
use crate::cases::cut::{part_of, position, tokens_of};
use crate::cases::probes::ProbedCase;
use crate::figures::kept::KeptCount;
use crate::figures::score::reads_the_same;
use crate::replay::{Price, Prices, TokenUsage};
use crate::run::method::Method;

/// Compactions of a session.
const TIMES: u32 = 5;

/// The prices of requests and of summaries.
#[derive(Debug)]
pub(super) struct BenchPrices {
    pub(super) of_requests: Price,
    pub(super) table: Prices,
}

/// The requests of a session so far: what the next one holds, and what the provider's cache has of it.
#[derive(Debug, Default)]
struct Requests {
    /// Tokens of the next request.
    tokens: u64,
    /// Tokens at its beginning that the last request began with.
    sent: u64,
    money: f64,
}

impl Requests {
    /// Adds a message. An answer is the output of a request, which is sent before it unless `is_more` of one.
    fn push(&mut self, price: &Price, tokens: u64, is_answer: bool, is_more: bool) {
        if is_answer && !is_more {
            self.money += TokenUsage::request(price, self.tokens, self.sent, true, 0).money(price);
            self.sent = self.tokens;
        }
        if is_answer {
            self.money += TokenUsage { output: tokens, ..TokenUsage::default() }.money(price);
        }
        self.tokens += tokens;
    }
}

/// Plays a session to its end, compacting it to `budget` whenever it has grown by a fifth of what is over the budget, and
/// counts the facts that are shown then, the cache and the price. A compaction without a result leaves the
/// session as it is; the last one decides. Linear in the session for each.
pub(super) fn continue_session(
    probed: &ProbedCase,
    method: &Method,
    budget: u32,
    prices: &BenchPrices,
    figures: &mut Figures,
) -> Result<(), EvalError> {
    let (whole, price) = (&probed.case, &prices.of_requests);
    let entries = whole.prefix.view();
    let mut session = part_of(&whole.prefix, std::iter::empty());
    let (mut compacted, mut never) = (Requests::default(), Requests::default());
    // Messages at the beginning of the view that the last request had.
    let (mut sent, mut at, mut has_result) = (0, 0, false);
    for end in ends(whole, budget) {
        for (number, entry) in entries.iter().enumerate().take(end).skip(at) {
            let is_answer = entry.message.role == Role::Assistant;
            let is_more = number > 0 && entries[number - 1].message.role == Role::Assistant;
            if is_answer && !is_more {
                sent = session.view().len();
            }
            let tokens = u64::from(whole.tokens[number]);
            compacted.push(price, tokens, is_answer, is_more);
            never.push(price, tokens, is_answer, is_more);
            session.push(epitome::session::Message::clone(&entry.message));
        }
        at = end;
        let case = Case::from_prefix(whole.id.clone(), &whole.format, session, &[])?;
        let (result, outcome) = method.compact_on(&case, budget);
        figures.add_outcome(&outcome, None);
        match prices.table.of_summaries(&outcome.summaries) {
            Some(money) => compacted.money += money,
            None => figures.note_unpriced(),
        }
        has_result = result.is_some();
        let before = case.prefix.view();
        let Some(after) = result else {
            session = case.prefix;
            continue;
        };
        let same = before[..sent].iter().zip(after.view()).take_while(|(old, new)| reads_the_same(old, new)).count();
        let tokens = |view: &[Entry]| view.iter().map(|entry| u64::from(tokens_of(&entry.message))).sum();
        (sent, compacted.sent, compacted.tokens) = (same, tokens(&after.view()[..same]), tokens(after.view()));
        figures.add(BenchFigure::Cache, KeptCount { kept: compacted.sent as u32, of: compacted.tokens as u32 });
        session = after;
    }
    // A last request with what is there now: what the last compaction changed is paid too.
    for requests in [&mut compacted, &mut never] {
        requests.push(price, 0, true, false);
    }
    let end = if has_result { session.view() } else { &[] };
    figures.add(BenchFigure::Again, probed.score(end, budget).probes.all);
    let millionths = |money: f64| (money * 1e6).round() as u32;
    figures.add(BenchFigure::Price, KeptCount { kept: millionths(compacted.money), of: millionths(never.money) });
    Ok(())
}

/// Returns the numbers of messages behind which the session is compacted: the last is its end.
fn ends(case: &Case, budget: u32) -> Vec<usize> {
    let total = f64::from(case.prefix_tokens.max(1));
    let over = f64::from(case.prefix_tokens.saturating_sub(budget));
    let share = |number: u32| (f64::from(budget) + over * f64::from(number) / f64::from(TIMES)) / total;
    let on_the_way = (1..TIMES).filter_map(|number| position(case.prefix.view(), &case.tokens, share(number)));
    let mut ends: Vec<usize> = on_the_way.chain([case.prefix.view().len()]).collect();
    ends.dedup();
    ends
}
