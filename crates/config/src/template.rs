//! The commented file that `epitome init` writes, and the reference's tables: both from the declarations.

use std::fmt::Write;

use epitome_providers::process::ProcessStrategy;
use epitome_strategy::{Field, FieldKind, Registration, Registry, TaskKind, Value};

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
         it. Use the file with `--config epitome.toml`. The settings that people need stand first: the sections that have \
         some, and in each of these the settings in front of `-- more --`.",
    );
    out.push('\n');
    comment(
        &mut out,
        "A named set of values, or a list of such names, of which later ones override earlier ones. The keys of this \
         file override them all.",
    );
    for preset in Preset::ALL {
        let _ = writeln!(out, "#   {preset:<14}{}", preset.summary());
    }
    let _ = writeln!(out, "#preset = \"production\"");
    sections(&mut out, SECTIONS, true);
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
    strategies(&mut out, registry, true);
    NAMED.iter().filter(|section| has_common(section.fields)).for_each(|section| named(&mut out, section));
    out.push('\n');
    comment(&mut out, "------ More. The sections from here on hold settings that few people need. ------");
    sections(&mut out, SECTIONS, false);
    strategies(&mut out, registry, false);
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
    NAMED.iter().filter(|section| !has_common(section.fields)).for_each(|section| named(&mut out, section));
    out
}

/// Whether one of the settings is common: among those that most users need.
fn has_common(fields: &[Field]) -> bool {
    fields.iter().any(|field| field.is_common)
}

/// The settings that people need, and all others, each in order of declaration.
fn by_need(fields: &'static [Field]) -> (Vec<&'static Field>, Vec<&'static Field>) {
    fields.iter().partition(|field| field.is_common)
}

/// The sections that have, or do not have, settings that people need.
fn sections(out: &mut String, sections: &[Section], common: bool) {
    for section in sections.iter().filter(|section| has_common(section.fields) == common) {
        out.push('\n');
        comment(out, section.doc);
        let _ = writeln!(out, "[{}]", section.name);
        settings(out, section.name, section.fields);
    }
}

/// The sections of the strategies that have, or do not have, settings that people need.
fn strategies(out: &mut String, registry: &Registry, common: bool) {
    let has_settings = |registration: &&Registration| !registration.fields.is_empty();
    for Registration { meta, fields, .. } in
        registry.iter().filter(has_settings).filter(|registration| has_common(registration.fields) == common)
    {
        out.push('\n');
        comment(out, meta.summary);
        let section = format!("strategies.{}", meta.id);
        let _ = writeln!(out, "[{section}]");
        settings(out, &section, fields);
    }
}

/// The settings of a section, those that people need first.
fn settings(out: &mut String, section: &str, fields: &'static [Field]) {
    let (common, more) = by_need(fields);
    common.iter().for_each(|field| setting(out, field));
    if !common.is_empty() && !more.is_empty() {
        comment(out, &format!("-- more of [{section}] --"));
    }
    more.iter().for_each(|field| setting(out, field));
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
    let (common, more) = by_need(section.fields);
    for field in common.into_iter().chain(more) {
        comment(out, &document_field(field));
        let example = examples.iter().find(|(known, _)| *known == field.name);
        let example = example.map_or_else(|| toml_value(&(field.default)()), |(_, value)| (*value).to_owned());
        let _ = writeln!(out, "#   {} = {example}", field.name);
    }
}

/// The description of a setting, with its unit.
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

/// The head of a table of settings.
const HEAD: &str = "| key | default | takes | what it does |\n|---|---|---|---|\n";

/// The reference's tables of keys in Markdown, from the same declarations: one of the settings that people need, and one
/// of all others for each section, but for the strategies, whose pages have theirs ([`settings_table`]).
pub fn key_table(registry: &Registry) -> String {
    type Section = (String, &'static str, &'static [Field]);
    let fixed = SECTIONS.iter().map(|section| (section.name.to_owned(), section.doc, section.fields));
    let strategies = registry.iter().map(|registration| {
        (format!("strategies.{}", registration.meta.id), registration.meta.summary, registration.fields)
    });
    let program = "A strategy in another process: a table with a `command`, under an id that no strategy has.";
    let program: Section = ("strategies.ID".to_owned(), program, ProcessStrategy::FIELDS);
    let named = NAMED.iter().map(|section| (format!("{}.NAME", section.name), section.doc, section.fields));
    let fixed: Vec<Section> = fixed.collect();
    let strategies: Vec<Section> = strategies.collect();
    let named: Vec<Section> = [program].into_iter().chain(named).collect();

    let mut out = format!("### The settings that people need\n\n{HEAD}");
    for (section, _, fields) in fixed.iter().chain(&strategies).chain(&named) {
        by_need(fields).0.iter().for_each(|field| row(&mut out, &format!("{section}.{}", field.name), field));
    }
    out.push_str(
        "\n### More\n\nAll other settings, by section. `epitome strategies ID` and the strategy's page have those of a \
         strategy.\n\n",
    );
    for (section, doc, fields) in fixed.iter().chain(&named) {
        let more = by_need(fields).1;
        if !more.is_empty() {
            let _ = write!(out, "#### `[{section}]`\n\n{doc}\n\n{HEAD}");
            more.iter().for_each(|field| row(&mut out, field.name, field));
            out.push('\n');
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The table of a strategy's settings in Markdown, for its page; those that people need first.
pub fn settings_table(fields: &'static [Field]) -> String {
    let (common, more) = by_need(fields);
    if fields.is_empty() {
        return "The strategy has no settings.\n".to_owned();
    }
    let mut out = HEAD.to_owned();
    common.into_iter().chain(more).for_each(|field| row(&mut out, field.name, field));
    out
}

fn row(out: &mut String, key: &str, field: &Field) {
    let default = toml_value(&(field.default)());
    let _ = writeln!(out, "| `{key}` | `{default}` | {} | {} |", takes(field), field.doc.trim());
}

/// The values that a setting takes, in words.
fn takes(field: &Field) -> String {
    let choices = (field.choices)();
    if !choices.is_empty() {
        return format!("one of `{}`", choices.join("`, `"));
    }
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
