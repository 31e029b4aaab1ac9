//! What instances on one PostgreSQL database hear and know of each other.

use std::sync::Arc;
use std::time::Duration;

use epitome_harness::ScriptedServer;
use serde_json::{Value, json};
use tokio_postgres::{Client, NoTls};

use crate::kept::{Kept, typed, with_model};
use crate::sessions_events::{Heard, Socket, Stream, names};
use crate::sessions_postgres::Postgres;
use crate::sessions_turns::summary;
use crate::support::{SMALL, code};

/// How long a test waits for what should come at once.
const PATIENCE: Duration = Duration::from_secs(30);

async fn connect(database: &Postgres) -> Client {
    let (client, connection) = tokio_postgres::connect(&database.url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// What a listener heard, without the id that it may continue from.
fn data(heard: &[Heard]) -> Vec<Value> {
    heard.iter().map(|event| event.data.clone()).collect()
}

/// The number of messages that are in a `token_update` grows with each change: what it says tells the changes apart.
async fn say(kept: &Kept, session: &str, text: &str) {
    kept.done(&format!("/v1/sessions/{session}/messages"), typed(text)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listeners_hear_what_other_instances_do() {
    let Some(database) = Postgres::start() else { return };
    let one = Kept::start(SMALL, database.keeping()).await;
    let two = Kept::start(SMALL, database.keeping()).await;
    one.session("s", 12).await;
    one.session("other", 1).await;
    let (mut here, mut there) = (Stream::open(&one, "s", None).await, Stream::open(&two, "s", None).await);
    let mut socket = Socket::open(&two, "s", "").await;
    let first = there.next().await.unwrap();
    assert_eq!(first.data["context"], one.found("/v1/sessions/s").await["context"]);
    here.next().await.unwrap();
    socket.until("token_update").await;
    say(&one, "other", "Of no interest.").await;
    let compacted = one.done("/v1/sessions/s/compact", json!({"target": 3_000, "chain": ["summary"]})).await;
    let heard = there.until("token_update").await;
    assert_eq!(names(&heard).first(), Some(&"compaction_start"));
    assert_eq!(names(&heard)[heard.len() - 2..], ["compaction_done", "token_update"]);
    assert_eq!(heard.last().unwrap().data["context"], compacted["context"]);
    assert_eq!(data(&heard), data(&here.until("token_update").await), "the same as where it was done");
    assert_eq!(data(&heard), socket.until("token_update").await);
    // In turns: each hears what both do, in the order in which it was done.
    let mut used = Vec::new();
    for (kept, text) in [(&two, "one"), (&one, "two of them"), (&two, "three of them here")] {
        say(kept, "s", text).await;
        used.push(kept.found("/v1/sessions/s").await["context"]["usedTokens"].clone());
    }
    for stream in [&mut here, &mut there] {
        let mut heard = Vec::new();
        for _ in 0..3 {
            heard.push(stream.next().await.unwrap());
        }
        let told: Vec<Value> = heard.iter().map(|event| event.data["context"]["usedTokens"].clone()).collect();
        assert_eq!(told, used);
        assert!(heard.windows(2).all(|pair| pair[0].data["sequence"].as_u64() < pair[1].data["sequence"].as_u64()));
    }
    let metrics = two.running.get("/metrics").await.text().await.unwrap();
    assert!(metrics.contains("epitome_event_feed_connected 1\n"), "{metrics}");
    assert!(metrics.contains("epitome_events_published_total 2\n"), "its own alone: {metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_back_to_another_instance_hears_what_was_missed() {
    let Some(database) = Postgres::start() else { return };
    let mut one = Kept::start(SMALL, database.keeping()).await;
    let two = Kept::start(SMALL, database.keeping()).await;
    one.session("s", 12).await;
    let mut stream = Stream::open(&one, "s", None).await;
    let begin = stream.next().await.unwrap().id;
    say(&one, "s", "one").await;
    let last = stream.next().await.unwrap().id;
    drop(stream);
    two.done("/v1/sessions/s/compact", json!({"target": 3_000, "chain": ["summary"]})).await;
    // The instance that it listened to is gone, and comes back as another.
    one.running.stop();
    (&mut one.running.task).await.unwrap();
    let three = Kept::start(SMALL, database.keeping()).await;
    let (mut all, mut open) = (Vec::new(), Vec::new());
    for kept in [&two, &three] {
        let mut again = Stream::open(kept, "s", Some(&last)).await;
        let mut heard = again.until("compaction_done").await;
        heard.extend(again.until("token_update").await);
        let now = again.next().await.unwrap();
        assert_eq!((names(&heard)[0], now.name.as_str()), ("compaction_start", "token_update"));
        assert_eq!(now.data["context"], kept.found("/v1/sessions/s").await["context"]);
        all.push(data(&heard));
        let mut from_begin = Stream::open(kept, "s", Some(&begin)).await;
        assert_eq!(names(&from_begin.until("compaction_start").await), ["token_update", "compaction_start"]);
        // Who has heard all has missed none.
        let mut latest = Stream::open(kept, "s", Some(&now.id)).await;
        assert_eq!(latest.next().await.unwrap().name, "token_update");
        open.extend([again, latest]);
    }
    assert_eq!(all[0], all[1]);
    say(&two, "s", "Go on.").await;
    let next = open[0].next().await.unwrap();
    for stream in &mut open[1..] {
        assert_eq!(stream.next().await.unwrap().data, next.data);
    }
    let (feed, number) = last.rsplit_once('-').unwrap();
    let foreign = [
        format!("all.another-{number}"),
        format!("{feed}-999999"),
        format!("{feed}-{}", u64::MAX),
        format!("{feed}-"),
        "1-2-3".to_owned(),
    ];
    for id in foreign {
        let mut other = Stream::open(&two, "s", Some(&id)).await;
        assert_eq!(names(&other.until("token_update").await), ["missed", "token_update"], "{id}");
    }
    // Events that no instance could write: of which sessions they were is not known.
    let client = connect(&database).await;
    let lost = "INSERT INTO epitome.session_events (tenant, session, name, body, told_at) \
                VALUES ('', '', 'events_lost', '{}', 9e12)";
    let mut before = Stream::open(&two, "s", Some(&last)).await;
    let before = names(&before.until("compaction_start").await).join(" ");
    assert_eq!(before, "compaction_start");
    client.execute(lost, &[]).await.unwrap();
    let mut again = Stream::open(&two, "s", Some(&last)).await;
    assert_eq!(names(&again.until("token_update").await), ["missed", "token_update"]);
    // More than is kept for one who comes back, and what is deleted.
    let fill = "INSERT INTO epitome.session_events (tenant, session, name, body, told_at) \
                SELECT 'default', 's', 'undone', '{\"event\":\"undone\"}', 9e12 FROM generate_series(1, 255)";
    client.execute(fill, &[]).await.unwrap();
    let mut newest = Stream::open(&two, "s", Some(&last)).await;
    assert_eq!(names(&newest.until("token_update").await), ["missed", "token_update"]);
    client
        .execute("DELETE FROM epitome.session_events WHERE id < (SELECT MAX(id) FROM epitome.session_events)", &[])
        .await
        .unwrap();
    let mut deleted = Stream::open(&two, "s", Some(&begin)).await;
    assert_eq!(names(&deleted.until("token_update").await), ["missed", "token_update"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_of_a_deleted_session_end_everywhere() {
    let Some(database) = Postgres::start() else { return };
    let one = Kept::start(SMALL, database.keeping()).await;
    let two = Kept::start(SMALL, database.keeping()).await;
    one.session("s", 1).await;
    let (mut here, mut there) = (Stream::open(&one, "s", None).await, Stream::open(&two, "s", None).await);
    let before = here.next().await.unwrap().id;
    there.next().await.unwrap();
    say(&one, "s", "A word that is to be forgotten.").await;
    // Deleted before another instance has passed it on, it would be told as missed.
    for stream in [&mut here, &mut there] {
        assert_eq!(stream.next().await.unwrap().name, "token_update");
    }
    assert_eq!(two.ask("DELETE", "/v1/sessions/s", json!(null)).await.0, 204);
    for stream in [&mut here, &mut there] {
        assert!(stream.next().await.is_none());
    }
    let client = connect(&database).await;
    let kept = client.query_one("SELECT COUNT(*) FROM epitome.session_events WHERE name <> 'session_deleted'", &[]);
    assert_eq!(kept.await.unwrap().get::<_, i64>(0), 0, "its events are deleted with it");
    // A session of the same id is another.
    one.session("s", 1).await;
    let mut anew = Stream::open(&two, "s", Some(&before)).await;
    assert_eq!(names(&anew.until("token_update").await), ["missed", "token_update"]);
    say(&one, "s", "Hello.").await;
    assert_eq!(anew.next().await.unwrap().name, "token_update");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_was_killed_loses_no_event() {
    let Some(mut database) = Postgres::start() else { return };
    let one = Kept::start(SMALL, database.keeping()).await;
    let two = Kept::start(SMALL, database.keeping()).await;
    one.session("s", 1).await;
    let mut stream = Stream::open(&two, "s", None).await;
    stream.next().await.unwrap();
    // An instance connects after it has begun to answer.
    for kept in [&one, &two] {
        let is_connected = async {
            while !kept.running.get("/metrics").await.text().await.unwrap().contains("epitome_event_feed_connected 1\n")
            {
            }
        };
        tokio::time::timeout(PATIENCE, is_connected).await.unwrap();
    }
    let mut expected = Vec::new();
    for round in 0..6 {
        let killer = connect(&database).await;
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";
        let killed = killer.query(kill, &[]).await.unwrap();
        assert!(round > 0 || killed.len() == 2, "each instance listens over one connection: {}", killed.len());
        say(&one, "s", &format!("round {round}")).await;
        expected.push(one.found("/v1/sessions/s").await["context"].clone());
    }
    for context in expected {
        let event = stream.next().await.unwrap();
        assert_eq!((event.name.as_str(), &event.data["context"]), ("token_update", &context));
    }
    // The whole database crashes, which may cost the last events, and comes back.
    database.order("stop");
    let (status, _) = one.post("/v1/sessions/s/messages", typed("Lost.")).await;
    assert_eq!(status, 503);
    database.order("start");
    one.found("/readyz").await;
    for text in ["back", "back again"] {
        say(&one, "s", text).await;
        let context = one.found("/v1/sessions/s").await["context"].clone();
        let mut event = stream.next().await.unwrap();
        while event.name == "missed" {
            event = stream.next().await.unwrap();
        }
        assert_eq!(event.data["context"], context);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_is_written_in_few_transactions() {
    const SESSIONS: usize = 12;
    const EACH: usize = 15;
    let Some(database) = Postgres::start() else { return };
    let one = Arc::new(Kept::start(SMALL, database.keeping()).await);
    let two = Arc::new(Kept::start(SMALL, database.keeping()).await);
    let mut streams = Vec::new();
    for number in 0..SESSIONS {
        let id = format!("s{number}");
        one.session(&id, 1).await;
        let mut stream = Stream::open(&two, &id, None).await;
        stream.next().await.unwrap();
        streams.push(stream);
    }
    let talk = |number: usize| {
        let kept = Arc::clone(&one);
        tokio::spawn(async move {
            for turn in 0..EACH {
                say(&kept, &format!("s{number}"), &format!("turn {turn}")).await;
            }
        })
    };
    let talks: Vec<_> = (0..SESSIONS).map(talk).collect();
    for talk in talks {
        talk.await.unwrap();
    }
    for stream in &mut streams {
        let mut used = Vec::new();
        for _ in 0..EACH {
            used.push(stream.next().await.unwrap().data["context"]["usedTokens"].as_u64().unwrap());
        }
        assert!(used.is_sorted_by(|one, next| one < next), "each change once, in its order: {used:?}");
    }
    let client = connect(&database).await;
    let counted =
        client.query_one("SELECT COUNT(*), COUNT(DISTINCT xmin::text) FROM epitome.session_events", &[]).await.unwrap();
    let (events, transactions): (i64, i64) = (counted.get(0), counted.get(1));
    assert_eq!(events, (SESSIONS * EACH) as i64);
    assert!(transactions < events * 3 / 4, "{transactions} transactions for {events} events");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compaction_of_one_instance_is_seen_by_others() {
    let Some(database) = Postgres::start() else { return };
    let model = Arc::new(ScriptedServer::start(vec![summary().held(), summary(), summary()]));
    let one = Arc::new(Kept::start(&with_model(&model.url()), database.keeping()).await);
    let two = Kept::start(&with_model(&model.url()), database.keeping()).await;
    one.session("s", 12).await;
    let ask = json!({"target": 3_000});
    let (kept, body) = (Arc::clone(&one), ask.clone());
    let compact = tokio::spawn(async move { kept.done("/v1/sessions/s/compact", body).await });
    let asked = Arc::clone(&model);
    tokio::task::spawn_blocking(move || asked.wait_for_requests(1)).await.unwrap();
    for kept in [&*one, &two] {
        for path in ["compact", "preview"] {
            let (status, refused) = kept.post(&format!("/v1/sessions/s/{path}"), ask.clone()).await;
            assert_eq!((status, code(&refused)), (409, "compaction-running"), "{path}");
        }
        assert_eq!(kept.found("/v1/sessions/s").await["running"], true);
    }
    let mut stream = Stream::open(&two, "s", None).await;
    model.release();
    compact.await.unwrap();
    // Whoever hears that it is done can ask for the next.
    stream.until("compaction_done").await;
    assert_eq!(two.found("/v1/sessions/s").await["running"], false);
    for number in 0..4 {
        say(&two, "s", &format!("Part {number}. {}", "Build it with care. ".repeat(60))).await;
    }
    two.done("/v1/sessions/s/compact", json!({"target": 1_000})).await;
    one.done("/v1/sessions/s/compact", json!({"target": 900})).await;
    // Any holder of the mark is seen, and its end too.
    let mark = epitome::store::Store::open(&database.url).await.unwrap();
    let held = mark.mark_compaction(&epitome::store::Tenant::default(), "s").await.unwrap().unwrap();
    assert_eq!(two.post("/v1/sessions/s/compact", ask.clone()).await.0, 409);
    drop(held);
    let free = async { while two.found("/v1/sessions/s").await["running"] == true {} };
    tokio::time::timeout(PATIENCE, free).await.unwrap();
}
