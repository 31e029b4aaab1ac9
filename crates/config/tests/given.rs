//! Tables that a program adds: the same settings and the same words as in a file.

#![allow(clippy::unwrap_used, reason = "tests")]

use epitome_config::{Config, Source};
use epitome_strategy::Registry;
use serde_json::{Map, Value, json};

/// A channel that wants no key, and an agent.
const FILE: &str = "\
[budget]
window = 100_000
[channels.local]
base_url = \"http://127.0.0.1:1/v1\"
models = [\"small\", \"large\"]
[agents.coder]
window = 50_000
keep_recent = 12
";

fn registry() -> Registry {
    epitome_builtin::registry()
}

fn parse(text: &str) -> Config {
    Config::parse(text, "e.toml", &registry()).unwrap()
}

fn table(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn an_agent_is_what_it_would_be_in_a_file() {
    let check = |text: &str, settings: Value| {
        let in_file = parse(&format!("{FILE}[agents.a]\n{text}")).for_agent("a").unwrap();
        let given = parse(FILE).with_agent("a", &table(settings), &registry()).unwrap().for_agent("a").unwrap();
        let values = |config: &Config| {
            let all = config.effective(&registry()).into_iter();
            all.map(|effective| (effective.key, effective.value)).collect::<Vec<_>>()
        };
        assert_eq!(values(&in_file), values(&given), "{text}");
        assert_eq!(in_file.agent_in_force(), given.agent_in_force(), "{text}");
    };
    check("", json!({}));
    check("threshold_percent = 0\n", json!({"threshold_percent": 0}));
    check("threshold_percent = 40\nkeep_recent = 3\n", json!({"threshold_percent": 40, "keep_recent": 3}));
    check("channel = \"local\"\nmodel = \"large\"\n", json!({"channel": "local", "model": "large"}));
    check("runs_on = \"gpt-4.1\"\n", json!({"runs_on": "gpt-4.1"}));
    check("runs_on = \"gpt-4.1\"\nwindow = 9000\n", json!({"runs_on": "gpt-4.1", "window": 9000}));
    check("preset = [\"basic\", \"aggressive\"]\n", json!({"preset": ["basic", "aggressive"]}));
    check("chain = \"code\"\nsummarizer = \"off\"\n", json!({"chain": "code", "summarizer": "off"}));
}

#[test]
fn what_is_wrong_is_said_in_the_same_words() {
    let check = |text: &str, settings: Value| {
        let in_file = Config::parse(&format!("{FILE}[agents.a]\n{text}"), "e.toml", &registry()).unwrap_err();
        let given = parse(FILE).with_agent("a", &table(settings), &registry()).unwrap_err();
        let said = |problem: &epitome_config::Problem| (problem.message.clone(), problem.help.clone());
        let said = |errors: &epitome_config::ConfigErrors| errors.problems().iter().map(said).collect::<Vec<_>>();
        assert_eq!(said(&in_file), said(&given));
        assert!(given.problems().iter().all(|problem| problem.place.is_none()));
    };
    check("keep_recent = 1001\n", json!({"keep_recent": 1001}));
    check("keep_recnt = 0\n", json!({"keep_recnt": 0}));
    check("channel = \"nowhere\"\n", json!({"channel": "nowhere"}));
    check("chain = \"none\"\nthreshold_percent = 10\n", json!({"chain": "none", "threshold_percent": 10}));
    check("model = \"huge\"\n", json!({"model": "huge"}));
    check("runs_on = \"nobodys\"\n", json!({"runs_on": "nobodys"}));
}

#[test]
fn a_table_takes_the_place_of_the_one_of_its_name() {
    let config = parse(FILE).with_agent("coder", &table(json!({"threshold_percent": 30})), &registry()).unwrap();
    assert_eq!(config.agent_settings("coder"), table(json!({"threshold_percent": 30})));
    assert_eq!(config.for_agent("coder").unwrap().budget().window, 100_000, "what it said before is gone");
    let channel = json!({"base_url": "http://127.0.0.1:2/v1"});
    let config = parse(FILE).with_channel("local", &table(channel)).unwrap();
    let local = config.channel("local").unwrap();
    assert_eq!((local.base_url.as_str(), local.models.len()), ("http://127.0.0.1:2/v1", 0));
}

#[test]
fn a_channel_is_checked_by_itself() {
    let check = |settings: Value, expect: &str| {
        let errors = parse(FILE).with_channel("mine", &table(settings)).unwrap_err();
        assert_eq!(errors.to_string(), expect);
    };
    check(json!({"kind": 3}), "`kind` takes one of \"openai\", \"anthropic\", not 3");
    check(
        json!({"adress": ""}),
        "`adress` is not a key of [channels.mine]; there are kind, base_url, key_variable, key_file, models, compaction, default, timeout_seconds, tries, longest_wait_seconds, window, extra",
    );
    check(
        json!({"key_variable": "A", "key_file": "/b"}),
        "the channel `mine` has a `key_variable` and a `key_file`; keep one of them",
    );
    // Several at once: all of them, or every problem of each.
    let (good, bad) = (table(json!({"models": ["m"]})), table(json!({"kind": 3})));
    let both = parse(FILE).with_channels([("mine", &good), ("other", &good)]).unwrap();
    assert_eq!(both.channels().collect::<Vec<_>>(), ["local", "mine", "other"]);
    let errors = parse(FILE).with_channels([("a", &bad), ("b", &good), ("c", &bad)]).unwrap_err();
    assert_eq!(errors.problems().len(), 2);
    // Two channels, and nobody says which: that is found when it is built, and not for an agent that names one.
    let llm = parse(&format!("{FILE}[summary]\nsummarizer = \"llm\"\n"));
    let two = llm.with_channel("mine", &table(json!({"base_url": "http://127.0.0.1:2/v1", "models": ["m"]}))).unwrap();
    assert!(two.build(&registry()).unwrap_err().to_string().contains("which channel writes summaries is not said"));
    let named = two.with_agent("a", &table(json!({"channel": "mine"})), &registry()).unwrap().for_agent("a").unwrap();
    assert_eq!(named.build(&registry()).unwrap().summary_model().unwrap().channel, "mine");
}

#[test]
fn settings_of_a_session_stand_over_those_of_its_agent() {
    let coder = parse(FILE).for_agent("coder").unwrap();
    let adjusted = |settings: Value| coder.adjusted(&table(settings), &registry()).unwrap();
    let session = adjusted(json!({"keep_recent": 20, "channel": "local"}));
    let expect = json!({
        "threshold_percent": 70,
        "keep_recent": 20,
        "handles": false,
        "summarizer": "llm",
        "channel": "local",
        "model": "small",
        "runs_on": null,
        "window": 50_000,
        "chain": null,
    });
    assert_eq!(Value::Object(session.agent_in_force()), expect);
    assert_eq!((session.agent(), session.source("budget.window")), (Some("coder"), coder.source("budget.window")));
    assert_eq!(session.source("summary.channel"), Source::Given);
    // Another model takes the agent's window with it, and a table over a table does too.
    assert_eq!(adjusted(json!({"runs_on": "gpt-4.1"})).budget().window, 1_047_576);
    let smaller = adjusted(json!({"window": 9_000}));
    assert_eq!(smaller.budget().window, 9_000);
    let table_of = table(json!({"runs_on": "gpt-4.1"}));
    assert_eq!(smaller.adjusted(&table_of, &registry()).unwrap().budget().window, 1_047_576);
    let problem = coder.adjusted(&table(json!({"model": "huge"})), &registry()).unwrap_err().to_string();
    assert_eq!(problem, "the channel `local` does not list the model `huge`; it lists small, large");
}
