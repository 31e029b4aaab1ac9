//! Who may depend on whom: the direction of `docs/architecture.md`, read off the manifests.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// The packages of the workspace and what each may depend on among them; `strategies/*` stands for each strategy.
const ALLOWED: &[(&str, &[&str])] = &[
    ("epitome-shelf", &[]),
    ("epitome-session", &[]),
    ("epitome-wire", &[]),
    ("epitome-strategy", &["epitome-session"]),
    ("epitome-reading", &["epitome-strategy"]),
    ("strategies/*", &["epitome-reading", "epitome-strategy"]),
    ("epitome-recall", &["epitome-session", "epitome-strategy"]),
    ("epitome-builtin", &["epitome-strategy", "strategies/*"]),
    ("epitome-tokens", &["epitome-strategy"]),
    ("epitome-formats", &["epitome-session", "epitome-wire"]),
    ("epitome-engine", &["epitome-session", "epitome-strategy"]),
    ("epitome-embeddings", &["epitome-strategy"]),
    ("epitome-store", &["epitome-shelf", "epitome-session", "epitome-strategy"]),
    (
        "epitome-providers",
        &[
            "epitome-embeddings",
            "epitome-shelf",
            "epitome-formats",
            "epitome-reading",
            "epitome-session",
            "epitome-strategy",
            "epitome-wire",
        ],
    ),
    (
        "epitome-config",
        &[
            "epitome-builtin",
            "epitome-engine",
            "epitome-providers",
            "epitome-session",
            "epitome-strategy",
            "epitome-tokens",
        ],
    ),
    (
        "epitome",
        &[
            "epitome-builtin",
            "epitome-config",
            "epitome-engine",
            "epitome-formats",
            "epitome-providers",
            "epitome-recall",
            "epitome-session",
            "epitome-shelf",
            "epitome-store",
            "epitome-strategy",
            "epitome-tokens",
            "epitome-wire",
        ],
    ),
    ("epitome-eval", &["epitome", "epitome-shelf"]),
    ("epitome-mcp", &["epitome"]),
    ("epitome-fit", &["epitome", "epitome-shelf", "epitome-wire"]),
    ("epitome-server", &["epitome", "epitome-fit", "epitome-shelf", "epitome-mcp", "epitome-wire"]),
    (
        "epitome-cli",
        &[
            "epitome",
            "epitome-binding",
            "epitome-eval",
            "epitome-fit",
            "epitome-shelf",
            "epitome-mcp",
            "epitome-server",
        ],
    ),
    ("epitome-binding", &["epitome", "epitome-fit"]),
    ("epitome-python", &["epitome", "epitome-binding", "epitome-eval", "epitome-fit"]),
    ("epitome-node", &["epitome-binding"]),
    ("epitome-wasm", &["epitome-binding"]),
    ("epitome-testkit", &["epitome-engine", "epitome-session", "epitome-strategy"]),
    // Nothing that is shipped may need these.
    ("epitome-harness", &["epitome-engine", "epitome-session", "epitome-strategy", "epitome-testkit"]),
    ("epitome-benches", &["epitome", "epitome-harness", "epitome-testkit"]),
    ("epitome-lab", &["epitome", "epitome-eval", "epitome-reading"]),
    (
        "epitome-factors",
        &["epitome-engine", "epitome-formats", "epitome-session", "epitome-strategy", "epitome-tokens"],
    ),
    ("epitome-tests", &["epitome-formats", "epitome-lab", "epitome-session"]),
];

/// Crates that do IO over the network, run an asynchronous runtime or speak SQL, and who may use them.
const KEPT_OUT: &[&str] = &["tokio", "reqwest", "hyper", "axum", "rusqlite", "tokio-postgres", "fastembed", "ort"];
const MAY_DO_IO: &[&str] = &[
    "epitome-providers",
    "epitome-store",
    "epitome-server",
    "epitome-eval",
    "epitome-cli",
    "epitome-mcp",
    // The runtime of a host that has none, for the connections of a store in PostgreSQL.
    "epitome-python",
];

/// The normal dependencies of every package of the workspace, by package; strategies under their common name.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let is_strategy = |package: &Value| {
        let manifest = package["manifest_path"].as_str().unwrap();
        manifest.contains("/strategies/") && package["name"] != "epitome-builtin"
    };
    let strategies: Vec<&str> = packages
        .iter()
        .filter(|package| is_strategy(package))
        .map(|package| package["name"].as_str().unwrap())
        .collect();
    let alias = |name: &str| if strategies.contains(&name) { "strategies/*".to_owned() } else { name.to_owned() };
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages {
        let normal =
            package["dependencies"].as_array().unwrap().iter().filter(|dependency| dependency["kind"].is_null());
        let names = normal.map(|dependency| alias(dependency["name"].as_str().unwrap()));
        found.entry(alias(package["name"].as_str().unwrap())).or_default().extend(names);
    }
    assert!(strategies.len() >= 5, "the strategies were not found: {strategies:?}");
    found
}

#[test]
fn dependencies_point_one_way() {
    for (package, dependencies) in dependencies() {
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == package) else {
            panic!("`{package}` is new: say in this table what it may depend on, and in docs/architecture.md why");
        };
        for dependency in dependencies.iter().filter(|name| name.starts_with("epitome") || name.contains('/')) {
            assert!(allowed.contains(&dependency.as_str()), "`{package}` must not depend on `{dependency}`");
        }
    }
}

#[test]
fn io_stays_at_the_edge() {
    for (package, dependencies) in dependencies() {
        for dependency in dependencies.iter().filter(|name| KEPT_OUT.contains(&name.as_str())) {
            assert!(MAY_DO_IO.contains(&package.as_str()), "`{package}` must not depend on `{dependency}`");
        }
    }
}

#[test]
fn every_dependency_has_its_reason() {
    let reasons = include_str!("../docs/dependencies.md");
    let manifest = include_str!("../Cargo.toml");
    let section = manifest.split("[workspace.dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    for line in section.lines() {
        let name = line.split_once('=').map_or("", |(name, _)| name.trim());
        if !name.is_empty() && !name.starts_with(['#', 'e']) || name.starts_with("encoding") {
            assert!(reasons.contains(&format!("`{name}`")), "docs/dependencies.md says nothing of `{name}`");
        }
    }
}
