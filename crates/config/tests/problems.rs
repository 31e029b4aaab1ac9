//! Wrong configurations: every problem at once, with its place and what would be right.
#![allow(clippy::unwrap_used, reason = "tests")]

use epitome_config::Config;

fn parse(text: &str) -> Config {
    Config::parse(text, "epitome.toml", &epitome_builtin::registry()).unwrap()
}

/// The problems of a wrong file.
fn refused(text: &str) -> String {
    Config::parse(text, "epitome.toml", &epitome_builtin::registry()).unwrap_err().to_string()
}

#[test]
fn every_problem_is_shown_at_once_with_its_place() {
    let wrong = "\
preset = \"prodution\"
windwo = 3
window = 3
[budget]
windwo = 3
window = \"much\"
soft = 1.5
hard = 0
reserve_output = -1
last_rounds = 4
[counter]
name = \"gpt-5\"
[pins]
protected_tools = [\"Skill\", 3]
[select]
mode = \"best\"
[chains]
code = [\"tool-results\", \"sliding-windw\"]
empty = []
twice = [\"tool-results\", \"tool-results\"]
tool-results = [\"tool-results\"]
[strategies.sliding-window]
windw = 9
window = 0
[strategies.slding-window]
[summary]
summarizer = 2024-01-01
";
    insta::assert_snapshot!(refused(wrong), @r#"
    epitome.toml:1:10: `preset`: `prodution` is not one of development, production, large-context, classic, basic, advanced, smart, aggressive, balanced, conservative; did you mean `production`?
    epitome.toml:2:1: `windwo` is neither a section nor a key; there are preset, compaction, budget, triggers, live, counter, pins, marks, proxy, select, quality, summary, embeddings, lexicon, chains, strategies, models, channels, agents
    epitome.toml:3:1: `window` is neither a section nor a key; it belongs below [budget]
    epitome.toml:5:1: `windwo` is not a key of [budget]; did you mean `window`?
    epitome.toml:6:10: `window` takes a whole number, not "much"
    epitome.toml:7:8: `soft` takes a share of the usable window from 0.01 to 1.0, or tokens as a whole number from 2, not 1.5
    epitome.toml:8:8: `hard` takes a share of the usable window from 0.01 to 1.0, or tokens as a whole number from 2, not 0
    epitome.toml:9:18: `reserve_output` takes a whole number, not -1
    epitome.toml:10:1: `last_rounds` is not a key of [budget]; it belongs below [pins]
    epitome.toml:12:8: `name` takes one of "model", "o200k_base", "cl100k_base", "weighted", "two-ratio", "halves", "quarters", not "gpt-5"
    epitome.toml:14:19: `protected_tools` takes a list of strings, not ["Skill",3]
    epitome.toml:16:8: `mode` takes one of "fixed", "adaptive", "tournament", not "best"
    epitome.toml:18:25: there is no strategy `sliding-windw`; did you mean `sliding-window`?
    epitome.toml:19:1: the chain `empty` is empty; a chain takes at least one strategy
    epitome.toml:20:26: `tool-results` is in the chain `twice` twice; the engine asks a strategy again by itself while that helps
    epitome.toml:21:1: a chain cannot be called `tool-results`; that is a strategy
    epitome.toml:23:1: `windw` is not a setting of `sliding-window`; did you mean `window`?
    epitome.toml:24:1: `window` takes a value from 1 to 1000, not 0
    epitome.toml:25:13: there is no strategy `slding-window`; did you mean `sliding-window`?
    epitome.toml:27:14: `summarizer` takes no date
    "#);
}

#[test]
fn what_only_shows_in_combination() {
    let check = |text: &str| refused(text);
    insta::assert_snapshot!(check("[budget]\nsoft = 0.8\ntarget = 0.9"), @"epitome.toml:3:1: `target` (0.9 of 184000, 165600 tokens) is not below `soft` (0.8 of 184000, 147200 tokens); target < soft <= hard");
    insta::assert_snapshot!(check("[budget]\nwindow = 10_000\nreserve_output = 10_000"), @"epitome.toml:3:1: the reserve of 10000 takes the whole window of 10000; lower `reserve_output` or raise `window`");
    insta::assert_snapshot!(check("preset = \"production\"\n[budget]\nwindow = 20_000"), @"epitome.toml:3:1: `hard` (20000 tokens) is above the 16000 tokens of the `window` of 20000 that are usable; lower it, lower `reserve_output` or raise `window`");
    insta::assert_snapshot!(check("[budget]\nsoft = 30_000\nwindow = 20_000"), @"epitome.toml:2:1: `soft` (30000 tokens) is above the 15000 tokens of the `window` of 20000 that are usable; lower it, lower `reserve_output` or raise `window`");
    insta::assert_snapshot!(check("[budget]\nsoft = 30_000\nhard = 20_000"), @"epitome.toml:2:1: `soft` (30000 tokens) is not below `hard` (20000 tokens); target < soft <= hard");
    insta::assert_snapshot!(check("[budget]\nsoft = 0.7\nsoft_threshold_tokens = 9000"), @"epitome.toml:3:1: `soft_threshold_tokens` is a second name of `budget.soft`, which is set too; keep one of them");
    insta::assert_snapshot!(check("[budget]\nkeep_recent_messages = 4\n[pins]\nkeep_recent = 5"), @"epitome.toml:2:1: `keep_recent_messages` is a second name of `pins.keep_recent`, which is set too; keep one of them");
    insta::assert_snapshot!(check("[budget]\nsoft_threshold_tokens = 0.7"), @"epitome.toml:2:25: `soft_threshold_tokens` takes whole tokens or messages, not 0.7");
    insta::assert_snapshot!(check("[select]\nchain = \"code\""), @r#"epitome.toml:2:1: `chain` is read with `mode = "fixed"` only; set the mode, or leave the key out"#);
    insta::assert_snapshot!(check("[select]\nmode = \"fixed\""), @r#"epitome.toml:2:1: `mode = "fixed"` needs `chain`, the name of a chain; there are analysis, code, conversation, mixed, unknown"#);
    insta::assert_snapshot!(check("[select]\nmode = \"fixed\"\nchain = \"none\""), @"epitome.toml:3:1: there is no chain `none`; [chains] has analysis, code, conversation, mixed, unknown");
    insta::assert_snapshot!(check("budget = 3"), @"epitome.toml:1:1: `budget` is a section, not integer; write [budget] and its keys below it");
    insta::assert_snapshot!(check("[strategies]\ntool-results = 3"), @"epitome.toml:2:1: `strategies.tool-results` takes a table of settings, not integer; write [strategies.tool-results] and settings below it");
}

#[test]
fn a_strategy_without_settings_says_so() {
    insta::assert_snapshot!(refused("[strategies.hierarchical]\narrival_share = 0.1"), @"epitome.toml:2:1: `arrival_share` is not a setting of `hierarchical`; it has none: take the line out");
}

#[test]
fn text_that_is_not_toml_is_shown_with_the_rest() {
    insta::assert_snapshot!(refused("[budget\nwindow = 3\n[pins]\nlast_rounds = \"x\"\nmarkers = [\n"), @r#"
    epitome.toml:1:8: not valid TOML: unclosed table, expected `]`
    epitome.toml:4:15: `last_rounds` takes a whole number, not "x"
    epitome.toml:5:12: not valid TOML: unclosed array, expected `]`
    "#);
}

#[test]
fn cue_words_that_cannot_be_searched_for_are_shown_with_their_places() {
    let wrong = "\
[lexicon]
decision = [
  \"we settled\",
  \"/(open/\",
  \"\",
]
error = [\"  \", \"/x*/\", \"/[z-a]/\"]
task_start = \"go\"
mistake = [\"oops\"]
";
    insta::assert_snapshot!(refused(wrong), @r#"
    epitome.toml:4:3: `decision` cannot have "/(open/": unclosed group
    epitome.toml:5:3: `decision` cannot have "": an empty word is in every text
    epitome.toml:7:10: `error` cannot have "  ": an empty word is in every text
    epitome.toml:7:16: `error` cannot have "/x*/": the pattern matches the empty text
    epitome.toml:7:24: `error` cannot have "/[z-a]/": invalid character class range, the start must be <= the end
    epitome.toml:8:14: `task_start` takes a list of strings, not "go"
    epitome.toml:9:1: `mistake` is not a key of [lexicon]; there are important, remember, instruction, preference, decision, task_start, completion, error, fix, question, topic_shift, code, analysis, conversation
    "#);
}

#[test]
fn embedders_that_cannot_be_made_are_shown_with_their_places() {
    insta::assert_snapshot!(refused("[embeddings]\nembedder = \"bert\"\nbatch_size = 0\ntimeout = 3"), @r#"
    epitome.toml:2:12: `embedder` takes one of "off", "static", "fastembed", "openai", not "bert"
    epitome.toml:3:14: `batch_size` takes a value from 1 to 10000, not 0
    epitome.toml:4:1: `timeout` is not a key of [embeddings]; there are embedder, model, directory, models, runtime_library, pooling, base_url, key_variable, timeout_seconds, batch_size, dimensions, cache, cache_vectors
    "#);
    // What another embedder reads does nothing here.
    insta::assert_snapshot!(refused("[embeddings]\ndirectory = \"models\""), @r#"epitome.toml:2:1: `directory` is read with `embedder = "fastembed"` only; here it is `embedder = "static"`"#);
    insta::assert_snapshot!(refused("[embeddings]\nembedder = \"openai\"\npooling = \"first\""), @r#"epitome.toml:3:1: `pooling` is read with `embedder = "fastembed"` only; here it is `embedder = "openai"`"#);
    insta::assert_snapshot!(refused("[embeddings]\nembedder = \"off\"\nmodel = \"m\""), @r#"epitome.toml:3:1: `model` is read with `embedder = "fastembed"` and `embedder = "openai"` only; here it is `embedder = "off"`"#);
    let build = |text: &str| {
        let built = parse(text).build(&epitome_builtin::registry());
        built.map(|runtime| runtime.base_engine.embedder.is_some()).map_err(|errors| errors.to_string())
    };
    let unset = "embedder = \"openai\"\nkey_variable = \"EPITOME_NO_SUCH_KEY\"";
    insta::assert_snapshot!(build(&format!("[embeddings]\n{unset}")).unwrap_err(), @r#"epitome.toml:3:1: `embedder = "openai"`: no key: set the environment variable `EPITOME_NO_SUCH_KEY`; a service that wants no key takes `key_variable = ""`"#);
    let address = "embedder = \"openai\"\nkey_variable = \"\"\nbase_url = \"localhost\"";
    insta::assert_snapshot!(build(&format!("[embeddings]\n{address}")).unwrap_err(), @r#"epitome.toml:4:1: `embedder = "openai"`: `localhost` is not the address of a service: relative URL without a base; an address is such as "http://localhost:11434/v1""#);
    assert_eq!(build(""), Ok(true), "the static one");
    assert_eq!(build("[embeddings]\nembedder = \"off\""), Ok(false));
    let local = "embedder = \"openai\"\nkey_variable = \"\"\nbase_url = \"http://localhost:1/v1\"\nmodel = \"m\"";
    assert_eq!(build(&format!("[embeddings]\n{local}")), Ok(true), "asked at the first text only");
    // Which of these it is depends on the build.
    let absent = "[embeddings]\nembedder = \"fastembed\"\nruntime_library = \"/no/such/library.so\"";
    let said = build(absent).unwrap_err();
    let not_built = "epitome.toml:2:1: `embedder = \"fastembed\"`: this build has no embedder `fastembed`";
    let command = "`cargo install --path crates/cli --features fastembed` does that in a checkout of epitome";
    let not_found = said.starts_with("epitome.toml:3:1: `embedder = \"fastembed\"`: ONNX Runtime's library");
    assert!(not_found || said.starts_with(not_built) && said.contains(command), "{said}");
}
