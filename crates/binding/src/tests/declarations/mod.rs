//! What other languages declare of reports and options, written from the types of Rust: `UPDATE_DOCS=1 cargo test -p
//! epitome-binding declarations` writes the files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

pub(crate) mod kinds;
mod python;
mod schema;
mod typescript;

use std::fs;
use std::path::Path;

use epitome::Report;
use epitome::context::Fullness;
use epitome::recall::{Passage, Source};
use epitome::strategy::Meta;
use epitome_fit::FitReport;

use crate::dispatcher::options::{
    CompactOptions, EngineOptions, FitRequestOptions, FitterOptions, OverflowOptions, ReadOptions, SearchOptions,
};
use crate::dispatcher::read_options::INTERNAL_OPTIONS;
use crate::dispatcher::replies::{BrokenRule, ContextOverflow, FormatEntry};
use crate::look::Inspection;
use schema::{Declared, Schemas};

/// Which way objects go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// To the engine: a caller makes them.
    Given,
    /// From the engine.
    Told,
}

/// What answers a call.
fn reports() -> Schemas {
    Schemas::default()
        .with::<Report>("Report")
        .with::<FitReport<'_>>("FitReport")
        .with::<Inspection>("Contents")
        .with::<Fullness>("Fullness")
        .with::<Passage>("Passage")
        .with::<BrokenRule>("BrokenRule")
        .with::<Meta>("StrategyEntry")
        .with::<FormatEntry>("FormatEntry")
        .with::<ContextOverflow>("ContextOverflow")
}

/// What calls take.
fn options() -> Schemas {
    Schemas::without(&INTERNAL_OPTIONS)
        .with::<EngineOptions>("EngineOptions")
        .with::<FitterOptions>("FitterBaseOptions")
        .with::<FitRequestOptions>("FitOptions")
        .with::<OverflowOptions>("Overflow")
        .with::<ReadOptions>("ReadOptions")
        .with::<CompactOptions>("CompactOptions")
        .with::<SearchOptions>("SearchOptions")
        .with::<Source>("Source")
}

/// Checks a file of the repository, and writes it when that was asked for.
fn check(file: &str, current: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, current).unwrap();
    }
    let is_current = fs::read_to_string(&path).is_ok_and(|text| text == current);
    assert!(is_current, "{file} is out of date: run UPDATE_DOCS=1 cargo test -p epitome-binding declarations");
}

const NOTE: &str = "Written from the types of Rust by `UPDATE_DOCS=1 cargo test -p epitome-binding declarations`.";

#[test]
fn typescript_declares_the_reports() {
    let head = typescript::comment(&format!("What calls give; the keys are the same in all languages. {NOTE}"), "");
    let text = head + &typescript::write(&reports().declare(), Use::Told);
    check("packages/epitome-context/src/report.ts", &text);
}

#[test]
fn typescript_declares_the_options() {
    let (told, mut declared) = (reports().declare(), options().declare());
    let is_told = |it: &Declared| told.iter().any(|told| told.name == it.name);
    let names: Vec<String> = declared.extract_if(.., |it| is_told(it)).map(|it| it.name).collect();
    let head = typescript::comment(&format!("What calls take. {NOTE}"), "");
    let import = format!("\nimport type {{ {} }} from \"./report.js\";\n", names.join(", "));
    let text = head + &import + &typescript::write(&declared, Use::Given);
    check("packages/epitome-context/src/options.ts", &text);
}

#[test]
fn python_declares_the_options() {
    let head = format!(
        "\"\"\"What calls take, for type checkers; nothing imports this at run time.\n\n{NOTE}\n\"\"\"\n\nfrom __future__ import \
         annotations\n\nfrom collections.abc import Mapping, Sequence\nfrom typing import TYPE_CHECKING, Any, Literal\n\nfrom \
         typing_extensions import TypedDict\n\nif TYPE_CHECKING:\n    from ._keywords import Chain, Configuration\n"
    );
    let mut declared = options().declare();
    declared.retain(|it| !["Chain", "Configuration"].contains(&it.name.as_str()));
    check("python/epitome_context/_options.py", &(head + &python::write(&declared, Use::Given)));
}

#[test]
fn python_declares_the_reports() {
    let head = format!(
        "\"\"\"What calls give, for type checkers; nothing imports this at run time.\n\n{NOTE}\n\"\"\"\n\nfrom __future__ import \
         annotations\n\nfrom typing import Any, Literal, final, overload\n\nfrom typing_extensions import NotRequired, TypedDict\n"
    );
    let declared = reports().declare();
    let keys = ["Report", "FitReport"].map(|name| python::write_keys(&declared, name)).concat();
    let text = head + &python::write(&declared, Use::Told) + &keys;
    check("python/epitome_context/_reports.py", &text);
}

/// The lines of a text, each of at most so many characters where its words let it.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A name as Python writes it.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for char in name.chars() {
        if char.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(char.to_ascii_lowercase());
    }
    snake
}
