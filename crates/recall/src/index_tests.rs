use epitome_session::{Arguments, Block, Content, Message, Origin, Role, Session, ToolCall, ToolResult};
use proptest::prelude::*;

use super::*;
use crate::lookups::is_lookup;
use crate::query::Source;

/// A message of a made-up session: who speaks, and what.
fn message() -> impl Strategy<Value = Message> {
    let word = prop_oneof![
        "[a-z]{1,8}",
        "[a-z]{2,6}[A-Z][a-z]{2,6}",
        "[a-z]{1,5}/[a-z_]{1,8}\\.rs",
        "[0-9]{1,6}",
        "[一-龥]{1,6}",
        "[а-яё]{1,7}",
        "[à-þ]{2,6}",
    ];
    let text = prop::collection::vec((word, prop_oneof![Just(" "), Just("\n"), Just(", "), Just("\\n")]), 0..20)
        .prop_map(|words| words.into_iter().flat_map(|(word, space)| [word, space.to_owned()]).collect::<String>());
    (0..7_u8, text, 0..3_u8).prop_map(|(kind, text, id)| {
        let id: Arc<str> = format!("c{id}").into();
        match kind {
            0 => Message::text("", Role::User, Origin::Typed, text),
            1 => Message::text("", Role::Assistant, Origin::Model, text),
            2 => {
                let arguments = serde_json::json!({ "file_path": "src/lib.rs", "text": text }).to_string();
                let call = ToolCall { id, name: "Edit".into(), arguments: Arguments::Json(arguments.into()) };
                Message::new("", Role::Assistant, Origin::Model, vec![Block::new(Content::ToolCall(call))])
            }
            3 => {
                let text = text.into();
                Message::result(
                    "",
                    ToolResult { call_id: id, name: None, text, attachments: Vec::new(), is_error: false },
                )
            }
            4 => Message::text("", Role::User, Origin::Injected, text),
            // What the model looked up, under ids of its own.
            5 => lookup(&format!("l{id}"), "mcp__epitome__search_history", &text),
            _ => found(&format!("l{id}"), Some("mcp__epitome__search_history"), &text),
        }
    })
}

/// A call of a tool with words as its argument.
fn lookup(id: &str, tool: &str, words: &str) -> Message {
    let arguments = serde_json::json!({ "queries": [words] }).to_string();
    let call = ToolCall { id: id.into(), name: tool.into(), arguments: Arguments::Json(arguments.into()) };
    Message::new("", Role::Assistant, Origin::Model, vec![Block::new(Content::ToolCall(call))])
}

/// What a call gave.
fn found(id: &str, tool: Option<&str>, text: &str) -> Message {
    let (name, text) = (tool.map(Arc::from), text.into());
    Message::result("", ToolResult { call_id: id.into(), name, text, attachments: Vec::new(), is_error: false })
}

fn session(messages: Vec<Message>) -> Session {
    let mut session = Session::new();
    session.extend(messages);
    session
}

/// All that an index consists of.
fn contents(index: &Index) -> String {
    let mut numbers: Vec<_> = index.numbers.iter().collect();
    numbers.sort();
    format!("{:?} {:?} {numbers:?} {:?}", index.pieces, index.units, index.postings)
}

