//! The exact counters of OpenAI's encodings.

use epitome_strategy::{TokenCounter, Tokens};

#[cfg(feature = "vocab-cl100k")]
use self::vocabulary::CL100K_BASE;
#[cfg(feature = "vocab-o200k")]
use self::vocabulary::O200K_BASE;
use self::vocabulary::Vocabulary;

mod cache;
mod class_bits;
mod classes;
mod layout;
mod merge;
mod pieces;
#[cfg(feature = "packed-vocabularies")]
mod tables;
mod vocabulary;

/// The tokens of a text in one of OpenAI's encodings, equal to `len(encode_ordinary(text))` of OpenAI's tiktoken.
///
/// Special tokens written out in a text, such as `<|endoftext|>`, count as the ordinary text they are.
///
/// Nothing is loaded or built: the vocabulary lies ready in the program's image and its pages are read as they are
/// first touched, so the first count costs no more than a few page faults. With the feature `packed-vocabularies` the first
/// count makes the tables, in some milliseconds, and the program is smaller by 2.5 MB where it is compressed.
///
/// Cost: linear in the text, also where it has no place to cut, such as a line of one letter.
/// Memory: 64 KB for each thread that counts, and about 20 bytes for each byte of such a run while it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactCounter {
    /// `o200k_base`: GPT-4o and later models.
    #[cfg(feature = "vocab-o200k")]
    O200kBase,
    /// `cl100k_base`: GPT-4, GPT-3.5 and the embedding models of their time.
    #[cfg(feature = "vocab-cl100k")]
    Cl100kBase,
}

impl TokenCounter for ExactCounter {
    fn name(&self) -> &str {
        match self {
            #[cfg(feature = "vocab-o200k")]
            ExactCounter::O200kBase => "o200k_base",
            #[cfg(feature = "vocab-cl100k")]
            ExactCounter::Cl100kBase => "cl100k_base",
        }
    }

    /// A text of more than 2³² − 1 tokens counts as that many.
    fn count(&self, text: &str) -> Tokens {
        let n_tokens = match self {
            #[cfg(feature = "vocab-o200k")]
            ExactCounter::O200kBase => count(&O200K_BASE, text.as_bytes(), pieces::o200k_end),
            #[cfg(feature = "vocab-cl100k")]
            ExactCounter::Cl100kBase => count(&CL100K_BASE, text.as_bytes(), pieces::cl100k_end),
        };
        Tokens::try_from(n_tokens).unwrap_or(Tokens::MAX)
    }

    fn is_exact(&self) -> bool {
        true
    }
}

#[inline(always)]
fn count(vocabulary: &Vocabulary, text: &[u8], piece_end: impl Fn(&[u8], usize) -> usize) -> usize {
    let mut n_tokens = 0;
    let mut start = 0;
    while start < text.len() {
        let end = piece_end(text, start);
        n_tokens += merge::count_piece(vocabulary, text, start, end);
        start = end;
    }
    n_tokens
}
