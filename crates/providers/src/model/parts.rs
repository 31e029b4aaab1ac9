//! Splitting a transcript into parts that fit into one request each.

use epitome_strategy::Tokens;

use super::source::EarlierSummary;
use super::transcript::TranscriptPiece;

/// Something to be made one summary of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SummaryInput {
    /// A summary of messages.
    Summary(String),
    /// Messages.
    Messages(String),
}

impl SummaryInput {
    /// Its text.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Summary(text) | Self::Messages(text) => text,
        }
    }
}

/// From this share of its room on, a part ends where a person speaks.
const FULL_ENOUGH: f64 = 0.75;

/// The pieces as parts of at most `room` tokens each, with the earlier summaries in their places.
///
/// Parts are filled from the oldest piece on: when messages are added, the parts in front stay what they were, and their
/// summaries are known.
pub(super) fn parts(pieces: &[TranscriptPiece], earlier: &[EarlierSummary], room: Tokens) -> Vec<SummaryInput> {
    let mut parts = Vec::new();
    let mut open = OpenPart::default();
    let mut summaries = earlier.iter().peekable();
    let mut messages = 0;
    for piece in pieces {
        while let Some(summary) = summaries.next_if(|summary| summary.before <= messages) {
            open.close(&mut parts);
            parts.push(SummaryInput::Summary(summary.text.clone()));
        }
        // One more for the line feed between two pieces.
        let is_full = f64::from(open.tokens) > f64::from(room) * FULL_ENOUGH && piece.text.starts_with(">>> user");
        if is_full || open.tokens + piece.tokens + 1 > room {
            open.close(&mut parts);
        }
        open.add(piece);
        messages = piece.messages;
    }
    open.close(&mut parts);
    parts.extend(summaries.map(|summary| SummaryInput::Summary(summary.text.clone())));
    parts
}

#[derive(Default)]
struct OpenPart {
    text: String,
    tokens: Tokens,
}

impl OpenPart {
    fn add(&mut self, piece: &TranscriptPiece) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&piece.text);
        self.tokens += piece.tokens + 1;
    }

    fn close(&mut self, parts: &mut Vec<SummaryInput>) {
        if !self.text.is_empty() {
            parts.push(SummaryInput::Messages(std::mem::take(&mut self.text)));
        }
        self.tokens = 0;
    }
}

/// Runs of neighbours that fit into `room` tokens each, as ranges; at least two of them, so that merging ends. Linear.
pub(super) fn groups(sizes: &[Tokens], room: Tokens) -> Vec<std::ops::Range<usize>> {
    let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
    let mut used = 0;
    for (index, size) in sizes.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if used + size <= room || group.len() < 2 => {
                group.end = index + 1;
                used += size;
            }
            _ => {
                groups.push(index..index + 1);
                used = *size;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_full_and_do_not_move() {
        let piece = |messages: usize, who: &str| TranscriptPiece {
            text: format!(">>> {who}\n{messages}"),
            tokens: 9,
            messages,
        };
        let check = |users: &[usize], count: usize, summaries: &[usize], expect: &[&[usize]]| {
            let who = |message: usize| if users.contains(&message) { "user" } else { "agent" };
            let pieces: Vec<TranscriptPiece> = (1..=count).map(|message| piece(message, who(message))).collect();
            let earlier: Vec<EarlierSummary> =
                summaries.iter().map(|before| EarlierSummary { before: *before, text: "S".to_owned() }).collect();
            let numbers = |part: &SummaryInput| match part {
                SummaryInput::Summary(_) => vec![0],
                SummaryInput::Messages(text) => text.lines().filter_map(|line| line.parse().ok()).collect(),
            };
            let found: Vec<Vec<usize>> = parts(&pieces, &earlier, 50).iter().map(numbers).collect();
            assert_eq!(found, expect);
        };
        check(&[], 4, &[], &[&[1, 2, 3, 4]]);
        check(&[], 7, &[], &[&[1, 2, 3, 4, 5], &[6, 7]]);
        check(&[], 9, &[], &[&[1, 2, 3, 4, 5], &[6, 7, 8, 9]]);
        check(&[6], 7, &[], &[&[1, 2, 3, 4, 5], &[6, 7]]);
        check(&[5], 7, &[], &[&[1, 2, 3, 4], &[5, 6, 7]]);
        check(&[], 3, &[0], &[&[0], &[1, 2, 3]]);
        check(&[], 3, &[0, 2, 3], &[&[0], &[1, 2], &[0], &[3], &[0]]);
        check(&[], 0, &[0], &[&[0]]);
    }

    #[test]
    fn groups_hold_two_at_least() {
        let check = |sizes: &[Tokens], expect: &[std::ops::Range<usize>]| assert_eq!(groups(sizes, 10), expect);
        check(&[4, 4, 4, 4], &[0..2, 2..4]);
        check(&[9, 9, 9], &[0..2, 2..3]);
        check(&[1, 1, 1], &[0..3]);
        check(&[], &[]);
    }
}
