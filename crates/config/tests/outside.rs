//! The names of other designs, defaults that follow settings, settings of one call, and settings of the environment.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use epitome_config::{Config, Source, SummarizerChoice};
use epitome_engine::Threshold;
use serde_json::{Value, json};

fn parse(text: &str) -> Config {
    Config::parse(text, "e.toml", &epitome_builtin::registry()).unwrap_or_else(|errors| panic!("{text}\n{errors}"))
}

/// The eight names in the block in which the source has them, with the figures of `production`.
const BLOCK: &str = "\
soft_threshold_tokens = 15_000
hard_threshold_tokens = 20_000
reserve_tokens = 4_000
memory_flush_enabled = true
keep_recent_messages = 6
summary_max_tokens = 800
use_llm = false
llm_fallback_to_rules = true
";

#[test]
fn the_names_of_the_source_work_as_one_block() {
    let preset = parse("preset = \"production\"").build(&epitome_builtin::registry()).unwrap();
    for head in ["", "[compaction]\n", "[budget]\n", "[compaction]\nenabled = true\n", "[budget]\nenabled = true\n"] {
        let block = parse(&format!("{head}{BLOCK}")).build(&epitome_builtin::registry()).unwrap();
        let figures = |runtime: &epitome_config::Runtime| {
            let budget = &runtime.budget;
            (
                budget.soft,
                budget.hard,
                budget.reserve_output,
                runtime.base_engine.pins.keep_recent,
                runtime.base_engine.max_summary_tokens,
            )
        };
        assert_eq!(figures(&block), figures(&preset), "{head}");
        assert!(block.live.memory_flush && block.summarizer == SummarizerChoice::Rules, "{head}");
        assert_eq!(block.budget.target, Threshold::Tokens(5_400), "the target follows: {head}");
    }
    // Rules step in for a model where the block says so and there is none.
    let llm = BLOCK.replace("use_llm = false", "use_llm = true");
    let config = parse(&llm);
    assert_eq!(
        (config.summarizer(), config.source("summary.summarizer")),
        (SummarizerChoice::Rules, Source::NoChannel)
    );
    let rounds = parse("[compaction]\nkeep_recent_rounds = 3\nsummary_max_length = 500\n");
    let rounds = rounds.build(&epitome_builtin::registry()).unwrap();
    assert_eq!((rounds.base_engine.pins.last_rounds, rounds.base_engine.max_summary_tokens), (3, Some(500)));
    assert_eq!(parse("enabled = false").budget().soft, Threshold::NEVER);
    assert_ne!(parse("enabled = true").budget().soft, Threshold::NEVER);
    let refused = |text: &str| Config::parse(text, "e.toml", &epitome_builtin::registry()).unwrap_err().to_string();
    let twice = refused("[compaction]\nsummary_max_length = 500\nsummary_max_tokens = 600\n");
    assert!(twice.contains("is a second name of `summary.max_tokens`, which is set too"), "{twice}");
    assert!(refused("[compaction]\nsoft_treshold_tokens = 1").contains("did you mean `soft_threshold_tokens`?"));
}

#[test]
fn defaults_follow_settings() {
    let check = |budget: &str, expect: (u32, u32, u32, u32)| {
        let budget_of = parse(&format!("[budget]\n{budget}")).budget();
        let usable = budget_of.usable();
        let tokens = |threshold: Threshold| threshold.tokens(usable);
        let told = (budget_of.window, tokens(budget_of.target), tokens(budget_of.soft), tokens(budget_of.hard));
        assert_eq!(told, expect, "{budget}");
        assert!(told.1 < told.2 && told.2 <= told.3 && told.3 <= usable, "{budget}");
    };
    check("", (200_000, 33_120, 92_000, 174_800));
    check("soft = 60_000", (200_000, 33_120, 60_000, 174_800));
    check("soft = 0.97", (200_000, 33_120, 178_480, 178_480));
    check("hard = 50_000", (200_000, 9_473, 26_315, 50_000));
    check("target = 0.5", (200_000, 92_000, 147_200, 174_800));
    check("target = 0.9", (200_000, 165_600, 174_800, 174_800));
    check("target = 0.97", (200_000, 178_480, 184_000, 184_000));
    check("hard = 300_000", (316_000, 54_000, 150_000, 300_000));
    check("reserve_output = 250_000", (500_000, 45_000, 125_000, 237_500));
    check("window = 40_000\nsoft = 10_000", (40_000, 5_400, 10_000, 28_500));
    // A preset follows the file.
    let preset = parse("preset = \"production\"\n[budget]\nsoft = 30_000\n").budget();
    assert_eq!((preset.soft, preset.hard), (Threshold::Tokens(30_000), Threshold::Tokens(30_000)));
}

