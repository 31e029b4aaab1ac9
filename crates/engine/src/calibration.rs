//! Counters that are corrected by what a provider counted for the requests of a session.

use std::sync::Arc;

use epitome_session::{Media, Message, Role, Session};
use epitome_strategy::{TokenCounter, Tokens};

use crate::ledger::count_message;

/// The growth of a context between two requests, as the counter and as the provider counted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Growth {
    counted: Tokens,
    reported: Tokens,
}

/// The newest requests that a correction is learned from: some hundred thousand tokens, which are counted in milliseconds.
const CALIBRATION_REQUESTS: usize = 128;

/// Requests of this number in all change a correction for the last time before the next multiple of it, so that the counts of
/// a long session are not made again at each request.
const STEADY: usize = 64;

/// The tokens of growth, beside the reported ones, for which the counter's own figure stands: one odd request changes little.
const PRIOR_TOKENS: Tokens = 4_000;

/// The share by which a provider may be above a corrected counter. Source: the halves of the recorded sessions that
/// `lab/factors` fits on, one corrected by the other.
const MARGIN: f64 = 0.03;

/// Another counter times a factor that was learned from a session's usage.
///
/// The factor is the median of reported over counted growth, each request weighing what it grew by. A median shrugs off the
/// requests that mean something else, such as those with a changed prompt, as long as they are fewer than half. It stays
/// between a half and two: beyond that the base counter is of another kind of model.
///
/// Rounds up, so at most a token for a text is added.
#[derive(Clone, Debug)]
struct CalibratedCounter {
    name: String,
    base: Arc<dyn TokenCounter>,
    /// In units of 1 / [`ONE`], so that rounding is exact.
    factor: u64,
}

const ONE: u64 = 1 << 16;

impl TokenCounter for CalibratedCounter {
    /// Returns the base counter's name and the factor, such as `claude-4.7 ×1.02`.
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> Tokens {
        let tokens = (u64::from(self.base.count(text)) * self.factor).div_ceil(ONE);
        Tokens::try_from(tokens).unwrap_or(Tokens::MAX)
    }

