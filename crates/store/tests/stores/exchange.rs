//! What instances on one PostgreSQL database tell each other.

use std::sync::Arc;
use std::time::Duration;

use epitome_store::{Exchange, OutgoingEvent, PostgresSettings, Store, Tenant};
use tokio_postgres::NoTls;

use crate::postgres::{block_on, open, settings};

/// How long a test waits for what should come at once.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs a case over two stores on one new schema.
fn run(case: impl AsyncFn(&PostgresSettings, Store, Store)) {
    let Some(settings) = settings() else { return };
    block_on(async { case(&settings, open(&settings).await, open(&settings).await).await });
}

fn exchange(store: &Store) -> Exchange {
    store.exchange().unwrap()
}

fn event(session: &str, body: &str) -> OutgoingEvent {
    let name = Arc::from("undone");
    OutgoingEvent { tenant: Arc::from("t"), session: session.into(), name, body: body.to_owned(), is_last: false }
}

async fn bodies(exchange: &Exchange, after: u64) -> Vec<String> {
    exchange.events_after(after, 10_000).await.unwrap().events.into_iter().map(|event| event.body).collect()
}

#[test]
fn events_of_one_are_read_by_another() {
    run(async |_, one, two| {
        let (one, two) = (exchange(&one), exchange(&two));
        let empty = two.event_feed().await.unwrap();
        assert_eq!((empty.newest, empty.name.clone()), (0, one.event_feed().await.unwrap().name));
        assert!(two.events_after(0, 10).await.unwrap().follows(0), "there was none to miss");
        let mut wakeups = two.wakeups().await.unwrap();
        one.publish(&[event("s", "1"), event("u", "\\u0000 \"2\""), event("s", "3")]).await.unwrap();
        tokio::time::timeout(PATIENCE, wakeups.next()).await.unwrap().unwrap();
        assert_eq!(bodies(&two, 0).await, ["1", "\\u0000 \"2\"", "3"]);
        let page = two.events_after(0, 2).await.unwrap();
        assert_eq!(page.events.len(), 2, "no more than asked for");
        assert_eq!(bodies(&two, page.events[1].id).await, ["3"]);
        let newest = two.session_events_after("t", "s", 0, 1).await.unwrap();
        assert_eq!((newest.events[0].body.as_str(), newest.events.len()), ("3", 1), "the newest of one session");
        assert!(two.session_events_after("u", "s", 0, 9).await.unwrap().events.is_empty(), "of another tenant");
        // What is of no session is for those of all.
        let nobody = Arc::<str>::from("");
        one.publish(&[OutgoingEvent { tenant: Arc::clone(&nobody), session: nobody, ..event("", "all") }])
            .await
            .unwrap();
        for tenant in ["t", "u"] {
            let newest = two.session_events_after(tenant, "s", 0, 1).await.unwrap();
            assert_eq!(newest.events[0].body, "all", "{tenant}");
        }
        // A session that is gone leaves no text.
        one.publish(&[OutgoingEvent { is_last: true, ..event("s", "gone") }]).await.unwrap();
        assert_eq!(bodies(&two, 0).await, ["\\u0000 \"2\"", "all", "gone"]);
        one.publish(&[]).await.unwrap();
        assert_eq!(two.event_feed().await.unwrap().newest, page.newest + 2);
    });
}

#[test]
fn who_reads_on_misses_none_of_those_who_tell_at_once() {
    const TELLERS: usize = 4;
    const EACH: usize = 60;
    run(async |settings, one, _| {
        let tell = async |teller: usize| {
            let exchange = exchange(&open(settings).await);
            for number in 0..EACH {
                exchange.publish(&[event("s", &format!("{teller} {number}"))]).await.unwrap();
            }
        };
        let read = async || {
            let (exchange, mut heard, mut last) = (exchange(&one), Vec::new(), 0);
            while heard.len() < TELLERS * EACH {
                for event in exchange.events_after(last, 50).await.unwrap().events {
                    assert!(event.id > last);
                    last = event.id;
                    heard.push(event.body);
                }
            }
            heard
        };
        let telling = futures_util::future::join_all((0..TELLERS).map(&tell));
        let both = futures_util::future::join(telling, read());
        let Ok((_, heard)) = tokio::time::timeout(PATIENCE, both).await else { panic!("an event was skipped") };
        for teller in 0..TELLERS {
            let of_teller: Vec<&String> = heard.iter().filter(|body| body.starts_with(&format!("{teller} "))).collect();
            let expected: Vec<String> = (0..EACH).map(|number| format!("{teller} {number}")).collect();
            assert_eq!(of_teller, expected.iter().collect::<Vec<_>>());
        }
    });
}

