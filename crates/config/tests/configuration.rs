//! The configuration as a user meets it: what a file gives, and what is said of a wrong one.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use epitome_config::{Config, Preset, Source, key_table, template};
use epitome_engine::{Engine, Mode, Threshold};
use epitome_session::{Message, Origin, Role, Session};
use epitome_strategy::{Cue, CueCounts, TaskDetector, TaskKind, Verdict, View};

fn parse(text: &str) -> Config {
    Config::parse(text, "epitome.toml", &epitome_builtin::registry()).unwrap()
}

/// What is said of a wrong file.
fn refused(text: &str) -> String {
    Config::parse(text, "epitome.toml", &epitome_builtin::registry()).unwrap_err().to_string()
}

/// The effective values that differ from the defaults, with where they come from.
fn differences(config: &Config) -> String {
    let registry = epitome_builtin::registry();
    let defaults = Config::default().effective(&registry);
    config
        .effective(&registry)
        .iter()
        .filter(|entry| !defaults.iter().any(|default| default.key == entry.key && default.value == entry.value))
        // One key is the default of a setting of most strategies: one of them is enough.
        .filter(|entry| !entry.key.ends_with(".max_summary_tokens") || entry.key.contains("sliding-window"))
        .map(|entry| format!("{} = {}  ({})\n", entry.key, entry.value, entry.source))
        .collect()
}

#[test]
fn an_empty_file_gives_the_defaults() {
    assert_eq!(differences(&parse("")), "");
    let runtime = parse("").build(&epitome_builtin::registry()).unwrap();
    assert_eq!(runtime.budget, epitome_engine::Budget::default(), "the defaults are the engine's");
    assert_eq!(runtime.pins, epitome_engine::Pins::default());
    assert_eq!(runtime.counter.name(), "o200k_base");
    let ids = |kind| runtime.chains().of(kind).ids().join(" ");
    insta::assert_snapshot!(ids(TaskKind::Code), @"transcript tool-results message-truncation sliding-window");
    insta::assert_snapshot!(ids(TaskKind::Conversation), @"vector-retrieval transcript tool-results message-truncation sliding-window");
}