#[test]
fn settings_of_one_call() {
    let registry = epitome_builtin::registry();
    let file = parse("[pins]\nkeep_recent = 3\n[budget]\nwindow = 50_000\n[strategies.mine]\ncommand = [\"true\"]\n");
    let call = |settings: Value| file.for_call(settings.as_object().unwrap(), &registry);
    let changed = call(json!({
        "keep_recent_messages": 10,
        "budget": {"target": 0.3},
        "strategies.sliding-window.window": 5,
        "chains.code": ["sliding-window"],
    }));
    let runtime = changed.unwrap().build(&registry).unwrap();
    assert_eq!((runtime.base_engine.pins.keep_recent, runtime.budget.target), (10, Threshold::Share(0.3)));
    assert_eq!(runtime.chains().code.ids(), ["sliding-window"]);
    assert_eq!(file.build(&registry).unwrap().base_engine.pins.keep_recent, 3, "the configuration stays");
    let refused = |settings: Value| call(settings).unwrap_err().to_string();
    insta::assert_snapshot!(refused(json!({"keep_recent_message": 1})), @"`keep_recent_message` is not a setting of one call; did you mean `keep_recent_messages`?");
    insta::assert_snapshot!(refused(json!({"budget.soft": 2.0})), @"`budget.soft` takes a share of the usable window from 0.01 to 1.0, or tokens as a whole number from 2, not 2.0");
    insta::assert_snapshot!(refused(json!({"budget.soft": 0.5, "budget.hard": 0.4})), @"`soft` (0.5 of 37500, 18750 tokens) is not below `hard` (0.4 of 37500, 15000 tokens); target < soft <= hard");
    // What names files, programs, services and keys is not a call's to say.
    for outside in
        ["summary.prompts", "summary.cache", "live.memory_file", "embeddings.base_url", "channels.a.key_file"]
    {
        let said = refused(json!({outside: "/etc/passwd"}));
        assert!(said.contains("is not a setting of one call"), "{said}");
    }
    for program in ["strategies.mine.command", "strategies.other.command", "strategies.sliding-window.command"] {
        refused(json!({program: ["touch", "x"]}));
    }
}

#[test]
fn settings_of_the_environment() {
    let registry = epitome_builtin::registry();
    let file =
        "preset = \"production\"\n[budget]\nsoft = 9_000\n[channels.my-own]\nbase_url = \"http://127.0.0.1:1/v1\"\n";
    let with = |variables: &[(&str, &str)]| {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        parse(file).with_environment(variables, &registry)
    };
    let config = with(&[
        ("EPITOME_BUDGET_WINDOW", "64_000"),
        ("EPITOME_COMPACTION_KEEP_RECENT_MESSAGES", "12"),
        ("EPITOME_STRATEGIES_SLIDING_WINDOW_WINDOW", "5"),
        ("EPITOME_PINS_PROTECTED_TOOLS", "Skill, Deploy"),
        ("EPITOME_PINS_ORIGINAL_TASK", "false"),
        ("EPITOME_CHAINS_CODE", "[\"sliding-window\"]"),
        ("EPITOME_CHANNELS_MY_OWN_MODELS", "m"),
        ("EPITOME_AGENTS_CODER_KEEP_RECENT", "4"),
        ("EPITOME_PRESET", "development"),
        // The product's own, and somebody's.
        ("EPITOME_TOKEN", "secret"),
        ("EPITOME_SESSIONS", "/data"),
        ("EPITOME_BIN", "x"),
        ("EPITOME_KEY_ALICE_HOME", "x"),
        ("PATH", "/bin"),
    ]);
    let config = config.unwrap();
    let runtime = config.build(&registry).unwrap();
    assert_eq!((runtime.budget.window, runtime.base_engine.pins.keep_recent), (64_000, 12));
    assert_eq!(runtime.base_engine.pins.protected_tools, ["Skill", "Deploy"]);
    assert!(!runtime.base_engine.pins.original_task);
    assert_eq!(runtime.chains().code.ids(), ["sliding-window"]);
    assert_eq!(config.channel("my-own").unwrap().models, ["m"]);
    assert_eq!(config.agents().collect::<Vec<_>>(), ["coder"]);
    assert_eq!(config.source("budget.window").to_string(), "EPITOME_BUDGET_WINDOW");
    assert_eq!(runtime.budget.hard, Threshold::Tokens(9_000), "development's 8,000 follow the file's soft threshold");
    let mut over = config;
    over.set("budget.window", &32_000.into()).unwrap();
    assert_eq!(over.budget().window, 32_000, "an option of the command stands over the environment");
    let refused = |name: &str, value: &str| with(&[(name, value)]).unwrap_err().to_string();
    insta::assert_snapshot!(refused("EPITOME_BUDGET_WINDWO", "1"), @"EPITOME_BUDGET_WINDWO: no setting has this name; did you mean EPITOME_BUDGET_WINDOW?");
    insta::assert_snapshot!(refused("EPITOME_SUMMARY_LENGTH_OF_ALL", "1"), @"EPITOME_SUMMARY_LENGTH_OF_ALL: no setting has this name; the variable of `window` in [budget], for one, is EPITOME_BUDGET_WINDOW");
    insta::assert_snapshot!(refused("EPITOME_BUDGET_WINDOW", "large"), @r#"EPITOME_BUDGET_WINDOW: `budget.window` cannot be "large""#);
    insta::assert_snapshot!(refused("EPITOME_PINS_LAST_ROUNDS", "true"), @"EPITOME_PINS_LAST_ROUNDS: `pins.last_rounds` takes a whole number, not true");
    insta::assert_snapshot!(refused("EPITOME_PRESET", "productio"), @"EPITOME_PRESET: `productio` is not one of development, production, large-context, classic, basic, advanced, smart, aggressive, balanced, conservative; did you mean `production`?");
}
