//! Every setting has an effect: the output changes with it, or a test that is named here shows the effect.
//!
//! The values that are tried come from the declarations, so a new key is tried by itself; it fails until something
//! changes with it, or until one of the tables has it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod elsewhere;
mod fixtures;
mod trials;

use std::collections::BTreeSet;
use std::path::Path;

use epitome::config::{Preset, keys, named_keys, second_names};
use epitome::strategy::{Field, FieldKind, TaskKind, Value};
use serde_json::json;

use elsewhere::ELSEWHERE;
use trials::{TRIALS, runtime};

/// A small window: sessions of the fixtures go over its thresholds.
const WINDOW: &str = "[budget]\nwindow = 16_000\nreserve_output = 2_000\n";

/// A chain that has a summary written.
const SUMMARY: &str = "[select]\nmode = \"fixed\"\nchain = \"mine\"\n[chains]\nmine = [\"summary\"]\n";

/// The conditions under which a key acts, and the values that are tried; of keys whose declarations do not say enough.
fn given(key: &str, folder: &Path) -> Option<(String, Vec<Value>)> {
    let memories = |name: &str| {
        let path = folder.join(format!("{}-{name}", key.replace('.', "-")));
        drop(std::fs::remove_file(&path));
        path.display().to_string()
    };
    let with = |base: &str, values: Value| Some((format!("{WINDOW}{base}"), values.as_array().unwrap().clone()));
    let cue = key.strip_prefix("lexicon.");
    if let Some(cue) = cue {
        let words = [
            "zebratask",
            "zebradecision",
            "zebraerror",
            "zebradone",
            "zebrafix",
            "zebraimportant",
            "zebrashift",
            "zebraremember",
            "zebrainstruct",
            "zebrapreference",
            "zebraconversation",
        ];
        let chain = match cue {
            "topic_shift" => "topic-segments",
            "question" => {
                let words = json!([["zebraquestion"]]);
                return with(&SUMMARY.replace("\"summary\"", "\"structured-extraction\""), words);
            }
            "instruction" | "preference" | "remember" => "transcript",
            "code" | "analysis" | "conversation" => return with("", json!([words])),
            _ => "key-events",
        };
        return with(&SUMMARY.replace("\"summary\"", &format!("\"{chain}\"")), json!([words]));
    }
    match key {
        "budget.model" => Some((String::new(), vec![json!("gpt-4.1")])),
        "budget.soft" => with("", json!([0.6, 0.9])),
        "quality.min_instructions" => {
            // Nobody writes what leaves down.
            let chain = SUMMARY.replace("\"summary\"", "\"sliding-window\"");
            with(&format!("{chain}[summary]\nsummarizer = \"off\"\n"), json!([1.0]))
        }
        // What a summary said leaves once there is next to no room, and comes back where there is.
        "quality.min_summaries" => {
            let narrow = WINDOW.replace("16_000", "3_000");
            Some((format!("{narrow}{SUMMARY}"), vec![json!(1.0)]))
        }
        "budget.window" => Some((String::new(), vec![json!(16_000)])),
        "live.on_refusal" => with("[live]\nrequire_confirmation = true\n", json!(["drop-oldest", "new-session"])),
        "live.memory_flush" => with(&format!("{SUMMARY}[live]\nmemory_file = {:?}\n", memories("file")), json!([true])),
        "live.memory_file" => with(&format!("{SUMMARY}[live]\nmemory_flush = true\n"), json!([memories("value")])),
        "live.recent_memories" => {
            let file = memories("file");
            let live = format!("{SUMMARY}[live]\nmemory_flush = true\nmemory_file = {file:?}\n");
            Some((format!("[budget]\nwindow = 7_000\nreserve_output = 500\n{live}"), vec![json!(0)]))
        }
        "counter.name" => with("", json!(["quarters"])),
        "marks.handles" => with(SUMMARY, json!([true])),
        "marks.redact_secrets" => with(SUMMARY, json!([false])),
        "select.mode" => with("", json!(["tournament"])),
        "select.chain" => with(
            "[select]\nmode = \"fixed\"\nchain = \"code\"\n[chains]\nmine = [\"sliding-window\"]\n",
            json!(["mine"]),
        ),
        "select.later_from" => with(
            "[chains]\ncode-later = [\"sliding-window\"]\nanalysis-later = [\"sliding-window\"]\nmixed-later = [\"sliding-window\"]\nconversation-later = [\"sliding-window\"]\nunknown-later = [\"sliding-window\"]\n",
            json!([2]),
        ),
        "quality.on_loss" => with("[quality]\nmin_strings = 1.0\n", json!(["report", "roll-back"])),
        "summary.summarizer" => with(SUMMARY, json!(["off"])),
        "summary.role" => with(SUMMARY, json!(["system"])),
        "embeddings.embedder" => with(&SUMMARY.replace("\"summary\"", "\"vector-retrieval\""), json!(["off"])),
        "triggers.marker" => with("", json!(["complete, a zebradone"])),
        "pins.markers" => with("", json!([["zebraimportant", "zebraremember"]])),
        "pins.protected_tools" => with("", json!([["Bash"]])),
        _ => None,
    }
}

