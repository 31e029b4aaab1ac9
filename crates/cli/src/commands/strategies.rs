//! `epitome strategies`: the list, or the page and settings of one.

use std::fmt::Write;
use std::process::ExitCode;

use epitome::strategy::{Field, Lossiness, Meta, Registration, Registry};
use serde_json::{Value, json};

use crate::args::StrategiesArgs;
use crate::failure::{CommandResult, Failure};
use crate::render::style::{FAINT, NAME, STRONG};
use crate::render::text::{columns, number, width, wrap};
use crate::{configuration, terminal};

pub(crate) fn run(args: &StrategiesArgs) -> CommandResult {
    let shipped = epitome::registry();
    let registry = configuration::read(args.config.as_deref(), &shipped)?.registry(&shipped);
    match &args.name {
        Some(name) => {
            let registration = registry
                .get(name)
                .map_err(|_| Failure::usage_text(epitome::config::unknown_strategy(name, &registry).to_string()))?;
            if args.json {
                terminal::print_json(&describe_strategy(registration))?
            } else {
                terminal::print(&page(registration))?
            }
        }
        None if args.json => terminal::print_json(&registry.iter().map(describe_strategy).collect::<Vec<Value>>())?,
        None => terminal::print(&list(&registry, &shipped, width()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The lossiness of strategies, in the order of the list.
const GROUPS: [(Lossiness, &str); 3] = [
    (Lossiness::Redundant, "Take what stands elsewhere in the context"),
    (Lossiness::Partial, "Take parts of messages"),
    (Lossiness::Whole, "Take whole messages, mostly for a summary"),
];

/// The strategies in groups, those that ship before those of the configuration; in at most `width` columns.
fn list(registry: &Registry, shipped: &Registry, width: usize) -> String {
    let ships = |registration: &&Registration| shipped.get(registration.meta.id).is_ok();
    let names = registry.iter().map(|registration| columns(registration.meta.id)).max().unwrap_or(0);
    let mut out = String::new();
    let mut group = |heading: &str, members: Vec<&Registration>| {
        if members.is_empty() {
            return;
        }
        let _ = writeln!(out, "{STRONG}{heading}{STRONG:#}");
        for Registration { meta, .. } in members {
            for (index, line) in wrap(&summary(meta), width.saturating_sub(names + 4)).iter().enumerate() {
                let name = if index == 0 { meta.id } else { "" };
                let _ = writeln!(out, "  {NAME}{name:<names$}{NAME:#}  {line}");
            }
        }
        out.push('\n');
    };
    for (lossiness, heading) in GROUPS {
        let of_group = |registration: &&Registration| registration.meta.lossiness == lossiness;
        group(heading, registry.iter().filter(ships).filter(of_group).collect());
    }
    group("Programs of the configuration", registry.iter().filter(|registration| !ships(registration)).collect());
    let _ = writeln!(out, "{FAINT}epitome strategies NAME shows the page of one, with its settings{FAINT:#}");
    out
}

/// One line on a strategy, with what it needs.
fn summary(meta: &Meta) -> String {
    let needs = [(meta.needs.embeddings, "needs vectors"), (meta.needs.model, "needs a model")];
    let needs: Vec<&str> = needs.into_iter().filter(|(needed, _)| *needed).map(|(_, word)| word).collect();
    if needs.is_empty() { meta.summary.to_owned() } else { format!("{} [{}]", meta.summary, needs.join(", ")) }
}

/// The strategy's page, its section on settings replaced by what the settings declare.
fn page(registration: &Registration) -> String {
    const HEADING: &str = "## Settings\n";
    let docs = registration.meta.docs;
    let (before, rest) = docs.split_once(HEADING).unwrap_or((docs, ""));
    let after = rest.find("\n## ").map_or("", |next| &rest[next..]);
    let mut out = format!("{}\n", before.trim_end());
    if !registration.fields.is_empty() {
        let _ = writeln!(out, "\n{HEADING}\nIn `[strategies.{}]`:", registration.meta.id);
    }
    let (common, more): (Vec<&Field>, Vec<&Field>) = registration.fields.iter().partition(|field| field.is_common);
    let first_more = more.first().filter(|_| !common.is_empty()).map(|field| field.name);
    for field in common.into_iter().chain(more) {
        if first_more == Some(field.name) {
            let _ = writeln!(out, "\n  {FAINT}more:{FAINT:#}");
        }
        let takes = takes(field);
        let gap = if takes.is_empty() { "" } else { "  " };
        let default = (field.default)();
        let _ = writeln!(out, "\n  {NAME}{}{NAME:#} = {default}{gap}{FAINT}{takes}{FAINT:#}", field.name);
        for line in wrap(field.doc, width().saturating_sub(4)) {
            let _ = writeln!(out, "    {line}");
        }
    }
    out.push_str(after.trim_end());
    out.push('\n');
    out
}

/// The values of a setting, as far as its default does not show them.
fn takes(field: &Field) -> String {
    let choices = (field.choices)();
    if !choices.is_empty() {
        return choices.join(", ");
    }
    let range = field.bounds.map(|bounds| format!("{} to {}", figure(bounds.least), figure(bounds.most)));
    range.into_iter().chain((!field.unit.is_empty()).then(|| field.unit.to_owned())).collect::<Vec<_>>().join(" ")
}

/// A bound as people write it.
fn figure(bound: f64) -> String {
    if bound.fract() == 0.0 && bound >= 0.0 { number(bound as u64) } else { bound.to_string() }
}

fn describe_strategy(registration: &Registration) -> Value {
    let meta = &registration.meta;
    let setting = |field: &Field| {
        json!({
            "name": field.name,
            "kind": field.kind,
            "default": (field.default)(),
            "least": field.bounds.map(|bounds| bounds.least),
            "most": field.bounds.map(|bounds| bounds.most),
            "unit": field.unit,
            "doc": field.doc.trim(),
            "common": field.is_common,
        })
    };
    json!({
        "id": meta.id,
        "summary": meta.summary,
        "lossiness": meta.lossiness,
        "needs": meta.needs,
        "since": meta.since,
        "settings": registration.fields.iter().map(setting).collect::<Vec<_>>(),
        "docs": meta.docs,
    })
}
