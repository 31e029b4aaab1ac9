//! The configuration as a user meets it: what a file gives, and what is said of a wrong one.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use epitome_config::{Config, Preset, Source, template};
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
        .map(|entry| format!("{} = {}  ({})\n", entry.key, entry.value, entry.source))
        .collect()
}

#[test]
fn an_empty_file_gives_the_defaults() {
    assert_eq!(differences(&parse("")), "");
    let runtime = parse("").build(&epitome_builtin::registry()).unwrap();
    assert_eq!(runtime.budget, epitome_engine::Budget::default(), "the defaults are the engine's");
    assert_eq!(runtime.base_engine.pins, epitome_engine::Pins::default());
    assert_eq!(runtime.counter.name(), "o200k_base");
    let ids = |kind| runtime.chains().chain(kind).ids().join(" ");
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
    "#);
    assert_eq!(config.presets(), [Preset::Production]);
}

#[test]
fn every_preset_is_what_its_name_in_a_file_gives() {
    for preset in Preset::ALL {
        let name = preset.as_str();
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
    ");
}

/// The chains by kind of task, one a line, and the budget's target.
fn chains_of(config: &Config) -> String {
    let runtime = config.build(&epitome_builtin::registry()).unwrap();
    let chain = |kind: TaskKind| format!("{kind}: {}\n", runtime.chains().chain(kind).ids().join(" → "));
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
    target 18 %
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
    assert_eq!(target("\"aggressive\""), Threshold::Share(0.1));
    assert_eq!(target("[\"production\", \"aggressive\"]"), Threshold::Tokens(3_000), "as deep below its threshold");
    assert_eq!(target("[\"aggressive\", \"production\"]"), Threshold::Tokens(7_500));
    for when in &Preset::ALL[..3] {
        for how in &Preset::ALL[3..] {
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
    epitome.toml:1:25: `preset`: `advance` is not one of development, production, large-context, classic, basic, advanced, smart, aggressive, balanced, conservative; did you mean `advanced`?
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
    // A share and tokens are spelt as on a command line too.
    let spelt =
        parse("[budget]\nwindow = 20_000\nreserve_output = 0\nsoft = \"50%\"\nhard = \"15k\"\ntarget = \"0.25\"");
    assert_eq!(spelt.budget(), budget);
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
fn a_bound_of_summaries_reaches_the_engine() {
    let bound = |text: &str| parse(text).build(&epitome_builtin::registry()).unwrap().base_engine.max_summary_tokens;
    assert_eq!(bound("[summary]\nmax_tokens = 321\n"), Some(321));
    assert_eq!(bound(""), None, "the strategies say it");
}

/// Every setting of the template is one that somebody reads: there are no more than these.
#[test]
fn there_are_few_settings() {
    let template = template(&epitome_builtin::registry());
    let is_setting = |line: &&str| {
        line.trim_start_matches('#')
            .split_once(" = ")
            .is_some_and(|(key, _)| key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
    };
    let count = template.lines().filter(is_setting).count();
    assert!(count <= 130, "{count}");
}

#[test]
fn later_chains_are_for_later_compactions() {
    let runtime =
        parse("[select]\nlater_from = 2\nagreeing_verdicts = 1\n[chains]\ncode-later = [\"sliding-window\"]\n")
            .build(&epitome_builtin::registry())
            .unwrap();
    assert_eq!((runtime.base_engine.select.later_from, runtime.base_engine.select.agreeing_verdicts), (2, 1));
    let chains = runtime.chains();
    assert_eq!(chains.later.keys().collect::<Vec<_>>(), [&TaskKind::Code]);
    assert_eq!(chains.later[&TaskKind::Code].ids(), ["sliding-window"]);
    let defaults = parse("").build(&epitome_builtin::registry()).unwrap();
    assert_eq!(defaults.base_engine.select, epitome_engine::SelectSettings::default(), "the defaults are the engine's");
    insta::assert_snapshot!(refused("[chains]\ncode-later = [\"sliding-windo\"]"), @r#"
    epitome.toml:2:15: there is no strategy `sliding-windo`; did you mean `sliding-window`?
    "#);
}

/// A detector that says which cues it was shown.
#[derive(Debug)]
struct Cues;

impl TaskDetector for Cues {
    fn detect(&self, view: &View<'_>) -> Verdict {
        let mut all = CueCounts::default();
        (0..view.len()).for_each(|message| all.add(&view.facts().cues(message)));
        let met = Cue::ALL.iter().filter(|cue| all.has(**cue)).map(ToString::to_string).collect();
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

    let of = |text: &str| parse(text).build(&epitome_builtin::registry()).unwrap().base_engine.quality;
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
    epitome.toml:1:13: `my_outline` is not an id of a strategy; an id is lower-case words with hyphens, such as `my-outline`
    epitome.toml:3:13: a strategy cannot be called `floor`; this name is reserved for a step of the engine
    "#);
    insta::assert_snapshot!(refused("[strategies.mine]\ncommand = []\n[strategies.yours]\ncommand = \"a b\"\ntimeout_ms = 0\ntimeout = 1"), @r#"
    epitome.toml:2:1: `command` takes the program and its arguments, such as ["python3", "strategy.py"]
    epitome.toml:4:1: `command` takes a list of strings, not "a b"
    epitome.toml:5:1: `timeout_ms` takes a value from 1 to 600000, not 0
    epitome.toml:6:1: `timeout` is not a setting of `yours`; did you mean `timeout_ms`?
    "#);
    assert!(refused("[strategies.mine]\ntimeout_ms = 5").ends_with("; a program of yours takes a `command`"));
}
