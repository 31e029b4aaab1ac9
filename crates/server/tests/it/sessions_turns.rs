//! Several requests at once on one session: turns, waiting, leaving, stopping.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use epitome_harness::{ScriptedAnswer, ScriptedServer};
use epitome_server::{Limits, Settings, StoreLocation};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::kept::{Folder, Kept, typed, with_model};
use crate::support::code;

/// A summary as the prompt asks for it.
pub(crate) fn summary() -> ScriptedAnswer {
    let prompt = include_str!("../../../providers/src/model/prompts/en/sections.md");
    let headings = prompt.lines().filter(|line| line.starts_with("## "));
    let text: String = headings
        .map(|heading| {
            format!("{heading}\n- The user wants the build of the parser fixed, and the agent made its parts.\n")
        })
        .collect();
    let message = json!({"role": "assistant", "content": text});
    let choice = json!({"index": 0, "finish_reason": "stop", "message": message});
    ScriptedAnswer::json(200, json!({"choices": [choice], "usage": {"prompt_tokens": 700, "completion_tokens": 90}}))
}

/// A service whose summaries are written by a model that waits to be released.
struct Slow {
    model: Arc<ScriptedServer>,
    kept: Arc<Kept>,
}

impl Slow {
    async fn start() -> Self {
        Self::with(StoreLocation::In("sqlite::memory:".to_owned()), Limits::default()).await
    }

    async fn with(store: StoreLocation, limits: Limits) -> Self {
        let model = Arc::new(ScriptedServer::start(vec![summary().held(), summary()]));
        let settings = Settings { store, limits, ..Settings::default() };
        Self { kept: Arc::new(Kept::with(&with_model(&model.url()), settings).await), model }
    }

    fn spawn<F: Future<Output = (u16, Value)> + Send + 'static>(
        &self,
        ask: impl FnOnce(Arc<Kept>) -> F,
    ) -> JoinHandle<(u16, Value)> {
        tokio::spawn(ask(Arc::clone(&self.kept)))
    }

    /// A compaction of a new session that waits for the model.
    async fn compacting(&self, id: &'static str) -> JoinHandle<(u16, Value)> {
        self.kept.session(id, 12).await;
        let compact = self.spawn(move |kept| async move {
            kept.post(&format!("/v1/sessions/{id}/compact"), json!({"target": 3_000})).await
        });
        let model = Arc::clone(&self.model);
        tokio::task::spawn_blocking(move || model.wait_for_requests(1)).await.unwrap();
        compact
    }

    /// Waits until so many requests wait for their turn.
    async fn waiting(&self, count: u32) {
        self.gauge("epitome_waiting_requests", count).await;
    }

    async fn gauge(&self, name: &str, value: u32) {
        let line = format!("{name} {value}\n");
        let told = async { while !self.kept.running.get("/metrics").await.text().await.unwrap().contains(&line) {} };
        tokio::time::timeout(Duration::from_secs(30), told).await.unwrap_or_else(|_| panic!("never: {line}"));
    }
}

