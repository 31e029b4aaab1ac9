//! The rate of a tenant's requests over several instances.

use std::sync::Arc;
use std::time::Instant;

use epitome_server::{Limits, RateScope, Settings};
use serde_json::json;

use crate::kept::Kept;
use crate::sessions_postgres::Postgres;
use crate::support::{SMALL, Wire, code};

async fn start(database: &Postgres, requests_per_minute: u32, rate_scope: RateScope) -> Arc<Kept> {
    let limits = Limits { requests_per_minute, rate_scope, ..Limits::default() };
    Arc::new(Kept::with(SMALL, Settings { store: database.keeping(), limits, ..Settings::default() }).await)
}

/// How many of so many requests, a few at once to each instance in turn, were let in.
async fn admitted(instances: &[&Arc<Kept>], requests: usize) -> usize {
    let mut admitted = 0;
    for round in (0..requests).collect::<Vec<_>>().chunks(20) {
        let asks = round.iter().map(|number| {
            let kept = Arc::clone(instances[number % instances.len()]);
            tokio::spawn(async move { kept.get("/v1/channels").await })
        });
        for ask in asks.collect::<Vec<_>>() {
            match ask.await.unwrap() {
                (200, _) => admitted += 1,
                (status, refused) => assert_eq!((status, code(&refused)), (429, "too-many-requests")),
            }
        }
    }
    admitted
}

/// How many requests an instance has counted by itself, because the database did not answer in time.
async fn fallbacks(kept: &Kept) -> u64 {
    loop {
        let metrics = kept.running.get("/metrics").await.text().await.unwrap();
        let line = |line: &str| line.strip_prefix("epitome_rate_fallbacks_total ")?.parse().ok();
        // A refusal is not the metrics.
        if let Some(count) = metrics.lines().find_map(line) {
            return count;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_count_together() {
    let Some(database) = Postgres::start() else { return };
    // An allowance of one, and of ten.
    for (per_minute, requests) in [(30, 90), (600, 1_000)] {
        let one = start(&database, per_minute, RateScope::Store).await;
        let two = start(&database, per_minute, RateScope::Store).await;
        // The bucket is the database's, and may be there from the case before.
        let store = epitome::store::Store::open(&database.url).await.unwrap();
        let exchange = store.exchange().unwrap();
        while exchange.draw("default", per_minute, 1_000).await.unwrap().requests > 0 {}
        let begun = Instant::now();
        // It is empty: what is let in came meanwhile.
        let let_in = admitted(&[&one, &two], requests).await as f64;
        let came = begun.elapsed().as_secs_f64() * f64::from(per_minute) / 60.0;
        // A machine that does much else may have a database that does not answer within a second.
        let alone = (fallbacks(&one).await + fallbacks(&two).await) as f64;
        assert!(let_in <= came + 1.0 + alone, "{let_in} of {per_minute} a minute, where {came} came, {alone} alone");
        assert!(let_in >= came.min(requests as f64) / 4.0 - 1.0, "{let_in} of {came}: what came is used");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_bucket_is_one_for_all() {
    let Some(database) = Postgres::start() else { return };
    let one = start(&database, 30, RateScope::Store).await;
    let two = start(&database, 30, RateScope::Store).await;
    let begun = Instant::now();
    let let_in = admitted(&[&one, &two], 80).await as f64;
    let came = begun.elapsed().as_secs_f64() / 2.0;
    let alone = (fallbacks(&one).await + fallbacks(&two).await) as f64;
    assert!(let_in >= 30.0 && let_in <= 31.0 + came + alone, "{let_in}, {came} came, {alone} alone");
    let refused = loop {
        let request = one.request("GET", "/v1/channels").send().await.unwrap();
        if request.status() == 429 {
            break request;
        }
    };
    let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=2).contains(&wait), "{wait}");
    // Each by itself, where that is asked for.
    let three = start(&database, 30, RateScope::Instance).await;
    let four = start(&database, 30, RateScope::Instance).await;
    assert!(admitted(&[&three, &four], 80).await >= 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_database_each_counts_by_itself() {
    let Some(mut database) = Postgres::start() else { return };
    let kept = start(&database, 30, RateScope::Store).await;
    let before = fallbacks(&kept).await;
    database.order("stop");
    assert!(fallbacks(&kept).await > before, "the very request that asks for it");
    let mut answers = Vec::new();
    for _ in 0..40 {
        let body = json!({"request": Wire::Chat.request(1), "budget": 3_000});
        answers.push(kept.post("/v1/check", body).await.0);
    }
    let let_in = answers.iter().filter(|status| **status == 200).count();
    assert!((28..40).contains(&let_in), "its own bucket: {answers:?}");
    assert!(answers.contains(&429), "{answers:?}");
    database.order("start");
    assert!(kept.running.get("/healthz").await.status().is_success());
}
