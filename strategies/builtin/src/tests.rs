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

/// Every string literal that a strategy's source gives to `Reason::new` or that looks like a reason's code in it.
fn source(id: &str) -> String {
    let mut text = String::new();
    for file in fs::read_dir(strategies().join(id).join("src")).unwrap() {
        let path = file.unwrap().path();
        if !path.to_string_lossy().contains("tests") {
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

#[test]
fn every_page_has_the_headings_in_order() {
    for registration in registry().iter() {
        let meta = &registration.meta;
        assert!(meta.docs.starts_with(&format!("# {}\n", meta.id)), "{}", meta.id);
        let headings: Vec<&str> = meta.docs.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings, HEADINGS, "{}", meta.id);
        assert!(meta.docs.contains("After"), "{}: the example shows before and after", meta.id);
    }
}

#[test]
fn every_page_documents_settings_and_reason_codes() {
    for registration in registry().iter() {
        let meta = &registration.meta;
        let cells = cells(meta.docs);
        let mut expected: Vec<&str> = registration.fields.iter().map(|field| field.name).collect();
        for field in &expected {
            assert!(cells.contains(field), "{}: `{field}` is not documented", meta.id);
        }
        let source = source(meta.id);
        let codes: Vec<&str> = cells.iter().filter(|cell| source.contains(&format!("\"{cell}\""))).copied().collect();
        assert!(!codes.is_empty(), "{} documents no reason code", meta.id);
        expected.extend(codes);
        for cell in &cells {
            assert!(expected.contains(cell), "{}: `{cell}` is neither a setting nor a reason code", meta.id);
        }
        // Literals that are given where a reason is made.
        for call in ["Reason::new(\"", "reason(\"", "\"long-", "\"large-", "\"old-"] {
            for (at, _) in source.match_indices(call) {
                let start = at + source[at..].find('"').unwrap() + 1;
                let code = source[start..].split('"').next().unwrap();
                assert!(
                    code == meta.id || cells.contains(&code),
                    "{}: reason code `{code}` is not documented",
                    meta.id
                );
            }
        }
    }
}

#[test]
fn defaults_build_and_stand_in_the_page() {
    for registration in registry().iter() {
        let strategy = registration.build(&BTreeMap::new()).unwrap();
        assert_eq!(strategy.meta().id, registration.meta.id);
        for field in registration.fields {
            let default = (field.default)();
            let values = BTreeMap::from([(field.name.to_owned(), default.clone())]);
            assert!(
                registration.build(&values).is_ok(),
                "{}: {} refuses its default",
                registration.meta.id,
                field.name
            );
            assert!(!field.doc.trim().is_empty());
            let row = registration.meta.docs.lines().find(|line| line.starts_with(&format!("| `{}`", field.name)));
            let shown = default.to_string();
            // A long list is described, not repeated.
            assert!(shown.len() > 40 || row.unwrap().contains(&shown), "{}: {shown} in {row:?}", field.name);
        }
    }
}

#[test]
fn an_id_is_taken_once() {
    let mut registry = registry();
    assert_eq!(register(&mut registry), Err(RegistryError::Duplicate("superseded-reads".to_owned())));
}