#[tokio::test]
async fn messages_wait_in_order_and_looks_do_not() {
    let slow = Slow::start().await;
    let compact = slow.compacting("s").await;
    let before = slow.kept.found("/v1/sessions/s").await;
    assert_eq!((before["running"].as_bool(), before["version"].as_u64()), (Some(true), Some(28)), "{before}");
    let mut appends = Vec::new();
    for number in 0..5 {
        appends.push(slow.spawn(move |kept| async move {
            kept.post("/v1/sessions/s/messages", typed(&format!("said {number}"))).await
        }));
        slow.waiting(number + 1).await;
    }
    // A turn before each model call waits too, and then finds nothing to do.
    let maintain = slow.spawn(|kept| async move { kept.post("/v1/sessions/s/maintain", json!({})).await });
    slow.waiting(6).await;
    for path in ["", "/messages", "/messages?view=full", "/check", "/history", "/request"] {
        slow.kept.found(&format!("/v1/sessions/s{path}")).await;
    }
    let (status, none) = slow.kept.get("/v1/sessions/s/summary").await;
    assert_eq!((status, code(&none)), (404, "no-summary"));
    let ask = json!({"target": 2_000});
    for (path, body) in [("compact", ask.clone()), ("preview", ask), ("messages", typed("/compact"))] {
        let (status, refused) = slow.kept.post(&format!("/v1/sessions/s/{path}"), body).await;
        assert_eq!((status, code(&refused)), (409, "compaction-running"), "{path}");
    }
    slow.model.release();
    let (status, compacted) = compact.await.unwrap();
    assert_eq!((status, compacted["epoch"].as_u64()), (200, Some(0)), "{compacted}");
    for (number, append) in (0u64..).zip(appends) {
        let (status, appended) = append.await.unwrap();
        assert_eq!((status, appended["version"].as_u64()), (200, Some(30 + number)), "{appended}");
    }
    assert_eq!(maintain.await.unwrap().1["did"], "nothing");
    let said = slow.kept.found("/v1/sessions/s/messages?view=full&from=28").await;
    let said: Vec<&str> = said["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["message"]["blocks"][0]["content"]["text"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["said 0", "said 1", "said 2", "said 3", "said 4"]);
    assert_eq!(slow.kept.found("/v1/sessions/s").await["running"], false);
}

#[tokio::test]
async fn whoever_leaves_the_queue_has_said_nothing() {
    let slow = Slow::start().await;
    let compact = slow.compacting("s").await;
    let append = slow.spawn(|kept| async move { kept.post("/v1/sessions/s/messages", typed("never mind")).await });
    slow.waiting(1).await;
    append.abort();
    slow.waiting(0).await;
    slow.model.release();
    compact.await.unwrap();
    assert_eq!(slow.kept.done("/v1/sessions/s/messages", typed("Go on.")).await["version"], 30);
}

#[tokio::test]
async fn a_compaction_whose_caller_has_left_is_made() {
    let slow = Slow::start().await;
    slow.compacting("s").await.abort();
    slow.model.release();
    let history =
        async { while slow.kept.found("/v1/sessions/s/history").await["epochs"].as_array().unwrap().is_empty() {} };
    tokio::time::timeout(Duration::from_secs(30), history).await.unwrap();
    slow.gauge("epitome_busy_sessions", 0).await;
    assert_eq!(slow.kept.done("/v1/sessions/s/undo", json!({})).await["epoch"], 0);
}

#[tokio::test]
async fn other_sessions_go_on() {
    let slow =
        Slow::with(StoreLocation::In("sqlite::memory:".to_owned()), Limits { workers: 1, ..Limits::default() }).await;
    let compact = slow.compacting("s").await;
    // The one worker is not held by who waits for a model.
    slow.kept.session("other", 12).await;
    slow.kept.done("/v1/sessions/other/compact", json!({"target": 3_000})).await;
    slow.model.release();
    assert_eq!(compact.await.unwrap().0, 200);
}

#[tokio::test]
async fn what_takes_too_long_is_answered_and_goes_on() {
    let limits = Limits { session_timeout: Duration::from_millis(300), ..Limits::default() };
    let slow = Slow::with(StoreLocation::In("sqlite::memory:".to_owned()), limits).await;
    let compact = slow.compacting("s").await;
    let (status, late) = slow.kept.post("/v1/sessions/s/messages", typed("Go on.")).await;
    assert_eq!((status, code(&late)), (503, "timeout"));
    let (status, late) = compact.await.unwrap();
    assert_eq!((status, code(&late)), (503, "timeout"));
    assert_eq!(slow.kept.found("/v1/sessions/s").await["running"], true);
    slow.model.release();
    slow.gauge("epitome_busy_sessions", 0).await;
    let info = slow.kept.found("/v1/sessions/s").await;
    assert_eq!((info["epochs"].as_u64(), info["messages"].as_u64()), (Some(1), Some(28)), "nothing was said");
}

#[tokio::test]
async fn a_service_that_stops_ends_what_it_began() {
    let folder = Folder::new();
    let mut slow = Slow::with(folder.keeping(), Limits::default()).await;
    let compact = slow.compacting("s").await;
    compact.abort();
    let _ = compact.await;
    let Some(kept) = Arc::get_mut(&mut slow.kept) else { panic!("somebody asks still") };
    kept.running.stop();
    slow.model.release();
    (&mut kept.running.task).await.unwrap();
    let again = Kept::start(crate::support::SMALL, folder.keeping()).await;
    assert_eq!(again.found("/v1/sessions/s").await["epochs"], 1);
}

#[tokio::test]
async fn a_service_that_may_not_wait_leaves_the_session_as_it_was() {
    let folder = Folder::new();
    let limits = Limits { shutdown_timeout: Duration::from_millis(100), ..Limits::default() };
    let mut slow = Slow::with(folder.keeping(), limits).await;
    let compact = slow.compacting("s").await;
    compact.abort();
    let _ = compact.await;
    let Some(kept) = Arc::get_mut(&mut slow.kept) else { panic!("somebody asks still") };
    kept.running.stop();
    (&mut kept.running.task).await.unwrap();
    let again = Kept::start(crate::support::SMALL, folder.keeping()).await;
    let info = again.found("/v1/sessions/s").await;
    assert_eq!((info["epochs"].as_u64(), info["version"].as_u64()), (Some(0), Some(28)));
    again.done("/v1/sessions/s/compact", json!({"target": 3_000})).await;
}
