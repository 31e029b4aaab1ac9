//! A build without HTTP: `cargo test -p epitome-config --no-default-features --test without_http`.

#![cfg(not(feature = "http"))]
#![allow(clippy::unwrap_used, reason = "tests")]

use epitome_config::{Config, SummarizerChoice};

#[test]
fn a_channel_names_the_feature_that_it_needs() {
    let registry = epitome_builtin::registry();
    let text = "[summary]\nsummarizer = \"llm\"\n[channels.c]\nmodels = [\"m\"]\n";
    let mut config = Config::parse(text, "e.toml", &registry).unwrap();
    insta::assert_snapshot!(config.build(&registry).unwrap_err().to_string(), @r#"e.toml:3:11: the channel `c`: this build has no channel `openai`: build it with the cargo feature `http`; `summarizer = "rules"` needs no model"#);
    config.set("summary.summarizer", &"rules".into()).unwrap();
    assert_eq!(config.build(&registry).unwrap().summarizer, SummarizerChoice::Rules);
}
