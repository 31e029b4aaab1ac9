//! What a context grew by from one request to the next, in what is counted of its texts and in the provider's tokens.

use std::sync::Mutex;

use epitome_engine::{count_message, has_usage};
use epitome_session::{Role, Session};
use epitome_strategy::{TokenCounter, Tokens};
use epitome_tokens::ExactCounter;

/// What is counted of a text, in the order of [`Counts`].
pub(crate) const KINDS: [&str; 4] = ["token", "small", "capital", "punctuation"];

/// Tokens of `o200k_base`, small letters, capitals and punctuation.
pub(crate) type Counts = [f64; KINDS.len()];

/// The growth between two requests.
#[derive(Debug, Clone)]
pub(crate) struct Growth {
    /// Of the answer to the first.
    pub(crate) answer: Counts,
    /// Of what followed it.
    pub(crate) others: Counts,
    /// The answer's tokens by the provider: reasoning that the recording does not show is among them.
    pub(crate) output: f64,
    /// The tokens by which the second request is larger.
    pub(crate) grown: f64,
}

/// Adds up what is counted of every text that the engine counts: names, ids and arguments too.
#[derive(Debug, Default)]
struct Recorder(Mutex<Counts>);

impl TokenCounter for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }

    fn count(&self, text: &str) -> Tokens {
        let tokens = ExactCounter::O200kBase.count(text);
        let of = |is: fn(&u8) -> bool| text.bytes().filter(is).count() as f64;
        let counted =
            [f64::from(tokens), of(u8::is_ascii_lowercase), of(u8::is_ascii_uppercase), of(u8::is_ascii_punctuation)];
        if let Ok(mut sums) = self.0.lock() {
            add(&mut sums, &counted);
        }
        tokens
    }

    fn is_exact(&self) -> bool {
        false
    }
}

fn add(sums: &mut Counts, counted: &Counts) {
    sums.iter_mut().zip(counted).for_each(|(sum, one)| *sum += one);
}

/// The fewest tokens of growth that say something: below, the frames of messages do.
const LEAST_TOKENS: f64 = 150.0;

/// The growths of a session, without those that media are part of and those with a compaction between the requests.
pub(crate) fn growths(session: &Session) -> Vec<Growth> {
    let log = session.log();
    let requests: Vec<usize> = (0..log.len()).filter(|at| has_usage(&log[*at])).collect();
    let recorder = Recorder::default();
    let growth = |pair: &[usize]| {
        let (first, second) = (log[pair[0]].usage?, log[pair[1]].usage?);
        let grown = second.input.checked_sub(first.input).filter(|grown| *grown > 0)?;
        let (mut answer, mut others) = (Counts::default(), Counts::default());
        for message in &log[pair[0]..pair[1]] {
            if message.has_media() {
                return None;
            }
            count_message(&recorder, message);
            let counted = recorder.0.lock().map(|mut sums| std::mem::take(&mut *sums)).ok()?;
            add(if message.role == Role::Assistant { &mut answer } else { &mut others }, &counted);
        }
        let is_large = answer[0] + others[0] >= LEAST_TOKENS;
        is_large.then_some(Growth { answer, others, output: first.output as f64, grown: grown as f64 })
    };
    requests.windows(2).filter_map(growth).collect()
}