#[test]
fn old_events_are_deleted_from_the_lowest_up() {
    run(async |_, one, two| {
        let (one, two) = (exchange(&one), exchange(&two));
        let hour = Duration::from_secs(3_600);
        assert_eq!(one.prune_events(hour, 10).await.unwrap(), 0, "there are none");
        let all: Vec<OutgoingEvent> = (0..10).map(|number| event("s", &number.to_string())).collect();
        one.publish(&all).await.unwrap();
        assert_eq!(one.prune_events(hour, 10).await.unwrap(), 0, "none is too old, and there are not too many");
        assert_eq!(two.prune_events(hour, 4).await.unwrap(), 6);
        let page = two.events_after(0, 100).await.unwrap();
        assert_eq!(page.events.iter().map(|event| &*event.body).collect::<Vec<_>>(), ["6", "7", "8", "9"]);
        let follows = [page.oldest - 2, page.oldest - 1, page.newest, page.newest + 1].map(|id| page.follows(id));
        assert_eq!(follows, [false, true, true, false]);
        // Time has to pass: nothing is older than now.
        let pruned = async { while one.prune_events(Duration::ZERO, 100).await.unwrap() == 0 {} };
        tokio::time::timeout(PATIENCE, pruned).await.unwrap();
        assert_eq!(bodies(&one, 0).await, ["9"], "the newest stays");
    });
}

#[test]
fn a_connection_that_was_killed_is_noticed() {
    run(async |settings, one, _| {
        let mut wakeups = exchange(&one).wakeups().await.unwrap();
        let (client, connection) = tokio_postgres::connect(&settings.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        // That of this schema alone: other tests listen on the same server.
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN epitome_' || md5($1)";
        assert_eq!(client.query(kill, &[&settings.schema]).await.unwrap().len(), 1);
        let error = tokio::time::timeout(PATIENCE, wakeups.next()).await.unwrap().unwrap_err();
        assert!(error.to_string().contains("listening"), "{error}");
    });
}

#[test]
fn instances_draw_from_one_bucket() {
    run(async |_, one, two| {
        let (one, two) = (exchange(&one), exchange(&two));
        // A bucket of 6 that gets one more in ten seconds.
        let draw = async |from: &Exchange, tenant, wanted| from.draw(tenant, 6, wanted).await.unwrap();
        let first = draw(&one, "a", 4).await;
        assert_eq!((first.requests, first.wait), (4, Duration::ZERO));
        assert_eq!(draw(&two, "a", 4).await.requests, 2, "what is left");
        let refused = draw(&one, "a", 4).await;
        assert_eq!(refused.requests, 0);
        assert!(refused.wait > Duration::from_secs(5) && refused.wait <= Duration::from_secs(10), "{refused:?}");
        assert_eq!(draw(&two, "b", 100).await.requests, 6, "another tenant has its own, of the same size");
        // One of 60,000 that gets one in a millisecond: it fills as time goes by.
        assert_eq!(one.draw("c", 60_000, 60_000).await.unwrap().requests, 60_000);
        let filled = async { while one.draw("c", 60_000, 5).await.unwrap().requests == 0 {} };
        tokio::time::timeout(PATIENCE, filled).await.unwrap();
        // At once: no more than there are.
        let draws = (0..40).map(|number| draw(if number % 2 == 0 { &one } else { &two }, "d", 1));
        let granted: u32 = futures_util::future::join_all(draws).await.iter().map(|grant| grant.requests).sum();
        assert_eq!(granted, 6);
    });
}

#[test]
fn a_compaction_is_marked_for_all_instances() {
    run(async |_, one, two| {
        let tenant = Tenant::default();
        let mark = one.mark_compaction(&tenant, "s").await.unwrap().unwrap();
        assert!(two.mark_compaction(&tenant, "s").await.unwrap().is_none());
        assert!(two.mark_compaction(&tenant, "t").await.unwrap().is_some(), "another session");
        assert!(two.mark_compaction(&Tenant::new("u").unwrap(), "s").await.unwrap().is_some(), "another tenant");
        for store in [&one, &two] {
            assert!(store.is_marked(&tenant, "s").await.unwrap());
        }
        // It is not the lock of the session.
        two.lock(&tenant, "s").await.unwrap().release().await;
        let once_more = one.mark_compaction(&tenant, "s").await.unwrap().unwrap();
        drop(mark);
        assert!(two.mark_compaction(&tenant, "s").await.unwrap().is_none(), "marked twice, and ended once");
        drop(once_more);
        let ended = async { while two.mark_compaction(&tenant, "s").await.unwrap().is_none() {} };
        tokio::time::timeout(PATIENCE, ended).await.unwrap();
        assert!(one.mark_compaction(&tenant, "").await.is_err());
    });
}