/// Values that differ from the default, those that differ most first.
fn values(field: &Field) -> Vec<Value> {
    let default = (field.default)();
    let mut values = match (field.kind, field.bounds) {
        (FieldKind::Flag, _) => vec![json!(!default.as_bool().unwrap())],
        (FieldKind::Integer, Some(bounds)) => {
            let default = default.as_u64().unwrap();
            let within = |value: u64| value.clamp(bounds.least as u64, bounds.most as u64);
            [within(0), within(u64::MAX), within(default * 4), within(default / 3), within(default + 1), within(20)]
                .map(Value::from)
                .to_vec()
        }
        (FieldKind::Number, Some(bounds)) => {
            let default = default.as_f64().unwrap();
            [bounds.least, bounds.most.min(1_000.0), default * 4.0, default / 4.0, default / 2.0]
                .map(|value| json!(value.clamp(bounds.least, bounds.most)))
                .to_vec()
        }
        // Shares of the window, or tokens.
        (FieldKind::Number, None) => vec![json!(2), json!(0.2), json!(0.45), json!(0.99), json!(0.0)],
        (FieldKind::List, _) => vec![json!([]), json!(["Bash"]), json!(["Read"]), json!([".rs", "src/"])],
        (FieldKind::Text | FieldKind::Integer, _) => Vec::new(),
    };
    values.dedup();
    values.retain(|value| *value != default);
    values
}

/// `base` with `name = value` in a section, in place of what it says there.
fn set(base: &str, section: &str, name: &str, value: &Value) -> String {
    let header = format!("[{section}]");
    let (mut text, mut is_there, mut is_inside) = (String::new(), false, false);
    for line in base.lines() {
        if line.starts_with('[') {
            is_inside = line == header;
        }
        if is_inside && line.starts_with(&format!("{name} = ")) {
            continue;
        }
        text.push_str(&format!("{line}\n"));
        if line == header {
            is_there = true;
            text.push_str(&format!("{name} = {value}\n"));
        }
    }
    if !is_there {
        text.push_str(&format!("{header}\n{name} = {value}\n"));
    }
    text
}

/// Whether one of the files gives what no trial of `base` gives. Files that are refused, for what does not go together, are
/// passed over.
fn acts(base: &str, files: &[String]) -> bool {
    let registry = epitome::registry();
    let is_taken = |text: &&String| epitome::Config::parse(text, "case.toml", &registry).is_ok();
    let files: Vec<&String> = files.iter().filter(is_taken).collect();
    let plain = runtime(base);
    TRIALS.iter().any(|trial| {
        let before = trial(&plain);
        files.iter().any(|file| trial(&runtime(file)) != before)
    })
}

fn is_elsewhere(key: &str) -> bool {
    ELSEWHERE.iter().any(|elsewhere| elsewhere.key == key)
}

#[test]
fn every_key_with_a_section_acts() {
    let folder = tempfile::tempdir().unwrap();
    let mut dead = Vec::new();
    for key in keys() {
        let name = format!("{}.{}", key.section, key.field.name);
        if is_elsewhere(&name) {
            continue;
        }
        let (base, values) = given(&name, folder.path()).unwrap_or_else(|| (WINDOW.to_owned(), values(key.field)));
        let files: Vec<String> = values.iter().map(|value| set(&base, key.section, key.field.name, value)).collect();
        if !acts(&base, &files) {
            dead.push(name);
        }
    }
    assert_eq!(dead, Vec::<String>::new(), "nothing changes with these keys");
}

#[test]
fn every_setting_of_a_strategy_acts() {
    let mut dead = Vec::new();
    for registration in epitome::registry().iter() {
        let id = registration.meta.id;
        let base = format!("{WINDOW}{}", SUMMARY.replace("\"summary\"", &format!("{id:?}")));
        for field in registration.fields {
            let section = format!("strategies.{id}");
            let files: Vec<String> =
                values(field).iter().map(|value| set(&base, &section, field.name, value)).collect();
            if !acts(&base, &files) {
                dead.push(format!("{id}.{}", field.name));
            }
        }
    }
    assert_eq!(dead, Vec::<String>::new(), "nothing changes with these settings");
}

