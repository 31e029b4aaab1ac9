//! `epitome strategies`: the list, or the page and settings of one.

use std::fmt::Write;
use std::process::ExitCode;

use epitome::strategy::{Field, Lossiness, Registration, RegistryError};
use serde_json::{Value, json};

use crate::args::StrategiesArgs;
use crate::failure::Failure;
use crate::render::style::{FAINT, NAME};
use crate::render::table::{Cell, Column, Table};
use crate::render::text::{number, width, wrap};
use crate::{Outcome, input, output};

pub(crate) fn run(args: &StrategiesArgs) -> Outcome {
    let shipped = epitome::registry();
    let registry = input::config(args.config.as_deref(), &shipped)?.registry(&shipped);
    match &args.name {
        Some(name) => {
            let registration = registry.get(name).map_err(|error| match error {
                RegistryError::Unknown { id, known } => Failure::usage_text(format!("there is no strategy `{id}`"))
                    .with_help(format!("there are {}", known.join(", "))),
                RegistryError::Duplicate(_) => Failure::other(error),
            })?;
            if args.json { print_json(&described(registration))? } else { output::print(&page(registration))? }
        }
        None if args.json => print_json(&registry.iter().map(described).collect())?,
        None => {
            let mut table = Table::new(&[Column::Left, Column::Left, Column::Flexible], &["strategy", "loses", ""]);
            for registration in registry.iter() {
                let meta = &registration.meta;
                table.row([
                    Cell::styled(meta.id, NAME),
                    Cell::styled(loses(meta.lossiness), FAINT),
                    meta.summary.into(),
                ]);
            }
            output::print(&table.render(width()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn loses(lossiness: Lossiness) -> &'static str {
    match lossiness {
        Lossiness::Redundant => "repetition",
        Lossiness::Partial => "parts",
        Lossiness::Whole => "messages",
    }
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
    for field in registration.fields {
        let takes = bounds(field);
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

fn bounds(field: &Field) -> String {
    let range = field.bounds.map(|bounds| format!("{} to {}", figure(bounds.least), figure(bounds.most)));
    range.into_iter().chain((!field.unit.is_empty()).then(|| field.unit.to_owned())).collect::<Vec<_>>().join(" ")
}

/// A bound as people write it.
fn figure(bound: f64) -> String {
    if bound.fract() == 0.0 && bound >= 0.0 { number(bound as u64) } else { bound.to_string() }
}

fn described(registration: &Registration) -> Value {
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

fn print_json(value: &Value) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(output::standard(text.as_bytes())?)
}
