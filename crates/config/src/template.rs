//! The commented file that `epitome init` writes, and the reference's tables: both from the declarations.

use std::fmt::Write;

use epitome_providers::process::ProcessStrategy;
use epitome_strategy::{Field, FieldKind, Registry, TaskKind, Value};

use crate::chains::default_chain;
use crate::preset::Preset;
use crate::sections::{NAMED, SECTIONS, Section};

/// Columns of the template's explanations.
const WIDTH: usize = 100;

/// The commented file: every key with its default, unit and documentation, the strategies' settings included. Reading it
/// gives the defaults; so does reading it with every key uncommented (but for the preset).
pub fn template(registry: &Registry) -> String {
    let mut out = String::new();
    comment(
        &mut out,
        "Configuration of epitome. Every key stands here with its default: take the `#` in front of one away and change \
         it. Use the file with `--config epitome.toml`.",
    );
    out.push('\n');
    comment(
        &mut out,
        "A named set of values, or a list of such names, of which later ones override earlier ones. The keys of this \
         file override them all.",
    );
    for (_, name, doc) in Preset::ALL {
        let _ = writeln!(out, "#   {name:<14}{doc}");
    }
    let _ = writeln!(out, "#preset = \"production\"");
    for section in SECTIONS {
        out.push('\n');
        comment(&mut out, section.doc);
        let _ = writeln!(out, "[{}]", section.name);
        section.fields.iter().for_each(|field| setting(&mut out, field));
    }
    out.push('\n');
    comment(
        &mut out,
        "Chains: strategies in the order in which they are asked, until the target is met. One chain for each kind of \
         task, one for its later compactions where its name has `-later` behind it, and any others by a name of \
         yours, for `[select] chain` and `--chain`. With `summarizer = \"llm\"` the default chains are others, which \
         have summaries written; what is set here stands over both.",
    );
    out.push_str("[chains]\n");
    for kind in TaskKind::ALL {
        let chain: Vec<String> = default_chain(kind).iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "#{kind} = {}", toml_value(&chain.into()));
    }
    for registration in registry.iter().filter(|registration| !registration.fields.is_empty()) {
        out.push('\n');
        comment(&mut out, registration.meta.summary);
        let _ = writeln!(out, "[strategies.{}]", registration.meta.id);
        registration.fields.iter().for_each(|field| setting(&mut out, field));
    }
    out.push('\n');
    comment(
        &mut out,
        "A strategy of your own in another process: a table with an id of its own and a `command`, which runs with your \
         rights. It reads the view and answers a plan as JSON. The id can then stand in chains.",
    );
    for field in ProcessStrategy::FIELDS {
        let example = match field.name {
            "command" => toml_value(&vec!["python3", "outline.py"].into()),
            _ => toml_value(&(field.default)()),
        };
        if field.name == "command" {
            out.push_str("#   [strategies.my-outline]\n");
        }
        let _ = writeln!(out, "#   {} = {example}", field.name);
    }
    NAMED.iter().for_each(|section| named(&mut out, section));
    out
}

/// An example of a table with a name of the user's, every key in it.
fn named(out: &mut String, section: &Section) {
    let (name, examples): (&str, &[(&str, &str)]) = match section.name {
        "models" => ("my-model", &[("window", "32_768"), ("reserve_output", "4_000")]),
        "channels" => ("local", &[("base_url", "\"http://localhost:11434/v1\""), ("models", "[\"qwen3:8b\"]")]),
        _ => ("reviewer", &[("summarizer", "\"llm\""), ("channel", "\"local\""), ("model", "\"qwen3:8b\"")]),
    };
    out.push('\n');
    comment(out, section.doc);
    let _ = writeln!(out, "#   [{}.{name}]", section.name);
    for field in section.fields {
        comment(out, &document_field(field));
        let example = examples.iter().find(|(known, _)| *known == field.name);
        let example = example.map_or_else(|| toml_value(&(field.default)()), |(_, value)| (*value).to_owned());
        let _ = writeln!(out, "#   {} = {example}", field.name);
    }
}

/// What a setting does, with its unit.
fn document_field(field: &Field) -> String {
    let doc = field.doc.trim();
    if field.unit.is_empty() { doc.to_owned() } else { format!("{doc} Unit: {}.", field.unit) }
}

fn setting(out: &mut String, field: &Field) {
    comment(out, &document_field(field));
    let _ = writeln!(out, "#{} = {}", field.name, toml_value(&(field.default)()));
}

/// Writes `text` as comment lines.
fn comment(out: &mut String, text: &str) {
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH && line.len() > 1 {
            out.push_str(&line);
            out.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
}

/// A value as TOML spells it; digits of large numbers in groups.
fn toml_value(value: &Value) -> String {
    match value {
        Value::Number(number) => match number.as_u64() {
            Some(whole) if whole >= 10_000 => group_digits(whole),
            Some(_) | None => number.to_string(),
        },
        Value::Array(items) => format!("[{}]", items.iter().map(toml_value).collect::<Vec<_>>().join(", ")),
        Value::String(text) => toml::Value::from(text.as_str()).to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Object(entries) if entries.is_empty() => String::from("{}"),
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| format!("{key} = {}", toml_value(value));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Value::Null => String::from("\"\""),
    }
}

fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push('_');
        }
        out.push(digit);
    }
    out
}

/// The reference's tables of keys in Markdown, from the same declarations.
pub fn key_table(registry: &Registry) -> String {
    let mut out = String::new();
    for section in SECTIONS {
        let _ = writeln!(out, "### `[{}]`\n\n{}\n", section.name, section.doc);
        rows(&mut out, section.fields);
    }
    for registration in registry.iter().filter(|registration| !registration.fields.is_empty()) {
        let _ = writeln!(out, "### `[strategies.{}]`\n\n{}\n", registration.meta.id, registration.meta.summary);
        rows(&mut out, registration.fields);
    }
    out.push_str("### `[strategies.ID]` of a program of yours\n\n");
    out.push_str("A table with a `command` and an id that no strategy has: a strategy in another process.\n\n");
    rows(&mut out, ProcessStrategy::FIELDS);
    for section in NAMED {
        let _ = writeln!(out, "### `[{}.NAME]`\n\n{}\n", section.name, section.doc);
        rows(&mut out, section.fields);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn rows(out: &mut String, fields: &[Field]) {
    out.push_str("| key | default | takes | what it does |\n|---|---|---|---|\n");
    for field in fields {
        let default = toml_value(&(field.default)());
        let _ = writeln!(out, "| `{}` | `{default}` | {} | {} |", field.name, takes(field), field.doc.trim());
    }
    out.push('\n');
}

/// What values a setting takes, in words.
fn takes(field: &Field) -> String {
    let kind = match field.kind {
        FieldKind::Integer => "whole number",
        FieldKind::Number => "number",
        FieldKind::Flag => "true or false",
        FieldKind::Text => "text",
        FieldKind::List => "list of texts",
    };
    let number = |value: f64| toml_value(&if value.fract() == 0.0 { (value as i64).into() } else { value.into() });
    let range = field
        .bounds
        .map(|bounds| format!(" from {} to {}", number(bounds.least), number(bounds.most)))
        .unwrap_or_default();
    match field.unit {
        "" => format!("{kind}{range}"),
        unit if field.kind == FieldKind::Number && field.bounds.is_none() => unit.to_owned(),
        unit => format!("{kind}{range}, {unit}"),
    }
}
