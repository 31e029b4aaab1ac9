//! `summarizer = "provider"`: which channels can, and what is said of one that cannot.

#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, reason = "tests")]

use epitome_config::{Config, ConfigErrors, Runtime, SummarizerChoice};

fn parse(text: &str) -> Result<Config, ConfigErrors> {
    Config::parse(text, "e.toml", &epitome_builtin::registry())
}

fn build(text: &str) -> Result<Runtime, ConfigErrors> {
    parse(text)?.build(&epitome_builtin::registry())
}

const PROVIDER: &str = "[summary]\nsummarizer = \"provider\"\n";

/// A channel to Anthropic's messages that wants no key.
const CLAUDE: &str =
    "[channels.claude]\nkind = \"anthropic\"\nbase_url = \"http://127.0.0.1:1\"\nmodels = [\"claude-opus-5\"]\n";

#[test]
fn a_channel_to_anthropic_compacts() {
    let runtime = build(&format!("{PROVIDER}{CLAUDE}")).unwrap();
    assert_eq!(runtime.summarizer, SummarizerChoice::Provider);
    assert_eq!(runtime.summary_model().unwrap().model, "claude-opus-5");
    assert_eq!(runtime.make_summarizer(None).unwrap().kind(), "provider");
    assert!(runtime.asks_conversations());
    // The default chains are those with a hand-off in front.
    let first = |runtime: &Runtime| runtime.chains().code.0[0].meta().id;
    assert_eq!((first(&runtime), first(&build("").unwrap())), ("handoff", "transcript"));
    let off = build(&format!("{PROVIDER}fall_back_to_rules = false\nask = \"transcript\"\n{CLAUDE}")).unwrap();
    assert_eq!((off.make_summarizer(None).unwrap().kind(), off.asks_conversations()), ("provider", false));
}

#[test]
fn others_are_told_why_not() {
    let refused = |text: &str| build(text).unwrap_err().to_string();
    let openai = format!("{PROVIDER}[channels.c]\nbase_url = \"http://127.0.0.1:1/v1\"\nmodels = [\"gpt\"]\n");
    insta::assert_snapshot!(refused(&openai), @r#"e.toml:2:1: `summarizer = "provider"`: the kind of the channel `c` is `openai`, whose own compaction gives an encrypted item: nobody but OpenAI can read it, so that it can be neither counted nor checked nor shown; `summarizer = "llm"` has the channel's model write the summary; a channel of `kind = "anthropic"` compacts"#);
    insta::assert_snapshot!(refused(PROVIDER), @r#"e.toml:2:1: `summarizer = "provider"` needs a channel to a model, and there is none; write [channels.claude] with `kind = "anthropic"` and `models = ["…"]`; docs/models.md has more"#);
    // One of several is chosen as for any model.
    let both = format!("{CLAUDE}[channels.c]\nmodels = [\"gpt\"]\n");
    assert!(build(&format!("{PROVIDER}channel = \"claude\"\n{both}")).is_ok());
    assert!(refused(&format!("{PROVIDER}{both}")).contains("which channel writes summaries is not said"));
}

#[test]
fn a_proxy_needs_no_channel() {
    let mut config = parse(PROVIDER).unwrap();
    config.has_conversations();
    let runtime = config.build(&epitome_builtin::registry()).unwrap();
    assert!(runtime.asks_conversations());
    assert_eq!(runtime.make_summarizer(None).unwrap().kind(), "rules", "where there is no conversation");
}
