//! The events that listeners receive.

use std::sync::{Arc, Mutex};

use epitome::live::{Counters, Event, LiveSession, Metrics};
use epitome::strategy::{ModelUsage, SummarizeError};

use super::support::{SMALL, Scripted, compact, runtime, talk, user, with_summarizer};

/// The events of a session with a summarizer that fails or not, as JSON without the figures.
fn events(fails: bool) -> (Vec<Event>, Counters) {
    let summarizer = Arc::new(Scripted::default());
    let mut live = with_summarizer(&format!("{SMALL}[summary]\non_failure = \"stop\"\n"), &summarizer);
    let metrics = Arc::new(Metrics::default());
    live.count_into(metrics.clone());
    talk(&mut live, 1_700);
    let told: Arc<Mutex<Vec<Event>>> = Arc::default();
    let listener = Arc::clone(&told);
    live.subscribe(Arc::new(move |event| listener.lock().unwrap().push(event.clone())));
    if fails {
        *summarizer.fails.lock().unwrap() = Some(SummarizeError::new("busy", true));
        compact(&mut live).unwrap_err();
    } else {
        compact(&mut live).unwrap();
        live.undo(0).unwrap();
        live.push(user("more")).unwrap();
    }
    let told = told.lock().unwrap().clone();
    (told, metrics.counters())
}

fn names(events: &[Event]) -> Vec<String> {
    let name = |event: &Event| {
        assert_eq!(serde_json::to_value(event).unwrap()["event"], event.name());
        event.name().to_owned()
    };
    events.iter().map(name).collect()
}

#[test]
fn the_threshold_that_is_told_is_the_one_that_suggests() {
    let mut live = with_summarizer(SMALL, &Arc::new(Scripted::default()));
    for tokens in [100, 1_700, 1_950] {
        talk(&mut live, tokens);
        let context = live.context();
        assert!(context.used_tokens >= tokens, "{context:?}");
        assert_eq!(context.threshold_percent, 80.0, "{context:?}");
    }
    assert_eq!(live.check().trigger, Some(epitome::session::Trigger::Hard));
}

#[test]
fn a_compaction_is_told_from_start_to_end() {
    let (events, counters) = events(false);
    let expected = [
        "compaction_start",
        "summary_start",
        "summary_done",
        "compaction_step",
        "compaction_step", // what may come back
        "compaction_done",
        "token_update",
        "undone",
        "token_update",
        "token_update",
    ];
    assert_eq!(names(&events), expected);
    let done = serde_json::to_value(&events[5]).unwrap();
    assert_eq!((&done["success"], &done["status"]), (&true.into(), &"compacted".into()));
    assert_eq!(done["epoch"], 0);
    assert!(done["summaryContent"].as_str().unwrap().contains("messages in short"), "{done}");
    assert_eq!(
        done["compactedCount"].as_u64().unwrap() + done["keepRecentCount"].as_u64().unwrap(),
        serde_json::to_value(&events[0]).unwrap()["messageCount"].as_u64().unwrap()
    );
    let update = serde_json::to_value(&events[6]).unwrap();
    let context = &update["context"];
    assert_eq!((&context["maxTokens"], &context["thresholdPercent"]), (&2_000.into(), &80.0.into()));
    assert_eq!(context["usedTokens"], done["tokensAfter"]);
    assert_eq!(context["estimated"], false);
    assert_eq!((counters.compactions, counters.undos, counters.failures), (1, 1, 0));
    assert_eq!((counters.summary_input_tokens, counters.summary_output_tokens), (500, 20));
    assert!(counters.tokens_saved > 500 && counters.messages > 10, "{counters:?}");
}

/// A failed attempt is paid for, and a session that is read again knows what its compactions took.
#[test]
fn what_models_took_is_on_the_bill() {
    let summarizer = Arc::new(Scripted::default());
    let mut live = with_summarizer(&format!("{SMALL}[summary]\non_failure = \"stop\"\n"), &summarizer);
    let paid = ModelUsage { model: "large".into(), answers: 2, input_tokens: 7, cached_tokens: 5, output_tokens: 3 };
    *summarizer.fails.lock().unwrap() =
        Some(SummarizeError { usage: paid.clone().into(), ..SummarizeError::new("busy", true) });
    talk(&mut live, 1_700);
    compact(&mut live).unwrap_err();
    assert_eq!(live.summary_usage().models(), std::slice::from_ref(&paid));
    assert_eq!(live.metrics().counters().summary_input_tokens, 7);
    *summarizer.fails.lock().unwrap() = None;
    compact(&mut live).unwrap();
    assert_eq!(live.summary_usage().input_tokens(), 507);
    assert_eq!(live.copy().summary_usage(), live.summary_usage());
    let again = LiveSession::with_session(&runtime(SMALL), live.session().clone());
    assert_eq!((again.summary_usage().input_tokens(), again.summary_usage().output_tokens()), (500, 20));
}

#[test]
fn a_failure_is_told_with_whether_to_try_again() {
    let (events, counters) = events(true);
    assert_eq!(names(&events), ["compaction_start", "summary_start", "summary_done", "compaction_error"]);
    let error = serde_json::to_value(&events[3]).unwrap();
    assert_eq!(error["retryable"], true);
    assert!(error["message"].as_str().unwrap().contains("busy"), "{error}");
    assert_eq!((counters.compactions, counters.failures), (0, 1));
}
