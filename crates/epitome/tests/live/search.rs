//! Search over the log, in the context and out of it.

use epitome::recall::{Index, Query, Source};
use epitome::strategy::ArchivedContent;

use super::support::{SMALL, compact, live, model, talk, user};

#[test]
fn what_left_the_context_is_found_with_its_handle() {
    let mut live = live(SMALL);
    live.push(user("The task: tidy up.")).unwrap();
    live.push(model("The ledger belongs to partner HLV-2209, who joins on the fingerprint.")).unwrap();
    talk(&mut live, 1_700);
    let query = Query { limit: 1, ..Query::new("which partner joins on the fingerprint?") };
    let before = live.search(&query).unwrap().passages.remove(0);
    assert!(before.text.contains("HLV-2209"), "{}", before.text);
    assert_eq!((before.in_context, &before.handle), (Some(true), &None));

    compact(&mut live).unwrap();
    let after = live.search(&query).unwrap().passages.remove(0);
    assert_eq!((after.in_context, &after.text), (Some(false), &before.text));
    let Some(ArchivedContent::Messages(messages)) = live.recall(&after.handle.unwrap()).unwrap() else {
        panic!("no messages")
    };
    assert!(messages.iter().any(|message| message.id == after.message));

    live.undo(0).unwrap();
    assert_eq!(live.search(&query).unwrap().passages.remove(0).in_context, Some(true));
}

#[test]
fn what_arrives_is_found_by_the_next_search() {
    let mut live = live(SMALL);
    talk(&mut live, 500);
    let query = Query { from: vec![Source::User], newest: true, limit: 1, ..Query::default() };
    live.search(&query).unwrap();
    live.push(user("One more thing: the port is 8080.")).unwrap();
    let page = live.search(&query).unwrap();
    assert!(page.passages[0].text.ends_with("the port is 8080."), "{page:?}");
    let mut rebuilt = Index::build(live.session()).search(&query).unwrap();
    rebuilt.locate(live.session());
    assert_eq!(page, rebuilt);
}
