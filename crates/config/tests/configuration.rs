//! The configuration as a user meets it: what a file gives, and what is said of a wrong one.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

use epitome_config::{Config, Preset, Source, key_table, template};
use epitome_engine::{Mode, Threshold};
use epitome_strategy::TaskKind;

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
    insta::assert_snapshot!(ids(TaskKind::Code), @"superseded-reads diff-truncation tool-results message-truncation sliding-window");
    insta::assert_snapshot!(ids(TaskKind::Conversation), @"sliding-window tool-results message-truncation");
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
    pins.last_rounds = 2  (epitome.toml:6:1)
    summary.max_tokens = 800  (preset production)
    chains.mine = ["tool-results"]  (epitome.toml:10:1)
    strategies.sliding-window.window = 6  (preset production)
    strategies.sliding-window.run_above = 3.0  (epitome.toml:8:1)
    strategies.sliding-window.max_summary_tokens = 800  (default)
    "#);
    assert_eq!(config.presets(), [Preset::Production]);
}

#[test]
fn every_preset_builds() {
    for (preset, name, _) in Preset::ALL {
        let config = Config::with_preset(preset);
        let runtime = config.build(&epitome_builtin::registry()).unwrap();
        assert!(matches!(runtime.budget.soft, Threshold::Tokens(_)), "{name}");
        assert_eq!(config.source("budget.soft"), Source::Preset(preset));
        assert_eq!(differences(&parse(&format!("preset = \"{name}\""))), differences(&config), "{name}");
        // Every figure of a preset arrives: six of them, and the strategy's setting that one stands for.
        assert_eq!(differences(&config).lines().count(), 7, "{name}: {}", differences(&config));
    }
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
    insta::assert_snapshot!(chain(&["conversation"]), @"sliding-window tool-results message-truncation");
    insta::assert_snapshot!(chain(&["tool-results", "tool-results"]), @"`tool-results` is in the chain twice");
    insta::assert_snapshot!(chain(&["tool-results", "slidingwindow"]), @"there is no strategy `slidingwindow`; did you mean `sliding-window`?");
    insta::assert_snapshot!(chain(&["none"]), @"there is no strategy `none`; there are superseded-reads, tool-results, diff-truncation, message-truncation, sliding-window; chains: analysis, code, conversation, mine, mixed, unknown");
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
    epitome.toml:2:1: `windwo` is no section and no key; there are preset, budget, counter, pins, select, summary, chains, strategies
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
    epitome.toml:24:1: `windw` is not a setting; known: window, run_above, fill_target, summary_share, min_summary_tokens, max_summary_tokens; did you mean `window`?
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
    epitome.toml:6:1: `timeout` is not a setting; known: command, summary, timeout_ms, max_output_bytes; did you mean `timeout_ms`?
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
    insta::assert_snapshot!(check("[budget]\nkeep_recent_messages = 4\n[strategies.sliding-window]\nwindow = 5"), @"epitome.toml:2:1: `keep_recent_messages` is a second name of `strategies.sliding-window.window`, which is set too; keep one of them");
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
    let set_by_file = |entry: &epitome_config::Effective| {
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
            assert_eq!((field.default)(), 4_000, "{id}: [summary] max_tokens says what the default is");
        }
    }
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
    assert_eq!(defaults.select, epitome_engine::Select::default(), "the defaults are the engine's");
    insta::assert_snapshot!(refused("[chains]\ncode-later = [\"sliding-windo\"]"), @r#"
    the configuration has 1 problem:
    epitome.toml:2:15: there is no strategy `sliding-windo`; did you mean `sliding-window`?
    "#);
}