#[test]
fn every_field_of_agents_and_models_acts() {
    let values = |section: &str, name: &str| -> Vec<Value> {
        match (section, name) {
            ("agents", "preset") => vec![json!("aggressive"), json!(["basic"])],
            ("agents", "runs_on") => vec![json!("gpt-4.1")],
            ("agents", "window") => vec![json!(12_000)],
            ("agents", "threshold_percent") => vec![json!(0), json!(30)],
            ("agents", "keep_recent") => vec![json!(12)],
            ("agents", "handles") => vec![json!(true)],
            ("agents", "chain") => vec![json!("mine")],
            ("agents", "summarizer") => vec![json!("off")],
            ("models", "window") => vec![json!(14_000)],
            ("models", "reserve_output") => vec![json!(6_000)],
            _ => Vec::new(),
        }
    };
    for key in named_keys() {
        let name = format!("{}.{}", key.section, key.field.name);
        if is_elsewhere(&name) {
            continue;
        }
        let (base, section) = match key.section {
            "agents" => (
                format!("{WINDOW}[chains]\nmine = [\"sliding-window\"]\ncode = [\"summary\"]\n[agents.a]\n"),
                "agents.a",
            ),
            _ => ("[budget]\nmodel = \"mine-1\"\n[models.mine-1]\nwindow = 20_000\n".to_owned(), "models.mine-1"),
        };
        let header = format!("[{section}]\n");
        let rest = if name == "models.window" { base.replace("window = 20_000\n", "") } else { base.clone() };
        let tried = values(key.section, key.field.name);
        let line = |value: &Value| rest.replace(&header, &format!("{header}{} = {value}\n", key.field.name));
        let files: Vec<String> = tried.iter().map(line).collect();
        assert!(acts(&base, &files), "nothing changes with {name}");
    }
}

#[test]
fn the_default_of_an_agent_is_the_documented_one() {
    let of = |toml: &str| runtime(&format!("{WINDOW}{toml}")).budget.soft;
    let percent = named_keys().find(|key| key.field.name == "threshold_percent").unwrap().field;
    let documented = (percent.default)().as_f64().unwrap() / 100.0;
    assert_eq!(of("[agents.a]\n"), epitome::engine::Threshold::Share(documented));
    assert_eq!(of("soft = 0.6\n[agents.a]\n"), epitome::engine::Threshold::Share(0.6), "the file says it for all");
    assert_eq!(of(""), epitome::engine::Budget::default().soft);
}

#[test]
fn every_chain_every_preset_and_every_second_name_acts() {
    for kind in TaskKind::ALL {
        // A session of each kind is not at hand; what is named for a kind is used where the kind is said.
        let base = WINDOW.to_owned();
        let file = format!("{base}[chains]\n{kind} = [\"sliding-window\"]\n");
        let chain = |toml: &str| runtime(toml).chains().chain(kind).ids();
        assert_ne!(chain(&file), chain(&base), "{kind}");
    }
    assert!(acts(WINDOW, &[format!("{WINDOW}[chains]\ncode = [\"sliding-window\"]\n")]));
    for preset in Preset::ALL.into_iter().filter(|preset| *preset != Preset::Balanced) {
        let name = preset.as_str();
        let file = format!("preset = {name:?}\n[budget]\nwindow = 60_000\n");
        assert!(acts("[budget]\nwindow = 60_000\n", &[file]), "{preset:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memories");
    for (name, key) in second_names() {
        let (base, value) = match name {
            "soft_threshold_tokens" => (WINDOW.to_owned(), "8_000"),
            "hard_threshold_tokens" => (WINDOW.to_owned(), "11_500"),
            "reserve_tokens" => ("[budget]\nwindow = 16_000\n".to_owned(), "500"),
            "keep_recent_messages" => (WINDOW.to_owned(), "8"),
            "keep_recent_rounds" => (WINDOW.to_owned(), "2"),
            "summary_max_tokens" | "summary_max_length" => (WINDOW.to_owned(), "100"),
            "enabled" => (format!("{WINDOW}soft = 8_000\n"), "false"),
            "memory_flush_enabled" => (format!("{WINDOW}[live]\nmemory_file = {path:?}\n"), "true"),
            // With a model or without: that takes a service.
            "use_llm" | "llm_fallback_to_rules" => continue,
            _ => panic!("{name} is a second name of {key}, and nothing shows that it acts"),
        };
        let file = base.replace("[budget]\n", &format!("[budget]\n{name} = {value}\n"));
        assert!(acts(&base, &[file]), "{name}");
    }
}

#[test]
fn what_acts_elsewhere_is_tested_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let known: BTreeSet<String> =
        keys().chain(named_keys()).map(|key| format!("{}.{}", key.section, key.field.name)).collect();
    for elsewhere in ELSEWHERE {
        let source = std::fs::read_to_string(root.join(elsewhere.file)).unwrap();
        let is_there = source.contains(&format!("fn {}(", elsewhere.test));
        assert!(is_there, "{}: {} has no test {}", elsewhere.key, elsewhere.file, elsewhere.test);
        assert!(known.contains(elsewhere.key), "{} is not a key any more", elsewhere.key);
        assert!(!elsewhere.why.is_empty());
    }
}