#[test]
fn the_file_overrides_the_preset_and_the_preset_the_defaults() {
    let config = parse(
        "preset = \"production\"\n\
         [budget]\n\
         soft_threshold_tokens = 16_000\n\
         target = 9000\n\
         [pins]\n\
         last_rounds = 2\n\
         [strategies.sliding-window]\n\
         run_above = 3.0\n\
         [chains]\n\
         mine = [\"tool-results\"]\n",
    );
    insta::assert_snapshot!(differences(&config), @r#"
    budget.reserve_output = 4000  (preset production)
    budget.soft = 16000  (epitome.toml:3:1)
    budget.hard = 20000  (preset production)
    budget.target = 9000  (epitome.toml:4:1)
    live.memory_flush = true  (preset production)
    pins.last_rounds = 2  (epitome.toml:6:1)
    pins.keep_recent = 6  (preset production)
    summary.max_tokens = 800  (preset production)
    chains.mine = ["tool-results"]  (epitome.toml:10:1)
    strategies.sliding-window.run_above = 3.0  (epitome.toml:8:1)
    strategies.sliding-window.max_summary_tokens = 800  (preset production)
    "#);
    assert_eq!(config.presets(), [Preset::Production]);
}

#[test]
fn every_preset_is_what_its_name_in_a_file_gives() {
    for (preset, name, _) in Preset::ALL {
        let config = Config::with_preset(preset);
        config.build(&epitome_builtin::registry()).unwrap();
        assert_eq!(differences(&parse(&format!("preset = \"{name}\""))), differences(&config), "{name}");
        // Of `balanced` that is nothing, as long as the shipped defaults are balanced.
        assert!(preset == Preset::Balanced || !differences(&config).is_empty(), "{name}");
    }
    let development = differences(&Config::with_preset(Preset::Development));
    insta::assert_snapshot!(development, @"
    budget.reserve_output = 2000  (preset development)
    budget.soft = 5000  (preset development)
    budget.hard = 8000  (preset development)
    budget.target = 2500  (preset development)
    pins.keep_recent = 4  (preset development)
    summary.max_tokens = 400  (preset development)
    strategies.sliding-window.max_summary_tokens = 400  (preset development)
    ");
}

/// The chains by kind of task, one a line, and the budget's target.
fn chains_of(config: &Config) -> String {
    let runtime = config.build(&epitome_builtin::registry()).unwrap();
    let chain = |kind: TaskKind| format!("{kind}: {}\n", runtime.chains().of(kind).ids().join(" → "));
    let target = runtime.budget.target.tokens(100);
    format!("{}target {target} %", TaskKind::ALL.map(chain).concat())
}

#[test]
fn classic_has_the_chains_and_constants_of_the_source() {
    let config = Config::with_preset(Preset::Classic);
    insta::assert_snapshot!(chains_of(&config), @"
    code: sliding-window → key-events → incremental-summary
    analysis: sliding-window → importance → incremental-summary
    conversation: sliding-window → importance → incremental-summary
    mixed: sliding-window → incremental-summary → importance
    unknown: sliding-window → importance → incremental-summary
    target 50 %
    ");
    let constants: String = config
        .effective(&epitome_builtin::registry())
        .iter()
        .filter(|entry| entry.key.starts_with("strategies.") && entry.source == Source::Preset(Preset::Classic))
        .map(|entry| format!("{} = {}\n", &entry.key["strategies.".len()..], entry.value))
        .collect();
    insta::assert_snapshot!(constants, @"
    key-events.run_above = 10
    key-events.keep_newest = 5
    key-events.strict = true
    key-events.min_decision_chars = 100
    importance.run_above = 10
    importance.keep_score = 3.0
    importance.keep_newest = 5
    importance.strict = true
    importance.user_score = 5.0
    importance.assistant_score = 2.0
    importance.other_score = 1.0
    importance.keyword_score = 0.5
    importance.tool_call_score = 2.0
    importance.error_score = 2.0
    importance.completion_score = 1.5
    importance.important_score = 3.0
    incremental-summary.chunk_rounds = 20
    sliding-window.window = 9
    sliding-window.run_above = 2.0
    sliding-window.fill_target = false
    ");
}

#[test]
fn presets_in_a_list_are_applied_in_order() {
    let target = |presets: &str| parse(&format!("preset = {presets}")).budget().target;
    assert_eq!(target("\"aggressive\""), Threshold::Share(0.25));
    assert_eq!(target("[\"production\", \"aggressive\"]"), Threshold::Tokens(4_687), "as deep below its threshold");
    assert_eq!(target("[\"aggressive\", \"production\"]"), Threshold::Tokens(7_500));
    for (_, when, _) in &Preset::ALL[..3] {
        for (_, how, _) in &Preset::ALL[3..] {
            parse(&format!("preset = [\"{when}\", \"{how}\"]"));
            parse(&format!("preset = [\"{how}\", \"{when}\"]"));
        }
    }
    let config = parse("preset = [\"large-context\", \"smart\", \"basic\"]\n[budget]\nhard = 28_000");
    assert_eq!(config.presets(), [Preset::LargeContext, Preset::Smart, Preset::Basic]);
    assert_eq!(config.source("budget.soft"), Source::Preset(Preset::LargeContext), "no later one sets it");
    assert_eq!(config.source("chains.code"), Source::Preset(Preset::Basic));
    assert_eq!(config.budget().hard, Threshold::Tokens(28_000), "the file overrides them all");
    assert_eq!(differences(&parse("preset = []")), "");
    insta::assert_snapshot!(refused("preset = [\"production\", \"advance\", 3]"), @"
    epitome.toml:1:25: there is no preset `advance`; did you mean `advanced`?
    epitome.toml:1:36: `preset` takes one of development, production, large-context, classic, basic, advanced, smart, aggressive, balanced, conservative, or a list of them, not integer
    ");
    insta::assert_snapshot!(refused("preset = 3"), @"epitome.toml:1:10: `preset` takes one of development, production, large-context, classic, basic, advanced, smart, aggressive, balanced, conservative, or a list of them, not integer");
}

#[test]
fn shares_and_tokens() {
    let budget =
        parse("[budget]\nwindow = 20_000\nreserve_output = 0\nsoft = 0.5\nhard = 15000\ntarget = 0.25").budget();
    let tokens = |threshold: Threshold| threshold.tokens(budget.usable());
    assert_eq!((tokens(budget.target), tokens(budget.soft), tokens(budget.hard)), (5_000, 10_000, 15_000));
    let reserve = |text: &str| parse(text).budget().reserve_output;
    assert_eq!(reserve(""), 16_000);
    assert_eq!(reserve("[budget]\nwindow = 8_000"), 2_000, "the default gives way to a small window");
    assert_eq!(reserve("[budget]\nwindow = 8_000\nreserve_output = 7_000"), 7_000);
}

#[test]
fn modes() {
    let registry = epitome_builtin::registry();
    let runtime = parse("[select]\nmode = \"fixed\"\nchain = \"mine\"\n[chains]\nmine = [\"tool-results\"]")
        .build(&registry)
        .unwrap();
    assert_eq!(runtime.mode, Mode::Fixed);
    assert_eq!(runtime.fixed.unwrap().ids(), ["tool-results"]);
    let runtime = parse("[select]\nmode = \"tournament\"").build(&registry).unwrap();
    assert_eq!(runtime.mode, Mode::Tournament);
}

#[test]
fn chains_by_name_and_by_strategies() {
    let registry = epitome_builtin::registry();
    let runtime = parse("[chains]\nmine = [\"tool-results\", \"sliding-window\"]").build(&registry).unwrap();
    let chain = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        runtime.chain(&names, &registry).map(|chain| chain.ids().join(" ")).unwrap_or_else(|error| error)
    };
    insta::assert_snapshot!(chain(&["mine"]), @"tool-results sliding-window");
    insta::assert_snapshot!(chain(&["diff-truncation"]), @"diff-truncation");
    insta::assert_snapshot!(chain(&["conversation"]), @"vector-retrieval transcript tool-results message-truncation sliding-window");
    insta::assert_snapshot!(chain(&["tool-results", "tool-results"]), @"`tool-results` is in the chain twice");
    insta::assert_snapshot!(chain(&["tool-results", "slidingwindow"]), @"there is no strategy `slidingwindow`; did you mean `sliding-window`?");
    insta::assert_snapshot!(chain(&["none"]), @"there is no strategy `none`; `epitome strategies` lists them; chains: analysis, code, conversation, mine, mixed, unknown");
}

#[test]
fn every_problem_is_told_at_once_with_its_place() {
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
calibrate = \"yes\"
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
    epitome.toml:1:10: there is no preset `prodution`; did you mean `production`?
    epitome.toml:2:1: `windwo` is no section and no key; there are preset, budget, triggers, live, counter, pins, marks, proxy, select, quality, summary, embeddings, lexicon, chains, strategies, models, channels, agents
    epitome.toml:3:1: `window` is no section and no key; it belongs below [budget]
    epitome.toml:5:1: `windwo` is no key of [budget]; did you mean `window`?
    epitome.toml:6:10: `window` takes a whole number, not "much"
    epitome.toml:7:8: `soft` takes a share of the usable window from 0.01 to 1.0, or tokens as a whole number from 2, not 1.5
    epitome.toml:8:8: `hard` takes a share of the usable window from 0.01 to 1.0, or tokens as a whole number from 2, not 0
    epitome.toml:9:18: `reserve_output` takes a whole number, not -1
    epitome.toml:10:1: `last_rounds` is no key of [budget]; it belongs below [pins]
    epitome.toml:12:8: `name` takes one of "o200k_base", "cl100k_base", "weighted", "two-ratio", "halves", "quarters", not "gpt-5"
    epitome.toml:13:13: `calibrate` takes true or false, not "yes"
    epitome.toml:15:19: `protected_tools` takes a list of strings, not ["Skill",3]
    epitome.toml:17:8: `mode` takes one of "fixed", "adaptive", "tournament", not "best"
    epitome.toml:19:25: there is no strategy `sliding-windw`; did you mean `sliding-window`?
    epitome.toml:20:1: the chain `empty` is empty; a chain takes at least one strategy
    epitome.toml:21:26: `tool-results` is in the chain `twice` twice; the engine asks a strategy again by itself while that helps
    epitome.toml:22:1: a chain cannot be called `tool-results`; that is a strategy
    epitome.toml:24:1: `windw` is no setting of `sliding-window`; did you mean `window`?
    epitome.toml:25:1: `window` takes a value from 1 to 1000, not 0
    epitome.toml:26:13: there is no strategy `slding-window`; did you mean `sliding-window`?
    epitome.toml:28:14: `summarizer` takes no date
    "#);
}

#[test]
fn programs_of_the_user_are_strategies() {
    let registry = epitome_builtin::registry();
    let config = parse(
        "[strategies.my-outline]\n\
         command = [\"python3\", \"outline.py\"]\n\
         timeout_ms = 500\n\
         [chains]\n\
         mine = [\"my-outline\", \"sliding-window\"]\n",
    );
    insta::assert_snapshot!(differences(&config), @r#"
    chains.mine = ["my-outline","sliding-window"]  (epitome.toml:5:1)
    strategies.my-outline.command = ["python3","outline.py"]  (epitome.toml:2:1)
    strategies.my-outline.summary = ""  (default)
    strategies.my-outline.timeout_ms = 500  (epitome.toml:3:1)
    strategies.my-outline.max_output_bytes = 8388608  (default)
    "#);
    let runtime = config.build(&registry).unwrap();
    let all = config.registry(&registry);
    let chain = |name: &str| runtime.chain(&[name.to_owned()], &all).map(|chain| chain.ids().join(" "));
    assert_eq!(chain("mine").unwrap(), "my-outline sliding-window");
    assert_eq!(chain("my-outline").unwrap(), "my-outline");
    assert_eq!(all.get("my-outline").unwrap().meta.summary, "External: python3 outline.py");
    assert!(chain("my-outlin").unwrap_err().contains("did you mean `my-outline`?"));
    insta::assert_snapshot!(refused("[strategies.sliding-window]\ncommand = [\"x\"]"), @"epitome.toml:2:1: `sliding-window` ships with epitome and takes no `command`; a program of yours takes an id of its own");
    insta::assert_snapshot!(refused("[strategies.my_outline]\ncommand = [\"x\"]\n[strategies.floor]\ncommand = [\"x\"]"), @r#"
    epitome.toml:1:13: `my_outline` is no id of a strategy; an id is lower-case words with hyphens, such as `my-outline`
    epitome.toml:3:13: a strategy cannot be called `floor`; reports call a step of the engine so
    "#);
    insta::assert_snapshot!(refused("[strategies.mine]\ncommand = []\n[strategies.yours]\ncommand = \"a b\"\ntimeout_ms = 0\ntimeout = 1"), @r#"
    epitome.toml:2:1: `command` takes the program and its arguments, such as ["python3", "strategy.py"]
    epitome.toml:4:1: `command` takes a list of strings, not "a b"
    epitome.toml:5:1: `timeout_ms` takes a value from 1 to 600000, not 0
    epitome.toml:6:1: `timeout` is no setting of `yours`; did you mean `timeout_ms`?
    "#);
    assert!(refused("[strategies.mine]\ntimeout_ms = 5").ends_with("; a program of yours takes a `command`"));
}

#[test]
fn what_only_shows_in_combination() {
    let check = |text: &str| refused(text);
    insta::assert_snapshot!(check("[budget]\ntarget = 0.9"), @"epitome.toml:2:1: `target` (0.9 of 184000, 165600 tokens) is not below `soft` (0.8 of 184000, 147200 tokens); target < soft <= hard");
    insta::assert_snapshot!(check("[budget]\nwindow = 10_000\nreserve_output = 10_000"), @"epitome.toml:3:1: the reserve of 10000 takes the whole window of 10000; lower `reserve_output` or raise `window`");
    insta::assert_snapshot!(check("preset = \"production\"\n[budget]\nwindow = 20_000"), @"epitome.toml:3:1: `hard` (20000 tokens) is above the 16000 tokens of the window that are usable; lower it, lower `reserve_output` or raise `window`");
    insta::assert_snapshot!(check("preset = \"production\"\n[budget]\ntarget = 0.5"), @"epitome.toml:3:1: `target` (0.5 of 196000, 98000 tokens) is not below `soft` (15000 tokens); target < soft <= hard");
    insta::assert_snapshot!(check("[budget]\nsoft = 0.7\nsoft_threshold_tokens = 9000"), @"epitome.toml:3:1: `soft_threshold_tokens` is a second name of `budget.soft`, which is set too; keep one of them");
    insta::assert_snapshot!(check("[budget]\nkeep_recent_messages = 4\n[pins]\nkeep_recent = 5"), @"epitome.toml:2:1: `keep_recent_messages` is a second name of `pins.keep_recent`, which is set too; keep one of them");
    insta::assert_snapshot!(check("[budget]\nsoft_threshold_tokens = 0.7"), @"epitome.toml:2:25: `soft_threshold_tokens` takes whole tokens or messages, not float");
    insta::assert_snapshot!(check("[select]\nchain = \"code\""), @r#"epitome.toml:2:1: `chain` is read with `mode = "fixed"` only; set the mode, or leave the key out"#);
    insta::assert_snapshot!(check("[select]\nmode = \"fixed\""), @r#"epitome.toml:2:1: `mode = "fixed"` needs `chain`, the name of a chain; there are analysis, code, conversation, mixed, unknown"#);
    insta::assert_snapshot!(check("[select]\nmode = \"fixed\"\nchain = \"none\""), @"epitome.toml:3:1: there is no chain `none`; [chains] has analysis, code, conversation, mixed, unknown");
    insta::assert_snapshot!(check("budget = 3"), @"epitome.toml:1:1: `budget` is a section, not integer; write [budget] and its keys below it");
    insta::assert_snapshot!(check("[strategies]\ntool-results = 3"), @"epitome.toml:2:1: `strategies.tool-results` takes a table of settings, not integer; write [strategies.tool-results] and settings below it");
}

#[test]
fn what_is_no_toml_is_told_with_the_rest() {
    insta::assert_snapshot!(refused("[budget\nwindow = 3\n[pins]\nlast_rounds = \"x\"\nmarkers = [\n"), @r#"
    epitome.toml:1:8: not valid TOML: unclosed table, expected `]`
    epitome.toml:4:15: `last_rounds` takes a whole number, not "x"
    epitome.toml:5:12: not valid TOML: unclosed array, expected `]`
    "#);
}

/// The template with every key uncommented, but for the preset, whose default is none.
fn uncommented(template: &str) -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(key) if !key.starts_with(' ') && !key.starts_with("preset") => format!("{key}\n"),
        Some(_) | None => format!("{line}\n"),
    };
    template.lines().map(line).collect()
}

#[test]
fn the_template_gives_the_defaults() {
    let registry = epitome_builtin::registry();
    let template = template(&registry);
    assert_eq!(differences(&parse(&template)), "");
    // Without `chain`, whose default is none and which is refused in this mode.
    let all = uncommented(&template);
    let config = parse(&all.replace("\nchain = \"\"\n", "\n"));
    assert_eq!(differences(&config), "");
    let set_by_file = |entry: &epitome_config::EffectiveValue| {
        matches!(config.source(&entry.key), Source::File(_)) || entry.key == "select.chain"
    };
    let missing: Vec<String> =
        config.effective(&registry).into_iter().filter(|entry| !set_by_file(entry)).map(|entry| entry.key).collect();
    assert_eq!(missing, Vec::<String>::new(), "every key stands in the template");
    let explanations = template.lines().filter(|line| line.starts_with("# "));
    assert_eq!(explanations.filter(|line| line.chars().count() > 100).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn summaries_have_one_default_length() {
    for registration in epitome_builtin::registry().iter() {
        for field in registration.fields.iter().filter(|field| field.name == "max_summary_tokens") {
            let id = registration.meta.id;
            // The lines of a transcript are bounded by what the target leaves.
            let expect = if id == "transcript" { 0 } else { 4_000 };
            assert_eq!((field.default)(), expect, "{id}: [summary] max_tokens says what the default is");
        }
    }
}

/// `[summary] max_tokens` bounds every summary: whoever makes one has a setting that takes it.
#[test]
fn a_bound_of_summaries_reaches_every_strategy_that_makes_them() {
    let registry = epitome_builtin::registry();
    let config = parse("[summary]\nmax_tokens = 321\n");
    for registration in registry.iter() {
        let key = format!("strategies.{}.max_summary_tokens", registration.meta.id);
        let has_it = registration.fields.iter().any(|field| field.name == "max_summary_tokens");
        let value = config.effective(&registry).into_iter().find(|it| it.key == key).map(|it| it.value);
        assert_eq!(value, has_it.then(|| 321.into()), "{key}");
    }
    let own = parse("[summary]\nmax_tokens = 321\n[strategies.transcript]\nmax_summary_tokens = 500\n");
    let of = |id: &str| {
        own.effective(&registry).into_iter().find(|it| it.key == format!("strategies.{id}.max_summary_tokens"))
    };
    assert_eq!(of("transcript").unwrap().value, 500, "a strategy's own stands over it");
    assert_eq!(of("summary").unwrap().value, 321);
}

/// The tables of the reference are generated: `UPDATE_DOCS=1 cargo test -p epitome-config` writes them.
#[test]
fn the_reference_is_up_to_date() {
    const BEGIN: &str = "<!-- keys: generated -->\n";
    const END: &str = "<!-- keys: end -->";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let current = format!("{head}{BEGIN}\n{}\n{END}{tail}", key_table(&epitome_builtin::registry()));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &current).unwrap();
    }
    let page = fs::read_to_string(&path).unwrap();
    assert!(page == current, "docs/configuration.md is out of date: run UPDATE_DOCS=1 cargo test -p epitome-config");
}

#[test]
fn later_chains_are_for_later_compactions() {
    let runtime =
        parse("[select]\nlater_from = 2\nagreeing_verdicts = 1\n[chains]\ncode-later = [\"sliding-window\"]\n")
            .build(&epitome_builtin::registry())
            .unwrap();
    assert_eq!((runtime.select.later_from, runtime.select.agreeing_verdicts), (2, 1));
    let chains = runtime.chains();
    assert_eq!(chains.later.keys().collect::<Vec<_>>(), [&TaskKind::Code]);
    assert_eq!(chains.later[&TaskKind::Code].ids(), ["sliding-window"]);
    let defaults = parse("").build(&epitome_builtin::registry()).unwrap();
    assert_eq!(defaults.select, epitome_engine::SelectSettings::default(), "the defaults are the engine's");
    insta::assert_snapshot!(refused("[chains]\ncode-later = [\"sliding-windo\"]"), @r#"
    epitome.toml:2:15: there is no strategy `sliding-windo`; did you mean `sliding-window`?
    "#);
}

#[test]
fn cue_words_that_cannot_be_searched_for_are_told_with_their_places() {
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
    epitome.toml:9:1: `mistake` is no key of [lexicon]; there are important, remember, instruction, preference, decision, task_start, completion, error, fix, question, topic_shift, code, analysis, conversation
    "#);
}

#[test]
fn embedders_that_cannot_be_made_are_told_with_their_places() {
    insta::assert_snapshot!(refused("[embeddings]\nembedder = \"bert\"\nbatch_size = 0\ntimeout = 3"), @r#"
    epitome.toml:2:12: `embedder` takes one of "off", "static", "fastembed", "openai", not "bert"
    epitome.toml:3:14: `batch_size` takes a value from 1 to 10000, not 0
    epitome.toml:4:1: `timeout` is no key of [embeddings]; there are embedder, model, directory, models, runtime_library, pooling, base_url, key_variable, timeout_seconds, batch_size, dimensions, cache, cache_vectors
    "#);
    // What another embedder reads does nothing here.
    insta::assert_snapshot!(refused("[embeddings]\ndirectory = \"models\""), @r#"epitome.toml:2:1: `directory` is read with `embedder = "fastembed"` only; here it is `embedder = "static"`"#);
    insta::assert_snapshot!(refused("[embeddings]\nembedder = \"openai\"\npooling = \"first\""), @r#"epitome.toml:3:1: `pooling` is read with `embedder = "fastembed"` only; here it is `embedder = "openai"`"#);
    insta::assert_snapshot!(refused("[embeddings]\nembedder = \"off\"\nmodel = \"m\""), @r#"epitome.toml:3:1: `model` is read with `embedder = "fastembed"` and `embedder = "openai"` only; here it is `embedder = "off"`"#);
    let build = |text: &str| {
        let built = parse(text).build(&epitome_builtin::registry());
        built.map(|runtime| runtime.embedder.is_some()).map_err(|errors| errors.to_string())
    };
    let unset = "embedder = \"openai\"\nkey_variable = \"EPITOME_NO_SUCH_KEY\"";
    insta::assert_snapshot!(build(&format!("[embeddings]\n{unset}")).unwrap_err(), @r#"epitome.toml:3:1: `embedder = "openai"`: no key: set the environment variable `EPITOME_NO_SUCH_KEY`; a service that wants no key takes `key_variable = ""`"#);
    let address = "embedder = \"openai\"\nkey_variable = \"\"\nbase_url = \"localhost\"";
    insta::assert_snapshot!(build(&format!("[embeddings]\n{address}")).unwrap_err(), @r#"epitome.toml:4:1: `embedder = "openai"`: `localhost` is no address of a service: relative URL without a base; an address is such as "http://localhost:11434/v1""#);
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

/// A detector that says which cues it was shown.
#[derive(Debug)]
struct Cues;

impl TaskDetector for Cues {
    fn detect(&self, view: &View<'_>) -> Verdict {
        let mut all = CueCounts::default();
        (0..view.len()).for_each(|message| all.add(&view.facts().cues(message)));
        let met = Cue::ALL.iter().filter(|(cue, _)| all.has(*cue)).map(|(_, name)| (*name).to_owned()).collect();
        Verdict { kind: TaskKind::Unknown, confidence: 0.0, evidence: met }
    }
}

#[test]
fn a_cue_word_of_the_file_is_one_for_detectors_and_strategies() {
    let seen = |text: &str, said: &str| {
        let runtime = parse(text).build(&epitome_builtin::registry()).unwrap();
        let engine = Engine { detector: Arc::new(Cues), ..runtime.engine(Arc::clone(&runtime.counter), None) };
        let mut session = Session::new();
        session.push(Message::text("1", Role::User, Origin::Typed, said));
        let ledger = engine.ledger(&session);
        engine.detect(&session, &ledger).evidence.join(" ")
    };
    let said = "The Oompa-Loompas: sing, PX-77.";
    assert_eq!(seen("", said), "");
    assert_eq!(seen("[lexicon]\ntask_start = [\"oompa-loompas\"]\n", said), "task-start");
    assert_eq!(seen("[lexicon]\nerror = [\"/PX-[0-9]+/\"]\nfix = [\"oompa\"]\n", said), "error fix");
    assert_eq!(seen("[lexicon]\nerror = [\"oom\"]\n", said), "", "a word is a whole one");
}

#[test]
fn the_quality_guard_is_configured() {
    use epitome_engine::{MinQuality, OnLoss};

    let of = |text: &str| parse(text).build(&epitome_builtin::registry()).unwrap().quality;
    assert_eq!(of(""), MinQuality::default(), "the defaults are the engine's: nothing is asked for");
    let text = "[quality]\nmin_typed = 0.9\nmin_instructions = 1.0\nmin_conclusions = 0.75\nmin_summaries = 0.625\n\
                min_strings = 0.5\nmin_files = 0.25\non_loss = \"roll-back\"\n";
    let expect = MinQuality {
        typed: 0.9,
        instructions: 1.0,
        conclusions: 0.75,
        summaries: 0.625,
        strings: 0.5,
        files: 0.25,
        on_loss: OnLoss::RollBack,
    };
    assert_eq!(of(text), expect);
    assert_eq!(of("[quality]\non_loss = \"report\"\n").on_loss, OnLoss::Report);
    assert!(refused("[quality]\nmin_files = 1.5\n").contains("min_files"));
    let refusal = refused("[quality]\non_loss = \"forget\"\n");
    assert!(refusal.contains("takes one of \"retry\", \"roll-back\", \"report\""), "{refusal}");
}
