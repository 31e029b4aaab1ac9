//! Whether typed messages, final answers and recorded summaries are still there.

use epitome::session::{Content, Entry, Origin, Role};
use epitome_eval::{EvalError, KeptCount, Patterns};

use super::line::{LEAST_LINE, plain};

/// The lengths of typed messages that count, in characters: shorter ones occur anywhere, longer ones may be cut.
const TYPED: std::ops::RangeInclusive<usize> = 10..=400;
/// The characters of a typed message that a result must contain in one piece.
const PIECE: usize = 30;
/// Characters between the beginnings of pieces that are searched for.
const STEP: usize = 5;
/// The beginning of a text that an agent puts in front of a session that continues.
const CONTINUED: &str = "This session is being continued";
/// The lengths of sentences that count, in characters: shorter ones say little, longer ones are lists and code.
const SENTENCE: std::ops::RangeInclusive<usize> = 40..=300;

/// What was said that should stay.
#[derive(Debug)]
pub(super) struct StatedContent {
    pieces: Patterns,
    /// For each typed message the number of the first of its pieces, and of the first one behind them.
    typed: Vec<std::ops::Range<usize>>,
    finals: Patterns,
    summary: Patterns,
    sentences: usize,
    lines: usize,
}

impl StatedContent {
    pub(super) fn new(before: &[Entry]) -> Result<Self, EvalError> {
        let (mut pieces, mut typed, mut finals, mut lines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut answer = None;
        for message in before.iter().map(|entry| &*entry.message) {
            // Where only the text is left, an agent's own summary looks like typed text.
            let continues = || message.plain_text().trim_start().starts_with(CONTINUED);
            match message.origin {
                Origin::Typed if continues() => lines.extend(summary_lines(&message.plain_text())),
                Origin::Summary => lines.extend(summary_lines(&message.plain_text())),
                Origin::Typed if message.role == Role::User => {
                    finals.extend(answer.take().iter().flat_map(|answer: &String| sentences(answer)));
                    let text = plain(&message.plain_text());
                    if is_counted(&text) {
                        let first = pieces.len();
                        add_pieces(&text, &mut pieces);
                        typed.push(first..pieces.len());
                    }
                }
                Origin::Model => {
                    let text = plain(&message.plain_text());
                    answer = Some(text).filter(|text| !text.is_empty()).or(answer);
                }
                _ => {}
            }
        }
        let (finals, lines) = (super::line::unique(finals), super::line::unique(lines));
        Ok(Self {
            pieces: Patterns::new(&pieces, false)?,
            typed,
            sentences: finals.len(),
            lines: lines.len(),
            finals: Patterns::new(&finals, false)?,
            summary: Patterns::new(&lines, false)?,
        })
    }

    pub(super) fn has_summary(&self) -> bool {
        self.lines > 0
    }

    /// Typed messages, sentences of final answers and lines of summaries that a result holds.
    pub(super) fn count_kept(&self, result: &[Entry]) -> (KeptCount, KeptCount, KeptCount) {
        let text = texts(result);
        let pieces = self.pieces.present(&text);
        let typed: Vec<bool> =
            self.typed.iter().map(|range| pieces[range.clone()].iter().any(|present| *present)).collect();
        let count = |patterns: &Patterns, of: usize| {
            if of == 0 { KeptCount::default() } else { KeptCount::count(&patterns.present(&text)) }
        };
        (KeptCount::count(&typed), count(&self.finals, self.sentences), count(&self.summary, self.lines))
    }
}

/// What a view says, its calls' arguments left out, white space as one blank.
fn texts(entries: &[Entry]) -> String {
    let mut out = String::new();
    let mut add = |text: &str| {
        for word in text.split_whitespace() {
            out.push_str(word);
            out.push(' ');
        }
    };
    for block in entries.iter().flat_map(|entry| &entry.message.blocks) {
        match &block.content {
            Content::Text { text } => add(text),
            Content::ToolResult(result) => add(&result.text),
            _ => {}
        }
    }
    out
}

/// Whether a typed text is one that should stay: a text that an agent adds begins with a tag or a bracket.
fn is_counted(text: &str) -> bool {
    TYPED.contains(&text.chars().count()) && !text.starts_with(['<', '['])
}

/// The pieces of a typed text, any of which shows that it is there: all of a short one.
fn add_pieces(text: &str, pieces: &mut Vec<String>) {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= PIECE {
        pieces.push(text.to_owned());
        return;
    }
    pieces.extend(
        (0..=chars.len() - PIECE).step_by(STEP).map(|from| chars[from..from + PIECE].iter().collect::<String>()),
    );
}

/// The sentences of an answer that are counted: parted behind `. ! ? 。` and a blank.
fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    let mut add = |sentence: &str| {
        if SENTENCE.contains(&sentence.chars().count()) {
            found.push(sentence.to_owned());
        }
    };
    while let Some((at, char)) = chars.next() {
        if matches!(char, '.' | '!' | '?' | '。') && chars.peek().is_some_and(|(_, next)| *next == ' ') {
            let end = at + char.len_utf8();
            add(&text[start..end]);
            start = end + 1;
        }
    }
    add(text.get(start..).unwrap_or_default());
    found
}

/// The lines of a recorded summary that are counted.
fn summary_lines(text: &str) -> Vec<String> {
    text.lines().map(plain).filter(|line| line.chars().count() >= LEAST_LINE).collect()
}
