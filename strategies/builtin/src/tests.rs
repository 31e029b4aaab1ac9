#![allow(clippy::unwrap_used)]
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::*;

/// The headings of a strategy's page, in order.
const HEADINGS: [&str; 6] = ["What it does", "When it helps", "What is lost", "Example", "Settings", "Source"];

fn strategies() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A strategy's source, tests left out.
fn source(id: &str) -> String {
    source_in(&strategies().join(id).join("src"))
}

fn source_in(folder: &Path) -> String {
    let mut text = String::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            text.push_str(&source_in(&path));
        } else if !path.to_string_lossy().contains("tests") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    text
}

/// The first cells of the rows of a page's tables, in backticks there.
fn cells(docs: &str) -> Vec<&str> {
    docs.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(cell, _)| cell).collect()
}

#[test]
fn every_folder_is_registered_under_its_name() {
    let mut folders: Vec<String> = fs::read_dir(strategies())
        .unwrap()
        .map(|folder| folder.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "builtin")
        .collect();
    let registry = registry();
    let mut ids: Vec<&str> = registry.iter().map(|registration| registration.meta.id).collect();
    folders.sort();
    ids.sort_unstable();
    assert_eq!(ids, folders);
}

/// The page's headings of the second level. Those inside an example's fence are the example's own.
fn headings(docs: &str) -> Vec<&str> {
    let outside_fences = docs.split("```").step_by(2);
    outside_fences.flat_map(str::lines).filter_map(|line| line.strip_prefix("## ")).collect()
}

/// Runs `check` on every strategy; fails with everything that it found wrong.
fn check_all(check: impl Fn(&Registration, &mut Vec<String>)) {
    let mut problems = Vec::new();
    for registration in registry().iter() {
        let mut found = Vec::new();
        check(registration, &mut found);
        problems.extend(found.into_iter().map(|problem| format!("{}: {problem}", registration.meta.id)));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_page_has_the_headings_in_order() {
    check_all(|Registration { meta, .. }, found| {
        let headings = headings(meta.docs);
        if !meta.docs.starts_with(&format!("# {}\n", meta.id)) || headings != HEADINGS {
            found.push(format!("the headings are {headings:?}"));
        }
        if !meta.docs.contains("After") {
            found.push("the example does not show before and after".to_owned());
        }
    });
}

#[test]
fn every_page_documents_settings_and_reason_codes() {
    check_all(|registration, found| {
        let meta = &registration.meta;
        let cells = cells(meta.docs);
        let fields: Vec<&str> = registration.fields.iter().map(|field| field.name).collect();
        let source = source(meta.id);
        let is_code = |cell: &str| source.contains(&format!("\"{cell}\""));
        found
            .extend(fields.iter().filter(|field| !cells.contains(field)).map(|it| format!("`{it}` is not documented")));
        let strange = cells.iter().filter(|cell| !fields.contains(cell) && !is_code(cell));
        found.extend(strange.map(|it| format!("`{it}` is neither a setting nor a reason code")));
        if !cells.iter().any(|cell| is_code(cell)) {
            found.push("no reason code is documented".to_owned());
        }
        // Literals that are given where a reason is made.
        for call in ["Reason::new(\"", "reason(\"", "cut: \"", "summary: \"", "\"long-", "\"large-", "\"old-"] {
            for (at, _) in source.match_indices(call) {
                let start = at + source[at..].find('"').unwrap() + 1;
                let code = source[start..].split('"').next().unwrap();
                let is_sentence = code.contains(' '); // the summary in `strategy!`
                if code != meta.id && !is_sentence && !cells.contains(&code) {
                    found.push(format!("reason code `{code}` is not documented"));
                }
            }
        }
    });
}

#[test]
fn defaults_build_and_stand_in_the_page() {
    check_all(|registration, found| {
        let strategy = registration.build(&BTreeMap::new()).unwrap();
        assert_eq!(strategy.meta().id, registration.meta.id);
        for field in registration.fields {
            let default = (field.default)();
            let values = BTreeMap::from([(field.name.to_owned(), default.clone())]);
            if registration.build(&values).is_err() || field.doc.trim().is_empty() {
                found.push(format!("{} refuses its default or has no description", field.name));
            }
            let row = registration.meta.docs.lines().find(|line| line.starts_with(&format!("| `{}`", field.name)));
            let shown = default.to_string();
            // A long list is described, not repeated.
            if shown.len() <= 40 && !row.is_some_and(|row| row.contains(&shown)) {
                found.push(format!("{}: {shown} is not in {row:?}", field.name));
            }
        }
    });
}

#[test]
fn an_id_is_taken_once() {
    let mut registry = registry();
    assert_eq!(register(&mut registry), Err(RegistryError::Duplicate("superseded-reads".to_owned())));
}

#[path = "../build.rs"]
#[allow(dead_code, clippy::print_stdout)]
mod build;

#[test]
fn a_line_of_the_manifest_is_a_strategy() {
    let check = |manifest: &str, expect: &[(&str, &str)]| {
        let has = |id: &str| id == "with-feature";
        let found: Vec<_> = build::strategies(manifest, has).map(|id| (id, build::type_name(id))).collect();
        let found: Vec<_> = found.iter().map(|(id, name)| (*id, name.as_str())).collect();
        assert_eq!(found, expect, "{manifest}");
    };
    let line = "epitome-tool-results = { path = \"../tool-results\" }";
    check(
        &format!("[dependencies]\nepitome-strategy.workspace = true\n# one\n{line}\n"),
        &[("tool-results", "ToolResults")],
    );
    check(&format!("[package]\nname = \"x\"\n[dependencies]\nserde = \"1\"\n[dev-dependencies]\n{line}\n"), &[]);
    let optional = |id: &str| format!("[dependencies]\nepitome-{id} = {{ path = \"../{id}\", optional = true }}\n");
    check(&optional("with-feature"), &[("with-feature", "WithFeature")]);
    check(&optional("without"), &[]);
}
