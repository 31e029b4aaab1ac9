//! The kinds of request in the providers' own documentation, in words of ours: each is accepted as it is, comes back
//! unchanged where nothing is edited, and loses no configuration when what is old in it leaves.
//!
//! The requests stand in `documented/`, one file a page or feature, with contents that are made up and shapes as the page,
//! or the type of the provider's SDK, has them on [`LOOKED_UP`].

#![allow(clippy::unwrap_used)]

mod pages;

use std::collections::BTreeSet;
use std::path::PathBuf;

use epitome_session::{Change, EditKind, Entry, Epoch, Trigger, Unit, UnitKind, units};
use epitome_wire::anthropic::class_of_block;
use epitome_wire::openai_responses::class_of_item;
use epitome_wire::{Object, PartClass, Wire};
use serde_json::Value;
use serde_json::value::RawValue;

use self::pages::{LOOKED_UP, PAGES};
use crate::{Format, LoadedFile, ReadOptions, read, validate, write};

fn folder(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "src/tests/documented", name].iter().collect()
}

/// The first thing that is wrong with a request of `wire`.
fn problem(json: &str, wire: Wire) -> Option<String> {
    let format = Format::from(wire);
    let asked = ReadOptions { format: Some(format), strict: true, checked: true, ..ReadOptions::default() };
    let loaded = match read(json.into(), asked) {
        Ok(loaded) => loaded,
        Err(error) => return Some(format!("not read: {error}")),
    };
    if let Some(warning) = loaded.warnings.first() {
        return Some(format!("warned: {}", warning.message));
    }
    match read(json.into(), ReadOptions::default()) {
        Ok(recognised) if recognised.format == format => {}
        Ok(recognised) => return Some(format!("recognised as {}", recognised.format)),
        Err(error) => return Some(format!("not recognised: {error}")),
    }
    if let Some(violation) = validate(json, wire).first() {
        return Some(format!("not valid: {violation}"));
    }
    let session = &loaded.sessions[0].session;
    match write(&loaded, 0, session, format) {
        Ok(written) if written == json.as_bytes() => {}
        Ok(written) => return Some(format!("written as {}", String::from_utf8_lossy(&written))),
        Err(error) => return Some(format!("not written: {error}")),
    }
    let view = session.view();
    let removable: Vec<Unit> = units(view).into_iter().filter(|unit| may_leave(unit, view)).collect();
    // Each alone, and the oldest together, with the newest left.
    let alone = removable.iter().map(std::slice::from_ref);
    let oldest = (2..removable.len()).map(|count| &removable[..count]);
    alone.chain(oldest).find_map(|leaving| problem_without(&loaded, json, wire, leaving))
}

/// Whether a unit may leave at all: instructions, what the host pinned and what waits for an answer stay.
fn may_leave(unit: &Unit, view: &[Entry]) -> bool {
    unit.closed && unit.kind != UnitKind::System && view[unit.entries.clone()].iter().all(|entry| !entry.message.pinned)
}

/// The first thing that is wrong with a request when some units of it leave.
fn problem_without(loaded: &LoadedFile, json: &str, wire: Wire, leaving: &[Unit]) -> Option<String> {
    let mut session = loaded.sessions[0].session.clone();
    let entries = leaving.iter().flat_map(|unit| &session.view()[unit.entries.clone()]);
    let changes: Vec<Change> = entries.map(|entry| Change::Remove { entry: entry.key }).collect();
    if changes.len() == session.view().len() {
        return None;
    }
    let without = format!("without {:?}", leaving.iter().map(|unit| unit.entries.clone()).collect::<Vec<_>>());
    session.commit(Epoch::recorded_edits(Trigger::Manual, EditKind::Drop, changes, Vec::new()));
    let written = match write(loaded, 0, &session, loaded.format) {
        Ok(written) => String::from_utf8(written).unwrap(),
        Err(error) => return Some(format!("{without} not written: {error}")),
    };
    if let Some(violation) = validate(&written, wire).first() {
        return Some(format!("{without} not valid: {violation}: {written}"));
    }
    let (before, after) = (Object::parse(json)?, Object::parse(&written)?);
    let list = wire.list_field();
    let lost = before.fields().find(|(name, value)| *name != list && after.raw(name) != Some(*value));
    if let Some((name, _)) = lost {
        return Some(format!("{without} `{name}` is lost"));
    }
    let kept = configuration(after.get(list)?, wire);
    let mut rest = kept.iter();
    let lost = configuration(before.get(list)?, wire).into_iter().find(|part| !rest.any(|kept| kept == part));
    lost.map(|part| format!("{without} lost {part}: {written}"))
}

/// The parts of a list whose class is configuration, at whatever depth, in order and as they are written.
fn configuration(json: &str, wire: Wire) -> Vec<String> {
    if let Ok(parts) = serde_json::from_str::<Vec<&RawValue>>(json) {
        return parts.into_iter().flat_map(|part| configuration(part.get(), wire)).collect();
    }
    let Some(object) = Object::parse(json) else { return Vec::new() };
    let Ok(Value::Object(fields)) = serde_json::from_str(json) else { return Vec::new() };
    let class = match wire {
        Wire::Anthropic => class_of_block(fields.get("type").and_then(Value::as_str).unwrap_or_default()),
        Wire::OpenaiResponses => class_of_item(&fields),
        Wire::OpenaiChat | Wire::Gemini => PartClass::Opaque,
    };
    let is_list_of_tools = fields.get("type").is_some_and(|kind| kind == "mcp_tool_listing");
    let sets_effort = wire == Wire::Anthropic && fields.contains_key("output_config");
    match class {
        PartClass::Configuration => vec![json.to_owned()],
        // "MCP connector": sent back, it stands for asking the server again.
        _ if is_list_of_tools || sets_effort => vec![json.to_owned()],
        _ => object.fields().flat_map(|(_, value)| configuration(value, wire)).collect(),
    }
}

#[test]
fn every_kind_of_request_is_taken_and_keeps_its_configuration() {
    let mut wrong = Vec::new();
    for (provider, wire, pages) in PAGES {
        for (file, title) in pages {
            let json = std::fs::read_to_string(folder(provider).join(format!("{file}.json"))).unwrap();
            let problem = problem(&json, wire);
            wrong.extend(problem.map(|problem| format!("{provider}/{file} ({title}): {problem}")));
        }
    }
    assert!(wrong.is_empty(), "{} requests as of {LOOKED_UP}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_file_is_of_a_page() {
    for (provider, _, pages) in PAGES {
        let name = |entry: std::fs::DirEntry| entry.path().file_stem().unwrap().to_string_lossy().into_owned();
        let files: BTreeSet<String> =
            std::fs::read_dir(folder(provider)).unwrap().map(|entry| name(entry.unwrap())).collect();
        let listed: BTreeSet<String> = pages.iter().map(|(file, _)| (*file).to_owned()).collect();
        assert_eq!(files, listed, "{provider}");
    }
}
