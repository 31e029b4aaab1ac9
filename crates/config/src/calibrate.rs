//! Counters corrected by a session's own usage records.

use std::sync::Arc;

use epitome_engine::count_message;
use epitome_session::Session;
use epitome_strategy::{TokenCounter, Tokens};
use epitome_tokens::{CalibratedCounter, Sample};

/// `base` corrected by what the provider reported for the requests in `session`; `base` itself where the session
/// records none. Counts the log once.
///
/// The comparison is of growth: the tokens that the messages between two requests add, and by how much the reported
/// input grew. The system prompt and the tool definitions, which recordings rarely hold, cancel out. Pairs with a
/// compaction between them shrink and are left out.
pub fn calibrated(base: Arc<dyn TokenCounter>, session: &Session) -> Arc<dyn TokenCounter> {
    let samples = samples(&*base, session);
    if samples.is_empty() { base } else { Arc::new(CalibratedCounter::learn(base, samples)) }
}

fn samples(counter: &dyn TokenCounter, session: &Session) -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut previous: Option<u64> = None;
    let mut added: Tokens = 0;
    for message in session.log() {
        if let Some(usage) = message.usage {
            let grown = previous.and_then(|previous| usage.input.checked_sub(previous));
            if let Some(reported) = grown.and_then(|grown| Tokens::try_from(grown).ok()) {
                samples.push(Sample { estimated: added, reported });
            }
            previous = Some(usage.input);
            added = 0;
        }
        added = added.saturating_add(count_message(counter, message).total);
    }
    samples.retain(|sample| sample.estimated > 0 && sample.reported > 0);
    samples
}

#[cfg(test)]
mod tests {
    use epitome_session::{Message, Origin, Role, Usage};

    use super::*;

    /// A session of one word a message; a number is an assistant's message with that reported input.
    fn session(line: &str) -> Session {
        let mut session = Session::new();
        for word in line.split_whitespace() {
            let mut message = Message::text("", Role::User, Origin::Typed, "four");
            if let Ok(input) = word.parse() {
                message = Message::text("", Role::Assistant, Origin::Model, "four");
                message.usage = Some(Usage { input, ..Usage::default() });
            }
            session.push(message);
        }
        session
    }

    #[test]
    fn growth_is_compared() {
        let quarters: Arc<dyn TokenCounter> = Arc::new(epitome_tokens::Estimator::Quarters);
        let check = |line: &str, expect: &[(Tokens, Tokens)]| {
            let samples: Vec<_> =
                samples(&*quarters, &session(line)).iter().map(|one| (one.estimated, one.reported)).collect();
            assert_eq!(samples, expect, "{line}");
        };
        check("u u", &[]);
        check("u 5000", &[]);
        // A message is a token of text and four of frame.
        check("u 5000 u 5020", &[(10, 20)]);
        check("u 5000 u u 5030 u 1000 u 1010", &[(15, 30), (10, 10)]);
        let counter = calibrated(Arc::clone(&quarters), &session("u 5000 u 5015"));
        assert_eq!(counter.count("four"), 2);
        assert_eq!(calibrated(quarters, &session("u u")).name(), "quarters");
    }
}