/// The words of a text as a person reads them.
fn words(text: &str) -> Vec<&str> {
    text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

#[test]
fn threads_may_share_an_index() {
    fn check<T: Send + Sync>() {}
    check::<Index>();
}

#[test]
fn a_small_room_shows_what_was_asked_for() {
    let lines: String = (0..40).map(|line| format!("line {line} of a long report on nothing\n")).collect();
    let text = format!("{lines}the port is 8080\n{lines}");
    let index = Index::build(&session(vec![Message::text("", Role::Assistant, Origin::Model, text)]));
    let check = |limit: usize, characters: usize| {
        let page = index.search(&Query { limit, characters, ..Query::new("which port?") });
        assert!(page.passages[0].text.contains("8080"), "{limit} {characters}: {page:?}");
    };
    check(6, 9_000);
    check(1, 120);
    check(60, 9_000);
    check(100_000, 1_000);
    let beyond = index.search(&Query { page: usize::MAX, ..Query::new("port") });
    assert_eq!((beyond.passages.len(), beyond.more), (0, false));
}

#[test]
fn what_was_looked_up_is_not_found_again() {
    let check = |tool: &str, named: bool, expect: &[u32]| {
        let original = Message::text("", Role::User, Origin::Typed, "Never touch partner HLV-2209.");
        let copy = found("c1", named.then_some(tool), "#0 user:\nNever touch partner HLV-2209.");
        let index = Index::build(&session(vec![original, lookup("c1", tool, "which partner HLV-2209?"), copy]));
        let mut messages: Vec<u32> = index.pieces.iter().map(|piece| piece.message).collect();
        messages.dedup();
        assert_eq!(messages, expect, "{tool}");
        let page = index.search(&Query::new("which partner HLV-2209?"));
        let copied = page.passages.iter().any(|passage| passage.text.contains("which partner"));
        assert_eq!((page.passages.len(), copied), (1, expect.len() > 1), "{tool}: {page:?}");
    };
    for named in [true, false] {
        check("search_history", named, &[0]);
        check("mcp__epitome__recall", named, &[0]);
        check("epitome.context_status", named, &[0]);
        check("search_history_of_git", named, &[0, 1, 2]);
        check("product_recall", named, &[0, 1, 2]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_index_that_grew_is_the_one_built_at_once(
        messages in prop::collection::vec(message(), 0..12),
        at in 0..12_usize,
    ) {
        let session = session(messages);
        let at = at.min(session.log().len());
        let mut grown = Index::new();
        grown.append(&session.log()[..at]);
        grown.append(&session.log()[at..]);
        prop_assert_eq!(contents(&grown), contents(&Index::build(&session)));
    }

    #[test]
    fn every_word_of_the_log_is_found_but_what_was_looked_up(messages in prop::collection::vec(message(), 1..12)) {
        let session = session(messages);
        let index = Index::build(&session);
        for message in session.log() {
            let texts = message.blocks.iter().filter_map(|block| match &block.content {
                Content::Text { text } => Some(text),
                Content::ToolResult(result) => {
                    let is_lookup = result.name.as_ref().is_some_and(|name| is_lookup(name));
                    (!is_lookup).then_some(&result.text)
                }
                _ => None,
            });
            for word in texts.flat_map(|text| words(text)) {
                let found = index.search(&Query { limit: 1, ..Query::new(word) });
                prop_assert_eq!(found.passages.len(), 1, "{:?} is not found", word);
                let all: Vec<String> = (0..8)
                    .map(|page| index.search(&Query { page, ..Query::new(word) }))
                    .flat_map(|page| page.passages)
                    .map(|passage| passage.text)
                    .collect();
                prop_assert!(all.iter().any(|text| text.contains(word)), "{:?} is in no passage: {:?}", word, all);
            }
        }
    }

    #[test]
    fn pages_keep_their_limits(
        messages in prop::collection::vec(message(), 0..12),
        asked in prop::collection::vec("[a-z ]{1,12}|[一-龥]{1,3}", 0..3),
        from in prop::sample::subsequence(Source::ALL.to_vec(), 0..3),
        newest in any::<bool>(),
        limit in 0..8_usize,
        characters in 0..3_000_usize,
    ) {
        let session = session(messages);
        let index = Index::build(&session);
        let query = Query { words: asked, from, newest, limit, characters, page: 0 };
        let (page, again) = (index.search(&query), index.search(&query));
        prop_assert_eq!(&page, &again);
        prop_assert!(page.passages.len() <= limit);
        prop_assert!(page.passages.iter().map(|passage| passage.text.chars().count()).sum::<usize>() <= characters);
        let next = index.search(&Query { page: 1, ..query });
        prop_assert_eq!(page.more, !next.passages.is_empty());
        // No line is shown twice.
        let mut parts: Vec<_> = page.passages.iter().chain(&next.passages).flat_map(|passage| &passage.parts).collect();
        parts.sort_by_key(|part| (part.message, part.block, part.bytes.as_ref().map(|bytes| bytes.start)));
        for pair in parts.windows(2) {
            if let ([left, right], true) = (pair, (pair[0].message, pair[0].block) == (pair[1].message, pair[1].block))
                && let (Some(left), Some(right)) = (&left.bytes, &right.bytes)
            {
                prop_assert!(left.end <= right.start, "{:?}", pair);
            }
        }
    }
}