    /// Media are counted by the provider's formula: what was learnt is of texts.
    fn media_tokens(&self, media: &Media) -> Tokens {
        self.base.media_tokens(media)
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn margin(&self) -> f64 {
        MARGIN
    }
}

/// Returns by how many of a session's requests its counter is corrected, see [`calibration_requests_of`]. Linear in the messages.
pub fn calibration_requests(session: &Session) -> usize {
    calibration_requests_of(session.log().iter().filter(|message| has_usage(message)).count())
}

/// Returns by how many of `requests` requests with reported usage a counter is corrected: a power of two at first and then a
/// multiple of 64, so that the same session always counts alike, and seldom differently from one request to the next.
pub fn calibration_requests_of(requests: usize) -> usize {
    match requests {
        0 | 1 => 0,
        _ if requests < STEADY => 1 << requests.ilog2(),
        _ => requests - requests % STEADY,
    }
}

/// Whether a message is the answer to a request whose input tokens are recorded.
pub fn has_usage(message: &Message) -> bool {
    message.usage.is_some_and(|usage| usage.input > 0)
}

/// Returns `base` corrected by what the provider reported for the requests of `session`; `base` itself where it is exact or
/// the session records nothing. Counts what at most 128 requests grew by.
pub(crate) fn calibrated(base: Arc<dyn TokenCounter>, session: &Session) -> Arc<dyn TokenCounter> {
    if base.is_exact() {
        return base;
    }
    let growths = growths(&*base, session);
    if growths.is_empty() {
        return base;
    }
    let prior = Growth { counted: PRIOR_TOKENS, reported: PRIOR_TOKENS };
    let ratios = growths
        .into_iter()
        .chain([prior])
        .map(|Growth { counted, reported }| ((u64::from(reported) * ONE).div_ceil(counted.into()), u64::from(counted)));
    let factor = weighted_median(ratios.collect()).unwrap_or(ONE).clamp(ONE / 2, ONE * 2);
    let name = format!("{} ×{:.2}", base.name(), factor as f64 / ONE as f64);
    Arc::new(CalibratedCounter { name, base, factor })
}

/// What the context grew by between requests: the provider's figures compared, so that the system prompt and the tools, which
/// recordings rarely hold, cancel out. An answer is taken off by its own figure, which has the reasoning that a recording does
/// not show; some agents record a figure that cannot be the answer's, and then all of the growth is compared. Requests with a
/// compaction between them shrink and are left out; so are media, which are counted by other rules.
fn growths(counter: &dyn TokenCounter, session: &Session) -> Vec<Growth> {
    let last = calibration_requests(session);
    let requests: Vec<(usize, &Arc<Message>)> =
        session.log().iter().enumerate().filter(|(_, message)| has_usage(message)).take(last).collect();
    let newest = &requests[requests.len().saturating_sub(CALIBRATION_REQUESTS)..];
    newest
        .windows(2)
        .filter_map(|pair| {
            let [(start, first), (end, second)] = pair else { return None };
            let (before, after) = (first.usage?, second.usage?);
            let grown = Tokens::try_from(after.input.checked_sub(before.input)?).ok()?;
            let (mut others, mut answer) = (0_u32, 0_u32);
            for message in &session.log()[*start..*end] {
                if message.has_media() {
                    return None;
                }
                let part = if message.role == Role::Assistant { &mut answer } else { &mut others };
                *part = part.saturating_add(count_message(counter, message).total);
            }
            let output = Tokens::try_from(before.output).unwrap_or(Tokens::MAX);
            let (counted, reported) = if output < answer / 2 {
                (others.saturating_add(answer), grown)
            } else {
                (others, grown.saturating_sub(output))
            };
            (counted > 0 && reported > 0).then_some(Growth { counted, reported })
        })
        .collect()
}

/// Returns the value at which half of the weight is reached, of pairs of a value and its weight; the upper one in a tie.
fn weighted_median(mut values: Vec<(u64, u64)>) -> Option<u64> {
    values.sort_unstable();
    let total: u64 = values.iter().map(|&(_, weight)| weight).sum();
    let mut below = 0;
    values.into_iter().find_map(|(value, weight)| {
        below += weight;
        (2 * below > total).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use epitome_session::{Origin, Usage};

    use super::*;
    use crate::tests::Bytes;

    /// A session of one message a word: `u600` is a user's of so many bytes, `a100:5000+90` a model's whose request had 5,000
    /// tokens of input and whose answer 90.
    fn session(line: &str) -> Session {
        let mut session = Session::new();
        for word in line.split_whitespace() {
            let (kind, rest) = word.split_at(1);
            let (bytes, usage) = rest.split_once(':').map_or((rest, None), |(bytes, usage)| (bytes, Some(usage)));
            let text = "x".repeat(bytes.parse().unwrap_or(0));
            let (role, origin) =
                if kind == "u" { (Role::User, Origin::Typed) } else { (Role::Assistant, Origin::Model) };
            let mut message = Message::text("", role, origin, text);
            message.usage = usage.and_then(|usage| usage.split_once('+')).map(|(input, output)| Usage {
                input: input.parse().unwrap_or(0),
                output: output.parse().unwrap_or(0),
                ..Usage::default()
            });
            session.push(message);
        }
        session
    }

    #[test]
    fn what_a_context_grew_by_is_compared() {
        let check = |line: &str, expect: &[(Tokens, Tokens)]| {
            let found: Vec<_> =
                growths(&Bytes, &session(line)).iter().map(|growth| (growth.counted, growth.reported)).collect();
            assert_eq!(found, expect, "{line}");
        };
        check("u100 u100", &[]);
        check("u100 a96:5000+96", &[]);
        // The frame of a message is four tokens.
        check("u100 a96:5000+100 u196 a6:5500+10", &[(200, 400)]);
        // The answer took 900 tokens, 800 of them where nobody sees them.
        check("u100 a96:5000+900 u196 a6:6300+10", &[(200, 400)]);
        // A figure that cannot be the answer's says nothing.
        check("u100 a96:5000+1 u196 a6:5600+1", &[(300, 600)]);
        // It was compacted between the second and the third.
        check("a96:5000+100 u96 a96:5200+100 u96 a96:1000+100 u96 a96:1250+100", &[(100, 100), (100, 150)]);
    }

    #[test]
    fn the_median_by_weight_corrects_within_bounds() {
        let check = |line: &str, expect: &str| {
            assert_eq!(calibrated(Arc::new(Bytes), &session(line)).name(), expect, "{line}");
        };
        check("u9 a9:500+9", "bytes");
        check("a96:5000+100 u9996 a96:20100+100", "bytes ×1.50");
        // A little of growth is outvoted by the counter's own figure, and an odd request by the others.
        check("a96:5000+100 u996 a96:6600+100", "bytes ×1.00");
        check("a96:5000+100 u9996 a96:20100+100 u996 a6:99000+10", "bytes ×1.50");
        check("a96:5000+100 u9996 a96:6100+100", "bytes ×0.50");
        check("a96:5000+100 u9996 a96:96000+100", "bytes ×2.00");
        let counter = calibrated(Arc::new(Bytes), &session("a96:5000+100 u9996 a96:20100+100"));
        assert_eq!((counter.count(""), counter.count("three"), counter.is_exact()), (0, 8, false));
        assert!(counter.margin() > 0.0);
    }

    #[test]
    fn a_correction_changes_at_few_requests() {
        let counts = [0, 1, 2, 3, 4, 7, 8, 63, 64, 65, 127, 128, 1_000];
        assert_eq!(counts.map(calibration_requests_of), [0, 0, 2, 2, 4, 4, 8, 32, 64, 64, 64, 128, 960]);
    }
}
