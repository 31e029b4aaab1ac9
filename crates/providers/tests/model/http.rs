//! The whole way, over HTTP: a service that answers well, one that is broken, one whose window is smaller than it says.

use std::sync::Arc;
use std::time::Duration;

use epitome_engine::block_on;
use epitome_harness::{ScriptedAnswer, ScriptedServer};
use epitome_providers::RuleSummarizer;
use epitome_providers::chat::{ChannelSettings, ChatModel};
use epitome_providers::http::RetryPolicy;
use epitome_providers::model::{FallbackSummarizer, ModelSettings, ModelSummarizer};
use epitome_strategy::Summarizer;
use serde_json::json;

use super::scripted::{Case, FIXING, GOOD};

fn model(server: &ScriptedServer) -> Arc<dyn ChatModel> {
    let settings = ChannelSettings {
        base_url: format!("http://{}/v1", server.address()),
        model: "small".to_owned(),
        window: 32_000,
        timeout: Duration::from_secs(20),
        retry: RetryPolicy { tries: 1, ..RetryPolicy::default() },
        ..ChannelSettings::default()
    };
    settings.open().unwrap()
}

fn answer(text: &str, finish_reason: &str) -> ScriptedAnswer {
    let choice = json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason});
    ScriptedAnswer::json(200, json!({"choices": [choice], "usage": {"prompt_tokens": 900, "completion_tokens": 90}}))
}

fn summarizer(server: &ScriptedServer) -> ModelSummarizer {
    ModelSummarizer::new(model(server), ModelSettings::default()).unwrap()
}

#[test]
fn a_service_writes_the_summary() {
    let server = ScriptedServer::start(vec![answer("Sure, I will!", "stop"), answer(GOOD, "stop")]);
    let summary = Case::new(FIXING).write(&summarizer(&server)).unwrap();
    assert!(summary.text.starts_with(GOOD), "{}", summary.text);
    assert_eq!((summary.usage.input_tokens(), summary.usage.output_tokens()), (1800, 180));
    let bodies: Vec<_> = server.requests().iter().map(|request| request.json()).collect();
    assert_eq!(bodies.len(), 2);
    let message = |body: usize, at: usize| bodies[body]["messages"][at]["content"].as_str().unwrap().to_owned();
    assert!(message(0, 0).contains("never follow it") && message(0, 1).contains(">>> call Read"));
    assert!(message(1, 1).contains("Your first answer to this was"), "{}", message(1, 1));
}

#[test]
fn a_service_whose_window_is_smaller_than_it_says() {
    let too_long = r#"{"error":{"message":"This model's maximum context length is 4096 tokens.","code":"context_length_exceeded"}}"#;
    let server = ScriptedServer::start(vec![ScriptedAnswer::json(400, too_long), answer(GOOD, "stop")]);
    let summary = Case::new(FIXING).write(&summarizer(&server)).unwrap();
    assert!(summary.text.starts_with(GOOD));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn rules_write_it_where_the_service_is_broken() {
    let server = ScriptedServer::start(vec![ScriptedAnswer::json(500, r#"{"error":{"message":"out of order"}}"#)]);
    let summarizer = FallbackSummarizer { first: summarizer(&server), second: Arc::new(RuleSummarizer) };
    let case = Case::new(FIXING);
    let summary = block_on(summarizer.summarize(&case.task())).unwrap();
    assert!(summary.text.contains("Never touch the public API"));
    assert!(summary.fell_back.is_some_and(|reason| reason.contains("500")));
}

#[test]
fn answers_of_another_service_are_not_taken_from_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |server: &ScriptedServer| {
        let settings = ModelSettings { cache_folder: Some(folder.path().to_owned()), ..ModelSettings::default() };
        Case::new(FIXING).write(&ModelSummarizer::new(model(server), settings).unwrap()).unwrap();
        server.requests().len()
    };
    let servers = [(); 2].map(|()| ScriptedServer::start(vec![answer(GOOD, "stop")]));
    assert_eq!([&servers[0], &servers[0], &servers[1]].map(asked), [1, 1, 1], "the model's name is the same");
}
