#![allow(clippy::unwrap_used)]
use std::collections::BTreeSet;

use epitome_session::{Arguments, Block, Content, Message, Origin, Role, Session, Thinking, ToolCall, ToolResult};
use proptest::prelude::*;

use super::*;
use crate::lookups::is_lookup;
use crate::query::Source;

/// Words of every kind that a log holds, with what stands between them.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,8}",
        "[a-z]{2,6}[A-Z][a-z]{2,6}",
        "[a-z]{1,5}/[a-z_]{1,8}\\.rs",
        "[0-9]{1,6}",
        "[一-龥]{1,6}",
        "[ぁ-ん]{1,4}[ァ-ヶ]{1,4}",
        "[가-힣]{1,5}",
        "[а-яё]{1,7}",
        "[à-þ]{2,6}",
    ];
    prop::collection::vec((word, prop_oneof![Just(" "), Just("\n"), Just(", "), Just("\\n")]), 0..20)
        .prop_map(|words| words.into_iter().flat_map(|(word, space)| [word, space.to_owned()]).collect())
}

/// A message of a made-up session: who speaks, in which kind of block, and what.
fn message() -> impl Strategy<Value = Message> {
    let key = prop_oneof!["[a-z_]{1,10}", "[a-z]{2,6}[A-Z][a-z]{2,6}", "[一-龥]{1,3}"];
    (0..10_u8, text(), text(), key, 0..3_u8).prop_map(|(kind, text, other, key, id)| {
        let id: Arc<str> = format!("c{id}").into();
        let call = |name: &str, arguments: Arguments| {
            Block::new(Content::ToolCall(ToolCall { id: Arc::clone(&id), name: name.into(), arguments }))
        };
        let said = |blocks: Vec<Block>| Message::new("", Role::Assistant, Origin::Model, blocks);
        match kind {
            0 => Message::text("", Role::User, Origin::Typed, text),
            1 => Message::text("", Role::Assistant, Origin::Model, text),
            2 => {
                let arguments = serde_json::json!({
                    "file_path": "src/lib.rs",
                    key: {"old": [text, {"new": other}], "line": 4_711, "all": true},
                });
                said(vec![call("Edit", Arguments::Json(arguments.to_string().into()))])
            }
            3 => said(vec![call("apply_patch", Arguments::Text(text.into()))]),
            4 => {
                let thinking = Thinking { text: text.into(), signature: None, redacted: false };
                said(vec![Block::new(Content::Thinking(thinking)), Block::new(Content::Text { text: other.into() })])
            }
            5 => found(&id, None, &text),
            6 => Message::text("", Role::User, Origin::Injected, text),
            7 => Message::text("", Role::System, Origin::Instructions, text),
            // What the model looked up, under ids of its own.
            8 => lookup(&format!("l{id}"), "mcp__epitome__search_history", &text),
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
fn words(text: &str) -> Vec<String> {
    text.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The words of JSON: of its keys and of its values, but for `null`, which says that there is none.
fn words_of_json(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::Object(fields) => {
            fields.iter().flat_map(|(key, value)| [words(key), words_of_json(value)].concat()).collect()
        }
        serde_json::Value::Array(items) => items.iter().flat_map(words_of_json).collect(),
        serde_json::Value::String(text) => words(text),
        serde_json::Value::Null => Vec::new(),
        other => words(&other.to_string()),
    }
}

/// The words of a block that a search is to find: all but those of what was looked up in the log itself.
fn words_of(block: &Block) -> Vec<String> {
    match &block.content {
        Content::Text { text } => words(text),
        Content::Thinking(thinking) => words(&thinking.text),
        Content::ToolCall(call) if is_lookup(&call.name) => Vec::new(),
        Content::ToolCall(call) => match serde_json::from_str(call.arguments.text()) {
            Ok(json) => [words(&call.name), words_of_json(&json)].concat(),
            Err(_) => [words(&call.name), words(call.arguments.text())].concat(),
        },
        Content::ToolResult(result) if result.name.as_ref().is_some_and(|name| is_lookup(name)) => Vec::new(),
        // One that came without the id of its call is that of a look-up which was open.
        Content::ToolResult(result) if result.call_id.starts_with('l') => Vec::new(),
        Content::ToolResult(result) => words(&result.text),
        Content::Media(_) | Content::Opaque(_) | Content::Gone => Vec::new(),
    }
}

/// The first page, which is there: the query is one.
fn search(index: &Index, query: &Query) -> Page {
    index.search(query).unwrap()
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
        let page = search(&index, &Query { limit, characters, ..Query::new("which port?") });
        assert!(page.passages[0].text.contains("8080"), "{limit} {characters}: {page:?}");
    };
    check(6, 9_000);
    check(1, 120);
    check(60, 9_000);
    check(100, 1_000);
    let beyond = search(&index, &Query { page: 19, ..Query::new("port") });
    assert_eq!((beyond.passages.len(), beyond.more), (0, false));
    let refused = index.search(&Query { page: 20, ..Query::new("port") });
    assert_eq!(refused, Err(QueryProblem::Page));
    assert!(index.share(&Query { limit: 0, ..Query::new("port") }).is_err());
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
        let page = search(&index, &Query::new("which partner HLV-2209?"));
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

#[test]
fn one_long_line_is_found_wherever_it_says_it() {
    let data: String =
        (0..480_000).map(|number| format!("{number:07x}{}", if number % 8 == 0 { "+" } else { "z/" })).collect();
    let half = data.len() / 2;
    let line = format!("alphaWord {} middle_word {} omega-word", &data[..half], &data[half..]);
    assert!(line.len() > 4_000_000 && !line.contains('\n'));
    // Its arguments are read as another text than was recorded.
    let arguments = serde_json::json!({ "content": &line[line.len() - 400_000..] }).to_string();
    let call = ToolCall { id: "c1".into(), name: "Write".into(), arguments: Arguments::Json(arguments.into()) };
    let check = |message: Message, words: &[&str]| {
        let index = Index::build(&session(vec![message]));
        for word in words {
            let page = search(&index, &Query { limit: 1, ..Query::new(*word) });
            let text = &page.passages[0].text;
            assert!(text.contains(word) && text.chars().count() <= 9_000, "{word}: {text}");
        }
    };
    check(found("c0", None, &line), &["alphaWord", "alpha", "middle_word", "omega-word", "000a1b2z", "0061a7fz"]);
    let call = vec![Block::new(Content::ToolCall(call))];
    check(Message::new("", Role::Assistant, Origin::Model, call), &["omega", "omega-word", "00752fez"]);
}

#[test]
fn what_is_left_out_makes_no_neighbours() {
    let said = |role, text: &str| match role {
        Role::User => Message::text("", role, Origin::Typed, text),
        _ => Message::text("", role, Origin::Model, text),
    };
    let texts = ["first wish", "first answer", "second wish", "second answer", "third wish", "third answer"];
    let roles = [Role::User, Role::Assistant].into_iter().cycle();
    let log: Vec<Message> = roles.zip(texts).map(|(role, text)| said(role, text)).collect();
    let index = Index::build(&session(log));
    let check = |query: Query, expect: &[&str]| {
        let page = search(&index, &query);
        let found: Vec<&str> = page.passages.iter().map(|passage| &*passage.text).collect();
        assert_eq!(found, expect, "{query:?}");
    };
    let of_user = Query { from: vec![Source::User], ..Query::default() };
    check(Query { newest: true, ..of_user.clone() }, &["third wish", "second wish", "first wish"]);
    check(of_user.clone(), &["first wish", "second wish", "third wish"]);
    check(Query { words: vec!["second".into()], ..of_user.clone() }, &["second wish"]);
    check(Query { newest: true, limit: 2, ..of_user.clone() }, &["third wish", "second wish"]);
    check(Query { newest: true, limit: 2, page: 1, ..of_user }, &["first wish"]);
    // Without a source they are neighbours.
    let all = search(&index, &Query { newest: true, ..Query::default() });
    assert_eq!(all.passages.len(), 1, "{all:?}");
    // Two ways of going on are two messages, the same way twice is one.
    let log = ["go on", "yes", "go on, yes", "yes"].map(|text| said(Role::User, text));
    let answers = ["a", "b", "c", "d"].map(|text| said(Role::Assistant, text));
    let index = Index::build(&session(log.into_iter().zip(answers).flat_map(|(one, two)| [one, two]).collect()));
    let page = search(&index, &Query { newest: true, from: vec![Source::User], ..Query::default() });
    let found: Vec<&str> = page.passages.iter().map(|passage| &*passage.text).collect();
    assert_eq!(found, ["yes", "go on, yes", "go on"]);
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
        for word in session.log().iter().flat_map(|message| &message.blocks).flat_map(words_of).collect::<BTreeSet<_>>() {
            let mut pages = (0..8).map(|page| search(&index, &Query { page, ..Query::new(&word) }));
            let is_found = pages.any(|page| page.passages.iter().any(|passage| passage.text.contains(&word)));
            prop_assert!(is_found, "{:?} is in no passage", word);
        }
    }

    #[test]
    fn pages_keep_their_limits(
        messages in prop::collection::vec(message(), 0..12),
        asked in prop::collection::vec("[a-z ]{1,12}|[一-龥]{1,3}", 0..3),
        from in prop::sample::subsequence(Source::ALL.to_vec(), 0..3),
        newest in any::<bool>(),
        limit in 1..8_usize,
        characters in 1..3_000_usize,
    ) {
        let session = session(messages);
        let index = Index::build(&session);
        let query = Query { words: asked, from, newest, limit, characters, page: 0 };
        prop_assume!(query.check().is_ok());
        let (page, again) = (search(&index, &query), search(&index, &query));
        prop_assert_eq!(&page, &again);
        prop_assert!(page.passages.len() <= limit);
        prop_assert!(page.passages.iter().map(|passage| passage.text.chars().count()).sum::<usize>() <= characters);
        let next = search(&index, &Query { page: 1, ..query });
        prop_assert_eq!(page.more, !next.passages.is_empty());
        // What stands side by side in a passage stands side by side in what was read of the log.
        for passage in page.passages.iter().chain(&next.passages) {
            let pieces = passage.parts.iter().map(|part| {
                let is_part = |piece: &Piece| (piece.message, piece.block) == (part.message, part.block);
                let of_bytes = |piece: &Piece| match (&piece.body, &part.bytes) {
                    (Body::Recorded(range), Some(bytes)) => range.start <= bytes.start && bytes.end <= range.end,
                    _ => true,
                };
                index.pieces.iter().position(|piece| is_part(piece) && of_bytes(piece))
            });
            let pieces: Vec<Option<usize>> = pieces.collect();
            for pair in pieces.windows(2) {
                prop_assert!(pair[0].is_some() && pair[0].map(|piece| piece + 1) == pair[1], "{:?}", passage);
            }
        }
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
