//! A store that fails: nothing half done, and no restart needed when it is back.

use std::sync::Arc;

use epitome::store::{Checkpoint, SqliteSettings, Store, Tenant};
use epitome_server::StoreLocation;
use serde_json::json;

use crate::kept::{Folder, Kept, typed};
use crate::support::{SMALL, Wire, code};

/// A service on a database that may have so many pages.
async fn bounded(folder: &Folder, pages: u32) -> Kept {
    let path = folder.address().trim_start_matches("sqlite:").to_owned();
    let settings = SqliteSettings { max_pages: Some(pages), ..SqliteSettings::new(path) };
    Kept::start(SMALL, StoreLocation::Store(Store::sqlite(&settings).unwrap())).await
}

#[tokio::test]
async fn a_full_disk_changes_nothing() {
    let folder = Folder::new();
    let kept = bounded(&folder, 90).await;
    kept.session("s", 2).await;
    kept.session("old", 2).await;
    assert_eq!(kept.found("/readyz").await["status"], "ok");
    let mut steps = 2;
    // Until there is no room for another step.
    let full = loop {
        let (status, answer) = kept.post("/v1/sessions/s/messages", json!({"messages": Wire::Chat.step(steps)})).await;
        if status != 200 {
            break (status, code(&answer).to_owned());
        }
        steps += 1;
        assert!(steps < 500);
    };
    assert_eq!(full, (503, "store-full".to_owned()));
    let info = kept.found("/v1/sessions/s").await;
    assert_eq!(info["messages"].as_u64(), Some(4 + 2 * steps as u64), "the last step is not there by half");
    let view = kept.ids("s", "compacted").await;
    let (status, refused) = kept.post("/v1/sessions/s/compact", json!({"target": 3_000})).await;
    if status == 200 {
        kept.done("/v1/sessions/s/undo", json!({})).await;
    } else {
        assert_eq!((status, code(&refused)), (503, "store-full"));
    }
    assert_eq!(kept.ids("s", "compacted").await, view);
    let ready = kept.running.get("/readyz").await;
    assert_eq!(ready.status().as_u16(), 503);
    let ready = ready.text().await.unwrap();
    assert!(ready.contains("\"status\":\"full\""), "{ready}");
    // What makes room works.
    let deleted = kept.running.client.delete(kept.running.url("/v1/sessions/old")).send().await.unwrap();
    assert_eq!(deleted.status().as_u16(), 204);
    let metrics = kept.running.get("/metrics").await.text().await.unwrap();
    let is_counted = metrics.contains("epitome_compactions_total{status=\"compacted\"}");
    assert_eq!(is_counted, status == 200, "what is not stored is not counted: {metrics}");
    assert!(!metrics.contains("epitome_store_errors_total 0\n"), "{metrics}");
    drop(kept);
    // There is room again.
    let kept = bounded(&folder, 100_000).await;
    assert_eq!(kept.ids("s", "compacted").await, view);
    kept.done("/v1/sessions/s/messages", typed("Go on.")).await;
    kept.done("/v1/sessions/s/compact", json!({"target": 3_000})).await;
    let metrics = kept.running.get("/metrics").await.text().await.unwrap();
    assert!(metrics.contains("epitome_compactions_total{status=\"compacted\"} 1\n"), "{metrics}");
}

#[tokio::test]
async fn what_others_store_in_between_is_seen() {
    let folder = Folder::new();
    let kept = Kept::start(SMALL, folder.keeping()).await;
    kept.session("s", 12).await;
    // Another process on the same file, which this one's locks do not keep away.
    let store = Store::open(&folder.address()).await.unwrap();
    let tenant = Tenant::default();
    let mut stored = store.session(&tenant, "s").await.unwrap();
    let message = epitome::Message::text(
        "theirs",
        epitome::session::Role::User,
        epitome::session::Origin::Typed,
        "something else",
    );
    let before = Checkpoint::new(&stored.session);
    stored.session.push(message);
    let saved = store.save(&tenant, "s", stored.version, &stored.session, &mut stored.archive, &before).await;
    let version = saved.unwrap();
    assert_eq!(kept.ids("s", "full").await.last().unwrap(), "theirs");
    let appended = kept.done("/v1/sessions/s/messages", typed("Go on.")).await;
    assert_eq!(appended["version"], version + 1);
    // Deleted and made anew under the same id, with as many changes.
    store.delete_session(&tenant, "s").await.unwrap();
    let (status, gone) = kept.get("/v1/sessions/s").await;
    assert_eq!((status, code(&gone)), (404, "unknown-session"));
    let (status, gone) = kept.post("/v1/sessions/s/messages", typed("Go on.")).await;
    assert_eq!((status, code(&gone)), (404, "unknown-session"));
}

#[tokio::test]
async fn two_services_on_one_file_change_a_session_at_once() {
    let folder = Folder::new();
    let one = Arc::new(Kept::start(SMALL, folder.keeping()).await);
    let two = Arc::new(Kept::start(SMALL, folder.keeping()).await);
    one.session("s", 1).await;
    let say = |kept: &Arc<Kept>, who: &'static str| {
        let kept = Arc::clone(kept);
        tokio::spawn(async move {
            let mut said = 0;
            while said < 20 {
                let (status, answer) = kept.post("/v1/sessions/s/messages", typed(who)).await;
                match status {
                    200 => said += 1,
                    // Once more than it tries by itself.
                    _ => assert_eq!((status, code(&answer)), (409, "conflict")),
                }
            }
        })
    };
    let (first, second) = (say(&one, "one"), say(&two, "two"));
    first.await.unwrap();
    second.await.unwrap();
    let page = one.found("/v1/sessions/s/messages?view=full&limit=500").await;
    let said = |who: &str| {
        let texts =
            page["messages"].as_array().unwrap().iter().map(|it| &it["message"]["blocks"][0]["content"]["text"]);
        texts.filter(|text| text.as_str() == Some(who)).count()
    };
    assert_eq!((said("one"), said("two")), (20, 20));
    assert_eq!(two.found("/v1/sessions/s").await, one.found("/v1/sessions/s").await);
}
