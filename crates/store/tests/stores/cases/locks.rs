//! Locks of sessions.

use epitome_store::{Store, Tenant};
use futures_util::future::{FutureExt, join, poll_immediate};

pub(crate) async fn a_lock_keeps_others_waiting(store: Store) {
    let (tenant, stranger) = (Tenant::default(), Tenant::new("stranger").unwrap());
    let held = store.lock(&tenant, "s").await.unwrap();
    drop(store.lock(&tenant, "other").await.unwrap());
    drop(store.lock(&stranger, "s").await.unwrap());
    let mut second = store.lock(&tenant, "s").boxed();
    let mut third = store.lock(&tenant, "s").boxed();
    let fourth = store.lock(&tenant, "s").boxed();
    assert!(poll_immediate(&mut second).await.is_none());
    assert!(poll_immediate(&mut third).await.is_none());
    drop(fourth);
    // Others than those who wait are not held up meanwhile.
    store.health().await.unwrap();
    held.release().await;
    assert!(poll_immediate(&mut third).await.is_none(), "they get it in their order");
    let held = second.await.unwrap();
    drop(held);
    drop(third); // it may have been its turn
    store.lock(&tenant, "s").await.unwrap().release().await;

    // A hundred who add one each while they hold it, and look away in between.
    let count = std::sync::Mutex::new(0);
    let add = async || {
        let held = store.lock(&tenant, "s").await.unwrap();
        let seen = *count.lock().unwrap();
        store.health().await.unwrap();
        *count.lock().unwrap() = seen + 1;
        if seen % 2 == 0 { held.release().await } else { drop(held) }
    };
    let adding = (0..50).map(|_| join(add(), add()));
    futures_util::future::join_all(adding).await;
    assert_eq!(*count.lock().unwrap(), 100);
    let refused = store.lock(&tenant, "").await;
    assert!(refused.is_err());
}
