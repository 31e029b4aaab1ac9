//! Memories over HTTP.

use epitome::session::MessageId;
use epitome::store::{Memory, MemoryKind, Store, Tenant};
use epitome_server::Settings;
use serde_json::{Value, json};

use crate::kept::{Folder, Kept, typed};
use crate::support::{SMALL, Wire, code, with_tokens};

const TOKENS: &str = "alice open-sesame-one-two\nbob open-sesame-two-two\n";

fn memory(text: &str, kind: MemoryKind, session: Option<&str>, time: Option<i64>) -> Memory {
    Memory { text: text.to_owned(), kind, session: session.map(Into::into), message: MessageId::new("m1"), time }
}

fn texts(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| item["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn memories_are_listed_searched_and_forgotten() {
    let folder = Folder::new();
    let stored = [
        memory("We use the BLUEHERON build", MemoryKind::Decision, Some("s"), Some(7)),
        memory("I like short answers", MemoryKind::Preference, Some("t"), None),
        memory("the build and the answers are checked", MemoryKind::Fact, None, None),
    ];
    let store = Store::open(&folder.address()).await.unwrap();
    assert_eq!(store.remember(&Tenant::new("alice").unwrap(), &stored).await.unwrap(), 3);
    drop(store);
    let settings = || Settings { store: folder.keeping(), ..with_tokens(TOKENS) };
    let alice = Kept::with(SMALL, settings()).await.with_token("open-sesame-one-two");

    let all = alice.found("/v1/memories").await;
    assert_eq!(texts(&all), [&stored[2].text, &stored[1].text, &stored[0].text], "the last stored first");
    let heron = json!({"id": stored[0].id(), "text": "We use the BLUEHERON build", "kind": "decision", "session": "s",
        "message": "m1", "time": 7});
    assert_eq!(all["items"][2], heron);
    let check = async |query: &str, expect: &[&str]| {
        let list = alice.found(&format!("/v1/memories?{query}")).await;
        assert_eq!(texts(&list), expect, "{query}");
    };
    check("session=t", &[&stored[1].text]).await;
    check("session=nobody", &[]).await;
    check("limit=1", &[&stored[2].text]).await;
    check("query=build%20answers", &[&stored[2].text, &stored[1].text, &stored[0].text]).await;
    check("query=BlueHeron", &[&stored[0].text]).await;
    check("query=short&session=s", &[]).await;
    check("query=", &[]).await;
    for (query, expect) in [
        ("limit=0", "bad-limit"),
        ("limit=501", "bad-limit"),
        ("session=", "bad-name"),
        ("session=%00", "bad-name"),
        ("sesion=s", "bad-query"),
    ] {
        let (status, body) = alice.get(&format!("/v1/memories?{query}")).await;
        assert_eq!((status, code(&body)), (400, expect), "{query}");
    }

    // What is one tenant's is nobody else's, to look at or to forget.
    let bob = alice.with_token("open-sesame-two-two");
    assert_eq!(bob.found("/v1/memories?session=s").await, json!({"items": []}));
    let forget = async |kept: &Kept, id: &str| {
        let path = format!("/v1/memories/{id}");
        let (status, body) = kept.send("DELETE", &path, kept.request("DELETE", &path)).await;
        assert!(status == 204 || code(&body) == "unknown-memory", "{body}");
        status
    };
    assert_eq!(forget(&bob, &stored[0].id()).await, 404);
    let alice = bob.with_token("open-sesame-one-two");
    for unknown in ["0123456789abcdef", "%00", "no"] {
        assert_eq!(forget(&alice, unknown).await, 404, "{unknown}");
    }
    assert_eq!(forget(&alice, &stored[0].id()).await, 204);
    assert_eq!(forget(&alice, &stored[0].id()).await, 404);
    assert_eq!(texts(&alice.found("/v1/memories").await), [&stored[2].text, &stored[1].text]);
    assert_eq!(alice.found("/v1/memories?query=blueheron").await, json!({"items": []}));
}

/// What two sessions say is a memory of each: deleting one of them leaves the other's.
#[tokio::test]
async fn what_two_sessions_say_is_kept_for_both() {
    let config = format!("{SMALL}[live]\nmemory_flush = true\n");
    let kept = Kept::start(&config, Folder::new().keeping()).await;
    let port = |number: u32| format!("Remember that my staging port is {number}.");
    let of = async |id: &str| {
        let list = kept.found(&format!("/v1/memories?session={id}")).await;
        texts(&list).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    for id in ["one", "two"] {
        kept.session(id, 8).await;
        kept.done(&format!("/v1/sessions/{id}/messages"), typed(&port(8_080))).await;
        kept.done(&format!("/v1/sessions/{id}/messages"), typed("I prefer tabs over spaces in every file.")).await;
        let done = kept.done(&format!("/v1/sessions/{id}/compact"), json!({"target": 3_000})).await;
        assert_eq!(done["report"]["status"], "compacted", "{done}");
        assert_eq!(of(id).await, [&port(8_080), "I prefer tabs over spaces in every file."]);
    }
    // Said otherwise in one of them: there, and nowhere else, it takes the place of what was said.
    kept.done("/v1/sessions/two/messages", typed(&port(8_443))).await;
    kept.done("/v1/sessions/two/messages", json!({"messages": Wire::Chat.step(9)})).await;
    kept.done("/v1/sessions/two/compact", json!({"target": 2_000})).await;
    assert!(of("two").await.contains(&port(8_443)) && !of("two").await.contains(&port(8_080)), "{:?}", of("two").await);
    assert!(of("one").await.contains(&port(8_080)));
    let gone = kept.send("DELETE", "/v1/sessions/one", kept.request("DELETE", "/v1/sessions/one")).await;
    assert_eq!(gone.0, 204);
    assert_eq!(of("one").await, Vec::<String>::new());
    assert!(of("two").await.contains(&"I prefer tabs over spaces in every file.".to_owned()));
}
