//! Models, channels and agents as a user meets them in the file.

#![allow(clippy::unwrap_used, reason = "tests")]

use epitome_config::{
    Config, LiveSettings, OnRefusal, OptionalThreshold, Preset, Runtime, Source, SummarizerChoice, template,
};
use epitome_engine::{Threshold, Triggers, WithoutSummary};

fn parse(text: &str) -> Config {
    Config::parse(text, "e.toml", &epitome_builtin::registry()).unwrap()
}

fn build(config: &Config) -> Runtime {
    config.build(&epitome_builtin::registry()).unwrap()
}

/// What is said of a wrong file.
fn refused(text: &str) -> String {
    Config::parse(text, "e.toml", &epitome_builtin::registry()).unwrap_err().to_string()
}

/// What is said of a file that is right and cannot be built here.
fn not_built(text: &str) -> String {
    parse(text).build(&epitome_builtin::registry()).unwrap_err().to_string()
}

/// A channel that wants no key.
const LOCAL: &str = "[channels.local]\nbase_url = \"http://127.0.0.1:1/v1\"\nmodels = [\"small\", \"large\"]\n";

#[test]
fn triggers_and_live_settings() {
    let runtime = build(&parse(""));
    assert_eq!(runtime.triggers, Triggers::default(), "the defaults are the engine's");
    assert_eq!(runtime.live, LiveSettings::default());
    assert_eq!(runtime.live.arrival_tokens.0, Some(Threshold::Share(0.1)));
    let runtime = build(&parse(
        "[triggers]\nremaining_share = 0.25\ntokens = 60_000\nrounds = 30\nmarker = \"\"\n\
         [live]\nrequire_confirmation = true\non_refusal = \"new-session\"\narrival_tokens = 0\nclear_tokens = 0.05\n\
         memory_flush = true\n\
         memory_file = \"memories.jsonl\"\nrecent_memories = 3\nasked_share = 0.5\nasked_calls = 7\n",
    ));
    let triggers =
        Triggers { remaining_share: 0.25, tokens: 60_000, rounds: 30, marker: String::new(), ..Triggers::default() };
    assert_eq!(runtime.triggers, triggers);
    let live = LiveSettings {
        require_confirmation: true,
        on_refusal: OnRefusal::NewSession,
        arrival_tokens: OptionalThreshold(None),
        clear_tokens: OptionalThreshold(Some(Threshold::Share(0.05))),
        memory_flush: true,
        memory_file: "memories.jsonl".into(),
        recent_memories: 3,
        asked_share: 0.5,
        asked_calls: 7,
    };
    assert_eq!(runtime.live, live);
    assert_eq!(runtime.clearing.map(|strategy| strategy.meta().id), Some("tool-results"));
    assert!(build(&parse("")).clearing.is_none(), "each time costs the prompt cache: nobody gets it unasked");
    insta::assert_snapshot!(refused("[triggers]\nremaining_share = 2.0\nround = 1\n[live]\narrival_tokens = 1.5\non_refusal = \"drop\""), @r#"
    e.toml:2:19: `remaining_share` takes a value from 0 to 1, not 2
    e.toml:3:1: `round` is not a key of [triggers]; did you mean `rounds`?
    e.toml:5:18: `arrival_tokens` takes a share of the usable window from 0.01 to 1.0, or tokens as a whole number from 2, not 1.5; 0 for never
    e.toml:6:14: `on_refusal` takes one of "error", "drop-oldest", "new-session", not "drop"
    "#);
}

#[test]
fn names_that_others_use() {
    let config = parse(&format!(
        "[budget]\nmemory_flush_enabled = true\nuse_llm = true\nllm_fallback_to_rules = false\n{LOCAL}"
    ));
    assert!(build(&config).live.memory_flush);
    assert_eq!(config.summarizer(), SummarizerChoice::Llm);
    assert_eq!(config.source("summary.summarizer").to_string(), "e.toml:3:1");
    assert_eq!(config.source("summary.fall_back_to_rules").to_string(), "e.toml:4:1");
    assert_eq!(parse("[budget]\nuse_llm = false").summarizer(), SummarizerChoice::Rules);
    insta::assert_snapshot!(refused("[budget]\nuse_llm = 1\nmemory_flush_enabled = \"yes\"\n[live]\nmemory_flush = true"), @"
    e.toml:2:11: `use_llm` takes true or false, not 1
    e.toml:3:1: `memory_flush_enabled` is a second name of `live.memory_flush`, which is set too; keep one of them
    ");
    insta::assert_snapshot!(not_built("[budget]\nuse_llm = true"), @r#"e.toml:2:1: `summarizer = "llm"` needs a channel to a model, and there is none; write [channels.local] with `base_url = "http://localhost:11434/v1"` and `models = ["…"]`; docs/models.md has more"#);
}

#[test]
fn a_preset_asks_for_a_model_where_there_is_a_channel() {
    let preset = "preset = \"large-context\"\n";
    let without = parse(preset);
    assert_eq!(build(&without).summarizer, SummarizerChoice::Rules);
    let effective = without.effective(&epitome_builtin::registry());
    let entry = effective.iter().find(|entry| entry.key == "summary.summarizer").unwrap();
    let told = format!("{} ({})", entry.value, entry.source);
    insta::assert_snapshot!(told, @r#""rules" (`llm` is asked for, and there is no channel)"#);
    let with = parse(&format!("{preset}{LOCAL}"));
    assert_eq!(build(&with).summarizer, SummarizerChoice::Llm);
    assert_eq!(with.source("summary.summarizer"), Source::Preset(Preset::LargeContext));
    let not_allowed = parse(&format!("{preset}{LOCAL}compaction = false\n"));
    assert_eq!(build(&not_allowed).summarizer, SummarizerChoice::Rules);
    for name in Preset::ALL.into_iter().filter(|preset| *preset != Preset::LargeContext) {
        assert_eq!(parse(&format!("preset = \"{name}\"\n{LOCAL}")).summarizer(), SummarizerChoice::Rules, "{name}");
    }
}

#[test]
fn a_model_sets_window_and_reserve_where_the_file_does_not() {
    let check = |text: &str, window: u32, reserve: u32, from: &str| {
        let config = parse(text);
        let budget = config.budget();
        assert_eq!((budget.window, budget.reserve_output), (window, reserve), "{text}");
        assert_eq!(config.source("budget.window").to_string(), from, "{text}");
        assert_eq!(build(&config).budget, budget);
    };
    check("[budget]\nmodel = \"gpt-4o-mini\"", 128_000, 16_000, "model gpt-4o-mini");
    check("[budget]\nmodel = \"gpt-4-turbo\"", 128_000, 4_096, "model gpt-4-turbo");
    check("[budget]\nmodel = \"gpt-5\"", 400_000, 128_000, "model gpt-5");
    check("preset = \"production\"\n[budget]\nmodel = \"gpt-5\"", 400_000, 128_000, "model gpt-5");
    check("preset = \"production\"\n[budget]\nmodel = \"gpt-4.1\"", 1_047_576, 4_000, "model gpt-4.1");
    check("[budget]\nmodel = \"gpt-5\"\nreserve_output = 9_000", 400_000, 9_000, "model gpt-5");
    check("[budget]\nmodel = \"gpt-5\"\nwindow = 50_000", 50_000, 12_500, "e.toml:3:1");
    check("[budget]\nmodel = \"mine\"\nwindow = 50_000", 50_000, 12_500, "e.toml:3:1");
    check("[budget]\nmodel = \"mine-7b\"\n[models.mine]\nwindow = 9_000", 9_000, 2_250, "model mine-7b");
    check("[budget]\nmodel = \"gpt-4o\"\n[models.\"gpt-4o\"]\nreserve_output = 500", 128_000, 500, "model gpt-4o");
    insta::assert_snapshot!(refused("[budget]\nmodel = \"gpt4o\""), @r#"e.toml:2:1: the window of the model `gpt4o` is not known; did you mean `gpt-4o`? Else write it into the configuration: [models."gpt4o"] with `window = …`; or set `[budget] window`"#);
    insta::assert_snapshot!(refused("[models.m]\nwindow = \"x\"\nwindwo = 3\n[models]\nn = 3"), @r#"
    e.toml:2:10: `window` takes a whole number, not "x"
    e.toml:3:1: `windwo` is not a key of [models.m]; did you mean `window`?
    e.toml:5:1: `models.n` takes a table of settings, not integer; write [models.n] and settings below it
    "#);
    // What the program says stands over the file, whichever of the two it says.
    let mut config = parse("[budget]\nwindow = 50_000");
    config.set("budget.model", &"gpt-4o".into()).unwrap();
    assert_eq!(config.budget().window, 128_000);
    config.set("budget.window", &9_000.into()).unwrap();
    assert_eq!(config.budget().window, 9_000);
}

#[test]
fn a_session_may_go_on_with_another_model() {
    let runtime = build(&parse("preset = \"production\"\n[budget]\nmodel = \"gpt-4.1\""));
    let budget = runtime.budget_for("gpt-4").unwrap();
    assert_eq!((budget.window, budget.reserve_output), (8_192, 4_000));
    let usable = budget.usable();
    let (target, soft, hard) = (budget.target.tokens(usable), budget.soft.tokens(usable), budget.hard.tokens(usable));
    assert!(target < soft && soft < hard && hard <= usable, "{budget:?}");
    assert_eq!(runtime.budget_for("gpt-4.1-mini").unwrap(), runtime.budget);
    let shares = build(&parse(""));
    let (small, large) = (shares.budget_for("gpt-4o").unwrap(), shares.budget_for("gemini-2.5-pro").unwrap());
    assert!(small.check(90_000).share > large.check(90_000).share, "a smaller model shows a larger share");
    let unknown = shares.budget_for("nobodys").unwrap_err();
    insta::assert_snapshot!(format!("{unknown}; {}", unknown.help), @r#"the window of the model `nobodys` is not known; write it into the configuration: [models."nobodys"] with `window = …`"#);
}

#[test]
fn the_channel_and_the_model_that_write_summaries() {
    let chosen = |text: &str| {
        let runtime = build(&parse(text));
        let kind = runtime.make_summarizer(None).map(|summarizer| summarizer.kind().to_owned());
        let model = runtime.summary_model().map(|model| format!("{} {model} {}", model.channel, model.window));
        format!("{} {}", kind.unwrap_or_default(), model.unwrap_or_default())
    };
    let llm = "[summary]\nsummarizer = \"llm\"\n";
    let other =
        "[channels.other]\nkind = \"anthropic\"\nbase_url = \"http://127.0.0.1:2\"\nmodels = [\"claude-haiku-4-5\"]\n";
    insta::assert_snapshot!(chosen(""), @"rules");
    insta::assert_snapshot!(chosen(&format!("{llm}{LOCAL}")), @"llm local small at http://127.0.0.1:1/v1 32768");
    insta::assert_snapshot!(chosen(&format!("{llm}model = \"large\"\n{LOCAL}window = 9_000\n{other}")), @"llm local large at http://127.0.0.1:1/v1 9000");
    insta::assert_snapshot!(chosen(&format!("{llm}channel = \"other\"\n{LOCAL}{other}")), @"llm other claude-haiku-4-5 at http://127.0.0.1:2 200000");
    insta::assert_snapshot!(chosen(&format!("{llm}{LOCAL}{other}default = true\n")), @"llm other claude-haiku-4-5 at http://127.0.0.1:2 200000");
    insta::assert_snapshot!(chosen(&format!("{llm}{LOCAL}compaction = false\n{other}")), @"llm other claude-haiku-4-5 at http://127.0.0.1:2 200000");
    insta::assert_snapshot!(chosen(&format!("[summary]\nsummarizer = \"off\"\n{LOCAL}")), @"");
    let stop = format!("{llm}on_failure = \"stop\"\nfall_back_to_rules = false\n{LOCAL}");
    let runtime = build(&parse(&stop));
    assert_eq!(runtime.engine(runtime.counter.clone(), None).without_summary, WithoutSummary::Stop);
}

#[test]
fn what_is_wrong_with_channels_is_told_with_its_place() {
    let llm = "[summary]\nsummarizer = \"llm\"\n";
    let other = "[channels.other]\nmodels = [\"x\"]\n";
    insta::assert_snapshot!(not_built(llm), @r#"e.toml:2:1: `summarizer = "llm"` needs a channel to a model, and there is none; write [channels.local] with `base_url = "http://localhost:11434/v1"` and `models = ["…"]`; docs/models.md has more"#);
    insta::assert_snapshot!(refused(&format!("{llm}channel = \"lokal\"\n{LOCAL}")), @"e.toml:3:1: there is no channel `lokal`; did you mean `local`?");
    insta::assert_snapshot!(refused(&format!("{llm}channel = \"local\"\n{LOCAL}compaction = false\n")), @"e.toml:3:1: the channel `local` may not be used for compaction; name another one, or set `compaction = true` in [channels.local]");
    insta::assert_snapshot!(refused(&format!("{llm}{LOCAL}compaction = false\n")), @"e.toml:2:1: none of the channels may be used for compaction: local; set `compaction = true` in one of them");
    insta::assert_snapshot!(refused(&format!("{llm}model = \"larg\"\n{LOCAL}")), @"e.toml:3:1: the channel `local` does not list the model `larg`; did you mean `large`?");
    insta::assert_snapshot!(refused(&format!("{llm}model = \"y\"\n{LOCAL}{other}")), @"e.toml:3:1: no channel lists the model `y`; add it to the `models` of one of local, other");
    insta::assert_snapshot!(refused(&format!("{llm}{LOCAL}{other}")), @"e.toml:2:1: which channel writes summaries is not said: there are local, other; name it with `[summary] channel`, or mark one of them with `default = true`");
    insta::assert_snapshot!(refused(&format!("{llm}[channels.local]\nbase_url = \"http://127.0.0.1:1\"\n")), @r#"e.toml:3:11: the channel `local` lists no models, and none is named; list them with `models = ["…"]`, or name one with `[summary] model`"#);
    // Every problem at once; what is not used is checked as well.
    let wrong = "[channels.a]\nkind = \"gemini\"\nkey_variable = \"A\"\nkey_file = \"f\"\ntries = 0\nkey = \"sk-1\"\nextra = 3\n\
                 [channels]\nb = \"http://\"\n[summary]\nform = \"xml\"\non_failure = \"panic\"\nchannel = \"c\"\n";
    insta::assert_snapshot!(refused(wrong), @r#"
    e.toml:2:8: `kind` takes one of "openai", "anthropic", not "gemini"
    e.toml:4:1: the channel `a` has a `key_variable` and a `key_file`; keep one of them
    e.toml:5:9: `tries` takes a value from 1 to 20, not 0
    e.toml:6:1: `key` is not a key of [channels.a]; there are kind, base_url, key_variable, key_file, models, compaction, default, timeout_seconds, tries, longest_wait_seconds, window, extra
    e.toml:7:9: `extra` takes a table such as { top_p = 0.9 }, not 3
    e.toml:9:1: `channels.b` takes a table of settings, not string; write [channels.b] and settings below it
    e.toml:11:8: `form` takes one of "sections", "json", not "xml"
    e.toml:12:14: `on_failure` takes one of "go-on", "stop", not "panic"
    e.toml:13:1: there is no channel `c`; there are a
    "#);
}

#[test]
fn what_this_machine_lacks_is_told_when_the_channel_is_opened() {
    let used = "[summary]\nsummarizer = \"llm\"\n[channels.c]\nmodels = [\"m\"]\n";
    insta::assert_snapshot!(not_built(&format!("{used}key_variable = \"EPITOME_NO_SUCH_KEY\"")), @"e.toml:5:1: the channel `c`: no key: set the environment variable `EPITOME_NO_SUCH_KEY`; or name another one with `key_variable`, or a file with `key_file`; the key itself never stands in the configuration");
    insta::assert_snapshot!(not_built(&format!("{used}key_file = \"/no/such/file\"")), @"e.toml:5:1: the channel `c`: no key in the file `/no/such/file`: No such file or directory (os error 2)");
    insta::assert_snapshot!(not_built(&format!("{used}base_url = \"localhost\"")), @r#"e.toml:5:1: the channel `c`: `localhost` is not the address of a service: relative URL without a base; an address is such as "http://localhost:11434/v1""#);
    insta::assert_snapshot!(not_built(&format!("{used}base_url = \"http://127.0.0.1:1\"\nextra = {{ model = \"x\" }}")), @"e.toml:6:1: the channel `c`: the channel's `extra` has `model`, which is not to be set there");
    insta::assert_snapshot!(not_built(&used.replace("\"llm\"", "\"llm\"\nprompts = \"/no/such/folder\"").replace("[channels.c]", "[channels.c]\nbase_url = \"http://127.0.0.1:1\"")), @"e.toml:3:1: `prompts`: cannot read `/no/such/folder`: No such file or directory (os error 2)");
    // A channel that nobody uses needs no key.
    let runtime = build(&parse("[channels.c]\nmodels = [\"m\"]\nkey_variable = \"EPITOME_NO_SUCH_KEY\"\n"));
    assert_eq!(runtime.summarizer, SummarizerChoice::Rules);
}

#[test]
fn who_chose_a_model_has_its_summaries_asked_for() {
    let chains = |config: &epitome_config::Config| {
        let runtime = build(config);
        let chains = runtime.chains();
        format!("{} | {}", chains.code.ids().join(" "), chains.conversation.ids().join(" "))
    };
    let (llm, rules) = ("[summary]\nsummarizer = \"llm\"\n", parse(""));
    let expect = "handoff transcript tool-results message-truncation sliding-window | \
                  handoff transcript tool-results message-truncation sliding-window";
    let by_file = parse(&format!("{llm}{LOCAL}"));
    assert_eq!(chains(&by_file), expect);
    let registry = epitome_builtin::registry();
    let code = by_file.effective(&registry).into_iter().find(|entry| entry.key == "chains.code").unwrap();
    assert_eq!(code.source.to_string(), "default where a model writes summaries");
    assert!(code.value.to_string().contains("handoff"), "{}", code.value);
    // A flag, an agent, a preset that asks for a model.
    let mut by_flag = parse(LOCAL);
    by_flag.set("summary.summarizer", &"llm".into()).unwrap();
    assert_eq!(chains(&by_flag), expect);
    let agents = parse(&format!("{LOCAL}[agents.a]\nmodel = \"small\"\n"));
    assert_eq!((chains(&agents), chains(&agents.for_agent("a").unwrap())), (chains(&rules), expect.to_owned()));
    assert_eq!(chains(&parse(&format!("preset = \"large-context\"\n{LOCAL}"))), expect);
    // Without a channel the preset has the rules write.
    assert_eq!(chains(&parse("preset = \"large-context\"\n")), chains(&rules));
    // Chains that somebody chose stay: those of the file, each for itself, and those of a preset.
    let own = parse(&format!("{llm}{LOCAL}[chains]\ncode = [\"structured-extraction\"]\n"));
    assert_eq!(chains(&own).split_once(" | ").unwrap().0, "structured-extraction");
    assert_eq!(chains(&own).split_once(" | ").unwrap().1, expect.split_once(" | ").unwrap().1);
    let preset = parse(&format!("preset = \"aggressive\"\n{llm}{LOCAL}"));
    assert_eq!(chains(&preset), "transcript sliding-window | transcript sliding-window");
}

/// Two agents over a file of their own.
const AGENTS: &str = "\
preset = \"production\"
[agents.coder]
channel = \"local\"
model = \"large\"
threshold_percent = 70
keep_recent = 12
[agents.reader]
runs_on = \"gpt-4.1\"
preset = \"aggressive\"
threshold_percent = 0
chain = \"mine\"
[chains]
mine = [\"vector-retrieval\", \"sliding-window\"]
";

#[test]
fn an_agent_does_some_things_differently() {
    let config = parse(&format!("{AGENTS}{LOCAL}"));
    assert_eq!(config.agents().collect::<Vec<_>>(), ["coder", "reader"]);
    assert_eq!(build(&config).summarizer, SummarizerChoice::Rules, "for all others nothing changes");
    let coder = config.for_agent("coder").unwrap();
    let runtime = build(&coder);
    assert_eq!(runtime.agent.as_deref(), Some("coder"));
    assert_eq!(runtime.budget.soft, Threshold::Share(0.7));
    assert_eq!(runtime.budget.target, Threshold::Tokens(7_500), "as the preset says: it lies below");
    assert_eq!(runtime.summary_model().unwrap().model, "large", "who names a model wants it asked");
    assert_eq!(coder.source("pins.keep_recent").to_string(), "e.toml:6:1");
    assert_eq!(coder.source("budget.soft").to_string(), "e.toml:5:1");
    let reader = build(&config.for_agent("reader").unwrap());
    assert_eq!(reader.budget.window, 1_047_576);
    assert!(!reader.budget.check(1_000_000).should_compact, "never by a threshold");
    assert_eq!(reader.fixed.as_ref().unwrap().ids(), ["vector-retrieval", "sliding-window"]);
    assert_eq!(reader.chains().code.ids(), ["transcript", "sliding-window"], "those of its preset");
    assert_eq!(reader.summarizer, SummarizerChoice::Rules);
    insta::assert_snapshot!(config.for_agent("codr").unwrap_err().to_string(), @"there is no agent `codr`; did you mean `coder`?");
    insta::assert_snapshot!(parse("").for_agent("x").unwrap_err().to_string(), @"there is no agent `x`; write [agents.x] and its settings below it");
}

#[test]
fn every_percentage_goes_with_every_preset() {
    for preset in Preset::ALL {
        for percent in (0..=100_u32).step_by(5).chain([1, 99]) {
            let text = format!("preset = \"{preset}\"\n[agents.a]\nthreshold_percent = {percent}\n");
            let budget = build(&parse(&text).for_agent("a").unwrap()).budget;
            let usable = budget.usable();
            let soft = budget.soft.tokens(usable);
            assert!(budget.target.tokens(usable) < soft && soft <= budget.hard.tokens(usable), "{preset} {percent}");
            let due = (u64::from(usable) * u64::from(percent)).div_ceil(100) as u32;
            assert_eq!(budget.check(due).should_compact, percent > 0, "{preset} {percent}");
            assert!(percent == 0 || !budget.check(due - due / 50 - 2).should_compact, "{preset} {percent}");
        }
    }
}

#[test]
fn what_is_wrong_with_an_agent_is_told_with_its_place() {
    insta::assert_snapshot!(refused("[agents.a]\nchannel = \"none\"\n[agents.b]\nthreshold_percent = 101\nkeep_recnt = 1\nchain = \"mine\"\n[agents.c]\nrun_on = \"x\"\nruns_on = \"nobodys\""), @r#"
    e.toml:2:1: agent `a`: there is no channel `none`; write [channels.local] with `base_url = "http://localhost:11434/v1"` and `models = ["…"]`; docs/models.md has more
    e.toml:4:21: `threshold_percent` takes a value from 0 to 100, not 101
    e.toml:5:1: `keep_recnt` is not a key of [agents.b]; did you mean `keep_recent`?
    e.toml:6:1: agent `b`: there is no chain `mine`; [chains] has analysis, code, conversation, mixed, unknown
    e.toml:8:1: `run_on` is not a key of [agents.c]; did you mean `runs_on`?
    e.toml:9:1: agent `c`: the window of the model `nobodys` is not known; write it into the configuration: [models."nobodys"] with `window = …`
    "#);
    // What is wrong for all is told once.
    insta::assert_snapshot!(refused("[budget]\nsoft = 0.8\ntarget = 0.9\n[agents.a]\nkeep_recent = 3\n[agents.b]\n"), @"e.toml:3:1: `target` (0.9 of 184000, 165600 tokens) is not below `soft` (0.8 of 184000, 147200 tokens); target < soft <= hard");
}

#[test]
fn the_examples_of_the_template_are_read() {
    let registry = epitome_builtin::registry();
    let template = template(&registry);
    let (_, examples) = template.split_once("#   [channels.local]").unwrap();
    let lines = examples.lines().filter_map(|line| line.strip_prefix("#   "));
    let text: String = std::iter::once("[channels.local]").chain(lines).map(|line| format!("{line}\n")).collect();
    let config = parse(&text);
    assert_eq!(config.models().limits("my-model").unwrap().window, 32_768);
    assert_eq!(build(&config.for_agent("reviewer").unwrap()).summary_model().unwrap().model, "qwen3:8b");
}

/// Every block of TOML on the page about models is a file that is read, and its agents and channels are what it says.
#[test]
fn the_page_about_models_is_true() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md")).unwrap();
    let blocks: Vec<&str> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 8, "{}", blocks.len());
    for block in &blocks {
        let config = parse(block);
        for agent in config.agents() {
            config.for_agent(agent).unwrap();
        }
    }
    let channels: usize = blocks.iter().map(|block| block.matches("[channels.").count()).sum();
    assert!(channels >= 6, "Ollama, vLLM, llama.cpp, OpenAI, Anthropic, DeepSeek: {channels}");
}
