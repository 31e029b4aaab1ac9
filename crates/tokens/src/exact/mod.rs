//! The exact counters of OpenAI's encodings.

use epitome_strategy::{TokenCounter, Tokens};

use self::vocabulary::Vocabulary;

mod class_bits;
mod classes;
mod layout;
mod merge;
mod pieces;
mod vocabulary;

/// An exact counter: the tokens a text has in one of OpenAI's encodings.
#[derive(Clone, Copy)]
pub struct Exact {
    name: &'static str,
    vocabulary: Vocabulary,
    piece_end: PieceEnd,
}

#[derive(Clone, Copy)]
enum PieceEnd { O200k, Cl100k }

impl Exact {
    /// `o200k_base`
    pub const O200K_BASE: Exact = Exact { name: "o200k_base", vocabulary: vocabulary::O200K_BASE, piece_end: PieceEnd::O200k };
    /// `cl100k_base`
    pub const CL100K_BASE: Exact = Exact { name: "cl100k_base", vocabulary: vocabulary::CL100K_BASE, piece_end: PieceEnd::Cl100k };
}

impl std::fmt::Debug for Exact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exact").field("name", &self.name).finish_non_exhaustive()
    }
}

impl TokenCounter for Exact {
    fn name(&self) -> &str { self.name }
    fn count(&self, text: &str) -> Tokens {
        let n = match self.piece_end {
            PieceEnd::O200k => count(&self.vocabulary, text.as_bytes(), pieces::o200k_end),
            PieceEnd::Cl100k => count(&self.vocabulary, text.as_bytes(), pieces::cl100k_end),
        };
        Tokens::try_from(n).unwrap_or(Tokens::MAX)
    }
    fn is_exact(&self) -> bool { true }
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
