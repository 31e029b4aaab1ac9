use epitome_session::{Arguments, Block, Content, Message, Origin, Role, Session, ToolCall, ToolResult};
use proptest::prelude::*;

use super::*;
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
    (0..5_u8, text, 0..3_u8).prop_map(|(kind, text, id)| {
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
            _ => Message::text("", Role::User, Origin::Injected, text),
        }
    })
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
    fn every_word_of_the_log_is_found(messages in prop::collection::vec(message(), 1..12)) {
        let session = session(messages);
        let index = Index::build(&session);
        for message in session.log() {
            let texts = message.blocks.iter().filter_map(|block| match &block.content {
                Content::Text { text } => Some(text),
                Content::ToolResult(result) => Some(&result.text),
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
