#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn summaries_share_the_room() {
    let check = |sizes: &[Tokens], room, expect: &[Tokens]| assert_eq!(allot(sizes, 50, 200, room), expect);
    check(&[1000, 1000], 100, &[50, 50]);
    check(&[1000, 3000], 300, &[100, 200]);
    check(&[1000, 3000], 10, &[50, 50]);
    check(&[120, 4000], 4000, &[60, 200]);
    check(&[], 100, &[]);
}

mod runs {
    use std::fmt::Write as _;
    use std::sync::Arc;

    use epitome_session::{Entry, EntryKey, Language, Message, Origin, Position, Role, units};

    use super::super::*;
    use crate::block::EntryTokens;
    use crate::host::HostChanges;
    use crate::services::TokenCounter;
    use crate::task::TaskKind;
    use crate::view::Protection;

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

    /// The edits for `units` of a view of messages, each a letter: `a` of 500 tokens, `b` of 100, `s` an earlier summary of
    /// 500, `y` a part of the system prompt; the texts may take `max_tokens` together, 50 each at least.
    fn check(messages: &str, units_of: &[u32], max_tokens: Tokens, expect: &str) {
        let message = |(index, kind): (usize, char)| {
            let (role, origin) = match kind {
                's' => (Role::User, Origin::Summary),
                'y' => (Role::System, Origin::Instructions),
                _ => (Role::Assistant, Origin::Model),
            };
            let message = Arc::new(Message::text(index.to_string(), role, origin, "x"));
            Entry::new(EntryKey::Log(index as u32), Position::log(index as u32), message)
        };
        let entries: Vec<Entry> = messages.chars().enumerate().map(message).collect();
        let size = |kind| EntryTokens { total: if kind == 'b' { 100 } else { 500 }, blocks: vec![1] };
        let tokens: Vec<EntryTokens> = messages.chars().map(size).collect();
        let all = units(&entries);
        let protections = vec![Protection::Free; all.len()];
        let view = View::new(&entries, &all, &tokens, &protections, &Bytes, Language::English);
        let goal = Goal {
            current: view.total_tokens(),
            target: 100,
            limit: 100,
            window: 100,
            max_summary_tokens: None,
            task: TaskKind::Unknown,
            cycle: 1,
            focus: None,
            focus_given: false,
            first_unsent_unit: None,
            language: Language::English,
            host: HostChanges::Any,
        };
        let mut text = String::new();
        for edit in summarize_runs(&view, &goal, units_of, max_tokens, 50, |_| Reason::new("code", "why")) {
            match edit {
                Edit::Summarize { units, summary: SummaryText::Request(request), .. } => {
                    write!(text, "{units:?} in {}; ", request.max_tokens).unwrap();
                }
                Edit::Drop { units, .. } => write!(text, "drop {units:?}; ").unwrap(),
                other => unreachable!("{other:?}"),
            }
        }
        assert_eq!(text.trim_end(), expect, "{messages}");
    }

    #[test]
    fn each_run_has_a_summary_of_its_own() {
        check("aaaa", &[0, 1, 2], 300, "[0, 1, 2] in 300;");
        // One heading more, and the rest by size.
        check("aaaaa", &[0, 1, 3], 330, "[0, 1] in 200; [3] in 100;");
        check("ayaa", &[0, 2], 300, "[0, 2] in 300;");
        check("aaa", &[], 300, "");
    }

    #[test]
    fn a_short_run_leaves_without_one_and_last() {
        check("baaab", &[0, 2, 3], 300, "[2, 3] in 300; drop [0];");
        // Alone it is summarised all the same.
        check("ba", &[0], 300, "[0] in 69;");
        // No room for a second summary of 50 tokens and its heading.
        check("aabaa", &[0, 1, 3], 100, "[0, 1] in 100; drop [3];");
    }

    #[test]
    fn an_earlier_summary_alone_stays() {
        check("sbaa", &[0, 2, 3], 300, "[2, 3] in 300;");
        check("ssb", &[0, 1], 300, "[0, 1] in 300;");
        check("sa", &[0], 300, "");
    }
}
