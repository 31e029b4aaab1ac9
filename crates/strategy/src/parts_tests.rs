#![allow(clippy::unwrap_used, clippy::panic)]
use std::fmt::Write as _;
use std::sync::Arc;

use epitome_session::{Entry, EntryKey, Language, Message, Origin, Position, Role, units};

use super::*;
use crate::block::EntryTokens;
use crate::host::HostChanges;
use crate::plan::SummaryText;
use crate::services::TokenCounter;
use crate::task::TaskKind;
use crate::view::Protection;

/// One token a byte.
#[derive(Debug)]
struct Bytes;

impl TokenCounter for Bytes {
    fn name(&self) -> &str {
        "bytes"
    }

    fn count(&self, text: &str) -> Tokens {
        text.len() as Tokens
    }

    fn is_exact(&self) -> bool {
        true
    }
}

const CODES: ReasonCodes = ReasonCodes { cut: "cut", summary: "summary" };
const LIMITS: SummaryRoom = SummaryRoom { least: 50, share: 1.0 };

/// A view of messages of 500 tokens each, `s` for an earlier summary, `p` for a message that may not leave, and the edits
/// that save `excess` of it; every text of a part may be cut to `budget` tokens.
fn check(messages: &str, parts: &[&[u32]], budget: Tokens, excess: Tokens, expect: &str) {
    let text = "x".repeat(500);
    let message = |(index, kind): (usize, char)| {
        let (role, origin) = if kind == 's' { (Role::User, Origin::Summary) } else { (Role::Assistant, Origin::Model) };
        let index = index as u32;
        let message = Arc::new(Message::text(index.to_string(), role, origin, text.as_str()));
        Entry::new(EntryKey::Log(index), Position::log(index), message)
    };
    let entries: Vec<Entry> = messages.chars().enumerate().map(message).collect();
    let tokens = vec![EntryTokens { total: 500, blocks: vec![500] }; entries.len()];
    let units = units(&entries);
    let protection = |kind| if kind == 'p' { Protection::Pinned } else { Protection::Free };
    let protections: Vec<Protection> = messages.chars().map(protection).collect();
    let view = View::new(&entries, &units, &tokens, &protections, &Bytes, Language::English);
    let current = view.total_tokens();
    let goal = Goal {
        current,
        target: current - excess,
        limit: current,
        window: current,
        max_summary_tokens: Some(400),
        task: TaskKind::Unknown,
        cycle: 1,
        focus: None,
        focus_given: false,
        first_unsent_unit: None,
        language: Language::English,
        host: HostChanges::Any,
    };
    let part = |units: &&[u32]| {
        let cuts = units.iter().map(|unit| TextCut { at: BlockRef { message: *unit, block: 0 }, budget });
        SessionPart { name: "part".to_owned(), units: units.to_vec(), cuts: cuts.collect() }
    };
    let parts: Vec<SessionPart> = parts.iter().map(part).collect();
    let mut text = String::new();
    for edit in plan(&view, &goal, &parts, LIMITS, CODES) {
        match edit {
            Edit::Summarize { units, summary: SummaryText::Request(request), .. } => {
                write!(text, "{units:?} in {}; ", request.max_tokens).unwrap();
            }
            Edit::Excerpt { message, .. } => write!(text, "cut {message}; ").unwrap(),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(text.trim_end(), expect);
}

#[test]
fn cuts_come_first_and_summaries_only_where_they_must() {
    let parts: &[&[u32]] = &[&[0, 1], &[2, 3]];
    check("aaaaa", parts, 100, 300, "cut 0;");
    check("aaaaa", parts, 100, 1500, "cut 0; cut 1; cut 2; cut 3;");
    // Cuts save 4 · 400: 100 more than that takes a summary of the oldest part, of whatever length the goal leaves.
    check("aaaaa", parts, 100, 1700, "[0, 1] in 70; cut 2; cut 3;");
    check("aaaaa", parts, 100, 1840, "[0, 1] in 50; [2, 3] in 50;");
    // More than there is: all of it.
    check("aaaaa", parts, 100, 2400, "[0, 1] in 50; [2, 3] in 50;");
    check("aaaaa", &[], 100, 300, "");
}

#[test]
fn the_last_part_gives_only_its_oldest_units() {
    check("aaaaaaaa", &[&[0, 1, 2, 3, 4, 5]], 500, 600, "[0, 1] in 370;");
    check("aaaaaaaa", &[&[0, 1, 2, 3, 4, 5]], 500, 1000, "[0, 1, 2] in 400;");
}

#[test]
fn what_may_not_leave_splits_a_part() {
    // The goal is not reached: half of the share goes to the summaries, here of a target of 600 tokens.
    check("aapaaa", &[&[0, 1, 2, 3, 4]], 500, 2400, "[0, 1] in 150; [3, 4] in 150;");
    // An earlier summary is folded in, and left alone on its own.
    check("saaa", &[&[0, 1]], 500, 1900, "[0, 1] in 50;");
    check("saaa", &[&[0]], 500, 1900, "");
}
